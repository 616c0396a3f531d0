"""Requests as people write them, embedded in other words, and sentences that ask nothing: what is heard in each."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.core.clock import Instant, Recurring
from bot.language.reminders.requests import reminder_wish
from bot.language.time.moments import moment_meant
from tests.world import World

NAMES = ("小暖", "暖暖", "nuan")
NOW = datetime(2026, 11, 18, 10, tzinfo=ZoneInfo("Asia/Shanghai"))
HOUR = 3_600
EVERY = 4
"""Of the sentences that ask nothing, so many are said through ingest."""


def rows() -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "remind_requests.tsv").read_text("utf-8").splitlines()[1:]
    return [(said, task) for said, task in (line.split("\t") for line in lines)]


def test_what_is_to_be_reminded_of_is_what_a_person_would_say() -> None:
    wrong = []
    for said, task in rows():
        wish = reminder_wish(said, NAMES)
        got = "NONE" if wish is None else wish.task
        if task == "ASK":
            found = moment_meant(wish.parts, NOW, wish.manner) if wish is not None else None
            got = "ASK" if wish is not None and not isinstance(found, Instant | Recurring) else got
        if got != task:
            wrong.append((said, task, got))
    assert wrong == []


async def test_sentences_that_ask_nothing_set_nothing(world: World) -> None:
    for said in [said for said, task in rows() if task == "NONE"][::EVERY]:
        await world.say(said)
    assert world.peek.reminders.count() == 0
    assert world.peek.reminder_questions.count() == 0


@pytest.mark.parametrize(
    ("said", "set_"),
    [
        ("对了明天下午三点提醒我给妈妈打电话谢谢", "好，周六（6月13日）下午3:00提醒你：给妈妈打电话 ⏰1"),
        (
            "hey can you remind me to call Mom tomorrow at 3pm please",
            "OK, I'll remind you Saturday, Jun 13, at 3:00 PM: call Mom ⏰1",
        ),
        ("每天早晚八点提醒我吃药", "好，每天早上8:00、晚上8:00提醒你：吃药 ⏰1（第一次是周五（6月12日）晚上8:00）"),
        (
            "每兩週的禮拜一上午十點提醒我開例會",
            "好，每2週的週一上午10:00提醒你：開例會 ⏰1（第一次是週一（6月15日）上午10:00）",
        ),
        (
            "remind me every 3 days at 7pm to water the orchids",
            "OK, I'll remind you every 3 days at 7:00 PM: water the orchids ⏰1 (first Friday, Jun 12, at 7:00 PM)",
        ),
        (
            "明天上午十点提醒我取快递，明晚七点再提醒我给我妈打电话",
            "好，周六（6月13日）上午10:00提醒你：取快递 ⏰1\n好，周六（6月13日）晚上7:00提醒你：给你妈打电话 ⏰2",
        ),
        ("7月20号提醒我抢演唱会的票，晚上八点", "好，周一（7月20日）晚上8:00提醒你：抢演唱会的票 ⏰1"),
        (
            "周一到周五每天下午四点提醒我走走",
            "好，每个工作日下午4:00提醒你：走走 ⏰1（第一次是周五（6月12日）下午4:00）",
        ),
        (
            "三周后的今天提醒我去换药",
            "好，周五（7月3日）上午9:00提醒你：去换药 ⏰1（没说几点，先按这个时间，要改就说“下午三点”）",
        ),
        (
            "remind me sunday 9:30am that it starts at 10",
            "OK, I'll remind you Sunday, Jun 14, at 9:30 AM: it starts at 10 ⏰1",
        ),
    ],
)
async def test_a_request_within_other_words_is_confirmed_in_plain_ones(world: World, said: str, set_: str) -> None:
    await world.say(said)
    assert world.replies == [set_]
    assert world.model.requests == []


async def test_what_comes_twice_a_day_is_said_twice_a_day(world: World) -> None:
    await world.say("每天早晚八点提醒我吃药")
    await world.wait(48 * HOUR)
    assert world.replies[1:] == ["提醒你：吃药"] * 4


async def test_what_comes_every_third_day_is_said_every_third_day(world: World) -> None:
    await world.say("每三天晚上七点提醒我浇花")
    await world.wait(7 * 24 * HOUR)
    assert world.replies[1:] == ["提醒你：浇花"] * 3


async def test_the_rest_of_another_request_is_no_title(world: World) -> None:
    await world.say("the quiz is this Sunday at 8pm, remind me an hour before and also at the start")
    assert world.peek.reminders("text", ended_at=None) == []
