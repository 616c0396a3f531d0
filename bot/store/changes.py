"""What edits, deletions, moves and the like do to a chat and to its older messages, at once and from its work queue."""

from dataclasses import dataclass

from bot.core.clock import DAY_MS
from bot.core.events import Incoming
from bot.core.memories import Memory, NewMemory
from bot.store.commitments import reread_promises
from bot.store.digests import retract_edited
from bot.store.duplicates import separate_copy
from bot.store.engine import Repository, reads, wipe_soon, writes
from bot.store.events import finish_events
from bot.store.index import index_lines, rescope
from bot.store.memories import store_memory
from bot.store.notes import amend_notes
from bot.store.reminders import drop_reminders
from bot.store.removal import delete_message, empty_digests, told_elsewhere
from bot.store.schema import SELECT_MEMORY
from bot.store.supersession import drop_merges, end_memory, reword_memory
from bot.store.told import react
from bot.store.transactions import Tx

KEPT_MS = 7 * DAY_MS
"""How long the row of a memory that an edit ended is kept, as after 忘记 (ARCHITECTURE §6)."""

MOVED = (
    "event",
    "turn",
    "call",
    "outbox",
    "memory",
    "digest",
    "code",
    "doc",
    "note",
    "commitment",
    "reminder",
    "section_round",
    "effect",
)

KEYED = {
    "member": "person_id",
    "conversation_window": "person_id",
    "sent": "external_id",
    "question": "person_id",
    "reminder_question": "person_id",
}
"""Tables in which a chat and this column make the key: what both chats have is kept once."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened to a chat or to an older message of it; `at` is now, ms."""

    incoming: Incoming
    chat_id: int
    person_id: int | None
    at: int


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """What a change leaves: whether its line is `told`, and `queued` for the chat's work queue to see to it.

    `reread` is the message that reads anew.
    """

    told: bool = True
    queued: bool = False
    reread: int | None = None


NOT_TOLD = ChangeEffect(told=False)


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


class ChangedMessages(Repository):
    """Edits and deletions that wait in a chat's work queue: what they are about, and seeing to them."""

    @reads
    def edited(self, tx: Tx, edit_id: int) -> EditedMessage | None:
        """The message that an edit is about; None when nothing of it is left."""
        row = tx.one(
            "SELECT said.id, said.text FROM event AS edit JOIN event AS said ON said.chat_id = edit.chat_id "
            "AND said.external_id = edit.target AND said.external_id <> '' AND said.kind = 'message' "
            "AND said.hidden = '' WHERE edit.id = ? ORDER BY said.id DESC LIMIT 1",
            edit_id,
        )
        if row is None:
            return None
        number, text = row
        sql = (
            f"{SELECT_MEMORY}JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id WHERE event_id = ? "
            "AND source = 'command' AND disabled_at IS NULL ORDER BY memory.id"
        )
        memories = tx.all(sql, number, to=Memory)
        return EditedMessage(number, text, memories)

    @writes
    def revise(self, tx: Tx, edit_id: int, edited: EditedMessage, revision: Revision, at: int) -> None:
        """Bring memories and message in line with an edit, and take the edit off the queue.

        Memories of an edited command say what it says now, or end; what it shared with others stays.
        """
        known = {memory.id: memory for memory in edited.memories}
        for number, text in revision.memories:
            if told_elsewhere(tx, number, {edited.event_id}):
                tx.unlink("memory", number, edited.event_id)
                if text is not None:
                    store_memory(tx, _again(known[number], text, edited.event_id), at)
                continue
            drop_merges(tx, number, at, at + KEPT_MS)  # they tell what it said before
            if text is None:
                end_memory(tx, number, "edited", at, at + KEPT_MS)
            else:
                tx.run("UPDATE memory SET original = '' WHERE id = ?", number)
                reword_memory(tx, number, text, at)
        if revision.told != edited.text:
            amend_notes(tx, edited.event_id, edited.text, revision.told)
        if revision.rest is not None:
            for number in (edited.event_id, edit_id):
                tx.run("UPDATE event SET text = ? WHERE id = ? AND hidden = ''", revision.rest, number)
            index_lines(tx, (edited.event_id,))
        finish_events(tx, (edit_id,), "edited")

    async def delete_again(self, delete_id: int, at: int) -> None:
        """Take what was made of a deleted message while it was being deleted, and the deletion off the queue."""
        await self._database.write(lambda tx: _delete_again(tx, delete_id, at), beside=True)


def apply_change(tx: Tx, happened: Change) -> ChangeEffect:
    """What an event other than a message does to older ones, in the commit that stores it."""
    incoming, chat_id = happened.incoming, happened.chat_id
    match incoming.label if incoming.kind == "event" else "":
        case "edit":
            return _edit(tx, happened)
        case "delete":
            delete_message(tx, chat_id, incoming.target, happened.at)
            return ChangeEffect(told=False, queued=True)
        case "reaction":
            told = react(tx, chat_id, happened.person_id, incoming, happened.at)
            return ChangeEffect(told)
        case "migrate":
            migrate_chat(tx, happened)
            return ChangeEffect(told=False, queued=True)
        case "back":
            return NOT_TOLD
        case "gone":
            # Nothing can be sent there any more; what waits is not sent.
            tx.run("UPDATE chat SET gone = 1 WHERE id = ?", chat_id)
            waiting = (
                "UPDATE outbox SET state = 'cancelled', text = '', payload = '' WHERE chat_id = ? AND state = 'pending'"
            )
            tx.run(waiting, chat_id)
            return NOT_TOLD
        case "title" if incoming.text:
            tx.run("UPDATE chat SET title = ? WHERE id = ?", incoming.text, chat_id)
    return ChangeEffect()


def _edit(tx: Tx, happened: Change) -> ChangeEffect:
    """The message reads anew; the model is told, unless it has not been asked to answer it yet."""
    incoming = happened.incoming
    separate_copy(tx, happened.chat_id, happened.person_id, incoming.target, incoming.text)
    row = tx.one(
        "SELECT id, person_id, text, state = 'queued' AND turn_id IS NULL, off_record > 0 OR forwarded = 1 FROM event WHERE chat_id = ? "
        "AND external_id = ? AND external_id <> '' AND kind = 'message' AND hidden = '' ORDER BY id DESC LIMIT 1",
        happened.chat_id,
        incoming.target,
    )
    if row is None:
        return NOT_TOLD
    number, person_id, before, waiting, apart = row
    if person_id is None or person_id != happened.person_id or before == incoming.text:
        return NOT_TOLD
    tx.run("UPDATE event SET text = ? WHERE id = ?", incoming.text, number)
    wipe_soon(tx, happened.at)
    index_lines(tx, (number,))
    drop_reminders(tx, (number,), "edited", at=happened.at)
    amend_notes(tx, number, before, incoming.text)
    empty_digests(tx, {number}, happened.at)
    retract_edited(tx, number, happened.at)
    reread_promises(tx, number, incoming.text)
    return ChangeEffect(not waiting, queued=True, reread=None if apart else number)


def _delete_again(tx: Tx, delete_id: int, at: int) -> None:
    row = tx.one("SELECT chat_id, target FROM event WHERE id = ?", delete_id)
    if row is not None:
        delete_message(tx, row[0], row[1], at)
    finish_events(tx, (delete_id,), "deleted")


def _again(memory: Memory, text: str, event_id: int) -> NewMemory:
    return NewMemory(
        memory.owner_id,
        memory.chat_id,
        memory.visibility,
        memory.kind,
        text,
        memory.observed_at,
        "command",
        (event_id,),
        memory.slot,
        memory.asked,
    )


def migrate_chat(tx: Tx, happened: Change) -> None:
    """The chat goes on under the id `target`; its old id still leads to it. Doing it twice is once."""
    place, new, chat_id = happened.incoming.place, happened.incoming.target, happened.chat_id
    if not new or new == place.external_id:
        return
    there = tx.value("SELECT chat_id FROM place WHERE platform = ? AND external_id = ?", place.platform, new)
    if there is None:
        sql = (
            "INSERT INTO place (platform, external_id, chat_id, current, parent) "
            "SELECT platform, ?, chat_id, 0, parent FROM place WHERE platform = ? AND external_id = ?"
        )
        tx.run(sql, new, place.platform, place.external_id)
    elif there != chat_id:
        join_chats(tx, there, chat_id, happened.at)
    tx.run("UPDATE place SET current = CASE external_id WHEN ? THEN 1 ELSE 0 END WHERE chat_id = ?", new, chat_id)


def join_chats(tx: Tx, other: int, chat_id: int, at: int) -> None:
    """All of a chat that arrived first under its new id belongs to the chat it is; that one's settings stay."""
    tx.run("UPDATE place SET chat_id = ?, current = 0 WHERE chat_id = ?", chat_id, other)
    if tx.has("SELECT 1 FROM session WHERE chat_id = ? AND state = 'open'", chat_id):
        sql = (
            "UPDATE session SET state = 'closing', close_reason = 'idle', closed_at = ?, digest_due_at = ? "
            "WHERE chat_id = ? AND state = 'open'"
        )
        tx.run(sql, at, at, other)
    sql = (
        "UPDATE session SET chat_id = ?, number = number + (SELECT coalesce(max(number), 0) FROM session "
        "WHERE chat_id = ?) WHERE chat_id = ?"
    )
    tx.run(sql, chat_id, chat_id, other)
    # A line is supported by its neighbours: those of the other come after all of this one's, not between them.
    tx.run(
        "UPDATE doc SET place = place + (SELECT coalesce(max(place), 0) FROM doc WHERE chat_id = ? AND kind = 'line') "
        "WHERE chat_id = ? AND kind = 'line'",
        chat_id,
        other,
    )
    for table, key in KEYED.items():
        sql = f"DELETE FROM {table} WHERE chat_id = ? AND {key} IN (SELECT {key} FROM {table} WHERE chat_id = ?)"
        tx.run(sql, other, chat_id)
    for table in (*MOVED, *KEYED):
        tx.run(f"UPDATE {table} SET chat_id = ? WHERE chat_id = ?", chat_id, other)
    rescope(tx, f"c{other}", f"c{chat_id}")
