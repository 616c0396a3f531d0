"""Index and question terms: what was said is found by asking for it, in either Chinese script."""

import os
import re
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.text.terms import QUERY_CHARS, index_terms, query_terms
from tests.tables import all_cases

ANY = st.text(st.characters(exclude_categories=()))
CHINESE = st.text(st.sampled_from("我你的了是什么小暖喜欢喝茶咖啡生日火锅蔡开会"), min_size=2)


def found(question: str, text: str) -> set[str]:
    return set(query_terms(question)) & set(index_terms(text))


@settings(deadline=None)
@given(CHINESE, st.data())
def test_every_pair_of_characters_in_a_text_finds_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 2))
    assert found(text[start : start + 2], text)


@all_cases(
    ("question", "text"),
    [
        ("蔡開會嗎", "老蔡要开会"),
        ("我的媽媽生日", "妈妈的生日是三月五日"),
        ("妈妈生日", "媽媽的生日是三月五日"),
        ("What is my CAT called?", "the cat is called Miro"),
        ("喜欢latte吗", "我爱 Latte"),
        ("iphone 17", "买了ＩＰＨＯＮＥ 17"),
        ("猫叫什么", "我养了一只猫"),
        ("什么", "你在说什么"),
        ("한국어", "나는 한국어를 배운다"),
    ],
)
def test_a_question_finds_what_was_said(question: str, text: str) -> None:
    assert found(question, text)


def test_the_most_telling_terms_come_first_and_only_once() -> None:
    assert query_terms("what did I tell you about my cat? the cat!") == ("tell", "cat")
    assert query_terms("小暖，我媽媽的生日是什么时候")[:3] == ("小暖", "妈妈", "生日")
    terms = query_terms("生日生日生日")
    assert len(terms) == len(set(terms))


def test_a_question_of_stop_words_alone_still_asks_for_them() -> None:
    assert query_terms("the") == ("the",)
    assert "什么" in query_terms("什么")
    assert query_terms("😀 ！？") == ()


def test_a_text_is_indexed_as_often_as_it_says_a_thing() -> None:
    assert index_terms("喝茶 tea_Tea") == ("喝", "喝茶", "茶", "tea", "tea")


@settings(deadline=None)
@given(ANY)
def test_terms_hold_no_space_or_ascii_mark_whatever_the_text(text: str) -> None:
    for term in (*index_terms(text), *query_terms(text)):
        assert not re.search(r"[\x00-/:-@\[-`{-\x7f\s]", term)
        term.encode()
    assert set(query_terms(text)) <= set(index_terms(text))


def test_a_huge_question_is_read_only_so_far() -> None:
    assert query_terms("a " * QUERY_CHARS + "zebra") == ("a",)


def test_the_dictionary_loads_silently_and_leaves_nothing_behind(tmp_path: Path) -> None:
    code = "from bot.text.terms import query_terms; assert '生日' in query_terms('我的生日')"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc")}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parent.parent,
    )
    assert ran.stdout + ran.stderr == ""
    assert {path.name for path in tmp_path.iterdir()} <= {"pyc"}


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    code = (
        "import sys, bot.text.terms as t, bot.text.dates, bot.text.fold; t.query_terms('my cat');"
        "assert not {'jieba', 'opencc', 'holidays'} & set(sys.modules), 'loaded'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)
