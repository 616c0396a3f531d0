"""Nuan writes first: off unless it is switched on, once a day, never at night, and not when there is nothing to say."""

import re
from pathlib import Path

import pytest

from bot.config.checks import contradictions
from bot.config.settings import Settings
from bot.core.files import resource_dir
from tests.beating import DAY_S, FIRST, HOUR_S, ON, firsts, writes
from tests.conftest import NewWorld
from tests.peek import SOME, Other
from tests.prefixes import logs_of
from tests.world import World


async def test_off_by_default_a_week_of_silence_costs_nothing(world: World) -> None:
    await world.say("明天要面试")
    calls_made = len(world.model.requests)
    await world.wait(7 * DAY_S)
    assert len(world.model.requests) == calls_made
    assert world.replies == ["好的"]
    assert world.peek.heartbeats.count() == 0


async def test_after_a_day_of_silence_there_is_one_message(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(DAY_S - 1)
    assert world.replies == ["好的"]
    await world.wait(1)
    assert world.replies == ["好的", FIRST]
    (asked,) = firsts(world)
    assert [tool.name for tool in asked.prompt.tools] == [
        "memory_recall",
        "remember",
        "forget",
        "remind",
        "skill",
    ]
    assert 'd="没有人说话，已经安静了 1d。' in asked.prompt.messages[-1].content
    assert "<p" not in asked.prompt.messages[-1].content.partition('<e t="heartbeat"')[2]
    await world.wait(DAY_S - 1)
    assert len(firsts(world)) == 1
    assert world.peek.calls("cause", "state", cause="heartbeat") == [("heartbeat", "settled")]
    assert [line["why"] for line in world.log.named("turn")] == ["dm", "heartbeat"]


@pytest.mark.parametrize("background", [{"on": False}, {"sources": ["digest"]}])
async def test_where_nothing_may_call_in_the_background_nothing_is_written_first(
    new_world: NewWorld, background: dict[str, object]
) -> None:
    world = await new_world(heartbeat=ON, background=background)
    writes(world)
    await world.say("明天要面试")
    await world.wait(2 * DAY_S)
    assert firsts(world) == []
    assert world.replies == ["好的"]


async def test_an_answer_to_it_goes_on_in_the_same_log(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(DAY_S)
    await world.say("过了！")
    assert len(logs_of(world.turns)) == 2, "the first message opened a log, and the answer to it goes on in that"
    assert world.prompts[-1][-2].content == FIRST
    assert "heartbeat" not in world.last_user
    assert world.replies[-1] == "好的"


async def test_later_openings_tell_what_nuan_wrote_and_not_that_she_was_asked_to(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(DAY_S + HOUR_S)
    await world.say("过了！")
    assert FIRST in world.last_user
    assert 'e t="heartbeat"' not in world.last_user


async def test_ignored_twice_she_waits_until_the_person_writes(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(20 * DAY_S)
    assert world.replies == ["好的", FIRST, FIRST]
    await world.say("我回来了")
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST, FIRST, "好的", FIRST]


@pytest.mark.parametrize("skip", ["skip", "“Skip。”"])
async def test_skip_sends_nothing_leaves_nothing_and_is_paid_for(new_world: NewWorld, skip: str) -> None:
    world = await new_world(heartbeat=ON)
    writes(world, skip)
    await world.say("明天要面试")
    await world.wait(7 * DAY_S)
    assert len(firsts(world)) == 3, "after a day, two more and four more: a skip is not ignored"
    assert world.replies == ["好的"]
    assert world.rows("SELECT count(*), min(prompt_tokens) > 0 FROM call WHERE cause = 'heartbeat'") == [(3, 1)]
    assert world.peek.calls.count(state="reserved") == 0
    assert world.peek.windows.count() == 0
    assert set(world.peek.events("state", "outcome", label="heartbeat")) == {("done", "skip")}
    assert set(world.peek.turns("state", "error", why="heartbeat")) == {("void", "skip")}
    assert world.peek.digests.count(summary=Other(""), session_id=SOME) == 1
    await world.say("我回来了")
    assert [message.role for message in world.prompts[-1]] == ["system", "user"]
    assert "skip" not in world.last_user
    assert "heartbeat" not in world.last_user
    await world.wait(DAY_S)
    assert len(firsts(world)) == 4


async def test_a_skip_in_an_open_session_leaves_its_log_as_it_was(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 1}, session={"idle_seconds": DAY_S})
    writes(world, "skip")
    await world.say("明天要面试")
    await world.wait(HOUR_S)
    assert len(firsts(world)) == 1
    await world.say("我回来了")
    answered = [prompt for prompt in world.prompts if 'e t="heartbeat"' not in prompt[-1].content]
    assert answered[1][: len(answered[0])] == answered[0]
    assert len(answered[1]) == len(answered[0]) + 2


async def test_quiet_hours_of_this_machine(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.wait(14 * HOUR_S)
    await world.say("睡了")  # 23:00
    await world.wait(34 * HOUR_S - 1)
    assert len(world.replies) == 1
    await world.wait(1)
    assert world.replies[-1] == FIRST, "09:00"


async def test_quiet_hours_of_the_person(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.wait(3 * HOUR_S)
    await world.say("hello")
    zone = "UPDATE person SET timezone = 'America/New_York'"
    await world.store.people._database.write(lambda db: db.execute(zone).rowcount)
    await world.wait(33 * HOUR_S - 1)
    assert len(world.replies) == 1, "12:00 in Shanghai is midnight in New York"
    await world.wait(1)
    assert world.replies[-1] == FIRST, "09:00 in New York"


async def test_no_more_than_so_many_a_day(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 1, "per_day": 2, "most_ignored": 50})
    writes(world)
    await world.say("早")
    await world.wait(12 * HOUR_S)
    assert world.replies == ["好的", FIRST, FIRST]
    await world.wait(12 * HOUR_S)
    assert len(world.replies) == 4, "09:00 of the next day"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("明天要面试", "没有人说话，已经安静了 1d。"),
        ("明天要面試，好緊張喔", "沒有人說話，已經安靜了 1d。"),
        ("my interview is tomorrow", "Nobody wrote; silent for 1d."),
    ],
)
async def test_the_model_is_told_in_the_script_of_the_person(new_world: NewWorld, said: str, told: str) -> None:
    world = await new_world(heartbeat=ON)
    await world.say(said)
    await world.wait(DAY_S)
    (asked,) = firsts(world)
    line = asked.prompt.messages[-1].content.partition('<e t="heartbeat" d="')[2].partition('"')[0]
    assert line.startswith(told)
    assert "skip" in line
    assert not line.endswith("…")


@pytest.mark.parametrize("on", [False, True])
async def test_the_persona_says_when_only_where_it_is_on(new_world: NewWorld, on: bool) -> None:
    world = await new_world(heartbeat={"on": on}, prompt={"light": "auto"})
    await world.say("你好")
    await world.say("明天要面试，帮我想想")
    light, full = (prompt[0].content for prompt in world.prompts)
    assert "heartbeat" not in light
    assert ("值得开口的" in full) is on


async def test_it_is_no_small_talk_whatever_the_model_is_told(new_world: NewWorld, tmp_path: Path) -> None:
    shipped = (resource_dir("prompts") / "opening" / "zh-Hans.toml").read_text(encoding="utf-8")
    (tmp_path / "opening").mkdir()
    (tmp_path / "opening" / "zh-Hans.toml").write_text(
        re.sub('heartbeat = ".*"', 'heartbeat = "在吗"', shipped), "utf-8"
    )
    world = await new_world(heartbeat=ON, prompt={"light": "auto"}, prompts_dir=str(tmp_path))
    await world.say("晚安")
    await world.wait(DAY_S)
    assert 'd="在吗"' in world.last_user
    assert firsts(world)[0].prompt.tools


def test_the_offline_model_never_writes_first() -> None:
    found = list(contradictions(Settings.model_validate({"heartbeat": ON})))
    assert [each.path for each in found] == ["heartbeat.on"]
    model = {"base_url": "http://127.0.0.1:1/v1", "name": "m"}
    assert list(contradictions(Settings.model_validate({"heartbeat": ON, "model": model}))) == []
