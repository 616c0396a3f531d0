"""Scripts: an answer comes in the script the person writes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.people import Script
from bot.text.fold import script_next, script_of
from tests.tables import all_cases

SCRIPTS: tuple[Script, ...] = ("zh-Hans", "zh-Hant", "en")


@all_cases(
    ("text", "script"),
    [
        ("记住我喜欢喝茶", "zh-Hans"),
        ("記住我喜歡喝茶", "zh-Hant"),
        ("听说你喜欢", "zh-Hans"),
        ("妳好", "zh-Hant"),
        ("後來呢", "zh-Hant"),
        ("什么", "zh-Hans"),
        ("甚麼", "zh-Hant"),
        ("remember that I like tea", "en"),
        ("Ｈｅｌｌｏ", "en"),
        ("小暖 how are you", "en"),
        ("小暖, what did I say about 小王?", "en"),
        ("帮我 fix this bug", "zh-Hans"),
        ("幫我 review this pull request", "zh-Hant"),
    ],
)
def test_the_script_of_a_message_is_recognised_whatever_came_before(text: str, script: Script) -> None:
    assert {script_of(text, fallback) for fallback in SCRIPTS} == {script}


def test_text_that_both_scripts_share_keeps_the_script_known_before() -> None:
    assert [script_of("你好", fallback) for fallback in SCRIPTS] == ["zh-Hans", "zh-Hant", "zh-Hans"]
    assert [script_of("我 use Python", fallback) for fallback in SCRIPTS] == ["zh-Hans", "zh-Hant", "zh-Hans"]


@all_cases(
    ("text", "before", "script"),
    [
        ("小暖 good night", "en", "en"),
        ("小暖, ok", "en", "en"),
        ("小暖 good night", None, "en"),
        ("stop", "zh-Hans", "zh-Hans"),
        ("#1", "zh-Hans", "zh-Hans"),
        ("forget #1", "zh-Hans", "en"),
        ("Undo", "zh-Hant", "en"),
        ("/forget #2", "zh-Hant", "zh-Hant"),
        ("no", "zh-Hans", "en"),
        ("yes!", "zh-Hant", "en"),
        ("小暖，OK", "zh-Hant", "zh-Hant"),
        ("lol", "zh-Hant", "zh-Hant"),
        ("please stop", "zh-Hans", "en"),
        ("stop", "en", "en"),
        ("hello", None, "en"),
        ("停", "en", "zh-Hans"),
    ],
)
def test_a_name_that_calls_and_one_latin_word_tell_nothing(text: str, before: Script | None, script: Script) -> None:
    assert script_next(text, ("小暖", "nuan"), before, "zh-Hans") == script


@pytest.mark.parametrize("before", SCRIPTS)
def test_a_command_after_the_name_tells_nothing(before: Script) -> None:
    assert script_next("小暖 .ai tz Tokyo", ("小暖", "nuan"), before, "zh-Hans") == before


@all_cases("text", ["", "😀", "12:30", "？！", "https://example.com/a", "\ud800", "привет"])
def test_text_without_letters_we_know_keeps_the_script_known_before(text: str) -> None:
    assert [script_of(text, fallback) for fallback in SCRIPTS] == list(SCRIPTS)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())), st.sampled_from(SCRIPTS))
def test_any_text_has_one_of_three_scripts(text: str, fallback: Script) -> None:
    assert script_of(text, fallback) in SCRIPTS
