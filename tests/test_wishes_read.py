"""What wishes that name little ask, sentence by sentence, and several facts in one wish."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.core.memories import Memory, MemoryQuestion, QuestionKind
from bot.language.pasted import own_part
from bot.language.wishes.keep import facts_in
from bot.language.wishes.names import only_names
from bot.language.wishes.patterns import listed
from bot.language.wishes.reader import answer_to, bare_object, bare_wish, keeps_waiting, object_wish, understand
from tests.hostile import hostile
from tests.tables import all_cases
from tests.test_changes import happens
from tests.world import World

NAMES = ("小暖", "暖暖", "nuan")
ALONE = [
    line.split("|")
    for line in (Path(__file__).parent / "sayings" / "alone.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def kept(world: World) -> list[str]:
    return [str(row[0]) for row in world.peek.memories("text", disabled_at=None)]


def known(texts: str) -> tuple[Memory, ...]:
    return tuple(
        Memory(number, 1, 1, "private", "knowledge", text, 0, 0, "command")
        for number, text in enumerate(texts.split(";;"), 1)
    )


@all_cases("kind", ["W", "M", "N", "L", "D"])
def test_each_wish_that_names_little_asks_what_its_writer_meant(kind: str) -> None:
    wrong = []
    for saying in ALONE:
        text, commands = saying[1], understand(saying[1], NAMES).commands
        found: object
        if saying[0] != kind:
            continue
        if kind == "D":
            said, memories = bare_object(text, NAMES), known(saying[2])
            command = object_wish(said, memories) if said else None
            found = [memory.text for memory in memories if command and memory.id in command.chosen]
            right = found == saying[3].replace("-", "").split(";;") or (found == [] and saying[3] == "-")
            right = right and not commands
        elif kind == "L":
            found = [each.chosen for each in commands]
            right = found == [tuple(map(int, saying[2].split(",")))]
        else:
            command = bare_wish(text, NAMES)
            found = command.verb if command else ""
            right = found == {"W": "remember", "M": "forget", "N": ""}[kind]
        if not right:
            wrong.append((text, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("记住我对花生过敏，我住在上海，我生日是5月2日", ["我对花生过敏", "我住在上海", "我生日是5月2日"]),
        ("我對蝦過敏，我屬龍，幫我記一下", ["我對蝦過敏", "我屬龍"]),
        (
            "remember that I'm allergic to peanuts, I live in Oslo and my birthday is May 2",
            ["I'm allergic to peanuts", "I live in Oslo", "my birthday is May 2"],
        ),
        ("记住我对花生过敏，一点都不能吃", ["我对花生过敏，一点都不能吃"]),
    ],
)
async def test_several_facts_of_one_wish_are_several_memories_in_one_reply(
    world: World, text: str, facts: list[str]
) -> None:
    await world.say(text)
    assert (kept(world), len(world.replies)) == (facts, 1)
    await world.say("撤销")
    assert kept(world) == []


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("记住我对花生过敏，省得我再说", "我对花生过敏"),
        ("我住在北京 帮我记下来免得忘了", "我住在北京"),
        ("我鞋碼41半 褲子32 記下來省得我每次翻標籤", "我鞋碼41半 褲子32"),
    ],
)
async def test_why_something_is_to_be_kept_is_not_kept(world: World, line: str, fact: str) -> None:
    await world.say(line)
    assert kept(world) == [fact]


async def test_a_fact_added_by_an_edit_is_not_lost(world: World) -> None:
    await world.say("记住我怕狗", external_id="m1")
    await happens(world, "edit", "m1", "记住我怕狗，还有我住在上海。晚安")
    assert kept(world) == ["我怕狗，还有我住在上海"]


async def test_a_message_of_what_nobody_sees_is_stored_and_answered_like_any_other(world: World) -> None:
    unseen = ("\u200b", "\ufe0f", "hi\n\u200b\nthere")
    for text in unseen:
        await world.say(text)
        await world.wait(5)
    assert [row[0] for row in world.peek.events("text", kind="message")] == ["", "\ufe0f", "hi\n\nthere"]


PIECES = "我对花生过敏住在上海生日是记住忘记年糕吧请的了,，、。:： #3-45和~and Oslo forget remember my i is\n\t"
UNSEEN = "\u200b\ufe0f\u00ad\u2060\ufeff\U000e0001\ud83d"


@given(st.text(alphabet=PIECES, max_size=90) | st.text(alphabet=PIECES[-8:] + UNSEEN, max_size=12))
@example("\u200b")
@example("hi\n\u200b\nthere")
def test_any_text_is_read_and_what_is_found_stands_in_it(text: str) -> None:
    for fact in facts_in(text):
        assert fact in text
    said = bare_object(text, NAMES)
    assert said is None or said.content in text
    bare_wish(text, NAMES)
    assert text.startswith(own_part(text, NAMES))
    assert not only_names(text, "\u200b")
    numbers = listed(text)
    assert len(numbers) == len(set(numbers)) <= 1000
    for each in understand(text, NAMES).commands:
        assert all(number > -1 for number in each.chosen)
    kinds: tuple[QuestionKind, ...] = ("what", "drop", "which")
    for kind in kinds:
        question = MemoryQuestion(kind, (1, 2))
        answer_to(question, text)
        keeps_waiting(question, text)


@all_cases("unit", ["我怕狗，", "#3 ", "#3-", "忘记 ", "请", "and my dog is ", " 吧", "等一下"])
def test_long_hostile_text_is_read_to_its_end(unit: str) -> None:
    for lead in ("忘记", "记住", "忘记 #1", "remember that I am ", "forget a"):
        text = lead + hostile(unit, 2000)
        understand(text, NAMES)
        facts_in(text)
        for clipped in (text[:60], text[:80]):
            bare_wish(clipped, NAMES)
            bare_object(clipped, NAMES)
            answer_to(MemoryQuestion("drop"), clipped)
            keeps_waiting(MemoryQuestion("what"), clipped)


@pytest.mark.parametrize("wish", ["forget #1 - #3", "忘记 #1 - #3", "忘记#1-#3"])
async def test_a_range_of_numbers_is_all_of_them(world: World, wish: str) -> None:
    for line in ("记住我怕狗", "记住我喜欢茶", "记住我住在上海", "记住我属兔"):
        await world.say(line)
    await world.say(wish)
    assert kept(world) == ["我属兔"]


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("remember that the server room key is with Karen", "the server room key is with Karen"),
        ("remember the backup tape is in drawer 3", "the backup tape is in drawer 3"),
        ("Remember the spare bulbs are in the garage.", "the spare bulbs are in the garage"),
    ],
)
async def test_where_a_thing_is_kept_is_a_fact_that_is_kept_at_once(world: World, line: str, fact: str) -> None:
    await world.say(line)
    assert kept(world) == [fact]


@pytest.mark.parametrize("line", ["remember that the devil is in the details", "remember the answer is within you"])
async def test_a_saying_of_where_something_is_is_none(world: World, line: str) -> None:
    await world.say(line)
    assert kept(world) == []
