"""Dialogue memory through ingest: weeks of talk, long sleeps, what is forgotten in between, and who is told what."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing

import pytest

from bot.core.clock import DAY_MS
from bot.core.models import ModelRequest
from bot.store.store import DATABASE
from tests.conftest import NewWorld
from tests.indexed import wrong_index
from tests.peek import In, Like
from tests.world import NINE, World

HOUR, DAY = 3_600, 86_400
GROUP = "茶馆"
TELLING = (
    "去成都看大熊猫",
    "学做红烧肉",
    "报名马拉松比赛",
    "搬家到杭州",
    "养一盆薄荷",
    "修好旧自行车",
    "读完三体第二部",
)


def tiers(world: World, where: str = "1") -> dict[str, int]:
    """How many rows of each tier are told."""
    sql = f"SELECT tier, count(*) FROM digest WHERE into_id IS NULL AND {where} GROUP BY tier"
    return {str(tier): int(str(count)) for tier, count in world.rows(sql)}


def told(world: World) -> list[tuple[object, ...]]:
    """What every row says that is told, and how many talks it is of."""
    return world.peek.digests("chat_id", "tier", "until", "summary", "talks", into_id=None)


def sound(world: World) -> None:
    """Each talk is told once, by itself or in one other row, and the index holds what is told and nothing else."""
    with closing(sqlite3.connect(world.folder / DATABASE)) as db:
        assert wrong_index(db) == []
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    talks = world.rows("SELECT count(*) FROM digest WHERE session_id IS NOT NULL AND summary <> ''")
    counted = world.rows("SELECT coalesce(sum(talks), 0) FROM digest WHERE into_id IS NULL AND summary <> ''")
    assert counted == talks
    lost = "SELECT count(*) FROM digest AS one LEFT JOIN digest AS other ON other.id = one.into_id WHERE "
    assert world.rows(lost + "one.into_id IS NOT NULL AND (other.id IS NULL OR other.into_id IS NOT NULL)") == [(0,)]


async def talk(world: World, *said: str, who: str = "小王", group: str = "") -> None:
    """A talk that is over."""
    for text in said:
        await world.say(f"小暖，{text}" if group else text, who, group)
    await world.say("/new", who, group)


async def days(world: World, texts: Iterable[str], step: float = DAY) -> None:
    """A talk, and some time, again and again."""
    for text in texts:
        await talk(world, text)
        await world.wait(step)


async def test_forty_days_in_a_chat_and_a_group_stay_small_and_each_talk_is_told_once(world: World) -> None:
    for day in range(0, 40, 2):
        await talk(world, f"我昨天{TELLING[day % 7]}，第{day}天")
        if day % 4:
            await talk(world, f"我们周末{TELLING[day % 5]}吧，第{day}次", who="阿明", group=GROUP)
        await world.wait(2 * DAY)
    sound(world)
    dm = world.peek.chats("id", kind="dm")[0][0]
    assert tiers(world, f"chat_id = {dm}") == {"day": 4, "week": 3}, "a week is one when all of it is seven days old"
    assert tiers(world, f"chat_id <> {dm}") == {"day": 2, "week": 3}
    oldest = world.rows("SELECT min(ended_at) FROM digest WHERE session_id IS NOT NULL")[0][0]
    assert world.clock.now() - 31 * DAY_MS <= int(str(oldest))
    assert world.rows("SELECT count(*) FROM talker WHERE digest_id NOT IN (SELECT id FROM digest)") == [(0,)]
    log = world.log.named("rolled")
    assert {key for line in log for key in line} == {"chat", "rows", "into", "hour", "day", "week"}
    assert all(type(value) is int for line in log for value in line.values())
    assert len(log) < 40 * 4, "it runs when something is over, not all the time"
    await world.say("早")
    assert "那周（" in world.last_user
    assert "我们周末" not in world.last_user
    await world.say("小暖，早", "阿明", GROUP)
    assert "我们周末" in world.last_user
    assert "我今天" not in world.last_user, "what was told in private"


async def test_after_weeks_without_power_everything_is_rolled_up_at_once_and_only_once(world: World) -> None:
    await days(world, [f"我{what}" for what in TELLING[:3]], 20 * HOUR)
    assert "day" in tiers(world)
    await world.close()
    world.away(15 * DAY)
    await world.open()
    assert tiers(world) == {"week": 1}
    assert sum(int(str(row[4])) for row in told(world)) == 3
    sound(world)
    before = told(world)
    await world.restart()
    world.app._rolls.wake(1)
    await world.app.settled()
    assert told(world) == before


async def test_rolling_up_is_due_at_four_in_the_persons_zone_and_in_a_group_in_the_machines(world: World) -> None:
    sql = "UPDATE person SET timezone = 'America/New_York' WHERE name = '小王'"
    await world.say("在吗")
    await world.store._database.write(lambda db: db.execute(sql).rowcount)
    await talk(world, "我下周去成都看大熊猫")
    await talk(world, "我们周末去爬山吧", group=GROUP)
    await world.wait(DAY)
    hours = (7, 19)  # 2026-06-12 21:00 in New York is the 13th 09:00 in Shanghai: its day ends 7 h later
    dm, group = (world.rows(f"SELECT until FROM digest WHERE tier = 'day' AND chat_id = {n}") for n in (1, 2))
    assert (dm, group) == ([(NINE + hours[0] * HOUR * 1000,)], [(NINE + hours[1] * HOUR * 1000,)])


async def test_of_more_talks_than_may_stand_alone_the_oldest_go_into_their_hour(new_world: NewWorld) -> None:
    world = await new_world(memory={"raw_dialogues": 3})
    for what in TELLING[:5]:
        await talk(world, f"我{what}")
    assert tiers(world) == {"raw": 3, "hour": 1}
    sound(world)
    await world.wait(HOUR)
    assert tiers(world) == {"hour": 1}
    assert world.peek.digests("talks", into_id=None) == [(5,)]


async def test_a_talk_that_is_digested_late_comes_to_those_of_its_time(world: World) -> None:
    await talk(world, "我下周去成都看大熊猫")
    await world.say("我周末学做红烧肉")
    await world.wait(2 * DAY)
    (row,) = told(world)[:1]
    late = "UPDATE digest SET into_id = NULL, roll_at = 0 WHERE session_id = 2"
    await world.store._database.write(lambda db: db.execute(late).rowcount)
    world.app.look()
    await world.app.settled()
    assert told(world) == [row]
    sound(world)


@pytest.mark.parametrize("way", ["forget", "delete", "aside", "edit"])
async def test_what_is_taken_back_goes_out_of_the_week_and_its_index_and_the_rest_stays(
    new_world: NewWorld, way: str
) -> None:
    world = await new_world()
    secret = "我的门禁密码是zwk7731"
    await talk(world, "我下周去成都看大熊猫")
    await world.say(secret, external_id="s1")
    await world.say("/new")
    await world.wait(12 * DAY)
    week = "SELECT summary, talks FROM digest WHERE tier = 'week' AND into_id IS NULL"
    assert "zwk7731" in str(world.rows(week))
    assert world.peek.document_texts.count(terms=Like("%zwk7731%")) > 0
    await world.say("早")
    assert "zwk7731" in world.last_user
    match way:
        case "forget":
            await world.say("记住我的门禁密码是zwk7731")
            await world.say("忘记门禁密码")
        case "aside":
            await world.say("别记这个", target="s1")
        case _:
            place, sender = world.message("").place, world.message("").sender
            text = "我的门禁坏了" if way == "edit" else ""
            incoming = type(world.message(""))(place, sender, "event", text, way, target="s1")
            await world.app.ingest.accept(incoming)
            await world.app.settled()
    assert "zwk7731" not in str(world.peek.digests("summary"))
    found = world.rows(
        "SELECT count(*) FROM doc_text JOIN doc ON doc.id = doc_id WHERE kind = 'digest' AND terms LIKE '%zwk7731%'"
    )
    assert found == [(0,)]
    ((summary, count),) = world.rows(week)
    assert "熊猫" in str(summary)
    assert count == (2 if way == "edit" else 1)
    sound(world)
    if way != "edit":
        await world.say("/new")
        await world.say("又见面了")
        assert "zwk7731" not in world.last_user


async def test_a_log_that_told_a_week_ends_when_a_line_of_it_is_deleted(world: World) -> None:
    await world.say("我的门禁密码是zwk7731", external_id="s1")
    await world.wait(12 * DAY)
    await world.say("早")
    assert "zwk7731" in world.last_user
    before = len(world.prompts)
    message = world.message("")
    await world.app.ingest.accept(type(message)(message.place, message.sender, "event", "", "delete", target="s1"))
    await world.app.settled()
    await world.say("在吗")
    assert "zwk7731" not in str(world.prompts[before:])


async def test_old_talks_are_gone_after_their_days_also_out_of_a_week(new_world: NewWorld) -> None:
    world = await new_world(retention={"dialogue_days": 9})
    await days(world, [f"我{what}" for what in TELLING])
    assert sum(int(str(row[4])) for row in told(world)) == 7
    await world.wait(3 * DAY)
    assert sum(int(str(row[4])) for row in told(world)) == 6, "one of the week of two"
    sound(world)
    await world.wait(12 * DAY)
    assert world.rows("SELECT (SELECT count(*) FROM digest) + (SELECT count(*) FROM talker)") == [(0,)]
    assert world.peek.edges.count(kind=In("digest", "recount")) == 0
    assert world.peek.documents.count(kind="digest") == 0


async def test_dialog_shows_the_talks_in_short_and_in_full(world: World) -> None:
    await days(world, [f"我{what}" for what in TELLING[:5]], 20 * HOUR)
    await talk(world, "我想养一只橘猫")
    await world.say(".ai dialog")
    short = world.replies[-1].split("\n")
    assert short[0].startswith("1. 今天 小王：")
    assert [line.split(". ")[0] for line in short] == [str(n) for n in range(1, len(short) + 1)]
    assert len([line for line in short if "昨天" in line]) == 1
    await world.say(".ai dialog full")
    assert "单次：1/60" in world.replies[-1]
    assert "天：4" in world.replies[-1]
    await world.wait(10 * DAY)
    await world.say(".ai dialog full")
    assert "周：" in world.replies[-1], "when all of it is older than seven days"
    await world.say(".ai dialog full stop")
    assert world.replies[-1] == "用法：.ai dialog [full | clear | 编号]"


async def test_dialog_with_an_account_shows_the_talks_with_that_person_that_may_be_told_here(world: World) -> None:
    await talk(world, "我下周去成都看大熊猫", who="阿明", group=GROUP)
    await talk(world, "我周末学做红烧肉", group=GROUP)
    await talk(world, "我最近总失眠", who="阿明")
    await world.wait(DAY)
    for words in (".ai dialog console:person:阿明", ".ai dialog person console:person:阿明"):
        await world.say(words, "小王", GROUP)
        assert "熊猫" in world.replies[-1]
        assert "红烧肉" not in world.replies[-1] or "2次聊天" in world.replies[-1]
        assert "失眠" not in world.replies[-1]
    await world.say(".ai dialog 阿明", "小王", GROUP)
    assert "熊猫" not in world.replies[-1]
    assert [each.text for each in world.talk.said[-1].buttons] == [".ai dialog console:person:阿明"]
    for whose in ("阿明", "console:person:阿明"):
        await world.say(f".ai dialog {whose}")
        assert world.replies[-1] == f"没有和“{whose}”聊过的摘要"
    await world.say(".ai dialog 没有这个人", "小王", GROUP)
    assert world.replies[-1] == "没有和“没有这个人”聊过的摘要"


async def test_clear_takes_what_is_told_here_out_of_the_running_log_too_and_says_how_much(world: World) -> None:
    await days(world, ["我下周去成都看大熊猫", "我周末学做红烧肉"])
    await talk(world, "我们去爬山吧", group=GROUP)
    await world.say("早")
    assert "红烧肉" in world.last_user
    await world.say(".ai dialog clear", "阿明", GROUP)
    assert world.replies[-1] == "这个只有主人能做哦"
    await world.say(".ai dialog clear")
    assert world.replies[-1] == "清掉了 2 次对话的摘要；记忆和聊天记录都还在"
    before = len(world.prompts)
    await world.say("还在吗")
    assert "## 对话记忆" not in str(world.prompts[before:])
    await world.say(".ai dialog")
    assert world.replies[-1] == "还没有对话摘要"
    await world.say(".ai dialog", "小王", GROUP)
    assert "爬山" in world.replies[-1]
    await world.say(".ai dialog clear", "小王", GROUP)
    assert world.replies[-1] == "清掉了 1 次对话的摘要；记忆和聊天记录都还在"
    await world.restart()
    assert world.rows("SELECT count(*) FROM digest WHERE summary <> '' AND session_id <= 3") == [(0,)]
    sound(world)


async def test_a_crash_while_rolling_up_is_made_good_at_the_next_start(world: World) -> None:
    await days(world, [f"我{what}" for what in TELLING[:3]], 20 * HOUR)
    for _ in range(3):
        world.clock._now += 3 * DAY_MS
        world.app.look()  # what it starts is cut off
        await world.crash()
        sound(world)
    assert tiers(world) == {"week": 1}


async def test_on_another_account_of_the_same_person_their_talks_are_told_too_and_to_nobody_else(world: World) -> None:
    await talk(world, "我最近总失眠", who="阿明")
    await world.wait(12 * DAY)
    for who, group in (("小王", ""), ("小王", GROUP), ("阿明", GROUP)):
        await world.say("小暖，早", who, group)
        assert "失眠" not in world.last_user
        for words in (".ai dialog", ".ai dialog full", ".ai dialog 阿明"):
            await world.say(words, who, group)
            assert "失眠" not in world.replies[-1]
    await world.say("早", "阿明")
    assert "失眠" in world.last_user


async def test_a_model_puts_a_day_of_several_talks_into_words_and_invents_nothing(world: World) -> None:
    answers = iter(["小王下周去成都看大熊猫，周末学做红烧肉。", "小王买了3套房，要去火星。"])

    def script(request: ModelRequest) -> str:
        if "几次聊天" in request.prompt.messages[0].content:
            return next(answers)
        return "好的" if request.prompt.tools else "x"

    for words in ("红烧肉。", "小王：我下周去成都看大熊猫 / 小王：我周末学做红烧肉"):
        await days(world, ["我下周去成都看大熊猫", "我周末学做红烧肉"], 3 * HOUR)
        world.model.digests, world.model.script = True, script
        await world.wait(DAY)
        world.model.digests = False
        (summary,) = world.rows("SELECT summary FROM digest WHERE tier = 'day' ORDER BY id DESC LIMIT 1")[0]
        assert words in str(summary)
    assert len(world.log.named("rollup")) == 2
    assert world.peek.calls.count(state="reserved") == 0
