"""A copy of the database that was looked at, and the way back to it. What was forgotten since stays forgotten.

It asks nothing.
"""

import asyncio
import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
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

PAGES = 2_000
"""Pages of one step of a copy: 8 MB, after each of which progress is told."""

Progress = Callable[[int, int], None]
"""Pages that are left, and all of them."""


def QUIET(left: int, pages: int) -> None:  # noqa: N802 - a constant that is called
    """Nobody watches."""


def copy_path(folder: Path, label: str, stamp: str) -> Path:
    """Where a copy of that name and time stands, beside the database."""
    return (folder / DATABASE).with_name(f"nuan.before-{label}-{stamp}.db")


def backup(folder: Path, label: str, stamp: str, tell: Progress = QUIET) -> Path:
    """As `copy_to`, beside the database and named after what it was made before."""
    return copy_to(folder, copy_path(folder, label, stamp), tell)


def copy_to(folder: Path, path: Path, tell: Progress = QUIET) -> Path:
    """Copy the database, look the copy over and only then give it its name (0600); StoreError when it is not whole.

    Works beside a running nuan: the copy is of one moment. A file of that name is never replaced.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.unlink(missing_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with contextlib.closing(_open(folder / DATABASE)) as source, contextlib.closing(sqlite3.connect(new)) as copy:
            # With a snapshot held, what others write meanwhile neither comes in nor begins the copy anew.
            source.execute("BEGIN")
            wrong = source.execute("PRAGMA foreign_key_check").fetchall()
            source.backup(copy, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            version = source.execute("PRAGMA user_version").fetchone()[0]
        if verify(new, len(wrong)) != version:
            raise StoreError("the backup has another schema than the database: it was thrown away")
        _sync(new)
        _name(new, path)
        _sync(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    return path


def _name(new: Path, path: Path) -> None:
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise StoreError(f"{path} is there already: give another name") from None
    except OSError:  # a file system without links
        if path.exists():
            raise StoreError(f"{path} is there already: give another name") from None
        new.rename(path)


def verify(path: Path, wrong: int | None = None) -> int:
    """Open a copy and look it over; its schema. StoreError when it is damaged, no database of nuan, newer than this
    nuan, or has more dangling rows than `wrong`.
    """
    try:
        with contextlib.closing(_open(path)) as copy:
            verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
            known = copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'memory'").fetchone()[0]
            version = int(copy.execute("PRAGMA user_version").fetchone()[0])
            dangling = len(copy.execute("PRAGMA foreign_key_check").fetchall())
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be used ({error}): nothing was changed") from error
    if version > SCHEMA_VERSION and known:
        raise StoreError(
            f"{path.name} was written by a newer nuan (schema {version}, this one knows {SCHEMA_VERSION}): "
            "update nuan, nothing was changed"
        )
    if verdict != "ok" or not known or not version or (wrong is not None and dangling > wrong):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")
    return version


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
        with contextlib.closing(_open(path)) as present:
            return Since.of(present)
    except sqlite3.Error:
        return None


def _swap(present: Path, new: Path, aside: Path) -> bool:
    """The present file keeps its content under another name, if there is one; its place is never empty."""
    wal = present.with_name(f"{present.name}-wal")
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_open(present)) as db:
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
        _sync(aside)
    for part in ("-wal", "-shm"):
        present.with_name(present.name + part).unlink(missing_ok=True)
    _sync(new)
    new.replace(present)
    _sync(present.parent)
    return there


def _copy(source: Path, target: Path, tell: Progress) -> None:
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with contextlib.closing(_open(source)) as copy, contextlib.closing(sqlite3.connect(target)) as db:
            copy.backup(db, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{source.name} cannot be copied ({error}): nothing was changed") from error


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
