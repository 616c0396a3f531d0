"""[fallback], [second_fallback] and [small]: what is wrong is told at the start, and no key gets into a log."""

import io
import json
from pathlib import Path

import pytest

from bot.cli.installation import configured_secrets
from bot.config.settings import Settings
from bot.core.files import PromptFiles
from bot.ops.logs import Logs
from bot.pipeline.endpoints import make_pool, price_problems
from tests.test_config import LOCAL, REMOTE, problems, settings

KEYED = f'{REMOTE}api_key = "k-of-the-first-one"\n'
SECTIONS = ("fallback", "second_fallback", "small")


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize(
    ("first", "lines", "path", "words"),
    [
        (LOCAL, 'base_url = "http://127.0.0.1:8080/v1"', "{}.name", "{}.base_url is set, so name a model"),
        (LOCAL, 'name = "  "', "{}.name", "blanks name no model"),
        (LOCAL, "price_input = 1\nprice_output = 2", "{}.name", "{}.price_input is set"),
        ("", 'name = "m2"', "model.base_url", "{}.name is set"),
        ("", 'name = "m2"\nbase_url = "http://127.0.0.1:8080/v1"', "model.base_url", "{}.name is set"),
        (LOCAL, 'name = "m2"\nbase_url = "https://b.example/v1"', "{}.api_key", "not on this machine"),
        (KEYED, 'name = "m2"\nbase_url = "https://b.example/v1"', "{}.api_key", "not on this machine"),
        (KEYED, 'name = "m2"\napi_key = "another-key"', "{}.base_url", "which server it is for"),
    ],
)
def test_each_problem_is_one_line_that_names_its_key(
    tmp_path: Path, section: str, first: str, lines: str, path: str, words: str
) -> None:
    (problem,) = problems(tmp_path, f"{first}[{section}]\n{lines}\n")
    assert problem.startswith(path.format(section) + ": ")
    assert words.format(section) in problem
    assert "another-key" not in problem


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize(
    ("first", "lines", "path"),
    [
        (KEYED, 'name = "m2"\nprice_input = 1', "{}.price_output"),
        (LOCAL, 'name = "m2"\nprice_cached = 1\nprice_output = 2', "{}.price_input"),
    ],
)
def test_a_price_that_another_one_needs_is_named(
    tmp_path: Path, section: str, first: str, lines: str, path: str
) -> None:
    (problem,) = price_problems(settings(tmp_path, f"{first}[{section}]\n{lines}\n"))
    assert problem.startswith(f"{path.format(section)}: missing; another price is set")


@pytest.mark.parametrize(
    "lines",
    [
        "",
        '[fallback]\nname = "m2"',
        '[second_fallback]\nname = "m2"',
        '[small]\nname = "m2"',
        '[fallback]\nname = "m2"\nbase_url = "https://b.example/v1"\napi_key = "b-key"',
        '[small]\nname = "m2"\nbase_url = "http://localhost:8080/v1"\nprice_input = 1\nprice_output = 2',
    ],
)
def test_what_can_work_is_no_problem(tmp_path: Path, lines: str) -> None:
    settings(tmp_path, f"{KEYED}{lines}\n")


def test_the_pool_is_the_first_model_then_the_fallbacks_in_order_then_the_small_one(tmp_path: Path) -> None:
    names = {"fallback": "二", "second_fallback": "三", "small": "小"}
    toml = LOCAL + "".join(f'[{section}]\nname = "{name}"\n' for section, name in names.items())
    pool = make_pool(settings(tmp_path, toml), PromptFiles(None).path)
    assert [member.model.name for member in pool.endpoints] == ["m", "二", "三", "小"]
    assert pool.pick(0).model.name == "m"
    assert pool.pick(0, small=True).model.name == "小"


def test_a_limit_in_money_needs_the_price_of_every_paid_model_also_beside_a_local_one(tmp_path: Path) -> None:
    paid = '[fallback]\nname = "m2"\nbase_url = "https://b.example/v1"\napi_key = "b-key"\n'
    limit = "[budget]\nday_money = 1.0\n"
    (problem,) = price_problems(settings(tmp_path, f"{LOCAL}{paid}{limit}"))
    assert problem.startswith("budget.day_money: needs fallback.price_input and fallback.price_output")
    priced = f"{paid}price_input = 1.0\nprice_output = 2.0\n"
    assert price_problems(settings(tmp_path, f"{LOCAL}{priced}{limit}")) == ()
    local = '[small]\nname = "m2"\n'
    assert price_problems(settings(tmp_path, f"{LOCAL}{local}{limit}")) == (), "what runs here costs nothing"


def test_no_key_of_any_section_gets_into_the_log(tmp_path: Path) -> None:
    keys = {section: f"sesame-{section}-4711" for section in ("model", *SECTIONS)}
    found = Settings.model_validate(
        {section: {"base_url": "https://a.example/v1", "name": "m", "api_key": key} for section, key in keys.items()}
    )
    shown = io.StringIO()
    logs = Logs(tmp_path / "logs", found.log, lambda: 0, configured_secrets(found), shown)
    logs.log.warning("model_retried", detail=f"HTTP 401 {' '.join(keys.values())}", fields=json.dumps(keys))
    logs.close()
    written = shown.getvalue() + "".join(path.read_text("utf-8") for path in (tmp_path / "logs").iterdir())
    assert "model_retried" in written
    assert not any(key in written for key in keys.values())
