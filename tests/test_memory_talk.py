"""记住, 忘记, 叫我, 别叫我 and 撤销 as people use them in a conversation, without a model."""

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.world import World

GROUP = "闲聊"
RECALL = calls(("memory_recall", '{"query": "花生 peanuts 过敏 allergic", "top_k": 20}'))


@pytest.mark.parametrize(
    ("text", "receipt", "fact"),
    [
        ("记住我对花生过敏", "记住啦 #1", "我对花生过敏"),
        ("請記住我對花生過敏", "記住啦 #1", "我對花生過敏"),
        ("please remember that I'm allergic to peanuts", "Got it, I'll remember #1", "I'm allergic to peanuts"),
    ],
)
async def test_a_fact_is_kept_through_new_clear_restart_and_crash(
    world: World, text: str, receipt: str, fact: str
) -> None:
    await world.say(text)
    assert world.replies[0].startswith(receipt)
    assert world.model.requests == []
    for end in ("/new", "", ".ai clear", "crash"):
        if end.startswith(("/", ".")):
            await world.say(end)
        await (world.crash() if end == "crash" else world.restart())
        await world.say("早" if "我" in fact else "morning")
        opening = world.turns[-1][1].content.split("<ctx")[0]
        assert fact in opening


@pytest.mark.parametrize(
    ("told", "forget", "receipt", "undo", "back"),
    [
        ("记住我对花生过敏", "忘记我对花生过敏", "好，忘掉了 #1“我对花生过敏”。", "撤销 #1", "找回来啦 #1"),
        ("請記住我對花生過敏", "忘記我對花生過敏", "好，忘掉了 #1「我對花生過敏」。", "撤銷", "找回來啦 #1"),
        (
            "remember that I like nuts",
            "forget that I like nuts",
            "All right, forgotten #1 “I like nuts”.",
            "undo",
            "It's back #1",
        ),
        ("记住我对花生过敏", "忘记 #1", "好，忘掉了 #1“我对花生过敏”。", "撤销", "找回来啦 #1"),
    ],
)
async def test_what_is_forgotten_can_be_brought_back_by_number_or_as_the_last_one(
    world: World, told: str, forget: str, receipt: str, undo: str, back: str
) -> None:
    await world.say(told)
    await world.say(forget)
    assert world.replies[-1].startswith(receipt)
    await world.say(undo)
    assert world.replies[-1] == back
    await world.say("/new")
    await world.say("早")
    assert str(world.peek.memories("text")[0][0]) in world.last_user
    assert len(world.model.requests) == 1


@pytest.mark.parametrize(
    ("wish", "shown", "revoke", "banned", "hello"),
    [
        ("以后叫我阿猫", "叫TA「阿猫」", "别叫我阿猫", "别叫TA「阿猫」", "说说看"),
        ("以後叫我阿貓吧", "叫TA「阿貓」", "不要再叫我阿貓了", "別叫TA「阿貓」", "說說看"),
        ("please call me Cap", 'call them "Cap"', "don't call me Cap", 'never call them "Cap"', "hello there"),
    ],
)
async def test_how_to_be_called_is_in_the_next_opening_and_can_be_revoked(
    world: World, wish: str, shown: str, revoke: str, banned: str, hello: str
) -> None:
    await world.say(wish)
    await world.say("/new")
    await world.say(hello)
    assert shown in world.last_user
    await world.say(revoke)
    await world.say("/new")
    await world.say(hello)
    assert shown not in world.last_user.replace(banned, "")
    assert banned in world.last_user


async def test_a_receipt_is_said_only_after_its_commit(world: World) -> None:
    def committed_first(text: str) -> bool:
        return "#1" not in text or world.peek.memories.count() == 1

    world.talk.check = committed_first
    await world.say("记住我怕狗")
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1"]


@pytest.mark.parametrize(
    ("text", "kept", "rest"),
    [
        ("记住我对花生过敏。今天吃什么好？", "记住啦 #1：我对花生过敏", "今天吃什么好？"),
        (
            "Note that my shift ends at 6. What's for dinner?",
            "Got it, I'll remember #1: my shift ends at 6",
            "What's for dinner?",
        ),
        ("记住我怕狗，以后叫我明哥。今天吃什么好？", "记住啦 #1：我怕狗\n好，以后叫你明哥 #2", "今天吃什么好？"),
    ],
)
async def test_what_is_left_of_the_message_is_answered_in_the_same_reply(
    world: World, text: str, kept: str, rest: str
) -> None:
    world.model.script = lambda request: "那就吃面吧"
    await world.say(text)
    assert world.replies == [f"{kept}\n那就吃面吧"]
    assert rest in world.last_user


async def test_two_commands_in_one_message_have_two_receipts(world: World) -> None:
    await world.say("记住我老婆叫小雨，以后叫我老张")
    assert sorted(line.partition("：")[0] for reply in world.replies for line in reply.splitlines()) == [
        "好，以后叫你老张 #2",
        "记住啦 #1",
    ]


async def test_telling_it_twice_keeps_one(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我怕狗")
    assert [reply.partition("：")[0] for reply in world.replies] == ["记住啦 #1", "这个我已经记着呢 #1"]


async def test_this_points_at_what_the_person_said_before(world: World) -> None:
    await world.say("我的车停在B2层")
    await world.say("把这个记下来")
    assert world.replies[-1].startswith("记住啦 #1")
    assert world.peek.memories("text") == [("我的车停在B2层",)]


@pytest.mark.parametrize("forever", [False, True])
async def test_forgotten_text_is_in_no_later_request_command_or_reply(world: World, forever: bool) -> None:
    await world.say("记住我的门锁密码是紫藤4711，好吗？你说呢")
    await world.say("好的")
    await world.say("/new")
    await world.say("早")
    assert "紫藤4711" in world.sent
    requests, replies = len(world.model.requests), len(world.replies)
    await world.say("彻底忘记 #1" if forever else "忘记 #1")
    world.model.script = lambda request: (
        "不记得了" if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "门锁密码"}'))
    )
    for text in (
        "还记得吗",
        ".ai ctx full 你好",
        ".ai dialog",
        "/new",
        "门锁密码是什么",
        ".ai ctx",
        ".ai dialog",
        ".ai clear",
    ):
        await world.say(text)
    await world.restart()
    await world.say("早上好")
    await world.wait(2000)
    await world.say("晚上好")
    later = "".join(m.canonical() for r in world.model.requests[requests:] for m in r.prompt.messages)
    assert "4711" not in later
    assert "紫藤" not in later
    assert "4711" not in "".join(world.replies[replies + 1 :])  # the receipt says once more what goes


async def test_what_one_character_names_is_asked_about_before_it_goes(world: World) -> None:
    await world.say("记住我养了一只猫")
    await world.say("忘掉关于猫的记忆")
    assert world.replies[-1].endswith("1. #1 我养了一只猫")
    assert world.peek.memories("disabled_at") == [(None,)]
    await world.say("是")
    assert world.replies[-1].startswith("好，忘掉了 #1“我养了一只猫”。")


async def test_gone_for_good_is_gone_at_once_and_cannot_be_undone(world: World) -> None:
    await world.say("记住我的门锁密码是紫藤4711")
    await world.say("彻底忘记 #1")
    assert world.replies[-1] == "好，彻底忘掉了 #1，找不回来了"
    await world.say("撤销 #1")
    assert world.replies[-1] == "没有可以撤销的哦"
    await world.close()
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert not any(b"4711" in path.read_bytes() for path in files)
    await world.open()


async def test_after_seven_days_an_undo_is_too_late(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("忘记我怕狗")
    await world.wait(7 * 86_400 + 1)
    assert world.peek.memories.count() == 0
    await world.say("撤销")
    assert world.replies[-1] == "没有可以撤销的哦"


async def test_forgetting_while_the_model_answers_keeps_the_text_out_of_the_next_request(world: World) -> None:
    await world.say("记住我的门锁密码是紫藤4711，你说呢？")
    world.shut()
    await world.app.ingest.accept(world.message("我在想"))
    await world.held()
    await world.app.ingest.accept(world.message("忘记我的门锁密码"))
    await world.held()
    await world.let_answer()
    before = len(world.model.requests)
    await world.say("想好了")
    later = "".join(m.canonical() for r in world.model.requests[before:] for m in r.prompt.messages)
    assert "4711" not in later
    assert any(reply.startswith("好，忘掉了 #1") for reply in world.replies)


async def test_a_digest_never_brings_forgotten_text_back(world: World) -> None:
    await world.say("我的门锁密码是紫藤4711，你千万别告诉别人")
    await world.say("记住我的门锁密码是紫藤4711")
    await world.say("忘记我的门锁密码")
    await world.say("/new")
    await world.say("早")
    assert "4711" not in world.last_user


async def test_forgetting_after_the_digest_scrubs_it(world: World) -> None:
    await world.say("记住我下周三要去成都看大熊猫")
    await world.say("我下周三要去成都看大熊猫，好开心")
    await world.say("/new")
    await world.say("忘记我下周三要去成都看大熊猫")
    await world.say(".ai dialog")
    await world.say("早")
    assert "熊猫" not in world.last_user
    assert "熊猫" not in world.replies[-2]


async def test_two_people_of_a_group_are_not_mixed_up(world: World) -> None:
    await world.say("小暖，记住我对花生过敏", "阿明", GROUP)
    await world.say("小暖，记住我对芒果过敏", "阿红", GROUP)
    await world.say("小暖，忘记我对花生过敏", "阿红", GROUP)
    assert world.replies[-1] == "我没找到这件事的记忆哦"
    await world.say("小暖，忘记 #1", "阿红", GROUP)
    assert world.replies[-1] == "我没找到这件事的记忆哦"
    await world.say("小暖，撤销 #1", "阿红", GROUP)
    await world.say("小暖，你好", "阿明", GROUP)
    assert '<p n="阿明">#1 我对花生过敏</p>' in world.last_user
    assert '<p n="阿红">#2 我对芒果过敏</p>' in world.last_user


async def test_what_was_told_in_a_dm_is_never_in_a_group(world: World) -> None:
    await world.say("记住我对花生过敏", "阿明")
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else RECALL
    await world.say("小暖，我对什么过敏", "阿明", GROUP)
    await world.say("小暖，忘记 #1", "阿明", GROUP)
    await world.say(".ai ctx full", "阿明", GROUP)
    assert "对花生过敏" not in world.sent
    assert not any("对花生过敏" in reply for reply in world.replies[1:])
    assert world.peek.memories.count(disabled_at=None) == 1


async def test_what_was_told_in_a_group_stays_in_that_group(world: World) -> None:
    await world.say("小暖，记住我对花生过敏", "阿明", GROUP)
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else RECALL
    await world.say("他对什么过敏", "阿红")
    await world.say("小暖，我对什么过敏", "阿明", "别的群")
    assert "花生过敏" not in world.sent
    await world.say("我对什么过敏", "阿明")
    assert "花生过敏" in world.sent, "their own words are theirs in their own chat"


async def test_another_persons_dm_knows_nothing(world: World) -> None:
    await world.say("记住我对花生过敏", "阿明")
    world.model.script = lambda request: "嗯" if request.prompt.messages[-1].role == "tool" else RECALL
    await world.say("谁对什么过敏", "阿红")
    assert "花生过敏" not in world.sent


async def test_the_newest_facts_that_fit_are_in_the_opening_and_the_rest_comes_by_recall(new_world: NewWorld) -> None:
    world = await new_world(context={"opening_tokens": 300})
    for number in range(40):
        await world.say(f"记住我的第{number:02}个朋友住在{number + 100}号")
    await world.say("/new")
    world.model.script = lambda request: (
        "嗯"
        if request.prompt.messages[-1].role == "tool"
        else calls(("memory_recall", '{"query": "第03个朋友住在哪里", "top_k": 5}'))
    )
    await world.say("早")
    opening = world.turns[-1][1].content.split("<ctx")[0]
    assert "第39个朋友" in opening
    assert "第03个朋友" not in opening
    assert "第03个朋友住在103号" in world.turns[-1][-1].content


async def test_it_works_without_any_model(world: World) -> None:
    world.model.script = lambda request: RuntimeError("no model may be called")
    for text in ("记住我怕狗", "叫我阿猫", "别叫我老王", "忘记我怕狗", "撤销", "忘记 #1", ".ai help"):
        await world.say(text)
    assert world.model.requests == []
    assert len(world.replies) == 7
