"""What happens to a message after it arrived: the store, the prompts and the memories follow."""

import asyncio
import json
import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.events import Attachment, Incoming, Place
from tests.peek import Like
from tests.sizes import sized
from tests.world import NINE, World

CANARY = "zyx4711q"


def change(world: World, label: str, target: str, text: str = "", **facts: str) -> Incoming:
    """What an adapter would bring when something happens to the message `target`."""
    said = world.message(text, facts.get("who", "小王"), facts.get("group", ""))
    return Incoming(said.place, said.sender, "event", text, label, facts.get("key", ""), target=target)


async def happens(world: World, label: str, target: str, text: str = "", **facts: str) -> None:
    """It happens, and everything that it caused has settled."""
    await world.app.ingest.accept(change(world, label, target, text, **facts))
    await world.app.settled()


def texts(world: World) -> list[object]:
    """The visible messages of people, in order."""
    return [row[0] for row in world.peek.events("text", kind="message", hidden="")]


async def test_the_model_reads_the_new_text_of_an_edited_message_and_answers_once(world: World) -> None:
    await world.say("我明天去北京", external_id="m1")
    for number, text in enumerate(("我后天去北京", "我后天去上海", "我后天去成都")):
        await happens(world, "edit", "m1", text, key=f"edit:{number}")
        await happens(world, "edit", "m1", text, key=f"edit:{number}")
    assert len(world.replies) == 1
    assert texts(world) == ["我后天去成都"]
    await world.say("你说好不好")
    assert world.last_user.count('t="edit"') == 3
    assert '<e t="edit" n="小王" d="我后天去成都"/>' in world.last_user


async def test_an_edit_that_changes_nothing_is_not_told(world: World) -> None:
    await world.say("看这个", external_id="m1")
    await happens(world, "edit", "m1", "看这个")
    await world.say("嗯")
    assert "edit" not in world.last_user


async def test_a_message_that_still_waits_is_answered_as_it_reads_after_the_edit(world: World) -> None:
    await world.say("小暖，在吗", group="g")
    await world.say("我想说一件旧事", group="g", external_id="m2")
    await happens(world, "edit", "m2", "我想说一件新事", group="g")
    await world.wait(6)
    assert len(world.replies) == 2
    assert "新事" in world.last_user
    assert "旧事" not in world.sent
    assert "edit" not in world.last_user


async def test_only_the_author_may_edit(world: World) -> None:
    await world.say("小暖，我喜欢茶", group="g", external_id="m1")
    await happens(world, "edit", "m1", "我讨厌茶", who="阿明", group="g")
    assert texts(world) == ["小暖，我喜欢茶"]


async def test_an_edit_or_deletion_of_something_unknown_is_ignored(world: World) -> None:
    for label in ("edit", "delete", "reaction", "migrate", "gone", "pin", "title"):
        await happens(world, label, "m77", "后来的话" if label == "edit" else "")
    await world.say("原来的话", external_id="m77")
    assert texts(world) == ["原来的话"]
    assert world.log.named("answer_failed") == []
    assert "后来的话" not in str(world.peek.events("text"))


async def test_an_older_edit_that_comes_again_does_not_undo_a_newer_one(world: World) -> None:
    await world.say("一", external_id="m1")
    await happens(world, "edit", "m1", "二", key="e1")
    await happens(world, "edit", "m1", "三", key="e2")
    await happens(world, "edit", "m1", "二", key="e1")
    assert texts(world) == ["三"]


async def test_the_memory_of_an_edited_command_says_what_it_says_now(world: World) -> None:
    await world.say("记住我喜欢绿茶", external_id="m1")
    await happens(world, "edit", "m1", "记住我喜欢红茶", key="e")
    await happens(world, "edit", "m1", "记住我喜欢红茶", key="e")
    assert world.peek.memories("text", "disabled_at") == [("我喜欢红茶", None)]
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1"]
    await world.say("/new")
    await world.say("我喜欢什么？")
    assert "红茶" in world.last_user
    assert "绿茶" not in world.last_user


async def test_the_memory_of_a_command_that_was_edited_away_ends(world: World) -> None:
    await world.say("记住我喜欢绿茶", external_id="m1")
    await happens(world, "edit", "m1", "我们聊聊别的")
    assert world.peek.memories("disabled_reason") == [("edited",)]
    assert len(world.replies) == 1


async def test_an_edit_makes_no_memory_where_there_was_none(world: World) -> None:
    await world.say("随便聊聊", external_id="m1")
    await happens(world, "edit", "m1", "记住我喜欢绿茶")
    assert world.peek.memories.count() == 0


async def test_what_was_said_twice_is_kept_when_one_of_both_is_edited(world: World) -> None:
    await world.say("记住我喜欢绿茶", external_id="m1")
    await world.wait(1)
    await world.say("记住我喜欢绿茶", external_id="m2")
    await happens(world, "edit", "m2", "记住我喜欢红茶")
    assert world.peek.memories("text", disabled_at=None) == [
        ("我喜欢绿茶",),
        ("我喜欢红茶",),
    ]


async def test_forgotten_words_do_not_return_with_an_edit_of_the_command(world: World) -> None:
    await world.say(f"记住我的门禁码是{CANARY}")
    await world.say(f"忘记我的门禁码是{CANARY}。今天天气好吗？", external_id="m2")
    await happens(world, "edit", "m2", f"忘记我的门禁码是{CANARY}。今天天气很好吗？")
    assert CANARY not in str(world.peek.events("text"))


async def test_a_reply_to_an_older_line_says_to_what(world: World) -> None:
    await world.say(
        "我昨天看了<一部>很好看的电影，讲的是一个人在月球上修灯塔的故事，很长很长", group="g", external_id="m1"
    )
    await world.say("吃饭了吗", who="阿明", group="g", external_id="m2")
    await world.say("小暖，这部呢", who="阿红", group="g", target="m1")
    assert '<p n="阿红" r="我昨天看了&lt;一部&gt;很好看的电影，讲的是一个人在月球上修灯塔…">小暖' in world.last_user
    assert "<!-- r=所回复的话" in world.last_user
    await world.say("小暖，刚才那句", who="阿明", group="g", external_id="m5", target="unknown")
    assert world.last_user.count(" r=") == 0


async def test_a_reply_to_the_line_before_needs_no_mark(world: World) -> None:
    await world.say("吃饭了吗", who="阿明", group="g", external_id="m2")
    await world.say("小暖，他问你呢", group="g", target="m2")
    (sent,) = world.peek.sent("external_id")
    assert " r=" not in world.last_user
    await world.say("好", group="g", target=str(sent[0]), replies_to_bot=True)
    assert " r=" not in world.last_user
    await world.say("插一句", who="阿明", group="g")
    world.model.script = lambda request: "不知道"
    await world.say("真的？", group="g", target=str(sent[0]), replies_to_bot=True)
    assert ' r="好的"' in world.last_user


async def test_attachments_show_as_short_marks_and_as_what_is_known_of_them(world: World) -> None:
    sent = (Attachment("image", "h1"), Attachment("file", "h2", "a<b>.txt"), Attachment("voice", "h3", "v.ogg"))
    await world.say("看", attachments=sent, external_id="m1")
    shown = re.search("<p>看 \\[image.*\\] \\[file.* a&lt;b&gt;.txt.*\\] \\[voice.*\\]</p>", world.last_user)
    assert shown is not None
    await world.say("", attachments=(Attachment("image", "h4"),))
    assert re.search("<p>\\[image.*\\]</p>", world.last_user) is not None
    assert world.rows("SELECT kind, handle FROM attachment WHERE event_id = 1 ORDER BY position") == [
        ("image", "h1"),
        ("file", "h2"),
        ("voice", "h3"),
    ]
    await happens(world, "delete", "m1")
    assert world.peek.attachments("handle") == [("h4",)]


async def test_an_event_has_the_platform_s_time_but_never_one_to_come(world: World) -> None:
    await world.say("旧", at=NINE - 60_000)
    await world.say("新", at=NINE + 60_000)
    assert world.peek.events("at", kind="message") == [(NINE - 60_000,), (NINE,)]


async def test_a_group_that_moves_keeps_its_session_memories_and_ways_in(world: World) -> None:
    await world.say("小暖，记住我喜欢打球", group="g")
    await world.say("小暖，在吗", group="g")
    for _ in range(2):
        await happens(world, "migrate", "super", group="g", key="m")
        await happens(world, "migrate", "super", group="g")
    await world.app.ingest.accept(moved(world, "小暖，在新群"))
    await world.app.settled()
    await world.say("小暖，在旧群", group="g")
    assert world.peek.chats.count() == 1
    assert world.peek.sessions.count() == 1
    assert world.talk.said[-1].external_chat_id == "super"
    assert [row[0] for row in world.rows("SELECT DISTINCT chat_id FROM event")] == [1]


def moved(world: World, text: str) -> Incoming:
    """A message in the group under its new id."""
    said = world.message(text, group="g")
    return Incoming(Place("console", "super", "group", "g"), said.sender, "message", text)


async def test_a_new_id_that_arrived_first_joins_the_old_chat(world: World) -> None:
    await world.say("小暖，记住我喜欢打球", group="g")
    await world.say("小暖，在吗", group="g")
    await world.app.ingest.accept(moved(world, "小暖，记住我喜欢游泳"))
    await world.app.settled()
    await world.app.ingest.accept(moved(world, "小暖，这里是新群"))
    await world.app.settled()
    await happens(world, "migrate", "super", group="g")
    await world.wait(1)
    assert [row[0] for row in world.rows("SELECT DISTINCT chat_id FROM event")] == [1]
    assert world.rows("SELECT chat_id, count(*) FROM session WHERE state = 'open' GROUP BY 1") == [(1, 1)]
    assert world.rows("PRAGMA foreign_key_check") == []
    before = len(world.replies)
    await world.app.ingest.accept(moved(world, "小暖，我们都在了"))
    await world.app.settled()
    await world.say("小暖，旧的也行", group="g")
    assert len(world.replies) == before + 2
    assert [row[0] for row in world.peek.documents("scope", kind="memory")] == ["c1", "c1"]


async def test_nothing_is_sent_to_a_chat_that_is_gone_until_it_speaks_again(world: World) -> None:
    world.talk.broken = True
    await world.say("在吗")
    await happens(world, "gone", "")
    world.talk.broken = False
    await world.wait(600)
    assert world.replies == []
    assert world.peek.chats("gone") == [(1,)]
    await world.say("我回来了")
    assert world.peek.chats("gone") == [(0,)]
    assert len(world.replies) == 1


async def test_a_new_title_is_told_and_kept(world: World) -> None:
    await world.say("小暖", group="g")
    await happens(world, "title", "", "新名字", group="g")
    assert world.peek.chats("title") == [("新名字",)]
    await happens(world, "pin", "", "看公告", group="g")
    await world.say("小暖", group="g")
    assert '<e t="title" n="小王" d="新名字"/>\n<e t="pin" n="小王" d="看公告"/>' in world.last_user


STEPS = st.lists(
    st.tuples(st.sampled_from(("say", "say", "edit", "delete", "again")), st.integers(1, 5), st.integers(0, 9)),
    max_size=12,
)


@settings(max_examples=sized(25))
@given(STEPS)
def test_any_order_of_messages_edits_and_deletions_ends_in_the_last_text(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(walk(Path(folder), steps))


async def walk(folder: Path, steps: list[tuple[str, int, int]]) -> None:
    """Play the steps against a World and against a dictionary."""
    world = await World(folder / "data").open()
    expected: dict[int, str] = {}
    seen: set[int] = set()
    last: Incoming | None = None
    try:
        for turn, (step, number, word) in enumerate(steps):
            text, key = f"词{word}号{turn}", f"k{turn}"
            if step == "say" and number not in seen:
                seen.add(number)
                expected[number] = text
                last = world.message(text, external_id=f"m{number}", delivery_key=f"m{number}")
            elif step == "edit":
                last = change(world, "edit", f"m{number}", text, key=key)
                expected = {each: text if each == number else old for each, old in expected.items()}
            elif step == "delete":
                last = change(world, "delete", f"m{number}", key=key)
                expected.pop(number, None)
            if last is not None:
                await world.app.ingest.accept(last)
                await world.app.settled()
        assert sorted(map(str, texts(world))) == sorted(expected.values())
        assert world.log.named("answer_failed") == []
    finally:
        await world.close()


async def test_an_edit_while_the_digest_is_made_is_in_the_next_one(world: World) -> None:
    world.model.digests = True
    world.model.script = lambda request: (
        "嗯"
        if request.prompt.tools
        else json.dumps({"summary": "", "statements": [{"text": "我住在苏州", "from": [1]}]})
    )
    await world.say("我住在苏州", external_id="m1")
    world.shut()
    await world.app.ingest.accept(world.message("/new"))
    await world.held()
    sent = world.message("我住在无锡")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", sent.text, "edit", target="m1"))
    await world.let_answer()
    await world.app.settled()
    await world.wait(60)
    assert "我住在无锡" in world.prompts[-1][1].content
    assert world.peek.memories.count(text=Like("%苏州%"), disabled_at=None) == 0
