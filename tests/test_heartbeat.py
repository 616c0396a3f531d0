"""Nuan writes first: off unless it is switched on, once a day, never at night, and nothing is said when there is nothing."""

from pathlib import Path

import pytest

from bot.config.check import contradictions
from bot.config.settings import Settings
from bot.errors import ModelError, StoreError
from bot.types.prompt import Request
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.fakes.model import Answer, calls
from tests.prefixes import logs_of
from tests.world import World

HOUR_S = 3_600
DAY_S = 24 * HOUR_S
ON = {"on": True}
FIRST = "昨天的面试怎么样？"


def is_first(request: Request) -> bool:
    """Whether nuan is asked to write first."""
    return '<e t="heartbeat"' in [m.content for m in request.prompt.messages if m.role == "user"][-1]


def writes(world: World, text: Answer = FIRST) -> None:
    """What the model says when it may write first; every message is answered with 好的."""
    world.model.script = lambda request: text if is_first(request) else "好的"


def firsts(world: World) -> list[Request]:
    return [request for request in world.model.requests if is_first(request)]


async def beat_held(world: World, seconds: float) -> None:
    """Time passes up to a first message, whose call waits at the shut gate."""
    await world.wait(seconds - 1)
    world.shut()
    await world.clock.advance(1_000, lambda: world.held(0))
    assert world.model.held == 1


async def test_off_by_default_a_week_of_silence_costs_nothing(world: World) -> None:
    await world.say("明天要面试")
    calls_made = len(world.model.requests)
    await world.wait(7 * DAY_S)
    assert len(world.model.requests) == calls_made
    assert world.replies == ["好的"]
    assert world.rows("SELECT * FROM heartbeat") == []


async def test_after_a_day_of_silence_there_is_one_message(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.wait(DAY_S - 1)
    assert world.replies == ["好的"]
    await world.wait(1)
    assert world.replies == ["好的", FIRST]
    (asked,) = firsts(world)
    assert [tool.name for tool in asked.prompt.tools] == ["memory_recall", "save_experience", "skill"]
    assert 'd="没有人说话，已经安静了 1d。' in asked.prompt.messages[-1].content
    assert "<p" not in asked.prompt.messages[-1].content.partition('<e t="heartbeat"')[2]
    await world.wait(DAY_S - 1)
    assert len(firsts(world)) == 1
    assert world.rows("SELECT cause, state FROM call WHERE cause = 'heartbeat'") == [("heartbeat", "settled")]
    assert [line["why"] for line in world.log.named("turn")] == ["dm", "heartbeat"]


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
    await world.wait(4 * DAY_S)
    assert len(firsts(world)) == 4, "once a day: a skip is not ignored"
    assert world.replies == ["好的"]
    assert world.rows("SELECT count(*), min(prompt_tokens) > 0 FROM call WHERE cause = 'heartbeat'") == [(4, 1)]
    assert world.rows("SELECT count(*) FROM call WHERE state = 'reserved'") == [(0,)]
    assert world.rows("SELECT count(*) FROM window") == [(0,)]
    assert world.rows("SELECT DISTINCT state, outcome FROM event WHERE label = 'heartbeat'") == [("done", "skip")]
    assert world.rows("SELECT DISTINCT state, error FROM turn WHERE why = 'heartbeat'") == [("void", "skip")]
    assert world.rows("SELECT count(*) FROM digest WHERE summary <> ''") == [(1,)]
    await world.say("我回来了")
    assert [message.role for message in world.prompts[-1]] == ["system", "user"]
    assert "skip" not in world.last_user
    assert "heartbeat" not in world.last_user
    await world.wait(DAY_S)
    assert len(firsts(world)) == 5


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


async def test_her_own_tokens_used_up_nothing_is_asked_and_nobody_told(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "day_tokens": 100})
    await world.say("明天要面试")
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    assert world.replies == ["好的"]
    assert [line["limit"] for line in world.log.named("over_budget")] == ["heartbeat_tokens"] * 3
    assert world.rows("SELECT count(*) FROM event WHERE state = 'queued'") == [(0,)]
    assert world.rows("SELECT count(*) FROM outbox") == [(1,)]
    await world.say("在吗")
    assert world.replies[-1] == "好的", "answers have their own limits"


async def test_the_tokens_of_a_day_are_shared_by_all_chats(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "day_tokens": 3_500})
    writes(world)
    for who in ("阿明", "阿红", "阿强"):
        await world.say("明天要面试", who)
    await world.wait(DAY_S + HOUR_S)
    used = world.rows("SELECT count(*), sum(prompt_tokens + output_tokens) FROM call WHERE cause = 'heartbeat'")
    assert used[0][0] in (1, 2)
    assert int(str(used[0][1])) <= 3_500
    assert world.log.named("over_budget")


async def test_the_general_budget_over_there_is_silence(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("明天要面试")
    (most,) = world.rows("SELECT reserved_tokens FROM call")[0]
    world = await new_world(heartbeat=ON, budget={"total_tokens": most})
    await world.say("明天要面试")
    assert world.replies == ["好的"]
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    assert world.replies == ["好的"]
    assert {line["limit"] for line in world.log.named("over_budget")} == {"total_tokens"}


@pytest.mark.parametrize("fault", [ModelError("unreachable", "down"), ValueError("a defect")])
async def test_a_model_that_fails_is_logged_and_nobody_is_told(new_world: NewWorld, fault: Exception) -> None:
    world = await new_world(heartbeat=ON)
    writes(world, fault)
    await world.say("明天要面试")
    await world.wait(DAY_S)
    assert len(firsts(world)) == 1
    assert world.replies == ["好的"]
    assert world.log.named("turn")[-1]["error"] in ("unreachable", "ValueError")
    assert world.rows("SELECT count(*) FROM call WHERE state = 'reserved'") == [(0,)]
    writes(world)
    await world.wait(DAY_S)
    assert world.replies[-1] == FIRST


async def test_what_cannot_even_be_composed_stops_nothing(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("明天要面试")

    async def broken(*_: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(world.app._heartbeat, "_begin", broken)
    await world.wait(DAY_S)
    assert world.log.named("heartbeat_failed")
    assert world.rows("SELECT count(*) FROM event WHERE state = 'queued'") == [(0,)]
    await world.say("在吗")
    assert world.replies == ["好的", "好的"]


async def test_tools_on_the_way_are_counted_as_hers(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    world.model.script = lambda request: (
        FIRST
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", '{"query": "面试"}'))
        if is_first(request)
        else "好的"
    )
    await world.say("明天要面试")
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST]
    assert world.rows("SELECT cause, count(*) FROM call GROUP BY cause") == [("heartbeat", 2), ("reply", 1)]


async def test_who_writes_meanwhile_is_answered_and_nothing_is_said_first(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    await world.app.door.accept(world.message("在吗"))
    while len(world.model.requests) < 3:
        await let_others_run()
    assert world.model.held == 1, "the message is being answered, the other call has ended"
    await world.let_answer()
    assert world.replies == ["好的", "好的"]
    assert "heartbeat" not in world.last_user
    assert FIRST not in world.sent
    assert world.rows("SELECT state FROM call WHERE cause = 'heartbeat'") == [("lost",)]
    await world.wait(DAY_S)
    assert world.replies[-1] == FIRST


async def test_who_writes_as_it_is_being_said_is_answered_alone(
    new_world: NewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    monkeypatch.setattr(world.app._heartbeat, "interrupt", lambda _: None)  # as if the completion had come before
    await world.app.door.accept(world.message("在吗"))
    await world.let_answer()
    assert world.replies == ["好的", "好的"]
    assert world.rows("SELECT state, error FROM turn WHERE why = 'heartbeat'") == [("void", "overtaken")]
    assert world.rows("SELECT state FROM call WHERE cause = 'heartbeat'") == [("settled",)]


async def test_a_crash_on_the_way_says_nothing_and_costs_one_call(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    await world.crash()
    assert world.replies == ["好的"]
    assert len(firsts(world)) == 1
    assert world.rows("SELECT state, error FROM turn WHERE why = 'heartbeat'") == [("void", "crash")]
    assert world.rows("SELECT state, outcome FROM event WHERE label = 'heartbeat'") == [("done", "crash")]
    assert world.rows("SELECT state FROM call WHERE cause = 'heartbeat'") == [("lost",)]
    await world.wait(DAY_S - 1)
    assert len(firsts(world)) == 1
    await world.wait(1)
    assert world.replies == ["好的", FIRST]


async def test_what_the_disk_refuses_is_not_said_later(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")

    async def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(world.store.heartbeats, "say", full)
    await world.wait(DAY_S + 60)
    assert world.log.named("store_failed")
    assert world.rows("SELECT state, error FROM turn WHERE why = 'heartbeat'") == [("void", "overtaken")]
    assert len(firsts(world)) == 1
    assert world.replies == ["好的"]
    monkeypatch.undo()
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST]
    assert world.rows("SELECT count(*) FROM event WHERE state = 'queued'") == [(0,)]


async def test_a_restart_says_it_no_second_time(new_world: NewWorld) -> None:
    world = await new_world(heartbeat={**ON, "silence_hours": 1})
    writes(world)
    await world.say("明天要面试")
    await world.wait(HOUR_S)
    for _ in range(3):
        await world.restart()
        await world.wait(HOUR_S)
        await world.crash()
    assert world.replies == ["好的", FIRST]
    await world.wait(DAY_S)
    assert world.replies == ["好的", FIRST, FIRST]


async def test_switched_off_at_a_restart_nothing_is_left_of_it(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await beat_held(world, DAY_S)
    world.settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "prompt": {"light": "off"}})
    await world.crash()
    await world.wait(7 * DAY_S)
    assert world.replies == ["好的"]
    assert world.rows("SELECT due_at FROM heartbeat") == [(None,)]
    assert world.rows("SELECT count(*) FROM event WHERE state = 'queued'") == [(0,)]


async def test_after_a_long_absence_one_chat_a_minute_the_longest_silence_first(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    for who in ("阿明", "阿红", "小王"):
        await world.say("明天要面试", who)
        await world.wait(60)
    await world.say("再见", "阿明")
    await world.close()
    world.away(3 * DAY_S)
    world.talk.said.clear()
    await world.open()
    told: list[list[str]] = []
    for _ in range(5):
        told.append([out.external_chat_id for out in world.talk.said])
        await world.wait(30)
    red, wang, ming = "dm:阿红", "local", "dm:阿明"
    assert told == [[red], [red], [red, wang], [red, wang], [red, wang, ming]]


async def test_what_falls_into_the_quiet_hours_of_an_absence_waits_for_their_end(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    writes(world)
    await world.say("明天要面试")
    await world.close()
    world.away(38 * HOUR_S)  # 23:00
    await world.open()
    await world.wait(10 * HOUR_S - 1)
    assert world.replies == ["好的"]
    await world.wait(1)
    assert world.replies == ["好的", FIRST]


async def test_never_in_a_group_and_never_where_nuan_did_not_talk(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("小暖，明天要面试", "阿明", "家")
    await world.say("记住我怕狗", "阿红")
    await world.wait(7 * DAY_S)
    assert firsts(world) == []


async def test_never_where_she_was_told_to_be_quiet(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("明天要面试")
    await world.say(".ai off")
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    await world.say(".ai on")
    await world.wait(DAY_S)
    assert len(firsts(world)) == 1


async def on_platforms(folder: Path, *platforms: str) -> World:
    settings = {"bot": {"timezone": "Asia/Shanghai"}, "heartbeat": ON, "telegram": {"allow": ["t-阿明"]}}
    world = World(folder, Settings.model_validate(settings), platforms)
    writes(world)
    return await world.open()


async def test_only_people_who_are_allowed(tmp_path: Path) -> None:
    world = await on_platforms(tmp_path / "data", "telegram")
    await world.say("你好", "阿生", platform="telegram")
    await world.say("明天要面试", "阿明", platform="telegram")
    await world.wait(DAY_S)
    assert [out.external_chat_id for out in world.talk.said if out.text == FIRST] == ["dm:阿明"]
    (person,) = world.rows("SELECT person_id FROM account WHERE external_id = 't-阿明'")[0]
    await world.store.access.set_person(int(str(person)), "denied")
    await world.wait(7 * DAY_S)
    assert len(firsts(world)) == 1
    await world.close()


async def test_only_where_something_can_be_sent_to(tmp_path: Path) -> None:
    world = await on_platforms(tmp_path / "data", "telegram")
    await world.say("明天要面试", "阿明", platform="telegram")
    world.platforms = ()
    await world.restart()
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    world.platforms = ("telegram",)
    await world.restart()
    assert [out.text for out in world.talk.said] == ["好的", FIRST]
    await world.store.outbox.gone(1, "blocked")
    await world.wait(3 * DAY_S)
    assert len(firsts(world)) == 1
    await world.close()


async def test_a_person_with_two_dms_is_written_to_where_they_were_last(tmp_path: Path) -> None:
    world = await on_platforms(tmp_path / "data", "telegram")
    await world.say("明天要面试", "阿明", platform="telegram")
    await world.wait(60)
    await world.say("明天要面试", "阿明")
    one = "SELECT min(person_id) FROM account WHERE external_id LIKE '%阿明'"
    for table in ("account", "member", "event"):
        join = f"UPDATE {table} SET person_id = ({one})"
        await world.store.people._database.write(lambda db, join=join: db.execute(join).rowcount)  # type: ignore[misc]
    await world.wait(DAY_S + HOUR_S)
    assert [(out.platform, out.text) for out in world.talk.said if out.text == FIRST] == [("console", FIRST)]
    await world.close()


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


async def test_small_talk_before_it_does_not_make_it_light(new_world: NewWorld) -> None:
    world = await new_world(heartbeat=ON, prompt={"light": "auto"})
    await world.say("晚安")
    await world.wait(DAY_S)
    assert firsts(world)[0].prompt.tools


def test_the_offline_model_never_writes_first() -> None:
    found = list(contradictions(Settings.model_validate({"heartbeat": ON})))
    assert [each.path for each in found] == ["heartbeat.on"]
    model = {"base_url": "http://127.0.0.1:1/v1", "name": "m"}
    assert list(contradictions(Settings.model_validate({"heartbeat": ON, "model": model}))) == []
