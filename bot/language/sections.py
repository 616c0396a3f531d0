"""Which memory section a text belongs to or names, and what a slot's name says of its value."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from bot.core.people import MemoryKind
from bot.core.recall import SectionWords
from bot.text.catalogue import read_table
from bot.text.fold import fold

ME, PERSON, LESSON, RECENT = "me", "person", "lesson", "recent"

SHIPPED_SECTIONS = tuple(
    SectionWords(key, tuple(word.strip() for word in words.split(",")))
    for key, words in read_table("bot.language", "sections").items()
)
"""In the order in which one is taken of two that fit a text alike."""

READ_CHARS = 2_000
"""Characters of a text that are looked at: its subject stands at its beginning."""

_KINDS: dict[MemoryKind, str] = {"experience": LESSON, "event": RECENT, "emotion": RECENT}
"""Where a memory belongs that holds none of the words."""

_DATA = read_table("bot.language", "slots")
SLOT_QUESTION_WORDS: dict[str, str] = _DATA["asked"]
"""Words by which people ask for what a slot holds and which its text need not say: 我在哪上班 for 在云栖科技做前端."""

_BY_NAME = ("favourite ", "favorite ", "current ", "最喜欢的", "最爱的", "当前", "目前的")


@dataclass(frozen=True, slots=True)
class SectionRegistry:
    """The sections that there are, in the order in which one is taken of two that fit alike."""

    sections: tuple[SectionWords, ...] = SHIPPED_SECTIONS

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
        words = {match.group() for match in pattern.finditer(fold(text[:READ_CHARS]))}
        return Counter(key for word in words for key in keys.get(word) or keys[_single(word, keys)])


def section_registry(own: Iterable[SectionWords]) -> SectionRegistry:
    """An operator's sections, then the shipped: one of the same key replaces its words, one without words is off."""
    shipped = frozenset(each.key for each in SHIPPED_SECTIONS)
    # Of two that fit a text alike the operator's is meant.
    found = {each.key: each for each in (_shipped_key(each, shipped) for each in own)}
    rest = (each for each in SHIPPED_SECTIONS if each.key not in found)
    return SectionRegistry(tuple(each for each in (*found.values(), *rest) if each.words))


def _shipped_key(own: SectionWords, shipped: frozenset[str]) -> SectionWords:
    key = own.key.casefold()
    return SectionWords(key, own.words) if key in shipped else own


def read_registry(text: str | None) -> SectionRegistry:
    """A stored registry; the shipped one where nothing is stored, or nothing that can be read."""
    try:
        rows = json.loads(text or "")
        sections = tuple(SectionWords(str(key), tuple(map(str, words))) for key, words in rows)
    except (ValueError, TypeError, RecursionError):
        return SectionRegistry()
    return SectionRegistry(sections)


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


@cache
def _marked(what: str) -> frozenset[str]:
    """The slots that are `lasting`, of which one has `many`, or that are `guarded`."""
    return frozenset(map(fold, _DATA["words" if what == "lasting" else "other"][what]))


@cache
def _names() -> dict[str, str]:
    """The slot of each name of those of which one has one."""
    return {fold(name): slot for slot, names in _DATA["one"].items() for name in (slot, *names)}


def slot_of(name: str) -> str:
    """The one name of a slot that has several: home for residence and 住址."""
    folded = " ".join(fold(name).replace("_", " ").split())
    return _names().get(folded, folded)


def is_lasting(slot: str) -> bool:
    """Whether it is of health, death, birth, relations, home, work, names, birthdays or allergies."""
    return not _marked("lasting").isdisjoint((fold(slot), slot_of(slot)))


def is_single_valued(slot: str) -> bool:
    """Whether somebody is known to have one value of it at a time; a favourite or current thing is one."""
    return slot in _names() or slot.startswith(_BY_NAME)


def holds_one(slot: str) -> bool:
    """Whether a new value of it takes the other's place: of any slot, also of one that a model named, but of those that
    are known to have several."""
    if is_single_valued(slot):
        return True
    last = slot.rpartition(" ")[2]
    return bool(slot) and (_marked("many") | _marked("guarded")).isdisjoint((slot, last, last.removesuffix("s")))


def is_guarded(slot: str) -> bool:
    """Whether it is of somebody's health: what is lost of it may do harm."""
    return slot in _marked("guarded")
