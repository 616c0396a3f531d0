"""Limits for one chat, one person and for ever: who used theirs up is told so, the others go on."""

import asyncio

import pytest

from bot import money
from bot.config.settings import Settings
from bot.pipeline.endpoints import price_problems
from bot.store.ledger import Reservation
from tests.conftest import NewWorld
from tests.world import World

PRICED = {"price_input": 100.0, "price_output": 200.0}
DAY_S = 86_400


async def until_refused(world: World, who: str, group: str = "") -> int:
    """How many replies somebody gets before they are told that theirs is used up."""
    for number in range(50):
        calls = len(world.model.requests)
        await world.say(f"小暖，说说第{number}件事", who, group)
        if len(world.model.requests) == calls:
            return number
    raise AssertionError("never refused")


async def test_who_used_their_share_is_told_and_the_others_go_on(new_world: NewWorld) -> None:
    world = await new_world(budget={"person_day_tokens": 8_000})
    assert 1 <= await until_refused(world, "阿明") < 20
    assert "你今天的 token" in world.replies[-1]
    assert 1 <= await until_refused(world, "阿红", "家") < 20
    await world.say("在吗")
    assert world.replies[-1] == "好的"
    await world.wait(DAY_S)
    await world.say("在吗", "阿明")
    assert world.replies[-1] == "好的", "a new day"


async def test_a_chat_has_a_share_of_its_own(new_world: NewWorld) -> None:
    world = await new_world(model=PRICED, budget={"chat_day_money": 1.0})
    await until_refused(world, "阿明", "家")
    assert "这里今天的金额" in world.replies[-1]
    calls = len(world.model.requests)
    await world.say("小暖，在吗", "阿红", "家")
    assert len(world.model.requests) == calls, "whoever asks there"
    await world.say("小暖，在吗", "阿明", "别处")
    assert world.replies[-1] == "好的"


@pytest.mark.parametrize(
    ("limit", "most", "told"),
    [
        ("person_month_tokens", 8_000, "你这个月的 token"),
        ("person_month_money", 1.0, "你这个月的金额"),
        ("chat_month_tokens", 8_000, "这里这个月的 token"),
        ("chat_month_money", 1.0, "这里这个月的金额"),
    ],
)
async def test_a_month_has_shares_that_the_next_day_does_not_give_back(
    new_world: NewWorld, limit: str, most: float, told: str
) -> None:
    world = await new_world(model=PRICED, budget={limit: most})
    assert await until_refused(world, "阿明") >= 1
    assert told in world.replies[-1]
    await world.wait(DAY_S)
    calls = len(world.model.requests)
    await world.say("在吗", "阿明")
    assert len(world.model.requests) == calls
    await world.say("在吗", "阿红")
    assert world.replies[-1] == "好的"
    await world.wait(30 * DAY_S)
    await world.say("在吗", "阿明")
    assert world.replies[-1] == "好的", "a new month"


async def test_what_is_allowed_for_ever_ends_for_ever(new_world: NewWorld) -> None:
    world = await new_world(budget={"total_tokens": 8_400})
    await until_refused(world, "阿明")
    assert "一共的 token" in world.replies[-1]
    await world.wait(40 * DAY_S)
    calls = len(world.model.requests)
    await world.say("在吗？我想问一件说来话长的事" * 20)
    assert len(world.model.requests) == calls


async def test_fifty_calls_at_once_of_one_person_do_not_pass_their_share(new_world: NewWorld) -> None:
    world = await new_world(budget={"person_day_tokens": 9_000}, model={"slots": 50})
    await asyncio.gather(
        *(world.app.ingest.accept(world.message("小暖，在吗", "阿明", f"群{number}")) for number in range(50))
    )
    await world.app.settled()
    (used,) = world.rows("SELECT sum(prompt_tokens + output_tokens) FROM call")[0]
    assert isinstance(used, int)
    assert 0 < used <= 9_000
    assert world.peek.calls.count(state="reserved") == 0


async def test_the_shares_are_shown_where_there_are_any(new_world: NewWorld) -> None:
    world = await new_world(budget={"person_day_tokens": 50_000, "chat_day_tokens": 60_000, "total_tokens": 70_000})
    await world.say("在吗")
    await world.say(".ai budget show")
    shown = world.replies[-1]
    for line, most in (("一共：", 70_000), ("这里今天：", 60_000), ("你今天：", 50_000)):
        assert any(each.startswith(line) and f"/ {most:,}" in each for each in shown.splitlines()), shown


async def test_without_shares_only_day_and_month_are_shown(world: World) -> None:
    await world.say(".ai budget show")
    assert len(world.replies[-1].splitlines()) == 4


@pytest.mark.parametrize("name", ["total_money", "chat_day_money", "person_day_money"])
def test_a_limit_in_money_needs_prices(name: str) -> None:
    model = {"base_url": "https://model.example/v1", "name": "m", "api_key": "k"}
    settings = Settings.model_validate({"model": model, "budget": {name: 1.0}})
    (problem,) = price_problems(settings)
    assert problem.startswith(f"budget.{name}: needs model.price_input")


async def test_a_digest_is_on_nobodys_account(new_world: NewWorld) -> None:
    world = await new_world(budget={"person_day_tokens": 9_000})
    world.model.digests = True
    await world.say("从前有一座山")
    session = world.peek.sessions("id")[0][0]
    assert isinstance(session, int)
    large = Reservation("digest", "m", 10_000, 0.0, money.limits(world.settings), 0, 0)
    assert (await world.store.ledger.reserve(session, large, world.clock.now())).reserved_tokens == 10_000


async def test_who_goes_on_talking_in_a_group_is_told_once_not_for_every_line(new_world: NewWorld) -> None:
    world = await new_world(budget={"person_day_tokens": 8_000})
    await until_refused(world, "阿明", "家")
    told = len(world.replies)
    for text in ("那红茶呢？", "哈哈", "晚饭吃啥"):
        await world.say(text, "阿明", "家")
        await world.wait(6)
    assert len(world.replies) == told
    await world.wait(120)
    assert world.peek.events.count(state="queued") == 0, "they wait for the window only"
