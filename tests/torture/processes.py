"""The processes that a piece started: found by who their parents are, ended by number."""

import ctypes
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt() -> None:
    """From now on a grandchild whose parent ends is this process's child, so that none gets out of sight."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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
