"""`python -m tests.torture [table]`: run what has not ended yet and print the table, or only print it (`make torture`).

PART=k/n does the k-th of n parts, ROWS=D1,S1 those rows, JOBS=2 two pieces at once, FRESH=1 all of it anew; results are
in .torture/. Exit code 0: every row is as wanted; 1: one is broken; 2: one is missing or not done.
`python -m tests.torture piece D1 3` does one piece and stores what it found.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence

from tests.torture.registry import FUZZING, IDS, all_rows
from tests.torture.row import Row
from tests.torture.runner import ROOT, Piece, Results, do, pieces_of, run, runnable, sources
from tests.torture.table import exit_code, line_of, printed

RESULTS = ROOT / ".torture"
HASH = "TORTURE_SOURCES"
"""Tells a piece what its run is of: nobody may change a file meanwhile and be counted as tried."""


def main(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Do as told; the exit code."""
    hashed = environment.get(HASH) or sources()
    results, rows = Results(RESULTS, hashed), all_rows()
    match words:
        case ["piece", number, which]:
            do(Piece(runnable(rows[number]), int(which)), results)
            return 0
        case [] | ["table"]:
            os.environ[HASH] = hashed
            return _all(rows, results, environment, running=not words)
    print(__doc__, file=sys.stderr)
    return 2


def _all(rows: Mapping[str, Row], results: Results, environment: Mapping[str, str], *, running: bool) -> int:
    wanted = [number for number in environment.get("ROWS", "").split(",") if number] or [*IDS, *FUZZING]
    if unknown := [number for number in wanted if number not in (*IDS, *FUZZING)]:
        print(f"no such row: {', '.join(unknown)}", file=sys.stderr)
        return 2
    part, _, parts = (environment.get("PART") or "1/1").partition("/")
    if running:
        pieces = pieces_of([rows[number] for number in wanted if number in rows], int(part), int(parts))
        if environment.get("FRESH"):
            for piece in pieces:
                results.forget(piece)
        try:
            asyncio.run(run(pieces, results, int(environment.get("JOBS") or 1)))
        except KeyboardInterrupt:
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
