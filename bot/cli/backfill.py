"""`nuan memory backfill` and `rollback`: rows put right after a backup, in batches, and the way back."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.data import refuse_itself, restore_report
from bot.cli.installation import Installation, open_dependencies, require_database
from bot.cli.terminal import json_document, progress_bar, progress_bars
from bot.container import Dependencies, make_embedding_callers, make_vector_maker
from bot.core.clock import SystemClock
from bot.core.errors import NuanError
from bot.core.inspection import MemoryFault, RepairPart
from bot.language.sections import SectionRegistry, section_registry
from bot.memory.lifecycle import ownership_fault
from bot.ops.log_files import NullLog
from bot.store.backups import backup, newest_copy, roll_back
from bot.store.store import Store, open_store
from bot.text.dates import stamp

if TYPE_CHECKING:
    from rich.progress import Progress

BATCH = 200
"""Memories of one commit: a few milliseconds, and as much is done again after a crash at most."""
FAULTS_SHOWN = 20
"""Faults that are shown one by one; --json has all."""

LABEL = "backfill"


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """What is wrong, how many vectors are lacking (None: none are used), what was put right, and the backup."""

    faults: tuple[MemoryFault, ...]
    vectors: int | None
    mended: int = 0
    copy: Path | None = None


async def backfill(
    place: Installation, parts: frozenset[RepairPart], *, apply: bool, as_json: bool, anew: bool = False
) -> str:
    """Say what is wrong; with `apply` put it right, after a backup, and say what is left.

    With `anew` no vector counts as made. Without `apply` this works beside a running nuan. A run that was cut off is
    ended by the next.
    """
    rows = frozenset(part for part in parts if part != "vectors")
    own = section_registry(place.settings.sections.own)
    require_database(place)
    async with (
        await open_store(place.data, read_only=not apply) as store,
        open_dependencies(place, store, NullLog()) as dependencies,
    ):
        vectors = VectorBackfill(dependencies, anew=anew) if "vectors" in parts else None
        found = BackfillReport(
            await store.lives.faults(rows, ownership_fault, own), await vectors.lacking() if vectors else None
        )
        mendable = tuple(fault for fault in found.faults if fault.mendable)
        if apply and (mendable or found.vectors):
            copy = await asyncio.to_thread(backup, place.data, LABEL, stamp(SystemClock().now()))
            print(f"nuan: the backup is {copy}", file=sys.stderr)
            with progress_bars(quiet=as_json) as shown:
                done = await _mend(store, mendable, shown, own)
                if vectors:
                    await vectors.make(shown)
            left = await vectors.lacking() if vectors else None
            found = BackfillReport(await store.lives.faults(rows, ownership_fault, own), left, done, copy)
    return _json(found) if as_json else "\n".join(_lines(found, rows, applied=apply))


async def _mend(store: Store, faults: tuple[MemoryFault, ...], shown: "Progress", own: SectionRegistry) -> int:
    task, done = shown.add_task("rows", total=len(faults)), 0
    for first in range(0, len(faults), BATCH):
        batch = faults[first : first + BATCH]
        done += await store.lives.mend(batch, ownership_fault, SystemClock().now(), own)
        shown.advance(task, len(batch))
    return done


class VectorBackfill:
    """The vectors that recall is lacking, counted and made by the configured server; `anew`: all, once."""

    def __init__(self, parts: Dependencies, *, anew: bool) -> None:
        self._anew = anew
        calls = make_embedding_callers(parts).caller
        self._work = make_vector_maker(parts, calls) if calls() is not None else None

    async def lacking(self) -> int | None:
        """How many there are to make; None where no recall uses them."""
        return await self._work.lacking(anew=self._anew) if self._work is not None else None

    async def make(self, shown: "Progress") -> None:
        """Make them; ModelError or OverBudget ends it, and what is made stays."""
        if self._work is not None and (total := await self.lacking()):
            task, anew, self._anew = shown.add_task("vectors", total=total), self._anew, False
            await self._work.make_all(lambda made: shown.update(task, completed=made), anew=anew)


def _json(found: BackfillReport) -> str:
    told = {"mended": found.mended, "backup": str(found.copy) if found.copy else None,
            "vectors_lacking": found.vectors, "faults": [asdict(fault) for fault in found.faults]}  # fmt: skip
    return json_document(told)


def _lines(found: BackfillReport, rows: frozenset[RepairPart], *, applied: bool) -> Iterator[str]:
    if found.copy:
        yield f"{found.mended} rows put right; `nuan memory rollback` takes it back"
    for part in sorted(rows):
        faults = [fault for fault in found.faults if fault.part == part]
        can = sum(fault.mendable for fault in faults)
        yield f"{part}: {can} to put right, {len(faults) - can} that nobody can decide" if faults else f"{part}: ✓"
        yield from (f"  #{fault.number} {_one(fault)}" for fault in faults[:FAULTS_SHOWN])
        if len(faults) > FAULTS_SHOWN:
            yield f"  … and {len(faults) - FAULTS_SHOWN} more"
    if found.vectors is not None:
        yield f"vectors: {found.vectors} to make" if found.vectors else "vectors: ✓"
    if not applied and (found.vectors or any(fault.mendable for fault in found.faults)):
        yield "nothing was changed: --apply puts right what can be, after a backup"


def _one(fault: MemoryFault) -> str:
    place = fault.place
    if place is None:
        return fault.why
    return f"{fault.why} → {place.visibility} {place.kind} of person {place.owner_id or '-'} in chat {place.chat_id}"


async def rollback(place: Installation, copy: Path | None, *, as_json: bool) -> str:
    """Put a backup back, the newest of a backfill unless one is given; NuanError when there is none."""
    path = copy or newest_copy(place.data, LABEL)
    if path is None:
        raise NuanError(f"there is no backup of a backfill in {place.data}: give its file")
    if not path.is_file():
        path = place.data / path.name
    if not path.is_file():
        raise NuanError(f"{copy} is no file")
    refuse_itself(place, path)
    now = SystemClock().now()
    with progress_bar("rollback", quiet=as_json) as tell:
        previous, count = await roll_back(place.data, path, stamp(now), now, tell=tell)
    if as_json:
        return json_document(restore_report(path, previous, count))
    again = f"; {count} that were forgotten since stay forgotten" if count else ""
    before = f"the one before it is {previous.name}. " if previous is not None else ""
    return (
        f"{path.name} is the database again{again}\n{before}Backups hold what was forgotten "
        "after they were made: delete them when you need them no more"
    )
