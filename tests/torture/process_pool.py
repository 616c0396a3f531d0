"""Runs pieces as processes of their own, some at once, and goes on where it was left.

However a run ends, no process of its pieces is left, and no piece outlives its time.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from tests.torture.keys import ROOT
from tests.torture.processes import adopt, end_strays
from tests.torture.row import Found
from tests.torture.runner import Outcome, Piece, Results

GRACE_S = 20.0
"""How long a piece that used up its time may take to end by itself."""
JOBS = 1
"""Pieces at once: more of them would measure each other."""
PROGRAM = ("-m", "tests.torture")
KEY, FOLDER, RUNNER = "TORTURE_KEY", "TORTURE_FOLDER", "TORTURE_RUNNER"
"""What a piece is told by who runs it: what it is made of, where it may write, whose end is its own."""
CHANGED = 3
"""A piece's exit code when it is no longer made of that."""


class ProcessPool:
    """So many pieces at once, each in a process of its own."""

    def __init__(self, results: Results, program: Sequence[str] = PROGRAM, grace_s: float = GRACE_S) -> None:
        self._results = results
        self._program = program
        self._grace_s = grace_s
        self._alive: set[int] = set()
        self._starting = asyncio.Lock()
        """While it is held no stray is looked for: a new piece is not known yet and would be taken for one."""

    async def run(self, pieces: Sequence[Piece], jobs: int = JOBS) -> None:
        """Every piece that has not ended yet; one that breaks stops no other."""
        adopt()
        this, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert this is not None
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, this.cancel)
        waiting = iter(pieces)
        self._results.folder.mkdir(exist_ok=True)
        try:
            with (self._results.folder / "lock").open("ab") as lock:
                async with asyncio.TaskGroup() as workers:
                    for _ in range(jobs):
                        workers.create_task(self._work(waiting, lock))
        finally:
            end_strays(())

    async def _work(self, waiting: Iterator[Piece], lock: BinaryIO) -> None:
        for piece in waiting:
            with self._results.claimed(piece, lock) as ours:
                if not ours:
                    print(f"· {piece.name} is under way in another run", file=sys.stderr, flush=True)
                elif self._results.read(piece) is None:
                    self._results.forget(piece)
                    print(f"· {piece.name} …", file=sys.stderr, flush=True)
                    print(f"· {piece.name} {await self._done(piece)}", file=sys.stderr, flush=True)

    async def _done(self, piece: Piece) -> str:
        """What became of a piece in a folder of its own; of one that could not say it that is told as its result."""
        begun = asyncio.get_running_loop().time()
        folder = Path(tempfile.mkdtemp(prefix="nuan-"))  # short: a socket's path may not be long
        try:
            code = await self._process(piece, folder)
            took_s = asyncio.get_running_loop().time() - begun
            if code == CHANGED:
                return "is made of something else by now: it counts for nothing"
            if (outcome := self._results.read(piece)) is None:
                error = f"ended with {code}" if code is not None else f"not done in {piece.row.limit_s:.0f} s"
                outcome = Outcome(Found(), error, took_s)
                self._results.keep(piece, folder)
                self._results.write(piece, outcome)
            return f"{took_s:.0f} s {outcome.error}"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _process(self, piece: Piece, folder: Path) -> int | None:
        """A piece in a process of its own, which ends with all that it started; its code, None when its time is up."""
        told = {KEY: self._results.keys[piece.row.id], FOLDER: str(folder), RUNNER: str(os.getpid())}
        async with self._starting:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *self._program,
                "piece",
                piece.row.id,
                str(piece.number),
                cwd=ROOT,
                stdout=sys.stderr,
                env=os.environ | told,
                start_new_session=True,
            )
            self._alive.add(process.pid)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(piece.row.limit_s + self._grace_s):
                    return await process.wait()
            return None
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            async with self._starting:
                self._alive.discard(process.pid)
                end_strays(self._alive)
