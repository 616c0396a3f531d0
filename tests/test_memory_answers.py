"""What people answer when they are asked which memory is meant; the sentences are our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.memories import MemoryQuestion
from bot.language.wishes.reader import answer_to
from tests.tables import all_cases
from tests.world import World

TWO, ONE = MemoryQuestion("which", (4, 9)), MemoryQuestion("which", (4,))


def chosen(question: MemoryQuestion, text: str) -> tuple[int, ...] | None:
    """The memories that go; () when all stay, None when it is no answer."""
    command = answer_to(question, text, ("小暖", "nuan"))
    return command.chosen if command is not None else None


@all_cases(
    "text",
    [
        "no",
        "No.",
        "no thanks",
        "no, keep them",
        "nope",
        "cancel",
        "never mind",
        "不",
        "不用了，谢谢",
        "不，留着",
        "都留着吧",
        "算了吧",
    ],
)
def test_a_no_leaves_everything(text: str) -> None:
    assert chosen(TWO, text) == chosen(ONE, text) == ()


@all_cases("text", ["yes", "Yes please", "yeah", "all", "both", "go ahead", "嗯，都忘掉", "全部", "好，都忘掉", "是的"])
def test_a_yes_means_all_of_them(text: str) -> None:
    assert chosen(TWO, text) == (4, 9)


@all_cases("text", ["ok", "好的", "嗯", "行", "可以", "okay, thanks"])
def test_agreeing_is_enough_where_there_is_one_and_chooses_none_of_two(text: str) -> None:
    assert chosen(ONE, text) == (4,)
    assert chosen(TWO, text) is None


@pytest.mark.parametrize(
    ("text", "gone"), [("ok 2", (9,)), ("嗯，第二个", (9,)), ("#9 和 1", (9, 4)), ("yes, number 1", (4,))]
)
def test_a_number_may_come_after_a_word(text: str, gone: tuple[int, ...]) -> None:
    assert chosen(TWO, text) == gone


@all_cases(
    "text", ["no wait", "好热啊", "ok so what about dinner", "行李箱在哪", "不知道今天吃什么", "yesterday was nice"]
)
def test_talk_is_no_answer(text: str) -> None:
    assert chosen(TWO, text) is chosen(ONE, text) is None


@given(st.lists(st.sampled_from(["no", "ok", "好", "嗯", "，", " ", "yes", "算了", "不", "1", "都", "x"]), max_size=30))
def test_any_mixture_chooses_only_what_was_offered(words: list[str]) -> None:
    assert set(chosen(TWO, "".join(words)) or ()) <= {4, 9}


async def test_a_no_in_english_keeps_what_a_yes_forgets(world: World) -> None:
    for fact in ("I like coffee", "I drink two cups of coffee a day"):
        await world.say(f"remember that {fact}")
    for answer, says, left in (("no", "All right, everything stays", 2), ("yes", "#1", 0)):
        await world.say("forget about coffee")
        await world.say(answer)
        assert says in world.replies[-1]
        assert world.peek.memories.count(disabled_at=None) == left
