"""`python -m tests.hanging FOLDER [SECONDS]`: a run of the torture suite whose only piece never ends, and starts programs.

They say their numbers in FOLDER/pids, and FOLDER/up is there when all have. With SECONDS the piece has so long to end,
and heeds no signal that can be refused.
"""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

from tests.torture.process_pool import FOLDER, RUNNER, ProcessPool
from tests.torture.processes import follow
from tests.torture.row import Found, Row, Size
from tests.torture.runner import Piece, Results, do

AFTER_S = 300
"""So long a piece stays when its program has ended."""

PROGRAM = """
echo $$ > pids; sleep 300 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; touch up; exec sleep 300' & wait
"""


async def hangs(folder: Path, size: Size) -> Found:
    """Start a program that starts others, one of them as far away as it gets; then nothing more."""
    started = await asyncio.create_subprocess_exec("sh", "-c", PROGRAM, start_new_session=True, cwd=sys.argv[1])
    (folder / "made.txt").touch()
    if seconds(sys.argv):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            os.getpid()
    await started.wait()
    with contextlib.suppress(TimeoutError):  # its program may be ended before it: it is not done then
        await asyncio.wait_for(asyncio.Event().wait(), AFTER_S)
    return Found()


def seconds(arguments: list[str]) -> float:
    """How long a deaf piece has to end, 0 for one that heeds signals."""
    return float(arguments[2]) if len(arguments) > 2 and arguments[2] != "piece" else 0.0


def main(arguments: list[str]) -> None:
    """The run, or its piece."""
    folder, limit_s = arguments[1], seconds(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    row = Row("D1", "", "", "tries", 1, 1, 1, limit_s=limit_s or 600, run=hangs)
    results = Results(Path(folder) / "kept", {"D1": "aaaa"})
    if "piece" in arguments:
        follow(int(os.environ[RUNNER]), 5)
        do(Piece(row, 1), results, Path(os.environ[FOLDER]))
    else:
        program = ("-m", "tests.hanging", *arguments[1:])
        asyncio.run(ProcessPool(results, program, grace_s=0.5).run([Piece(row, 1)]))


if __name__ == "__main__":
    main(sys.argv)
