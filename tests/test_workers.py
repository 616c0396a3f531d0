"""The tests run in several processes: each once, and whatever ends a process is no green run."""

import subprocess
import sys
from pathlib import Path

from tests.source import ROOT

TESTS = """
import os, signal, pytest

@pytest.mark.parametrize("number", range(20))
def test_fine(number, tmp_path):
    assert not list(tmp_path.iterdir())

def test_fails():
    assert 1 == 2

@pytest.fixture
def broken():
    raise ValueError("broken")

def test_set_up(broken):
    pass

@pytest.mark.skip
def test_skipped():
    pass

def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_each_test_runs_once_and_those_of_a_process_that_ends_have_failed(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, "utf-8")
    options = ("-p", "tests.workers", "--workers", "3", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:logging")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", "/dev/null", f"--rootdir={tmp_path}", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stdout.count("its process ended with -9") == 1
    assert "= 2 failed, 20 passed, 1 skipped, 1 error in " in ran.stdout
