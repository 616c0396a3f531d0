"""忘记: disabling memories, following their source edges, and purging what was kept for undo; deletions follow too.

Tombstones are written by the caller; which memory is meant is decided elsewhere.
"""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.database import Database
from bot.store.documents import drop, forget_terms
from bot.store.indexing import index_memory
from bot.store.keeping import Receipt, confirm, done_before
from bot.store.merges import drop_merges, scrub_merges
from bot.store.promising import forget_promises
from bot.store.purging import purge_now
from bot.store.reminding import drop_reminders, forget_reminders, reminded
from bot.store.rolled import retell
from bot.store.said import said_in
from bot.store.sessions import end_logs
from bot.store.undoing import final_key, restore_replaced
from bot.store.unnoting import Shelf, Unsaid, unnote
from bot.text.echo import Lines, echoes, touches
from bot.types.memory import Memory

Told = dict[tuple[int, ...], Lines]
"""The lines of some chats."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Which memories go, on whose word; `purge_at` (ms) is when undo ends, None purges now.

    `lines` (id: text) are what was said of a matter, which goes with them. With `unwished` it is as if they had
    never been asked for: how somebody was called before holds again.
    """

    memories: tuple[Memory, ...]
    person_id: int
    purge_at: int | None
    unwished: bool = False
    lines: tuple[tuple[int, str], ...] = ()


class Forget:
    """What is told to be forgotten is gone."""

    def __init__(self, database: Database, shelf: Shelf) -> None:
        self._database = database
        self._shelf = shelf

    async def forget(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Disable, scrub every derived copy and store the receipt in one commit; the receipt's text. Once for a key."""
        text = await self._database.write(lambda db: forget(db, forgetting, receipt, at, self._shelf))
        if forgetting.purge_at is None:
            await self.purge(at)
        return text

    async def purge(self, now: int) -> int:
        """Delete the rows whose days for undo are over, and every trace of them in the files; how many."""
        return await purge_now(self._database, now)


def forget(db: sqlite3.Connection, forgetting: Forgetting, receipt: Receipt, at: int, shelf: Shelf) -> str:
    """Verb: rows disabled, derived copies scrubbed, receipt stored."""
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    if forgetting.unwished:
        # First: what holds again is no copy of what goes, even where it says the same (叫我 and 别叫我).
        restore_replaced(db, forgetting.memories, at)
    disable(db, forgetting, receipt.chat_id, at, shelf)
    number = forgetting.memories[0].id if forgetting.memories else 0
    undoable = number if forgetting.purge_at is not None else 0
    return confirm(db, receipt, receipt.text(number, len(forgetting.memories) > 1), at, undoable)


def disable(db: sqlite3.Connection, forgetting: Forgetting, chat_id: int, at: int, shelf: Shelf) -> None:
    """Verb part: rows disabled and derived copies scrubbed, on a word that was said in that chat."""
    purge_at = at if forgetting.purge_at is None else forgetting.purge_at
    if forgetting.purge_at is None and forgetting.person_id:
        db.execute(
            "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, 'done', ?)",
            (final_key(forgetting.person_id, chat_id), at),
        )
    told: Told = {}
    for memory in forgetting.memories:
        db.execute(
            "UPDATE memory SET disabled_at = ?, disabled_reason = 'asked', purge_at = ?, updated_at = ? WHERE id = ?",
            (at, purge_at, at, memory.id),
        )
        index_memory(db, memory.id)
        db.execute("DELETE FROM rewriting WHERE memory_id = ?", (memory.id,))
        drop_merges(db, memory.id, at, purge_at)
        _scrub(db, memory, forgetting, chat_id, at, shelf, told)
    forget_terms(db)


def _scrub(
    db: sqlite3.Connection, memory: Memory, forgetting: Forgetting, chat_id: int, at: int, shelf: Shelf, told: Told
) -> None:  # fmt: skip
    """Everything derived from the same events, and every line that repeats the statement.

    `told` keeps the lines of the same chats for the next memory: who forgets all they told forgets hundreds.
    """
    chats = _reach(db, memory, chat_id)
    if chats not in told:
        told[chats] = Lines(said_in(db, chats, forgetting.person_id))
    hidden = {number for text in memory.wordings for number in told[chats].echoing(text)}
    if memory.source != "tool" or memory.asked:
        hidden |= _sources(db, memory.id)
    hidden |= reminded(db, hidden)
    stale = _stale_epochs(db, memory, hidden, chats)
    for text in memory.wordings:
        hidden |= replies(db, text, hidden, stale)
    unnote(db, shelf, Unsaid(frozenset(hidden), memory.wordings, chats, _whose(memory)), at)
    hide(db, hidden, "forgotten")
    drop_reminders(db, hidden, "forgotten", at)
    forget_reminders(db, memory.owner_id, lambda text: _repeats(memory, text), at)
    _derived(db, memory, hidden, at, at if forgetting.purge_at is None else forgetting.purge_at)
    for place in chats:
        _unsay(db, memory, place)


def _reach(db: sqlite3.Connection, memory: Memory, chat_id: int) -> tuple[int, ...]:
    """The chats in which it may have been told: its own, and unless it was only for that one, all of its owner's."""
    found = {memory.chat_id, chat_id}
    if memory.visibility != "chat":
        found |= {
            cast("int", row[0])
            for row in db.execute(
                "SELECT chat_id FROM member WHERE person_id = ?1 UNION SELECT chat_id FROM window WHERE person_id = ?1",
                (memory.owner_id,),
            )
        }
    return tuple(sorted(found))


def _whose(memory: Memory) -> int | None:
    """Whose own notes may tell it, too: what was for one chat is in that chat's."""
    return None if memory.visibility == "chat" else memory.owner_id


def _sources(db: sqlite3.Connection, memory_id: int) -> set[int]:
    """The very messages that it was told in; also one whose text is gone by its age may stand in a note."""
    rows = db.execute(
        "SELECT event.id FROM edge JOIN event ON event.id = edge.event_id WHERE edge.kind = 'memory' "
        "AND edge.derived_id = ? AND event.hidden IN ('', 'old') "
        "AND (event.kind = 'message' OR event.label = 'address')",
        (memory_id,),
    )
    return {cast("int", row[0]) for row in rows}


def replies(db: sqlite3.Connection, text: str | None, hidden: set[int], stale: set[int]) -> set[int]:
    """Verb part: what nuan said to those messages, and of the rest that she said knowing it whatever touches on it.

    Without a text (nobody knows any more what it said before an edit) that is all.
    """
    found = {
        cast("int", row[0])
        for number in hidden
        for row in db.execute(
            "SELECT event.id FROM turn_event JOIN event ON event.turn_id = turn_event.turn_id "
            "WHERE turn_event.event_id = ? AND event.kind = 'bot'",
            (number,),
        )
    }
    for epoch_id in stale:
        said = db.execute(
            "SELECT event.id, event.text FROM event JOIN turn ON turn.id = event.turn_id WHERE turn.epoch_id = ? "
            "AND event.kind = 'bot' AND event.text <> ''",
            (epoch_id,),
        )
        found |= {cast("int", number) for number, line in said if text is None or touches(text, line)}
    return found


def hide(db: sqlite3.Connection, events: set[int], why: str) -> None:
    """Verb part: these lines are told nobody any more, and nothing of them is kept."""
    numbers = [(number,) for number in sorted(events)]
    db.executemany(f"UPDATE event SET hidden = '{why}', text = '', quote = '' WHERE id = ?", numbers)
    db.executemany("DELETE FROM attachment WHERE event_id = ?", numbers)
    drop(db, "line", events)


def logs_of(db: sqlite3.Connection, events: set[int]) -> set[int]:
    """Verb part: the epochs whose logs tell something of these lines."""
    return {
        cast("int", row[0])
        for number in events
        for row in db.execute(
            "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id "
            "WHERE edge.kind IN ('entry', 'told') AND edge.event_id = ?1 UNION SELECT entry.epoch_id FROM edge "
            "JOIN edge AS log ON log.kind = 'recount' AND log.event_id = edge.derived_id "
            "JOIN entry ON entry.id = log.derived_id WHERE edge.kind = 'digest' AND edge.event_id = ?1",
            (number,),
        )
    }


def undigest(db: sqlite3.Connection, events: set[int], at: int) -> None:
    """Verb part: the digests made from these lines are emptied, and made again by rule from what is left."""
    for number in sorted(events):
        rows = db.execute(
            "SELECT digest.id, session_id FROM edge JOIN digest ON digest.id = derived_id "
            "WHERE edge.kind = 'digest' AND event_id = ?",
            (number,),
        ).fetchall()
        for digest, session_id in rows:
            empty_talk(db, digest, session_id, at)


def empty_talk(db: sqlite3.Connection, digest_id: int, session_id: int, at: int) -> None:
    """Verb part: the summary of a talk is gone, and made again by rule from what is left of its lines."""
    db.execute("UPDATE digest SET summary = '' WHERE id = ?", (digest_id,))
    retell(db, digest_id)
    db.execute("UPDATE session SET digest_due_at = ? WHERE id = ?", (at, session_id))


def _stale_epochs(db: sqlite3.Connection, memory: Memory, hidden: set[int], chats: tuple[int, ...]) -> set[int]:
    """Logs that hold it are never sent again. Returns them."""
    found = logs_of(db, hidden)
    for chat_id in chats:
        logs = db.execute(
            "SELECT epoch_id, message FROM entry JOIN epoch ON epoch.id = entry.epoch_id "
            "JOIN session ON session.id = epoch.session_id WHERE session.chat_id = ?",
            (chat_id,),
        )
        found |= {cast("int", epoch) for epoch, text in logs if epoch not in found and _repeats(memory, text)}
    end_logs(db, found)
    return found


def _derived(db: sqlite3.Connection, memory: Memory, hidden: set[int], at: int, purge_at: int) -> None:
    """Digests and other memories made from the same messages, or that say the same, go with it.

    A digest is made again by rule from what is left.
    """
    from_it = {
        (str(row[0]), cast("int", row[1]))
        for number in hidden
        for row in db.execute(
            "SELECT kind, derived_id FROM edge WHERE event_id = ? AND kind IN ('digest', 'memory')", (number,)
        )
    }
    for number, session_id, summary in _talks(db, memory, "session_id IS NOT NULL"):
        if ("digest", number) in from_it or _repeats(memory, summary):
            empty_talk(db, number, session_id, at)
    for number, _, summary in _talks(db, memory, "session_id IS NULL"):
        if _repeats(memory, summary):  # none of its talks says it, all together do
            db.execute("UPDATE digest SET summary = '' WHERE id = ?", (number,))
            drop(db, "digest", (number,))
    for number, text, original in db.execute(
        "SELECT id, text, original FROM memory WHERE id <> ?2 AND ((disabled_at IS NULL AND asked = 0) OR "
        "disabled_reason IN ('replaced', 'merged', 'archived')) AND "
        "(owner_id IS ?1 OR (owner_id IS NULL AND chat_id = ?3))",
        (memory.owner_id, memory.id, memory.chat_id),
    ).fetchall():
        if ("memory", number) in from_it or _repeats(memory, text) or (original and _repeats(memory, original)):
            db.execute(
                "UPDATE memory SET disabled_at = ?, disabled_reason = 'derived', purge_at = ? WHERE id = ?",
                (at, purge_at, number),
            )
            index_memory(db, number)
            drop_merges(db, number, at, purge_at)
    scrub_merges(db, hidden, (memory.owner_id, memory.chat_id), lambda text: _repeats(memory, text))
    forget_promises(db, memory.owner_id, memory.chat_id, hidden, lambda text: _repeats(memory, text))


def _talks(db: sqlite3.Connection, memory: Memory, which: str) -> list[tuple[int, int, str]]:
    return db.execute(
        f"SELECT id, session_id, summary FROM digest WHERE (owner_id IS ?1 OR chat_id = ?2) AND {which}",
        (memory.owner_id, memory.chat_id),
    ).fetchall()


def _repeats(memory: Memory, line: str) -> bool:
    """Whether a line says what it says, in a model's words or in those of whoever told it."""
    return any(echoes(text, line) for text in memory.wordings)


def _unsay(db: sqlite3.Connection, memory: Memory, chat_id: int) -> None:
    """Receipts that a crash may repeat, and what waits to be sent or was."""
    for number, text in db.execute(
        "SELECT id, text FROM outbox WHERE chat_id = ? AND text <> ''", (chat_id,)
    ).fetchall():
        if _repeats(memory, text):
            # A preview keeps its row: the message on the screen is still to be edited.
            left = "CASE state WHEN 'preview' THEN state ELSE 'cancelled' END"
            db.execute(f"UPDATE outbox SET text = '', state = {left} WHERE id = ?", (number,))
    for key, text in db.execute("SELECT key, result FROM effect WHERE result NOT IN ('', 'done')").fetchall():
        if _repeats(memory, text):
            db.execute("UPDATE effect SET result = '' WHERE key = ?", (key,))
