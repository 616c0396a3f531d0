"""忘记 as a reply: Telegram tells of no deletion, so people say it, and the message replied to is gone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.language.wishes.reader import reply_wish
from tests.storing import holding
from tests.tables import all_cases
from tests.test_changes import CANARY, texts
from tests.world import World

BARE = (
    "忘记",
    "忘記",
    "忘掉",
    "忘了吧",
    "忘记这条",
    "忘記這則訊息",
    "把这条忘掉",
    "刪掉這條",
    "彻底忘记",
    "小暖，忘记",
    "@warm 忘记",
    "能忘记这条吗？",
    "小暖，请忘记这条消息，谢谢",
    "忘记我刚才说的",
    "forget",
    "Forget this",
    "please forget this message",
    "nuan, forget that",
    "delete this message",
)
NOT_BARE = (
    "忘了",
    "忘记了",
    "我忘记了",
    "你忘记了吗",
    "忘记？",
    "忘记这条？",
    "别忘记",
    "不要忘记这个",
    "忘记 #12",
    "忘记我的生日",
    "删除",
    "删掉所有关于我的记忆",
    "forget it",
    "forget about it",
    "I forget",
    "don't forget this",
    "forget #3",
    "「忘记」",
    "forget everything you know about me",
)


def later(world: World, since: int) -> str:
    """All that the model was sent after that many requests."""
    return "".join(message.content for prompt in world.prompts[since:] for message in prompt)


@all_cases("text", BARE)
def test_a_bare_wish_points_at_what_is_replied_to(text: str) -> None:
    command = reply_wish(text, ("小暖", "nuan"))
    assert command is not None
    assert (command.verb, command.content, command.number, command.replied) == ("forget", None, None, True)
    assert command.forever == text.startswith("彻底")


@all_cases("text", NOT_BARE)
def test_an_answer_a_question_or_another_wish_points_at_nothing(text: str) -> None:
    assert reply_wish(text, ("小暖", "nuan")) is None


@given(st.text(alphabet="忘记掉这条把请吗?？ ,。@小暖forget this!x\n", max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    assert reply_wish(text, ("小暖",)) is None or "忘" in text or "f" in text


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ("忘记", f"好，那条消息“我的暗號是{CANARY}呢”我忘掉了"),
        ("忘記這則訊息", f"好，那則訊息「我的暗號是{CANARY}呢」我忘掉了"),
        ("forget this", f"All right, I have forgotten that message “my code {CANARY} is secret”"),
    ],
)
async def test_the_message_replied_to_is_in_no_later_prompt(world: World, wish: str, answer: str) -> None:
    world.model.script = lambda request: f"好的，{CANARY}"
    await world.say(f"my code {CANARY} is secret" if wish.isascii() else f"我的暗號是{CANARY}呢", external_id="m1")
    for _ in range(2):
        await world.say(wish, target="m1", delivery_key="d1")
    assert world.replies[1:] == [answer]
    world.model.script = lambda request: "嗯"
    since = len(world.prompts)
    await world.say("今天天气不错")
    await world.say("/new")
    await world.say("早上好")
    assert CANARY not in later(world, since)
    assert f">{wish}<" not in later(world, since)
    assert holding(world.folder, CANARY) == []


async def test_what_was_remembered_in_it_goes_and_can_be_brought_back(world: World) -> None:
    await world.say(f"记住我的门禁码是{CANARY}", external_id="m1")
    await world.say("忘记这条", target="m1")
    assert (
        world.replies[-1] == f"好，那条消息“记住我的门禁码是{CANARY}”和 #1 都忘掉了。7 天内说“撤销 #1”还能找回记住的事"
    )
    (button,) = world.talk.said[-1].buttons
    assert button.text == "撤销 #1"
    since = len(world.prompts)
    await world.say("/new")
    await world.say("在吗")
    assert CANARY not in later(world, since)
    await world.say("撤销 #1")
    assert world.replies[-1] == "找回来啦 #1"
    assert world.peek.memories("text", disabled_at=None) == [(f"我的门禁码是{CANARY}",)]


async def test_forgotten_for_good_it_is_nowhere(world: World) -> None:
    await world.say(f"记住我的门禁码是{CANARY}", external_id="m1")
    await world.say("彻底忘记", target="m1")
    assert world.replies[-1] == "好，那条消息我忘掉了"
    assert world.peek.memories.count() == 0
    assert holding(world.folder, CANARY) == []


async def test_what_was_kept_by_pointing_at_the_message_goes_with_it(world: World) -> None:
    await world.say(f"我的门禁码是{CANARY}", external_id="m1")
    await world.say("把这个记下来", external_id="m2")
    assert world.replies[-1].startswith("记住啦 #1")
    await world.say("忘记", target="m1")
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_a_receipt_replied_to_names_the_memory(world: World) -> None:
    await world.say("记住我喜欢茶")
    await world.say(f"记住我的门禁码是{CANARY}")
    sent = str(world.talk.said[-1].outbox_id)
    await world.say("忘记", target=sent)
    assert world.replies[-1] == f"好，忘掉了 #2“我的门禁码是{CANARY}”。7 天内说“撤销 #2”还能找回来"
    assert world.peek.memories("id", disabled_at=None) == [(1,)]
    await world.say("忘记", target=sent)
    assert world.peek.memories("id", disabled_at=None) == [(1,)]


async def test_a_question_back_replied_to_forgets_none_of_what_it_lists(world: World) -> None:
    await world.say("记住我喜欢茶")
    await world.say("记住我喜欢咖啡")
    await world.say("忘掉关于我的一切")
    assert "#1 我喜欢茶" in world.replies[-1]
    await world.say("忘记", target=str(world.talk.said[-1].outbox_id))
    assert world.replies[-1].startswith("好，那条消息“")
    assert world.replies[-1].endswith("”我忘掉了")
    assert world.peek.memories("id", disabled_at=None) == [(1,), (2,)]


async def test_a_line_of_nuans_is_told_no_more(world: World) -> None:
    world.model.script = lambda request: f"我说{CANARY}"
    await world.say("说点什么")
    world.model.script = lambda request: "嗯"
    await world.say("忘记", target=str(world.talk.said[-1].outbox_id))
    since = len(world.prompts)
    await world.say("在吗")
    assert CANARY not in later(world, since)
    assert "说点什么" in later(world, since)


async def test_in_a_group_only_the_author_and_the_owner_may(world: World) -> None:
    for number, who in enumerate(("阿明", "阿明", "小王")):
        await world.say(f"我的暗号是{CANARY}{number}", who="阿明", group="g", external_id=f"m{number}")
        await world.say("小暖，忘记", who="阿红", group="g", target=f"m{number}")
        assert world.replies[-1] == "那条不是你的，只有说它的人和主人能让我忘掉"
        assert f"我的暗号是{CANARY}{number}" in texts(world)
        since = len(world.prompts)
        await world.say("小暖，忘记", who=who, group="g", target=f"m{number}")
        assert world.replies[-1] == "好，那条消息“我的暗号是…”我忘掉了"
        await world.say("小暖，在吗", who="阿红", group="g")
        assert f"{CANARY}{number}" not in later(world, since)


async def test_somebody_elses_receipt_and_reply_are_theirs(world: World) -> None:
    await world.say("小暖，记住我喜欢茶", who="阿明", group="g")
    receipt = str(world.talk.said[-1].outbox_id)
    await world.say("小暖，在吗", who="阿明", group="g")
    reply = str(world.talk.said[-1].outbox_id)
    for target in (receipt, reply):
        await world.say("小暖，忘记", who="阿红", group="g", target=target)
        assert world.replies[-1].startswith("那条不是你的")
    await world.say("小暖，忘记", group="g", target=receipt)
    assert world.replies[-1].startswith("好，忘掉了 #1")
    assert world.talk.said[-1].buttons == ()
    await world.say("小暖，忘记", who="阿明", group="g", target=reply)
    assert world.replies[-1] == "好，那条消息“好的”我忘掉了"


async def test_a_message_that_nuan_never_saw_is_named_as_such(world: World) -> None:
    await world.say("忘记", target="m404")
    await world.say(f"暗号{CANARY}", external_id="m1")
    for _ in range(2):
        await world.say("忘记", target="m1")
    assert [world.replies[n] for n in (0, 2, 3)] == [
        "你回的那条消息，我这里没有了",
        f"好，那条消息“暗号{CANARY}”我忘掉了",
        "你回的那条消息，我这里没有了",
    ]


async def test_without_a_reply_it_is_asked_back_and_forwarded_it_is_talk(world: World) -> None:
    await world.say(f"暗号{CANARY}", external_id="m1")
    await world.say("忘记")
    await world.say("忘记", target="m1", forwarded=True)
    assert world.replies == ["好的", "要我忘掉什么呢？说一下内容或编号，或回“算了”", "好的"]
    assert CANARY in later(world, 1)


@pytest.mark.parametrize("words", ["protect #1", "archive #1", "share #1", "unmerge #1"])
async def test_what_a_receipt_of_a_command_quotes_goes_with_it_too(world: World, words: str) -> None:
    await world.say(f"记住我的门禁码是{CANARY}")
    await world.say(f".ai mem {words}")
    assert CANARY in world.replies[-1]
    await world.say("彻底忘记 #1")
    assert holding(world.folder, CANARY) == []


async def test_nobody_who_did_not_call_is_answered_in_a_group(world: World) -> None:
    await world.say("你带钥匙了吗", who="阿明", group="g", external_id="m1")
    await world.say("忘记", who="阿红", group="g", target="m1")
    assert world.replies == []


async def test_a_message_that_still_waits_is_forgotten_unanswered(world: World) -> None:
    await world.say("小暖，在吗", group="g")
    await world.say(f"我的暗号是{CANARY}", group="g", external_id="m1")
    await world.say("另外，明天下雨吗", group="g")
    await world.say("忘记", group="g", target="m1")
    await world.wait(10)
    assert world.replies[1] == "好，那条消息“我的暗号是…”我忘掉了"
    assert "明天下雨吗" in world.last_user
    assert CANARY not in world.sent


async def test_a_crash_right_after_it_changes_nothing(world: World) -> None:
    await world.say(f"记住我的门禁码是{CANARY}", external_id="m1")
    await world.say("忘记", target="m1", delivery_key="d1")
    await world.crash()
    await world.say("忘记", target="m1", delivery_key="d1")
    await world.say("在吗")
    assert CANARY not in later(world, 0)
    assert len(world.replies) == 3
