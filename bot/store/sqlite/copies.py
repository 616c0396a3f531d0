"""Copies of a database file that are looked over before they have a name."""

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

from bot.core.errors import StoreError
from bot.core.files import create_file, give_name, sync_to_disk
from bot.store.schema import SCHEMA_VERSION
from bot.store.sqlite.connection import SqliteTx, open_existing, reading_uri

PAGES = 2_000
"""Pages of one step of a copy: 8 MB, after each of which progress is told."""

CopyProgress = Callable[[int, int], None]
"""Pages that are left, and all of them."""


def no_progress(left: int, pages: int) -> None:
    """Nobody watches."""


def copy_database(database: Path, path: Path, tell: CopyProgress = no_progress, *, again: bool = False) -> None:
    """Copy a database, look the copy over and only then give it its name (0600); StoreError when it is not whole.

    Works beside a running nuan: the copy is of one moment. A file of that name is never replaced, unless `again`.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_file(new)
        with (
            contextlib.closing(sqlite3.connect(reading_uri(database), uri=True, factory=SqliteTx)) as source,
            contextlib.closing(sqlite3.connect(new)) as copy,
        ):
            # With a snapshot held, what others write meanwhile neither comes in nor begins the copy anew.
            source.execute("BEGIN")
            wrong = source.dangling()
            source.backup(copy, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            version = source.value("PRAGMA user_version")
        if verify_copy(new, wrong) != version:
            raise StoreError("the backup has another schema than the database: it was thrown away")
        sync_to_disk(new)
        if again:
            new.replace(path)
        else:
            give_name(new, path)
        sync_to_disk(path.parent)
    except FileExistsError:
        raise StoreError(f"{path} is there already: give another name") from None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def verify_copy(path: Path, wrong: int | None = None) -> int:
    """Open a copy and look it over; its schema. StoreError when it is damaged, no database of nuan, newer than this
    nuan, or has more dangling rows than `wrong`.
    """
    try:
        with contextlib.closing(open_existing(path)) as copy:
            faults = copy.faults()
            known = copy.has("SELECT 1 FROM sqlite_master WHERE name = 'memory'")
            version = int(copy.value("PRAGMA user_version"))
            dangling = copy.dangling()
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be used ({error}): nothing was changed") from error
    if version > SCHEMA_VERSION and known:
        raise StoreError(
            f"{path.name} was written by a newer nuan (schema {version}, this one knows {SCHEMA_VERSION}): "
            "update nuan, nothing was changed"
        )
    if faults or not known or version < 1 or (wrong is not None and dangling > wrong):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")
    return version
