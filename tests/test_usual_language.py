"""Notices and menus are in the language that somebody mostly writes; a line in another changes neither."""

import pytest

from bot.text.fold import script_of, usual_script
from tests.tables import all_cases
from tests.test_without_model import answers_offline
from tests.world import World

GROUP = "群"


async def menu(world: World, who: str = "小王") -> str:
    """What `.ai promise` says where nothing is open."""
    await world.say(".ai promise", who)
    return world.replies[-1]


async def test_one_line_in_another_language_changes_no_notice(world: World) -> None:
    await world.say("今天吃了面")
    await world.say("the weather is nice today")
    assert await menu(world) == "没有你答应过还没做的事"
    await world.say("明天再说吧")
    assert await menu(world) == "没有你答应过还没做的事"


async def test_who_goes_on_in_another_language_gets_notices_in_it(world: World) -> None:
    await world.say("今天吃了面")
    for line in ("the weather is nice today", "I like it here", "what shall we do now"):
        await world.say(line)
    assert await menu(world) == "You have promised nothing that is not done yet"
    await world.say("好的")
    assert await menu(world) == "You have promised nothing that is not done yet"


async def test_a_greeting_word_first_makes_nobody_english(world: World) -> None:
    await world.say("hi")
    await world.say("你好，我叫小陈")
    await world.say("我刚下班回来")
    assert await menu(world) == "没有你答应过还没做的事"


async def test_an_answer_to_a_wish_is_in_the_language_of_the_wish(world: World) -> None:
    await world.say("今天吃了面")
    await world.say("我刚下班回来")
    await world.say("remember that my passport is in the blue box")
    assert world.replies[-1].startswith("Got it")
    await world.say("记住我的护照在蓝色盒子里")
    assert "记" in world.replies[-1]
    assert await menu(world) == "没有你答应过还没做的事"


async def test_a_promise_is_followed_up_in_the_usual_language(world: World) -> None:
    await world.say("今天吃了面")
    await world.say("我刚下班回来")
    await world.say("I need to call the landlord tomorrow")
    await world.wait(2 * 86_400)
    assert [reply for reply in world.replies if reply.startswith("你说过")]


@all_cases(
    ("lines", "before", "usual"),
    [
        (("hello there my friend", "今天吃了面"), "zh-Hans", "zh-Hans"),
        (("hello there my friend", "how are you doing", "今天吃了面"), "zh-Hans", "en"),
        (("ok", "lol", "今天吃了面"), "zh-Hans", "zh-Hans"),
        (("我們走吧", "這裡很熱", "今天吃了面"), "zh-Hans", "zh-Hant"),
        (("no", "forget #1"), "zh-Hans", "zh-Hans"),
        (("hello",), None, "en"),
        ((), "en", "en"),
    ],
)
def test_the_usual_one_is_that_of_most_lines(lines: tuple[str, ...], before: str | None, usual: str) -> None:
    assert usual_script(lines, ("小暖",), before, "zh-Hans") == usual  # type: ignore[arg-type]


async def test_the_bots_name_is_no_sign_of_a_language(world: World) -> None:
    await world.say("小暖 remember I like tea", "Bob", group="家")
    assert world.replies[-1].startswith("Got it, I'll remember #1")


@pytest.mark.parametrize(
    ("before", "said", "told"),
    [
        ("我今天加班到好晚，煩死了", "叫我阿明", "以後叫你"),
        ("remember that i like tea", "undo", "is not kept"),
    ],
)
async def test_a_message_that_tells_no_language_is_answered_as_its_writer_wrote_just_before(
    world: World, before: str, said: str, told: str
) -> None:
    for line in ("今天天气真不错", "我们出去走走吧", "这个周末要下雨"):
        await world.say(line)
    await world.say(before)
    await world.say(said)
    assert told in world.replies[-1], world.replies


async def test_a_command_is_answered_in_the_characters_that_it_is_written_in(world: World) -> None:
    await world.say("今天天气真不错")
    await world.say(".ai 預購")
    assert world.replies[-1].startswith("沒有「預購」這個指令")


@pytest.mark.parametrize("asked", ["what reminders do I have?", "what do you remember about me?"])
async def test_a_list_is_told_in_the_language_of_the_question(world: World, asked: str) -> None:
    await answers_offline(world)
    for line in ("今天吃了面", "我刚下班回来", asked):
        await world.say(line)
    assert script_of(world.replies[-1], "zh-Hans") == "en", world.replies
