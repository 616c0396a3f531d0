"""A new database as the program makes it, made once in a process and copied from then on."""

import contextlib
import secrets
import sqlite3
import tempfile
from functools import cache
from pathlib import Path

from bot.store.database import _prepare
from bot.store.schema import MIGRATIONS
from bot.store.store import DATABASE, Store


@cache
def blank() -> bytes:
    """The file of a new database: every migration ran, nothing is in it."""
    with tempfile.TemporaryDirectory(prefix="nuan-blank-") as folder:
        path = Path(folder) / DATABASE
        _prepare(path, MIGRATIONS)
        return path.read_bytes()


def lay(folder: Path) -> None:
    """Put a new database into a folder that has none; its house has a number of its own, as one that was made there."""
    path = folder / DATABASE
    if path.exists() or path.with_name(f"{DATABASE}-wal").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    path.write_bytes(blank())
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("UPDATE meta SET value = ? WHERE key = 'house'", (secrets.token_hex(8),))


def unsynced(store: Store) -> None:
    """From now on no commit waits for the disk: what a killed process wrote is there all the same.

    Only a machine that loses its power would tell; no test can take it away.
    """
    writer = store._database._writer
    assert writer is not None
    writer._connection.execute("PRAGMA synchronous = OFF")
