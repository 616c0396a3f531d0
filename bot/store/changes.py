"""What happens to messages after they arrived: edits, deletions, reactions, chats that migrate or end."""

from dataclasses import dataclass
from typing import cast

from bot.core.clock import DAY_MS
from bot.core.errors import LogForgottenError, StoreError
from bot.core.memories import Memory, NewMemory
from bot.core.speaking import STOP_REASONS
from bot.store.commitments import reread_promises
from bot.store.deletion import delete_message, end_memory, told_elsewhere
from bot.store.digests import retract_edited
from bot.store.engine import Database
from bot.store.events import ChangeEffect, ChangeEvent, finish_events
from bot.store.feedback import react
from bot.store.forget import empty_digests
from bot.store.index import index_lines, index_memory, rescope, sort_memory
from bot.store.ingest import QUOTED_ID, separate_copy
from bot.store.memories import store_memory
from bot.store.notes import NoteStorage, amend_notes
from bot.store.reminders import drop_reminders
from bot.store.schema import SELECT_MEMORY, memory_of
from bot.store.supersession import drop_merges
from bot.store.transactions import Tx
from bot.text.fold import fold

MOVED = (
    "event", "turn", "call", "outbox", "memory", "digest", "code", "doc", "note", "commitment", "reminder",
    "section_round",
)  # fmt: skip
KEYED = ("member", "window", "sent", "question", "reminder_question")
"""Tables in which a chat and something else make the key: what both chats have is kept once."""


def migrate_chat(db: Tx, happened: ChangeEvent) -> None:
    """Within a transaction: the chat goes on under the id `target`; its old id still leads to it. Doing it twice is
    once.
    """
    place, new, chat_id = happened.incoming.place, happened.incoming.target, happened.chat_id
    if not new or new == place.external_id:
        return
    there = db.execute(
        "SELECT chat_id FROM place WHERE platform = ? AND external_id = ?", (place.platform, new)
    ).fetchone()
    if there is None:
        db.execute(
            "INSERT INTO place (platform, external_id, chat_id, current, parent) "
            "SELECT platform, ?, chat_id, 0, parent FROM place WHERE platform = ? AND external_id = ?",
            (new, place.platform, place.external_id),
        )
    elif there[0] != chat_id:
        _join(db, cast("int", there[0]), chat_id, happened.at)
    db.execute("UPDATE place SET current = (external_id = ?) WHERE chat_id = ?", (new, chat_id))


def _join(db: Tx, other: int, chat_id: int, at: int) -> None:
    """All of a chat that arrived first under its new id belongs to the chat it is; that one's settings stay."""
    db.execute("UPDATE place SET chat_id = ?, current = 0 WHERE chat_id = ?", (chat_id, other))
    if db.execute("SELECT 1 FROM session WHERE chat_id = ? AND state = 'open'", (chat_id,)).fetchone():
        db.execute(
            "UPDATE session SET state = 'closing', close_reason = 'idle', closed_at = ?1, digest_due_at = ?1 "
            "WHERE chat_id = ?2 AND state = 'open'",
            (at, other),
        )
    db.execute(
        "UPDATE session SET chat_id = ?1, number = number + (SELECT coalesce(max(number), 0) FROM session "
        "WHERE chat_id = ?1) WHERE chat_id = ?2",
        (chat_id, other),
    )
    # A line is supported by its neighbours: those of the other come after all of this one's, not between them.
    db.execute(
        "UPDATE doc SET place = place + (SELECT coalesce(max(place), 0) FROM doc WHERE chat_id = ?1 AND kind = 'line') "
        "WHERE chat_id = ?2 AND kind = 'line'",
        (chat_id, other),
    )
    for table in MOVED:
        db.execute(f"UPDATE {table} SET chat_id = ? WHERE chat_id = ?", (chat_id, other))
    for table in KEYED:
        db.execute(f"UPDATE OR IGNORE {table} SET chat_id = ? WHERE chat_id = ?", (chat_id, other))
        db.execute(f"DELETE FROM {table} WHERE chat_id = ?", (other,))
    rescope(db, f"c{other}", f"c{chat_id}")


def mark_gone(db: Tx, happened: ChangeEvent) -> None:
    """Within a transaction: nothing can be sent there any more; what waits is not sent."""
    db.execute("UPDATE chat SET gone = 1 WHERE id = ?", (happened.chat_id,))
    db.execute(
        "UPDATE outbox SET state = 'cancelled', text = '' WHERE chat_id = ? AND state = 'pending'",
        (happened.chat_id,),
    )


def rename_chat(db: Tx, happened: ChangeEvent) -> None:
    """Within a transaction: the chat has another title."""
    if happened.incoming.text:
        db.execute("UPDATE chat SET title = ? WHERE id = ?", (happened.incoming.text, happened.chat_id))


NOT_TOLD = ChangeEffect("change")
KEPT_MS = 7 * DAY_MS
"""How long the row of a memory that an edit ended is kept, as after 忘记 (ARCHITECTURE §6)."""

PLATFORM_FACTS = ("delete", "migrate", "gone", "back")
"""What counts whoever did it."""


@dataclass(frozen=True, slots=True)
class EditedMessage:
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

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    def apply(self, db: Tx, happened: ChangeEvent) -> ChangeEffect:
        """Within a transaction: what an event other than a message does to older ones, in the commit that stores it."""
        label = happened.incoming.label if happened.incoming.kind == "event" else ""
        if happened.stranger and label not in PLATFORM_FACTS:
            return ChangeEffect()
        match label:
            case "edit":
                return edit(db, happened, self._note_storage)
            case "delete":
                delete_message(db, happened.chat_id, happened.incoming.target, happened.at, self._note_storage)
                return ChangeEffect("change", queued=True)
            case "reaction":
                return react(db, happened)
            case "migrate":
                migrate_chat(db, happened)
                return ChangeEffect("change", queued=True)
            case "back":
                return ChangeEffect("change")
            case "gone":
                mark_gone(db, happened)
                return NOT_TOLD
            case "title":
                rename_chat(db, happened)
        return ChangeEffect()

    async def edited(self, edit_id: int) -> EditedMessage | None:
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
            SELECT_MEMORY + "JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id WHERE event_id = ? "
            "AND source = 'command' AND disabled_at IS NULL ORDER BY memory.id",
            (row[0],),
        )
        return EditedMessage(int(row[0]), str(row[1]), tuple(memory_of(each) for each in memories))

    async def revise(self, edit_id: int, edited: EditedMessage, revision: Revision, at: int) -> None:
        """Bring memories and message in line with an edit, and take the edit off the queue."""
        await self._database.write(lambda db: revise(db, edit_id, edited, revision, at, self._note_storage))

    async def delete_again(self, delete_id: int, at: int) -> None:
        """Take what was made of a deleted message while it was being deleted, and the deletion off the queue."""

        def transaction(db: Tx) -> None:
            row = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (delete_id,)).fetchone()
            if row is not None:
                delete_message(db, row[0], row[1], at, self._note_storage)
            finish_events(db, (delete_id,), "done", "deleted")

        await self._database.write(transaction)


def edit(db: Tx, happened: ChangeEvent, note_storage: NoteStorage) -> ChangeEffect:
    """Within a transaction: the message reads anew; the model is told, unless it has not been asked to answer it
    yet.
    """
    incoming = happened.incoming
    separate_copy(db, happened.chat_id, happened.person_id, incoming.target, incoming.text)
    row = db.execute(
        "SELECT id, person_id, text, state = 'queued' AND turn_id IS NULL FROM event WHERE chat_id = ? "
        "AND external_id = ? AND external_id <> '' AND kind = 'message' AND hidden = '' ORDER BY id DESC LIMIT 1",
        (happened.chat_id, incoming.target),
    ).fetchone()
    if row is None or row[1] is None or row[1] != happened.person_id or row[2] == incoming.text:
        return NOT_TOLD
    db.execute("UPDATE event SET text = ? WHERE id = ?", (incoming.text, row[0]))
    index_lines(db, (row[0],))
    drop_reminders(db, (row[0],), "edited", at=happened.at)
    amend_notes(db, note_storage, row[0], row[2], incoming.text)
    empty_digests(db, {row[0]}, happened.at)
    retract_edited(db, row[0], happened.at)
    reread_promises(db, row[0], incoming.text)
    return ChangeEffect("change" if row[3] else "", queued=True)


def revise(
    db: Tx, edit_id: int, edited: EditedMessage, revision: Revision, at: int, note_storage: NoteStorage
) -> None:  # fmt: skip
    """One transaction: memories of an edited command say what it says now, or end; what it shared with others stays."""
    known = {memory.id: memory for memory in edited.memories}
    for number, text in revision.memories:
        memory = known[number]
        if told_elsewhere(db, number, {edited.event_id}):
            db.execute(
                "DELETE FROM edge WHERE kind = 'memory' AND derived_id = ? AND event_id = ?", (number, edited.event_id)
            )
            if text is not None:
                store_memory(db, _again(memory, text, edited.event_id), at)
            continue
        drop_merges(db, number, at, at + KEPT_MS)  # they tell what it said before
        if text is None:
            end_memory(db, number, "edited", at, at + KEPT_MS)
        else:
            db.execute(
                "UPDATE memory SET text = ?, folded = ?, original = '', updated_at = ? WHERE id = ?",
                (text, fold(text), at, number),
            )
            sort_memory(db, number)
            index_memory(db, number)
    if revision.told != edited.text:
        amend_notes(db, note_storage, edited.event_id, edited.text, revision.told)
    if revision.rest is not None:
        db.execute("UPDATE event SET text = ? WHERE id = ? AND hidden = ''", (revision.rest, edited.event_id))
        index_lines(db, (edited.event_id,))
        db.execute("UPDATE event SET text = ? WHERE id = ? AND hidden = ''", (revision.rest, edit_id))
    finish_events(db, (edit_id,), "done", "edited")


def _again(memory: Memory, text: str, event_id: int) -> NewMemory:
    return NewMemory(
        memory.owner_id, memory.chat_id, memory.visibility, memory.kind, text, memory.observed_at, "command",
        (event_id,), memory.slot, memory.asked,
    )  # fmt: skip


def link_shown(db: Tx, entry_id: int, events: tuple[int, ...]) -> None:
    """Within a transaction: an entry comes from the lines it shows, and from those that they quote."""
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'entry', ?1, ?2 UNION "
        f"SELECT 'entry', ?1, {QUOTED_ID} FROM event WHERE id = ?2 AND target <> '' AND {QUOTED_ID} IS NOT NULL",
        [(entry_id, number) for number in events],
    )


def check_still_there(db: Tx, shown: tuple[int, ...], answering: tuple[int, ...]) -> None:
    """Within a transaction: what was deleted after a turn was composed must not reach the model, nor is what was
    stopped answered.

    StoreError stores nothing.
    """
    for number in sorted({*shown, *answering}):
        hidden, outcome, why = db.execute("SELECT hidden, outcome, why FROM event WHERE id = ?", (number,)).fetchone()
        if hidden == "deleted" or (number in answering and (outcome == "stopped" or why in STOP_REASONS)):
            raise StoreError(f"event {number!r} was taken back meanwhile: nothing was stored, compose again")


def check_not_forgotten(db: Tx, epoch_id: int) -> None:
    """Within a transaction: LogForgottenError when what the log tells was forgotten while its turn ran: it is not sent
    again.
    """
    if db.execute("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", (epoch_id,)).fetchone():
        raise LogForgottenError(f"the log {epoch_id!r} tells what was forgotten meanwhile: nothing was stored")


def check_running(db: Tx, turn_id: int) -> None:
    """Within a transaction: StoreError when the turn was voided under way: what its log told was deleted, or it was
    stopped.
    """
    if db.execute("SELECT 1 FROM turn WHERE id = ? AND state = 'void'", (turn_id,)).fetchone():
        raise StoreError(f"turn {turn_id!r} was voided meanwhile: nothing was stored, it ends here")
