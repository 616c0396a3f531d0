"""What a person's own last lines, and their yes to what nuan asked, allow every tool that writes."""

import json
from collections.abc import Callable

import pytest

from tests.fakes.model import calls
from tests.world import World


def uses(world: World, tool: str, /, **arguments: object) -> None:
    """The model calls this tool once, then answers."""
    call = (tool, json.dumps(arguments, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(call)


async def hears(world: World, *lines: str, answer: str = "好的") -> None:
    """The person writes these lines, and the model answers so."""
    world.model.script = lambda request: answer
    for line in lines:
        await world.say(line)


def result(world: World) -> str:
    return next(message.content for message in reversed(world.turns[-1]) if message.role == "tool")


def memories(world: World) -> list[object]:
    return [row[0] for row in world.peek.memories("text", disabled_at=None, former_at=None)]


def promises(world: World) -> list[tuple[object, ...]]:
    return world.peek.commitments("text", "state")


def reminders(world: World) -> list[tuple[object, ...]]:
    return world.rows(
        "SELECT text, strftime('%m-%d %H:%M', due_at / 1000 + 28800, 'unixepoch') FROM reminder WHERE ended_at IS NULL"
    )


async def test_a_promise_may_name_whom_the_line_before_named(world: World) -> None:
    await hears(world, "阿翔數學快被當了，一直來問我")
    uses(world, "remember", kind="promise", text="我答應阿翔這禮拜天教他二次函數")
    await world.say("這禮拜天教他二次函數，都答應人家了")
    assert promises(world) == [("我答應阿翔這禮拜天教他二次函數", "pending")]


@pytest.mark.parametrize(
    "text", ["我答应阿明这周日教他二次函数", "我答应阿翔这周六教他二次函数", "我不教阿翔二次函数了"]
)
async def test_a_name_a_day_or_a_denial_of_the_models_own_is_not_noted(world: World, text: str) -> None:
    await hears(world, "阿翔数学快挂了")
    uses(world, "remember", kind="promise", text=text)
    await world.say("这周日教他二次函数，都答应人家了")
    assert promises(world) == []
    assert result(world).startswith("没有记")


async def test_a_line_of_long_ago_allows_nothing(world: World) -> None:
    await hears(world, "阿翔数学快挂了")
    await world.wait(11 * 60)
    uses(world, "remember", kind="promise", text="我答应阿翔这周日教他二次函数")
    await world.say("这周日教他二次函数，都答应人家了")
    assert promises(world) == []


@pytest.mark.parametrize(
    ("fact", "question", "yes", "tool", "arguments", "written"),
    [
        (
            "我对芒果过敏，上次嘴都肿了",
            "要我记住你对芒果过敏吗？",
            "好啊",
            "remember",
            {"text": "我对芒果过敏"},
            memories,
        ),
        (
            "我对芒果过敏，上次嘴都肿了",
            "要不要我记住你对芒果过敏？",
            "要",
            "remember",
            {"text": "我对芒果过敏"},
            memories,
        ),
        (
            "明天要交房租",
            "要我明天早上九点提醒你交房租吗？",
            "嗯，谢啦",
            "remind",
            {"text": "交房租", "when": "明天早上九点"},
            reminders,
        ),
        (
            "early flight tomorrow",
            "Want me to wake you at 5:30 tomorrow?",
            "yes pls, dont let me oversleep",
            "remind",
            {"text": "get up", "when": "5:30 tomorrow"},
            reminders,
        ),
    ],
)
async def test_a_yes_to_what_nuan_asked_is_consent(
    world: World,
    fact: str,
    question: str,
    yes: str,
    tool: str,
    arguments: dict[str, str],
    written: Callable[[World], list[object]],
) -> None:
    await hears(world, fact, answer=question)
    uses(world, tool, **arguments)
    await world.say(yes)
    assert len(written(world)) == 1


@pytest.mark.parametrize("no", ["不用了", "好累啊今天", "好，不过不用了"])
async def test_any_other_answer_is_none(world: World, no: str) -> None:
    await hears(world, "我对芒果过敏，上次嘴都肿了", answer="要我记住你对芒果过敏吗？")
    uses(world, "remember", text="我对芒果过敏")
    await world.say(no)
    assert memories(world) == []


async def test_a_yes_after_somebody_else_spoke_is_none(world: World) -> None:
    world.model.script = lambda request: "要我记住你对芒果过敏吗？"
    await world.say("小暖，我对芒果过敏", group="闲聊")
    world.model.script = lambda request: "好"
    await world.say("要记住你对芒果过敏吗？", "小美", "闲聊")
    uses(world, "remember", text="我对芒果过敏")
    await world.say("小暖，好啊", group="闲聊")
    assert memories(world) == []


async def test_an_alarm_that_is_asked_for_without_the_word_is_set_at_the_hour_they_named(world: World) -> None:
    await hears(world, "ugh, 6:30 tomorrow for the airport run")
    uses(world, "remind", text="get up for the airport run", when="6:30 tomorrow")
    await world.say("dont let me oversleep lol")
    assert reminders(world) == [("get up for the airport run", "06-13 06:30")]


@pytest.mark.parametrize("when", ["6:00 tomorrow", "2026-06-13T06:15"])
async def test_an_hour_that_nobody_named_is_set_for_nothing(world: World, when: str) -> None:
    await hears(world, "ugh, 6:30 tomorrow for the airport run")
    uses(world, "remind", text="get up", when=when)
    await world.say("dont let me oversleep lol")
    assert reminders(world) == []
    assert "the day alone" in result(world) or "只写日子" in result(world)


async def test_a_title_holds_no_number_and_no_name_of_the_models_own(world: World) -> None:
    uses(world, "remind", text="带 300 块给 Olaf", when="明天下午三点")
    await world.say("明天下午三点小宝放学，你可别忘了告诉我")
    assert reminders(world) == []
    assert "300" in result(world)
    await world.say("记住我的牙医叫 Olaf")
    uses(world, "remind", text="打给牙医 Olaf", when="后天下午三点")
    await world.say("后天下午三点打给牙医，你可别忘了告诉我")
    assert reminders(world) == [("打给牙医 Olaf", "06-14 15:00")]


async def test_what_is_set_already_is_said_instead_of_set_twice(world: World) -> None:
    await world.say("明天早上六点半提醒我起床")
    uses(world, "remind", text="起床", when="明天早上六点半")
    await world.say("可别让我睡过头啊哈哈")
    assert len(reminders(world)) == 1
    assert "⏰1 起床" in result(world) or "#1 起床" in result(world)


async def test_the_model_may_move_what_was_set_for_this_very_message(world: World) -> None:
    await hears(world, "小宝周六有课，下午五点下课")
    await world.wait(6 * 60)
    moved = json.dumps({"text": "接小宝", "when": "2026-06-13T16:00"}, ensure_ascii=False)
    answers = iter((calls(("remind", '{"id": 1, "cancel": true}')), calls(("remind", moved))))
    world.model.script = lambda request: next(answers, "改到周六啦")
    await world.say("下午四点提醒我接小宝啦。外面好像在下雨呀，你说要不要带伞")
    assert reminders(world) == [("接小宝", "06-13 16:00")]


async def test_the_model_takes_back_nothing_that_another_message_set(world: World) -> None:
    await world.say("下午三点提醒我买菜")
    uses(world, "remind", id=1, cancel=True)
    await world.say("外面好像在下雨呀，你说要不要带伞")
    assert reminders(world) == [("买菜", "06-12 15:00")]


@pytest.mark.parametrize(("state", "said"), [("failed", "报告实在交不出来了，对不起"), ("done", "报告终于交上去了")])
@pytest.mark.parametrize("words", ["own", "promise"])
async def test_what_became_of_a_promise_is_found_by_words(world: World, state: str, said: str, words: str) -> None:
    await hears(world, "我明天把报告发给你", "我周末把猫窝洗干净")
    world.model.digests = True  # so it is the model's to judge
    uses(world, "remember", text=said if words == "own" else "我明天把报告发给你", kind=state)
    await world.say(said)
    assert promises(world) == [("我明天把报告发给你", state), ("我周末把猫窝洗干净", "pending")]


async def test_a_promise_of_which_nobody_spoke_stays_open(world: World) -> None:
    await hears(world, "我明天把报告发给你")
    await world.wait(11 * 60)
    uses(world, "remember", text="我明天把报告发给你", kind="done")
    await world.say("今天天气真好呀")
    assert [row[1] for row in promises(world)] == ["pending"]


async def test_a_change_is_told_as_a_short_fact(world: World) -> None:
    await world.say("记住我的猫叫年糕")
    uses(world, "remember", id="1", text="我的猫叫豆包")
    await world.say("我的猫改名啦，现在叫豆包")
    assert result(world) == "改好了，现在是 #2：我的猫叫年糕 → 我的猫叫豆包"


async def test_a_request_that_ends_in_ok_is_no_question(world: World) -> None:
    uses(world, "remember", text="i'm vegan now")
    await world.say("don't forget i'm vegan now ok??")
    assert memories(world) == ["i'm vegan now"]


@pytest.mark.parametrize(
    ("line", "name"), [("小暖 你以后能不能不叫我宝宝啊 好肉麻", "宝宝"), ("不要再喊我學姊了 你又不是我學弟", "學姊")]
)
async def test_a_name_that_they_refuse_is_not_used_again(world: World, line: str, name: str) -> None:
    uses(world, "remember", text=name, kind="not")
    await world.say(line)
    assert world.peek.memories("text", "slot", disabled_at=None) == [(name, "no_address")]


async def test_a_name_that_they_asked_for_is_not_refused_by_the_model(world: World) -> None:
    uses(world, "remember", text="宝宝", kind="not")
    await world.say("以后你叫我一声宝宝吧，他们都那么喊")
    assert "no_address" not in [row[0] for row in world.peek.memories("slot")]


async def test_what_this_means_stands_in_the_rest(world: World) -> None:
    await world.say("小暖～把這個記下來，阿明欠我兩千三")
    assert memories(world) == ["阿明欠我兩千三"]
    assert world.model.requests == []


async def test_a_matter_of_which_nothing_is_kept_is_forgotten_in_a_whole_sentence(world: World) -> None:
    await hears(world, "我跟阿哲昨天分手了，別再提他")
    uses(world, "forget", text="分手")
    await world.say("我怕看到，昨天分手的事你幫我忘了好不好，難受")
    assert any("你說過的 " in text for text in world.replies), world.replies


@pytest.mark.parametrize(
    ("kept", "said", "changed"),
    [
        ("我妈生日5月3日", "哎呀说错了，5月4日那天才是", "我妈生日5月4日"),
        ("the trip is on June 20", "no wait, June 22", "the trip is on June 22"),
    ],
)
async def test_a_day_alone_changes_what_is_kept(world: World, kept: str, said: str, changed: str) -> None:
    await world.say(f"记住{kept}" if kept[0] == "我" else f"remember {kept}")
    uses(world, "remember", id=1, text=changed)
    await world.say(said)
    assert memories(world) == [changed]


async def test_a_day_that_nobody_said_changes_nothing(world: World) -> None:
    await world.say("记住我妈生日5月3日")
    uses(world, "remember", id=1, text="我妈生日5月6日")
    await world.say("哎呀说错了，5月4日那天才是")
    assert memories(world) == ["我妈生日5月3日"]


async def test_whom_to_remind_is_nothing_to_remind_of(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="去银行", when="下周三")
    await world.say("我下周三得去趟银行，你盯着点我")
    assert [row[0] for row in reminders(world)] == ["去银行"]
    await world.say("你能不能别提醒我带伞了")
    assert [row[0] for row in reminders(world)] == ["去银行"]


async def test_what_is_to_be_kept_and_reminded_of_is_both(world: World) -> None:
    await world.say("记住我爸生日3月8日，提前一天提醒我")
    assert memories(world) == ["我爸生日3月8日"]
    assert reminders(world) == [("你爸生日", "03-07 09:00")]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("替我记住下午三点要吃药", "下午三点要吃药"),
        ("帮我记住下周三要去看牙医", "下周三要去看牙医"),
        ("幫我記下禮拜三看牙醫", "下禮拜三看牙醫"),
        ("帮我记一下下个月交房租", "下个月交房租"),
    ],
)
async def test_the_day_that_follows_the_word_belongs_to_what_is_kept(world: World, said: str, kept: str) -> None:
    await world.say(said)
    assert memories(world) == [kept]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("取消 ⏰1 和 ⏰2", ["买花"]),
        ("取消提醒 ⏰1、⏰3", ["吃药"]),
        ("cancel ⏰2 and ⏰3", ["开会"]),
        ("取消⏰2", ["开会", "买花"]),
    ],
)
async def test_several_reminders_are_cancelled_by_their_numbers(world: World, said: str, left: list[str]) -> None:
    for task in ("开会", "吃药", "买花"):
        await world.say(f"明天早上8点提醒我{task}")
    await world.say(said)
    assert [row[0] for row in reminders(world)] == left


async def test_a_number_of_no_open_reminder_cancels_none(world: World) -> None:
    await world.say("明天早上8点提醒我开会")
    await world.say("取消 ⏰7")
    assert [row[0] for row in reminders(world)] == ["开会"]
    assert "⏰1" in world.replies[-1]


async def test_an_undo_is_of_the_last_wish_and_not_of_an_older_question(world: World) -> None:
    await world.say("明天早上8点提醒我开会")
    await world.say("记住我喜欢喝茶")
    await world.say("记住我喜欢喝咖啡")
    await world.say("忘记喜欢喝")
    assert "哪" in world.replies[-1] or "要" in world.replies[-1]
    await world.wait(60)
    await world.say("取消提醒 ⏰1")
    await world.say("撤销")
    assert [row[0] for row in reminders(world)] == ["开会"], world.replies


@pytest.mark.parametrize("again", ["提醒我", "remind me"])
async def test_a_bare_wish_after_a_reminder_is_not_of_that_one(world: World, again: str) -> None:
    await world.say("提醒我明天下午三点交表")
    await world.say(again)
    assert [row[0] for row in reminders(world)] == ["交表"]


async def test_several_memories_that_a_model_forgets_at_once_go_together(world: World) -> None:
    await world.say("记住Kelvin在中环做保险")
    await world.say("记住Kelvin天天约我吃饭")
    await world.say("记住我喜欢喝茶")
    world.model.script = lambda request: calls(("forget", '{"id":"#1"}'), ("forget", '{"id":"#2"}'))
    await world.say("忘記Kelvin嗰啲嘢啦")
    assert memories(world) == ["我喜欢喝茶"]
    assert "#1" in world.replies[-1]
    assert "#2" in world.replies[-1]
    await world.say("撤销")
    assert len(memories(world)) == 3


async def test_a_plan_that_is_put_off_stands_on_its_new_day(world: World) -> None:
    await world.say("remember the roofer comes on Friday June 19")
    uses(world, "remember", id=1, text="the roofer let me down for June 19 and says June 23 now")
    await world.say("the roofer let me down for june 19, says june 23 now")
    ((day,),) = world.rows("SELECT strftime('%m-%d', observed_at / 1000 + 28800, 'unixepoch') FROM memory WHERE id = 2")
    assert day == "06-23"


async def test_what_is_not_to_be_kept_stands_in_no_later_talk(world: World) -> None:
    await world.say("昨晚跟我老公大吵一架，杯子都砸了。这事别记")
    assert "杯子" in world.last_user
    await world.say("/new")
    await world.wait(3_600)
    await world.say("帮我想想明天早饭吃什么好呢，冰箱里只有鸡蛋")
    assert "杯子" not in "".join(message.content for message in world.prompts[-1])


@pytest.mark.parametrize(
    ("line", "wish", "means", "receipt"),
    [
        ("昨晚跟我老公大吵一架，杯子都砸了", "剛剛那句不要留", "昨晚跟我老公大吵一架，杯子都砸了", "昨晚跟我老公"),
        ("i broke a glass 杯子 at my sister's wedding", "leave that out of your notes", "i broke a glass", "“i broke"),
    ],
)
async def test_a_model_keeps_nothing_of_a_line_as_its_writer_asks(
    world: World, line: str, wish: str, means: str, receipt: str
) -> None:
    await hears(world, line)
    uses(world, "forget", text=means)
    await world.say(wish)
    assert receipt in world.replies[-1], world.replies
    await hears(world, "/new")
    await world.wait(3_600)
    await hears(world, "帮我想想明天早饭吃什么好呢，冰箱里只有鸡蛋")
    assert "杯子" not in "".join(message.content for message in world.prompts[-1])


async def test_what_is_not_to_be_kept_may_stand_in_the_wish_itself_and_is_undone(world: World) -> None:
    uses(world, "forget", text="我考试作弊过一次")
    await world.say("我考试作弊过一次，这种事可别往外记哈")
    assert "我考试作弊过一次" in world.replies[-1], world.replies
    await world.say("撤销")
    assert world.rows("SELECT text FROM event WHERE off_record = 1 AND kind = 'message'") == []


async def test_nothing_is_set_aside_that_nobody_asked_for(world: World) -> None:
    await hears(world, "昨晚跟我老公大吵一架，杯子都砸了")
    uses(world, "forget", text="昨晚跟我老公大吵一架")
    await world.say("今天天气不错，出去走走")
    assert world.rows("SELECT 1 FROM event WHERE off_record = 1") == []


async def test_a_name_that_somebody_else_used_is_refused_by_the_model(world: World) -> None:
    await world.say("小暖，你看老板又请客了", who="阿明", group="闲聊")
    uses(world, "remember", text="老板", kind="not")
    await world.say("小暖，可别这么叫我，难听死了", group="闲聊")
    assert world.peek.memories("text", "slot", disabled_at=None) == [("老板", "no_address")]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("so you know for next time: we don't celebrate birthdays", "we don't celebrate birthdays"),
        ("以後你要知道 我對貓過敏但我還是養了兩隻", "我對貓過敏但我還是養了兩隻"),
        ("帮我几一下，空调保修到后年六月", "空调保修到后年六月"),
    ],
)
async def test_what_stands_in_the_message_that_is_answered_is_kept_in_whatever_words_it_is_asked(
    world: World, line: str, fact: str
) -> None:
    uses(world, "remember", text=fact)
    await world.say(line)
    assert memories(world) == [fact]


@pytest.mark.parametrize(
    ("kept", "said", "changed"),
    [
        ("小王的upgrade viva在6月20日，到今天一个字没写", "viva推到6月27号了", "小王的upgrade viva推到6月27号了"),
        (
            "im veggie now",
            "also not veggie anymore.. ate a whole fish n chips. dont judge",
            "小王 is not veggie anymore.",
        ),
        (
            "我在做 keto 第三個月了，不要推薦珍奶",
            "佢叫我唔好再減肥 我應承佢唔keto了 正常食飯",
            "小王應承佢不再減肥、不做 keto 了",
        ),
        ("我的男友叫柏翰", "所以柏翰不是男友是未婚夫了 好怪 haha", "柏翰不是男友是小王的未婚夫了"),
    ],
)
async def test_a_change_may_name_whom_it_is_of_and_leave_out_what_was_denied(
    world: World, kept: str, said: str, changed: str
) -> None:
    await world.say(f"记住{kept}")
    uses(world, "remember", id=1, text=changed)
    await world.say(said)
    assert memories(world) == [changed]


@pytest.mark.parametrize(
    ("kept", "said", "changed", "strange"),
    [
        ("我养猫", "我不养鱼了", "我不养猫了", "猫"),
        ("我养猫", "我养的猫叫年糕", "我养的猫叫年糕，7岁", "7"),
        ("我养猫", "猫好可爱，我爱死它了", "我不养猫了", "不养猫了"),
    ],
)
async def test_a_refused_change_says_what_stands_nowhere(
    world: World, kept: str, said: str, changed: str, strange: str
) -> None:
    await world.say(f"记住{kept}")
    await world.wait(900)
    uses(world, "remember", id=1, text=changed)
    await world.say(said)
    assert memories(world) == [kept]
    assert strange in result(world).rpartition("：")[2]


async def test_a_promise_that_is_moved_is_due_on_its_new_day(world: World) -> None:
    uses(world, "remember", kind="promise", text="周五下午两点 pitch 饮料客户")
    await world.say("我答应周五下午两点 pitch 饮料客户")
    await world.wait(60)
    uses(world, "remember", id="✓1", text="下星期二（2026-06-16）下午两点 pitch 饮料客户，因为客户的老板出国")
    await world.say("客户说他们老板出国，改下星期二 一样两点")
    assert world.rows(
        "SELECT strftime('%m-%d %H:%M', due_at / 1000 + 28800, 'unixepoch') FROM commitment WHERE state = 'pending'"
    ) == [("06-16 14:00",)]
    assert "2026-06-16 14:00" in result(world)


async def test_a_name_within_another_one_is_refused_for_itself(world: World) -> None:
    first, second = (json.dumps(each) for each in ({"text": "Tom", "kind": "call"}, {"text": "tomato", "kind": "not"}))
    both = calls(("remember", first), ("remember", second))
    world.model.script = lambda request: "ok" if request.prompt.messages[-1].role == "tool" else both
    await world.say("stop calling me 番茄")
    await world.say("Nuan pls just Tom. not tomato")
    assert sorted(world.peek.memories("slot", "text", disabled_at=None, former_at=None)) == [
        ("address", "Tom"),
        ("no_address", "tomato"),
        ("no_address", "番茄"),
    ]


async def test_the_receipt_of_a_change_names_the_old_number_and_the_new(world: World) -> None:
    await world.say("记住我的猫叫年糕")
    uses(world, "remember", id=1, text="我的猫叫豆包")
    await world.say("不对，我的猫其实叫豆包")
    assert any("#1 → #2" in reply for reply in world.replies)


@pytest.mark.parametrize(
    ("number", "text", "left"),
    [
        (1, "wifi密码是8888", ["我的猫叫年糕"]),
        (1, "wifi那个", ["我的猫叫年糕"]),
        (1, "我的猫叫年糕", ["wifi密码是8888", "我的猫叫年糕"]),
    ],
)
async def test_a_number_and_the_words_of_the_same_memory_forget_it(
    world: World, number: int, text: str, left: list[str]
) -> None:
    await hears(world, "记住wifi密码是8888", "记住我的猫叫年糕")
    uses(world, "forget", id=number, text=text)
    await world.say("欸等等 存这个好像不太安全 wifi那个删掉好了")
    assert memories(world) == left


async def test_what_a_model_forgets_is_told_in_the_language_of_the_wish(world: World) -> None:
    await hears(world, "记住wifi密码是8888", "记住我的猫叫年糕")
    uses(world, "forget", id=1)
    await world.say("that wifi thing is not safe to keep, please delete the wifi one")
    assert memories(world) == ["我的猫叫年糕"], result(world)
    assert world.replies[-1].startswith("All right, forgotten #1"), world.replies[-1]


async def test_a_number_with_its_sign_names_the_memory_to_forget(world: World) -> None:
    await hears(world, "记住wifi密码是8888", "记住我的猫叫年糕")
    uses(world, "forget", text="#1")
    await world.say("欸等等 存这个好像不太安全 wifi那个删掉好了")
    assert memories(world) == ["我的猫叫年糕"]


async def test_what_is_not_to_be_kept_is_set_aside_though_a_memory_has_a_word_of_it(world: World) -> None:
    await hears(world, "remember my car is parked an hour from Leeds")
    await world.wait(900)
    uses(world, "forget", text="i cried in a car park for an hour")
    await world.say("this next bit dont keep ok? i cried in a car park for an hour")
    assert result(world).startswith("Nothing will be kept of it")
    assert memories(world) == ["my car is parked an hour from Leeds"]


async def test_a_wish_to_forget_that_names_nothing_known_is_left_to_the_model(world: World) -> None:
    await world.say("记住我打算放弃读博")
    uses(world, "forget", id=1)
    await world.say("之前说不想念书那个你忘了吧 气头上说的")
    assert "#1 我打算放弃读博" in result(world), "it asks which one is meant"


async def test_a_wish_to_forget_that_names_something_known_asks_no_model(world: World) -> None:
    await world.say("记住我对芒果过敏")
    asked = len(world.turns)
    await world.say("忘记我对芒果过敏")
    assert memories(world) == []
    assert len(world.turns) == asked


@pytest.mark.parametrize(
    ("fact", "wish"),
    [
        ("我上个月去见了阿杰", "，这个别记"),
        ("i cried in a car park today", ", please dont store that"),
        ("我住在徐汇", "这件事你就当没说过吧"),
    ],
)
async def test_what_is_not_to_be_kept_no_tool_keeps(world: World, fact: str, wish: str) -> None:
    uses(world, "remember", text=fact)
    await world.say(fact + wish)
    assert memories(world) == []


async def test_what_was_forgotten_is_kept_again_only_when_it_is_asked(world: World) -> None:
    await world.say("记住我住在上海徐汇")
    await world.say("忘记我住在上海徐汇")
    await world.wait(7_200)
    uses(world, "remember", text="我住在上海徐汇")
    await world.say("我住在上海徐汇，下班路上好堵啊")
    assert memories(world) == []


async def test_what_a_model_set_aside_in_a_group_its_teller_takes_back(world: World) -> None:
    records = "SELECT DISTINCT off_record > 0 FROM event WHERE text LIKE '%阿杰%'"
    await world.say("小暖 我上个月去见了阿杰", who="Tom", group="3B")
    uses(world, "forget", text="去见了阿杰")
    await world.say("小暖 刚说的听听就算了哈", who="Tom", group="3B")
    assert world.rows(records) == [(1,)]
    await world.say("小暖 撤销", who="Amy", group="3B")
    assert world.rows(records) == [(1,)]
    await world.say("小暖 撤销", who="Tom", group="3B")
    assert world.rows(records) == [(0,)]
