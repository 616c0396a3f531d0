"""The configuration: where values come from, and that everything wrong is told at once and in plain words."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.config.base import is_loopback
from bot.config.settings import Settings, keys
from bot.config.sources import load
from bot.core.errors import ConfigError
from bot.core.files import resource_dir
from bot.pipeline.endpoints import price_problems
from docs.write import example_toml
from tests.tables import all_cases

REMOTE = '[model]\nbase_url = "https://api.example.com/v1"\nname = "m"\n'
LOCAL = '[model]\nbase_url = "http://127.0.0.1:11434/v1"\nname = "m"\n'
KEY = "local-key-of-nobody-42"


def settings(folder: Path, toml: str = "", env: Mapping[str, str] | None = None, dotenv: str = "") -> Settings:
    (folder / ".env").write_text(dotenv, encoding="utf-8")
    path = folder / "nuan.toml"
    path.write_text(toml, encoding="utf-8")
    return load(path, env or {})


def problems(folder: Path, toml: str = "", env: Mapping[str, str] | None = None, dotenv: str = "") -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        settings(folder, toml, env, dotenv)
    return caught.value.problems


def test_without_any_file_everything_has_a_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = load(None, {"HOME": "/", "PATH": ""})
    assert found == Settings()
    assert found.bot.names == ("小暖", "暖暖", "nuan")
    assert found.model.base_url == ""


def test_environment_comes_before_dotenv_before_the_file(tmp_path: Path) -> None:
    found = settings(
        tmp_path,
        "[speak]\nwindow_seconds = 1\nfollowup_seconds = 1\n[session]\nclose_hour = 1\n",
        {"NUAN_SPEAK__WINDOW_SECONDS": "3", "nuan_context__scene__include": "false"},
        "NUAN_SPEAK__WINDOW_SECONDS=2\nexport NUAN_SPEAK__FOLLOWUP_SECONDS='2'\nOTHER=5\n# a comment\n",
    )
    assert (found.speak.window_seconds, found.speak.followup_seconds, found.session.close_hour) == (3, 2, 1)
    assert found.context.scene.include is False


def test_the_process_environment_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUAN_SPEAK__WINDOW_SECONDS", "7")
    monkeypatch.setenv("SPEAK", '{"window_seconds": 7}')
    assert settings(tmp_path).speak.window_seconds == 60
    assert Settings().speak.window_seconds == 60


def test_nuan_toml_of_the_current_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nuan.toml").write_text("\ufeff[speak]\r\nwindow_seconds = 9\r\n", encoding="utf-8")
    assert load(None, {}).speak.window_seconds == 9


def test_a_variable_can_hold_a_list_or_nothing(tmp_path: Path) -> None:
    found = settings(tmp_path, env={"NUAN_BOT__NAMES": "小满， Mo,", "NUAN_BUDGET__DAY_TOKENS": "none"})
    assert found.bot.names == ("小满", "Mo")
    assert found.budget.day_tokens is None


def test_all_problems_are_told_at_once_with_their_paths(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        prompts_dir = "no/such/folder"
        base_url = "x"
        [model]
        base_ur = "http://a.example/v1"
        window_tokens = "many"
        temperature = true
        [bot]
        names = ["a", 3]
        timezone = "Mars/Olympus"
        holidays = "XX"
        [context]
        bus_max = 9000
        scene = 3
        """,
        {"NUAN_MODEL__TEMPRATURE": "1", "NUAN_SPEAK__WINDOW_SECONDS": "x", "NUAN_MODEL__NAME": "m"},
    )
    paths = {problem.partition(":")[0] for problem in found}
    assert paths == {
        "prompts_dir",
        "base_url",
        "model.base_ur",
        "model.window_tokens",
        "model.temperature",
        "model.base_url",
        "bot.names",
        "bot.timezone",
        "bot.holidays",
        "context.bus_max",
        "context.scene",
        "NUAN_MODEL__TEMPRATURE",
        "speak.window_seconds",
    }
    assert "model.base_ur: unknown key; did you mean model.base_url?" in found
    assert "base_url: unknown key; did you mean model.base_url?" in found
    assert "model.window_tokens: must be a whole number" in found
    assert "NUAN_MODEL__TEMPRATURE: unknown variable; did you mean NUAN_MODEL__TEMPERATURE?" in found
    assert "speak.window_seconds: must be a whole number (set by NUAN_SPEAK__WINDOW_SECONDS)" in found


def test_a_file_that_is_no_toml_is_told_with_its_line(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[bot]\nnames = [\n= 3")
    assert "nuan.toml" in problem
    assert "line 3" in problem


def test_a_table_in_capitals_is_that_table(tmp_path: Path) -> None:
    assert settings(tmp_path, '[BOT]\nowner = "me"').bot.owner == "me"
    assert problems(tmp_path, "BOT = 3") == ("bot: must be a table",)


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load(tmp_path / "missing.toml", {})


def test_files_that_are_not_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "nuan.toml").write_bytes(b"# \xff\xfe")
    (tmp_path / ".env").mkdir()
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "nuan.toml", {})
    assert len(caught.value.problems) == 2


def test_a_broken_line_in_dotenv_is_told(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, dotenv="NUAN_BOT__OWNER=me\n= what\n")
    assert "line 2" in problem


def test_a_server_needs_the_name_of_a_model(tmp_path: Path) -> None:
    assert problems(tmp_path, '[model]\nbase_url = "http://localhost:1/v1"')[0].startswith("model.name: missing")
    assert problems(tmp_path, '[model]\nname = "m"')[0].startswith("model.base_url: missing")


def test_a_remote_server_needs_a_key_and_a_local_one_does_not(tmp_path: Path) -> None:
    assert [problem.partition(";")[0] for problem in problems(tmp_path, REMOTE)] == ["model.api_key: missing"]
    assert settings(tmp_path, LOCAL).model.api_key is None
    key = settings(tmp_path, REMOTE, dotenv=f"NUAN_MODEL__API_KEY={KEY}").model.api_key
    assert key is not None
    assert key.get_secret_value() == KEY


def test_a_money_limit_needs_the_prices_of_a_remote_model(tmp_path: Path) -> None:
    env = {"NUAN_MODEL__API_KEY": KEY, "NUAN_BUDGET__DAY_MONEY": "1", "NUAN_BUDGET__MONTH_MONEY": "9"}
    assert [found.partition(":")[0] for found in price_problems(settings(tmp_path, REMOTE, env))] == [
        "budget.day_money"
    ]
    prices = {"NUAN_MODEL__PRICE_INPUT": "0.5", "NUAN_MODEL__PRICE_OUTPUT": "0"}
    assert price_problems(settings(tmp_path, REMOTE, env | prices)) == ()
    assert price_problems(settings(tmp_path, LOCAL, env)) == ()
    one = settings(tmp_path, LOCAL, {"NUAN_MODEL__PRICE_INPUT": "1"})
    assert price_problems(one) == ("model.price_output: missing; another price is set",)


def test_a_window_too_small_for_an_answer_is_told(tmp_path: Path) -> None:
    assert problems(tmp_path, "[model]\nwindow_tokens = 2048\nmax_output_tokens = 1000")[0].startswith(
        "model.window_tokens"
    )


@pytest.mark.parametrize("url", ["localhost:1234", "ftp://x/", "http://", "http://a:x/", "https://u:p@a.example/v1"])
def test_an_address_that_names_no_server_is_told(tmp_path: Path, url: str) -> None:
    found = problems(tmp_path, f'[model]\nname = "m"\nbase_url = "{url}"')
    assert [problem.partition(":")[0] for problem in found] == ["model.base_url"]


def test_no_secret_is_shown_by_settings_or_problems(tmp_path: Path) -> None:
    found = settings(tmp_path, env={"NUAN_MODEL__API_KEY": KEY})
    assert KEY not in repr(found) + str(found) + found.model_dump_json()
    wrong = {"NUAN_BOT__TIMEZONE": KEY, "NUAN_MODEL__BASE_URL": KEY, "NUAN_MODEL__SLOTS": KEY, "NUAN_APIKEY": KEY}
    with pytest.raises(ConfigError) as caught:
        settings(tmp_path, f"[model]\napi_key = ['{KEY}']\n[bot]\nowner = 3\nkey = '{KEY}'", wrong)
    assert len(caught.value.problems) >= 6
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().model.name = "other"


@all_cases(
    ("url", "local"),
    [
        ("http://localhost:1234/v1", True),
        ("http://LOCALHOST", True),
        ("http://127.8.0.1/", True),
        ("http://[::1]:8080/v1", True),
        ("http://box.localhost", True),
        ("http://192.168.1.4:11434/v1", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://127.0.0.1@example.com", False),
        ("", False),
        ("http://[::1", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, local: bool) -> None:
    assert is_loopback(url) is local


@given(st.text())
def test_any_text_is_either_loopback_or_not(url: str) -> None:
    assert is_loopback(url) in (True, False)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from([key.variable for key in keys()]))
@example("长" * 300, "NUAN_PROMPTS_DIR")
@example("~nobody-of-that-name/x", "NUAN_PROMPTS_DIR")
def test_any_value_is_taken_or_told(value: str, name: str) -> None:
    try:
        told = bool(load(Path("no-such-folder") / "nuan.toml", {name: value}))
    except ConfigError as error:
        told = len(error.problems) > 0
    assert told


TOML = st.sampled_from(
    (
        "[bot]\n",
        "[model]\n",
        "[[fallback]]\n",
        "[speak]\n",
        "names = ",
        "window_seconds = ",
        "links = ",
        "timezone = ",
        "mode = ",
        "base_url = ",
        '"小暖"\n',
        '["a", 1]\n',
        "-1\n",
        "1e400\n",
        "true\n",
        "{a = 1}\n",
        "2026-01-01\n",
        '"""',
        "[",
        "=",
        "\n",
        "#",
        "\x00",
        "\ufeff",
        "{",
        "nan\n",
        "99999999999999999999\n",
        ".",
        "bot.names = ",
        '"*"\n',
        "inf\n",
        "\r",
    )
)


@given(
    st.lists(TOML, max_size=12).map(lambda lines: "".join(lines).encode()) | st.binary(max_size=60),
    st.binary(max_size=40),
)
def test_any_file_is_taken_or_told(toml: bytes, secrets: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "nuan.toml"
        path.write_bytes(toml)
        (path.parent / ".env").write_bytes(secrets)
        try:
            told = bool(load(path, {}))
        except ConfigError as error:
            told = len(error.problems) > 0
    assert told


def test_the_example_is_in_step_with_the_code() -> None:
    assert resource_dir("data/nuan.example.toml").read_text(encoding="utf-8") == example_toml()


def test_the_example_can_be_copied_as_it_is(tmp_path: Path) -> None:
    assert settings(tmp_path, example_toml()) == Settings()


def test_the_example_uncommented_is_the_default(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in example_toml().splitlines() if "=" in line or line.startswith("[")]
    toml = "\n".join(line for line in lines if not line.startswith("Each key"))
    assert len(tomllib.loads(toml)) == len(Settings.model_fields)
    assert settings(tmp_path, toml) == Settings()


def test_every_key_has_a_sentence_of_help() -> None:
    assert [key.dotted for key in keys() if not key.help.endswith(".")] == []


def test_every_platform_names_its_adapter_and_the_key_that_starts_it() -> None:
    for name, platform in Settings().platforms.items():
        assert resolve_name(platform.adapter).platform == name
        assert platform.starts_with in type(platform).model_fields
        assert not platform.configured
