"""Logs that are nearly full: which, and the note that a model made of one, with what that cost."""

import sqlite3
from dataclasses import dataclass

from bot.store.database import Database
from bot.store.ledger import Settlement, settle
from bot.store.notefiles import NoteFiles
from bot.store.noting import write
from bot.types.note import NewNote

LOG = """SELECT session.id, epoch.id, (SELECT coalesce(sum(tokens), 0) FROM entry WHERE epoch_id = epoch.id),
    flushed_upto IS NOT NULL, (SELECT why FROM turn WHERE epoch_id = epoch.id ORDER BY turn.id DESC LIMIT 1),
    (SELECT max(flushed_upto) FROM epoch AS other WHERE other.session_id = session.id)
    FROM session JOIN epoch ON epoch.id = (SELECT id FROM epoch WHERE session_id = session.id
    ORDER BY number DESC LIMIT 1) WHERE session.state <> 'closed' AND """


@dataclass(frozen=True, slots=True)
class FullLog:
    """The newest log of a session that is not digested yet: its estimated tokens, and why its last turn was taken.

    `flushed`: it had its call; `before` is the event up to which that, or one of an earlier log, went (0: none yet).
    """

    session_id: int
    epoch_id: int
    tokens: int
    flushed: bool
    last_why: str
    before: int


class Flushes:
    """Logs that are flushed, each once."""

    def __init__(self, database: Database, files: NoteFiles) -> None:
        self._database = database
        self._files = files

    async def open_log(self, chat_id: int) -> FullLog | None:
        """The log of a chat's open session."""
        return await self._one("session.chat_id = ? AND session.state = 'open'", chat_id)

    async def log(self, session_id: int) -> FullLog | None:
        """The log of a session that is not digested yet."""
        return await self._one("session.id = ?", session_id)

    async def begin(self, epoch_id: int, upto: int) -> bool:
        """This log has its call now, for what was said up to that event; False when it had it before."""
        return await self._database.write(
            lambda db: (
                db.execute(
                    "UPDATE epoch SET flushed_upto = ? WHERE id = ? AND flushed_upto IS NULL", (upto, epoch_id)
                ).rowcount
                == 1
            )
        )

    async def store(self, settlement: Settlement, new: NewNote | None, most: int, at: int) -> str | None:
        """What the call cost, and the note of at most `most` bytes that it made, in one commit; its path."""

        def verb(db: sqlite3.Connection) -> str | None:
            settle(db, settlement, at)
            return write(db, self._files, new, most) if new is not None else None

        return await self._database.write(verb)

    async def _one(self, where: str, number: int) -> FullLog | None:
        row = await self._database.row(LOG + where, (number,))
        if row is None:
            return None
        return FullLog(int(row[0]), int(row[1]), int(row[2]), bool(row[3]), str(row[4] or ""), int(row[5] or 0))
