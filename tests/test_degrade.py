"""As a limit comes nearer: the smaller model, then light conversations, then one line a day, then silence."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import ScriptedModel, calls, says
from tests.pools import Named, asked, left, with_models
from tests.world import World

DAY = 1_000_000
PRICES: dict[str, dict[str, object]] = {
    "model": {"tries": 1, "price_input": 10.0, "price_output": 20.0},
    "small": {"price_input": 1.0, "price_output": 2.0},
}
SHOWN = {
    "full": ("现在：一切照常", "現在：一切照常", "Now: as always"),
    "small": ("现在：换小模型回答", "現在：換小模型回答", "Now: the smaller model answers"),
    "light": ("现在：有小模型就换", "現在：有小模型就換", "Now: the smaller model if there is one"),
    "over": ("现在：到上限了", "現在：到上限了", "Now: a limit is reached"),
    "silent": ("现在：先安静", "現在：先安靜", "Now: silent"),
}
WRITES = ("我说说今天的事", "我說說今天發生的事", "Let me tell you about it")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A limit for the day, a model and a smaller one."""
    budget: dict[str, object] = {"day_tokens": DAY}
    first, small = Named("first", "大"), Named("small", "小")
    async with with_models(tmp_path, first, smaller=small, **PRICES, budget=budget) as world:
        yield world


async def spend(world: World, share: float, who: str, group: str = "") -> None:
    """Somebody uses that part of the limit in one answer."""
    models = [model for model in (world.model, world.small) if model is not None]
    scripts = [model.script for model in models]
    for model in models:
        model.script = lambda request: says("贵", prompt_tokens=round(DAY * share))
    await world.say("小暖，讲讲宇宙", who, group)
    assert world.replies[-1] == "贵"
    for model, script in zip(models, scripts, strict=True):
        model.script = script


async def step(world: World, who: str = "小王") -> str:
    """What `.ai budget` calls it, in the script of that person."""
    await world.say(".ai budget show", who)
    (found,) = [step for step, texts in SHOWN.items() if world.replies[-1].startswith(texts)]
    return found


def log(world: World) -> list[object]:
    """The mode of every turn and why, in order."""
    return [(line["mode"], line["mode_why"]) for line in world.log.named("turn")]


async def test_step_by_step_to_silence_and_back_the_next_day(world: World) -> None:
    assert world.small is not None
    await world.say("讲讲成都吧")
    assert (world.replies[-1], await step(world)) == ("大", "full")
    await spend(world, 0.8, "甲")
    await world.say("那熊猫呢")
    assert (world.replies[-1], await step(world)) == ("小", "small")
    await world.say("讲讲重庆吧", "阿明")
    assert log(world)[-1] == ("full", "off"), "the smaller model alone changes no log"
    await spend(world, 0.1, "乙")
    await world.say("那火锅呢")
    assert (world.replies[-1], await step(world)) == ("小", "light")
    assert log(world)[-1] == ("full", "budget")
    sent = world.small.requests[-1].prompt.messages
    assert [message.content for message in sent if message.role == "assistant"] == ["大", "小"], "the open log goes on"
    await world.say("讲讲西安吧", "阿红")
    assert log(world)[-1] == ("light", "budget")
    assert world.small.requests[-1].prompt.tools == ()
    await spend(world, 0.12, "丙")
    assert await step(world) == "over"
    await until_silent(world)
    await world.wait(86_400)
    assert await step(world) == "full"
    await world.say("早上好呀，讲讲今天")
    assert world.replies[-1] == "大"
    assert log(world)[-1] == ("full", "off")
    assert left(world) == 0


async def until_silent(world: World) -> None:
    """Each person hears one line, then nothing, but what is asked of memory is done and said."""
    requests, before = len(asked(world)), len(world.replies)
    for who in ("小王", "阿明"):
        for text in ("还在吗", "怎么不说话", "喂"):
            await world.say(text, who)
    told = world.replies[before:]
    assert len(told) == 2
    assert all(line.startswith("预算用完啦（今天的 token）") for line in told)
    assert (await step(world), await step(world, "阿明")) == ("silent", "silent")
    await world.say("记住我怕狗。你说呢？")
    assert world.replies[-1].startswith("记住啦 #")
    assert "预算" not in world.replies[-1]
    assert len(asked(world)) == requests


@pytest.mark.parametrize("script", [0, 1, 2])
async def test_budget_tells_each_step_in_the_persons_script(world: World, script: int) -> None:
    seen = []
    await world.say(WRITES[script])
    for name, share in (("full", 0.0), ("small", 0.8), ("light", 0.1), ("over", 0.12)):
        if share:
            await spend(world, share, name)
        await world.say(".ai budget show")
        seen.append(world.replies[-1].startswith(SHOWN[name][script]))
    await world.say(WRITES[script])
    await world.say(".ai budget show")
    assert (seen, world.replies[-1].startswith(SHOWN["silent"][script])) == ([True] * 4, True), world.replies[-1]


async def test_the_small_models_calls_cost_its_own_price(world: World) -> None:
    await spend(world, 0.8, "甲")
    await spend(world, 0.05, "乙")
    assert world.rows("SELECT model, round(cost, 6) FROM call") == [("first", 8.00002), ("small", 0.050002)]


@pytest.mark.parametrize(
    ("limit", "where"),
    [
        ("chat_day_tokens", ("小王", "")),
        ("person_day_tokens", ("小王", "家")),
        ("total_tokens", ("阿明", "")),
        ("month_tokens", ("阿明", "")),
    ],
)
async def test_the_steps_are_those_of_the_fullest_limit(tmp_path: Path, limit: str, where: tuple[str, str]) -> None:
    first, small = Named("first", "大"), Named("small", "小")
    budget: dict[str, object] = {"day_tokens": 10 * DAY, limit: DAY}
    async with with_models(tmp_path, first, smaller=small, model={"tries": 1}, budget=budget) as world:
        await spend(world, 0.85, *where)
        await world.say("/new")
        await world.say("讲讲成都吧")
        assert (world.replies[-1], await step(world)) == ("小", "small")
        await world.say("小暖，讲讲成都吧", "阿红", "别处")
        assert world.replies[-1] == ("大" if limit.startswith(("chat", "person")) else "小")


async def test_without_a_smaller_model_its_step_is_left_out(tmp_path: Path) -> None:
    async with with_models(tmp_path, Named("first", "大"), budget={"day_tokens": DAY}) as world:
        await spend(world, 0.85, "甲")
        await world.say("讲讲成都吧")
        assert (world.replies[-1], await step(world)) == ("大", "full")
        await spend(world, 0.06, "乙")
        assert await step(world) == "light"


async def test_a_limit_within_a_turn_is_told_once_like_any_other(world: World) -> None:
    await spend(world, 0.95, "甲")
    tool = calls(("memory_recall", '{"query": "x"}'))
    assert world.small is not None
    dear = replace(tool, usage=says("", prompt_tokens=48_000).usage)
    world.small.script = lambda request: dear
    before = len(world.replies)
    await world.say("查一下我怕什么")
    assert len(world.replies) == before + 1
    assert world.replies[-1].startswith("预算不够再答一次啦")
    assert await step(world) == "silent"
    before = len(world.replies)
    await world.say("还在吗")
    assert world.replies[before:] == []
    await world.say("记住我怕狗。再查一下")
    (told,) = world.replies[before:]
    assert "预算" not in told
    assert left(world) == 0


async def test_a_limit_that_no_call_fits_in_any_more_is_shown_though_it_is_not_used_up(tmp_path: Path) -> None:
    async with with_models(tmp_path, Named("first", "大"), budget={"day_tokens": 3_000}) as world:
        await world.say("你好")
        while world.replies[-1] == "大":
            await world.say("然后呢")
        assert world.replies[-1].startswith("预算不够再答一次啦")
        ((used,),) = world.rows("SELECT sum(prompt_tokens + output_tokens) FROM call")
        assert isinstance(used, int)
        assert used < 3_000
        assert await step(world) == "silent"


async def test_who_only_goes_on_talking_in_a_group_is_told_nothing(world: World) -> None:
    await world.say("小暖，讲讲成都吧", "阿明", "家")
    await spend(world, 0.9, "甲")
    await spend(world, 0.12, "乙")
    before = len(world.replies)
    for text in ("熊猫呢？", "哈哈哈", "火锅呢？"):
        await world.say(text, "阿明", "家")
        await world.wait(6)
    assert world.replies[before:] == [], "what nobody called for waits for the next call"
    await world.say("小暖，在吗", "阿明", "家")
    assert world.replies[before:] == ["预算用完啦（今天的 token），我先安静一会儿，记住和忘记照样能用"]
    assert world.peek.events.count(state="queued") == 0


async def test_where_only_the_small_model_fits_it_answers_though_little_is_used(new_world: NewWorld) -> None:
    prices = {"price_input": 1.0, "price_output": 4.0}
    cheap = {"name": "small", "price_input": 0.1, "price_output": 0.4}
    world = await new_world(model=prices, small=cheap, budget={"day_money": 0.00362})
    world.small = ScriptedModel()
    world.small.script = lambda _: says("小模型在", prompt_tokens=700)
    await world.restart()
    world.model.script = lambda _: says("大模型在", prompt_tokens=700)
    await world.say("我今天想聊聊工作上的事")
    await world.say("后来老板又加了需求")
    assert world.replies == ["大模型在", "小模型在"], "a call of the large one would not fit"
    await world.say(".ai budget")
    assert "一切照常" in world.replies[-1]


async def test_where_only_a_light_log_fits_it_is_begun_before_anybody_is_refused(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 4_300, "light_at": 1.0})
    world.model.script = lambda request: says("好", prompt_tokens=1_000 if request.prompt.tools else 300)
    for text in ("我今天想聊聊工作上的事", "后来老板又加了需求", "同事也走了两个", "我有点不知道怎么办"):
        await world.say(text)
    assert world.replies == ["好"] * 4
    assert not world.model.requests[-1].prompt.tools
    assert [row[0] for row in world.peek.turns("mode_why")][-1] == "budget"


async def test_a_limit_that_was_taken_away_is_over_no_more(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 100})
    await world.say("你好")
    assert await step(world) == "silent"
    await world.say(".ai budget day off tok")
    assert await step(world) == "full"


@pytest.mark.parametrize(("price", "shown"), [(0.0, "full"), (1.0, "over")])
async def test_a_limit_of_no_money_stops_only_what_costs_some(new_world: NewWorld, price: float, shown: str) -> None:
    world = await new_world(model={"price_input": price}, budget={"month_money": 0.0})
    assert await step(world) == shown
    await world.say("你好")
    assert (len(world.model.requests) == 1) == (shown == "full")
    assert await step(world) == ("full" if shown == "full" else "silent")
