"""Lines deleted, taken back by reply or kept off the record, and memories shared or shared no longer."""

from dataclasses import dataclass
from typing import cast

from bot.core.memories import Memory, Visibility
from bot.core.people import Chat
from bot.store.commitments import withdraw_promises
from bot.store.engine import Database
from bot.store.events import finish_events
from bot.store.forget import (
    SCRUBBED_LINES,
    Forgetting,
    disable_memories,
    empty_digests,
    forget_memories,
    hide_lines,
    logs_of,
    purge_now,
    replies_to,
)
from bot.store.index import drop_documents, forget_terms, index_lines, index_memory
from bot.store.ingest import pass_to_copy
from bot.store.ledger import charge_call
from bot.store.memories import Receipt, StatementKey, address_lines, earlier_receipt, replace_same, store_receipt
from bot.store.notes import AddTombstone, NoteStorage, RemovedContent, remove_from_notes
from bot.store.outbox import withdraw
from bot.store.reminders import drop_reminders, reminder_lines
from bot.store.schema import NAME_SLOT, SELECT_MEMORY, memory_of, placeholders
from bot.store.sessions import drop_log, end_logs
from bot.store.supersession import drop_merges, scrub_merges
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import echoes


def delete_message(db: Tx, chat_id: int, target: str, at: int, note_storage: NoteStorage) -> None:
    """Within a transaction: a message, or a line of nuan's, is gone with everything made from it (ARCHITECTURE §6)."""
    if pass_to_copy(db, chat_id, target):
        return
    if said := lines_of_message(db, chat_id, target):
        delete_lines(db, said, at, note_storage)
    quoting = db.execute(
        "SELECT id FROM event WHERE chat_id = ? AND target = ? AND target <> '' AND quote <> ''", (chat_id, target)
    ).fetchall()
    for (number,) in quoting:
        db.execute("UPDATE event SET quote = '' WHERE id = ?", (number,))
        _stop(db, logs_of(db, {number}), at)


def delete_lines(db: Tx, said: dict[int, str], at: int, note_storage: NoteStorage) -> None:
    """Within a transaction: these lines (id: text) are gone with everything made from them."""
    texts = {text for text in said.values() if text}
    gone_ids = set(said) | _receipts(db, set(said)) | address_lines(db, said) | reminder_lines(db, set(said))
    stale = logs_of(db, gone_ids) | _own_logs(db, set(said))
    for text in sorted(texts) if len(said) == 1 else (None,):
        gone_ids |= replies_to(db, text, set(said), stale)
    stale |= logs_of(db, gone_ids)
    _stop(db, stale, at)
    remove_from_notes(db, note_storage, RemovedContent(frozenset(gone_ids)), at)
    hide_lines(db, gone_ids, "deleted")
    finish_events(db, tuple(sorted(gone_ids)), "done", "deleted")
    empty_digests(db, gone_ids, at)
    withdraw_promises(db, gone_ids)
    drop_reminders(db, gone_ids, "deleted", at)
    _forget(db, gone_ids, at, note_storage.add_tombstone)
    for number in sorted(gone_ids):
        reply = "turn_id = (SELECT turn_id FROM event WHERE id = ?1 AND kind = 'bot')"
        shown = f"state = 'pending' AND preview_id <> '' AND {reply}"
        db.execute(f"UPDATE outbox SET kind = 'withdrawal', text = '', due_at = ?2 WHERE {shown}", (number, at))
        db.execute(
            "UPDATE outbox SET text = '', state = CASE WHEN state IN ('pending', 'sending') THEN 'cancelled' "
            f"ELSE state END WHERE kind <> 'withdrawal' AND (event_id = ?1 OR {reply})",
            (number,),
        )
    forget_terms(db)


def lines_of_message(db: Tx, chat_id: int, target: str) -> dict[int, str]:
    """Within a transaction: the message with that id and its edits, or the reply or receipt sent under it; with their
    texts.
    """
    if not target:
        return {}
    rows = db.execute(
        "SELECT id, text FROM event WHERE chat_id = ?1 AND external_id = ?2 AND external_id <> '' AND kind = 'message' "
        "UNION SELECT id, text FROM event WHERE chat_id = ?1 AND kind = 'event' AND label = 'edit' AND target = ?2 "
        "UNION SELECT event.id, text FROM sent JOIN event ON event.turn_id = sent.turn_id AND event.kind = 'bot' "
        "WHERE sent.chat_id = ?1 AND sent.external_id = ?2 UNION SELECT event.id, event.text FROM sent JOIN outbox "
        "ON outbox.chat_id = sent.chat_id AND instr(external_ids, json_quote(?2)) JOIN event ON event.id = event_id "
        "WHERE sent.chat_id = ?1 AND sent.external_id = ?2 AND sent.turn_id IS NULL",
        (chat_id, target),
    )
    return {cast("int", row[0]): str(row[1]) for row in rows}


def _own_logs(db: Tx, events: set[int]) -> set[int]:
    """The logs that hold nuan's own lines among these."""
    return {
        cast("int", row[0])
        for number in events
        for row in db.execute(
            "SELECT epoch_id FROM turn JOIN event ON event.turn_id = turn.id WHERE event.id = ? AND event.kind = 'bot'",
            (number,),
        )
    }


def _receipts(db: Tx, events: set[int]) -> set[int]:
    """The receipts of commands in these messages; a crash says none of them again."""
    found: set[int] = set()
    for number in sorted(events):
        keys = (f"event:{number}:", f"event:{number};")  # ';' is the character after ':'
        for (text,) in db.execute("SELECT result FROM effect WHERE key > ? AND key < ? AND result <> ''", keys):
            rows = db.execute(
                "SELECT id FROM event WHERE id > ?1 AND chat_id = (SELECT chat_id FROM event WHERE id = ?1) "
                "AND kind = 'bot' AND label = 'memory' AND text = ?2",
                (number, text),
            )
            found |= {cast("int", row[0]) for row in rows}
        db.execute("UPDATE effect SET result = '' WHERE key > ? AND key < ?", keys)
    return found


def _stop(db: Tx, epochs: set[int], at: int) -> None:
    """These logs are never sent again; turns that run on them are void, and what else they answer waits anew."""
    for epoch_id in sorted(epochs):
        db.execute("UPDATE epoch SET stale = 'deleted' WHERE id = ?", (epoch_id,))
        for (turn_id,) in db.execute(
            "SELECT id FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", (epoch_id,)
        ).fetchall():
            db.execute("UPDATE turn SET state = 'void', receipts = '[]' WHERE id = ?", (turn_id,))
            for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn_id,)):
                charge_call(db, cast("int", call_id), at)
            db.execute("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", (turn_id,))
            withdraw(db, cast("int", turn_id), at)
        drop_log(db, epoch_id)


def _forget(db: Tx, events: set[int], at: int, add_tombstone: AddTombstone) -> None:
    """Memories made from these lines go at once and do not come back, unless they were told elsewhere too."""
    for event_id in sorted(events):
        for number, text, original, asked in db.execute(
            "SELECT memory.id, text, original, asked FROM edge JOIN memory ON memory.id = derived_id "
            "WHERE edge.kind = 'memory' AND event_id = ? AND (disabled_at IS NULL OR disabled_reason <> 'deleted')",
            (event_id,),
        ).fetchall():
            other = told_elsewhere(db, number, events)
            if asked and other:
                continue
            if not other:
                for wording in filter(None, (text, original)):
                    add_tombstone(number, wording, at)
            end_memory(db, number, "deleted", at, at)
            drop_merges(db, number, at, at)
    scrub_merges(db, events)


def told_elsewhere(db: Tx, memory_id: int, events: set[int]) -> bool:
    """Within a transaction: whether somebody said it in another message as well, that is still there."""
    rows = db.execute(
        "SELECT event.id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? "
        "AND event.kind = 'message' AND hidden = ''",
        (memory_id,),
    )
    return any(row[0] not in events for row in rows)


def end_memory(db: Tx, number: int, why: str, at: int, purge_at: int) -> None:
    """Within a transaction: a memory is over, and its row goes at `purge_at` (ms)."""
    db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = ?, purge_at = ?, updated_at = ? WHERE id = ?",
        (at, why, purge_at, at, number),
    )
    drop_documents(db, "memory", (number,))


@dataclass(frozen=True, slots=True)
class RepliedLine:
    """What a message replies to; without `there` nothing is left of it.

    `by` are the people it belongs to: who said it, or whom nuan answered with it. `receipt` is its text when nuan
    confirmed something with it, `memories` are those that were asked to be kept in it.
    """

    chat_id: int
    target: str
    there: bool
    by: frozenset[int] = frozenset()
    receipt: str = ""
    memories: tuple[Memory, ...] = ()


class TakenBackLines:
    """Lines that people take back."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def is_reply(self, event_id: int) -> bool:
        """Whether a message replies to another."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE id = ? AND target <> '' AND kind = 'message'", (event_id,)
        )
        return row is not None

    async def replied(self, event_id: int) -> RepliedLine:
        """What that message replies to."""
        return await self._database.write(lambda db: replied_line(db, event_id))

    async def keeper(self, memory_id: int) -> Memory | None:
        """An active memory, whoever owns it."""
        row = await self._database.row(f"{SELECT_MEMORY}WHERE memory.id = ? AND disabled_at IS NULL", (memory_id,))
        return memory_of(tuple(row)) if row is not None else None

    async def told(self, person_id: int, chat: Chat) -> tuple[tuple[int, int, str], ...]:
        """What that person said, oldest first: number, when (ms), text; in a group only there, else in their DMs."""
        where = "chat_id = ?2" if chat.kind == "group" else "chat_id IN (SELECT id FROM chat WHERE kind = 'dm')"
        rows = await self._database.rows(
            "SELECT id, at, text FROM event WHERE person_id = ?1 AND kind = 'message' AND hidden = '' AND text <> '' "
            f"AND (chat_id = ?2 OR {where}) ORDER BY id DESC LIMIT {SCRUBBED_LINES}",
            (person_id, chat.id),
        )
        return tuple((int(row[0]), int(row[1]), str(row[2])) for row in reversed(rows))

    async def forgot_since(self, person_id: int, chat_id: int, since: int) -> bool:
        """Whether that person had something forgotten there since then, ms: a wish of theirs is hidden."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? AND hidden = 'forgotten' LIMIT 1",
            (chat_id, person_id, since),
        )
        return row is not None

    async def forget_with_lines(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget memories and all that was said of a matter, with the receipt in one commit; its text. Once for a
        key; the lines are gone at once."""
        for memory in forgetting.memories:
            for text in memory.wordings:
                self._note_storage.add_tombstone(memory.id, text, at)
        text = await self._database.write(lambda db: forget_with_lines(db, forgetting, receipt, at, self._note_storage))
        if forgetting.purge_at is None:
            await purge_now(self._database, at)
        return text

    async def take_back_line(self, what: RepliedLine, purge_at: int | None, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key.

        What was asked to be kept in it can be undone until `purge_at` (ms), with None it is purged now.
        """
        for memory in what.memories:
            for text in memory.wordings:
                self._note_storage.add_tombstone(memory.id, text, at)
        text = await self._database.write(lambda db: self._unsay(db, what, purge_at, receipt, at))
        if purge_at is None:
            await purge_now(self._database, at)
        return text

    def _unsay(
        self, db: Tx, what: RepliedLine, purge_at: int | None, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        before = earlier_receipt(db, receipt, at)
        if before is not None:
            return before
        said = lines_of_message(db, what.chat_id, what.target)
        delete_lines(db, said, at, self._note_storage)
        for memory in what.memories:  # ended by that already, but these can be undone
            disable_memories(
                db, Forgetting((memory,), memory.owner_id or 0, purge_at), receipt.chat_id, at, self._note_storage
            )
        number = what.memories[0].id if what.memories else 0
        text = receipt.text(number, len(what.memories) > 1)
        return store_receipt(db, receipt, text, at, number if purge_at is not None else 0)


def forget_with_lines(
    db: Tx, forgetting: Forgetting, receipt: Receipt, at: int, note_storage: NoteStorage
) -> str:  # fmt: skip
    """Within a transaction: what was said of it and all that was made of that is gone, then the memories; its
    receipt.
    """
    before = earlier_receipt(db, receipt, at)
    if before is not None:
        return before
    if forgetting.lines:
        delete_lines(db, dict(forgetting.lines), at, note_storage)
    return forget_memories(db, forgetting, receipt, at, note_storage)


def replied_line(db: Tx, event_id: int) -> RepliedLine:
    """Within a transaction: what a message replies to."""
    chat_id, target = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (event_id,)).fetchone()
    by: set[int] = set()
    receipt, memories = "", dict[int, Memory]()
    found = sorted(lines_of_message(db, chat_id, target))
    rows = [
        db.execute("SELECT kind, person_id, text, label, turn_id, hidden FROM event WHERE id = ?", (number,)).fetchone()
        for number in found
    ]
    for number, (kind, person_id, text, label, turn_id, hidden) in zip(found, rows, strict=True):
        if hidden in ("deleted", "forgotten"):
            continue
        if kind == "bot":
            receipt = text if label == "memory" else ""
            by |= _answered(db, turn_id) | (_commanded(db, text) if receipt else set())
        elif person_id is not None:
            by.add(cast("int", person_id))
            memories |= {memory.id: memory for memory in _kept(db, number, chat_id, person_id, text)}
    there = any(row[5] not in ("deleted", "forgotten") for row in rows)
    return RepliedLine(
        chat_id, target, there, frozenset(by), receipt, tuple(memories[number] for number in sorted(memories))
    )


def _answered(db: Tx, turn_id: int | None) -> set[int]:
    """The people whose messages a turn answered."""
    rows = db.execute(
        "SELECT person_id FROM turn WHERE id = ?1 UNION SELECT person_id FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = ?1 AND person_id IS NOT NULL",
        (turn_id,),
    )
    return {cast("int", row[0]) for row in rows}


def _commanded(db: Tx, receipt: str) -> set[int]:
    """The people whose commands got this receipt."""
    rows = db.execute("SELECT key FROM effect WHERE result = ? AND key LIKE 'event:%'", (receipt,)).fetchall()
    events = {int(key.split(":")[1]) for (key,) in rows}
    found = (db.execute("SELECT person_id FROM event WHERE id = ?", (number,)).fetchone() for number in events)
    return {cast("int", row[0]) for row in found if row is not None and row[0] is not None}


def _kept(db: Tx, event_id: int, chat_id: int, person_id: int, text: str) -> list[Memory]:
    """The memories that were asked to be kept in a message, or by pointing at it."""
    rows = db.execute(
        f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ?1 AND (memory.id IN (SELECT "
        "derived_id "
        "FROM edge WHERE kind = 'memory' AND event_id = ?2) OR (folded = ?3 AND folded <> '' AND chat_id = ?4))",
        (person_id, event_id, fold(text.strip()), chat_id),
    )
    return [memory_of(tuple(row)) for row in rows]


class OffRecord:
    """Marks lines, and takes back what was made of them."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def replied(self, event_id: int) -> tuple[tuple[int, ...], str, int]:
        """The lines that a message replies to, what is visible of them, and when that was said, ms."""
        return await self._database.write(lambda db: _replied(db, event_id))

    async def kept_from(self, events: tuple[int, ...], owner_id: int) -> tuple[Memory, ...]:
        """What that person asked to keep in these messages."""
        rows = await self._database.rows(
            f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ? AND memory.id IN "
            f"(SELECT derived_id FROM edge WHERE kind = 'memory' AND event_id IN ({placeholders(events)})) ORDER BY id",
            (owner_id, *events),
        )
        return tuple(memory_of(tuple(row)) for row in rows)

    async def set_aside(
        self, events: tuple[int, ...], forgetting: Forgetting | None, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        """Mark these messages and the replies to them, with the receipt in one commit; its text. Once for each key."""
        return await self._database.write(
            lambda db: _set_aside(db, events, forgetting, receipt, at, self._note_storage)
        )


def _said_by(db: Tx, events: set[int], person_id: int) -> set[int]:
    """Of these lines that person's and nuan's: what others said and promised stays theirs."""
    rows = db.execute(
        f"SELECT id FROM event WHERE id IN ({placeholders(events)}) AND (person_id = ? OR person_id IS NULL)",
        (*events, person_id),
    )
    return {cast("int", row[0]) for row in rows}


def _replied(db: Tx, event_id: int) -> tuple[tuple[int, ...], str, int]:
    chat_id, target = db.execute("SELECT chat_id, target FROM event WHERE id = ?", (event_id,)).fetchone()
    found = lines_of_message(db, chat_id, target)
    shown = [
        (text, row[0])
        for number, text in sorted(found.items())
        if (row := db.execute("SELECT at FROM event WHERE id = ? AND hidden = ''", (number,)).fetchone())
    ]
    text, at = shown[-1] if shown else ("", 0)
    return tuple(sorted(found)), text.strip(), at


def _set_aside(
    db: Tx, events: tuple[int, ...], forgetting: Forgetting | None, receipt: Receipt, at: int,
    note_storage: NoteStorage,
) -> str:  # fmt: skip
    before = earlier_receipt(db, receipt, at)
    if before is not None:
        return before
    marked = set(events)
    for number in events:
        rows = db.execute(
            "SELECT event.id FROM turn_event JOIN event ON event.turn_id = turn_event.turn_id "
            "WHERE turn_event.event_id = ? AND event.kind = 'bot'",
            (number,),
        )
        marked |= {cast("int", row[0]) for row in rows}
    db.executemany("UPDATE event SET off_record = 1 WHERE id = ?", [(number,) for number in sorted(marked)])
    lifted = [(receipt.event_id, number) for number in sorted(marked)]
    db.executemany("INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('aside', ?, ?)", lifted)
    index_lines(db, marked)
    remove_from_notes(db, note_storage, RemovedContent(frozenset(marked)), at)
    empty_digests(db, marked, at)
    own = marked & _said_by(db, marked, receipt.person_id)
    withdraw_promises(db, own)
    for number in sorted(own):
        derived = db.execute(
            "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' "
            "AND event_id = ? AND asked = 0 AND disabled_at IS NULL",
            (number,),
        ).fetchall()
        for (memory_id,) in derived:
            db.execute(
                "UPDATE memory SET disabled_at = ?1, disabled_reason = 'derived', purge_at = ?1 WHERE id = ?2",
                (at, memory_id),
            )
            index_memory(db, memory_id)
    number = 0
    if forgetting is not None:
        disable_memories(db, forgetting, receipt.chat_id, at, note_storage)
        number = forgetting.memories[0].id if forgetting.purge_at is not None else 0
    return store_receipt(db, receipt, receipt.text(number, forgetting is not None), at, number)


class Sharing:
    """Who may see a memory, as its owner says."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def share(self, memory: Memory, at: int) -> bool:
        """From now on it is told wherever its owner speaks; False when it is so already, or is gone."""
        return await self._database.write(lambda db: _share(db, memory.id, at))

    async def unshare(self, memory: Memory, at: int) -> Visibility | None:
        """It is of the chat again in which it was told, of its owner alone if that was a DM; None when not shared.

        Elsewhere no log tells it any more, and what nuan said of it there is not shown again.
        """
        return await self._database.write(lambda db: _unshare(db, memory, at, self._note_storage))


def _share(db: Tx, number: int, at: int) -> bool:
    """One transaction: everybody whom its owner talks among may be told."""
    row = db.execute(
        f"SELECT owner_id, chat_id, {NAME_SLOT}, folded FROM memory WHERE id = ? AND owner_id IS NOT NULL "
        "AND disabled_at IS NULL AND visibility <> 'public'",
        (number,),
    ).fetchone()
    if row is None:
        return False
    owner, chat, slot, folded = row
    _move(db, number, StatementKey(owner, chat, "public", slot, folded), at)
    return True


def _unshare(db: Tx, memory: Memory, at: int, note_storage: NoteStorage) -> Visibility | None:
    """One transaction: it goes back to where it was told, and out of what was made from it elsewhere."""
    row = db.execute(
        f"SELECT owner_id, chat_id, {NAME_SLOT}, folded, chat.kind FROM memory JOIN chat ON chat.id = chat_id "
        "WHERE memory.id = ? AND disabled_at IS NULL AND visibility = 'public'",
        (memory.id,),
    ).fetchone()
    if row is None:
        return None
    owner, chat, slot, folded, chat_kind = row
    back: Visibility = "private" if chat_kind == "dm" else "chat"
    _move(db, memory.id, StatementKey(owner, chat, back, slot, folded), at)
    _take_back(db, memory, back, at, note_storage)
    return back


def _move(db: Tx, number: int, said: StatementKey, at: int) -> None:
    """It takes the place of what its owner has there already: the same, or another name."""
    replace_same(db, said, at)
    db.execute("UPDATE memory SET visibility = ? WHERE id = ?", (said.visibility, number))
    index_memory(db, number)


def _take_back(db: Tx, memory: Memory, back: Visibility, at: int, note_storage: NoteStorage) -> None:
    """Logs that were told it where it may not be told any more end, and nuan's own words of it go with them."""
    if back == "private":
        elsewhere, who = "NOT (chat.kind = 'dm' AND turn.person_id IS ?)", memory.owner_id
    else:
        elsewhere, who = "chat.id <> ?", memory.chat_id
    turns = {
        cast("int", row[0])
        for row in db.execute(
            "SELECT turn.id FROM turn_memory JOIN turn ON turn.id = turn_id JOIN chat ON chat.id = turn.chat_id "
            f"WHERE memory_id = ? AND {elsewhere}",
            (memory.id, who),
        )
    }
    logs = {
        cast("int", row[0])
        for number in turns
        for row in db.execute(
            "SELECT epoch_id FROM turn WHERE id = ?1 UNION SELECT epoch_id FROM entry WHERE turn_id = ?1", (number,)
        )
    }
    said = {
        cast("int", number)
        for epoch_id in logs
        for number, text in db.execute(
            "SELECT event.id, event.text FROM event JOIN turn ON turn.id = event.turn_id WHERE turn.epoch_id = ? "
            "AND event.kind = 'bot' AND event.text <> ''",
            (epoch_id,),
        )
        if any(echoes(wording, text) for wording in memory.wordings)
    }
    remove_from_notes(db, note_storage, RemovedContent(frozenset(said)), at)
    end_logs(db, logs)
    empty_digests(db, said, at)
    hide_lines(db, said, "forgotten")
