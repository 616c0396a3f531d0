"""The operator's log: one line per event, private, and without secrets or people's text."""

import io
import json
import logging
import shutil
import stat
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.settings import LogFile
from bot.core.errors import ModelError
from bot.core.people import ErasedPerson
from bot.ops.log_files import one_line
from bot.ops.logs import Logs
from bot.text.clean import Redactor

API_KEY = "local-key-of-nobody-42"
AT = 1_700_000_000_000
OpenLogs = Callable[..., Logs]


@pytest.fixture
def open_logs(tmp_path: Path) -> Iterator[OpenLogs]:
    opened: list[Logs] = []

    def make(stream: io.StringIO | None = None, **options: object) -> Logs:
        logs = Logs(tmp_path / "logs", LogFile.model_validate(options), lambda: AT, (API_KEY,), stream)
        opened.append(logs)
        return logs

    yield make
    for logs in opened:
        logs.close()


def raw(folder: Path) -> str:
    return (folder / "logs" / "nuan.jsonl").read_text(encoding="utf-8")


def records(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in raw(folder).splitlines()]


def fail(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except Exception as raised:
        return raised


def test_an_event_becomes_one_json_line_with_the_clocks_time(open_logs: OpenLogs, tmp_path: Path) -> None:
    open_logs().log.info("turn", chat=1, mode="casual", cost=0.25)
    expected = {
        "timestamp": "2023-11-14T22:13:20.000Z",
        "level": "info",
        "event": "turn",
        "chat": 1,
        "mode": "casual",
        "cost": 0.25,
    }
    assert records(tmp_path) == [expected]


def test_only_the_owner_can_read_the_log(open_logs: OpenLogs, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir(mode=0o755)
    (tmp_path / "logs" / "nuan.jsonl").touch(mode=0o644)
    open_logs(max_megabytes=0.0001).log.info("turn", filler="x" * 90)
    open_logs(max_megabytes=0.0001).log.info("turn", filler="x" * 90)
    files = list((tmp_path / "logs").iterdir())
    assert len(files) > 1
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "logs").stat().st_mode) == 0o700


def test_no_more_than_the_configured_files_are_kept(open_logs: OpenLogs, tmp_path: Path) -> None:
    log = open_logs(max_megabytes=0.0002, keep=2).log
    for number in range(50):
        log.info("turn", number=number)
    assert sorted(file.name for file in (tmp_path / "logs").iterdir()) == [
        "nuan.jsonl",
        "nuan.jsonl.1",
        "nuan.jsonl.2",
    ]
    assert records(tmp_path)[-1]["number"] == 49


@pytest.mark.parametrize(
    "secret",
    [
        API_KEY,
        "sk-proj-abcdefghijklmnopqrstuvwxyz123456",
        "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
        "Authorization: Bearer abcdef0123456789abcdef",
        "'authorization': 'Basic dXNlcjpwYXNz'",
        "api_key=0123456789abcdef",
    ],
)
def test_a_secret_never_reaches_the_file(open_logs: OpenLogs, tmp_path: Path, secret: str) -> None:
    stream = io.StringIO()
    logs = open_logs(stream, text=True)
    logs.log.warning(f"failed {secret}", detail=f"with {secret}!", deep=[{"key": secret}, Path(secret)])
    logs.log.error("call", exc_info=fail(ModelError("refused", f"401 for {secret}")))
    logging.getLogger("openai").warning("request failed: %s", secret)
    value = secret.rpartition(" ")[2].strip("'").rpartition("=")[2]
    assert len(records(tmp_path)) == 3
    assert value not in raw(tmp_path)
    assert value not in stream.getvalue()


def test_ordinary_words_are_not_taken_for_secrets() -> None:
    text = (
        "turn 12:34 token_count 512, tokens: 512, bearer of news, bot 小暖 says task-list at http://localhost:11434/v1"
    )
    assert Redactor(("none", "")).text(text) == text


def test_people_text_is_logged_only_when_asked_for(open_logs: OpenLogs, tmp_path: Path) -> None:
    for switched_on in (False, True):
        logs = open_logs(text=switched_on)
        logs.log.info("turn", chat=1, text="我想你", name="小明")
        logs.log.error("turn_failed", exc_info=fail(ValueError("我想你"), KeyError("我想你")))
        logging.getLogger("asyncio").error("never retrieved\n%s", "我想你")
        logs.close()
        assert ("我想你" in raw(tmp_path)) is switched_on
        assert ("小明" in raw(tmp_path)) is switched_on


def test_an_error_tells_kind_place_and_cause(open_logs: OpenLogs, tmp_path: Path) -> None:
    open_logs().log.error("call", exc_info=fail(ModelError("busy", "429"), OSError(5, "x")))
    (line,) = records(tmp_path)
    assert (line["error"], line["message"], line["cause"]) == ("ModelError", "busy: 429", "OSError")
    assert "test_logs.py" in str(line["where"])
    assert "fail" in str(line["where"])


def test_exc_info_true_takes_the_error_being_handled(open_logs: OpenLogs, tmp_path: Path) -> None:
    log = open_logs().log
    try:
        raise ModelError("timeout", "90 s")
    except ModelError:
        log.error("call", exc_info=True)
    assert records(tmp_path)[0]["error"] == "ModelError"


def test_libraries_write_their_warnings_into_the_same_file(open_logs: OpenLogs, tmp_path: Path) -> None:
    logs = open_logs()
    logging.getLogger("httpx2").warning("retrying in %s", 3)
    logging.getLogger("httpx2").info("sent")
    logs.close()
    logging.getLogger("httpx2").warning("after the end")
    assert [(line["logger"], line["message"]) for line in records(tmp_path)] == [("httpx2", "retrying in %s")]


def test_lines_below_the_level_are_not_written(open_logs: OpenLogs, tmp_path: Path) -> None:
    log = open_logs(level="warning").log
    log.info("turn")
    log.warning("slow")
    assert [line["event"] for line in records(tmp_path)] == ["slow"]


@given(st.text())
def test_any_text_stays_on_one_line_and_is_read_back(text: str) -> None:
    line = one_line(json.dumps({"text": text}, ensure_ascii=False))
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}
    line.encode()


@given(st.text())
def test_redacting_never_raises_and_takes_the_key_out(text: str) -> None:
    assert API_KEY not in str(Redactor((API_KEY,)).plain({text: [text + API_KEY + text, {text}]}))


def test_a_terminal_shows_no_control_character(open_logs: OpenLogs) -> None:
    stream = io.StringIO()
    open_logs(stream).log.info("turn", mode="a\x1b[2Jb\r\nc\u202ed", chat=3)
    shown = stream.getvalue()
    assert "chat=3" in shown
    assert len(shown.splitlines()) == 1
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_value_that_cannot_be_shown_does_not_break_the_line(open_logs: OpenLogs, tmp_path: Path) -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    open_logs().log.info("turn", thing=Broken(), share=float("nan"))
    assert (records(tmp_path)[0]["thing"], records(tmp_path)[0]["share"]) == ("Broken", "nan")


def test_a_file_that_cannot_be_written_is_told_once(
    open_logs: OpenLogs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = open_logs(max_megabytes=0.0001, keep=1).log
    (tmp_path / "logs" / "nuan.jsonl.1").mkdir()
    (tmp_path / "logs" / "nuan.jsonl.1" / "in the way").touch()
    for _ in range(5):
        log.info("turn", filler="x" * 90)
    assert capsys.readouterr().err.count("the log cannot be written") == 1


def test_the_place_of_an_error_holds_no_source_text(open_logs: OpenLogs, tmp_path: Path) -> None:
    error = fail(ValueError("我想你"))
    assert "raise error" in "".join(traceback.format_exception(error))
    open_logs().log.error("x", exc_info=error)
    assert "raise error" not in raw(tmp_path)


def test_a_log_whose_folder_was_removed_goes_on_in_a_new_one(open_logs: OpenLogs, tmp_path: Path) -> None:
    logs = open_logs()
    logs.log.info("before")
    shutil.rmtree(tmp_path / "logs")
    logs.log.info("after")
    assert [record["event"] for record in records(tmp_path)] == ["after"]
    shutil.rmtree(tmp_path / "logs")
    (tmp_path / "logs").write_text("a file")
    nobody = ErasedPerson(1, frozenset(), frozenset(), frozenset(), frozenset(), {})
    line = Thread(target=logs.log.info, args=("taken out",), daemon=True)
    for each in (Thread(target=logs.scrub, args=(nobody,), daemon=True), line):
        each.start()
        each.join(10)
    assert not line.is_alive(), "who takes somebody out of a log that is gone never stops the others"
