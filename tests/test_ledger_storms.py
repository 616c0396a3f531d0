"""Money under load: many calls at once, any order of ends, kill -9: never over a limit, nothing reserved for ever."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import OverBudget
from bot.core.models import BudgetLimits, Usage
from bot.store.ledger import Settlement
from bot.store.store import Store
from tests.blank import open_laid
from tests.fakes.model import Answer, says
from tests.kill import kill
from tests.kill_ledger import LIMITS
from tests.pools import DOWN, Named, left, with_models
from tests.sizes import sized
from tests.storing import DAY, NOW, look, room_for, talk
from tests.world import World

USED = """SELECT coalesce(sum(CASE state WHEN 'reserved' THEN reserved_cost ELSE cost END), 0.0), coalesce(sum(
    CASE state WHEN 'reserved' THEN reserved_tokens ELSE prompt_tokens + output_tokens END), 0) FROM call"""


def used(world: World) -> float:
    """Money spent and reserved."""
    ((money, _),) = world.rows(USED)
    assert isinstance(money, float)
    return money


@pytest.mark.parametrize("crowd", ["people", "rooms"])
async def test_fifty_at_once_on_a_nearly_empty_budget_never_reserve_beyond_it(tmp_path: Path, crowd: str) -> None:
    """The first model fails, so each call reserves twice: at its price, then at the dearer fallback's."""
    most, seen = 0.5, []

    def look_on(answer: Answer) -> Answer:
        seen.append(used(world))
        return answer

    first, second = Named("first"), Named("second")
    first.script = lambda request: look_on(DOWN)
    second.script = lambda request: look_on(says("好", prompt_tokens=900))
    prices: dict[str, dict[str, object]] = {
        "model": {"slots": 50, "tries": 2, "price_input": 5.0, "price_output": 10.0},
        "fallback": {"price_input": 20.0, "price_output": 40.0},
        "budget": {"day_money": most, "day_tokens": None},
    }
    async with with_models(tmp_path, first, second, smaller=None, **prices) as world:
        who = [(f"人{n}", "") if crowd == "people" else ("小王", f"群{n}") for n in range(50)]
        world.shut()
        await asyncio.gather(
            *(world.app.ingest.accept(world.message("小暖，在吗", name, group)) for name, group in who)
        )
        await world.held(1)
        seen.append(used(world))
        await world.let_answer()
        assert len(seen) > 10
        assert max(seen) <= most + 1e-9
        assert used(world) <= most + 1e-9
        assert left(world) == 0
        assert 0 < sum(reply == "好" for reply in world.replies) < 50
        assert len(world.replies) == 50, "everybody hears something"


async def test_after_a_kill_at_any_moment_the_ledger_is_within_its_limits_and_nothing_stays_reserved(
    tmp_path: Path,
) -> None:
    limits, told = LIMITS, 0
    for seed in range(5):
        folder = tmp_path / str(seed)
        lines = kill(folder, seed, after=10 + seed * 40, module="tests.kill_ledger")
        told += len(lines)
        ((money, tokens),) = look(folder, USED)
        assert isinstance(money, float)
        assert isinstance(tokens, int)
        assert money <= (limits.day_money or 0) + 1e-9
        assert tokens <= (limits.day_tokens or 0)
        ended = {line.number for line in lines if line.verb == "end"}
        begun = {line.number for line in lines if line.verb == "reserve"}
        states = {row[0]: row[1] for row in look(folder, "SELECT id, state FROM call")}
        assert all(states[number] != "reserved" for number in ended)
        assert begun <= states.keys()
        async with await open_laid(folder) as store:
            await store.turns.lost_calls(NOW)
            spend = await store.ledger.spend(NOW - DAY)
        assert (spend.reserved_money, spend.reserved_tokens) == (0.0, 0)
        assert spend.money == pytest.approx(money)
        assert spend.tokens == tokens
    assert told > 100


@dataclass
class Kept:
    """What the ledger should say of one call."""

    state: str
    tokens: int
    cost: float


OPS = st.lists(
    st.tuples(
        st.sampled_from(("reserve", "reserve", "reserve", "settle", "charge", "release", "crash")),
        st.integers(0, 30),
        st.integers(1, 400),
        st.integers(0, 40),
    ),
    min_size=5,
    max_size=40,
)


@settings(max_examples=sized(25))
@given(OPS)
def test_in_any_order_the_sums_are_those_of_the_calls_and_each_ends_once(
    ops: list[tuple[str, int, int, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(Path(folder), ops))


async def _play(folder: Path, ops: list[tuple[str, int, int, int]]) -> None:
    limits, calls = BudgetLimits(1.0, 2.0, 1_000, None), dict[int, Kept]()
    store = await open_laid(folder)
    try:
        session = (await talk(store, "你好", "你好呀", at=NOW - 30 * DAY)).turn.session_id
        for what, which, tokens, cents in ops:
            if what == "reserve":
                await _reserve(store, session, calls, (tokens, cents / 100), limits)
            elif what == "crash":
                await store.close()
                store = await open_laid(folder)
                await store.turns.lost_calls(NOW)
                for kept in calls.values():
                    kept.state = "lost" if kept.state == "reserved" else kept.state
            elif calls:
                await _end(store, what, calls, sorted(calls)[which % len(calls)])
            spend = await store.ledger.spend(NOW - DAY)
            waiting = [kept for kept in calls.values() if kept.state == "reserved"]
            assert spend.tokens == sum(kept.tokens for kept in calls.values())
            assert spend.money == pytest.approx(sum(kept.cost for kept in calls.values()))
            assert spend.reserved_tokens == sum(kept.tokens for kept in waiting)
            assert spend.reserved_money == pytest.approx(sum(kept.cost for kept in waiting))
            assert 0 <= spend.tokens <= 1_000
            assert 0 <= spend.money <= 1.0 + 1e-6
    finally:
        await store.close()


async def _reserve(
    store: Store, session: int, calls: dict[int, Kept], wish: tuple[int, float], limits: BudgetLimits
) -> None:
    tokens, cost = wish
    fits_money = sum(kept.cost for kept in calls.values()) + cost <= 1.0 + 1e-6
    fits_tokens = sum(kept.tokens for kept in calls.values()) + tokens <= 1_000
    wanted = store.ledger.reserve(session, room_for(tokens, cost, limits), NOW)
    if fits_money and fits_tokens:
        calls[(await wanted).id] = Kept("reserved", tokens, cost)
        return
    with pytest.raises(OverBudget, match="day_tokens" if fits_money else "day_money"):
        await wanted


async def _end(store: Store, what: str, calls: dict[int, Kept], number: int) -> None:
    kept = calls[number]
    half = Kept("settled", kept.tokens // 2, kept.cost / 2)
    match what:
        case "settle":
            await store.ledger.settle(Settlement(number, Usage(half.tokens, 0, 0), half.cost), NOW)
        case "charge":
            await store.ledger.charge(number, NOW)
        case _:
            await store.ledger.release(number, NOW)
    if kept.state == "reserved":
        ends = {"settle": half, "charge": Kept("lost", kept.tokens, kept.cost), "release": Kept("released", 0, 0.0)}
        calls[number] = ends[what]
