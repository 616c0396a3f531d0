"""What a person says of a reminder that is set: later, earlier, no more. A model judges it, and it is told."""

import json

import pytest

from tests.fakes.model import calls
from tests.world import World

HOUR = 3_600


def uses(world: World, **arguments: object) -> None:
    """The model calls the tool remind once, then answers."""
    asked = calls(("remind", json.dumps(arguments, ensure_ascii=False)))
    world.model.script = lambda request: "ok" if request.prompt.messages[-1].role == "tool" else asked


def due(world: World) -> list[str]:
    sql = "SELECT substr(datetime(due_at / 1000 + 28800, 'unixepoch'), 1, 16) FROM reminder WHERE ended_at IS NULL"
    return [str(row[0]) for row in world.rows(sql)]


@pytest.mark.parametrize(
    ("line", "when", "moved"),
    [
        ("push it an hour, would you", "2026-06-13T11:00", True),
        ("bit tight that, half an hour earlier", "2026-06-13T09:30", True),
        ("提前十五分鐘好了", "2026-06-13T09:45", True),
        ("再晚個一小時半比較保險", "2026-06-13T11:30", True),
        ("往后推两天", "2026-06-15T10:00", True),
        ("make it nine, can't wait that long", "2026-06-13T09:00", True),
        ("push it an hour, would you", "2026-06-13T12:00", False),
        ("提前十五分鐘好了", "2026-06-13T09:30", False),
        ("half an hour later", "half an hour later", False),
    ],
)
async def test_a_reminder_is_moved_by_as_much_as_they_say(world: World, line: str, when: str, moved: bool) -> None:
    world.model.digests = True
    await world.say("明天10点提醒我开会")
    await world.wait(60)
    uses(world, id="⏰1", when=when)
    await world.say(line)
    assert due(world) == [when.replace("T", " ") if moved else "2026-06-13 10:00"]


@pytest.mark.parametrize(
    ("when", "there"), [("2026-06-19T19:00", "2026-06-19 19:00"), ("2026-06-20T19:00", "2026-06-18 19:00")]
)
async def test_on_another_day_that_is_named_among_others_the_hour_stays(world: World, when: str, there: str) -> None:
    world.model.digests = True
    await world.say("下周四晚上7点提醒我取快递")
    await world.wait(5 * 24 * HOUR)
    uses(world, id="⏰1", when=when)
    await world.say("取快递那个改到周五吧 钟点不变 周四得陪我妈看牙")
    assert due(world) == [there]


async def test_how_long_the_request_itself_named_moves_nothing(world: World) -> None:
    world.model.digests = True
    await world.say("明天10点提醒我开会，要开两个小时")
    await world.wait(60)
    uses(world, id="⏰1", when="2026-06-13T12:00")
    await world.say("今天天气不错")
    assert due(world) == ["2026-06-13 10:00"]


async def test_what_comes_back_goes_on_at_the_hour_it_was_moved_to(world: World) -> None:
    world.model.digests = True
    await world.say("每天晚上9点提醒我浇花")
    await world.wait(60)
    uses(world, id="⏰1", when="2026-06-12T21:30")
    await world.say("浇花那个晚半小时吧")
    assert due(world) == ["2026-06-12 21:30"]
    await world.wait(40 * HOUR)
    assert sum("浇花" in reply for reply in world.replies[1:]) == 2


async def test_what_just_rang_is_said_again_after_as_long_as_they_want(world: World) -> None:
    world.model.digests = True
    await world.say("remind me in an hour to stretch")
    await world.wait(HOUR + 20)
    assert "stretch" in world.replies[-1]
    now = world.clock.now() // 60_000 * 60_000 + 10 * 60_000
    [(when,)] = world.rows(f"SELECT strftime('%Y-%m-%dT%H:%M', {now} / 1000 + 28800, 'unixepoch')")
    uses(world, text="stretch", when=when)
    await world.say("ugh, 10 more minutes")
    assert due(world) == [str(when).replace("T", " ")]


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("the gym reminder has had its day", True),
        ("joined a gym with a coach who texts me, ⏰1 can rest", True),
        ("i can't keep up with the gym, that one is history", True),
        ("keep the gym reminder on", False),
        ("please never drop the gym reminder", False),
        ("is the gym reminder still on?", False),
        ("maybe the gym reminder is a bit much", False),
        ("the cat slept all day", False),
        ("my sister goes “just cancel the gym reminder”, typical", False),
    ],
)
async def test_a_reminder_that_they_speak_of_ends_as_the_model_judges_and_they_are_told(
    world: World, line: str, ended: bool
) -> None:
    await world.say("remind me every day at 7pm to go to the gym")
    await world.wait(60)
    uses(world, id="⏰1", cancel=True)
    await world.say(line)
    assert (due(world) == []) is ended
    assert any("Cancelled: ⏰1 go to the gym" in reply for reply in world.replies) is ended


async def test_one_that_was_ended_wrongly_comes_back(world: World) -> None:
    await world.say("每天早上八点提醒我吃药")
    await world.wait(60)
    uses(world, id="⏰1", cancel=True)
    await world.say("买了会响的药盒，吃药那个可以歇了")
    assert "撤销" in world.replies[-1]
    assert due(world) == []
    await world.wait(60)
    await world.say("撤销")
    assert len(due(world)) == 1


async def test_a_forwarded_line_ends_nothing(world: World) -> None:
    await world.say("每天早上八点提醒我吃药")
    await world.wait(60)
    uses(world, id="⏰1", cancel=True)
    await world.say("吃药那个提醒可以歇了", forwarded=True)
    await world.say("表姐发来的，你看看")
    assert len(due(world)) == 1


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("早上吃药那个提醒可以歇了", True),
        ("每天叫我的那個可以停了，買了鬧鐘", True),
        ("老板叫我周六去加班，真爱上班", False),
    ],
)
async def test_a_line_about_one_that_is_set_names_it_for_the_model(world: World, line: str, named: bool) -> None:
    world.model.digests = True
    await world.say("每天早上八点提醒我吃药")
    await world.say(line)
    cue = world.last_user.rpartition("</ctx>")[2]
    assert ("⏰1 吃药" in cue) is named
    assert ("remind" in cue) is named


async def test_of_several_that_are_set_a_line_names_the_closest_for_the_model(world: World) -> None:
    world.model.digests = True
    await world.say("每天早上八点提醒我吃药")
    await world.say("每天晚上八点提醒我打给老王")
    await world.say("晚上打给他那个提醒可以停了")
    assert "⏰2 打给老王" in world.last_user.rpartition("</ctx>")[2]
    assert "⏰1" not in world.last_user.rpartition("</ctx>")[2]


@pytest.mark.parametrize(
    ("before", "line", "title"),
    [
        ("我妈一个人住，常忘记吃药", "每天早上八点叫我打给她啦", "打给妈妈"),
        ("met Ann today", "remind me at 5pm to text her", "text Ann"),
    ],
)
async def test_whom_a_pronoun_means_the_model_puts_into_the_title(
    world: World, before: str, line: str, title: str
) -> None:
    world.model.digests = True
    await world.say(before)
    when = {"when": "2026-06-13T08:00", "every": "day"} if "她" in line else {"when": "5pm"}
    uses(world, text=title, **when)
    await world.say(line)
    assert world.peek.reminders("text", ended_at=None) == [(title,)]


async def test_done_right_after_a_reminder_rang_is_said_of_that(world: World) -> None:
    world.model.digests = True
    await world.say("我答应周日前把烤箱擦干净")
    await world.say("一小时后提醒我倒垃圾")
    await world.wait(HOUR + 60)
    assert "倒垃圾" in world.replies[-1]
    await world.say("搞定了")
    assert "烤箱" not in world.last_user.rpartition("</ctx>")[2]
    await world.say("烤箱擦干净了")
    assert "烤箱" in world.last_user.rpartition("</ctx>")[2]
