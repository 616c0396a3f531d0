"""Small talk costs little: a light request where that is cheaper, the full one once the talk is about something."""

from hypothesis import given
from hypothesis import strategies as st

from bot.core.files import PromptFiles
from bot.core.sessions import BootstrapMode, LightPolicy
from bot.language.small_talk import is_casual
from bot.model.offline import OfflineModel
from bot.prompt.composition import BootstrapChoice, choose_bootstrap
from bot.text.catalogue import catalogue
from bot.text.length import estimate_tokens
from tests.conftest import NewWorld
from tests.tables import all_cases
from tests.world import World

NAMES = ("小暖", "nuan")
SMALL = [
    "你好",
    "在吗？",
    "早上好呀小暖",
    "晚安，明天见",
    "谢谢你的帮助",
    "辛苦了！",
    "哈哈哈哈哈",
    "好的，谢谢，我知道了。",
    "嗯嗯，再见～",
    "笑死",
    "233333",
    "对不起对不起",
    "么么哒",
    "想你了",
    "吃了吗",
    "祝你生日快乐",
    "祝您旅途愉快，再见",
    "见到你真高兴",
    "👍",
    "❤️❤️",
    "😂😂 好好笑",
    "[sticker 😀]",
    "好喔",
    "早安呀",
    "謝謝你啦～",
    "哈囉",
    "晚安，明天見",
    "好久不見，最近好嗎",
    "明白了，多謝",
    "好噠",
    "抱抱",
    "hi",
    "Hello there!",
    "hey nuan",
    "thank you so much for your help",
    "ok cool",
    "lol",
    "see you tomorrow",
    "good night, sleep tight",
    "how are you?",
    "I’m fine, thanks. And you?",
    "nice to meet you",
    "my bad",
    "that's awesome",
    "hiii",
    "okkk",
    "早ㄤ",
    "我下班咯",
    "你今天还好吗",
    "最近忙不忙呀",
    "吃晚饭了没",
    "那倒也是",
    "我先去洗澡啦",
    "被你发现了",
    "好der",
    "歹勢歹勢",
    "how was your day today?",
    "goodnight",
    "just got off work",
    "you're so sweet",
    "that means a lot",
]
ABOUT = [
    "别让我睡过头",
    "晚安，叫我起床",
    "记得叫我",
    "别忘了",
    "don't let me oversleep, exam at 9",
    "good night, wake me up",
    "remember that",
    "今晚提醒我好吗",
    "帮我推荐一个好吗",
    "告诉我好吗",
    "陪我聊天好吗",
    "抱歉今晚有事",
    "今晚见面怎么样",
    "那件事怎么样了",
    "我说的建议怎么样",
    "老婆走了",
    "我姐晕倒了",
    "我不行了",
    "我没有朋友",
    "我是老师",
    "我有个妹妹很可爱",
    "老板同意了",
    "再说一遍",
    "不对，再说一遍",
    "安排一下",
    "怎么回事",
    "没明白",
    "记住了吗",
    "right now",
    "again please",
    "小暖",
    "小暖小暖",
    "你好，想问一下上週我们讨论的那个点子",
    "好的，那你帮我查一下",
    "ok 那你幫我訂位",
    "嗯，我明天要开会",
    "我今天很难过",
    "我不开心",
    "心情不好",
    "服务怎么样",
    "记得喝水",
    "救命啊",
    "接着说",
    "我好累",
    "i am so tired",
    "talk to me",
    "谢谢，还有别的推荐吗",
    "幫我記下來",
    "记住我怕狗",
    "好，改成三点",
    "晚安，明早八点叫我",
    "我叫小王",
    "今天天气怎么样",
    "你是谁",
    "早上好，今天有什么安排",
    "对了，上次说的书叫什么",
    "工作不顺利",
    "今天工作很开心",
    "好的今天想要见你",
    "没钱了",
    "为什么",
    "继续",
    "3",
    "12:30",
    "张三",
    "我感冒了",
    "hi, can you remind me to call mom",
    "what time is it",
    "thanks, and what about the hotel?",
    "I love dogs",
    "my name is Tom",
    "see you at the station at 5",
    "Привет",
    "こんにちは",
]


@all_cases("text", SMALL)
def test_small_talk_is_small_talk(text: str) -> None:
    assert is_casual(text, NAMES)


@all_cases("text", ABOUT)
def test_what_is_about_something_is_not(text: str) -> None:
    assert not is_casual(text, NAMES)


@given(st.text(max_size=200), st.sampled_from(SMALL))
def test_any_text_is_judged_and_something_beside_small_talk_counts(text: str, small: str) -> None:
    is_casual(text, NAMES)
    assert not is_casual(f"{small}，帮我订明天的票", NAMES)
    assert is_casual("") is is_casual("  ") is True


@all_cases(
    ("policy", "small", "log", "warm", "expected"),
    [
        ("off", True, None, False, BootstrapChoice("full", "off")),
        ("auto", False, "light", False, BootstrapChoice("full", "topic")),
        ("auto", True, None, False, BootstrapChoice("light", "cold")),
        ("auto", True, "full", False, BootstrapChoice("light", "cold")),
        ("auto", True, None, True, BootstrapChoice("full", "warm")),
        ("per_message", True, "full", True, BootstrapChoice("light", "casual")),
        ("sticky", True, "full", False, BootstrapChoice("full", "stays")),
        ("sticky", True, None, True, BootstrapChoice("light", "casual")),
    ],
)
def test_the_policies(
    policy: LightPolicy, small: bool, log: BootstrapMode | None, warm: bool, expected: BootstrapChoice
) -> None:
    assert choose_bootstrap(policy, casual=small, log=log, warm=warm) == expected


def modes(world: World) -> list[object]:
    """The bootstrap of every request: light ones bring no tools."""
    return ["full" if prompt.tools else "light" for prompt in (request.prompt for request in world.model.requests)]


async def test_a_greeting_costs_little_and_knows_how_to_address_this_person(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await world.say("叫我老王")
    await world.say("我养了一只猫，记住哦")
    await world.say("在吗")
    (request,) = world.model.requests
    assert request.prompt.tools == ()
    assert "叫TA「老王」" in world.last_user
    assert "猫" not in world.last_user.partition("<ctx")[0], "no warm boot"
    assert sum(estimate_tokens(message.content) for message in request.prompt.messages) <= 500
    assert "【此处】" not in world.last_user


async def test_small_talk_goes_on_in_one_light_log_and_a_topic_opens_the_full_one(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    for text in ("你好", "最近好吗", "我下周要去杭州出差，该带什么？", "哈哈，谢谢"):
        await world.say(text)
    assert modes(world) == ["light", "light", "full", "full"]
    assert world.prompts[1][: len(world.prompts[0])] == world.prompts[0], "the light log only grows"
    assert world.prompts[3][: len(world.prompts[2])] == world.prompts[2], "warm: what is cached goes on"
    assert "最近好吗" in world.prompts[2][1].content, "the full log begins with what was said before"
    assert world.peek.epochs("mode", "reason") == [("light", "open"), ("full", "full")]
    lines = [(line["mode"], line["mode_why"]) for line in world.log.named("turn")]
    assert lines == [("light", "cold"), ("light", "cold"), ("full", "topic"), ("full", "warm")]


async def test_what_another_chat_keeps_warm_is_warm_here_and_cools_down(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto", "warm_seconds": 60})
    await world.say("今天天气怎么样", "阿明")
    await world.say("你好")
    await world.wait(61)
    await world.say("在吗")
    assert modes(world) == ["full", "full", "light"]


async def test_a_long_talk_is_not_thrown_away_for_a_word(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"}, context={"carry_tokens": 200})
    await world.say("接头暗号定为蓝色大象")
    for number in range(6):
        await world.say(f"第{number}个很长的问题，说来话长，从前有一座山，山里有一座庙，是不是？")
    await world.wait(310)
    await world.say("嗯")
    await world.say("我一开始定的接头暗号是哪个词？")
    assert modes(world)[-2:] == ["full", "full"]
    assert "蓝色大象" in "\n".join(message.content for message in world.prompts[-1])


async def test_an_answer_to_what_nuan_asked_is_no_small_talk(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    world.model.script = lambda _: "整理好了。要我把清单改成周六版再发一遍吗？"
    await world.say("你好")
    await world.wait(310)
    world.model.script = lambda _: "好的。"
    await world.say("好的，麻烦了")
    await world.wait(310)
    await world.say("好的")
    assert modes(world) == ["light", "full", "light"]
    assert "周六版再发一遍吗" in "\n".join(message.content for message in world.prompts[1])


async def test_a_picture_or_a_forwarded_line_is_about_something(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await world.say("哈哈", forwarded=True)
    assert modes(world) == ["full"]


async def test_a_light_turn_survives_a_crash_with_the_same_bytes(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    world.shut()
    await world.app.ingest.accept(world.message("你好"))
    await world.held()
    await world.crash()
    assert world.prompts[0] == world.prompts[1]
    assert modes(world) == ["light", "light"]
    assert world.replies == ["好的"]


async def test_what_small_talk_was_told_is_forgotten_too(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await world.say("叫我老王")
    await world.say("你好")
    await world.say("忘记 #1")
    await world.say("在吗")
    assert "老王" not in world.last_user
    assert world.peek.epochs("reason") == [("open",), ("forgotten",)]


async def test_the_offline_model_introduces_itself_once_though_a_topic_opens_another_log(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    world.model = OfflineModel(catalogue(PromptFiles(None).path, "offline"))  # type: ignore[assignment]
    await world.restart()
    for text in ("你好", "今天天气怎么样", "謝謝"):
        await world.say(text)
    assert [reply.count("自带的离线应答") for reply in world.replies] == [1, 0, 0]


async def test_what_a_group_said_before_small_talk_is_still_told_after_it(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    for line in ("我便当被偷了", "谁偷的", "冰箱里写了名字", "我去调监控", "太过分了", "下次放辣酱"):
        await world.say(line, "小王", group="饭友")
    await world.wait(40 * 60)
    await world.say("小暖在吗", "小李", group="饭友")
    await world.say("小暖，总结一下他们刚才说的", "小李", group="饭友")
    assert [row[0] for row in world.peek.epochs("mode")] == ["light", "full"]
    assert all(line in world.last_user for line in ("我便当被偷了", "我去调监控", "下次放辣酱", "总结一下"))
