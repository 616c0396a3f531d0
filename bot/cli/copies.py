"""`nuan backup` and `nuan restore`: copies that were looked over, and the way back to one."""

import asyncio
from pathlib import Path

from bot.cli.house import Place, must_be_begun
from bot.cli.printing import bar, document
from bot.clock import SystemClock
from bot.errors import NuanError
from bot.store.backups import copy_to, roll_back, verify_forward
from bot.store.keptcopies import Keeping, folder_of, keep, kept_in
from bot.store.schema import SCHEMA_VERSION
from bot.store.store import DATABASE
from bot.text.stamps import stamp, told
from bot.types.duration import DAY_MS


async def make_backup(place: Place, path: Path | None, *, as_json: bool) -> str:
    """Make one; where it is. StoreError when there is no database, or the copy is not whole."""
    must_be_begun(place)
    rules, now, gone = place.settings.backup, SystemClock().now(), 0
    with bar("backup", quiet=as_json) as tell:
        if path is not None:
            made = await asyncio.to_thread(copy_to, place.data, path, tell)
        else:
            keeping = Keeping(rules.keep, rules.days * DAY_MS)
            folder = folder_of(place.data, rules.folder)
            made, gone = await asyncio.to_thread(keep, place.data, folder, now, keeping, tell)
    size = made.stat().st_size
    if as_json:
        return document({"file": str(made), "bytes": size, "schema": SCHEMA_VERSION, "removed": gone})
    removed = f"; {gone} old ones were removed" if gone else ""
    return (
        f"{made} is whole ({_size(size)}){removed}\nbackups hold what is forgotten after they were made: restoring one "
        "forgets it again"
    )


async def list_backups(place: Place, *, as_json: bool) -> str:
    """The backups in their folder, oldest first."""
    kept = kept_in(folder_of(place.data, place.settings.backup.folder))
    if as_json:
        rows = [{"file": str(each.path), "made": told(each.made), "bytes": each.size} for each in kept]
        return document(rows)
    return "\n".join(f"{told(each.made)}  {_size(each.size):>9}  {each.path}" for each in kept) or "no backups yet"


async def check_backup(place: Place, path: Path, *, as_json: bool) -> str:
    """Look one over; StoreError with what is wrong."""
    found = _find(place, path)
    schema = await asyncio.to_thread(verify_forward, found, 0)
    if as_json:
        return document({"file": str(found), "schema": schema, "good": True})
    older = f"; its schema {schema} would be brought to {SCHEMA_VERSION}" if schema < SCHEMA_VERSION else ""
    return f"{found} is whole and can be restored{older}"


async def restore_backup(place: Place, path: Path, *, as_json: bool) -> str:
    """Put it in the database's place; what became of the present one. Refused: nothing was changed."""
    found, now = _find(place, path), SystemClock().now()
    with bar("restore", quiet=as_json) as tell:
        aside, count = await roll_back(place.data, found, stamp(now), now, label="restore", tell=tell)
    if as_json:
        return document(restored(found, aside, count))
    lines = [f"{found.name} is the database again"]
    if count:
        lines[0] += f"; {count} memories that were forgotten since stay forgotten"
    if aside is not None:
        lines.append(f"the one before it is {aside}: delete it when you need it no more")
    return "\n".join(lines)


def restored(copy: Path, aside: Path | None, count: int) -> dict[str, object]:
    """What a program is told of a copy that is the database again: where the one before it lies, how many memories
    were forgotten again.
    """
    return {"restored": str(copy), "before": str(aside) if aside else None, "forgotten_again": count}


def _find(place: Place, path: Path) -> Path:
    folder = folder_of(place.data, place.settings.backup.folder)
    found = next((each for each in (path, folder / path, place.data / path) if each.is_file()), None)
    if found is None:
        raise NuanError(f"{path} is no file, nor a backup in {folder}")
    return refuse_itself(place, found)


def refuse_itself(place: Place, copy: Path) -> Path:
    """The copy; NuanError when it is the database whose place it would take."""
    if copy.resolve() == (place.data / DATABASE).resolve():
        raise NuanError(f"{copy} is the database itself: give a backup")
    return copy


def _size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"
