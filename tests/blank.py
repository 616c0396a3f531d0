"""A new database as the program leaves it after its first start, made once in a process and copied from then on."""

import secrets
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from bot.store.schema import MIGRATIONS
from bot.store.sqlite import opening as engine
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import DATABASE, Store, open_store

DONE_UNTIL = {"life_at": "1781294400000", "tidy_at": "1781294400000"}
"""What a first start writes on the morning when Worlds begin: its daily work of that day, forty statements that find
nothing in a new database, is done; next comes 2026-06-13 04:00 in Shanghai.
"""

_prepare = engine._prepare
_laid: set[Path] = set()
"""Databases that were put somewhere and not opened yet."""


@cache
def blank() -> tuple[bytes, bytes]:
    """The file of a new database, every migration ran and nobody is in it, and the number of its installation there."""
    with tempfile.TemporaryDirectory(prefix="nuan-blank-") as folder:
        path = Path(folder) / DATABASE
        _prepare(path, MIGRATIONS)
        with closing(sqlite3.connect(path)) as made:
            made.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", DONE_UNTIL.items())
            made.commit()
            installation = str(made.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()[0]).encode()
        file = path.read_bytes()
        assert file.count(installation) == 1
        return file, installation


def lay(folder: Path) -> bool:
    """Put a new database into a folder that has none, and whether it had none; its installation has a number of its own,
    as one that was made there.
    """
    path = folder / DATABASE
    if path in _laid:
        return True
    if path.exists() or path.with_name(f"{DATABASE}-wal").exists():
        return False
    folder.mkdir(parents=True, exist_ok=True)
    path.touch(0o600)
    file, installation = blank()
    path.write_bytes(file.replace(installation, secrets.token_hex(len(installation) // 2).encode()))
    laid(path)
    return True


def laid(path: Path) -> None:
    """A database is there that is whole and of the newest schema, and not opened yet."""
    _laid.add(path)


def _prepared(path: Path, migrations: engine.Migrations) -> None:
    """As the program does it, but for one that was just laid: it is whole and of the newest schema."""
    if path in _laid:
        _laid.remove(path)
    else:
        _prepare(path, migrations)


engine._prepare = _prepared


def unsynced(store: Store) -> None:
    """From now on no commit waits for the disk: what a killed process wrote is there all the same.

    Only a machine that loses its power would tell; no test can take it away.
    """
    writer = store._database._writer
    assert writer is not None
    if isinstance(writer.tx, SqliteTx):
        writer.tx.execute("PRAGMA synchronous = OFF")


async def open_laid(folder: Path, owners: frozenset[str] = frozenset(), allow: frozenset[str] = frozenset()) -> Store:
    """As `open_store`, without migrating a new database anew and without waiting for the disk."""
    lay(folder)
    store = await open_store(folder, owners, allow)
    unsynced(store)
    return store
