"""What happens to a message after it arrived: edited, deleted, reacted to. It answers nothing and asks no model.

Chats that move are in bot/store/moving.py.
"""

import sqlite3
from dataclasses import dataclass

from bot.errors import ForgottenError, StoreError
from bot.store.amending import amend
from bot.store.copies import parted
from bot.store.database import Database
from bot.store.deleting import delete, elsewhere, end
from bot.store.digests import unlearn
from bot.store.events import Effect, Happened, finish
from bot.store.feedback import react
from bot.store.forgetting import undigest
from bot.store.indexing import index_lines, index_memory
from bot.store.keeping import store_memory
from bot.store.merges import drop_merges
from bot.store.moving import gone, migrate, titled
from bot.store.promising import reread
from bot.store.quoting import QUOTED
from bot.store.reminding import drop_reminders
from bot.store.rows import MEMORY, memory_of
from bot.store.sorting import sort_memory
from bot.store.unnoting import Shelf
from bot.text.fold import fold
from bot.types.duration import DAY_MS
from bot.types.memory import Memory, NewMemory
from bot.types.speaking import HALTS

UNTOLD = Effect("change")
KEPT_MS = 7 * DAY_MS
"""How long the row of a memory that an edit ended is kept, as after 忘记 (ARCHITECTURE §6)."""

PLATFORM_FACTS = ("delete", "migrate", "gone", "back")
"""What counts whoever did it."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A message as it reads after an edit, and the memories that its commands had made, oldest first."""

    event_id: int
    text: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """What an edit makes of memories: (number, new text, None: ended); `rest` is all that stays of the message.

    `told` is what notes tell of it: no wish to remember or forget.
    """

    memories: tuple[tuple[int, str | None], ...]
    told: str
    rest: str | None = None


class Changes:
    """Edits and deletions, as far as they are more than one commit."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    def apply(self, db: sqlite3.Connection, happened: Happened) -> Effect:
        """Verb part: what an event other than a message does to older ones, in the commit that stores it."""
        label = happened.incoming.label if happened.incoming.kind == "event" else ""
        if happened.stranger and label not in PLATFORM_FACTS:
            return Effect()
        match label:
            case "edit":
                return edit(db, happened, self._shelf)
            case "delete":
                delete(db, happened.chat_id, happened.incoming.target, happened.at, self._shelf)
                return Effect("change", queued=True)
            case "reaction":
                return react(db, happened)
            case "migrate":
                migrate(db, happened)
                return Effect("change", queued=True)
            case "back":
                return Effect("change")
            case "gone":
                gone(db, happened)
                return UNTOLD
            case "title":
                titled(db, happened)
        return Effect()

    async def edited(self, edit_id: int) -> Edited | None:
        """The message that an edit is about; None when nothing of it is left."""
        row = await self._database.row(
            "SELECT said.id, said.text FROM event AS edit JOIN event AS said ON said.chat_id = edit.chat_id "
            "AND said.external_id = edit.target AND said.external_id <> '' AND said.kind = 'message' "
            "AND said.hidden = '' WHERE edit.id = ? ORDER BY said.id DESC LIMIT 1",
            (edit_id,),
        )
        if row is None:
            return None
        memories = await self._database.rows(
            MEMORY + "JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id WHERE event_id = ? "
            "AND source = 'command' AND disabled_at IS NULL ORDER BY memory.id",
            (row[0],),
        )
        return Edited(int(row[0]), str(row[1]), tuple(memory_of(each) for each in memories))

    async def revise(self, edit_id: int, edited: Edited, revision: Revision, at: int) -> None:
        """Bring memories and message in line with an edit, and take the edit off the queue."""
        await self._database.write(lambda db: revise(db, edit_id, edited, revision, at, self._shelf))

    async def delete_again(self, delete_id: int, at: int) -> None:
        """Take what was made of a deleted message while it was being deleted, and the deletion off the queue."""

        def verb(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (delete_id,)).fetchone()
            if row is not None:
                delete(db, row[0], row[1], at, self._shelf)
            finish(db, (delete_id,), "done", "deleted")

        await self._database.write(verb)


def edit(db: sqlite3.Connection, happened: Happened, shelf: Shelf) -> Effect:
    """Verb part: the message reads anew; the model is told, unless it has not been asked to answer it yet."""
    incoming = happened.incoming
    parted(db, happened.chat_id, happened.person_id, incoming.target, incoming.text)
    row = db.execute(
        "SELECT id, person_id, text, state = 'queued' AND turn_id IS NULL FROM event WHERE chat_id = ? "
        "AND external_id = ? AND external_id <> '' AND kind = 'message' AND hidden = '' ORDER BY id DESC LIMIT 1",
        (happened.chat_id, incoming.target),
    ).fetchone()
    if row is None or row[1] is None or row[1] != happened.person_id or row[2] == incoming.text:
        return UNTOLD
    db.execute("UPDATE event SET text = ? WHERE id = ?", (incoming.text, row[0]))
    index_lines(db, (row[0],))
    drop_reminders(db, (row[0],), "edited", at=happened.at)
    amend(db, shelf, row[0], row[2], incoming.text)
    undigest(db, {row[0]}, happened.at)
    unlearn(db, row[0], happened.at)
    reread(db, row[0], incoming.text)
    return Effect("change" if row[3] else "", queued=True)


def revise(
    db: sqlite3.Connection, edit_id: int, edited: Edited, revision: Revision, at: int, shelf: Shelf
) -> None:  # fmt: skip
    """Verb: memories of an edited command say what it says now, or end; what it shared with others stays."""
    known = {memory.id: memory for memory in edited.memories}
    for number, text in revision.memories:
        memory = known[number]
        if elsewhere(db, number, {edited.event_id}):
            db.execute(
                "DELETE FROM edge WHERE kind = 'memory' AND derived_id = ? AND event_id = ?", (number, edited.event_id)
            )
            if text is not None:
                store_memory(db, _again(memory, text, edited.event_id), at)
            continue
        drop_merges(db, number, at, at + KEPT_MS)  # they tell what it said before
        if text is None:
            end(db, number, "edited", at, at + KEPT_MS)
        else:
            db.execute(
                "UPDATE memory SET text = ?, folded = ?, original = '', updated_at = ? WHERE id = ?",
                (text, fold(text), at, number),
            )
            sort_memory(db, number)
            index_memory(db, number)
    if revision.told != edited.text:
        amend(db, shelf, edited.event_id, edited.text, revision.told)
    if revision.rest is not None:
        db.execute("UPDATE event SET text = ? WHERE id = ? AND hidden = ''", (revision.rest, edited.event_id))
        index_lines(db, (edited.event_id,))
        db.execute("UPDATE event SET text = ? WHERE id = ? AND hidden = ''", (revision.rest, edit_id))
    finish(db, (edit_id,), "done", "edited")


def _again(memory: Memory, text: str, event_id: int) -> NewMemory:
    return NewMemory(
        memory.owner_id, memory.chat_id, memory.visibility, memory.kind, text, memory.observed_at, "command",
        (event_id,), memory.slot, memory.asked,
    )  # fmt: skip


def showing(db: sqlite3.Connection, entry_id: int, events: tuple[int, ...]) -> None:
    """Verb part: an entry comes from the lines it shows, and from those that they quote."""
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'entry', ?1, ?2 UNION "
        f"SELECT 'entry', ?1, {QUOTED} FROM event WHERE id = ?2 AND target <> '' AND {QUOTED} IS NOT NULL",
        [(entry_id, number) for number in events],
    )


def still_there(db: sqlite3.Connection, shown: tuple[int, ...], answering: tuple[int, ...]) -> None:
    """Verb part: what was deleted after a turn was composed must not reach the model, nor is what was stopped answered.

    StoreError stores nothing.
    """
    for number in sorted({*shown, *answering}):
        hidden, outcome, why = db.execute("SELECT hidden, outcome, why FROM event WHERE id = ?", (number,)).fetchone()
        if hidden == "deleted" or (number in answering and (outcome == "stopped" or why in HALTS)):
            raise StoreError(f"event {number!r} was taken back meanwhile: nothing was stored, compose again")


def still_known(db: sqlite3.Connection, epoch_id: int) -> None:
    """Verb part: ForgottenError when what the log tells was forgotten while its turn ran: it is not sent again."""
    if db.execute("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", (epoch_id,)).fetchone():
        raise ForgottenError(f"the log {epoch_id!r} tells what was forgotten meanwhile: nothing was stored")


def goes_on(db: sqlite3.Connection, turn_id: int) -> None:
    """Verb part: StoreError when the turn was voided under way: what its log told was deleted, or it was stopped."""
    if db.execute("SELECT 1 FROM turn WHERE id = ? AND state = 'void'", (turn_id,)).fetchone():
        raise StoreError(f"turn {turn_id!r} was voided meanwhile: nothing was stored, it ends here")
