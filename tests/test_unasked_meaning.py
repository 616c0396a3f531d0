"""What comes to a turn unasked by its meaning, with the local encoder."""

from pathlib import Path

from bot.config.settings import ContextRules
from tests.encoded import by_meaning, opened
from tests.fakes.model import calls, says

UNASKED = (
    "我的生日在十月",
    "我住在杭州",
    "我妹妹在里斯本读书",
    "我养了一只橘猫",
    "我周末去爬山",
    "我在银行上班",
    "我喜欢听爵士乐",
    "我不会开车",
    "我爸爸是医生",
    "我讨厌下雨天",
    "我正在学吉他",
    "我家楼下有个菜市场",
    "我最爱看悬疑片",
    "我每天跑五公里",
    "我的手机是旧的",
    "我小时候住在乡下",
    "我想换一份工作",
    "我奶奶八十岁了",
    "我不爱吃甜食",
    "我对花生过敏",
)
MORE = (
    "我喝不了牛奶",
    "我会弹钢琴",
    "我怕坐飞机",
    "我的车是白色的",
    "我每周三上瑜伽课",
    "我爱收集邮票",
    "我哥哥当过兵",
    "我不抽烟",
    "我喜欢蓝色",
    "我总是睡得很晚",
    "我去过冰岛",
    "我有三个孩子",
    "我用左手写字",
    "我常去图书馆",
    "我想买一台相机",
    "我的房间朝北",
)
"""With fewer, no two memories can both be far above the mean."""


async def test_what_a_message_is_by_far_likest_comes_unasked_without_a_shared_word_and_nothing_else(
    tmp_path: Path,
) -> None:
    settings = by_meaning().model_copy(update={"context": ContextRules(opening_tokens=100)})
    async with opened(tmp_path, settings) as world:

        async def told(text: str) -> str:
            """What a new talk that begins with this is told by itself."""
            await world.say(text)
            brought = world.last_user.partition("想起来的")[2]
            await world.say("/new")
            return brought

        for fact in UNASKED:
            await world.say(f"记住{fact}")
        await world.say("/new")
        await world.wait(1)
        assert await told("今天天气真好") == "", "whole vectors are compared"
        await world.say("雨下得好大，烦死了", "小李")
        assert "想起来的" not in world.last_user, "what somebody else told is nobody else's"
        assert (await told("路上看到一只小猫")).splitlines()[1:] == ["- #4 小王：我养了一只橘猫（今天说的）"]
        assert (await told("雨下得好大，烦死了")).splitlines()[1:] == ["- #10 小王：我讨厌下雨天（今天说的）"]
        for text in ("晚饭吃什么呢", "今天天气真好", "帮我写一句请柬"):
            assert await told(text) == "", text
        await world.say("忘记我养了一只橘猫")
        assert await told("路上看到一只小猫") == ""


async def test_what_is_former_told_already_or_told_by_two_keeps_nothing_from_standing_out_by_its_meaning(
    tmp_path: Path,
) -> None:
    settings = by_meaning().model_copy(update={"context": ContextRules(opening_tokens=100)})
    async with opened(tmp_path, settings) as world:

        async def brought(text: str, **where: str) -> list[str]:
            """What a new talk that begins with this is told by itself."""
            await world.say("/new", **where)
            await world.wait(1)
            await world.say(text, **where)
            return [line.partition(" ")[2].partition(" ")[2] for line in after(world.last_user, "想起来的")]

        for fact in (*UNASKED, *MORE, "我的猫叫豆包"):
            await world.say(f"记住{fact}")
        assert await brought("路上看到一只小猫") == ["小王：我养了一只橘猫（今天说的）"], (
            "the opening tells the other one"
        )
        change = calls(("remember", '{"id": "#4", "text": "我养了一只白猫"}'))
        world.model.script = lambda request: says("好") if request.prompt.messages[-1].role == "tool" else change
        await world.say("说错了，是一只白猫")
        world.model.script = lambda _: says("好")
        for said in ("忘记我的猫叫豆包", "记住我会游泳", "记住我爱吃辣"):
            await world.say(said)
        assert await brought("一只猫趴在窗台上") == ["小王：我养了一只白猫（今天说的）"], "what it replaces is former"
        assert await brought("一只白猫趴在窗台上") == ["小王：我养了一只白猫（今天说的）"], (
            "words find it as well: once"
        )
        for who in ("小李", "小王"):
            await world.say("小暖，记住我养了一只橘猫", who, "大群")
        for fact in (*UNASKED[:3], *UNASKED[4:], *MORE, "我住在三楼"):
            await world.say(f"小暖，记住{fact}", "小王", "大群")
        assert await brought("小暖，路上看到一只小猫", group="大群") == ["小王：我养了一只橘猫（今天说的）"]


def after(text: str, title: str) -> list[str]:
    """The lines under a title."""
    return [line for line in text.partition(title)[2].split("\n\n")[0].splitlines()[1:] if line]
