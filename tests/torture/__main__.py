"""`python -m tests.torture [table]`: run what has not ended yet and print the table, or only print it (`make torture`).

PART=k/n does the k-th of n parts, ROWS=D1,S1 those rows, JOBS=2 two pieces at once, FRESH=1 all of it anew; results are
in .torture/. Exit code 0: every row is as wanted; 1: one is broken; 2: one is missing or not done.
`python -m tests.torture piece D1 3` does one piece and stores what it found.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.torture.keys import ROOT, keys
from tests.torture.process_pool import CHANGED, FOLDER, GRACE_S, KEY, RUNNER, ProcessPool
from tests.torture.processes import follow
from tests.torture.registry import ALL, at_home, by_id
from tests.torture.runner import Piece, Results, do, pieces_of, runnable
from tests.torture.table import exit_code, line_of, printed

RESULTS = ROOT / ".torture"
MOST_JOBS = 64


def main(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Do as told; the exit code."""
    match words:
        case ["piece", number, which]:
            return _piece(number, which, environment)
        case [] | ["table"]:
            return _all(environment, running=not words)
    print(__doc__, file=sys.stderr)
    return 2


def _piece(number: str, which: str, environment: Mapping[str, str]) -> int:
    """One piece, for a run or by hand; a file of it that changes meanwhile makes that it was not tried."""
    if RUNNER in environment:
        follow(int(environment[RUNNER]), int(GRACE_S))
    found = [(row, home) for row, home in at_home() if row.id == number]
    made = keys(found)
    row = runnable(found[0][0]) if found else None
    if row is None or not which.isdecimal() or not 1 <= int(which) <= len(row.pieces()):
        print(f"no such piece: {number} {which}", file=sys.stderr)
        return 2
    if environment.get(KEY, made[number]) != made[number]:
        return CHANGED
    folder = Path(environment.get(FOLDER) or tempfile.mkdtemp(prefix="nuan-"))
    results, piece = Results(RESULTS, made), Piece(row, int(which))
    try:
        do(piece, results, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if keys(found) != made:
        results.forget(piece)
        return CHANGED
    return 0


def _all(environment: Mapping[str, str], *, running: bool) -> int:
    found = at_home()
    rows = by_id(row for row, _ in found)
    wanted = list(dict.fromkeys(re.findall(r"[^\s,]+", environment.get("ROWS", "")))) or [*ALL]
    part = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", environment.get("PART") or "1/1")
    jobs = environment.get("JOBS") or "1"
    if unknown := [number for number in wanted if number not in ALL]:
        print(f"no such row: {', '.join(unknown)}", file=sys.stderr)
        return 2
    if part is None or not 1 <= int(part[1]) <= int(part[2]):
        print("PART is k/n: the k-th of n parts, as 2/3", file=sys.stderr)
        return 2
    if not jobs.isdecimal() or not 1 <= int(jobs) <= MOST_JOBS:
        print(f"JOBS is how many pieces at once, 1 to {MOST_JOBS}", file=sys.stderr)
        return 2
    results = Results(RESULTS, keys(found))
    if running:
        pieces = pieces_of([rows[number] for number in wanted if number in rows], int(part[1]), int(part[2]))
        if environment.get("FRESH"):
            for piece in pieces:
                results.forget(piece)
        try:
            asyncio.run(ProcessPool(results).run(pieces, int(jobs)))
        except (KeyboardInterrupt, asyncio.CancelledError):
            print("stopped; what has ended is kept", file=sys.stderr)
    lines = [
        line_of(number, row, *(results.all(row) if row is not None else ((), 0)))
        for number in wanted
        for row in (rows.get(number),)
    ]
    print(printed(lines))
    return exit_code(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
