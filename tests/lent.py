"""Databases whose connections outlive a World, and with them the statements that they have prepared.

To prepare some 200 statements anew was a tenth to a fifth of what a small World cost. A lent database is a new one, as
`lay` makes it; taken back it is emptied for the next test. Whoever opens the same folder again, as a restart does, opens
it by the connections of the engine, and so does all that runs in asyncio's debug mode.
"""

import asyncio
import os
import secrets
import shutil
import sqlite3
import tempfile
from pathlib import Path

from bot.store.sqlite import opening as engine
from bot.store.sqlite.connection import SqliteTx
from bot.store.store import DATABASE
from tests import blank

FILES = ("", "-wal", "-shm")
"""What a database consists of, behind its name."""

_connect, _prepare, _reader = engine.connect, engine._prepare, engine._reader


class Kept(SqliteTx):
    """A connection that stays open when its World closes it."""

    def close(self) -> None:
        """Nothing: `Lent.end` does."""


class Lent:
    """A database with its two connections, and a third that empties it."""

    def __init__(self) -> None:
        root = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # where the folders of tests are: files are moved, not copied
        self._home = Path(tempfile.mkdtemp(prefix="nuan-lent-", dir=root))
        self.path = self._own = self._home / DATABASE
        self.path.touch(0o600)
        self.path.write_bytes(blank.blank()[0])
        self._inode = self.path.stat().st_ino
        self.writer, self.reader, self._cleaner = (_connect(self.path, Kept) for _ in range(3))
        self.writer.execute("PRAGMA synchronous = OFF")
        self.reader.execute("PRAGMA query_only = ON")
        self.reader.value("SELECT count(*) FROM meta")  # the log is opened under the name that it has now
        self._cleaner.execute("PRAGMA synchronous = OFF")
        self._cleaner.execute("PRAGMA foreign_keys = OFF")
        self._version = self._cleaner.value("PRAGMA schema_version")
        tables = self._cleaner.all("SELECT name FROM sqlite_master WHERE type = 'table'")
        self._rows = {str(table): self._cleaner.all(f"SELECT * FROM {table}") for (table,) in tables}

    def give(self, folder: Path) -> None:
        """Put it into a folder, as an installation of its own."""
        number = secrets.token_hex(len(blank.blank()[1]) // 2)
        self._cleaner.run("UPDATE meta SET value = ? WHERE key = 'house'", number)
        self._cleaner.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        folder.mkdir(parents=True, exist_ok=True)
        self._move(folder / DATABASE)

    def take_back(self) -> bool:
        """Empty it; False when what is there now is not what was lent, or of another schema."""
        connections = (self.writer, self.reader)
        if any(one.in_transaction for one in connections):
            return False
        for one in connections:
            one.set_trace_callback(None)
            one.set_progress_handler(None, 0)
            one.set_authorizer(None)
        try:
            if self.path.stat().st_ino != self._inode:
                return False
            self._move(self._own)
            if self._cleaner.value("PRAGMA schema_version") != self._version:
                return False
            self._empty()
        except (OSError, sqlite3.Error):
            return False
        return True

    def _empty(self) -> None:
        clean = self._cleaner
        clean.execute("BEGIN IMMEDIATE")
        for table, rows in self._rows.items():
            if rows or clean.value(f"SELECT 1 FROM {table} LIMIT 1") is not None:
                clean.execute(f"DELETE FROM {table}")
        for table, rows in self._rows.items():  # after all deletions: one of them counts what was deleted
            if rows:
                clean.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        clean.execute("COMMIT")

    def _move(self, path: Path) -> None:
        for suffix in FILES:
            self.path.with_name(DATABASE + suffix).rename(path.with_name(DATABASE + suffix))
        self.path = path

    def end(self) -> None:
        """Close it for good."""
        for one in (self.writer, self.reader, self._cleaner):
            SqliteTx.close(one)
        shutil.rmtree(self._home)


_free: list[Lent] = []
_unopened: dict[Path, Lent] = {}
_opened: dict[Path, Lent] = {}


def lend(folder: Path) -> None:
    """Put a new database there, which the next World of this folder opens."""
    if asyncio.get_running_loop().get_debug():
        return
    lent = _free.pop() if _free else Lent()
    lent.give(folder)
    _unopened[lent.path] = lent
    blank.laid(lent.path)


def take_back() -> None:
    """All Worlds with a lent database are closed: keep those that are as they were lent."""
    for lent in (*_unopened.values(), *_opened.values()):
        if lent.take_back():
            _free.append(lent)
        else:
            lent.end()
    _unopened.clear()
    _opened.clear()


def end() -> None:
    """No test is left."""
    while _free:
        _free.pop().end()


def _prepared(path: Path, migrations: engine.Migrations) -> None:
    if path in _opened:
        _opened.pop(path).end()
    _prepare(path, migrations)


async def _read_by(path: Path) -> engine.ReadConnection:
    if path not in _unopened:
        return await _reader(path)
    reader = engine.ReadConnection(lambda: _unopened[path].reader, iter_chunk_size=64)
    await reader
    return reader


def _connected(path: Path, factory: type[SqliteTx] = SqliteTx) -> SqliteTx:
    if path not in _unopened:
        return _connect(path, factory)
    _opened[path] = lent = _unopened.pop(path)
    return lent.writer


engine._prepare, engine._reader, engine.connect = _prepared, _read_by, _connected
