"""Slots for model calls: never too many, fair between chats, in order within one, and none is ever lost."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelError
from bot.model.pool import REMEMBERED, ModelSlots
from tests.fakes.clock import let_others_run


@dataclass
class Desk:
    """Requests that hold their slot until the test lets them go."""

    most: int
    begun: list[tuple[int, int]] = field(default_factory=list)
    running: dict[tuple[int, int], asyncio.Event] = field(default_factory=dict)
    tasks: dict[tuple[int, int], "asyncio.Task[None]"] = field(default_factory=dict)
    peak: int = 0

    def __post_init__(self) -> None:
        self.slots = ModelSlots(self.most)
        self.counts: Counter[int] = Counter()

    def ask(self, chat_id: int, *, behind: bool = False, stop: asyncio.Event | None = None) -> tuple[int, int]:
        """One more request of that chat; its name."""
        name = (chat_id, self.counts[chat_id])
        self.counts[chat_id] += 1
        self.tasks[name] = asyncio.ensure_future(self._hold(name, behind, stop))
        return name

    async def _hold(self, name: tuple[int, int], behind: bool, stop: asyncio.Event | None) -> None:
        async with self.slots.of(name[0], behind=behind, stops=() if stop is None else (stop,)):
            done = self.running[name] = asyncio.Event()
            self.begun.append(name)
            self.peak = max(self.peak, len(self.running))
            try:
                await done.wait()
            finally:
                del self.running[name]

    async def still(self) -> None:
        """Everybody has done what they can."""
        for _ in range(8):
            await let_others_run()

    async def finish_one(self) -> None:
        """The request that has run longest ends."""
        next(iter(self.running.values())).set()
        await self.still()

    async def finish(self) -> None:
        """Everything ends, one after the other."""
        await self.still()
        while self.running:
            await self.finish_one()
        left = [name for name, task in self.tasks.items() if not task.done()]
        for name in left:
            self.tasks[name].cancel()
        results = await asyncio.gather(*self.tasks.values(), return_exceptions=True)
        assert left == []
        assert self.slots._free == self.most
        assert not self.slots._people
        assert not self.slots._behind
        assert {type(result) for result in results} <= {type(None), asyncio.CancelledError, ModelError}


def jain(shares: list[int]) -> float:
    """Jain's index of fairness: 1 when all have the same, 1/n when one has all."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


async def test_a_chat_with_a_hundred_waiting_delays_another_by_one_slot() -> None:
    desk = Desk(4)
    for _ in range(100):
        desk.ask(1)
    await desk.still()
    other = desk.ask(2)
    await desk.still()
    assert other not in desk.begun
    await desk.finish_one()
    assert desk.begun[-1] == other
    await desk.finish()
    assert len(desk.begun) == 101


@pytest.mark.parametrize("most", [1, 4])
async def test_twenty_chats_and_one_that_floods_get_equal_shares(most: int) -> None:
    desk = Desk(most)
    for _ in range(100):
        desk.ask(0)
    await desk.still()
    flood = len(desk.begun)
    for _ in range(10):
        for chat_id in range(1, 21):
            desk.ask(chat_id)
    for _ in range(105):
        await desk.finish_one()
    shares = Counter(chat_id for chat_id, _ in desk.begun[flood:])
    assert jain([shares[chat_id] for chat_id in range(21)]) >= 0.99
    await desk.finish()


async def test_what_nobody_waits_for_comes_after_all_people() -> None:
    desk = Desk(1)
    desk.ask(1)
    await desk.still()
    digests = [desk.ask(2, behind=True), desk.ask(1, behind=True)]
    await desk.still()
    people = [desk.ask(chat_id) for chat_id in (2, 1, 3, 1)]
    await desk.finish()
    assert desk.begun[1:5] == [people[0], people[2], people[1], people[3]]
    assert set(desk.begun[5:]) == set(digests)


async def test_what_is_not_wanted_any_more_leaves_the_queue_at_once() -> None:
    desk, stop = Desk(1), asyncio.Event()
    desk.ask(1)
    await desk.still()
    name = desk.ask(2, behind=True, stop=stop)
    await desk.still()
    stop.set()
    await desk.still()
    with pytest.raises(ModelError, match="somebody wrote"):
        await desk.tasks[name]
    after = desk.ask(3)
    await desk.finish()
    assert desk.begun == [(1, 0), after]


async def test_a_slot_that_was_given_to_somebody_who_left_in_that_moment_goes_on() -> None:
    desk = Desk(1)
    first = desk.ask(1)
    await desk.still()
    second, third = desk.ask(2), desk.ask(3)
    await desk.still()
    desk.running[first].set()
    while first in desk.running:
        await let_others_run()
    desk.tasks[second].cancel()
    await desk.still()
    assert desk.begun == [first, third]
    await desk.finish()


async def test_who_leaves_in_the_moment_in_which_a_slot_comes_free_gets_none() -> None:
    desk = Desk(1)
    first = desk.ask(1)
    await desk.still()
    second, third = desk.ask(2), desk.ask(3)
    await desk.still()
    desk.running[first].set()
    desk.tasks[second].cancel()
    await desk.still()
    assert desk.begun == [first, third]
    await desk.finish()


async def test_only_so_many_chats_are_remembered() -> None:
    slots = ModelSlots(1)
    for chat_id in range(REMEMBERED + 500):
        async with slots.of(chat_id):
            pass
    assert len(slots._served) == REMEMBERED
    assert not slots._people
    assert not slots._behind


ACTIONS = st.lists(
    st.tuples(st.sampled_from(("ask", "ask", "behind", "finish", "cancel")), st.integers(0, 5), st.booleans()),
    max_size=60,
)


@given(st.integers(1, 4), ACTIONS)
def test_never_too_many_in_order_within_a_chat_and_no_slot_is_lost(
    most: int, actions: list[tuple[str, int, bool]]
) -> None:
    asyncio.run(play(most, actions))


async def play(most: int, actions: list[tuple[str, int, bool]]) -> None:
    desk, cancelled, behind = Desk(most), set[tuple[int, int]](), set[tuple[int, int]]()
    for action, number, at_once in actions:
        match action:
            case "ask" | "behind":
                name = desk.ask(number, behind=action == "behind")
                if action == "behind":
                    behind.add(name)
            case "finish":
                for event in list(desk.running.values())[:1]:
                    event.set()
            case "cancel":
                for name in list(desk.tasks)[number : number + 1]:
                    desk.tasks[name].cancel()
                    cancelled.add(name)
        if not at_once:
            await desk.still()
            waiting = [name for name, task in desk.tasks.items() if not task.done() and name not in desk.running]
            assert not waiting or len(desk.running) == most
    await desk.finish()
    assert desk.peak <= most
    left = {name for name, task in desk.tasks.items() if task.cancelled()}
    assert left <= cancelled
    assert set(desk.begun) >= set(desk.tasks) - left
    for chat_id in range(6):
        for kind in (behind, set(desk.tasks) - behind):
            order = [name[1] for name in desk.begun if name[0] == chat_id and name in kind]
            assert order == sorted(order)
