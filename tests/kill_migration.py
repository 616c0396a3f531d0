"""Migrations that are killed with SIGKILL at each statement, on a database with rows in every table.

`python -m tests.kill_migration FOLDER FIRST LAST` does all of that for the migrations from version FIRST to LAST, each
statement of any connection in a child of its own, and prints what was counted.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from bot.core.errors import StoreError
from bot.store.schema import MIGRATIONS
from bot.store.sqlite.copies import verify_copy
from bot.store.sqlite.opening import _migrate, _prepare, connect

ROWS = 3
"""In each table: numbers 1 to 3, so that whatever refers to a row finds it."""

VALUES = {
    "visibility": "private",
    "kind": "event",
    "role": "user",
    "names": "[]",
    "receipts": "[]",
    "external_ids": "[]",
    "buttons": "[]",
    "tools": "[]",
    "message": '{"role": "user", "content": "x"}',
    "tier": "raw",
    "scope": "o1",
    "purge_at": None,
    "disabled_at": None,
    "ended_at": 9,
    "into_id": None,
    "digest_due_at": None,
    "hidden": "",
}
"""What a column holds where code looks into it."""

INDEX = ("doc", "doc_text", "posting", "vector", "meta")
"""What is made anew after the last migration, in a transaction of its own."""


def fill(db: sqlite3.Connection) -> None:
    """Rows for every table that has none."""
    db.execute("PRAGMA foreign_keys = OFF")
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    for table in tables:
        if table.startswith("sqlite_") or "_text" in table or db.execute(f"SELECT 1 FROM {table}").fetchone():
            continue
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        names = ", ".join(column[1] for column in columns)
        for number in range(1, ROWS + 1):
            values = [VALUES.get(name, _value(kind, name, number)) for _, name, kind, *_ in columns]
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})", values)
    for index, whose in old_indexes(db):
        if not db.execute(f"SELECT 1 FROM {index}").fetchone():
            db.executemany(
                f"INSERT INTO {index} (rowid, {whose}, terms) VALUES (?, 'o1', ?)",
                [(number, f"word{number}") for number in range(1, ROWS + 1)],
            )
    db.execute("INSERT OR IGNORE INTO meta (key, value) VALUES ('house', 'h')")


def old_indexes(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The indexes of FTS5 that an older schema has, and the column that says who may see a row."""
    names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")}
    return [(name, whose) for name, whose in (("memory_text", "owner"), ("doc_text", "scope")) if name in names]


def _value(kind: str, name: str, number: int) -> object:
    if kind in ("INTEGER", "REAL"):
        return number
    return b"\0" * 8 if kind == "BLOB" else f"{name}{number}"


def content(path: Path) -> dict[str, list[str]]:
    """Every row of every table, and what the tables are."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        made = db.execute("SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        names = [name for name, kind, _ in made if kind == "table" and not _shadow(name)]
        found = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names}
        return {**found, "": sorted(str(sql) for _, _, sql in made)}


def _shadow(table: str) -> bool:
    return "_text_" in table


def unsound(path: Path) -> bool:
    """Whether SQLite finds something wrong with it."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        try:
            for index, _ in old_indexes(db):
                db.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
        except sqlite3.DatabaseError:
            return True
        verdict = db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        return verdict != "ok" or bool(db.execute("PRAGMA foreign_key_check").fetchone())


def copies(source: Path, target: Path) -> None:
    """The same database in a folder of its own."""
    shutil.rmtree(target.parent, ignore_errors=True)
    target.parent.mkdir(parents=True)
    shutil.copy(source, target)


def bring(path: Path, last: int) -> None:
    """To that version; to the newest as nuan does it at a start."""
    if last == len(MIGRATIONS):
        _prepare(path, MIGRATIONS)
    else:
        with contextlib.closing(connect(path)) as db:
            _migrate(db, path, MIGRATIONS[:last])


def killed(path: Path, last: int, statement: int) -> bool:
    """Migrate in a child that dies of its n-th statement; False when it had no more."""
    child = os.fork()
    if not child:
        left = statement

        def see(_: FrameType, event: str, called: object) -> None:
            nonlocal left
            if event == "c_call" and isinstance(getattr(called, "__self__", None), sqlite3.Connection | sqlite3.Cursor):
                left -= getattr(called, "__name__", "") in ("execute", "executemany", "backup")
                if left <= 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(see)
        bring(path, last)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def versions(folder: Path) -> Iterator[Path]:
    """A filled database of each version, the first to the newest."""
    growing = folder / "growing" / "nuan.db"
    growing.parent.mkdir(parents=True)
    for version in range(1, len(MIGRATIONS) + 1):
        with contextlib.closing(connect(growing)) as db:
            db.execute("PRAGMA synchronous = OFF")
            _migrate(db, growing, MIGRATIONS[:version])
            fill(db)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        yield growing


def run(folder: Path, first: int, last: int) -> tuple[Counter[str], list[str]]:
    """Each statement on the way from each of these versions to the next one."""
    seen, notes = Counter[str](), list[str]()
    for version, grown in enumerate(versions(folder), 1):
        if not first <= version < min(last, len(MIGRATIONS)):
            continue
        following, work = version + 1, folder / "work" / "nuan.db"
        copies(grown, work)
        before = content(work)
        bring(work, following)
        after, statement = content(work), 0
        while True:
            statement += 1
            copies(grown, work)
            if not killed(work, following, statement):
                break
            seen["kills"] += 1
            wrong = broken(work, version, before, after)
            seen["wrong"] += bool(wrong)
            notes += [f"{version} to {following}, statement {statement}: {each}" for each in wrong]
        seen["migrations"] += 1
        seen["older refuse"] += refuses(work, version)
    return seen, notes


def broken(path: Path, version: int, before: dict[str, list[str]], after: dict[str, list[str]]) -> list[str]:
    """What is not as it must be after a kill: the old rows or the new ones, a copy that is whole, and a way on."""
    wrong = []
    with contextlib.closing(sqlite3.connect(path)) as db:
        found = db.execute("PRAGMA user_version").fetchone()[0]
    now = content(path)
    if found == version and now != before:
        wrong.append("the old schema with other rows")
    wrong += [
        f"the new schema with other rows in {name}"
        for name in now
        if name not in INDEX and found != version and now[name] != after[name]
    ]
    if unsound(path):
        wrong.append("SQLite finds it damaged")
    for copy in path.parent.glob("nuan.before-*.db"):
        verify_copy(copy)
        if content(copy) != before:
            wrong.append(f"{copy.name} is not what was there")
    bring(path, version + 1)
    if content(path) != after:
        wrong.append("the next start does not finish it")
    return wrong


def refuses(path: Path, version: int) -> bool:
    """Whether a nuan of the old version leaves the new database alone, and says so."""
    kept = content(path)
    try:
        _prepare(path, MIGRATIONS[:version])
    except StoreError as error:
        return "newer nuan" in str(error) and content(path) == kept
    return False


if __name__ == "__main__":
    sums, said = run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps([sums, said]))
