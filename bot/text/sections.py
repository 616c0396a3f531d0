"""Which section of memory a text belongs to, and which ones a message names: by words, without a model. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from bot.text.fold import fold
from bot.text.sectionwords import LESSON, ME, PERSON, RECENT, SHIPPED
from bot.types.memory import MemoryKind
from bot.types.sections import SectionWords

READ = 2_000
"""Characters of a text that are looked at: its subject stands at its beginning."""

_KINDS: dict[MemoryKind, str] = {"experience": LESSON, "event": RECENT, "emotion": RECENT}
"""Where a memory belongs that holds none of the words."""


@dataclass(frozen=True, slots=True)
class Registry:
    """The sections that there are, in the order in which one is taken of two that fit alike."""

    sections: tuple[SectionWords, ...] = SHIPPED

    @property
    def keys(self) -> tuple[str, ...]:
        """Their keys in that order."""
        return tuple(section.key for section in self.sections)

    def assign(self, text: str, kind: MemoryKind, *, owned: bool) -> str:
        """The section of a memory: the one with most of its words, else the one of its kind, else of who has it.

        "" where that one is not there.
        """
        found = self._counted(text)
        if found:
            places = {key: place for place, key in enumerate(self.keys)}
            return min(found, key=lambda key: (-found[key], key == RECENT, places[key]))
        usual = _KINDS.get(kind, PERSON if owned else ME)
        return usual if usual in self.keys else ""

    def named(self, text: str) -> frozenset[str]:
        """All sections of which a message holds a word."""
        return frozenset(self._counted(text))

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps([[each.key, each.words] for each in self.sections], ensure_ascii=False)

    def _counted(self, text: str) -> Counter[str]:
        pattern, keys = _compiled(self.sections)
        if pattern is None:
            return Counter()
        words = {match.group() for match in pattern.finditer(fold(text[:READ]))}
        return Counter(key for word in words for key in keys.get(word) or keys[_single(word, keys)])


def registry(own: Iterable[SectionWords]) -> Registry:
    """An operator's sections, then the shipped: one of the same key replaces its words, one without words is off."""
    shipped = frozenset(each.key for each in SHIPPED)
    # Of two that fit a text alike the operator's is meant.
    found = {each.key: each for each in (_shipped_key(each, shipped) for each in own)}
    rest = (each for each in SHIPPED if each.key not in found)
    return Registry(tuple(each for each in (*found.values(), *rest) if each.words))


def _shipped_key(own: SectionWords, shipped: frozenset[str]) -> SectionWords:
    key = own.key.casefold()
    return SectionWords(key, own.words) if key in shipped else own


def read_registry(text: str | None) -> Registry:
    """A stored registry; the shipped one where nothing is stored, or nothing that can be read."""
    try:
        rows = json.loads(text or "")
        sections = tuple(SectionWords(str(key), tuple(map(str, words))) for key, words in rows)
    except (ValueError, TypeError, RecursionError):
        return Registry()
    return Registry(sections)


def _single(word: str, keys: dict[str, tuple[str, ...]]) -> str:
    """The word that this one is the plural of."""
    return word[:-1] if word[:-1] in keys else word[:-2]


@lru_cache(maxsize=8)
def _compiled(sections: tuple[SectionWords, ...]) -> tuple[re.Pattern[str] | None, dict[str, tuple[str, ...]]]:
    keys: dict[str, tuple[str, ...]] = {}
    for section in sections:
        for word in filter(None, (fold(word).strip() for word in section.words)):
            if section.key not in keys.get(word, ()):
                keys[word] = (*keys.get(word, ()), section.key)
    longest = sorted(keys, key=lambda word: (-len(word), word))
    latin = "|".join(re.escape(word) for word in longest if word.isascii())
    others = "|".join(re.escape(word) for word in longest if not word.isascii())
    parts = [*([rf"(?<![a-z0-9])(?:{latin})(?:e?s)?(?![a-z0-9])"] if latin else []), *([others] if others else [])]
    return (re.compile("|".join(parts)) if parts else None), keys
