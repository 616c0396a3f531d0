"""A run of the torture suite: what it keeps and for how long, what it takes, and that it leaves nothing behind."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from tests.fork_server import ROOT
from tests.torture.__main__ import main
from tests.torture.keys import keys
from tests.torture.live import until
from tests.torture.row import Row

ROW = Row("D1", "a fault", "nothing lost", existing=("test_named.py::test_it",))
HOME = "tests.torture.rows_some"
ENOUGH = ("1", "4", "16", "64")
"""Seconds that a piece is given, until it could start its programs in that time: a busy machine takes long for it."""
FILES = {
    "bot/app.py": "",
    "adapters/a.py": "",
    "prompts/p.md": "",
    "data/persona/p.md": "",
    "data/nuan.db": "",
    "tests/torture/rows_some.py": "def run():\n    from tests import test_used\n    from tests.world import World\n",
    "tests/world.py": "",
    "tests/test_used.py": "from tests.test_far import name\n",
    "tests/test_far.py": "",
    "tests/test_named.py": "",
    "tests/test_other.py": "",
}


def test_what_was_found_counts_until_something_changes_that_the_row_is_made_of(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    unchanging = {"tests/test_other.py", "data/nuan.db"}
    for name in FILES:
        before = keys([(ROW, HOME)], tmp_path)
        assert keys([(ROW, HOME)], tmp_path) == before
        with (tmp_path / name).open("a") as file:
            file.write("# changed\n")
        assert (keys([(ROW, HOME)], tmp_path) == before) == (name in unchanging), name
    (tmp_path / "tests/new.py").touch()
    assert keys([(ROW, HOME)], tmp_path) != before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("PART", part) for part in ("0/3", "4/3", "1/0", "-1/3", "1", "a/b", "1/2/3", "1.5/3", "²/3", "1/99999999")),
        *(("JOBS", jobs) for jobs in ("0", "-1", "x", "1.5", "65")),
        *(("ROWS", rows) for rows in ("Z9", "d1", "D1;S1", "D28")),
    ],
)
def test_what_nobody_can_run_is_said_and_nothing_runs(
    name: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], {name: value}) == 2
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 1
    assert (name if name != "ROWS" else value) in told.err
    assert told.out == ""


@pytest.mark.parametrize(
    "words", [["piece", "Z9", "1"], ["piece", "D16", "0"], ["piece", "D16", "x"], ["piece"], ["x"]]
)
def test_a_piece_that_is_not_there_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words, {}) == 2
    assert capsys.readouterr().err


def living(folder: Path) -> Iterator[int]:
    for pid in map(int, (folder / "pids").read_text().split()):
        try:
            state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state != "Z":
            yield pid


def gone(folder: Path) -> bool:
    return not list(living(folder))


def hang(folder: Path, *seconds: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.hanging", str(folder), *seconds]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)


async def test_two_runs_do_no_piece_at_once_and_however_a_run_ends_nothing_of_it_goes_on(tmp_path: Path) -> None:
    runs: list[tuple[Signals, Path, subprocess.Popen[bytes]]] = []
    for number in (SIGINT, SIGTERM, SIGHUP, SIGKILL):
        (folder := tmp_path / number.name).mkdir()
        runs.append((number, folder, hang(folder)))
    for number, folder, _ in runs:
        assert await until((folder / "up").exists), number
        assert len(list(living(folder))) == 3
    _, beside = await asyncio.to_thread(hang(tmp_path / "SIGTERM").communicate)
    assert "D1-1 is under way in another run" in beside.decode()
    for number, folder, run in runs:
        assert len(list(living(folder))) == 3
        run.send_signal(number)
    for number, folder, run in runs:
        await asyncio.to_thread(run.communicate)
        assert await until(partial(gone, folder)), number
        assert not list((folder / "kept").glob("D1-1*")), "it did not end, so it is done again"


async def test_a_piece_that_heeds_nothing_is_ended_with_all_it_started_and_told(tmp_path: Path) -> None:
    for seconds in ENOUGH:
        (folder := tmp_path / seconds).mkdir()
        run = hang(folder, seconds)
        await asyncio.to_thread(run.communicate)
        assert f"not done in {seconds} s" in (folder / "kept" / "D1-1.json").read_text("utf-8")
        if (folder / "up").exists():
            break
    assert list(living(folder)) == []
