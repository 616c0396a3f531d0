"""The processes that a piece started: found by who their parents are, ended by number."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
ENOUGH = 100
"""Rounds of looking for children of children: each needs one."""


def adopt() -> None:
    """From now on a grandchild whose parent ends is this process's child, so that none gets out of sight."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def follow(parent: int, grace_s: int) -> None:
    """From now on this process ends when its parent does: as by SystemExit, and after `grace_s` for good."""

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it may come twice, and would cut off what is done at the end
        signal.alarm(grace_s)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(128 + signal.SIGTERM)


def _prctl(option: int, value: int) -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def descendants(of: int) -> list[int]:
    """Children, their children and so on; empty where there is no /proc."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
    found = [of]
    for parent in found:
        found += [child for child, above in parents.items() if above == parent]
    return found[1:]


def kill_all(pids: Iterable[int]) -> None:
    """End those that still run."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def end_strays(spared: Iterable[int]) -> None:
    """End every descendant of this process but those spared and theirs, and let go of those that were its own."""
    for _ in range(ENOUGH):
        found = descendants(os.getpid())
        # Looked at last: a spared server begins processes at any time, and losing one ends all of its others.
        kept = {each for pid in spared for each in (pid, *descendants(pid))}
        if not (found := [pid for pid in found if pid not in kept]):
            return
        kill_all(found)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def hears(pid: int, number: signal.Signals) -> bool:
    """Whether that process has taken over what the signal does; nobody can take over SIGKILL.

    Before its first line a program ends by SIGTERM as the system has it, with no exit code of its own.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return True
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return number == signal.SIGKILL or bool(int(caught, 16) >> (number - 1) & 1)
