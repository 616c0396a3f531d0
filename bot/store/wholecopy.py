"""A copy of a database that was looked over before it got its name. It restores none and keeps none."""

import contextlib
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.errors import StoreError
from bot.store.schema import SCHEMA_VERSION

PAGES = 2_000
"""Pages of one step of a copy: 8 MB, after each of which progress is told."""

Progress = Callable[[int, int], None]
"""Pages that are left, and all of them."""


def QUIET(left: int, pages: int) -> None:  # noqa: N802 - a constant that is called
    """Nobody watches."""


def copy_whole(database: Path, path: Path, tell: Progress = QUIET, *, again: bool = False) -> None:
    """Copy a database, look the copy over and only then give it its name (0600); StoreError when it is not whole.

    Works beside a running nuan: the copy is of one moment. A file of that name is never replaced, unless `again`.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.unlink(missing_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with contextlib.closing(opened(database)) as source, contextlib.closing(sqlite3.connect(new)) as copy:
            # With a snapshot held, what others write meanwhile neither comes in nor begins the copy anew.
            source.execute("BEGIN")
            wrong = source.execute("PRAGMA foreign_key_check").fetchall()
            source.backup(copy, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            version = source.execute("PRAGMA user_version").fetchone()[0]
        if verify(new, len(wrong)) != version:
            raise StoreError("the backup has another schema than the database: it was thrown away")
        sync(new)
        if again:
            new.replace(path)
        else:
            _name(new, path)
        sync(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


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
        with contextlib.closing(opened(path)) as copy:
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
    if verdict != "ok" or not known or version < 1 or (wrong is not None and dangling > wrong):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")
    return version


class Doubtful(sqlite3.Connection):
    """A connection to a file that may be damaged: also a schema that is no text any more is a DatabaseError."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As of any connection."""
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as error:
            # SQLite quotes the schema in its message, and Python wants a message to be text.
            raise sqlite3.DatabaseError("malformed: its schema is no text") from error


def opened(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there; sqlite3.Error when it is not."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, factory=Doubtful)


def sync(path: Path) -> None:
    """Return when a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
