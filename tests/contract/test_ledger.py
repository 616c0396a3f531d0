"""The ledger: no call without room, reservations count, and every call is paid once."""

import asyncio

import pytest

from bot.core.errors import OverBudget
from bot.core.models import BudgetLimits
from bot.core.sessions import ModelCall
from bot.store.store import Store
from tests.storing import DAY, NOW, paid, room_for, talk

SINCE = NOW - DAY


async def opened(store: Store) -> int:
    """A session to account for, without cost."""
    return (await talk(store, "你好", "你好呀", at=NOW - 30 * DAY)).turn.session_id


@pytest.mark.parametrize(
    "limits",
    [
        BudgetLimits(1.0, None, None, None),
        BudgetLimits(None, 1.0, None, None),
        BudgetLimits(None, None, 1_000, None),
        BudgetLimits(None, None, None, 1_000),
    ],
)
async def test_of_fifty_calls_at_once_exactly_those_with_room_are_reserved(store: Store, limits: BudgetLimits) -> None:
    session = await opened(store)
    one = room_for(100, 0.1, limits)
    calls = await asyncio.gather(*(store.ledger.reserve(session, one, NOW) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(call, ModelCall) for call in calls) == 10
    refused = {call.limit for call in calls if isinstance(call, OverBudget)}
    assert refused == {name for name in BudgetLimits.__slots__ if getattr(limits, name) is not None}
    spend = await store.ledger.spend(SINCE)
    assert (spend.reserved_tokens, spend.tokens, spend.calls) == (1_000, 1_000, 10)
    assert spend.reserved_money == pytest.approx(1.0)


async def test_three_times_a_tenth_fits_into_three_tenths(store: Store) -> None:
    session = await opened(store)
    for _ in range(3):
        await store.ledger.reserve(session, room_for(1, 0.1, BudgetLimits(0.3, None, None, None)), NOW)


async def test_a_limit_of_zero_money_lets_free_calls_through(store: Store) -> None:
    session = await opened(store)
    none = BudgetLimits(0.0, 0.0, None, None)
    await store.ledger.reserve(session, room_for(100, 0.0, none), NOW)
    with pytest.raises(OverBudget, match="day_money"):
        await store.ledger.reserve(session, room_for(100, 0.01, none), NOW)


async def test_what_was_used_before_the_day_counts_for_the_month_only(store: Store) -> None:
    session = await opened(store)
    limits = BudgetLimits(None, None, 100, 250)
    await store.ledger.reserve(session, room_for(100, limits=limits), NOW - 2 * DAY)
    await store.ledger.reserve(session, room_for(100, limits=limits), NOW)
    with pytest.raises(OverBudget, match="day_tokens"):
        await store.ledger.reserve(session, room_for(1, limits=limits), NOW)
    with pytest.raises(OverBudget, match="month_tokens"):
        await store.ledger.reserve(session, room_for(51, limits=BudgetLimits(None, None, 1_000, 250)), NOW)


async def test_settled_costs_what_it_cost_charged_what_was_reserved_released_nothing_and_each_once(
    store: Store,
) -> None:
    session = await opened(store)
    settled, charged, released = [await store.ledger.reserve(session, room_for(100, 1.0), NOW) for _ in range(3)]
    for _ in range(2):
        await store.ledger.settle(paid(settled.id, 0.25), NOW)
        await store.ledger.charge(charged.id, NOW)
        await store.ledger.release(released.id, NOW)
    await store.ledger.charge(settled.id, NOW)
    await store.ledger.release(settled.id, NOW)
    await store.ledger.release(charged.id, NOW)
    await store.ledger.settle(paid(charged.id, 99.0), NOW)
    await store.ledger.settle(paid(released.id, 99.0), NOW)
    spend = await store.ledger.spend(SINCE)
    assert (spend.money, spend.tokens, spend.calls, spend.reserved_money, spend.reserved_tokens) == (
        1.25,
        157,
        2,
        0.0,
        0,
    )
    assert (await store.ledger.spend(SINCE, 1)) == spend
    assert (await store.ledger.spend(SINCE, 2)).calls == 0


async def test_from_whatever_moment_on_a_call_counts_once_also_where_a_quarter_of_an_hour_begins(store: Store) -> None:
    session = await opened(store)
    moments = [NOW - 1_800_000 + 100_000 * number for number in range(30)]
    for at in moments:
        await store.ledger.settle(paid((await store.ledger.reserve(session, room_for(100, 1.0), at)).id, 0.25), at)
    for since in (moments[0], moments[0] + 1, NOW - 900_000, NOW - 899_999, NOW - 450_000, NOW, moments[-1]):
        assert (await store.ledger.spend(since)).calls == sum(at >= since for at in moments), since
