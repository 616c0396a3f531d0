"""The pieces of rows: one is done here, in this process, and what came out is kept in a folder.

A piece that ended is not run again while what it is made of is the same (tests/torture/keys.py); of one that failed the
folder is kept. Nothing here knows what a row does.
"""

import asyncio
import fcntl
import json
import os
import re
import shutil
import sys
import traceback
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from tests.sizes import FULL
from tests.torture.keys import ROOT
from tests.torture.processes import adopt, descendants, kill_all
from tests.torture.row import Bound, Found, Row, Size
from tests.torture.secrets import spilled


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a row."""

    row: Row
    number: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.row.id}-{self.number}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a piece found; `error` when it did not come to an end."""

    found: Found
    error: str = ""
    took_s: float = 0.0


def runnable(row: Row) -> Row:
    """A row whose tests exist already runs those: each is a unit, and none may fail."""
    if row.run is not None or row.not_applicable:
        return row
    count = len(row.existing)
    return replace(row, unit="tests", long=count, piece=count, bounds=(Bound("failed", "==", 0),))


def pieces_of(rows: Iterable[Row], part: int = 1, parts: int = 1) -> list[Piece]:
    """The pieces of one part of all, the longest first; together the parts have every piece once."""
    pieces = [Piece(row, size.seed) for row in map(runnable, rows) if not row.not_applicable for size in row.pieces()]
    pieces.sort(key=lambda piece: -piece.row.limit_s)
    return pieces[part - 1 :: parts]


class Results:
    """What ended, in files; what is of something else than these keys, by number of the row, counts for nothing."""

    def __init__(self, folder: Path, keys: Mapping[str, str]) -> None:
        self.folder = folder
        self.keys = keys

    def read(self, piece: Piece) -> Outcome | None:
        """What came out of it, None when it has not ended or was made of something else."""
        path = self.folder / f"{piece.name}.json"
        with suppress(OSError, ValueError, KeyError, TypeError):
            told = json.loads(path.read_text("utf-8"))
            size = asdict(piece.row.pieces()[piece.number - 1])
            if (told["key"], told["size"]) == (self.keys[piece.row.id], size):
                found = told["found"]
                return Outcome(Found(found["sums"], found["most"], tuple(found["notes"])), told["error"], told["took"])
        return None

    def write(self, piece: Piece, outcome: Outcome) -> None:
        """Whole or not at all."""
        self.folder.mkdir(exist_ok=True)
        told = {
            "key": self.keys[piece.row.id],
            "size": asdict(piece.row.pieces()[piece.number - 1]),
            "found": asdict(outcome.found),
            "error": outcome.error,
            "took": outcome.took_s,
        }
        path = self.folder / f"{piece.name}.json"
        path.with_suffix(".new").write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")
        path.with_suffix(".new").replace(path)

    def forget(self, piece: Piece) -> None:
        """It is to run anew, and nothing is left of the last time."""
        (self.folder / f"{piece.name}.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / piece.name, ignore_errors=True)

    def keep(self, piece: Piece, folder: Path) -> None:
        """What a piece left that failed is for people to look into."""
        self.folder.mkdir(exist_ok=True)
        shutil.rmtree(self.folder / piece.name, ignore_errors=True)
        shutil.move(folder, self.folder / piece.name)

    @contextmanager
    def claimed(self, piece: Piece, lock: BinaryIO) -> Iterator[bool]:
        """Whether no other run has it in hand; until the end of the block none can.

        Each piece is one byte of the file that all runs lock; a lock goes with its process, whatever becomes of that.
        """
        byte = zlib.crc32(piece.name.encode())
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except OSError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.lockf(lock, fcntl.LOCK_UN, 1, byte)

    def all(self, row: Row) -> tuple[Sequence[Outcome], int]:
        """What came out of its pieces so far, and how many there are."""
        pieces = pieces_of((row,))
        return [outcome for piece in pieces if (outcome := self.read(piece))], len(pieces)


def do(piece: Piece, results: Results, folder: Path) -> None:
    """One piece, in this process and that folder: what it found is stored, and of one that failed the folder."""
    size = piece.row.pieces()[piece.number - 1]
    adopt()
    try:
        outcome = asyncio.run(_timed(piece, folder, size))
    finally:
        kill_all(descendants(os.getpid()))
    spills = spilled(folder)
    if spills and not outcome.error:
        outcome = replace(outcome, error=f"spilled {spills[0]}", found=replace(outcome.found, notes=spills))
    if outcome.error or wrong_already(piece.row, outcome.found):
        results.keep(piece, folder)
    shutil.rmtree(folder, ignore_errors=True)
    results.write(piece, outcome)


async def _timed(piece: Piece, folder: Path, size: Size) -> Outcome:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    run = piece.row.run or (lambda folder, size: _tests(piece.row.existing))
    try:
        async with asyncio.timeout(piece.row.limit_s):
            return Outcome(await run(folder, size), "", loop.time() - begun)
    except TimeoutError as error:
        where = traceback.format_exception(error.__cause__ or error)[-3:]
        print("".join(where), file=sys.stderr)
        late = loop.time() - begun >= piece.row.limit_s
        said = f"not done in {piece.row.limit_s:.0f} s" if late else "TimeoutError: something never came"
        return Outcome(Found(), said, loop.time() - begun)
    except Exception as error:
        traceback.print_exc()
        return Outcome(Found(), f"{type(error).__name__}: {error}"[:300], loop.time() - begun)


async def _tests(names: Sequence[str]) -> Found:
    """Tests that exist already: how many ran and how many failed; one that is skipped has shown nothing."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(f"tests/{name}" for name in names),
        cwd=ROOT,
        env={**os.environ, "TEST_SIZES": FULL},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said = (await process.communicate())[0].decode("utf-8", "replace")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    last = said.splitlines()[-1]
    skipped = sum(map(int, re.findall(r"(\d+) (?:skipped|deselected|xfailed|xpassed)", last)))
    if process.returncode or skipped:
        print(said[-4_000:], file=sys.stderr)
    return Found({"tests": len(names), "failed": float(bool(process.returncode)) + skipped}, notes=(last,))


def wrong_already(row: Row, found: Found) -> tuple[str, ...]:
    """Bounds that no further piece can mend, and that what is there breaks."""
    figures: Mapping[str, float] = {**found.most, **found.sums}
    return tuple(
        f"{bound.name} {figures[bound.name]:g}"
        for bound in row.bounds
        if bound.name in figures and not bound.holds(found) and (bound.sign == "<=" or not bound.figure)
    )
