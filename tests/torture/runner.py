"""Runs the pieces of rows as processes of their own, keeps what came out in a folder, and goes on where it was left.

A piece that ended is not run again while the sources are the same; of one that failed the folder is kept. Nothing here
knows what a row does.
"""

import asyncio
import hashlib
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.torture.processes import adopt, descendants, kill_all
from tests.torture.row import Bound, Found, Row, Size
from tests.torture.secrets import spilled

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("bot", "adapters", "prompts", "data/persona", "tests")
GRACE_S = 20.0
"""How long a piece that used up its time may take to end by itself."""
JOBS = 1
"""Pieces at once: more of them would measure each other."""


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
    pieces = [
        Piece(row, size.seed) for row in map(runnable, rows) if not row.not_applicable for size in row.pieces()
    ]  # fmt: skip
    pieces.sort(key=lambda piece: -piece.row.limit_s)
    return pieces[part - 1 :: parts]


def sources() -> str:
    """What all files together are that could change a result, as a short number."""
    digest = hashlib.sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


class Results:
    """What ended, in files; those of other sources count for nothing."""

    def __init__(self, folder: Path, sources: str) -> None:
        self.folder = folder
        self._sources = sources

    def read(self, piece: Piece) -> Outcome | None:
        """What came out of it, None when it has not ended with these sources."""
        path = self.folder / f"{piece.name}.json"
        with suppress(OSError, ValueError, KeyError, TypeError):
            told = json.loads(path.read_text("utf-8"))
            size = asdict(piece.row.pieces()[piece.number - 1])
            if (told["sources"], told["size"]) == (self._sources, size):
                found = told["found"]
                return Outcome(Found(found["sums"], found["most"], tuple(found["notes"])), told["error"], told["took"])
        return None

    def write(self, piece: Piece, outcome: Outcome) -> None:
        """Whole or not at all."""
        self.folder.mkdir(exist_ok=True)
        told = {
            "sources": self._sources, "size": asdict(piece.row.pieces()[piece.number - 1]),
            "found": asdict(outcome.found), "error": outcome.error, "took": outcome.took_s,
        }  # fmt: skip
        path = self.folder / f"{piece.name}.json"
        path.with_suffix(".new").write_text(json.dumps(told, ensure_ascii=False, indent=1), "utf-8")
        path.with_suffix(".new").replace(path)

    def forget(self, piece: Piece) -> None:
        """It is to run anew, and nothing is left of the last time."""
        (self.folder / f"{piece.name}.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / piece.name, ignore_errors=True)

    def all(self, row: Row) -> tuple[Sequence[Outcome], int]:
        """What came out of its pieces so far, and how many there are."""
        pieces = pieces_of((row,))
        return [outcome for piece in pieces if (outcome := self.read(piece))], len(pieces)


async def run(pieces: Sequence[Piece], results: Results, jobs: int = JOBS) -> None:
    """Every piece that has not ended yet, so many at once; one that breaks stops no other."""
    waiting = iter([piece for piece in pieces if results.read(piece) is None])
    adopt()

    async def lane() -> None:
        for piece in waiting:
            results.forget(piece)
            print(f"· {piece.name} …", file=sys.stderr, flush=True)
            outcome = await _process(piece, results)
            print(f"· {piece.name} {outcome.took_s:.0f} s {outcome.error}", file=sys.stderr, flush=True)

    async with asyncio.TaskGroup() as lanes:
        for _ in range(jobs):
            lanes.create_task(lane())


async def _process(piece: Piece, results: Results) -> Outcome:
    """A piece in a process of its own; when its time is over, it ends with all that it started."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", PROGRAM, "piece", piece.row.id, str(piece.number), cwd=ROOT, stdout=sys.stderr,
        env=dict(os.environ), start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(piece.row.limit_s + GRACE_S):
            code = await process.wait()
        error = "" if code == 0 else f"ended with {code}"
    except TimeoutError:
        error = f"not done in {piece.row.limit_s:.0f} s"
    finally:
        kill_all(descendants(process.pid))
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    outcome = results.read(piece)
    if outcome is None:
        outcome = Outcome(Found(), error or "said nothing", loop.time() - begun)
        results.write(piece, outcome)
    return outcome


PROGRAM = "tests.torture"


def do(piece: Piece, results: Results) -> None:
    """One piece, in this process: what it found is stored, and of one that failed its folder."""
    size = piece.row.pieces()[piece.number - 1]
    adopt()
    folder = Path(tempfile.mkdtemp(prefix="nuan-"))  # short: a socket's path may not be long
    try:
        outcome = asyncio.run(_timed(piece, folder, size))
    finally:
        kill_all(descendants(os.getpid()))
    spills = spilled(folder)
    if spills and not outcome.error:
        outcome = replace(outcome, error=f"spilled {spills[0]}", found=replace(outcome.found, notes=spills))
    if outcome.error or wrong_already(piece.row, outcome.found):
        results.folder.mkdir(exist_ok=True)
        shutil.move(folder, results.folder / piece.name)
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
    """Tests that exist already: how many ran and how many failed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in names),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        said = (await process.communicate())[0].decode("utf-8", "replace")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
    if process.returncode:
        print(said[-4_000:], file=sys.stderr)
    return Found({"tests": len(names), "failed": float(bool(process.returncode))}, notes=(said.splitlines()[-1],))


def wrong_already(row: Row, found: Found) -> tuple[str, ...]:
    """Bounds that no further piece can mend, and that what is there breaks."""
    figures: Mapping[str, float] = {**found.most, **found.sums}
    return tuple(
        f"{bound.name} {figures[bound.name]:g}"
        for bound in row.bounds
        if bound.name in figures and not bound.holds(found) and (bound.sign == "<=" or not bound.figure)
    )
