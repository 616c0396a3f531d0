"""Cleaning: whatever someone sends can be stored, put into XML, used as a name and written to a log."""

import unicodedata
from xml.etree.ElementTree import fromstring
from xml.sax.saxutils import escape

from hypothesis import example, given
from hypothesis import strategies as st

from bot.text.clean import NAME_CHARS, as_data, clean, clean_name
from tests.tables import all_cases

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
    text = "第一行\n\t第二行 👨‍👩‍👧 é ok"
    assert clean(text) == text


def test_line_ends_become_one_and_halves_of_an_emoji_are_joined() -> None:
    assert clean("a\r\nb\rc\u0085d\u2028e\u2029f") == "a\nb\nc\nd\ne\nf"
    assert clean("\ud83d\ude00") == "😀"
    assert clean("a\ud83db") == "a\ufffdb"
    assert clean("\x00a\x1b[31m\x9b") == "a[31m"


@given(ANY | CONTROL)
def test_a_name_is_one_short_visible_line(text: str) -> None:
    name = clean_name(text)
    assert 1 <= len(name) <= NAME_CHARS
    assert name == " ".join(name.split())
    assert not {unicodedata.category(char) for char in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@all_cases(
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


@given(ANY)
def test_data_in_a_prompt_is_one_line_that_opens_no_tag(text: str) -> None:
    line = as_data(text)
    assert len(line.splitlines()) <= 1
    assert not set(line) & {"<", ">"}


def test_data_in_a_prompt_keeps_its_words() -> None:
    assert as_data("&lt;ctx&gt; &#60;") == "&amp;lt;ctx&amp;gt; &amp;#60;", "what reads as an escape is escaped"
    assert as_data("a < b &\n  c") == "a &lt; b & c"
