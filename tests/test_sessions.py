"""Who takes part in a conversation, why it began and why it ended: stored, in the log, and shown."""

from pathlib import Path

import pytest

from tests.conftest import NewWorld
from tests.reloading import Filed
from tests.world import World

GROUP = "闲聊"


def who(world: World) -> list[tuple[object, ...]]:
    return world.rows(
        "SELECT session.number, name FROM participant JOIN person ON person.id = person_id "
        "JOIN session ON session.id = session_id ORDER BY session.id, person.id"
    )


async def test_whoever_is_answered_takes_part_and_whoever_is_only_heard_does_not(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("今天好热", "小红", GROUP)
    await world.say("小暖，你呢", "小刚", GROUP)
    assert who(world) == [(1, "阿明"), (1, "小刚")]
    await world.wait(1_800)
    await world.say("小暖，早", "小红", GROUP)
    assert who(world) == [(1, "阿明"), (1, "小刚"), (2, "小红")]


async def test_why_a_conversation_began_is_stored_and_in_the_log(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("你好")
    await world.say("/new")
    await world.say("在忙吗", "阿明", GROUP, mentions_bot=True)
    assert world.peek.sessions("open_reason", "close_reason") == [("name", ""), ("dm", "new")]
    opened = [(line["session"], line["why"]) for line in world.log.named("session_opened")]
    assert opened == [(1, "name"), (1, "dm")]
    await world.say("再聊")
    await world.wait(1_800)
    closed = [(line["session"], line["reason"], line["opened"]) for line in world.log.named("session_closed")]
    assert sorted(closed) == [(1, "idle", "name"), (1, "new", "dm"), (2, "idle", "dm")]


async def test_ctx_shows_since_when_why_with_whom_and_until_when(world: World) -> None:
    await world.say("你好")
    await world.say("/new")
    await world.say("早")
    await world.wait(60)
    await world.say(".ai ctx full")
    shown = world.replies[-1].splitlines()
    assert shown[1] == "第 1 次对话已结束：/new"
    assert shown[2] == "第 2 次对话：2026-06-12 09:00 开始（dm），参与：小王；没人说话就在 2026-06-12 09:30 结束"
    await world.say("小暖，在吗", group=GROUP)
    await world.say(".ai ctx full", group=GROUP)
    assert "小王 在 2026-06-12 09:02:00 之前不用再叫我" in world.replies[-1]
    await world.wait(60)
    await world.say(".ai ctx full", group=GROUP)
    assert "之前不用再叫我" not in world.replies[-1]


async def test_a_reset_ends_the_conversation_with_its_reason(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("你好")
    await world.say(".ai clear")
    await world.say("早")
    await world.wait(30 * 3_600)
    assert world.peek.sessions("close_reason") == [("clear",), ("idle",)]


async def test_a_crash_and_a_stop_close_nothing_and_keep_participants_and_windows(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    before = world.peek.sessions("state", "close_at", "open_reason"), world.peek.windows("until")
    await world.crash()
    await world.restart()
    after = world.peek.sessions("state", "close_at", "open_reason"), world.peek.windows("until")
    assert after == before
    assert who(world) == [(1, "阿明")]
    await world.say("我想说", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 2, "the window is still open"


@pytest.mark.parametrize("seconds", [600, 7_200])
async def test_a_changed_silence_counts_from_the_next_turn_and_the_reason_stays_true(
    tmp_path: Path, seconds: int
) -> None:
    filed = await Filed(tmp_path, "[session]\nidle_seconds = 1800\n").open()
    await filed.wait(61)
    await filed.say("在吗")
    filed.write(f"[session]\nidle_seconds = {seconds}\n")
    await filed.reload()
    await filed.wait(1_799)
    assert filed.peek.sessions("state") == [("open",)]
    await filed.wait(1)
    assert filed.peek.sessions("state", "close_reason") == [("closed", "idle")]
    await filed.close()


async def test_the_early_hour_is_the_reason_whatever_the_silence_became(tmp_path: Path) -> None:
    filed = await Filed(tmp_path, "[session]\nidle_seconds = 7200\n").open()
    await filed.wait(18.5 * 3_600)
    await filed.say("睡不着")
    filed.write("[session]\nidle_seconds = 60\n")
    await filed.reload()
    await filed.wait(1_800)
    assert filed.peek.sessions("close_reason") == [("day",)]
    await filed.close()
