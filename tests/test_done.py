"""What people say is done ends the promise that it is about: it is said, can be taken back, and is asked in doubt."""

import json

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.test_promises import happens, kept
from tests.world import World

ZH = ("我明天把报告发给你", "我今晚要给妈妈打电话", "我明天要交申请表")
HANT = ("我明天把報告發給你", "我今晚要給媽媽打電話", "我明天要交申請表")
EN = ("I'll send Ann the report tomorrow", "I need to call my mom tonight", "I have to pay the rent tomorrow")
READ = """SELECT text FROM commitment WHERE ended_at IS NOT NULL ORDER BY id"""


async def promised(world: World, *texts: str) -> None:
    """These are promised, one after the other."""
    for text in texts:
        await world.say(text)
    assert len(kept(world)) == len(texts), kept(world)


def ended(world: World) -> list[str]:
    """The promises that are over."""
    return [str(text) for (text,) in world.rows(READ)]


@pytest.mark.parametrize(
    ("promises", "line", "place", "told"),
    [
        (ZH, "报告已经给他了", 0, "把报告发给我"),
        (ZH, "昨晚跟妈妈打过电话啦", 1, "给妈妈打电话"),
        (HANT, "申請表交上去了", 2, "交申請表"),
        (HANT, "報告發過去囉", 0, "把報告發給我"),
        (EN[:1], "sent it this morning", 0, "send Ann the report"),
        (EN[2:], "all done!", 0, "pay the rent"),
        (ZH, "报告不用发了", 0, "把报告发给我"),
        (EN, "rent's paid!", 2, "pay the rent"),
        (EN, "I've called mom", 1, "call your mom"),
    ],
)
async def test_a_done_ends_the_one_it_is_about_and_says_which(
    world: World, promises: tuple[str, ...], line: str, place: int, told: str
) -> None:
    await promised(world, *promises)
    await world.say(line)
    assert ended(world) == [promises[place]]
    assert told in world.replies[-1]
    assert "撤销" in world.replies[-1] or "撤銷" in world.replies[-1] or "undo" in world.replies[-1]


@pytest.mark.parametrize(
    ("promises", "line", "about"),
    [
        (ZH, "搞定了那个表格", "交申请表"),
        (ZH, "那份报告，总算发出去了", "把报告发给我"),
        (HANT, "報告傳過去囉", "把報告發給我"),
        (EN, "sent it this morning", "send Ann the report"),
        (EN, "took care of the rent", "pay the rent"),
        (EN, "finished the report", "send Ann the report"),
        (ZH[1:2], "文件交了", ""),
    ],
)
async def test_in_other_words_it_is_asked_and_a_yes_ends_it(
    world: World, promises: tuple[str, ...], line: str, about: str
) -> None:
    await promised(world, *promises)
    await world.say(line)
    assert ended(world) == []
    asked = about and about in world.replies[-1]
    await world.say(world.talk.said[-1].buttons[0].text if asked else "好")
    assert (len(ended(world)) == 1) == bool(about)


NOTHING_DONE = (
    (ZH, "报告还没发"),  # denied
    (ZH, "报告明天一定发了"),  # a plan
    (ZH, "报告发了吗"),  # a question
    (ZH, "小李把报告发了"),  # another's doing
    (("我明天把报告发给小李",), "小李把报告发了"),
    (EN[:1], "Ann sent the report"),
    (ZH, "我妈给我打电话了"),
    (ZH[1:2], "妈妈打过电话了"),
    (ZH[:1], "报告在桌上，今天先睡了"),
    (ZH, "报告写完了"),  # another deed
    (ZH, "邮件发了"),  # another thing
    (ZH, "报名表交了"),  # another one of the kind
    (ZH, "报告发了一半"),
    (ZH, "要是报告发了就好了"),
    (ZH, "报告发了，骗你的"),
    (ZH[1:2], "下班啦，收工了"),
    (ZH[1:2], "对了"),
    (EN, "Tom sent the report"),
    (EN, "mom called"),
    (EN, "I haven't sent it"),
    (EN, "I'll have sent the report by noon"),
    (EN, "sent the invoice"),
    (EN, "the rent was paid by my roommate"),
    (EN, "I'm so done"),
    (EN, "did you get the report I sent?"),
)


@pytest.mark.parametrize("promises", list(dict.fromkeys(promises for promises, _ in NOTHING_DONE)))
async def test_what_tells_of_nothing_done_ends_nothing(world: World, promises: tuple[str, ...]) -> None:
    await promised(world, *promises)
    for line in (line for told, line in NOTHING_DONE if told == promises):
        await world.say(line)
        assert ended(world) == [], line


async def test_a_promise_of_many_times_is_over_by_no_single_one(world: World) -> None:
    await world.say("我答应妈妈坚持给外婆打电话")
    await world.say("给外婆打过电话了")
    assert kept(world, "state") == [("pending",)]


async def test_of_the_same_kind_but_another_it_ends_nothing(world: World) -> None:
    await promised(world, "我明天要交英语作业")
    await world.say("数学作业交了")
    assert ended(world) == []
    await world.say("英语作业也交了")
    assert len(ended(world)) == 1


async def test_two_that_one_message_tells_end_both_and_what_is_left_is_answered(world: World) -> None:
    await promised(world, *ZH)
    await world.say("报告发了，给妈妈也打过电话了。你今天怎么样？")
    assert ended(world) == [ZH[0], ZH[1]]
    assert world.replies[-1].endswith("好的")
    assert "把报告发给我、给妈妈打电话" in world.replies[-1]


async def test_it_can_be_taken_back(world: World) -> None:
    await promised(world, *ZH)
    before = world.peek.reminders("commitment_id", "due_at", ended_at=None)
    await world.say("记住我对花生过敏")
    await world.wait(60)
    await world.say("报告发了")
    (button,) = world.talk.said[-1].buttons
    await world.say(button.text)
    assert "✓1 我明天把报告发给你" in world.replies[-1]
    assert ended(world) == []
    assert world.peek.reminders("commitment_id", "due_at", ended_at=None) == before
    await world.say("撤销")
    assert world.peek.memories.count(disabled_at=None) == 0


@pytest.mark.parametrize(
    ("answer", "over"), [("2", [1]), ("都", [0, 1]), ("都不是", []), ("还没", []), ("撤销", []), ("今天好热", [])]
)
async def test_of_several_it_is_asked_which(world: World, answer: str, over: list[int]) -> None:
    promises = ("我明天把报告发给小李", "我明天把报告发给老王")
    await promised(world, *promises)
    await world.say("报告发了")
    assert ended(world) == []
    assert [button.label for button in world.talk.said[-1].buttons] == [
        "1. 把报告发给小李",
        "2. 把报告发给老王",
        "都不是",
    ]
    await world.say(answer)
    assert ended(world) == [promises[place] for place in over]


@pytest.mark.parametrize(("answer", "over"), [("是的", 1), ("还没", 0)])
async def test_one_that_is_not_certain_is_asked(world: World, answer: str, over: int) -> None:
    await promised(world, *ZH)
    await world.say("报告写完了")
    assert world.replies[-1] == "“把报告发给我”做好了吗？"
    assert [button.text for button in world.talk.said[-1].buttons] == ["是的", "还没"]
    await world.say(answer)
    assert len(ended(world)) == over


async def test_right_after_its_reminder_a_bare_done_is_of_that_one(world: World) -> None:
    await promised(world, ZH[0], "我后天要交申请表")
    await world.say("搞定了")
    assert ended(world) == []
    await world.say("都不是")
    await world.wait(86_400)
    assert "把报告发给我" in world.replies[-1]
    await world.say("搞定了")
    assert ended(world) == [ZH[0]]


async def test_what_is_only_overheard_ends_nothing(world: World) -> None:
    await world.say("我明天把报告交给大家", group="群")
    await world.say("报告交了", group="群")
    assert ended(world) == []
    assert world.replies == []
    await world.say("小暖，报告交了", group="群")
    assert len(ended(world)) == 1


async def test_an_edit_or_a_deletion_of_the_line_opens_it_again(world: World) -> None:
    await promised(world, *ZH)
    await world.say("报告发了", external_id="m1")
    await happens(world, "edit", "m1", "报告发了！")
    assert len(ended(world)) == 1
    await happens(world, "edit", "m1", "报告还没发")
    assert ended(world) == []
    await world.say("报告发了呀", external_id="m2")
    assert len(ended(world)) == 1
    await happens(world, "delete", "m2")
    assert ended(world) == []


async def test_a_crash_says_and_ends_it_once(world: World) -> None:
    await promised(world, *ZH)
    world.shut()
    await world.app.ingest.accept(world.message("报告发了。今天好累啊"))
    await world.held()
    await world.crash()
    assert ended(world) == [ZH[0]]
    assert sum("把报告发给我" in reply for reply in world.replies) == 1


def says_done(world: World, **arguments: object) -> None:
    """A model that judges calls the tool once, then answers."""
    world.model.digests = True
    asked = ("remember", json.dumps({"kind": "done", **arguments}, ensure_ascii=False))
    world.model.script = lambda request: "嗯嗯" if request.prompt.messages[-1].role == "tool" else calls(asked)


async def test_what_the_model_ends_is_said_with_its_reply_and_can_be_taken_back(world: World) -> None:
    await promised(world, *ZH)
    says_done(world, id="1", text="那份东西昨晚传过去了")
    await world.say("报告啊，那份东西昨晚传过去了")
    assert ended(world) == [ZH[0]]
    assert world.replies[-1] == "好，这件做好了：把报告发给我。弄错了就说“撤销”\n嗯嗯"
    world.model.script = lambda request: "好"
    await world.say("撤销")
    assert ended(world) == []


@pytest.mark.parametrize(
    ("line", "cited"),
    [
        ("今天天气真好", "今天天气真好"),  # nothing of it
        ("报告还没发呢", "报告还没发呢"),
        ("报告明天就发", "报告明天就发"),
        ("报告发了吗", "报告发了吗"),
        ("好累啊", "报告发了"),  # not their words
    ],
)
async def test_a_model_ends_nothing_by_words_that_do_not_say_so(world: World, line: str, cited: str) -> None:
    await promised(world, *ZH)
    says_done(world, id="1", text=cited)
    await world.say(line)
    assert ended(world) == []


async def test_a_model_is_told_which_promise_a_line_may_end(world: World) -> None:
    await promised(world, *ZH)
    world.model.digests = True
    await world.say("报告已经给他了")
    assert ended(world) == []
    assert "承诺 ✓1 把报告" in world.last_user
    await world.say("今天天气真好")
    assert "做完了" not in world.last_user


async def test_an_edit_that_still_may_tell_an_end_opens_nothing_that_a_model_ended(world: World) -> None:
    await promised(world, "我明天要洗碗", ZH[1])
    says_done(world, id="1", text="水槽已经清空了，盘子全部亮晶晶")
    await world.say("水槽已经清空了，盘子全部亮晶晶", external_id="m9")
    assert ended(world) == ["我明天要洗碗"]
    await happens(world, "edit", "m9", "水槽已经清空了，盘子全部亮晶晶！")
    assert ended(world) == ["我明天要洗碗"]
    await happens(world, "edit", "m9", "水槽还没清空")
    assert ended(world) == []


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        ("我明天還要去銀行辦卡，到時候跟我說", "去銀行辦卡"),
        ("我明天要给我妈打电话，你别忘了提醒她哦", "给你妈打电话"),
        ("I need to call the landlord tomorrow because the heating is broken again", "call the landlord"),
    ],
)
async def test_a_reminder_says_a_short_title(world: World, promise: str, told: str) -> None:
    await promised(world, promise)
    await world.wait(2 * 86_400)
    assert [reply for reply in world.replies if reply.endswith(told)]


async def test_the_model_s_title_rests_on_what_was_said(new_world: NewWorld) -> None:
    world = await new_world()
    asked = ("remember", json.dumps({"text": "给猫换粮", "kind": "promise"}, ensure_ascii=False))
    world.model.digests = True
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say("猫的粮得换了，明天我一准儿给猫换成新的粮")
    assert kept(world, "text, due_at > 0") == [("给猫换粮", 1)]
    asked = ("remember", json.dumps({"text": "给狗洗三次澡", "kind": "promise"}, ensure_ascii=False))
    await world.say("今天好热啊，不想动")
    assert len(kept(world)) == 1
