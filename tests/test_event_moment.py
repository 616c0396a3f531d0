"""The day on which something that people tell happened: kept with it, and found and dated by it."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from bot.language.time.dates import event_moment
from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.tables import all_cases
from tests.world import World

NOW = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""
SHANGHAI = ZoneInfo("Asia/Shanghai")


def local(ms: int, zone: str = "Asia/Shanghai") -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M")


def observed(world: World) -> list[int]:
    return [int(str(row[0])) for row in world.peek.memories("observed_at")]


@all_cases(
    ("text", "moment"),
    [
        ("我昨天去医院拔了智齿", "2026-06-11 12:00"),
        ("我昨天去醫院拔了智齒", "2026-06-11 12:00"),
        ("昨晚我失眠了", "2026-06-11 23:00"),
        ("前天下午我见了老同学", "2026-06-10 15:00"),
        ("上周三我搬家", "2026-06-03 12:00"),
        ("三天前我换了工作", "2026-06-09 12:00"),
        ("我5月2日领了证", "2026-05-02 12:00"),
        ("我2024年5月3日结婚", "2024-05-03 12:00"),
        ("I had a wisdom tooth pulled yesterday", "2026-06-11 12:00"),
        ("I met her last Friday", "2026-06-05 12:00"),
        ("On May 3 I moved to Berlin", "2026-05-03 12:00"),
        ("昨天我说要去杭州", "2026-06-11 12:00"),
    ],
)
def test_one_past_day_is_when_it_happened(text: str, moment: str) -> None:
    assert local(event_moment(text, NOW, SHANGHAI)) == moment


@all_cases(
    "text",
    [
        "我怕狗",
        "今天早上我跑了步",
        "明天我要考试",
        "下周三我去北京",
        "我每天昨天的事都忘",
        "我每周三去游泳",
        "上周我一直在加班",
        "去年我换了工作",
        "昨天和前天我都没睡好",
        "6月20日我要去东京",
        "6月20日我就要去东京了",
        "I will have moved on June 20",
        "周五交报告",
        "我周三有课",
        "我生日是5月2日",
        "两周前我感冒了",
        "my birthday is May 3",
        "I will see her on Friday",
        "I swim every Monday",
        "I fly on June 20",
        "tomorrow I have an exam",
        "last week was hard",
    ],
)
def test_everything_else_is_of_the_moment_it_was_said(text: str) -> None:
    assert event_moment(text, NOW, SHANGHAI) == NOW


@given(text=st.text(max_size=80), at=st.integers(-60_000_000_000_000, 250_000_000_000_000))
def test_no_text_is_of_a_later_moment_than_it_was_said(text: str, at: int) -> None:
    assert event_moment(f"昨天{text}", at, SHANGHAI) <= at


async def test_what_was_told_of_yesterday_is_found_by_its_day(world: World) -> None:
    await world.say("我昨天去医院拔了智齿，记住")
    told = world.clock.now()
    day = datetime.fromtimestamp(told / 1000, UTC).astimezone(SHANGHAI).date()
    (at,) = observed(world)
    before = datetime.fromtimestamp(at / 1000, UTC).astimezone(SHANGHAI)
    assert ((day - before.date()).days, before.hour) == (1, 12)
    await world.close()
    world.away(20 * 86_400)
    await world.open()
    await world.say("记住我怕狗")
    named = f"{before.month}月{before.day}日我做了什么"
    world.model.script = lambda request: (
        "好"
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", json.dumps({"query": named}, ensure_ascii=False)))
    )
    await world.say(named)
    (result,) = (message.content for message in world.turns[-1] if message.role == "tool")
    assert "拔了智齿" in result.splitlines()[1]
    line = f"拔了智齿（{day.month}月{day.day}日说的）"
    assert any(line in message.content for message in world.turns[-1]), "the day by which 昨天 is understood"


async def test_the_day_is_the_persons_in_a_direct_chat_and_the_installations_in_a_group(new_world: NewWorld) -> None:
    world = await new_world(bot={"timezone": "Asia/Shanghai"})
    await world.say("在吗")
    zone = "America/Los_Angeles"  # 18:00 of the day before, when it is nine in Shanghai
    with closing(sqlite3.connect(world.folder / "nuan.db")) as database, database:
        database.execute("UPDATE person SET timezone = ?", (zone,))
    await world.say("记住我昨天拔了智齿")
    await world.say("小暖，记住我昨天摔了一跤", group="闲聊")
    mine, ours = observed(world)
    assert local(mine, zone).endswith("12:00")
    assert local(ours).endswith("12:00")
    assert local(mine, zone)[:10] < local(ours)[:10]


async def test_the_answer_to_what_and_the_line_replied_to_are_of_their_day(world: World) -> None:
    await world.say("记住")
    await world.say("我昨天去医院拔了智齿")
    (at,) = observed(world)
    assert local(at)[:10] < local(world.clock.now())[:10]


async def test_the_tool_keeps_the_day_as_well(world: World) -> None:
    kept = ("remember", json.dumps({"text": "我昨天去医院拔了智齿"}, ensure_ascii=False))
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(kept)
    await world.say("我昨天去医院拔了智齿，这个你可要刻进你脑子里，别给我忘咯")
    (at,) = observed(world)
    assert local(at)[:10] < local(world.clock.now())[:10]


async def test_an_opening_dates_what_a_talk_told_by_the_day_it_happened(world: World) -> None:
    await world.say("我昨天去看医生了")
    await world.say("/new")
    await world.wait(1)
    await world.say("在干嘛呢，陪我聊聊最近的事好不好")
    opening = "\n".join(message.content for message in world.turns[-1])
    assert "- 小王：我昨天去看医生了（昨天）" in opening
