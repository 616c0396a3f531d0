"""Who says their name in private is called by it from then on; once, and it can be undone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.language.wishes.names import introduced_name
from tests.tables import all_cases
from tests.world import World


@all_cases(
    ("text", "name"),
    [
        ("我叫小陈", "小陈"),
        ("你好，我叫陈雨桐，刚搬来成都", "陈雨桐"),
        ("嗨～我是阿哲，在高雄唸書", "阿哲"),
        ("我的名字叫林佳蓉", "林佳蓉"),
        ("I'm Maya", "Maya"),
        ("hi, i'm Maya and I just moved to Leeds", "Maya"),
        ("Hello! My name is Ana Sofia.", "Ana Sofia"),
    ],
)
def test_a_name_that_somebody_gives_is_read(text: str, name: str) -> None:
    assert introduced_name(text) == name


@all_cases(
    "text",
    """我叫什么名字？|我叫他来|我叫了外卖|我是学生|我是小学老师|我叫不醒他|我叫车了|我叫小陈吗|I'm tired|I'm Italian|I'm Not Okay|i'm back
I'm at work|my name is a mess|我姐叫小陈|大家都说我叫老王的时候很凶|My sister is Maya|I'm Maya's sister""".replace(
        "\n", "|"
    ).split("|"),
)
def test_what_gives_no_name_of_ones_own_is_left(text: str) -> None:
    assert introduced_name(text) is None


@pytest.mark.parametrize(
    ("text", "name"), [("你好，我叫小陈，刚搬来成都", "小陈"), ("hi, I'm Maya and I moved to Leeds", "Maya")]
)
async def test_they_are_called_so_are_told_once_and_get_an_answer(world: World, text: str, name: str) -> None:
    await world.say(text)
    assert len([reply for reply in world.replies if name in reply]) == 1
    assert text in world.last_user
    await world.say("/new")
    await world.say("帮我想想周末去哪" if name == "小陈" else "help me think about the weekend")
    assert name in world.last_user
    said = len(world.replies)
    await world.say(text)
    assert not any(name in reply for reply in world.replies[said:])
    await world.say("撤销" if name == "小陈" else "undo")
    assert world.peek.memories.count(slot="address", disabled_at=None) == 0


@pytest.mark.parametrize(
    ("said", "refused", "name"),
    [("我叫阿布", "别叫我阿布了", "阿布"), ("My name is Ana Sofia.", "don't call me Ana Sofia", "Ana Sofia")],
)
async def test_a_name_they_no_longer_want_is_told_only_as_that(
    world: World, said: str, refused: str, name: str
) -> None:
    await world.say(said)
    await world.say(refused)
    await world.say("/new")
    await world.say("帮我想想周末去哪" if name == "阿布" else "help me think about the weekend")
    opened = world.last_user.partition("<ctx")[0]
    assert opened.count(name) == 1
    assert any(f"{no}{name}" in opened for no in ("别叫TA「", 'never call them "'))
    assert world.peek.memories.count(slot="name") == 0


async def test_in_a_group_nobody_is_renamed_by_it(world: World) -> None:
    await world.say("小暖，我叫小陈", "阿明", group="家")
    assert world.peek.memories.count(slot="address") == 0


async def test_who_said_how_to_call_them_keeps_that(world: World) -> None:
    await world.say("以后叫我船长")
    await world.say("我叫陈明")
    assert world.peek.memories("text", slot="address", disabled_at=None) == [("船长",)]


@given(st.text(max_size=300))
def test_any_text_is_read_and_a_name_stands_in_it(text: str) -> None:
    name = introduced_name(text)
    assert name is None or name in text
