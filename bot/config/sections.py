"""Which memories a turn looks through first: the keys of [sections], and sections as an operator writes them."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.config.kinds import problem
from bot.config.section import Section
from bot.types.sections import Proportion, SectionWords, WindowSize

MOST_SECTIONS, MOST_WORDS, LONGEST_WORD, LONGEST_NAME = 40, 200, 32, 24

_NAME = re.compile(rf"[\w][\w \-]{{0,{LONGEST_NAME - 1}}}")
_COMMAS = re.compile(r"\s*[,，、]\s*")


def read_section(line: str) -> SectionWords:
    """One section as it is written, "name: word, word"; ValueError says what is wrong with it."""
    name, colon, rest = line.replace("：", ":").partition(":")
    name = name.strip()
    words = tuple(dict.fromkeys(filter(None, _COMMAS.split(rest.strip()))))
    if not colon:
        raise problem('must each be "name: word, word"')
    if _NAME.fullmatch(name) is None:
        raise problem(f"need a name of at most {LONGEST_NAME} letters, figures, spaces or hyphens before the colon")
    if len(words) > MOST_WORDS:
        raise problem(f"must have at most {MOST_WORDS} words each")
    if any(len(word) > LONGEST_WORD for word in words):
        raise problem(f"must have words of at most {LONGEST_WORD} characters")
    if any(len(word) < 2 and word.isascii() for word in words):
        raise problem("must not have a single letter or figure for a word: it is in every text")
    return SectionWords(name, words)


def _checked(lines: tuple[str, ...]) -> tuple[str, ...]:
    names = [read_section(line).key.casefold() for line in lines]
    if len(names) > MOST_SECTIONS:
        raise problem(f"must be at most {MOST_SECTIONS} sections")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise problem(f"must name each section once: {', '.join(twice)}")
    return lines


class SectionRules(Section):
    """What belongs together in memory, and which of it a turn's own recall searches first. Nothing is ever hidden:
    what somebody asked to keep, rare words, the tool memory_recall and `.ai mem` search everything."""

    on: bool = Field(default=True, description="Whether a talk's topic narrows what its next messages search first.")
    words: Annotated[tuple[str, ...], AfterValidator(_checked)] = Field(
        default=(),
        description='Own sections, each "name: word, word, …"; the name of one that is there (me, person, decision, '
        "todo, lesson, family, health, work, taste, travel, tech, recent) replaces its words, without words it is off.",
    )
    window: WindowSize = Field(default=5, description="Newest turns whose hits count: 3, 5 or 10.")
    dominant: float = Field(
        default=0.7, gt=0.5, le=1, description="Share of the hits from which on a section dominates, above .5 to 1."
    )
    low: float = Field(
        default=0.1, ge=0, le=0.5, description="Share below which `nuan sections` calls a section low, 0 to .5."
    )
    least_hits: int = Field(default=3, ge=3, le=10, description="Hits without which no section dominates, 3 to 10.")
    misses: int = Field(
        default=3,
        ge=1,
        le=50,
        description="Turns without a hit after which `nuan sections` advises to merge a section.",
    )
    stable_turns: int = Field(
        default=2, ge=2, le=3, description="Turns that a section must dominate to be the topic of a talk, 2 or 3."
    )
    topic: bool = Field(default=True, description="Whether the next opening tells the topic of the last talk.")

    @property
    def own(self) -> tuple[SectionWords, ...]:
        """The sections of `words`."""
        return tuple(read_section(line) for line in self.words)

    @property
    def proportion(self) -> Proportion:
        """The numbers as the shares use them."""
        return Proportion(
            self.window, self.dominant, self.low, self.least_hits, self.misses, self.stable_turns
        )  # fmt: skip
