"""Who was erased, as HMACs of accounts in a file outside the database: a way back to a backup erases them again.

Each erasure has a name, which the database keeps, too: what is in the file and not there is still to be done.
"""

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bot.errors import StoreError
from bot.store.erasing import erase_person
from bot.store.tombstones import KEY, Tombstones
from bot.store.unnoting import Shelf
from bot.types.erased import Erased

FILE = "erased.jsonl"
DONE = "erased:"
"""The key of an erasure in the table meta begins with it."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure: its name, and by what the accounts of the person are known."""

    name: str
    accounts: frozenset[str]


class Erasures:
    """The file of a data folder; every method blocks."""

    def __init__(self, folder: Path, tombstones: Tombstones) -> None:
        self._path = folder / FILE
        self._tombstones = tombstones

    def begin(self, accounts: Iterable[str], at: int) -> str:
        """Write down that whoever has these accounts ("platform:id") is erased; its name. Durable when it returns."""
        name, known = secrets.token_hex(8), sorted(self._sign(account) for account in accounts)
        self._append({"erasure": name, "at": at, "accounts": known})
        return name

    def give_up(self, name: str) -> None:
        """The database refused: nothing of it was done, nor will be."""
        self._append({"erasure": name, "void": True})

    def all(self) -> tuple[Erasure, ...]:
        """Every erasure, oldest first; StoreError when the file cannot be read."""
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"{FILE} cannot be read ({error}): check the data folder's rights") from error
        found: dict[str, Erasure] = {}
        for line in lines:
            try:
                row = json.loads(line)
                name = str(row["erasure"])
                if row.get("void"):
                    found.pop(name, None)
                else:
                    found[name] = Erasure(name, frozenset(map(str, row["accounts"])))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                continue  # half a line, from a power cut: nothing was done yet
        return tuple(found.values())

    def due(self, db: sqlite3.Connection) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Verb part: which erasures this database has not seen, each with the numbers of the people it means."""
        due = [each for each in self.all() if not _done(db, each.name)]
        if not due:
            return ()
        if not self._path.with_name(KEY).exists():
            raise StoreError(f"{KEY} is gone: put it back from a backup, or who was erased may return")
        rows = db.execute("SELECT person_id, platform || ':' || external_id FROM account").fetchall()
        known = [(cast("int", person), self._sign(str(account))) for person, account in rows]
        return tuple(
            (each.name, tuple(sorted({person for person, mac in known if mac in each.accounts}))) for each in due
        )

    def _sign(self, account: str) -> str:
        return self._tombstones.sign(f"account {account}")

    def _append(self, row: dict[str, object]) -> None:
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                line = f"\n{json.dumps(row)}\n".encode()  # the first line end closes half a line before it
                if os.write(descriptor, line) < len(line):
                    raise OSError("the disk is full")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{FILE} cannot be written ({error}): nothing was erased") from error


def erase_again(db: sqlite3.Connection, erasures: Erasures, shelf: Shelf, at: int) -> tuple[Erased, ...]:
    """Verb part: do what this database has not seen yet; who went."""
    gone: list[Erased] = []
    for name, people in erasures.due(db):
        gone += [erase_person(db, person_id, shelf, at) for person_id in people]
        mark_done(db, name, at)
    return tuple(gone)


def mark_done(db: sqlite3.Connection, name: str, at: int) -> None:
    """Verb part: this database has seen that erasure."""
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (f"{DONE}{name}", str(at)))


def _done(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (f"{DONE}{name}",)).fetchone() is not None
