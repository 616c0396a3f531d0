"""`nuan init`: what it writes, what it refuses to write, and that the key goes nowhere but into .env."""

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from dotenv.parser import parse_stream
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.config_files import with_key, with_values
from bot.cli.init import (
    KEY,
    PROVIDERS,
    SECRET,
    Given,
    PipedAnswers,
    SetupConsole,
    find_models,
    models_in,
    write_configuration,
)
from bot.config.sources import load
from bot.core.errors import ConfigError, NuanError
from tests.fork_server import command

ROOT = Path(__file__).resolve().parent.parent
INIT = ("bot", "init", "--config")
NOTHING = Given()
ENTERS = 6
"""More than there are questions after those of the model."""
SECRET_KEY = "sk-test-7f3a#=$x"
REMOTE = "https://api.example.com/v1"
ENGLISH = {"LANG": "en_US.UTF-8", "LC_ALL": ""}
MODELS = b'{"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "llama3.2"}]}'


@contextlib.contextmanager
def server(answer: Iterable[bytes], status: int = 200, headers: Mapping[str, str] | None = None) -> Iterator[int]:
    """A local model server that answers every GET like this; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/v1/models" else 404)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.writelines(answer)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield http.server_port
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def ollama() -> Iterator[int]:
    with server([MODELS]) as port:
        yield port


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "nuan.toml"


def piped(
    path: Path,
    *answers: str,
    env: Mapping[str, str] = ENGLISH,
    ports: Mapping[str, int] | None = None,
    given: Given = NOTHING,
) -> str:
    """Everything `nuan init` printed when these lines came through a pipe, and Enter for what else it asks."""
    return said_to(path, [*answers, *[""] * ENTERS], env, ports or {}, given)


def said_to(path: Path, lines: Iterable[str], env: Mapping[str, str], ports: Mapping[str, int], given: Given) -> str:
    out = io.StringIO()
    console = SetupConsole(io.StringIO("".join(f"{line}\n" for line in lines)), out)
    write_configuration(path, console, env, ports, given=given, try_out=lambda: not print("✓ model: tried", file=out))
    return out.getvalue()


def key_in(path: Path) -> str:
    key = load(path, {}).model.api_key
    return "" if key is None else key.get_secret_value()


def files(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.iterdir())


@pytest.mark.parametrize(("answer", "name"), [("", "qwen3:8b"), ("1", "qwen3:8b"), ("2", "llama3.2")])
def test_a_model_of_a_local_server_is_taken_by_one_answer(path: Path, ollama: int, answer: str, name: str) -> None:
    told = piped(path, answer, ports={"Ollama": ollama})
    model = load(path, {}).model
    assert (model.base_url, model.name) == (f"http://127.0.0.1:{ollama}/v1", name)
    assert "2. Ollama: llama3.2" in told
    assert "nuan chat --config" in told.splitlines()[-1]
    assert files(path) == ["nuan.toml"]


def test_a_remote_server_gets_prices_a_limit_and_a_key_that_only_its_owner_can_read(path: Path, ollama: int) -> None:
    told = piped(path, "other", REMOTE, '大"模型', SECRET_KEY, "0.15", "", "２.5", "3", ports={"Ollama": ollama})
    model = load(path, {}).model
    assert (model.name, model.price_input, model.price_cached, model.price_output) == ('大"模型', 0.15, 0.15, 2.5)
    assert load(path, {}).budget.day_money == 3
    assert (key_in(path), path.with_name(".env").stat().st_mode & 0o777) == (SECRET_KEY, 0o600)
    assert SECRET_KEY not in path.read_text(encoding="utf-8") + told


def test_a_server_on_this_machine_costs_nothing_and_needs_no_key(path: Path) -> None:
    told = piped(path, "other", "http://localhost:9999/v1", "tiny", "")
    assert load(path, {}).model.name == "tiny"
    assert "million" not in told
    assert files(path) == ["nuan.toml"]


def test_no_server_keeps_the_offline_model_and_says_so(path: Path) -> None:
    told = piped(path, "")
    assert load(path, {}).model.base_url == ""
    assert "offline model" in told.splitlines()[-2]
    assert "tried" not in told


def test_the_key_replaces_the_old_one_and_leaves_the_other_lines_alone(path: Path) -> None:
    dotenv = path.with_name(".env")
    dotenv.write_text(f"# mine\r\nOTHER='a b'\n\nexport {KEY}=\"old\"\nLAST=1", encoding="utf-8", newline="")
    dotenv.chmod(0o644)
    piped(path, "other", REMOTE, "big-1", SECRET_KEY, "")
    assert dotenv.read_bytes().decode() == f"# mine\r\nOTHER='a b'\n\n{KEY}={SECRET_KEY}\nLAST=1"
    assert dotenv.stat().st_mode & 0o777 == 0o600
    assert files(path) == [".env", "nuan.toml"]


def test_enter_keeps_the_key_that_is_already_there_and_asks_for_no_limit_without_prices(path: Path) -> None:
    path.with_name(".env").write_text(f"{KEY}=old\n", encoding="utf-8")
    assert "per day" not in piped(path, "other", REMOTE, "big-1", "", "")
    assert key_in(path) == "old"


@pytest.mark.parametrize("number", range(len(PROVIDERS)))
def test_a_provider_is_picked_by_number_or_name_and_brings_address_and_model(path: Path, number: int) -> None:
    provider = PROVIDERS[number]
    key = () if "localhost" in provider.base_url else (SECRET_KEY,)
    for answer in (str(number + 1), provider.name.upper()):
        told = piped(path, answer, "", *key)
        assert f"{number + 1}. {provider.name}" in told
        model = load(path, {}).model
        assert (model.base_url, model.name) == (provider.base_url, provider.model)
        assert "tried" in told
        path.unlink()


def test_tokens_name_language_and_persona_are_asked_and_the_next_step_is_told(path: Path) -> None:
    told = piped(path, "deepseek", "", SECRET_KEY, "1:telegram", "discord-token", "Ember", "en", "terse")
    settings = load(path, {})
    assert settings.telegram.configured
    assert settings.discord.configured
    assert (settings.bot.names[0], settings.bot.language, settings.persona) == ("Ember", "en", "terse")
    assert "nuan run --config" in told
    assert not any(secret in told + path.read_text("utf-8") for secret in ("1:telegram", "discord-token", SECRET_KEY))


MINE = """# my own
persona = "terse"  # dry

[bot]
timezone = "Asia/Tokyo"

[model]  # the one at home
name = "old"
base_url = "http://localhost:1/v1"
price_input = 2.0
price_output = 3.0
[budget]
day_tokens = 9
"""


def test_of_a_file_that_is_there_only_what_is_answered_anew_is_changed(path: Path) -> None:
    path.write_text(MINE, encoding="utf-8")
    piped(path, "", "", "", "小暖", "")
    assert path.read_text("utf-8") == MINE
    piped(path, "moonshot", "kimi", SECRET_KEY)
    changed = path.read_text("utf-8")
    assert [line for line in MINE.splitlines() if line not in changed.splitlines()] == MINE.splitlines()[7:11]
    assert load(path, {}).model.name == "kimi"


def test_keys_of_a_table_are_set_however_the_file_writes_them() -> None:
    assert with_values('model.name = "mine"\n[bot]\n', {("model", "name"): "new"}) == 'model.name = "new"\n[bot]\n'
    assert with_values('model.name = "a"\n', {("model", "base_url"): "b"}) == 'model.name = "a"\nmodel.base_url = "b"\n'
    assert with_values("[bot]\n", {("", "persona"): "x"}) == 'persona = "x"\n[bot]\n'
    assert with_values("[a]\nname = 1\n", {("model", "name"): "b"}) == '[a]\nname = 1\n\n[model]\nname = "b"\n'


def test_with_yes_nothing_is_asked_and_options_say_the_rest(path: Path) -> None:
    told = said_to(path, (), ENGLISH, {}, Given(yes=True, provider="ollama", model="tiny", language="zh-Hant"))
    assert (load(path, {}).model.name, load(path, {}).bot.language) == ("tiny", "zh-Hant")
    assert "?" not in told
    path.unlink()
    said_to(path, (), ENGLISH, {}, Given(yes=True))
    assert load(path, {}).model.base_url == ""
    with pytest.raises(NuanError, match="not one of them"):
        said_to(path, (), ENGLISH, {}, Given(yes=True, provider="nobody"))


@pytest.mark.parametrize("count", range(12))
def test_input_that_ends_in_the_middle_writes_nothing(path: Path, count: int) -> None:
    answers = ("other", REMOTE, "big-1", SECRET_KEY, "0.1", "0.1", "0.2", "3", "", "", "", "")[:count]
    with pytest.raises(NuanError, match="nothing was written"):
        said_to(path, answers, ENGLISH, {}, NOTHING)
    assert files(path) == []


WRONG: tuple[tuple[str, ...], ...] = (
    ("localhost:1234",),
    ("https://me:password@api.example.com/v1",),
    ("https://api.example.com/a b",),
    ("https://\udcff.example.com",),
    (REMOTE, ""),
    (REMOTE, "big\x1b[31m"),
    (REMOTE, "big-1", "two words"),
    (REMOTE, "big-1", "quote'd"),
    (REMOTE, "big-1", "密钥"),
    (REMOTE, "big-1", SECRET_KEY, "-1"),
    (REMOTE, "big-1", SECRET_KEY, "nan"),
    (REMOTE, "big-1", SECRET_KEY, "1", "", "1", "lots"),
)


@pytest.mark.parametrize("answers", WRONG)
def test_a_wrong_answer_from_a_pipe_writes_nothing(path: Path, answers: tuple[str, ...]) -> None:
    with pytest.raises(NuanError) as caught:
        piped(path, "other", *answers, *["1"] * 9)
    assert "Nothing was written" in str(caught.value)
    assert not answers[-1] or answers[-1] not in str(caught.value)
    assert files(path) == []


def test_a_result_that_would_not_start_is_told_and_not_written(path: Path) -> None:
    path.with_name(".env").write_text("NUAN_BUDGET__DAY_MONEY=5\nnot a line\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        piped(path, "other", REMOTE, "big-1", SECRET_KEY, "")
    problems = "\n".join(caught.value.problems)
    assert "budget.day_money: needs model.price_input" in problems
    assert f"{path.with_name('.env')}: line 2" in problems
    assert files(path) == [".env"]
    assert SECRET_KEY not in path.with_name(".env").read_text(encoding="utf-8") + problems


def test_a_variable_that_wins_over_the_answer_is_named(path: Path) -> None:
    env = ENGLISH | {"NUAN_MODEL__NAME": "other"}
    told = piped(path, "other", "http://localhost:9999/v1", "tiny", "", env=env)
    assert "NUAN_MODEL__NAME" in told
    assert "NUAN_MODEL__BASE_URL" not in told


@pytest.mark.parametrize("name", ["missing/nuan.toml", "."])
def test_a_place_where_no_file_can_be_is_told_before_any_question(path: Path, name: str) -> None:
    with pytest.raises(NuanError, match="cannot be a file"):
        piped(path.parent / name)


LOCALES: tuple[tuple[dict[str, str], str], ...] = (
    ({"LANG": "zh_CN.UTF-8"}, "这台"),
    ({"LANG": "zh_TW.UTF-8"}, "這台"),
    ({"LANG": "en_US", "LC_ALL": "zh_HK"}, "這台"),
    ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "Models"),
    ({}, "Models"),
)


@pytest.mark.parametrize(("env", "word"), LOCALES)
def test_the_questions_speak_the_systems_language(path: Path, ollama: int, env: dict[str, str], word: str) -> None:
    assert piped(path, "", env=env, ports={"Ollama": ollama}).startswith(word)


NO_LISTS = ((b"<html>", 200), (b'{"data": null}', 200), (b'{"data": [{"id": "x"}]}', 500), (b"[" * 9**6, 200))


@pytest.mark.parametrize(("body", "status"), NO_LISTS)
def test_what_is_no_list_of_models_offers_nothing(body: bytes, status: int) -> None:
    with server([body], status) as port:
        assert find_models({"Ollama": port}) == ()


def test_the_search_never_leaves_this_machine(ollama: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with server([], 302, {"Location": f"http://127.0.0.1:{ollama}/v1/models"}) as elsewhere:
        offers = find_models({"Ollama": ollama, "LM Studio": elsewhere})
    assert [offer.server for offer in offers] == ["Ollama", "Ollama"]


def test_a_server_that_never_ends_its_answer_is_left_out(ollama: int) -> None:
    stop = Event()
    drops = (b"[" for _ in iter(lambda: stop.wait(0.05), True))
    with server(drops) as endless:
        offers = find_models({"LM Studio": endless, "Ollama": ollama})
        stop.set()
    assert [offer.model for offer in offers] == ["qwen3:8b", "llama3.2"]


KEYS = st.sampled_from(["data", "id", "x"])
JSON = st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


@given(st.binary() | (JSON | st.text().map(lambda x: {"data": [{"id": x}]})).map(lambda x: json.dumps(x).encode()))
def test_whatever_a_server_says_its_models_are_printable_names(body: bytes) -> None:
    assert all(name and name.isprintable() for name in models_in(body))


ENV_LINES = ("A=1", f"{KEY}=old", f"export {KEY.lower()} = 'x'", "# c", "", "B='two\nlines'", "\r\n", "\n", "\n\n")
ENV_TEXT = st.lists(st.sampled_from(ENV_LINES)).map("".join)


@given(ENV_TEXT | st.text(), st.from_regex(SECRET, fullmatch=True))
def test_the_key_in_env_is_read_back_and_nothing_else_changes(text: str, key: str) -> None:
    def bindings(text: str, ours: bool) -> list[tuple[str, str | None]]:
        found = [(line.key.upper(), line.value) for line in parse_stream(io.StringIO(text, newline="")) if line.key]
        return [pair for pair in found if (pair[0] == KEY) == ours]

    written = with_key(text, key, KEY)
    assert bindings(written, True) == [(KEY, key)]
    assert bindings(written, False) == bindings(text, False)


@pytest.mark.parametrize("lines", [b"", b"\xff\xfe\n"])
def test_the_command_ends_with_one_line_and_code_1(path: Path, lines: bytes) -> None:
    env = os.environ | ENGLISH | {"PYTHONIOENCODING": "utf-8:strict", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", *INIT, str(path)],
        input=lines,
        check=False,
        cwd=path.parent,
        timeout=60,
        env=env,
        capture_output=True,
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"othing was written" in done.stderr
    assert files(path) == []


@pytest.mark.parametrize("token", ["http://127.0.0.1:8977/v1", "tiny-chat"])
def test_what_cannot_be_a_token_is_refused(path: Path, token: str) -> None:
    with pytest.raises(NuanError, match="no token of Telegram"):
        piped(path, "deepseek", "", SECRET_KEY, token)
    assert files(path) == []


def test_a_pipe_that_says_nothing_is_not_waited_for(path: Path) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"deepseek\nhalf an answ")
        console = SetupConsole(PipedAnswers(reading, 0.05), io.StringIO())
        with pytest.raises(NuanError, match=r"no answer came.*nothing was written"):
            write_configuration(path, console, ENGLISH, {})
    finally:
        os.close(reading)
        os.close(writing)
    assert files(path) == []


def test_a_script_is_told_that_what_it_wrote_does_not_work(path: Path) -> None:
    env = os.environ | ENGLISH | {"PYTHONPATH": str(ROOT)}
    words = ["--base-url", "http://127.0.0.1:9/v1", "--model", "tiny", "--yes"]
    done = subprocess.run(
        command(*INIT, str(path), *words),
        check=False,
        cwd=path.parent,
        timeout=60,
        env=env,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, "✗ model" in done.stdout, "does not work yet" in done.stderr) == (1, True, True)
    assert load(path, {}).model.name == "tiny"


def test_on_a_terminal_a_person_is_asked_again_and_the_key_is_never_echoed(path: Path) -> None:
    ours, theirs = pty.openpty()
    answers = {
        "Number or name": ["99", "other"],
        "Address": ["example", REMOTE],
        "Name of the model": ["", "big-1"],
        "Key": ["two words", SECRET_KEY],
        "million": ["much", ""],
        "Token": ["", ""],
        "called": [""],
        "Language": [""],
        "Persona": [""],
    }
    env = os.environ | ENGLISH | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command(*INIT, str(path), "--no-try"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=path.parent,
        env=env,
        start_new_session=True,
    ) as program:
        os.close(theirs)
        told = dialogue(ours, answers)
        code = program.wait(timeout=60)
    os.close(ours)
    assert (code, key_in(path), path.with_name(".env").stat().st_mode & 0o777) == (0, SECRET_KEY, 0o600)
    left = path.parent / "data" / "owner.code"
    assert json.loads(left.read_text())["code"] in told
    assert left.stat().st_mode & 0o777 == 0o600
    assert "must begin with http" in told
    assert not any(secret in told for secret in ("two words", SECRET_KEY))


def test_the_models_of_a_server_are_offered_to_whoever_sits_at_a_terminal(path: Path, ollama: int) -> None:
    ours, theirs = pty.openpty()
    answers = {
        "Number or name": ["other", "2"],
        "Address": [f"http://127.0.0.1:{ollama}/v1"],
        "Key": [""],
        "Token": ["", ""],
        "called": [""],
        "Language": [""],
        "Persona": [""],
    }
    env = os.environ | ENGLISH | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command(*INIT, str(path)),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=path.parent,
        env=env,
        start_new_session=True,
    ) as program:
        os.close(theirs)
        told = dialogue(ours, answers)
        code = program.wait(timeout=60)
    os.close(ours)
    assert "That server has 2 models:" in told
    assert 'name = "llama3.2"' in path.read_text()
    assert code == 1, "this server lists models and answers nothing"
    assert "Now talk to nuan" not in told


def dialogue(terminal: int, answers: Mapping[str, list[str]]) -> str:
    """Type the next answer to each question when it is asked; all that the terminal showed."""
    told, read = "", 0
    with contextlib.suppress(OSError):  # so Linux says that the program's side is closed
        while more := os.read(terminal, 4096):
            told += more.decode(errors="replace")
            if re.search(r"\): $|server: $", told[read:]):
                question = told[read:].splitlines()[-1]
                read = len(told)
                answer = next(left for word, left in answers.items() if word in question).pop(0)
                os.write(terminal, f"{answer}\n".encode())
    return told
