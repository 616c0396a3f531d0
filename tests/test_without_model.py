"""What somebody can do who has connected no model: lists, reminders in their own words, names."""

import pytest

from bot.core.files import PromptFiles
from bot.model.offline import OfflineModel
from bot.text.catalogue import catalogue
from tests.world import World


async def answers_offline(world: World) -> None:
    texts, names = catalogue(PromptFiles(None).path, "offline"), world.settings.bot.names
    world.model = OfflineModel(texts, names)  # type: ignore[assignment]
    await world.restart()


async def test_somebody_without_a_model_sees_all_that_is_kept_when_they_ask_for_it(world: World) -> None:
    await answers_offline(world)
    for line in ("记住我对芒果过敏", "明天下午三点提醒我交作业"):
        await world.say(line)
    for question, answer in (
        ("你记得我什么？", "我对芒果过敏 #1"),
        ("你都记得我的哪些事", "我对芒果过敏 #1"),
        ("我有哪些提醒", "⏰1 周六（6月13日）下午3:00 · 交作业"),
        ("今天有什么提醒", "⏰1 周六（6月13日）下午3:00 · 交作业"),
        ("我能吃芒果吗", "你对芒果过敏"),
    ):
        await world.say(question)
        assert answer in world.replies[-1], question


async def test_somebody_without_a_model_moves_and_cancels_reminders_in_their_own_words(world: World) -> None:
    await answers_offline(world)
    for line, answer in (
        ("每周二和周四晚上八点提醒我去瑜伽", "每周二、周四晚上8:00提醒你：去瑜伽 ⏰1"),
        ("把瑜伽改到周三晚上七点半", "还没有改：⏰1 去瑜伽"),
        ("瑜伽改成每周三晚上七点半", "每周三晚上7:30提醒你：去瑜伽 ⏰1"),
        ("下个月15号提醒我交房租", "⏰2"),
        ("你好呀", ""),
        ("下午五点", "下午5:00提醒你：交房租 ⏰2"),
        ("把交房租延后两天", "7月17日）下午5:00提醒你：交房租 ⏰2"),
        ("每天早上七点半提醒我背单词", "⏰3"),
        ("把背单词的提醒改到八点", "每天早上8:00提醒你：背单词 ⏰3"),
        ("取消瑜伽", "取消了：⏰1 去瑜伽"),
        ("护理长生日是7月20号，到时候提醒我", "提醒你：护理长生日 ⏰4"),
    ):
        await world.say(line)
        assert answer in world.replies[-1], line


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("那个提醒改到九点", "晚上9:00提醒你：交作业 ⏰1"),
        ("那個提醒改到九點", "晚上9:00提醒你：交作业 ⏰1"),
        ("把提醒推到五点", "下午5:00提醒你：交作业 ⏰1"),
        ("提醒推迟一个小时", "下午4:00提醒你：交作业 ⏰1"),
        ("往後推一小時", "下午4:00提醒你：交作业 ⏰1"),
        ("交作业的提醒提前半小时", "下午2:30提醒你：交作业 ⏰1"),
        ("push it an hour", "4:00 PM: 交作业 ⏰1"),
        ("push it back by an hour", "4:00 PM: 交作业 ⏰1"),
        ("make it an hour later", "4:00 PM: 交作业 ⏰1"),
        ("move it to 5pm", "5:00 PM: 交作业 ⏰1"),
        ("make it half an hour earlier", "2:30 PM: 交作业 ⏰1"),
        ("push it 15 minutes", "3:15 PM: 交作业 ⏰1"),
        ("delay it by 2 hours", "5:00 PM: 交作业 ⏰1"),
        ("move it up an hour", "2:00 PM: 交作业 ⏰1"),
        ("bring it forward an hour", "2:00 PM: 交作业 ⏰1"),
        ("我的提醒推迟半小时", "下午3:30提醒你：交作业 ⏰1"),
        ("再推迟十分钟", "下午3:10提醒你：交作业 ⏰1"),
    ],
)
async def test_what_points_at_the_only_reminder_moves_it(world: World, said: str, answer: str) -> None:
    await answers_offline(world)
    await world.say("明天下午三点提醒我交作业")
    await world.say(said)
    assert answer in world.replies[-1]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("那个提醒改到九点", "还没有改：⏰1 吃药、⏰2 交作业。说清是哪一条"),
        ("那個提醒改到九點", "還沒有改：⏰1 吃药、⏰2 交作业。說清是哪一條"),
        ("push it an hour", "Not changed yet: ⏰1 吃药, ⏰2 交作业. Say which one"),
        ("提醒再早二十分钟", "还没有改：⏰1 吃药、⏰2 交作业。"),
        ("那个提醒可以停了", "是哪一条？⏰1 吃药、⏰2 交作业\n说“取消提醒 编号”就行"),
        ("那個提醒我不需要了", "是哪一條？⏰1 吃药、⏰2 交作业\n說「取消提醒 編號」就行"),
        ("that reminder can stop", "Which one? ⏰1 吃药, ⏰2 交作业\nSay: cancel reminder and its number"),
    ],
)
async def test_a_change_that_is_not_sure_is_told_with_how_it_is_asked_for(world: World, said: str, answer: str) -> None:
    await answers_offline(world)
    for line in ("每天早上八点提醒我吃药", "明天下午三点提醒我交作业"):
        await world.say(line)
    await world.wait(600)
    before = world.peek.reminders("due_at", ended_at=None)
    await world.say(said)
    assert world.replies[-1].startswith(answer)
    assert world.peek.reminders("due_at", ended_at=None) == before


@pytest.mark.parametrize("said", ["取消所有提醒", "cancel all reminders"])
async def test_all_reminders_end_at_once_also_just_after_one_was_said(world: World, said: str) -> None:
    await answers_offline(world)
    for line in ("每天早上九点一分提醒我吃药", "明天下午三点提醒我交作业"):
        await world.say(line)
    await world.wait(120)
    await world.say(said)
    assert world.peek.reminders("text", ended_at=None) == []


@pytest.mark.parametrize("said", ["never mind", "不用提醒我了", "改到十点"])
async def test_what_may_be_about_today_leaves_what_recurs_as_it_is(world: World, said: str) -> None:
    await answers_offline(world)
    for line in ("每天早上九点十分提醒我吃药", "明天下午三点提醒我交作业"):
        await world.say(line)
    await world.wait(660)
    await world.say(said)
    assert world.peek.reminders("rule", text="吃药", ended_at=None) == [("10 9 * * *",)]


@pytest.mark.parametrize("said", ["谢谢提醒，我已经吃完了", "thanks for the reminder, I already took it"])
async def test_thanks_for_a_reminder_end_none(world: World, said: str) -> None:
    await answers_offline(world)
    await world.say("每天早上八点提醒我吃药")
    await world.wait(600)
    await world.say(said)
    assert not any(asked in world.replies[-1] for asked in ("是哪一条", "Which one"))
    assert len(world.peek.reminders("due_at", ended_at=None)) == 1


@pytest.mark.parametrize(
    "said", ["谢谢你昨天的提醒", "thanks for the reminder", "提前下班了真开心", "作业好难", "他叫我八点别去"]
)
async def test_talk_beside_reminders_is_no_change_of_them(world: World, said: str) -> None:
    await answers_offline(world)
    await world.say("明天下午三点提醒我交作业")
    await world.say(said)
    assert "⏰" not in world.replies[-1]


@pytest.mark.parametrize(
    "said",
    [
        "我提前半小时到",
        "我提前半小时",
        "我推迟两天回去",
        "那我推迟一天",
        "我改到九点",
        "交作业提前了半小时",
        "把十分钟交作业推迟一下",
        "set a timer for an hour",
        "set my alarm for an hour",
        "set me back an hour",
        "make me a sandwich in an hour",
        "make me a cup of tea in half an hour",
        "make it half an hour",
        "move me to friday",
        "push it forward an hour",
        "move 交作业 forward by an hour",
    ],
)
async def test_what_does_not_surely_point_at_a_reminder_moves_none(world: World, said: str) -> None:
    await answers_offline(world)
    await world.say("明天下午三点提醒我交作业")
    before = world.peek.reminders("due_at", ended_at=None)
    await world.say(said)
    assert world.peek.reminders("due_at", ended_at=None) == before


async def test_what_was_just_set_is_cancelled_by_a_word_and_any_by_its_number(world: World) -> None:
    await answers_offline(world)
    for line, answer in (
        ("明天下午三点提醒我看牙医", "⏰1"),
        ("取消", "取消了：⏰1 看牙医"),
        ("remind me tomorrow at 9pm to sleep", "⏰2"),
        ("cancel that", "Cancelled: ⏰2 sleep"),
        ("明天下午三点提醒我看牙医", "⏰3"),
        ("⏰3取消", "取消了：⏰3 看牙医"),
    ):
        await world.say(line)
        assert answer in world.replies[-1], line


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("help", ".ai remind — "),
        ("帮助", ".ai remind — "),
        ("？", ".ai remind — "),
        ("show me my data", ".ai mem"),
        ("delete everything you know about me", ".ai forget me"),
        ("忘掉关于我的一切", ".ai forget me"),
    ],
)
async def test_plain_words_lead_to_help_and_to_being_forgotten(world: World, line: str, answer: str) -> None:
    await answers_offline(world)
    await world.say("记住我怕狗")
    await world.say(line)
    assert answer in world.replies[-1] or "#1" in world.replies[-1]
    assert "forget me" not in answer or "forget me" in world.replies[-1]


async def test_a_name_alone_gets_its_receipt_alone(world: World) -> None:
    await answers_offline(world)
    await world.say("我叫林晓")
    assert world.replies == ["好，以后叫你林晓 #1"]
    await world.say("今天天气不错")
    assert world.replies[-1].startswith("我是 nuan 自带的离线应答")


@pytest.mark.parametrize("said", ["小暖 hello there", "thanks 小暖"])
async def test_an_english_line_in_a_chinese_group_is_answered_in_english(world: World, said: str) -> None:
    await answers_offline(world)
    await world.say("小暖，你還記得我說過什麼嗎", "小王", "茶館")
    await world.say(said, "Ann", "茶館")
    assert world.replies[-1].isascii()


async def test_a_no_to_whether_to_keep_something_keeps_nothing(world: World) -> None:
    await answers_offline(world)
    for asked, no, told in (
        ("你心里要有数，我弟有忧郁症", "不用了", "好，不记"),
        ("hold on to one thing, my dog is called Biscuit", "no thanks", "All right, I won't keep that"),
    ):
        await world.say(asked)
        await world.say(no)
        assert (world.replies[-1], world.peek.memories("text")) == (told, [])


async def test_what_is_said_after_a_receipt_is_in_the_language_of_the_line(world: World) -> None:
    await answers_offline(world)
    for line in ("hello there", "I had a long day today", "我等下要去超市，记住我要买盐。"):
        await world.say(line)
    assert world.replies[-1].startswith("记住啦 #1：我要买盐\n")
    assert "nuan init` in" not in world.replies[-1]
