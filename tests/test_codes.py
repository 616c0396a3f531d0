"""What is taken for a code, and the menu that is made from the table of commands."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.commands.registry import command_specs
from bot.core.files import PromptFiles
from bot.core.people import SCRIPTS
from bot.text.catalogue import catalogue
from bot.text.codes import code_form, code_in, new_code
from tests.tables import all_cases

CODE = re.compile(r"[2-9A-HJKMNP-Z]{8}")


@given(st.one_of(st.text(max_size=40), st.text(alphabet="2a9BzO0 \n", max_size=9)))
def test_only_a_code_is_taken_for_a_code(text: str) -> None:
    code = code_in(text, False)
    assert not code or (code == text.strip().upper() and CODE.fullmatch(code))


def test_every_new_code_is_one_in_any_case() -> None:
    made = {new_code() for _ in range(500)}
    assert len(made) == 500
    assert all(code_in(f" {code.lower()}", False) == code == code_in(f".ai link {code}", True) for code in made)


@all_cases("text", ["thursday", "23456789", "ABCDEFG0", "ABCDEF2", "A2CDEFGH 你好", "说 A2CDEFGH"])
def test_what_only_looks_like_a_code_is_talk(text: str) -> None:
    assert code_in(text, False) == ""
    assert code_form("A2CDEFGH") != ""


def test_the_menu_is_made_from_the_table_in_three_languages() -> None:
    menu = {spec.name: spec for spec in command_specs(catalogue(PromptFiles(None).path, "messages"))}
    assert menu.keys() >= {"ai help", "ai ctx", "ai link", "ai allow", "remember", "forget", "new"}
    assert all(dict(spec.about).keys() == set(SCRIPTS) for spec in menu.values())
    assert not any(text.startswith("help_") for spec in menu.values() for _, text in spec.about)
    assert (menu["remember"].says, menu["remember"].shape, menu["ai ctx"].says) == ("/remember ", "text", ".ai ctx")
