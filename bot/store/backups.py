"""A copy of the database that was looked at, and the way back to it. What was forgotten since stays forgotten.

It asks nothing.
"""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from bot.errors import StoreError
from bot.store.database import Database, bring_forward, open_database
from bot.store.erasures import Erasures, erase_again
from bot.store.forgotten import Since, forget_again
from bot.store.notefiles import NoteFiles
from bot.store.schema import SCHEMA_VERSION
from bot.store.store import DATABASE, hold
from bot.store.tombstones import Tombstones
from bot.store.unnoting import Shelf
from bot.store.wholecopy import PAGES, QUIET, Progress, copy_whole, opened, sync, verify


def copy_path(folder: Path, label: str, stamp: str) -> Path:
    """Where a copy of that name and time stands, beside the database."""
    return (folder / DATABASE).with_name(f"nuan.before-{label}-{stamp}.db")


def backup(folder: Path, label: str, stamp: str, tell: Progress = QUIET) -> Path:
    """As `copy_to`, beside the database and named after what it was made before."""
    return copy_to(folder, copy_path(folder, label, stamp), tell)


def copy_to(folder: Path, path: Path, tell: Progress = QUIET) -> Path:
    """Copy the database of a data folder as `copy_whole`; where it is."""
    copy_whole(folder / DATABASE, path, tell)
    return path


def verify_forward(path: Path, wrong: int | None = None) -> int:
    """As `verify`; one of an earlier schema is also brought to this one, in a copy that is thrown away."""
    version = verify(path, wrong)
    if version < SCHEMA_VERSION:
        with tempfile.TemporaryDirectory(prefix="nuan-check-") as folder:
            copy = Path(folder, DATABASE)
            _copy(path, copy, QUIET)
            try:
                bring_forward(copy)
            except StoreError as error:
                raise _not_ours(path) from error
    return version


def _not_ours(path: Path) -> StoreError:
    return StoreError(f"{path.name} cannot be brought to schema {SCHEMA_VERSION}: it is damaged; nothing was changed")


def newest(folder: Path, label: str) -> Path | None:
    """The newest copy of that label."""
    return max(folder.glob(f"nuan.before-{label}-*.db"), default=None)


def newer_than(folder: Path, copy: Path) -> tuple[int, int] | None:
    """How many lines and memories the present database has that came after that copy; None when nobody can tell."""
    try:
        with contextlib.closing(opened(copy)) as db:
            last = dict(db.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
        with contextlib.closing(opened(folder / DATABASE)) as db:
            (lines,) = db.execute(
                "SELECT count(*) FROM event WHERE kind = 'message' AND id > ?", (last.get("event", 0),)
            ).fetchone()
            (memories,) = db.execute(
                "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND id > ?", (last.get("memory", 0),)
            ).fetchone()
    except sqlite3.Error:
        return None
    return int(lines), int(memories)


async def roll_back(
    folder: Path, copy: Path, stamp: str, at: int, *, label: str = "rollback", tell: Progress = QUIET
) -> tuple[Path | None, int]:
    """Put a copy in the database's place; where the present file went, and how many memories were forgotten again.

    None when there was no file. The copy stays as it is. HeldError when a nuan runs here, StoreError when the
    copy is not whole or of another house.
    A crash leaves the present database or the restored one.
    """
    lock = await asyncio.to_thread(hold, folder)
    new = folder / "nuan-rollback.db"
    try:
        await asyncio.to_thread(verify, copy)
        await asyncio.to_thread(_copy, copy, new, tell)
        since = await asyncio.to_thread(_since, folder / DATABASE)
        try:
            database = await open_database(new)
        except StoreError as error:
            raise _not_ours(copy) from error
        try:
            count = await _cleanse(database, since, folder, at)
        finally:
            await database.close()
        await asyncio.to_thread(verify, new)
        aside = copy_path(folder, label, stamp)
        kept = await asyncio.to_thread(_swap, folder / DATABASE, new, aside)
        return aside if kept else None, count
    finally:
        await asyncio.to_thread(_tidy, folder)
        os.close(lock)


def _tidy(folder: Path) -> None:
    for left in folder.glob("nuan-rollback*"):
        left.unlink()


async def _cleanse(database: Database, since: Since | None, folder: Path, at: int) -> int:
    tombstones = Tombstones(folder)
    shelf = Shelf(NoteFiles(folder), tombstones.bury)
    erasures = Erasures(folder, tombstones)

    def verb(db: sqlite3.Connection) -> int:
        count = forget_again(db, since, tombstones, at, shelf)
        erase_again(db, erasures, shelf, at)
        return count

    count = await database.write(verb)
    await database.truncate()
    return count


def _since(path: Path) -> Since | None:
    """What was forgotten until now, by the present database; None when it cannot be read."""
    try:
        with contextlib.closing(opened(path)) as present:
            return Since.of(present)
    except sqlite3.Error:
        return None


def _swap(present: Path, new: Path, aside: Path) -> bool:
    """The present file keeps its content under another name, if there is one; its place is never empty."""
    wal = present.with_name(f"{present.name}-wal")
    with contextlib.suppress(sqlite3.Error), contextlib.closing(opened(present)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    there = present.exists()
    if there:
        try:
            aside.hardlink_to(present)
        except FileExistsError:
            raise StoreError(f"{aside.name} is there already: nothing was changed") from None
        except OSError:
            shutil.copy2(present, aside)
        if wal.exists() and wal.stat().st_size:  # it could not be emptied: the file is damaged, keep both
            shutil.copy2(wal, aside.with_name(f"{aside.name}-wal"))
        sync(aside)
    for part in ("-wal", "-shm"):
        present.with_name(present.name + part).unlink(missing_ok=True)
    sync(new)
    new.replace(present)
    sync(present.parent)
    return there


def _copy(source: Path, target: Path, tell: Progress) -> None:
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with contextlib.closing(opened(source)) as copy, contextlib.closing(sqlite3.connect(target)) as db:
            copy.backup(db, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{source.name} cannot be copied ({error}): nothing was changed") from error
