"""What people answer when nuan asked whether to forget what it showed, in more words than yes, by themselves and by the
model's tool; and what is left to be answered of a message whose wish was done."""

import json

import pytest

from bot.core.memories import MemoryQuestion
from bot.language.wishes.reader import answer_to
from tests.fakes.model import calls
from tests.tables import all_cases
from tests.test_forget_matter import held
from tests.world import World

LINE, LINES = MemoryQuestion("about", (3, 5)), MemoryQuestion("about", (3, 5, 6))

FLAT = "房东儿子离婚了，手续上周五在民政局办完，他只跟我讲"


def verb(question: MemoryQuestion, text: str) -> str:
    command = answer_to(question, text, ("小暖", "nuan"))
    return command.verb if command is not None else ""


@all_cases(
    "text",
    """是|yes|yep, that one|對 就這句而已 其他照舊|嗯，只要那句，别的不用动|好啊，忘了吧|忘掉吧|嗯嗯删了吧
yes please, just that line|yeah forget it|sure, keep the rest|ok forget that""".replace("\n", "|").split("|"),
)
def test_a_yes_that_points_at_what_was_shown_is_one(text: str) -> None:
    assert verb(LINE, text) == "agree"


@all_cases("text", ["算了", "no", "forget it", "好 别删", "好，不要", "不，忘了就可惜了", "我忘了"])
def test_a_no_in_it_is_no_yes(text: str) -> None:
    assert verb(LINE, text) != "agree"


@all_cases(
    "text",
    ["对 但是第二句留着", "yes but keep the second", "对啊 我今天好累", "是 那我等等再说", "yeah well, we had pizza"],
)
def test_what_says_something_of_its_own_is_for_a_model(text: str) -> None:
    assert verb(LINE, text) == ""


@all_cases("text", ["对，就那句", "yes, just that one", "嗯，其他照旧"])
def test_of_several_lines_words_that_single_one_out_are_for_a_model(text: str) -> None:
    assert verb(LINES, text) == ""


async def asked(world: World) -> None:
    """Two lines tell of the landlord's son, and nuan asked whether to forget both."""
    for line in (FLAT, "房东儿子周末搬走，钥匙和门卡交给楼下保安大叔", "记住房东喜欢兰花", "我儿子下周开家长会"):
        await world.say(line)
    await world.say("房东儿子那件事你忘掉吧。外面下雨了，好冷")
    assert "离婚" in "".join(world.replies[-2:])


def forgets(world: World, **arguments: object) -> None:
    """The model calls the tool once, and otherwise says yes and amen."""
    left = [calls(("forget", json.dumps(arguments, ensure_ascii=False)))]
    world.model.script = lambda request: left.pop() if left and request.prompt.tools else "好的"


async def test_a_message_that_is_asked_about_reaches_the_model_whole(world: World) -> None:
    await asked(world)
    assert "房东儿子那件事你忘掉吧。外面下雨了" in world.last_user


async def test_an_answer_in_other_words_is_the_models_to_carry_out(world: World) -> None:
    """It is told that this may be one, and forgets the one line that it names, of those that were shown."""
    await asked(world)
    forgets(world, text=FLAT)
    await world.say("离婚那句就别留着了，另一句没事")
    assert "你说过的 1 句话" in str(world.replies)
    assert held(world, "离婚") == set()
    assert "event" in held(world, "搬走")
    assert "兰花" in str(world.peek.memories("text", disabled_at=None))


async def test_the_model_is_told_once_that_a_line_may_be_the_answer(world: World) -> None:
    await asked(world)
    world.model.script = lambda request: "好的"
    await world.say("对 但是搬走那句留着")
    assert "在答" in world.last_user
    await world.say("今天吃了面")
    assert "在答" not in world.last_user.rpartition("今天吃了面")[2]


async def test_after_a_no_no_tool_forgets_what_was_shown(world: World) -> None:
    await asked(world)
    forgets(world, text=FLAT)
    await world.say("算了，下次吧，你怎么看")
    assert "event" in held(world, "离婚")


async def test_a_plain_yes_later_answers_nothing_any_more(world: World) -> None:
    await asked(world)
    world.model.script = lambda request: "你觉得呢？"
    await world.say("雨什么时候停呢")
    await world.say("是")
    assert "event" in held(world, "离婚")


async def test_which_of_several_is_meant_a_model_tells_by_the_tool(world: World) -> None:
    """The wish itself is emptied by then: that it was asked which of these allows it."""
    for line in ("记住我喜欢牛肉面", "记住我喜欢牛肉汤", "忘记我喜欢牛肉"):
        await world.say(line)
    assert "#1" in world.replies[-1]
    forgets(world, id="#2")
    await world.say("喝的那个，吃的我还是爱的")
    assert world.peek.memories("text", disabled_at=None) == [("我喜欢牛肉面",)]


@pytest.mark.parametrize("by", ["words", "number"])
async def test_the_tool_takes_the_line_that_recall_showed(world: World, by: str) -> None:
    """By its number or its very words, though memories share words with the wish; its summary goes with it."""
    digest = {"summary": "小王说房东儿子离婚了。", "statements": [{"text": "房东喜欢兰花", "from": [3]}]}
    world.model.digests = True
    world.model.script = lambda request: "嗯" if request.prompt.tools else json.dumps(digest, ensure_ascii=False)
    for line in (FLAT, "房东喜欢兰花", "今天下班很晚，地铁上人特别多"):
        await world.say(line)
    await world.say("/new")
    await world.wait(2 * 86_400)
    assert "digest" in held(world, "离婚")
    number = world.rows("SELECT id FROM event WHERE text = ?", FLAT)[0][0]
    forgets(world, text=FLAT if by == "words" else f"@{number}")
    await world.say("你能不能当作没听过房东家那个事，把它从脑子里清掉")
    assert held(world, "离婚") == set()
    assert "兰花" in str(world.peek.memories("text", disabled_at=None))


async def test_the_tool_takes_no_line_that_the_wish_does_not_mean(world: World) -> None:
    await world.say("我昨天去了杭州")
    await world.wait(20 * 60)
    await world.say("房东今天来收租")
    number = world.rows("SELECT id FROM event WHERE text = '我昨天去了杭州'")[0][0]
    forgets(world, text=f"@{number}")
    await world.say("你能不能当作没听过房东收租那个事，把它从脑子里清掉")
    assert "event" in held(world, "杭州")
    (told,) = (message.content for message in world.turns[-1] if message.role == "tool")
    assert told.startswith(f"还没有删：@{number} 我昨天去了杭州")


async def test_one_line_with_every_word_of_the_wish_goes_at_once(world: World) -> None:
    """As the same wish does that says nothing besides; nothing of the line is said again."""
    await world.say("房东下个月好像也要离婚，她只跟我讲")
    await world.say("房东离婚那件事你忘掉吧 她不想给人知道")
    assert held(world, "离婚") == set()
    assert "只跟我讲" not in str(world.replies)


async def test_where_a_wish_stood_what_is_left_says_that_it_did(world: World) -> None:
    await world.say("记住我的门禁码是4711")
    await world.say("忘记我的门禁码是4711。他会骂我的")
    assert "（要你忘掉一件事，见下）他会骂我的" in world.last_user
    assert "4711" not in world.last_user
    await world.say("我去洗澡啦")
    await world.say("/new")
    await world.say("给我讲讲今天的天气和路上要注意什么")
    assert "4711" not in world.last_user
