"""`nuan memory backfill` and `rollback`: rows put right after a backup, in batches, and the way back."""

import asyncio
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bot.cli.house import Place
from bot.clock import SystemClock
from bot.errors import NuanError
from bot.memory.carrying.values import time_text
from bot.memory.standing import judge
from bot.store.backups import backup, newest, roll_back
from bot.store.store import open_store
from bot.types.mending import Fault, Part

BATCH = 200
"""Memories of one commit: a few milliseconds, and as much is done again after a crash at most."""
SHOWN = 20
"""Faults that are shown one by one; --json has all."""

LABEL = "backfill"


async def backfill(place: Place, parts: frozenset[Part], *, apply: bool, as_json: bool) -> str:
    """Say what is wrong; with `apply` put it right, after a backup, and say what is left.

    Without it this works beside a running nuan. A run that was cut off is ended by the next.
    """
    async with await open_store(place.data, read_only=not apply) as store:
        faults = await store.mending.find(parts, judge)
        mendable = tuple(fault for fault in faults if fault.mendable)
        if not apply or not mendable:
            return _report(faults, parts, as_json=as_json)
        now = SystemClock().now()
        with Progress(console=Console(file=sys.stderr), transient=True) as bars:
            copy = await asyncio.to_thread(backup, place.data, LABEL, _stamp(now))
            bar = bars.add_task("mending", total=len(mendable))
            done = 0
            for first in range(0, len(mendable), BATCH):
                batch = mendable[first : first + BATCH]
                done += await store.mending.mend(batch, judge, now)
                bars.advance(bar, len(batch))
        left = await store.mending.find(parts, judge)
    told = _report(left, parts, as_json=as_json, mended=done, copy=copy)
    return told if as_json else f"{done} put right; the backup is {copy}\n{told}"


def _stamp(ms: int) -> str:
    return re.sub(r"[-:.]", "", time_text(ms))


def _report(
    faults: tuple[Fault, ...], parts: frozenset[Part], *, as_json: bool, mended: int = 0, copy: Path | None = None
) -> str:  # fmt: skip
    if as_json:
        told = {"mended": mended, "backup": str(copy) if copy else None, "faults": [asdict(fault) for fault in faults]}
        return json.dumps(told, ensure_ascii=False, indent=2)
    lines = []
    for part in sorted(parts):
        found = [fault for fault in faults if fault.part == part]
        can = sum(fault.mendable for fault in found)
        lines.append(
            f"{part}: {can} to put right, {len(found) - can} that nobody can decide" if found else f"{part}: ✓"
        )
        lines += [f"  #{fault.number} {_one(fault)}" for fault in found[:SHOWN]]
        lines += [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    if any(fault.mendable for fault in faults) and not mended:
        lines.append("nothing was changed: --apply puts right what can be, after a backup")
    return "\n".join(lines)


def _one(fault: Fault) -> str:
    place = fault.place
    if place is None:
        return fault.why
    return f"{fault.why} → {place.visibility} {place.kind} of person {place.owner_id or '-'} in chat {place.chat_id}"


async def rollback(place: Place, copy: Path | None) -> str:
    """Put a backup back, the newest of a backfill unless one is given; NuanError when there is none."""
    path = copy or newest(place.data, LABEL)
    if path is None:
        raise NuanError(f"there is no backup of a backfill in {place.data}: give its file")
    if not path.is_file():
        path = place.data / path.name
    if not path.is_file():
        raise NuanError(f"{copy} is no file")
    now = SystemClock().now()
    aside, count = await roll_back(place.data, path, _stamp(now), now)
    again = f"; {count} that were forgotten since stay forgotten" if count else ""
    return (
        f"{path.name} is the database again{again}\nthe one before it is {aside.name}. Backups hold what was forgotten "
        "after they were made: delete them when you need them no more"
    )
