"""忘记 NAME lists all that is about it and takes it everywhere after one yes; 那件事 and 别记这个 quote what they mean."""

import pytest

from tests.peek import Like
from tests.test_recall_asides import put
from tests.world import World

NAMES = [
    (
        "陈朗",
        (
            "记住陈朗是我的新同事",
            "我答应周五前把报告交给陈朗",
            "提醒我明天下午三点给陈朗打电话",
            "陈朗昨天跟我说他要搬去成都",
            "他养了两只猫",
        ),
        "忘记陈朗",
        "是",
        "今天天气怎么样呀",
    ),
    (
        "陳朗",
        ("記住陳朗是我的新同事", "我答應週五前把報告交給陳朗", "提醒我明天下午三點給陳朗打電話", "陳朗說他要搬去成都"),
        "忘記陳朗",
        "全部",
        "今天天氣怎麼樣呀",
    ),
    (
        "Derek",
        ("remember my roommate is Derek", "remind me tomorrow at 3pm to call Derek", "Derek got arrested last week"),
        "forget Derek",
        "yes",
        "good morning, how is it going?",
    ),
]
"""A name, what was said of it, the wish, the answer, and a later line."""

TABLES = {
    "event": "SELECT text || quote FROM event",
    "outbox": "SELECT text FROM outbox",
    "effect": "SELECT result FROM effect",
    "entry": "SELECT message FROM entry JOIN epoch ON epoch.id = epoch_id WHERE stale = ''",
    "digest": "SELECT summary FROM digest",
    "memory": "SELECT text FROM memory WHERE disabled_at IS NULL",
    "commitment": "SELECT text FROM commitment",
    "reminder": "SELECT text FROM reminder",
    "note": "SELECT text FROM note_chunk",
}


def held(world: World, name: str) -> set[str]:
    """Where the database tells of it, beside what is kept for undo."""
    return {table for table, sql in TABLES.items() for (text,) in world.rows(sql) if name in str(text)}


@pytest.mark.parametrize("hours", [0, 6])
@pytest.mark.parametrize(("name", "lines", "wish", "yes", "later"), NAMES)
async def test_all_about_a_name_is_listed_and_gone_after_one_yes(
    world: World, name: str, lines: tuple[str, ...], wish: str, yes: str, later: str, hours: int
) -> None:
    """Whether the talk is over or not; what nuan said of it, too."""
    world.model.script = lambda request: f"{name}?"
    for line in (*lines, "我今天煮了番茄牛腩"):
        await world.say(line)
    await world.wait(hours * 3_600)
    await world.say(wish)
    for table in ("memory", "commitment", "reminder"):
        for (text,) in world.rows(f"SELECT text FROM {table} WHERE instr(text, ?)", name):
            assert str(text) in world.replies[-1]
    assert "⏰1" in world.replies[-1]
    assert held(world, name) >= {"event", "memory", "reminder"}
    world.model.script = lambda request: "ok"
    await world.say(yes)
    assert name in world.replies[-1]
    assert held(world, name) == set()
    asked = len(world.model.requests)
    await world.wait(2 * 86_400)
    await world.say(later)
    sent = "\n".join(m.content for request in world.model.requests[asked:] for m in request.prompt.messages)
    assert name not in sent
    assert "番茄" in "".join(str(row[0]) for row in world.peek.events("text"))


async def test_a_no_leaves_all_of_it(world: World) -> None:
    await world.say("记住陈朗是我的新同事")
    await world.say("陈朗昨天跟我说他要搬去成都")
    await world.say("忘记陈朗")
    assert [button.text for button in world.talk.said[-1].buttons] == ["是的", "不用"]
    await world.say("不用")
    assert held(world, "陈朗") >= {"event", "memory"}


async def test_what_others_know_of_the_name_stays_theirs(world: World) -> None:
    await world.say("@nuan 记住陈朗是我表哥", "小李", "同事")
    await world.say("陈朗昨天请我吃饭了", group="同事")
    await world.say("@nuan 忘记陈朗", group="同事")
    await world.say("@nuan 是", group="同事")
    assert world.peek.memories("text", disabled_at=None) == [("陈朗是我表哥",)]
    assert world.peek.events.count(text=Like("%请我吃饭%")) == 0


@pytest.mark.parametrize(
    ("line", "wish", "yes"),
    [("我妹妹下周结婚", "忘记那件事", "是"), ("我妹妹下週結婚", "忘記那件事", "是的")],
)
async def test_that_thing_is_quoted_and_asked_about(world: World, line: str, wish: str, yes: str) -> None:
    await world.say("记住我住在苏州")
    await world.say(line)
    await world.say(wish)
    assert line in world.replies[-1]
    assert held(world, line) >= {"event"}
    await world.say(yes)
    assert held(world, line) == set()
    assert held(world, "苏州") >= {"memory"}


@pytest.mark.parametrize(
    ("line", "wish", "receipt"),
    [
        ("我妹妹下周结婚", "别记这个", "好，“我妹妹下周结婚”我不记"),
        ("我妹妹下週結婚", "別記這個", "好，「我妹妹下週結婚」我不記"),
        ("my cat is sick", "don't remember this", "All right, I won't keep “my cat is sick”"),
    ],
)
async def test_what_is_not_kept_is_quoted_and_heard_again_after_undo(
    world: World, line: str, wish: str, receipt: str
) -> None:
    await world.say(line)
    await world.wait(60)
    await world.say(wish)
    assert world.replies[-1] == receipt
    assert world.peek.events("off_record", text=line) == [(1,)]
    assert world.peek.events.count(kind="bot", text=Like(f"%{line}%")) == 0
    await world.wait(60)
    await world.say("撤销")
    assert world.peek.events("off_record", text=line) == [(0,)]


async def test_the_line_just_before_is_not_kept_whoever_wrote_it_but_their_promise_stays(world: World) -> None:
    await world.say("我答应周五前把报告交给老王", "小李", "家")
    await world.say("@nuan 别记这个", group="家")
    assert world.replies[-1] == "好，“我答应周五…”我不记", "no more of it than tells which line"
    assert world.peek.events("off_record", text=Like("我答应%")) == [(1,)]
    assert world.peek.commitments("text") == [("我答应周五前把报告交给老王",)]


@pytest.mark.parametrize("hours", [0, 6])
@pytest.mark.parametrize(
    ("lines", "undo", "later"),
    [
        (("call me Ann", "call me Beth", "forget my name"), "undo", "good morning, how is it going?"),
        (("call me Ann", "call me Beth", "forget Beth"), "undo", "good morning, how is it going?"),
        (("叫我Ann", "叫我Beth", "忘记我的名字"), "撤销", "今天天气怎么样呀"),
        (("叫我Ann", "以後叫我Beth", "忘記我的名字"), "撤銷", "今天天氣怎麼樣呀"),
    ],
)
async def test_with_a_name_goes_what_somebody_was_called_before_it(
    world: World, lines: tuple[str, ...], undo: str, later: str, hours: int
) -> None:
    """Else the opening still tells how they wanted to be called, and nuan calls them so; the name itself can come back."""
    for line in lines:
        await world.wait(10)
        await world.say(line)
    await world.wait(hours * 3_600)
    if not hours:
        await world.say("/new")
    await world.say(later)
    opening = "\n".join(message.content for message in world.turns[-1])
    assert [name for name in ("Ann", "Beth") if name in opening or held(world, name)] == []
    await world.say(undo)
    assert world.peek.memories("text", disabled_at=None) == [("Beth",)]


@pytest.mark.parametrize(
    ("names", "kept", "line", "reminder", "wish"),
    [
        (
            ("call me Annie", "call me Beth"),
            "remember my dog is called Annie",
            "Annie barked at the postman again",
            "remind me tomorrow at 3pm to feed Annie",
            "forget my name",
        ),
        (
            ("叫我老板", "叫我阿宁"),
            "记住我老板叫李雷",
            "我老板今天又骂我了",
            "提醒我明天下午三点给老板发周报",
            "忘记我的名字",
        ),
    ],
)
async def test_what_merely_holds_a_former_name_stays(
    world: World, names: tuple[str, ...], kept: str, line: str, reminder: str, wish: str
) -> None:
    for said in (*names, kept, line, reminder):
        await world.wait(10)
        await world.say(said)
    await world.say(wish)
    assert world.peek.events.count(text=line) == 1
    assert world.peek.events.count(text=kept) == 1
    assert world.peek.reminders.count(ended_at=None) == 1
    assert world.peek.memories.count(disabled_at=None) == 1
    assert world.peek.events.count(text=names[0]) == 0


@pytest.mark.parametrize(
    ("first", "wish"),
    [("叫我阿宁", "忘记我的名字"), ("call me Ann", "forget my name"), ("今天天气不错", "忘记我的名字")],
)
async def test_somebody_elses_name_stays(world: World, first: str, wish: str) -> None:
    await world.say(first)
    await put(world, "朵朵是我女儿", slot="name", subject="女儿", lasting=True)
    await world.say(wish)
    assert world.peek.memories.values("text", disabled_at=None) == ["朵朵是我女儿"]
