"""Cleaning: whatever someone sends can be stored, put into XML, used as a name and written to a log."""

import unicodedata
from xml.etree.ElementTree import fromstring
from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.text.clean import NAME_CHARS, clean, clean_name, one_line

ANY = st.text(st.characters(exclude_categories=()))
CONTROL = st.text(
    st.sampled_from("a暖\x00\x07\t\r\n\x1b\x7f\x80\x85\x9f\ud83d\ude00\udc00\ufffe\uffff\u2028\u202e\u200d\\ <&")
)


@given(ANY | CONTROL)
@example("\ud800")
def test_any_text_comes_back_from_xml_as_it_was_cleaned(text: str) -> None:
    cleaned = clean(text)
    assert (fromstring(f"<a>{escape(cleaned)}</a>".encode()).text or "") == cleaned
    assert clean(cleaned) == cleaned


def test_ordinary_text_stays_as_it_is() -> None:
    text = "第一行\n\t第二行 👨‍👩‍👧 é\u0085\u2028 ok"
    assert clean(text) == text


def test_line_ends_become_one_and_halves_of_an_emoji_are_joined() -> None:
    assert clean("a\r\nb\rc") == "a\nb\nc"
    assert clean("\ud83d\ude00") == "😀"
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("\x00a\x1b[31m\x9b") == "a[31m"


@given(ANY | CONTROL)
def test_a_name_is_one_short_visible_line(text: str) -> None:
    name = clean_name(text)
    assert 1 <= len(name) <= NAME_CHARS
    assert name == " ".join(name.split())
    assert not {unicodedata.category(char) for char in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("  小 \n\t王  ", "小 王"),
        ("\u202eevil\u202c", "evil"),
        ("a\u2028b", "a b"),
        ("\u200b\u2060\ufeff", "?"),
        ("\u3164\u2800", "?"),
        ("", "?"),
        ("\x1b[2J", "[2J"),
        ("暖" * 100, "暖" * 63 + "…"),
    ],
)
def test_a_name_cannot_hide_or_break_a_line(given_name: str, shown: str) -> None:
    assert clean_name(given_name) == shown


@given(ANY | CONTROL)
def test_a_log_line_is_one_line_without_terminal_control(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not {unicodedata.category(char) for char in line} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    line.encode()


def test_a_log_line_shows_what_it_escapes() -> None:
    assert one_line("a\nb\x1b[0m\u2028\\") == "a\\nb\\x1b[0m\\u2028\\\\"
    assert one_line("小暖\u3000在吗 😀") == "小暖\u3000在吗 😀"


@given(ANY, ANY)
def test_two_texts_never_look_alike_in_the_log(one: str, other: str) -> None:
    assert (one_line(one) == one_line(other)) == (one == other)
