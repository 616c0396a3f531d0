"""A deleted message is gone: from the store, the prompts, the memories and from replies under way."""

from tests.fakes.clock import let_others_run
from tests.fakes.model import calls
from tests.storing import holding
from tests.test_changes import CANARY, change, happens, texts
from tests.world import World


async def test_a_deleted_message_leaves_no_trace(world: World) -> None:
    world.model.script = lambda request: f"好的，{CANARY}，我放在心里了"
    await world.say(f"记住我的门禁码是{CANARY}。你记得了吗？", external_id="m1")
    await world.say("/new")
    await world.say("接着聊")
    await happens(world, "edit", "m1", f"记住我的门禁码是{CANARY}x。你记得了吗？")
    world.model.script = lambda request: "嗯"
    for _ in range(2):
        await happens(world, "delete", "m1", key="d")
    await world.wait(2)
    since = len(world.prompts)
    await world.say("今天天气不错")
    await world.say("/new")
    await world.say("早上好")
    assert CANARY not in "".join(message.content for prompt in world.prompts[since:] for message in prompt)
    assert CANARY not in "".join(world.replies[3:])
    assert holding(world.folder, CANARY) == []
    assert holding(world.folder, "门禁码") == []


async def test_what_was_promised_in_a_deleted_message_is_promised_no_more(world: World) -> None:
    await world.say("我明天把报告发给你", external_id="m1")
    assert world.peek.commitments.count(state="pending") == 1
    await happens(world, "delete", "m1")
    await world.say(".ai promise")
    assert "报告" not in world.replies[-1]


async def test_deleting_one_of_two_equal_messages_leaves_the_other(world: World) -> None:
    await world.say("好的", external_id="m1")
    await world.say("好的", external_id="m2")
    await happens(world, "delete", "m1")
    assert texts(world) == ["好的"]


async def test_a_message_that_is_deleted_while_it_waits_is_not_answered(world: World) -> None:
    await world.say("小暖，在吗", group="g")
    await world.say(CANARY, group="g", external_id="m2")
    await happens(world, "delete", "m2", group="g")
    await world.wait(10)
    assert len(world.replies) == 1
    assert CANARY not in world.sent


async def test_the_reply_to_a_message_deleted_meanwhile_is_not_said(world: World) -> None:
    world.model.script = lambda request: f"你说{CANARY}"
    world.shut()
    await world.app.ingest.accept(world.message(f"我的暗号是{CANARY}", external_id="m1"))
    await world.held()
    await world.app.ingest.accept(change(world, "delete", "m1"))
    await world.let_answer()
    assert world.replies == []
    assert holding(world.folder, CANARY) == []
    assert world.peek.calls.count(state="reserved") == 0
    world.model.script = lambda request: "在"
    await world.say("在吗")
    assert world.replies == ["在"]
    assert CANARY not in world.last_user


async def test_what_else_a_voided_turn_answered_is_answered_anew(world: World) -> None:
    await world.say("小暖，在吗", group="g")
    await world.say(f"我的暗号是{CANARY}", group="g", external_id="m1")
    await world.say("还有，明天下雨吗", group="g", external_id="m2")
    world.shut()
    await world.clock.advance(6_000, let_others_run)
    await world.held()
    await world.app.ingest.accept(change(world, "delete", "m1", group="g"))
    world.model.script = lambda request: "会下" if CANARY not in request.prompt.messages[-1].content else CANARY
    await world.let_answer()
    assert world.replies == ["好的", "会下"]
    assert holding(world.folder, CANARY) == []


async def test_a_deletion_between_two_tool_calls_ends_the_turn(world: World) -> None:
    world.model.script = lambda request: calls(("memory_recall", '{"query": "暗号"}'))
    world.shut()
    await world.app.ingest.accept(world.message(f"我的暗号是{CANARY}", external_id="m1"))
    await world.held()
    await world.app.ingest.accept(change(world, "delete", "m1"))
    await world.let_answer()
    await world.wait(10)
    assert world.replies == []
    assert len(world.prompts) == 1
    assert holding(world.folder, CANARY) == []


async def test_after_a_crash_a_deleted_message_is_not_asked_again(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message(f"我的暗号是{CANARY}", external_id="m1"))
    await world.held()
    await world.app.ingest.accept(change(world, "delete", "m1"))
    await world.crash()
    assert len(world.prompts) == 1
    assert world.replies == []


async def test_a_reply_that_an_admin_deletes_is_marked_and_told_no_more(world: World) -> None:
    world.model.script = lambda request: f"我说{CANARY}"
    await world.say("说点什么")
    (sent,) = world.peek.sent("external_id")
    await happens(world, "delete", str(sent[0]))
    assert world.peek.events("hidden", kind="bot") == [("deleted",)]
    since = len(world.prompts)
    await world.say("再说一次")
    assert CANARY not in "".join(message.content for prompt in world.prompts[since:] for message in prompt)


async def test_a_quote_of_a_deleted_line_is_gone_with_it(world: World) -> None:
    await world.say(f"暗号{CANARY}", group="g", external_id="m1")
    await world.say("啊", who="阿明", group="g")
    for number in range(60):
        await world.say(f"闲话{number}", who="阿明", group="g")
    await world.say("小暖，这是什么", who="阿红", group="g", target="m1")
    assert f'r="暗号{CANARY}"' in world.last_user
    assert f">暗号{CANARY}<" not in world.last_user
    await happens(world, "delete", "m1", group="g")
    await world.say("小暖，说说", who="阿红", group="g")
    assert CANARY not in "".join(message.content for message in world.prompts[-1])
    assert holding(world.folder, CANARY) == []


async def test_a_receipt_that_repeats_a_deleted_wish_goes_with_it(world: World) -> None:
    await world.say(f"以后叫我{CANARY}", external_id="m1")
    assert CANARY in world.replies[0]
    await happens(world, "delete", "m1")
    await world.say("在吗")
    assert CANARY not in world.last_user
    assert holding(world.folder, CANARY) == []


async def test_a_digest_of_a_deleted_message_is_made_again_without_it(world: World) -> None:
    world.model.digests = True
    summary = '{"summary": "小王非常怕狗这种犬科", "statements": []}'
    world.model.script = lambda request: "嗯嗯" if request.prompt.tools else summary
    await world.say("我非常怕狗，为什么会这样呢？", external_id="m1")
    for text in (
        "昨天路上遇到一只特别大的，差点吓哭了",
        "后来邻居把它牵走了，我才敢回家去",
        "你觉得我应该怎么办才好呢",
    ):
        await world.say(text)
    await world.say("我想先从看照片开始慢慢练习")
    await world.say("/new")
    assert world.peek.digests("summary") == [("小王非常怕狗这种犬科",)]
    await happens(world, "delete", "m1")
    await world.wait(1)
    assert "犬科" not in str(world.peek.digests("summary"))
    assert "怕狗" not in str(world.peek.digests("summary"))
