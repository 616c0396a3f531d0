"""Keys of [memory], [memory.embedding], [memory.life], [notes] and [sections]."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, field_validator

from bot.config.base import Count, ModelName, Money, ProxyUrl, ServerUrl, SettingsTable, Share, value_error
from bot.core.recall import RankingProfile, RecallMode, SectionWords, WindowSize

Provider = Literal["", "local", "hash", "openai"]

ALIASES: dict[str, RecallMode] = {"legacy": "keyword", "multi": "v2", "multisignal": "v2", "rrf": "hybrid"}
"""Other names of the modes (seed Recall)."""

Inject = Literal["off", "tool", "auto", "both"]
"""How what is remembered reaches a prompt besides its opening: not at all, when the model asks, by itself, or both."""

MOST_SECTIONS, MOST_WORDS, LONGEST_WORD, LONGEST_NAME = 40, 200, 32, 24

_NAME = re.compile(rf"[\w][\w \-]{{0,{LONGEST_NAME - 1}}}")
_COMMAS = re.compile(r"\s*[,，、]\s*")


class EmbeddingServer(SettingsTable):
    """Who makes the vectors of a hybrid recall; without anybody it goes by words alone."""

    provider: Provider = ""
    """local (nuan[semantic]: by meaning, on this machine, without a server or money), openai (a server that speaks its
    protocol), hash (counts parts of words: no server, no money, and no meaning) or empty: local where it is
    installed, else none."""
    base_url: ServerUrl = ""
    """Address of the server's API; empty is that of [model], with its key and proxy."""
    api_key: SecretStr | None = None
    """Key of the server; better kept in .env, in a variable like NUAN_MEMORY__EMBEDDING__API_KEY."""
    model: ModelName = ""
    """Name of the model that makes vectors."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    dimensions: int | None = Field(default=None, ge=16, le=8_192)
    """Numbers of a vector, where the model lets one choose, 16 to 8192; none leaves it to the model. A change makes all
    vectors anew."""
    timeout_seconds: float = Field(default=15.0, gt=0, le=600)
    """When a call for new vectors is given up, in seconds."""
    query_seconds: float = Field(default=2.0, gt=0, le=60)
    """How long a question waits for its vector, in seconds; then words alone answer it."""
    batch: int = Field(default=32, ge=1, le=256)
    """Texts that one call brings at most, 1 to 256."""
    least_cosine: float | None = Field(default=None, ge=-1, le=1)
    """Likeness below which two texts have nothing in common, -1 to 1; none: .05, of what is left without what all have in common, with hash .25."""
    price_input: Money = None
    """Price of a million tokens, in budget.currency; none takes the public table's."""


class LifeRules(SettingsTable):
    """How memories grow stronger and weaker, and how many there may be. What somebody asked to keep always stays."""

    interval_hours: int = Field(default=24, ge=1, le=8_760)
    """A memory is strengthened at most once in this time, and loses at most one step in it, in hours."""
    archive_days: int = Field(default=90, ge=1, le=3_650)
    """How long archived memories, and what was merged or replaced, can be brought back, in days."""
    max_emotion: Count = 50
    """Most emotions of one person."""
    max_knowledge: Count = 250
    """Most facts of one person."""
    max_event: Count = 50
    """Most events of one person."""
    max_experience: Count = 50
    """Most experiences that nuan saved with one person, or in one group."""
    max_total: Count = 350
    """Most of these four together, besides what lasts."""
    max_lasting: Count = 300
    """Most of what lasts of one person: who they are, health, home, family."""


class MemoryRules(SettingsTable):
    """What nuan remembers."""

    undo_days: int = Field(default=7, ge=0, le=3_650)
    """How long something forgotten can be taken back, in days."""
    max: int = Field(default=6, ge=1, le=20)
    """Findings that one recall brings back, 1 to 20."""
    mode: RecallMode | None = None
    """How a recall orders what it finds: keyword (shared words), v2 (words, age and importance) or hybrid (these and
    likeness); none: hybrid where nuan[semantic] makes its vectors, else v2."""
    profile: RankingProfile = "default"
    """The numbers of v2: default (age orders, but hides nothing) or seed (the reference's, to compare)."""
    min_score: float | None = Field(default=None, ge=0, le=1)
    """What scores less is not brought, 0 to 1; none: as the profile has it (0, seed .30)."""
    min_relevance: float | None = Field(default=None, ge=0, le=1)
    """What fits less is not brought, 0 to 1; none: as the profile has it (.06, seed .06)."""
    half_life_days: float | None = Field(default=None, gt=0, le=36_500)
    """Age at which newness is one half, in days; none: as the profile has it (14)."""
    weight_relevance: float | None = Field(default=None, ge=0, le=10)
    """Weight of how well it fits; none: as the profile has it (.6)."""
    weight_recency: float | None = Field(default=None, ge=0, le=10)
    """Weight of how new it is; none: as the profile has it (.3, seed .2)."""
    weight_importance: float | None = Field(default=None, ge=0, le=10)
    """Weight of how often it was told; none: as the profile has it (.2)."""
    importance_count_saturation: float | None = Field(default=None, gt=0, le=1_000_000)
    """Times told at which importance is full; none: as the profile has it (20)."""
    saturation: float | None = Field(default=None, gt=0, le=10_000)
    """Words' figure at which relevance is .63; none: as the profile has it (6, seed 18)."""
    confirm_seconds: int = Field(default=300, ge=10, le=86_400)
    """How long an answer to a question about memories is waited for, in seconds: which of several to forget, what to
    remember."""
    keep_minute: int | None = Field(default=30, ge=1, le=10_000)
    """New memories that one person may ask for within 60 seconds; none means no limit, as for owners."""
    keep_most: int | None = Field(default=1_000, ge=1, le=1_000_000)
    """Memories that one person may have asked for in all, after which no new one is taken; what was kept stays. None
    means no limit, as for owners."""
    rewrite: bool = False
    """Whether a small model call turns what people ask to keep into a clean statement; their own words are kept beside
    it."""
    flush: bool = False
    """Whether the model may write what is worth keeping into the day's note before a log closes because it is full; one
    call of a model more for each such log."""
    flush_at: float = Field(default=0.8, gt=0, le=1)
    """From which part of session.log_tokens on a log gets that call, above 0 to 1."""
    flush_least: Share = 0.05
    """What people said must be at least this part of session.log_tokens to be worth it, 0 to 1."""
    embedding: EmbeddingServer = EmbeddingServer()
    inject: Inject = "both"
    """How memories reach a prompt besides its opening: off, tool (the model asks), auto (what a message calls for is
    appended, at most max, each once in a log) or both."""
    inject_tokens: int = Field(default=200, ge=40, le=2_000)
    """Most that is appended by itself to one message, in tokens."""
    raw_dialogues: int = Field(default=60, ge=1, le=10_000)
    """Most summaries of single talks in a chat; older ones are rolled up before their hour is over."""
    commitment_days: int = Field(default=30, ge=1, le=3_650)
    """After how many days a promise that is due, or has no day, and that nobody spoke of since counts as broken; and
    how long one that ended is kept."""
    life: LifeRules = LifeRules()

    @field_validator("mode", mode="before")
    @classmethod
    def _alias(cls, value: object) -> object:
        return ALIASES.get(value, value) if isinstance(value, str) else value


class NoteRules(SettingsTable):
    """Markdown notes: the folder notes and MEMORY.md in the data folder."""

    on_new: bool = True
    """Whether `/new` writes the last 15 messages of the talk into a note."""
    chunk_tokens: int = Field(default=400, ge=50, le=4_000)
    """Size of the pieces in which notes are found, in tokens."""
    overlap_tokens: int = Field(default=80, ge=0, le=1_000)
    """What a piece repeats of the one before it, in tokens; at most half."""
    max_kilobytes: int = Field(default=512, ge=1, le=16_384)
    """Largest note that is read, in kilobytes."""


def read_section(line: str) -> SectionWords:
    """One section as it is written, "name: word, word"; ValueError says what is wrong with it."""
    name, colon, rest = line.replace("：", ":").partition(":")
    name = name.strip()
    words = tuple(dict.fromkeys(filter(None, _COMMAS.split(rest.strip()))))
    if not colon:
        raise value_error('must each be "name: word, word"')
    if _NAME.fullmatch(name) is None:
        raise value_error(f"need a name of at most {LONGEST_NAME} letters, figures, spaces or hyphens before the colon")
    if len(words) > MOST_WORDS:
        raise value_error(f"must have at most {MOST_WORDS} words each")
    if any(len(word) > LONGEST_WORD for word in words):
        raise value_error(f"must have words of at most {LONGEST_WORD} characters")
    if any(len(word) < 2 and word.isascii() for word in words):
        raise value_error("must not have a single letter or figure for a word: it is in every text")
    return SectionWords(name, words)


def _checked(lines: tuple[str, ...]) -> tuple[str, ...]:
    names = [read_section(line).key.casefold() for line in lines]
    if len(names) > MOST_SECTIONS:
        raise value_error(f"must be at most {MOST_SECTIONS} sections")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise value_error(f"must name each section once: {', '.join(twice)}")
    return lines


class SectionRules(SettingsTable):
    """What belongs together in memory, and which of it a turn's own recall searches first. Nothing is ever hidden:
    what somebody asked to keep, rare words, the tool memory_recall and `.ai mem` search everything."""

    on: bool = True
    """Whether a talk's topic narrows what its next messages search first."""
    words: Annotated[tuple[str, ...], AfterValidator(_checked)] = ()
    """Own sections, each "name: word, word, …"; the name of one that is there (me, person, decision, todo, lesson,
    family, health, work, taste, travel, tech, recent) replaces its words, without words it is off."""
    window: WindowSize = 5
    """Newest turns whose hits count: 3, 5 or 10."""
    dominant: float = Field(default=0.7, gt=0.5, le=1)
    """Share of the hits from which on a section dominates, above .5 to 1."""
    low: float = Field(default=0.1, ge=0, le=0.5)
    """Share below which `nuan sections` calls a section low, 0 to .5."""
    least_hits: int = Field(default=3, ge=3, le=10)
    """Hits without which no section dominates, 3 to 10."""
    misses: int = Field(default=3, ge=1, le=50)
    """Turns without a hit after which `nuan sections` advises to merge a section."""
    stable_turns: int = Field(default=2, ge=2, le=3)
    """Turns that a section must dominate to be the topic of a talk, 2 or 3."""
    topic: bool = True
    """Whether the next opening tells the topic of the last talk."""

    @property
    def own(self) -> tuple[SectionWords, ...]:
        """The sections of `words`."""
        return tuple(read_section(line) for line in self.words)
