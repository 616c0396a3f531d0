"""To whom nuan writes first, and in which order after an absence."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.config.settings import Settings
from tests.beating import DAY_S, FIRST, HOUR_S, ON, firsts, writes
from tests.conftest import NewWorld
from tests.world import World


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


@pytest.mark.parametrize("everywhere", ["", " all"])
async def test_never_where_she_was_told_to_be_quiet(new_world: NewWorld, everywhere: str) -> None:
    world = await new_world(heartbeat=ON)
    await world.say("明天要面试", *(["阿明"] if everywhere else []))
    await world.say(f".ai off{everywhere}")
    await world.wait(3 * DAY_S)
    assert firsts(world) == []
    await world.say(f".ai on{everywhere}")
    await world.wait(DAY_S)
    # Who said on is heard from a day later; who only waited was silent for long enough already.
    assert len(firsts(world)) == (2 if everywhere else 1)


@pytest.fixture
async def on_telegram(tmp_path: Path) -> AsyncIterator[World]:
    """A nuan on Telegram, where 阿明 may talk with it, that writes first."""
    settings = {"bot": {"timezone": "Asia/Shanghai"}, "heartbeat": ON, "telegram": {"allow": ["t-阿明"]}}
    world = World(tmp_path / "data", Settings.model_validate(settings), ("telegram",))
    writes(world)
    yield await world.open()
    await world.close()


async def test_only_people_who_are_allowed(on_telegram: World) -> None:
    world = on_telegram
    await world.say("你好", "阿生", platform="telegram")
    await world.say("明天要面试", "阿明", platform="telegram")
    await world.wait(DAY_S)
    assert [out.external_chat_id for out in world.talk.said if out.text == FIRST] == ["dm:阿明"]
    (person,) = world.peek.accounts("person_id", external_id="t-阿明")[0]
    await world.store.people.set_person(int(str(person)), "denied")
    await world.wait(7 * DAY_S)
    assert len(firsts(world)) == 1


async def test_only_where_something_can_be_sent_to(on_telegram: World) -> None:
    world = on_telegram
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


async def test_a_person_with_two_dms_is_written_to_where_they_were_last(on_telegram: World) -> None:
    world = on_telegram
    await world.say("明天要面试", "阿明", platform="telegram")
    await world.wait(60)
    await world.say("明天要面试", "阿明")
    one = "SELECT min(person_id) FROM account WHERE external_id LIKE '%阿明'"
    for table in ("account", "member", "event"):
        join = f"UPDATE {table} SET person_id = ({one})"
        await world.store.people._database.write(lambda db, join=join: db.execute(join).rowcount)  # type: ignore[misc]
    await world.wait(DAY_S + HOUR_S)
    assert [(out.platform, out.text) for out in world.talk.said if out.text == FIRST] == [("console", FIRST)]
