"""Deleted lines: gone with everything that was made from them. Whether they are to go is decided elsewhere."""

import sqlite3
from typing import cast

from bot.store.addressing import addresses
from bot.store.copies import passed_on
from bot.store.documents import drop, forget_terms
from bot.store.events import finish
from bot.store.forgetting import hide, logs_of, replies, undigest
from bot.store.ledger import charge
from bot.store.merges import drop_merges, scrub_merges
from bot.store.outbox import withdraw
from bot.store.promising import unpromise
from bot.store.reminding import drop_reminders, reminded
from bot.store.sessions import drop_log
from bot.store.unnoting import Bury, Shelf, Unsaid, unnote


def delete(db: sqlite3.Connection, chat_id: int, target: str, at: int, shelf: Shelf) -> None:
    """Verb part: a message, or a line of nuan's, is gone with everything made from it (ARCHITECTURE §6)."""
    if passed_on(db, chat_id, target):
        return
    if said := lines(db, chat_id, target):
        erase(db, said, at, shelf)
    quoting = db.execute(
        "SELECT id FROM event WHERE chat_id = ? AND target = ? AND target <> '' AND quote <> ''", (chat_id, target)
    ).fetchall()
    for (number,) in quoting:
        db.execute("UPDATE event SET quote = '' WHERE id = ?", (number,))
        _stop(db, logs_of(db, {number}), at)


def erase(db: sqlite3.Connection, said: dict[int, str], at: int, shelf: Shelf) -> None:
    """Verb part: these lines (id: text) are gone with everything made from them."""
    texts = {text for text in said.values() if text}
    gone_ids = set(said) | _receipts(db, set(said)) | addresses(db, said) | reminded(db, set(said))
    stale = logs_of(db, gone_ids) | _own_logs(db, set(said))
    for text in sorted(texts) if len(said) == 1 else (None,):
        gone_ids |= replies(db, text, set(said), stale)
    stale |= logs_of(db, gone_ids)
    _stop(db, stale, at)
    unnote(db, shelf, Unsaid(frozenset(gone_ids)), at)
    hide(db, gone_ids, "deleted")
    finish(db, tuple(sorted(gone_ids)), "done", "deleted")
    undigest(db, gone_ids, at)
    unpromise(db, gone_ids)
    drop_reminders(db, gone_ids, "deleted", at)
    _forget(db, gone_ids, at, shelf.bury)
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


def lines(db: sqlite3.Connection, chat_id: int, target: str) -> dict[int, str]:
    """Verb part: the message with that id and its edits, or the reply or receipt sent under it; with their texts."""
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


def _own_logs(db: sqlite3.Connection, events: set[int]) -> set[int]:
    """The logs that hold nuan's own lines among these."""
    return {
        cast("int", row[0])
        for number in events
        for row in db.execute(
            "SELECT epoch_id FROM turn JOIN event ON event.turn_id = turn.id WHERE event.id = ? AND event.kind = 'bot'",
            (number,),
        )
    }


def _receipts(db: sqlite3.Connection, events: set[int]) -> set[int]:
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


def _stop(db: sqlite3.Connection, epochs: set[int], at: int) -> None:
    """These logs are never sent again; turns that run on them are void, and what else they answer waits anew."""
    for epoch_id in sorted(epochs):
        db.execute("UPDATE epoch SET stale = 'deleted' WHERE id = ?", (epoch_id,))
        for (turn_id,) in db.execute(
            "SELECT id FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", (epoch_id,)
        ).fetchall():
            db.execute("UPDATE turn SET state = 'void', receipts = '[]' WHERE id = ?", (turn_id,))
            for (call_id,) in db.execute("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn_id,)):
                charge(db, cast("int", call_id), at)
            db.execute("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", (turn_id,))
            withdraw(db, cast("int", turn_id), at)
        drop_log(db, epoch_id)


def _forget(db: sqlite3.Connection, events: set[int], at: int, bury: Bury) -> None:
    """Memories made from these lines go at once and do not come back, unless they were told elsewhere too."""
    for event_id in sorted(events):
        for number, text, original, asked in db.execute(
            "SELECT memory.id, text, original, asked FROM edge JOIN memory ON memory.id = derived_id "
            "WHERE edge.kind = 'memory' AND event_id = ? AND (disabled_at IS NULL OR disabled_reason <> 'deleted')",
            (event_id,),
        ).fetchall():
            other = elsewhere(db, number, events)
            if asked and other:
                continue
            if not other:
                for wording in filter(None, (text, original)):
                    bury(number, wording, at)
            end(db, number, "deleted", at, at)
            drop_merges(db, number, at, at)
    scrub_merges(db, events)


def elsewhere(db: sqlite3.Connection, memory_id: int, events: set[int]) -> bool:
    """Verb part: whether somebody said it in another message as well, that is still there."""
    rows = db.execute(
        "SELECT event.id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? "
        "AND event.kind = 'message' AND hidden = ''",
        (memory_id,),
    )
    return any(row[0] not in events for row in rows)


def end(db: sqlite3.Connection, number: int, why: str, at: int, purge_at: int) -> None:
    """Verb part: a memory is over, and its row goes at `purge_at` (ms)."""
    db.execute(
        "UPDATE memory SET disabled_at = ?, disabled_reason = ?, purge_at = ?, updated_at = ? WHERE id = ?",
        (at, why, purge_at, at, number),
    )
    drop(db, "memory", (number,))
