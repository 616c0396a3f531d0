"""Memories against an oracle in memory: whatever several people do, everyone sees exactly what they should."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from bot.core.memories import Memory, Visibility
from bot.core.people import Audience
from tests.contract.engines import Engine, Sqlite
from tests.servers import take_back
from tests.sizes import sized
from tests.storing import DAY, NOW, Where, bring_back, drop, ids, keep, layers, searched

T = TypeVar("T")

PLACES = (
    Where("ann", "dm-ann"),
    Where("bob", "dm-bob"),
    Where("ann", "here", "group"),
    Where("bob", "here", "group"),
    Where("bob", "there", "group"),
)
WORDS = ("apple1111", "banana2222", "cherry3333")
"""Codes, so that each is an echo of itself only."""

places = st.sampled_from(PLACES)
picks = st.integers(0, 5)


@dataclass
class Kept:
    """One memory as it should be."""

    where: Where
    seen: Visibility
    text: str
    forgotten: int = 0
    purge_at: int = 0

    def visible(self, place: Where) -> bool:
        """Whether an audience of this one person in this place may see it."""
        mine, here = place.who == self.where.who, place.chat == self.where.chat
        alone = mine and place.kind == "dm"
        return {"private": alone, "chat": here or alone, "public": mine}[self.seen]

    def same(self, where: Where, seen: Visibility, text: str) -> bool:
        """Whether telling this text here with that visibility tells it again."""
        if self.seen != seen or self.text != text or self.where.who != where.who:
            return False
        return seen != "chat" or self.where.chat == where.chat


class Memories(RuleBasedStateMachine):
    """Two people in their own chats and in groups, over one kind of engine."""

    engines: type[Engine] = Sqlite

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.engine = self.engines(Path(self.folder.name))
        self.loop = asyncio.new_event_loop()
        self.now = NOW
        self.kept: dict[int, Kept] = {}
        self.store = self._run(self.engine.open())
        self.audience: dict[Where, Audience] = {}
        for place in PLACES:
            person, chat, _ = self._run(ids(self.store, place))
            self.audience[place] = Audience(chat, place.kind, (person,))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        assert self.engine.faults() == []
        self._run(self.store.close())
        self.loop.close()
        self.folder.cleanup()
        take_back()

    def _owned(self, place: Where) -> list[Memory]:
        return list(self._run(self.store.memories.owned(self.audience[place].person_ids[0], self.audience[place])))

    def _active(self, place: Where) -> set[int]:
        return {number for number, kept in self.kept.items() if not kept.forgotten and kept.visible(place)}

    @rule(place=places, text=st.sampled_from(WORDS), seen=st.sampled_from(("private", "chat", "public")))
    def remember(self, place: Where, text: str, seen: Visibility) -> None:
        self.now += 1
        number = self._run(keep(self.store, text, place, seen, at=self.now))
        again = [n for n, kept in self.kept.items() if not kept.forgotten and kept.same(place, seen, text)]
        assert again in ([], [number])
        if not again:
            assert number > max(self.kept, default=0)
            self.kept[number] = Kept(place, seen, text)

    @rule(place=places, pick=picks, days=st.sampled_from((3, 7, None)))
    def forget(self, place: Where, pick: int, days: int | None) -> None:
        owned = self._owned(place)
        if not owned:
            return
        memory = owned[pick % len(owned)]
        self.now += 1
        self._run(drop(self.store, memory, place, self.now, days))
        kept = self.kept[memory.id]
        kept.forgotten, kept.purge_at = self.now, self.now + (days or 0) * DAY
        if days is None:
            self._purged()

    @rule(place=places)
    def undo_the_last(self, place: Where) -> None:
        self.now += 1
        audience = self.audience[place]
        mine = {n: k for n, k in self.kept.items() if k.forgotten and k.where.who == place.who and k.visible(place)}
        newest = max(mine, key=lambda n: (mine[n].forgotten, n), default=None)
        forgotten = self._run(self.store.memories.forgotten(audience.person_ids[0], audience, self.now))
        last = forgotten[-1].id if forgotten else None
        assert last == newest
        if last is not None:
            self._bring_back(last, place)

    @rule(place=places, pick=picks)
    def undo_a_number(self, place: Where, pick: int) -> None:
        self.now += 1
        if self.kept:
            self._bring_back(sorted(self.kept)[pick % len(self.kept)], place)

    def _bring_back(self, number: int, place: Where) -> None:
        kept = self.kept[number]
        may = kept.where.who == place.who and kept.visible(place) and kept.forgotten and kept.purge_at > self.now
        assert self._run(bring_back(self.store, number, self.audience[place], place, self.now)) == bool(may)
        if may:
            for other in [
                n for n, k in self.kept.items() if not k.forgotten and k.same(kept.where, kept.seen, kept.text)
            ]:
                del self.kept[other]  # replaced by the one that came back
            kept.forgotten = kept.purge_at = 0

    @rule(days=st.integers(0, 8))
    def purge(self, days: int) -> None:
        self.now += days * DAY
        self._run(self.store.memories.purge(self.now))
        self._purged()

    def _purged(self) -> None:
        self.kept = {n: k for n, k in self.kept.items() if not (k.forgotten and k.purge_at <= self.now)}

    @rule()
    def restart(self) -> None:
        self._run(self.store.close())
        self.store = self._run(self.engine.open())

    @invariant()
    def everybody_sees_exactly_what_they_should(self) -> None:
        for place, audience in self.audience.items():
            wanted = self._active(place)
            assert {m.id for m in self._run(layers(self.store, audience))} == wanted
            assert {each.id for each in self._run(searched(self.store, audience, *WORDS, newest=99))} == wanted
            mine = {number for number in wanted if self.kept[number].where.who == place.who}
            assert {m.id for m in self._owned(place)} == mine


def test_everybody_sees_what_they_should_whatever_was_done(engine: Engine) -> None:
    of_engine = type("MemoriesOfEngine", (Memories,), {"engines": type(engine)})
    # make torture does ten thousand operations (row F8)
    few = settings(max_examples=sized(10), stateful_step_count=20, deadline=None)
    run_state_machine_as_test(of_engine, settings=few)
