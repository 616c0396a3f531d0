"""Counts that begin anew: nothing in flight is forgotten, and no limit is passed, whatever comes in which order."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import OverBudget
from bot.core.models import BUDGET_PERIODS, BudgetLimits, BudgetPeriod, Usage
from bot.store.ledger import NO_CHAT, Reservation, Settlement
from bot.store.store import Store, open_store
from tests.blank import lay, unsynced
from tests.storing import DAY, NOW

LIMITS = BudgetLimits(1.0, 2.0, 1_000, 2_000, 3.0, 3_000)
MOST: Mapping[BudgetPeriod, int] = {"day": 1_000, "month": 2_000, "total": 3_000}

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(1, 600)),
        st.tuples(st.sampled_from(["settle", "charge", "release"]), st.integers(0, 5)),
        st.tuples(st.just("anew"), st.integers(0, 2)),
        st.tuples(st.just("wait"), st.integers(1, 2)),
    ),
    max_size=30,
)


class Books:
    """What a careful clerk would write beside the ledger: what each period counts, in tokens."""

    def __init__(self) -> None:
        self.open: dict[int, tuple[int, int]] = {}
        self.over: list[tuple[int, int, set[BudgetPeriod]]] = []
        self.now = NOW

    def counts(self, period: BudgetPeriod) -> int:
        """Everything in flight, and what has ended since the count began."""
        begun = self.since(period)
        flying = sum(tokens for at, tokens in self.open.values() if at >= begun)
        return flying + sum(tokens for at, tokens, left in self.over if at >= begun and period not in left)

    def since(self, period: BudgetPeriod) -> int:
        """When a period began; here days and months pass smoothly."""
        return {"day": self.now - DAY // 2, "month": self.now - 30 * DAY, "total": 0}[period]


async def step(store: Store, books: Books, what: str, number: int) -> None:
    """One step in the ledger and beside it."""
    ledger, waiting = store.ledger, sorted(books.open)
    match what:
        case "reserve":
            fits = all(books.counts(period) + number <= MOST[period] for period in BUDGET_PERIODS)
            since = books.since("day"), books.since("month")
            try:
                call = await ledger.book(
                    NO_CHAT, Reservation("digest", "m", number, number / 1_000, LIMITS, *since), books.now
                )
            except OverBudget:
                assert not fits
                return
            assert fits
            books.open[call.id] = (books.now, number)
        case "anew":
            period = BUDGET_PERIODS[number]
            await store.ledger.reset_budget(period, books.since(period), None, books.now)
            books.over = [(at, tokens, left | {period}) for at, tokens, left in books.over]
        case "wait":
            books.now += number * DAY // 3
        case _ if waiting:
            call_id = waiting[number % len(waiting)]
            at, tokens = books.open.pop(call_id)
            if what == "settle":
                tokens = max(1, tokens // 2)
                await ledger.settle(Settlement(call_id, Usage(tokens, 0, 0), tokens / 1_000), books.now)
            elif what == "charge":
                await ledger.charge(call_id, books.now)
            else:
                tokens = 0
                await ledger.release(call_id, books.now)
            books.over.append((at, tokens, set()))


async def run(folder: Path, steps: list[tuple[str, int]]) -> None:
    """All steps; after each one the ledger says what the clerk says."""
    lay(folder)
    async with await open_store(folder) as store:
        unsynced(store)
        books = Books()
        for what, number in steps:
            await step(store, books, what, number)
            for period in BUDGET_PERIODS:
                spend = await store.ledger.spend(books.since(period), period=period)
                assert spend.tokens == books.counts(period) <= MOST[period]


@given(STEPS)
@settings(max_examples=20)
def test_no_limit_is_passed_and_nothing_in_flight_is_forgotten(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), steps))
