"""Looks at what a dead process left, in a copy: the next life must find WAL and all as they were."""

import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM, Signals

from bot.store.store import DATABASE

WAITING = """SELECT 1 FROM event WHERE state = 'queued'
    UNION ALL SELECT 1 FROM outbox WHERE state IN ('pending', 'sending')
    UNION ALL SELECT 1 FROM turn WHERE state IN ('asked', 'answered')"""

BETWEEN = "SELECT 1 FROM outbox WHERE state IN ('sending', 'preview')"
"""On its way: nobody has told yet whether it arrived."""


@dataclass(frozen=True, slots=True)
class Autopsy:
    """Whether it died in the midst of work, the calls in flight with their chats, and what is wrong with the file.

    `sending` when it did not know yet whether something was sent.
    """

    working: bool
    calls: tuple[tuple[int, int], ...]
    wrong: tuple[str, ...]
    sending: bool = False

    @property
    def most_of_a_chat(self) -> int:
        """Calls in flight of the chat that has most."""
        return max(Counter(chat for _, chat in self.calls).values(), default=0)


@dataclass(slots=True)
class Lives:
    """What was seen when lives ended: how many in the midst of work or of sending, calls in flight, faults of the file,
    exit codes.

    `most_calls` of one chat were in flight at one kill.
    """

    ended: int = 0
    working: int = 0
    sending: int = 0
    most_calls: int = 0
    calls: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    exits: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0

    def add(self, code: int, took_s: float, found: Autopsy) -> None:
        """One more."""
        self.ended += 1
        self.working += found.working
        self.sending += found.sending
        self.most_calls = max(self.most_calls, found.most_of_a_chat)
        self.calls |= {number for number, _ in found.calls}
        self.wrong += found.wrong
        self.exits[code] += 1
        self.slowest_s = max(self.slowest_s, took_s)

    def strange(self, ends_by: Signals) -> int:
        """Lives that ended in another way than that signal ends them; a stop is clean with exit code 0."""
        return self.ended - self.exits[0 if ends_by == SIGTERM else -ends_by]


def autopsy(folder: Path) -> Autopsy:
    """Of the database in that folder: SQLite's own check, foreign keys, and what the full-text index says of itself.

    A life may end before there is a table; then nothing is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="nuan-") as copy:
        for path in folder.glob(f"{DATABASE}*"):
            if not path.name.endswith("-shm"):
                shutil.copy(path, copy)
        file = Path(copy) / DATABASE
        if not file.exists():
            return Autopsy(False, (), ())
        with closing(sqlite3.connect(file)) as db:
            return _look(db)


def _look(db: sqlite3.Connection) -> Autopsy:
    try:
        wrong = [str(row) for row in db.execute("PRAGMA integrity_check") if row != ("ok",)]
        wrong += map(str, db.execute("PRAGMA foreign_key_check").fetchall())
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'doc_text'").fetchone():
            return Autopsy(False, (), tuple(wrong))
        calls = tuple(db.execute("SELECT id, chat_id FROM call WHERE state = 'reserved'").fetchall())
        working, sending = (db.execute(sql).fetchone() is not None for sql in (WAITING, BETWEEN))
        return Autopsy(working, calls, tuple(wrong), sending)
    except sqlite3.Error as error:
        return Autopsy(False, (), (str(error),))
