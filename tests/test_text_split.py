"""Splitting: each message fits, nothing is lost, and no visible character or code block is broken."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.split import fences, join, split, utf16_units
from tests.hostile import LONG, hostile
from tests.tables import all_cases

SIGNS = ("👨‍👩‍👧", "❤️", "🇨🇳", "👍🏽", "e\u0301", "각", "\u1112\u1161\u11ab", "1️⃣", "🏴\U000e0067\U000e0062\U000e007f")
PIECES = st.sampled_from(
    [
        *SIGNS,
        "你好",
        "暖",
        "。",
        "！",
        "，",
        "、",
        "…",
        " ",
        " ",
        "\n",
        "\n\n",
        "word",
        "a.b",
        "Done. ",
        "3.14",
        "```",
        "```\n",
        "\n```\n",
        "\n```py\n",
        "```js\n",
        "````\n",
        "\n  ```c\n",
        "``` \n",
        "`x`",
        "**",
        "“好。”",
        "x = 1\n",
        "\r\n",
    ]
)
MIXED = st.lists(PIECES, max_size=120).map("".join)
ANY = st.text(st.characters(exclude_categories=()), max_size=300) | MIXED
LIMIT = st.integers(1, 80)
SIZE = st.sampled_from([len, utf16_units])


def longest_blank(text: str) -> int:
    return max((len(run) for run in re.findall(r"\s+", text)), default=0)


@given(ANY, LIMIT, SIZE)
def test_the_parts_joined_are_the_reply(text: str, limit: int, size: Callable[[str], int]) -> None:
    assert join(split(text, limit, size)) == text


@given(ANY, st.integers(2, 80), SIZE)
def test_every_part_fits(text: str, limit: int, size: Callable[[str], int]) -> None:
    assert all(size(part) <= limit for part in split(text, limit, size))


@given(MIXED, st.integers(40, 120))
def test_no_part_is_blank(text: str, limit: int) -> None:
    parts = split(text, limit, utf16_units)
    if text.strip() and longest_blank(text) <= limit // 2:
        assert all(part.strip() for part in parts)


@given(st.lists(st.sampled_from(SIGNS), min_size=1, max_size=80), st.integers(8, 40))
def test_no_visible_character_is_divided(signs: list[str], limit: int) -> None:
    rest = list(signs)
    for part in split("".join(signs), limit):
        while part:
            sign = rest.pop(0)
            assert part.startswith(sign)
            part = part.removeprefix(sign)
    assert rest == []


@given(st.text("ab \n。", max_size=400), LIMIT)
def test_without_code_the_parts_are_simply_the_text_cut(text: str, limit: int) -> None:
    assert "".join(split(text, limit)) == text


@all_cases(
    ("text", "limit", "parts"),
    [
        ("第一段。\n\n第二段，很长。", 10, ("第一段。\n\n", "第二段，很长。")),
        ("一行字在这里\n另一行字", 8, ("一行字在这里\n", "另一行字")),
        ("今天很好。明天呢？后天再说吧", 12, ("今天很好。明天呢？", "后天再说吧")),
        ("他说“好。”然后走了很远", 8, ("他说“好。”", "然后走了很远")),
        ("It is. Version 3.14 is out now", 20, ("It is. Version 3.14 ", "is out now")),
        ("One two. Three four five", 14, ("One two. ", "Three four ", "five")),
        ("苹果，香蕉，橘子和梨", 7, ("苹果，香蕉，", "橘子和梨")),
        ("one two three", 8, ("one two ", "three")),
        ("abcdefgh", 3, ("abc", "def", "gh")),
        ("**好。**然后呢你说", 8, ("**好。**然后", "呢你说")),
        ("abcdefghij\n", 10, ("abcdefghi", "j\n")),
        ("end of it.\n", 10, ("end of ", "it.\n")),
        ("🇨🇳🇹🇼🇭🇰", 5, ("🇨🇳🇹🇼", "🇭🇰")),
        ("abc", 3, ("abc",)),
        ("", 3, ()),
        (" \n", 3, (" \n",)),
    ],
)
def test_the_best_border_that_leaves_the_part_full_is_taken(text: str, limit: int, parts: tuple[str, ...]) -> None:
    assert split(text, limit) == parts


def test_a_cut_code_block_is_closed_and_opened_again_with_its_language() -> None:
    text = "看：\n```python\n" + "x = 1\n" * 12 + "```\n完"
    parts = split(text, 62)
    assert parts[0] == "看：\n```python\n" + "x = 1\n" * 7 + "```"
    assert parts[1] == "```python\n" + "x = 1\n" * 5 + "```\n完"
    assert join(parts) == text


def test_a_code_line_longer_than_a_message_is_cut_and_joined_again() -> None:
    text = "```\n" + "x" * 100 + "\n```"
    parts = split(text, 40)
    assert all(part.startswith("```\n") and part.rstrip().endswith("\n```") for part in parts)
    assert join(parts) == text


def test_a_code_block_that_fits_goes_whole_into_the_next_message() -> None:
    code = "```py\n" + "y = 2\n" * 4 + "```"
    assert split("字" * 20 + "\n" + code, 40) == ("字" * 20 + "\n", code)


def test_two_code_blocks_side_by_side_stay_two() -> None:
    block = "```py\n" + "a = 1\n" * 3 + "```"
    text = f"{block}\n{block}"
    assert split(text, 30) == (block + "\n", block)
    assert join(split(text, 30)) == text


@given(
    st.lists(st.sampled_from(["x = 1\n", "\n", "if a:\n", "你好 world\n"]), min_size=5, max_size=60),
    st.integers(30, 80),
)
def test_every_part_of_a_long_code_block_is_a_code_block(lines: list[str], limit: int) -> None:
    text = "```py\na\n" + "".join(lines) + "b\n```"
    for part in split(text, limit):
        (fence,) = fences(part)
        assert fence.start == 0
        assert fence.info == "py"
        assert fence.close < len(part)


def test_a_border_that_only_looks_like_a_cut_code_block_is_not_taken_for_one() -> None:
    text = "```abcdefgh\nx\n``` ```abcdefgh\ny"
    assert all(join(split(text, limit)) == text for limit in range(1, len(text)))


def test_telegram_counts_an_emoji_twice() -> None:
    assert utf16_units("a暖👍🏽") == 6
    assert utf16_units("\ud83d") == 1
    assert [utf16_units(part) for part in split("😀" * 5, 4, utf16_units)] == [4, 4, 2]


HOSTILE = (
    *(hostile(unit, 12_000) for unit in LONG),
    "a" + "\n" * 12_000 + "b",
    "```" + "i" * 5_000 + "\n" + "x\n" * 4_000,
    "```py\n" + "y = 1\n" * 2_000,
)


@all_cases("text", HOSTILE)
def test_hostile_texts_end_well(text: str) -> None:
    for limit, size in ((4096, utf16_units), (2000, len)):
        parts = split(text, limit, size)
        assert join(parts) == text
        assert all(0 < size(part) <= limit for part in parts)


@pytest.mark.parametrize("limit", [-1, 0, 1])
def test_a_limit_smaller_than_a_character_still_ends(limit: int) -> None:
    text = "a👨‍👩‍👧\r\n```\nb\n```"
    assert join(split(text, limit)) == text
    assert split("ab", limit) == ("a", "b")
    assert split("👍🏽", limit, utf16_units) == ("👍", "🏽")
