"""`.ai why`: one true line, in the asker's script, with nothing in it that was said elsewhere."""

import tomllib
from pathlib import Path
from typing import get_args

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.files import resource_dir
from bot.core.people import SCRIPTS
from bot.core.speaking import JoinReason, LastDecisions, LastEntry, LastLine, LastLook, Why
from bot.speaking.activation import OUTCOME_KEYS, explain_decision
from tests.conftest import NewWorld
from tests.joining import EAGER, GROUP, JOIN, eager, enters
from tests.slow import SlowWorld
from tests.world import World


async def why(world: World, who: str = "阿红", group: str = GROUP) -> str:
    await world.say(".ai why", who, group)
    return world.replies[-1]


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_reason_has_a_sentence(script: str) -> None:
    told = tomllib.loads((resource_dir("prompts") / "messages" / f"{script}.toml").read_text(encoding="utf-8"))
    wanted = {f"why_{one}" for one in get_args(Why)} | {f"why_look_{one}" for one in get_args(JoinReason)}
    wanted |= {f"why_end_{one}" for one in OUTCOME_KEYS.values()}
    for outcome in ("", "answered", *OUTCOME_KEYS):
        for line in (None, LastLine(1, "a", "silent", "listened", outcome, None)):
            for due in (None, 1, 9):
                known = LastDecisions(
                    line or LastLine(1, "a", "name", "queued", "", due),
                    LastLook(due or 0, "pair", 5, due),
                    LastEntry(due or 0, "join", outcome) if due else None,
                )
                wanted |= {(found := explain_decision(known, 5)).key, f"why_frame_{found.frame}"}
    assert wanted - {explain_decision(LastDecisions(None, None, None), 0).key} - set(told) == set()
    assert "why_nothing" in told


async def test_it_spoke_because_it_was_called(world: World) -> None:
    assert await why(world) == "静默：这里还没有人说过话"
    await world.say("小暖，在吗", "阿明", GROUP)
    assert await why(world) == "说话：阿明叫了我的名字"
    await world.say("在吗", "小红", GROUP, mentions_bot=True)
    assert await why(world) == "说话：小红提到了我"
    assert world.log.named("decided")[-2]["why"] == "mention"


async def test_it_waits_for_silence_and_says_how_long(world: World) -> None:
    await world.say("小暖，在吗", "小明", GROUP)
    await world.say("我想说", "小明", GROUP)
    await world.wait(1.8)
    assert await why(world) == "在等：再安静 3.2 秒就答 小明"


async def test_it_stayed_silent_because_nobody_called(world: World) -> None:
    await world.say("今天好热", "阿明", GROUP)
    assert await why(world) == "静默：没有叫我，也不是接着刚才的话"
    await world.say("你热吗", "阿明", GROUP, addresses_other=True)
    assert await why(world) == "静默：阿明的话是对别人说的"
    await world.say(".ai mode called", "小王", GROUP)
    await world.say("好热啊", "阿明", GROUP)
    assert await why(world) == "静默：这里只有叫我才答"


async def test_it_speaks_the_script_of_whoever_asks(world: World) -> None:
    await world.say("今天好熱，真的熱死了啦", "阿明", GROUP)
    assert await why(world, "阿明") == "靜默：沒有叫我，也不是接著剛才的話"
    await world.say("it is so hot today", "Bob", GROUP)
    assert await why(world, "Bob") == "Silent: I was not called, and our talk was over"


async def test_skips_limits_budgets_and_stops_are_told(new_world: NewWorld) -> None:
    world = await new_world()
    world.model.script = lambda request: "skip"
    await world.say("小暖，在吗", "阿明", GROUP)
    assert await why(world) == "静默：看过了，觉得不用说话"
    world = await new_world(limits={"person_minute": 1})
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("小暖，还在吗", "阿明", GROUP)
    assert await why(world) == "静默：到了上限，答得太多了"
    world = await new_world(budget={"day_tokens": 10})
    await world.say("小暖，在吗", "阿明", GROUP)
    assert await why(world) == "静默：到了上限，预算用完了"
    world = await new_world()
    world.model.script = lambda request: ModelError("unreachable", "down")
    await world.say("小暖，在吗", "阿明", GROUP)
    assert await why(world) == "静默：模型出了错"
    await world.say("小暖，停", "阿明", GROUP)
    assert await why(world) == "说话：阿明叫停了我"


async def test_a_look_at_a_talk_is_told_with_its_time(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await world.say("今天好热", "阿明", GROUP)
    assert await why(world) == "在等：大家静下来以后，09:00:20 再看看"
    await world.wait(20)
    assert await why(world) == "说话：大家静下来了，我自己接了一句"
    await world.say("想吃西瓜", "阿明", GROUP)
    await world.wait(20)
    assert await why(world) == "在等：刚插过一句，09:01:20 之前看有没有人理"
    await world.wait(50)
    assert await why(world) == "在等：刚才没人理我，09:01:35 之前先不插话"
    await world.wait(13 * 3_600)
    await world.say("睡了", "阿明", GROUP)
    await world.wait(20)
    assert await why(world) == "静默：安静时段，到 09:00:00"


async def test_a_declined_entry_and_a_dull_talk_are_told(new_world: NewWorld) -> None:
    world = await new_world(speak=eager())
    enters(world, "skip")
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    assert await why(world) == "静默：看过了，觉得不用说话"
    world = await new_world(speak=JOIN)
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    assert await why(world) == "静默：插不上有用的话"
    assert world.log.named("looked")[-1]["why"] == "score"


async def test_in_a_group_it_tells_nothing_private(world: World) -> None:
    await world.say("记住我的门禁码是4711", "阿明")
    await world.say("门禁码是4711", "阿明", "别处")
    await world.say("小暖，我的密码忘了", "阿明", GROUP)
    told = await why(world)
    assert told == "说话：阿明叫了我的名字"
    assert len(told.splitlines()) == 1


async def test_an_entry_that_a_crash_cut_is_told_as_that(tmp_path: Path) -> None:
    world = await SlowWorld(
        tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "speak": EAGER})
    ).open()
    assert isinstance(world, SlowWorld)
    await world.write("今天好热", "阿明", GROUP)
    await world.wait(21)
    await world.crash()
    await world.write(".ai why", "阿明", GROUP)
    assert world.replies == ["静默：正要说，程序重启了"]
    await world.close()
