"""The message catalogue: the same sentences in every language, and never an exception in a person's face."""

import tomllib
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ConfigError
from bot.core.files import PromptFiles, resource_dir
from bot.core.people import SCRIPTS
from bot.text.catalogue import Catalogue
from bot.text.catalogue import catalogue as read

FOLDER = resource_dir("prompts") / "messages"


def catalogue_of(folder: Path) -> Catalogue:
    return read(lambda name: folder / name, ".")


def holes(message: object) -> list[str]:
    words = message if isinstance(message, list) else [message]
    return sorted({name for word in words for _, name, _, _ in Formatter().parse(str(word)) if name is not None})


def shape(language: str) -> dict[str, tuple[int, list[str]]]:
    content = tomllib.loads((FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return {key: (len(value) if isinstance(value, list) else 0, holes(value)) for key, value in content.items()}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return catalogue_of(FOLDER)


@pytest.mark.parametrize("language", SCRIPTS)
def test_every_language_has_the_same_keys_and_the_same_holes(language: str) -> None:
    assert shape(language) == shape("zh-Hans")


@pytest.mark.parametrize("language", SCRIPTS)
def test_every_hole_has_a_name(language: str) -> None:
    assert all(name.isidentifier() for _, names in shape(language).values() for name in names)


def test_a_receipt_is_told_in_the_persons_own_script(catalogue: Catalogue) -> None:
    told = [catalogue.text("remembered", language, id=12) for language in SCRIPTS]
    assert told == ["记住啦 #12", "記住啦 #12", "Got it, I'll remember #12"]


def test_a_week_begins_on_monday(catalogue: Catalogue) -> None:
    assert catalogue.words("when_weekdays", "zh-Hant")[0] == "週一"
    assert len(catalogue.words("when_weekdays", "en")) == 7


def test_an_unknown_language_is_answered_in_english(catalogue: Catalogue) -> None:
    assert catalogue.text("today", "tlh") == "today"
    assert catalogue.words("when_weekdays", "")[0] == "Monday"


def test_a_missing_key_or_value_is_shown_as_the_key(catalogue: Catalogue) -> None:
    assert catalogue.text("no_such_key", "en") == "no_such_key"
    assert catalogue.text("remembered", "en") == "remembered"
    assert catalogue.words("no_such_key", "en") == ()


@given(st.text())
def test_what_people_wrote_is_filled_in_unchanged(nick: str) -> None:
    assert catalogue_of(FOLDER).text("nick_set", "en", nick=nick, id=1) == f"Okay, I'll call you {nick} #1"


def test_all_broken_files_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "zh-Hans.toml").write_text("remembered = ", encoding="utf-8")
    (tmp_path / "en.toml").write_text("remembered = 3", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        catalogue_of(tmp_path)
    assert [name for name in SCRIPTS for problem in caught.value.problems if f"{name}.toml" in problem] == [
        "zh-Hans",
        "zh-Hant",
        "en",
    ]


def test_a_sentence_missing_in_one_language_falls_back_to_english(tmp_path: Path) -> None:
    for language in SCRIPTS:
        (tmp_path / f"{language}.toml").write_text('hello = "hi {x}"' if language == "en" else "", encoding="utf-8")
    assert catalogue_of(tmp_path).text("hello", "zh-Hans", x=1) == "hi 1"


def test_an_operators_own_file_replaces_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages" / "en.toml").write_text('today = "right now"', encoding="utf-8")
    own = read(PromptFiles(tmp_path).path, "messages")
    assert (own.text("today", "en"), own.text("today", "zh-Hans")) == ("right now", "今天")
