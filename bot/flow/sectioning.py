"""Which sections a turn's own recall searches first, and what a person's talk in a chat stays with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.config.sections import SectionRules
from bot.recall.sections import FRESH_MS, chosen, round_of, topic
from bot.store.store import Store
from bot.text.sections import registry
from bot.types.people import Audience
from bot.types.recall import Scored
from bot.types.sections import Round, TopicLine

ALIKE = 0.85
"""What fits a message nearly as well as the best is what it is about as well; the rest only shares words with it."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The sections that are searched (none: all) and those that the message names; `off`: nobody counts."""

    searched: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    off: bool = False

    def widened(self) -> "Narrowing":
        """The same for all sections."""
        return replace(self, searched=())

    def round(self, found: Sequence[Scored]) -> Round | None:
        """What the search proved, of what the message calls for; None where nobody counts."""
        if self.off:
            return None
        memories = (one.finding.memory for one in found if one.score >= ALIKE * found[0].score)
        hits = ((each.section, each.id, each.kept) for each in memories if each is not None)
        return round_of(hits, self.searched, self.named)


class Sectioning:
    """Follows what talks are about."""

    def __init__(self, store: Store, rules: SectionRules) -> None:
        self._store = store
        self._rules = rules
        self.registry = registry(rules.own)

    async def narrow(self, chat_id: int, person_id: int, text: str, now: int) -> Narrowing:
        """Where a message is searched first."""
        if not self._rules.on:
            return Narrowing(off=True)
        rounds = await self._store.sections.rounds(chat_id, person_id, now - FRESH_MS)
        named = self.registry.named(text)
        there = set(self.registry.keys)
        searched = chosen(rounds, named, self._rules.proportion)
        return Narrowing(searched if there.issuperset(searched) else (), named)

    async def topic(self, audience: Audience, person_id: int, now: int) -> TopicLine | None:
        """What the person's talk in this chat stays with, if this audience may be told."""
        if not (self._rules.on and self._rules.topic):
            return None
        rounds = await self._store.sections.rounds(audience.chat_id, person_id, now - FRESH_MS)
        found = topic(rounds, self._rules.proportion)
        if found is None:
            return None
        text = await self._store.sections.told(found.memory_id, audience)
        return TopicLine(found.section, text, found.memory_id) if text else None
