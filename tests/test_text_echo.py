"""Which lines repeat a statement: many lines searched at once give the same as one after the other."""

from hypothesis import given
from hypothesis import strategies as st

from bot.text.similarity import EchoIndex, echoes

PARTS = (
    "我",
    "喜欢",
    "花生",
    "过敏",
    "對",
    "吃",
    "a",
    "cat",
    "AB12345",
    " ",
    "，",
    "\0",
    "\n",
    "😀",
    "ﬁ",
    "İ",
    "é",
    "猫",
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


@given(TEXTS, st.lists(TEXTS, max_size=12))
def test_searching_many_lines_finds_what_each_of_them_tells(statement: str, texts: list[str]) -> None:
    lines = tuple(enumerate(texts))
    assert EchoIndex(lines).echoing(statement) == {number for number, text in lines if echoes(statement, text)}
