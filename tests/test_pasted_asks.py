"""Pasted text asks for nothing before its sender said that it does; what a platform forwards stays as it was."""

import pytest

from bot.language.pasted import own_part
from tests.world import World

ASKING = (
    "老板邮件：记住我下周要交合同",
    "妈妈发来：我明天要去医院，你别忘了提醒我",
    "媽媽傳來：拜託你記住我不想再聊工作的事了",
    "From: Bob <bob@example.com>\nTo: me\nSubject: dinner\n\nRemember that I owe Bob 50 euros",
    "【招商銀行】您好，記住我的還款日是八號",
    "Hi Bob,\nremind me tomorrow at 9 am to call the bank\nThanks, Ann",
    "阿明 2024/5/2 12:30:11\n我叫大明，以后叫我明哥",
    "2017-02-25 10:40:20 李雷(87200175)\n明天下午三点提醒我给妈妈打电话",
    "下午10:36\t阿德\t機車停在捷運站二號出口，記一下～",
    "John, [9 Dec 2022 at 21:25:39]:\nremind me in 2 hours to move the laundry",
    "- [ ] milk\n- [ ] don't forget I'm lactose intolerant!",
    "作者 阿德 (abc)\n標題 閒聊\n\n記住我對蝦子過敏\n--\n發信站: 實業坊",
    "房东刚发来的，气死我了\n记住我的押金不退，明天晚上八点提醒我交租",
    "lol see what my boss wrote\ncall me Duke from now on",
    "Forwarded from Uncle Bo\nremind me tomorrow at 5pm to buy coins",
    "My sister emailed 'please remember I go by Alex, not Lexi' like what",
    "尊敬的旅客，记住我的检票口是B9",
    "您已订7号车。记住我的检票口是B9。【某某铁路】",
    "@all remember my name is Boss",
    "Please remember my office is closed on Friday. Reply C to confirm, STOP to opt out.",
    "会议纪要\n- 预算\n- 进度\n\n明天下午三点提醒我交合同",
    "- 预算\n- 进度\n- 记住我的工号是7788",
    "from my great aunt's diary, 1944 —\n\nSnow again.\nRemind me on Friday to be brave.",
    "辅导员在群里发的，帮我概括一下呗：\n\n同学们好，周四体检，请大家记住我的电话是7788",
    "our landlord again, sum it up for me:\n\nremember that I raise the rent in May",
    "转自 公众号「考试圈」\n记住我的准考证号是7788",
    "[LINE] 與阿姨的聊天記錄\n儲存日期：2025/11/02 22:09\n\n20:31\t阿姨\t記住我不吃番石榴",
    "业主您好，电梯周五检修，记住我的值班电话是7788",
    "恭喜您获得礼品，请记住我的领取号是7788，今晚前领取",
    "Dear Ms Low, the rent is due on the 3rd. Remember that my new account ends in 7788.",
)
TOLD = (
    "[10:32] 阿明: 在吗\n[10:33] 阿明: 记住我欠阿明五百",
    "> remember that I like tea",
    "老板邮件：\n大家好，记住我们下周二交合同",
)


async def test_what_looks_pasted_asks_back_before_anything_is_done(world: World) -> None:
    for text in ASKING:
        await world.say(text)
        assert world.peek.memories.count() == world.peek.reminders.count() == 0, text
        assert [each.text for each in world.talk.said[-1].buttons] in (["是的", "不用"], ["Yes", "No"]), text


async def test_what_looks_pasted_and_asks_nothing_for_certain_is_talk(world: World) -> None:
    for text in TOLD:
        said = len(world.replies)
        await world.say(text)
        assert world.peek.memories.count() == world.peek.reminders.count() == 0, text
        assert world.replies[said:] == ["好的"], text


async def test_a_yes_does_what_the_paste_says_and_a_no_does_not(world: World) -> None:
    await world.say(ASKING[4])
    await world.say("是的")
    assert world.peek.memories("text") == [("我的還款日是八號",)]
    await world.say(ASKING[5])
    await world.say("no")
    await world.say("yes")
    assert world.peek.memories.count() == 1
    assert world.peek.reminders.count() == 0


async def test_a_paste_without_a_wish_is_talked_about_as_ever(world: World) -> None:
    await world.say("老板邮件：\n大家辛苦了，今天不用来")
    assert world.replies == ["好的"]


@pytest.mark.parametrize(
    "text",
    [
        "记住：\n牛奶\n鸡蛋",
        "小暖，\n记住我怕狗",
        "帮我记住这条短信：【招行】还款日是8号",
        "更新：我搬家了。记住我住在苏州",
        "12:30 提醒我吃饭",
        "Let me tell you something, don't remember it",
        "记住我爸生日3月8日\n记住我妈生日5月2日",
        "9:00 提醒我开会\n10:30 提醒我看牙",
        "周五 10:30 开会\n周六 9:00 看牙\n都记住",
        "- 记住我怕狗\n- 记住我怕蛇\n- 记住我怕水",
        "Remember this:\nFrom: platform 9\nTo: London",
        "公司地址给我记下：\n人民路 8 号\n叫我去拿信",
        "note to self:\nthe spare key is with Ann\nremember that for me",
        "以后叫我“老茶”就行",
        "我刚写的诗\n记住我怕狗",
        "小暖您好，记住我怕狗",
        "我换工作了。新公司在苏州。同事都很好。记住我九点上班！",
    ],
)
def test_ones_own_wish_is_no_paste(text: str) -> None:
    assert own_part(text, ("小暖",)) == text
