"""Reminders through ingest: set and confirmed at once, said once and on time, where they were asked for."""

from dataclasses import replace

import pytest

from bot.core.events import Sender
from bot.speaking.reminders import told_to
from tests.conftest import NewWorld
from tests.peek import In
from tests.tables import all_cases
from tests.world import World

HOUR = 3_600
DAY = 24 * HOUR
ASSUMED = "（没说几点，先按这个时间，要改就说“下午三点”）"


async def test_a_plain_request_is_confirmed_with_its_whole_date_and_said_on_time_without_a_model(world: World) -> None:
    await world.say("明天早上8点提醒我开会")
    assert world.replies == ["好，周六（6月13日）早上8:00提醒你：开会 ⏰1"]
    await world.wait(23 * HOUR - 1)
    assert len(world.replies) == 1
    await world.wait(1)
    assert world.replies[1:] == ["提醒你：开会"]
    await world.wait(3 * DAY)
    assert len(world.replies) == 2
    assert world.model.requests == []
    assert [line["reminder"] for line in world.log.named("reminder_said")] == [1]


@pytest.mark.parametrize(
    ("said", "set_", "heard"),
    [
        (
            "remind me in two hours to call Mom",
            "OK, I'll remind you Friday, Jun 12, at 11:00 AM: call Mom ⏰1",
            "Reminder: call Mom",
        ),
        ("兩個小時後提醒我開會", "好，週五（6月12日）上午11:00提醒你：開會 ⏰1", "提醒你：開會"),
        ("两小时后叫我", "好，周五（6月12日）上午11:00叫你 ⏰1", "时间到啦，你让我叫你的"),
    ],
)
async def test_it_speaks_the_script_it_was_asked_in(world: World, said: str, set_: str, heard: str) -> None:
    await world.say(said)
    await world.wait(2 * HOUR)
    assert world.replies == [set_, heard]


async def test_what_comes_back_is_said_every_time(world: World) -> None:
    await world.say("每天晚上10点提醒我睡觉")
    assert world.replies == ["好，每天晚上10:00提醒你：睡觉 ⏰1（第一次是周五（6月12日）晚上10:00）"]
    await world.wait(3 * DAY)
    assert world.replies[1:] == ["提醒你：睡觉"] * 3


async def test_a_request_without_a_time_is_asked_back_and_the_next_message_answers_it(world: World) -> None:
    await world.say("提醒我开会")
    await world.say("明天8点")
    await world.say("早上")
    assert world.replies == [
        "什么时候提醒你？",
        "明天8点，早上还是晚上？",
        "好，周六（6月13日）早上8:00提醒你：开会 ⏰1",
    ]
    assert world.model.requests == []


async def test_talk_of_something_else_lets_the_question_fall(world: World) -> None:
    await world.say("提醒我开会")
    await world.say("今天天气真好")
    await world.say("下午三点")
    assert world.replies == ["什么时候提醒你？", "好的", "好的"]
    assert world.peek.reminders.count() == 0
    assert world.peek.reminder_questions.count() == 0


async def test_an_old_question_is_not_answered_any_more(world: World) -> None:
    await world.say("提醒我开会")
    await world.wait(601)
    await world.say("下午三点")
    assert world.peek.reminders.count() == 0


async def test_what_is_not_wanted_after_all_is_dropped(world: World) -> None:
    await world.say("提醒我喝水")
    await world.say("算了")
    assert world.replies == ["什么时候提醒你？", "好，不提醒了"]


async def test_whoever_leaves_the_time_to_nuan_is_not_woken_at_night(new_world: NewWorld) -> None:
    world = await new_world(remind={"hour": 7, "quiet_until": 8})
    await world.say("提醒我浇花")
    await world.say("都行")
    assert world.replies[-1] == "好，周六（6月13日）早上8:00提醒你：浇花 ⏰1"


async def test_quiet_hours_move_what_has_no_time_of_day_and_nothing_else(world: World) -> None:
    await world.wait(14 * HOUR)  # 23:00
    await world.say("三天后提醒我还书")
    await world.say("1小时后提醒我关灯")
    assert world.replies == [
        f"好，周一（6月15日）上午9:00提醒你：还书 ⏰1{ASSUMED}",
        "好，周六（6月13日）凌晨12:00提醒你：关灯 ⏰2",
    ]


async def test_after_an_absence_it_is_said_late_and_says_so(world: World) -> None:
    await world.say("下午三点提醒我开会")
    await world.close()
    world.away(8 * HOUR)
    await world.open()
    assert world.replies[1:] == ["提醒你：开会（迟到了 2 小时）"]


async def test_a_crash_after_it_was_due_says_it_once(world: World) -> None:
    await world.say("半小时后提醒我关火")
    world.talk.broken = True
    await world.wait(1_800)
    assert world.peek.outbox.count(kind="notice") == 1
    world.talk.broken = False
    await world.crash()
    await world.wait(120)
    assert world.replies[1:] == ["提醒你：关火"]
    await world.crash()
    await world.wait(DAY)
    assert world.replies[1:] == ["提醒你：关火"]


async def test_in_a_group_its_person_is_addressed_by_name(world: World) -> None:
    await world.say("小暖，两小时后提醒我交作业 @everyone", who="小美", group="闲聊")
    await world.wait(2 * HOUR)
    assert [(each.external_chat_id, each.text) for each in world.talk.said[1:]] == [
        ("group:闲聊", "小美，提醒你：交作业 ＠everyone")
    ]


async def test_one_asked_for_in_private_is_said_in_private(world: World) -> None:
    await world.say("小暖在吗", group="闲聊")
    await world.say("两小时后提醒我吃药")
    await world.say(".ai remind list", group="闲聊")
    await world.wait(2 * HOUR)
    assert world.talk.said[-2].text == "没有等着的提醒"
    assert (world.talk.said[-1].external_chat_id, world.talk.said[-1].text) == ("local", "提醒你：吃药")


async def test_commands_set_list_and_cancel(world: World) -> None:
    await world.say(".ai remind 明天8点 开会")
    await world.say(".ai remind every Monday 9am report")
    await world.say(".ai remind list")
    assert world.replies[0] == "好，周六（6月13日）早上8:00提醒你：开会 ⏰1"
    assert world.replies[2] == "⏰1 周六（6月13日）早上8:00 · 开会\n⏰2 每周一上午9:00 · report"
    await world.say(".ai remind cancel 1")
    await world.say(".ai remind cancel all")
    await world.say(".ai remind")
    assert world.replies[3:] == ["取消了：⏰1 开会", "取消了：⏰2 report", "没有等着的提醒"]
    await world.wait(4 * DAY)
    assert len(world.replies) == 6


async def test_a_command_without_a_time_is_asked_back_and_answered(world: World) -> None:
    await world.say(".ai remind 开会")
    await world.say("明天下午三点")
    assert world.replies == ["什么时候提醒你？", "好，周六（6月13日）下午3:00提醒你：开会 ⏰1"]


@pytest.mark.parametrize(
    "said", ["取消提醒", "别提醒我开会了", "取消开会的提醒", "取消提醒 #1", "cancel that reminder"]
)
async def test_words_cancel_it(world: World, said: str) -> None:
    await world.say("下午三点提醒我开会")
    await world.say(said)
    assert world.replies[1] in ("取消了：⏰1 开会", "Cancelled: ⏰1 开会")
    await world.wait(DAY)
    assert len(world.replies) == 2
    assert world.peek.reminders("text", "outcome") == [("开会", "cancelled")]


async def test_which_one_is_asked_where_several_fit(world: World) -> None:
    await world.say("下午三点提醒我开会")
    await world.say("下午五点提醒我开会")
    await world.say("取消开会的提醒")
    assert world.replies[2] == "是哪一条？⏰1 开会、⏰2 开会\n说“取消提醒 编号”就行"
    await world.say("取消提醒 ⏰2")
    assert world.replies[3] == "取消了：⏰2 开会"


@pytest.mark.parametrize(
    "said",
    ["你会提醒我吗", "不用提醒我", "提醒他明天早上8点开会", "“明天早上8点提醒我开会”", "妈妈提醒我明天早上8点交钱"],
)
async def test_other_talk_sets_nothing(world: World, said: str) -> None:
    await world.say(said)
    assert world.replies == ["好的"]
    assert world.peek.reminders.count() == 0


async def test_what_is_forwarded_sets_nothing(world: World) -> None:
    await world.say("明天早上8点提醒我开会", forwarded=True)
    assert world.peek.reminders.count() == 0


async def test_a_deleted_request_is_not_said_and_nothing_of_it_is_kept(world: World) -> None:
    await world.say("下午三点提醒我接小宝", external_id="m1")
    gone = replace(world.message(""), kind="event", label="delete", target="m1")
    await world.app.ingest.accept(gone)
    await world.settled()
    await world.wait(DAY)
    assert len(world.replies) == 1
    for table in ("event", "reminder", "outbox"):
        assert world.rows(f"SELECT * FROM {table} WHERE text LIKE '%小宝%'") == []


async def test_an_edited_request_is_set_anew_and_told(world: World) -> None:
    await world.say("下午三点提醒我开会", external_id="m1")
    edit = replace(world.message("下午五点提醒我开会"), kind="event", label="edit", target="m1")
    await world.app.ingest.accept(edit)
    await world.settled()
    assert world.replies[1:] == ["好，周五（6月12日）下午5:00提醒你：开会 ⏰2"]
    await world.wait(DAY)
    assert world.replies[2:] == ["提醒你：开会"]


async def test_forgetting_takes_the_reminder_along(world: World) -> None:
    await world.say("记住下周三我要去医院复查")
    await world.say(".ai remind 15:00 我要去医院复查")
    await world.say("忘记我要去医院复查")
    await world.wait(DAY)
    assert world.replies[2:] == ["好，忘掉了 #1“下周三我要去医院复查”。7 天内说“撤销 #1”还能找回来"]
    assert world.peek.reminders("text", "outcome") == [("", "forgotten")]


async def test_where_nuan_is_switched_off_nothing_is_said(world: World) -> None:
    await world.say("下午三点提醒我开会")
    await world.say(".ai off")
    await world.wait(DAY)
    assert len(world.replies) == 2
    assert world.peek.reminders("outcome") == [("unsaid",)]


async def test_a_denied_person_hears_nothing_any_more(new_world: NewWorld) -> None:
    world = await new_world(telegram={"allow": ["7"]})
    await world.close()
    world.platforms = ("telegram",)
    await world.open()
    line = world.message("下午三点提醒我开会", who="小美", platform="telegram")
    await world.app.ingest.accept(replace(line, sender=Sender("telegram", "7", "小美")))
    await world.settled()
    assert len(world.replies) == 1
    await world.say(".ai deny telegram:7")
    await world.wait(DAY)
    assert not any(text == "提醒你：开会" for text in world.replies)
    assert world.peek.reminders("outcome") == [("unsaid",)]


async def test_one_person_may_have_so_many(new_world: NewWorld) -> None:
    world = await new_world(remind={"most_open": 2})
    for number in range(3):
        await world.say(f"下午三点提醒我做第{number}件事")
    assert world.replies[2] == "等着的提醒已经有 2 条了，先取消几条吧"
    assert world.peek.reminders.count() == 2


async def test_what_a_message_says_besides_is_answered_with_the_confirmation(world: World) -> None:
    await world.say("记住我对花生过敏，明天早上8点提醒我买药。今天天气怎么样？")
    assert sorted("\n".join(world.replies).split("\n")) == sorted(
        ["记住啦 #1：我对花生过敏", "好，周六（6月13日）早上8:00提醒你：买药 ⏰1", "好的"]
    )
    said = len(world.replies)
    await world.wait(DAY)
    assert world.replies[said:] == ["提醒你：买药"]


async def test_rows_of_the_past_do_not_stay(world: World) -> None:
    await world.say("半小时后提醒我关火")
    await world.wait(32 * DAY)
    assert world.peek.reminders.count() == 0
    assert world.peek.edges.count(kind=In("reminder", "reminded")) == 0


@pytest.mark.parametrize(
    ("kept", "ended", "wish"),
    [
        ("给妈妈打电话", "交水电费", "水电费不用提醒了，我已经交了"),
        ("带护照", "买菜", "买菜那个别提醒了"),
        ("接小孩", "領藥", "領藥不用提醒我了，我媽幫我領了"),
        ("倒垃圾", "澆花", "澆花的提醒可以取消了"),
        ("倒垃圾", "寄包裹", "寄包裹不用了，同事順路幫我寄"),
        ("倒垃圾", "开会", "开会取消了，不用叫我了"),
    ],
)
async def test_a_natural_word_ends_the_reminder_that_it_names(world: World, kept: str, ended: str, wish: str) -> None:
    """The other one, set later, is said."""
    await world.say(f"明天早上九点提醒我{ended}")
    await world.say(f"明天晚上六点提醒我{kept}")
    await world.say(wish)
    told = len(world.replies)
    await world.wait(2 * 86_400)
    assert [text for text in world.replies[told:] if ended in text] == []
    assert [text for text in world.replies[told:] if kept in text]


@pytest.mark.parametrize(
    ("kept", "ended", "wish"),
    [
        ("feed the cat", "call the bank", "no need to remind me about the bank, i already called"),
        ("feed the cat", "pick up the cake", "you don't have to remind me about the cake anymore"),
        ("email bob", "water the plants", "never mind the plants reminder, my roommate did it"),
        ("email bob", "renew the parking permit", "don't remind me about the parking permit, it's done"),
    ],
)
async def test_in_english_too(world: World, kept: str, ended: str, wish: str) -> None:
    await world.say(f"remind me tomorrow at 9am to {ended}")
    await world.say(f"remind me tomorrow at 6pm to {kept}")
    await world.say(wish)
    told = len(world.replies)
    await world.wait(2 * 86_400)
    assert [text for text in world.replies[told:] if ended in text] == []
    assert [text for text in world.replies[told:] if kept in text]


@pytest.mark.parametrize("wish", ["算了别提醒倒垃圾了", "别提醒我倒垃圾了", "取消倒垃圾的提醒"])
async def test_a_word_that_names_two_reminders_is_asked_about(world: World, wish: str) -> None:
    await world.say("明天早上九点提醒我倒垃圾")
    await world.say("后天晚上六点提醒我倒垃圾")
    await world.say(wish)
    assert "⏰1 倒垃圾" in world.replies[-1]
    assert "⏰2 倒垃圾" in world.replies[-1]


@pytest.mark.parametrize("line", ["我们后天搬家，到时候叫我一声", "咱们后天搬家，记得提醒我"])
async def test_what_we_do_on_a_day_is_reminded_of_in_whole_words(world: World, line: str) -> None:
    await world.say(line)
    told = len(world.replies)
    await world.wait(3 * 86_400)
    assert [text for text in world.replies[told:] if text.endswith("：搬家")]


@pytest.mark.parametrize("line", ["不用了", "你不用管我了", "面条不用了", "never mind the weather", "取消了"])
async def test_what_fits_no_reminder_ends_none(world: World, line: str) -> None:
    await world.say("明天早上九点提醒我交水电费")
    await world.say(line)
    await world.wait(2 * 86_400)
    assert [text for text in world.replies if text.endswith("：交水电费") or text == "Reminder: 交水电费"]


@all_cases(
    ("name", "task", "told"),
    [
        ("小王", "小王要交房租", "要交房租"),
        ("林曉", "林曉得給媽打電話", "得給媽打電話"),
        ("小王", "小王和小李去医院", "你和小李去医院"),
        ("Jordan", "Jordan needs to pay rent", "pay rent"),
        ("Jordan", "Jordan and Mia meet", "you and Mia meet"),
        ("Jo", "Jordan pays", "Jordan pays"),
        ("安", "安排会议", "安排会议"),
        ("小王", "小王", "小王"),
    ],
)
def test_who_is_reminded_does_not_hear_their_own_name_as_that_of_somebody_else(name: str, task: str, told: str) -> None:
    assert told_to(name, task) == told
