"""When nuan never enters: at night, between two people, on others' lines, where she was told to be quiet."""

import pytest

from tests.conftest import NewWorld
from tests.joining import EAGER, GROUP, asked, eager, enters, talk
from tests.world import World


async def pause(world: World) -> None:
    await world.wait(25)


@pytest.mark.parametrize(
    "facts",
    [{"addresses_other": True}, {"forwarded": True}, {"is_bot": True, "platform": "telegram"}],
)
async def test_never_on_what_is_not_for_everybody(new_world: NewWorld, facts: dict[str, object]) -> None:
    world = await new_world(speak=EAGER, telegram={"allow": ["group:家"]})
    platform = {"platform": "telegram"} if "platform" in facts else {}
    await world.say("今天好热", "阿明", GROUP, **platform)
    await world.say("谁知道几点开门？", "阿红", GROUP, **facts)
    await world.wait(400)
    assert asked(world) == 0
    await world.say("想吃西瓜", "阿明", GROUP, **platform)
    await pause(world)
    assert asked(world) == 1, "the next line is"


async def test_never_on_a_line_that_calls_somebody_else_by_name(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await talk(world, ("阿明", "我到家了"), ("阿红", "阿明，门锁了吗？"))
    await world.wait(400)
    assert asked(world) == 0


@pytest.mark.parametrize(
    "lines",
    [
        (("阿明", "你到了吗"), ("阿红", "到了"), ("阿明", "门口见"), ("阿红", "好"), ("阿明", "路上堵")),
        (("阿红", "我先走"), ("阿明", "阿红，票呢？"), ("阿红", "阿明，在桌上"), ("小李", "好困")),
    ],
)
async def test_two_people_who_reply_to_each_other_are_left_alone(
    new_world: NewWorld, lines: tuple[tuple[str, str], ...]
) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await talk(world, *lines)
    await world.wait(65)
    assert asked(world) == 0
    assert world.log.named("looked")[-1]["why"] == "pair"
    await world.wait(40)
    assert asked(world) == 1, "when they are done it is a talk like any"


async def test_quiet_hours_cross_midnight(new_world: NewWorld) -> None:
    world = await new_world(speak=eager(backoff_seconds=1))
    enters(world)
    hours = []
    for number in range(48):
        await world.say(f"第{number}句", "阿明", GROUP)
        before = asked(world)
        await world.wait(1_800)
        hours += [(9 + number // 2) % 24] * (asked(world) - before)
    assert hours == [hour for hour in range(9, 22) for _ in range(2)]


async def test_quiet_hours_follow_the_clock_of_the_place_through_summer_time(new_world: NewWorld) -> None:
    world = await new_world(bot={"timezone": "Europe/Berlin"}, speak=eager(quiet_from=2, quiet_until=5))
    enters(world)
    # 2026-10-25: at 03:00 summer time it is 02:00 once more, so that the night from 2 to 5 lasts four hours.
    await world.wait((1_792_886_400_000 - world.clock.now()) / 1000)
    heard = []
    for number in range(12):
        await world.say(f"第{number}句", "阿明", GROUP)
        before = asked(world)
        await world.wait(1_800)
        heard.append(asked(world) > before)
    assert heard == [False] * 8 + [True] * 4


async def test_told_to_be_quiet_she_enters_nothing_until_somebody_calls(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await world.say("小暖，闭嘴", "阿明", GROUP)
    said = list(world.replies)
    await world.say("今天好热", "阿红", GROUP)
    await pause(world)
    assert (asked(world), world.replies) == (0, said)
    assert world.log.named("looked") == [], "nobody even looks"
    await world.restart()
    await world.say("真的好热", "阿红", GROUP)
    await pause(world)
    assert asked(world) == 0
    await world.say("小暖，在吗", "阿红", GROUP)
    await world.wait(70)
    await world.say("想吃西瓜", "阿明", GROUP)
    await pause(world)
    assert asked(world) == 1


async def test_switched_off_or_in_another_mode_nothing_is_entered(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    for command, entered in (
        (".ai off", 0),
        (".ai on", 1),
        (".ai mode window", 1),
        (".ai mode called", 1),
        (".ai mode join", 2),
    ):
        await world.wait(80)
        await world.say("今天好热", "阿明", GROUP)
        await world.say(command, "小王", GROUP)
        await world.say(f"说完了 {command}", "阿明", GROUP)
        await pause(world)
        assert asked(world) == entered, command


async def test_a_chat_that_may_only_be_read_is_not_entered(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await world.say("今天好热", "阿明", GROUP)
    mute = f"UPDATE chat SET gone = {world.clock.now() + 3_600_000}"
    await world.store.people._database.write(lambda db: db.execute(mute).rowcount)
    await pause(world)
    assert asked(world) == 0


async def test_a_line_that_comes_back_from_the_night_is_no_reason(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await world.say("昨晚说的", "阿明", GROUP, at=world.clock.now() - 3_600_000, external_id="1")
    await pause(world)
    assert asked(world) == 0


async def test_stop_ends_an_entry_that_is_being_thought_of(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await world.say("今天好热", "阿明", GROUP)
    world.shut()
    await world.clock.advance(20_000, lambda: world.held(0))
    await world.app.ingest.accept(world.message("小暖，停", "阿红", GROUP))
    await world.let_answer()
    assert world.replies == ["好，我不说了"]
    assert world.peek.turns("state") == [("void",)]
