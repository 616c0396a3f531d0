"""The tool remind: the model points at the person's words, the installation reads the time."""

import json

import pytest

from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.world import World

HOUR = 3_600


def uses(world: World, name: str, **arguments: object) -> None:
    """The model calls this tool once, then answers."""
    call = (name, json.dumps(arguments, ensure_ascii=False))
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(call)


def result(world: World) -> str:
    return next(message.content for message in reversed(world.turns[-1]) if message.role == "tool")


async def test_the_model_sets_one_by_the_words_and_the_installation_works_out_when(world: World) -> None:
    uses(world, "remind", text="接小宝", when="下午三点")
    await world.say("下午三点小宝放学，你可别忘了告诉我")
    assert result(world) == "好，周五（6月12日）下午3:00提醒你：接小宝 ⏰1"
    assert world.replies == ["好的"]
    await world.wait(6 * HOUR)
    assert world.replies == ["好的", "提醒你：接小宝"]


@pytest.mark.parametrize(
    ("said", "when", "told"),
    [
        (
            "小宝放学，你可别忘了告诉我",
            "下午三点",
            "没有设：when 照抄对方最近几句里的时间，或写那几句说的日子和钟点；没说钟点就只写日子。",
        ),
        ("等会儿小宝放学，你可别忘了告诉我", "等会儿", "还没设，要先问对方：什么时候提醒你？"),
        (
            "小宝长得可真快，裤子又短了一截",
            "下午三点",
            "没有设：对方最近几句没有要你提醒。要紧就先问一句，对方答应了再设。",
        ),
    ],
)
async def test_what_they_did_not_say_or_is_not_clear_sets_nothing(
    world: World, said: str, when: str, told: str
) -> None:
    uses(world, "remind", text="接小宝", when=when)
    await world.say(said)
    assert result(world) == told
    assert world.peek.reminders.count() == 0


@pytest.mark.parametrize(
    ("said", "when", "title"),
    [
        ("pls dont let me miss Dr Wang, tomorrow at 3pm", "tomorrow at 3pm", "王医生复诊"),
        ("pls dont let me miss my flight to Tokyo, tomorrow at 3pm", "tomorrow at 3pm", "去东京的航班"),
        ("妈妈那边明天下午三点你可别忘了叫我一声", "明天下午三点", "Call Mom"),
        ("团队的会明天下午三点你可别忘了叫我一声", "明天下午三点", "Team Meeting"),
    ],
)
async def test_a_title_may_be_a_translation_of_what_they_said(world: World, said: str, when: str, title: str) -> None:
    await world.say("早上好呀")
    uses(world, "remind", text=title, when=when)
    await world.say(said)
    assert [row[0] for row in world.rows("SELECT text FROM reminder")] == [title]


@pytest.mark.parametrize(
    ("said", "when", "title"),
    [
        ("pls dont let me miss the dentist, tomorrow at 3pm", "tomorrow at 3pm", "给Sam打电话"),
        ("pls dont let me miss the dentist, tomorrow at 3pm", "tomorrow at 3pm", "看牙，500块"),
        ("早饭的事明天下午三点，到点敲我", "明天下午三点", "Don't eat breakfast"),
        ("和Dana的会明天下午三点你可别忘了叫我一声", "明天下午三点", "Meet Rory"),
    ],
)
async def test_numbers_names_and_denials_of_a_title_stand_in_what_they_said(
    world: World, said: str, when: str, title: str
) -> None:
    uses(world, "remind", text=title, when=when)
    await world.say(said)
    assert world.peek.reminders.count() == 0


@pytest.mark.parametrize(
    ("usual", "said", "when", "told"),
    [
        (
            "早上好呀",
            "pls dont let me miss the dentist, tomorrow at 3pm",
            "tomorrow at 3pm",
            "OK, I'll call you Saturday",
        ),
        ("早上好呀", "牙醫那邊明天下午三點你可別忘了叫我一聲", "明天下午三點", "好，週六"),
        ("What a lovely morning it is today", "牙医那边明天下午三点你可别忘了叫我一声", "明天下午三点", "好，周六"),
    ],
)
async def test_what_is_said_of_a_reminder_is_in_the_language_of_the_line_that_asks_for_it(
    world: World, usual: str, said: str, when: str, told: str
) -> None:
    await world.say(usual)
    uses(world, "remind", text="", when=when)
    await world.say(said)
    assert result(world).startswith(told)


LONG = "remind me tomorrow at 9am to call the landlord about the lease, the 7pm dinner with Ann at 5pm, and stuff"


async def test_what_the_installation_cannot_read_is_left_to_a_model_that_judges_and_set_once(world: World) -> None:
    world.model.digests = True
    wishes = [("call the landlord", "tomorrow at 9am"), ("dinner with Ann", "2026-06-13T17:00")]
    asked = calls(*(("remind", json.dumps({"text": text, "when": when})) for text, when in wishes))
    world.model.script = lambda request: "both set" if request.prompt.messages[-1].role == "tool" else asked
    await world.say(LONG)
    await world.say("thx again, you are the best of all, really")
    assert world.replies == ["both set"] * 2
    assert [row[0] for row in world.rows("SELECT text FROM reminder ORDER BY due_at")] == [text for text, _ in wishes]


@pytest.mark.parametrize(
    ("line", "when", "title"),
    [
        (
            "We leave on Wednesday the 17th. The pies have to thaw the night before, so remind me Tuesday at 9pm to do so.",
            "2026-06-16T21:00",
            "take the pies out",
        ),
        ("every tues 6am gym. yes AM. remind me or ill chicken out", "2026-06-16T06:00", "gym"),
    ],
)
async def test_of_what_says_more_than_a_request_a_model_judges_the_task_and_the_day(
    world: World, line: str, when: str, title: str
) -> None:
    world.model.digests = True
    uses(world, "remind", text=title, when=when)
    await world.say(line)
    rows = world.rows("SELECT text, datetime(due_at / 1000 + 28800, 'unixepoch') FROM reminder")
    assert [(row[0], str(row[1])[:16]) for row in rows] == [(title, when.replace("T", " "))]


@pytest.mark.parametrize(
    ("said", "when", "due"),
    [
        ("下周三那个体检你可别忘了叫上我啊，下午三点", "2026-06-17T15:00", "2026-06-17 15:00"),
        ("下周三下午那个体检你可别忘了告诉我啊", "2026-06-17T14:00", "2026-06-17 14:00"),
        ("下周三那个体检你可别忘了告诉我啊", "2026-06-17T14:00", "2026-06-17 09:00"),
        ("下周三那个体检你可别忘了告诉我啊", "2026-06-18T14:00", ""),
        ("下周三下午三点那个体检你可别忘了告诉我啊", "2026-06-17T16:00", ""),
        ("下個月 14 號去高雄，然後 13 號晚上你可別忘了叫我燙襯衫", "2026-07-13T20:00", "2026-07-13 20:00"),
        ("下個月 14 號去高雄，然後 13 號晚上你可別忘了叫我燙襯衫", "2026-07-18T20:00", ""),
        ("下周三那个体检 17 号下午 3 点你可别忘了告诉我", "17 号下午 3 点", "2026-06-17 15:00"),
        ("两件事 ①明天早上9点15抽血 ②下周三下午三点体检 都帮我提醒下", "2026-06-17T15:00", "2026-06-17 15:00"),
        ("下周三体检，五点九(即係5:45)嗌我起身", "2026-06-17T05:45", "2026-06-17 05:45"),
        ("pls dont let me miss the checkup, last day of june", "2026-06-30", "2026-06-30 09:00"),
        ("下周三下午三点体检，踹我一脚", "2026-06-17T15:00", "2026-06-17 15:00"),
    ],
)
async def test_a_date_of_the_models_own_counts_where_the_persons_words_name_it(
    world: World, said: str, when: str, due: str
) -> None:
    uses(world, "remind", text="体检", when=when)
    await world.say(said)
    rows = world.rows("SELECT datetime(due_at / 1000 + 28800, 'unixepoch') FROM reminder")
    assert [str(row[0])[:16] for row in rows] == ([due] if due else [])


async def test_another_persons_words_set_nothing(world: World) -> None:
    await world.say("小暖，三点的会别让她忘了", who="小美", group="闲聊")
    uses(world, "remind", text="开会", when="三点的会")
    await world.say("小暖，刚才小美说什么", who="小李", group="闲聊")
    assert world.peek.reminders.count() == 0


@pytest.mark.parametrize(
    "line", ["下午三点你吼我一嗓子，小宝放学", "下午三点把我弄醒", "give me a shove at 3pm, the scan's then"]
)
async def test_to_be_called_in_any_words_is_to_be_reminded(world: World, line: str) -> None:
    uses(world, "remind", text="scan" if line.isascii() else "小宝放学", when="3pm" if line.isascii() else "下午三点")
    await world.say(line)
    assert world.peek.reminders.count(ended_at=None) == 1, result(world)


async def test_the_model_cancels_one_that_they_name(world: World) -> None:
    await world.say("下午三点提醒我开会")
    uses(world, "remind", text="开会", cancel=True)
    await world.say("那个开会的事不用你喊我啦，改期了")
    assert result(world) == "已取消提醒 ⏰1，回复前已告诉对方。"
    assert world.replies[-1] == "取消了：⏰1 开会。取消错了就说“撤销”\n好的"
    await world.wait(24 * HOUR)
    assert not any(text == "提醒你：开会" for text in world.replies)


async def test_the_model_cancels_one_that_is_over_in_other_words(world: World) -> None:
    await world.say("remind me tomorrow at one to ring the council about the bins")
    uses(world, "remind", id="⏰1", cancel=True)
    await world.say("what was the thing about the bins again?")
    assert world.peek.reminders.count(ended_at=None) == 1, "they only asked"
    await world.say("did the council thing online just now, scrap that shout")
    assert world.peek.reminders.count(ended_at=None) == 0


async def test_another_persons_reminder_cannot_be_cancelled(world: World) -> None:
    await world.say("小暖，下午三点提醒我开会", who="小美", group="闲聊")
    uses(world, "remind", id=1, cancel=True)
    await world.say("小暖，取消她那个吧", who="小李", group="闲聊")
    assert result(world).startswith("没有取消")
    await world.say(".ai remind cancel 1", who="小李", group="闲聊")
    await world.wait(6 * HOUR)
    assert world.replies[-1] == "小美，提醒你：开会"


async def test_a_crash_between_the_tool_and_the_answer_sets_it_once(world: World) -> None:
    uses(world, "remind", text="接小宝", when="下午三点")
    await world.say("下午三点小宝放学，你可别忘了告诉我")
    await world.crash()
    await world.wait(6 * HOUR)
    assert world.replies.count("提醒你：接小宝") == 1


async def test_what_the_installation_asked_back_is_answered_in_other_words(world: World) -> None:
    await world.say("remind me monday at 7 to return the modem")
    await world.say("7pm i mean, thx")
    assert world.peek.reminders("text") == [("return the modem",)]


async def test_the_night_before_is_the_one_that_the_model_names_with_their_hour(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="爬山", when="2026-06-13 21:00")
    await world.say("小暖 remind us the night before the hike, like 9pm", who="Kevin", group="爬山")
    assert world.peek.reminders("text", "shared") == [("爬山", 1)]
    uses(world, "remind", text="爬山", when="2026-06-13 20:00")
    await world.say("小暖 remind us the evening before the hike, like 9pm", who="Kevin", group="爬山")
    assert world.peek.reminders.count() == 1


async def test_who_is_to_get_up_is_reminded_in_the_morning(world: World) -> None:
    await world.say("remind me at 6:45 tomorrow to get up")
    assert "6:45 AM: get up" in world.replies[-1]


async def test_the_part_of_the_day_of_another_sentence_is_not_that_of_the_hour(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="wake up", when="2026-06-13T05:30")
    await world.say("early shift tomorrow and there's a party tonight, of all nights. wake me at 5.30")
    assert "5:30" in result(world)
    assert world.peek.reminders.count(ended_at=None) == 1


@pytest.mark.parametrize(
    ("line", "asked", "rows"),
    [
        ("开会那个挪到下午3点吧", {"id": "⏰1", "when": "下午3点"}, ("开会", "2026-06-13 15:00")),
        ("开会那个挪到后天下午3点吧", {"id": 1, "when": "2026-06-14T15:00"}, ("开会", "2026-06-14 15:00")),
        ("开会那个改成跟老板开会", {"id": "1", "text": "跟老板开会"}, ("跟老板开会", "2026-06-13 10:00")),
        ("开会那个挪到下午3点吧", {"id": "1", "when": "2026-06-13T16:00"}, ("开会", "2026-06-13 10:00")),
        ("今天天气不错", {"id": "1", "text": "跟老板开会"}, ("开会", "2026-06-13 10:00")),
        ("开会那个改到下午3点吧", {"id": "7", "when": "下午3点"}, ("开会", "2026-06-13 10:00")),
    ],
)
async def test_one_that_is_set_is_changed_by_its_number_as_their_words_say(
    world: World, line: str, asked: dict[str, object], rows: tuple[str, str]
) -> None:
    world.model.digests = True
    await world.say("明天10点提醒我开会")
    await world.say("早上好呀")
    uses(world, "remind", **asked)
    await world.say(line)
    sql = "SELECT text, substr(datetime(due_at / 1000 + 28800, 'unixepoch'), 1, 16) FROM reminder"
    assert world.rows(sql) == [rows]


async def test_an_hour_of_the_night_before_is_not_that_of_today(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="hike", when="like 9pm")
    await world.say("remind us the night before the hike, like 9pm")
    assert world.peek.reminders.count() == 0


@pytest.mark.parametrize(
    ("line", "cued"),
    [
        ("医生让我每天早上8点都要滴眼药水，你到点提醒我", True),
        ("need 2 reminders: in 15 min check the pasta, in an hour call Dana", True),
        ("今天天气真好，明天下午三点去公园", False),
    ],
)
async def test_what_may_be_a_request_is_left_to_the_model_with_one_line(world: World, line: str, cued: bool) -> None:
    world.model.digests = True
    await world.say(line)
    assert world.replies == ["好的"]
    assert ("remind" in world.last_user.rpartition("</ctx>")[2]) is cued


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("我想背单词，15分钟后麻烦你 remind我一下这件要紧的事情哦", "15分钟后"),
        ("two reminders please, one of them for the oven: in 20 minutes i need to look at it", "in 20 minutes"),
    ],
)
async def test_a_wish_to_be_reminded_is_one_beside_chinese_and_in_the_plural(
    world: World, said: str, when: str
) -> None:
    asked = ("remind", json.dumps({"text": "oven" if said.isascii() else "背单词", "when": when}))
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(asked)
    await world.say(said)
    assert world.peek.reminders.count(ended_at=None) == 1


async def test_what_is_for_everyone_anybody_of_the_group_may_move_or_end(world: World) -> None:
    await world.say("小暖，明天下午三点提醒我们买豆腐", who="Tom", group="3B")
    uses(world, "remind", id="⏰1", text="买豆腐", when="20号三点")
    await world.say("小暖 那个买豆腐的提醒也挪到20号三点哈", who="思琪", group="3B")
    assert world.rows("SELECT strftime('%m-%d %H', due_at / 1000 + 28800, 'unixepoch') FROM reminder") == [
        ("06-20 15",)
    ]
    assert any("20" in reply and "⏰1" in reply for reply in world.replies[1:])
    uses(world, "remind", id="⏰1", cancel=True)
    await world.say("小暖 豆腐的提醒取消吧，超市关门", who="大鹏", group="3B")
    assert world.rows("SELECT outcome FROM reminder") == [("cancelled",)]


async def test_what_is_for_one_of_the_group_nobody_else_moves(world: World) -> None:
    await world.say("小暖，明天下午三点提醒我买豆腐", who="Tom", group="3B")
    uses(world, "remind", id="⏰1", text="买豆腐", when="20号三点")
    await world.say("小暖 那个买豆腐的提醒也挪到20号三点哈", who="思琪", group="3B")
    assert world.rows("SELECT strftime('%m-%d %H', due_at / 1000 + 28800, 'unixepoch') FROM reminder") == [
        ("06-13 15",)
    ]


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("爸走了", True),
        ("今天好累", False),
        ("爸走了吗", False),
        ("等爸走了再说", False),
        ("爸接电话了", False),
        ("我刚打给爸了", True),
        ("爸做饭真好吃", False),
    ],
)
async def test_a_reminder_ends_where_its_person_tells_that_its_thing_is_over(
    world: World, said: str, ended: bool
) -> None:
    await world.say("以后每晚九点提醒我打给爸")
    await world.wait(13 * HOUR)
    uses(world, "remind", id="⏰1", cancel=True)
    await world.say(said)
    assert bool(world.rows("SELECT 1 FROM reminder WHERE outcome = 'cancelled'")) is ended
    assert any("取消了：⏰1 打给爸" in reply for reply in world.replies) is ended


@pytest.mark.parametrize("said", ["嘉欣要结婚了！！11/20 叫我做伴娘", "周六叫我去她家吃饭"])
async def test_what_others_may_have_asked_of_one_sets_nothing_by_itself(world: World, said: str) -> None:
    await world.say(said)
    assert world.peek.reminders("text") == []
    assert world.replies[-1].endswith("吗？")
    world.model.digests = True
    await world.say(said)
    assert world.peek.reminders("text") == []
    assert "remind" in world.last_user.splitlines()[-1]


async def test_only_the_words_of_a_reminder_may_change_with_its_time_said_again(world: World) -> None:
    await world.say("小暖，明天晚上九点提醒我们去3号门集合爬山", who="Kevin", group="爬山")
    [before] = world.peek.reminders("due_at")
    uses(world, "remind", id="⏰1", text="去3号门旁的B口集合爬山", when="2026-06-13T21:00")
    await world.say("小暖 3号门封了，改旁边B口", who="老周", group="爬山")
    assert world.peek.reminders("text", "due_at") == [("去3号门旁的B口集合爬山", before[0])]


async def test_which_days_are_meant_the_model_says_where_their_hour_stands(world: World) -> None:
    when = ("2026-06-13T16:00", "2026-06-14T16:00")
    asked = [("remind", json.dumps({"text": "浇花", "when": each})) for each in when]
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(*asked)
    await world.say("明后两天下午四点都叫我浇花")
    assert world.rows("SELECT strftime('%m-%d %H', due_at / 1000 + 28800, 'unixepoch') FROM reminder") == [
        ("06-13 16",),
        ("06-14 16",),
    ]


@pytest.mark.parametrize(
    ("line", "asked", "told"),
    [
        (
            "每周六上午九点半提醒我送孩子去围棋课，8月29号是最后一节",
            {"when": "2026-06-13T09:30", "every": "week", "until": "2026-08-29"},
            ("06-13 09:30", "8月29日"),
        ),
        (
            "weekdays at 7:05am tell me to leave for the bus, stop after december 18",
            {"when": "2026-06-15T07:05", "every": "weekdays", "until": "2026-12-18"},
            ("06-15 07:05", "Dec 18"),
        ),
        (
            "the house rule is bins go out wednesday night, be the nag will you",
            {"when": "wednesday night", "every": "week"},
            ("06-17 20:00", "every Wednesday"),
        ),
        (
            "the house rule is bins go out wednesday night, be the nag will you",
            {"when": "2026-06-17", "every": "week"},
            ("06-17 20:00", "every Wednesday"),
        ),
        ("6月16号物业来查燃气，前一天跟我说一声", {"when": "2026-06-15"}, ("06-15 09:00", "6月15日")),
        ("名天下午4点题醒我交电废", {"when": "2026-06-13T16:00"}, ("06-13 16:00", "6月13日")),
    ],
)
async def test_the_model_names_what_the_grammar_does_not_read(
    world: World, line: str, asked: dict[str, str], told: tuple[str, str]
) -> None:
    world.model.digests = True
    uses(world, "remind", text="事", **asked)
    await world.say(line)
    rows = world.rows(
        "SELECT strftime('%m-%d %H:%M', due_at / 1000 + 28800, 'unixepoch') FROM reminder WHERE ended_at IS NULL"
    )
    assert [row[0] for row in rows] == [told[0]]
    assert told[1] in result(world) or any(told[1] in reply for reply in world.replies)


async def test_several_errands_of_one_message_are_each_set_at_their_hour(world: World) -> None:
    world.model.digests = True
    errands = (("取快递", "10:30"), ("修水管", "14:00"), ("收被子", "20:00"))
    asked = [("remind", json.dumps({"text": text, "when": f"2026-06-13T{hour}"})) for text, hour in errands]
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(*asked)
    await world.say("明天你帮我盯着：十点半取快递，下午两点打电话报修水管，晚上八点收阳台的被子")
    rows = world.rows(
        "SELECT text, strftime('%H:%M', due_at / 1000 + 28800, 'unixepoch') FROM reminder ORDER BY due_at"
    )
    assert rows == [("取快递", "10:30"), ("修水管", "14:00"), ("收被子", "20:00")]


async def test_what_was_just_set_gets_its_last_day_by_its_number(world: World) -> None:
    uses(world, "remind", id="⏰1", every="weekdays", until="2026-06-26")
    await world.say("remind me on weekdays at 8:40 am to feed the cat? The last time is Friday June 26, how are you?")
    assert "Jun 26" in result(world) or "6月26日" in result(world)
    assert world.peek.reminders.count(ended_at=None) == 1


async def test_what_comes_back_begins_on_its_day_and_a_last_day_that_is_none_sets_nothing(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="体检", when="2027-06-13T10:00", every="year")
    await world.say("帮我弄个那个提醒吧，10点，明天起或者6月13号之后都成")
    assert "2027" in result(world)
    uses(world, "remind", text="浇花", when="2026-06-13T10:00", every="day", until="月底")
    await world.say("再帮我弄个那个提醒吧，10点，明天起或者6月13号之后都成")
    assert result(world).startswith("没有设")
    assert world.peek.reminders.count() == 1


async def test_a_last_day_alone_leaves_what_comes_back_as_it_is(world: World) -> None:
    await world.say("每周一上午9点提醒我交周报")
    before = world.rows("SELECT due_at FROM reminder")
    await world.wait(60)
    uses(world, "remind", id="⏰1", until="2026-07-31")
    await world.say("周报那个提醒到七月底就行了，之后我就不在这组啦，你说会不会有点舍不得")
    assert "每周一" in result(world)
    assert "7月31日" in result(world)
    assert world.rows("SELECT due_at FROM reminder WHERE ended_at IS NULL") == before


async def test_a_repetition_without_its_first_time_sets_nothing(world: World) -> None:
    world.model.digests = True
    uses(world, "remind", text="浇花", when="10点", every="week")
    await world.say("帮我弄个那个提醒吧，10点，明天起或者6月13号之后都成")
    assert result(world).startswith("没有设")


async def test_a_model_sets_no_more_than_a_person_may_have(new_world: NewWorld) -> None:
    world = await new_world(remind={"most_open": 1})
    await world.say("明天下午三点提醒我吃药")
    uses(world, "remind", text="接小宝", when="下午三点")
    await world.say("下午三点小宝放学，你可别忘了告诉我")
    assert world.peek.reminders.count(ended_at=None) == 1
