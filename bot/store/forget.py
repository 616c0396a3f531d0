"""Forgetting memories along their source edges, undoing a wish, and purging what was kept for undo."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from bot.core.memories import Memory, NumberedThing
from bot.core.people import Audience
from bot.store.commitments import drop_commitment, forget_promises, settle_commitment
from bot.store.digests import summary_changed
from bot.store.engine import Database, Repository
from bot.store.export import drop_archives
from bot.store.index import drop_documents, forget_terms, index_lines, index_memory
from bot.store.memories import Receipt, answer_command, earlier_receipt, store_receipt, visible_memory
from bot.store.notes import NoteStorage, RemovedContent, remove_from_notes
from bot.store.reminders import REMINDER_TEXT, drop_reminders, end_reminders, forget_reminders, reminder_lines
from bot.store.schema import SELECT_MEMORY, memory_of, placeholders
from bot.store.sessions import end_logs
from bot.store.supersession import drop_merges, restore_former, scrub_merges
from bot.store.transactions import Tx
from bot.text.similarity import EchoIndex, echoes, shares_words

TOGETHER_MS = 10_000
"""What was kept from one message within this time was one wish."""


PlanWish = Literal["set", "cancelled", "promised", "settled", "aside"]


@dataclass(frozen=True, slots=True)
class LastPlan:
    """What somebody last asked of reminders or promises, or of a line (aside): their numbers, and when, ms."""

    kind: PlanWish
    numbers: tuple[int, ...]
    at: int


_PLANS = """SELECT 'set', made_at, id FROM reminder WHERE person_id = ?1 AND ended_at IS NULL AND commitment_id IS NULL
    AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT 'cancelled', ended_at, id FROM reminder WHERE person_id = ?1 AND outcome = 'cancelled'
    AND due_at > ?3 AND (?2 IS NULL OR chat_id = ?2) AND (commitment_id IS NULL OR EXISTS (
        SELECT 1 FROM commitment WHERE commitment.id = commitment_id AND commitment.ended_at IS NULL))
    UNION ALL SELECT 'promised', made_at, id FROM commitment WHERE owner_id = ?1 AND ended_at IS NULL
    AND source IN ('rule', 'tool') AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT 'settled', ended_at, id FROM commitment WHERE owner_id = ?1 AND ended_at = updated_at
    AND text <> '' AND (?2 IS NULL OR chat_id = ?2)
    UNION ALL SELECT DISTINCT 'aside', at, event.id FROM edge JOIN event ON event.id = derived_id
    WHERE edge.kind = 'aside' AND person_id = ?1 AND chat_id = ?4"""
"""What can be taken back, oldest or newest first as it is asked for; ?2 is the group, NULL in a DM, ?3 is now."""


_READ_AGAIN = """UPDATE session SET digest_due_at = ?1 WHERE id IN (SELECT digest.session_id FROM edge JOIN digest
    ON digest.id = derived_id WHERE edge.kind = 'digest' AND event_id = ?2)"""


@dataclass(frozen=True, slots=True)
class LastWish:
    """What somebody asked last: to `keep` these memories, or to forget them; `at` is when, ms."""

    keep: bool
    memories: tuple[Memory, ...]
    at: int


def final_key(person_id: int, chat_id: int) -> str:
    """Of the effect that tells when that person last had something forgotten there that cannot come back."""
    return f"final:{person_id}:{chat_id}"


class Undoing(Repository):
    """Reads what can be taken back, and ends reminders."""

    async def last(self, owner_id: int, audience: Audience, since: int, now: int) -> LastWish | None:
        """The last wish of a person that this audience may see; what was kept before `since`, ms, stays."""
        gone, held = await self.forgotten(owner_id, audience, now), await self.told(owner_id, audience, since)
        ended = gone[0].disabled_at or 0 if gone else 0
        kept = max((memory.created_at for memory in held), default=0)
        if gone and ended >= kept:
            return LastWish(False, gone, ended)
        return LastWish(True, held, kept) if held else None

    async def forgotten(self, owner_id: int, audience: Audience, now: int) -> tuple[Memory, ...]:
        """What a person asked to forget last, as far as it is still kept and this audience could see it."""
        where, params = visible_memory(audience, elsewhere=False)
        asked = f"owner_id = ? AND disabled_reason = 'asked' AND purge_at > ? AND {where}"
        rows = await self._database.rows(
            f"{SELECT_MEMORY}WHERE {asked} AND disabled_at = (SELECT max(disabled_at) FROM memory WHERE {asked}) "
            "ORDER BY id",
            (owner_id, now, *params) * 2,
        )
        return tuple(memory_of(tuple(row)) for row in rows)

    async def final(self, owner_id: int, chat_id: int) -> int:
        """When that person last had something forgotten there that cannot come back, ms; 0 for never."""
        row = await self._database.row("SELECT at FROM effect WHERE key = ?", (final_key(owner_id, chat_id),))
        return int(row[0]) if row is not None else 0

    async def told(self, owner_id: int, audience: Audience, since: int) -> tuple[Memory, ...]:
        """The memories of the last message in which a person asked to keep something, not before `since`, ms."""
        where, params = visible_memory(audience, elsewhere=False)
        rows = await self._database.rows(
            self._newest(where), (owner_id, since, *params, owner_id, *params, TOGETHER_MS)
        )  # fmt: skip
        return tuple(memory_of(tuple(row)) for row in rows)

    async def plans(self, person_id: int, chat_id: int, group: int | None, now: int) -> tuple[LastPlan, ...]:
        """What a person asked of reminders, promises and lines that can be taken back, the last wish first."""
        rows = await self._database.rows(f"{_PLANS} ORDER BY 2 DESC, 3", (person_id, group, now, chat_id))
        wishes: dict[tuple[PlanWish, int], list[int]] = {}
        for kind, at, number in rows:
            wishes.setdefault((kind, at), []).append(number)
        return tuple(LastPlan(kind, tuple(numbers), at) for (kind, at), numbers in wishes.items())

    async def take_back(self, wish: LastPlan, owner_id: int, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key."""

        def transaction(db: Tx) -> str:
            before = earlier_receipt(db, receipt, at)
            if before is not None:
                return before
            _take_back(db, wish, owner_id, at)
            return answer_command(db, receipt, at)

        return await self._database.write(transaction)

    async def texts(self, thing: NumberedThing, numbers: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """What these reminders or promises say, each with its number."""
        table, text = {"reminder": ("reminder", REMINDER_TEXT), "promise": ("commitment", "text")}[thing]
        rows = await self._database.rows(
            f"SELECT id, {text} FROM {table} WHERE id IN ({placeholders(numbers)}) ORDER BY id", numbers
        )
        return tuple((int(row[0]), str(row[1])) for row in rows)

    async def holds_again(self, number: int, audience: Audience) -> Memory | None:
        """What holds again once this memory is taken back, if it took the place of something and is current."""
        where, params = visible_memory(audience)
        rows = await self._database.rows(
            f"{SELECT_MEMORY}WHERE replaced_by = ? AND disabled_at IS NULL AND {where} "
            "AND EXISTS (SELECT 1 FROM memory AS new WHERE new.id = ? AND new.replaced_by IS NULL) "
            "ORDER BY max(said_at, created_at) DESC, id DESC LIMIT 1",
            (number, *params, number),
        )
        return memory_of(tuple(rows[0])) if rows else None

    def _newest(self, where: str) -> str:
        """The newest memory that was asked for, and those that came of the same message with it."""
        return (
            "WITH newest AS (SELECT id, created_at AS at FROM memory WHERE owner_id = ? AND disabled_at IS NULL "
            f"AND asked = 1 AND source IN ('command', 'tool') AND created_at >= ? AND {where} "
            "ORDER BY created_at DESC, id DESC LIMIT 1) "
            f"{SELECT_MEMORY}JOIN newest ON memory.id = newest.id OR (memory.owner_id = ? AND memory.disabled_at IS "
            "NULL "
            f"AND memory.asked = 1 AND {where} AND memory.created_at >= newest.at - ? AND EXISTS (SELECT 1 FROM "
            "edge AS one JOIN edge AS two ON one.event_id = two.event_id WHERE one.kind = 'memory' AND "
            "two.kind = 'memory' AND one.derived_id = memory.id AND two.derived_id = newest.id)) ORDER BY memory.id"
        )


def _take_back(db: Tx, wish: LastPlan, owner_id: int, at: int) -> None:
    match wish.kind:
        case "set":
            end_reminders(db, wish.numbers, "cancelled", at)
        case "cancelled":
            again = "UPDATE reminder SET ended_at = NULL, outcome = '', made_at = ? WHERE id = ?"
            db.executemany(again, [(at, number) for number in wish.numbers])
        case "promised":
            for number in wish.numbers:
                drop_commitment(db, number, owner_id, at)
        case "settled":
            for number in wish.numbers:
                settle_commitment(db, number, owner_id, "pending", at)
        case "aside":
            heard = tuple(
                cast("int", row[0])
                for number in wish.numbers
                for row in db.execute("SELECT event_id FROM edge WHERE kind = 'aside' AND derived_id = ?", (number,))
            )
            db.executemany("UPDATE event SET off_record = 0 WHERE id = ?", [(number,) for number in heard])
            db.executemany("DELETE FROM edge WHERE kind = 'aside' AND derived_id = ?", [(n,) for n in wish.numbers])
            index_lines(db, heard)
            db.executemany(_READ_AGAIN, [(at, number) for number in heard])


def restore_names(db: Tx, memories: tuple[Memory, ...], at: int) -> tuple[int, ...]:
    """Within a transaction: what a new way to be called, or a new value, had ended holds again; the numbers of those
    names.
    """
    found: list[int] = []
    for memory in memories:
        if not memory.is_name:
            restore_former(db, memory.id)
            continue
        rows = db.execute(
            "SELECT id FROM memory WHERE owner_id IS ? AND slot IN ('address', 'no_address') "
            "AND disabled_reason = 'replaced' "
            "AND disabled_at IN (?, ?)",
            (memory.owner_id, memory.created_at, memory.updated_at),  # when it was said, or brought back
        ).fetchall()
        found += [cast("int", row[0]) for row in rows]
    for number in found:
        db.execute(
            "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
            (at, number),
        )
        index_memory(db, number)
    return tuple(found)


SCRUBBED_LINES = 4_000
"""How many of a chat's newest lines are searched for echoes; what is older left every prompt long ago."""

SENT_ALONG = """SELECT event.id, attachment.text FROM event JOIN attachment ON event_id = event.id WHERE chat_id = ?
    AND hidden = '' AND attachment.text <> '' AND person_id = ?"""
"""What was made of somebody's pictures, voice and files in a chat."""


def lines_said_in(db: Tx, chats: tuple[int, ...], person_id: int) -> Iterator[tuple[int, str]]:
    """Within a transaction: what that person, or nuan, said in these chats, with what was made of their pictures and
    files.

    Commands are told nobody, but what one says (`.ai remind …`) is stored like any line.
    """
    for chat_id in chats:
        yield from db.execute(
            "SELECT id, text || char(10) || quote FROM event WHERE chat_id = ? AND hidden IN ('', 'command') "
            "AND text <> '' AND (person_id = ? OR person_id IS NULL) ORDER BY id DESC LIMIT ?",
            (chat_id, person_id, SCRUBBED_LINES),
        )
        yield from db.execute(SENT_ALONG, (chat_id, person_id))


async def purge_now(database: Database, now: int) -> int:
    """Delete the rows whose days for undo are over, and whatever was scrubbed from the files; how many rows.

    Archives that their owners wait for may still tell it, so they go, too.
    """
    owners = await database.rows("SELECT DISTINCT owner_id FROM memory WHERE purge_at <= ?", (now,))
    await asyncio.to_thread(drop_archives, database.folder, [owner for (owner,) in owners])
    count = await database.write(lambda db: purge_rows(db, now))
    await database.truncate()
    return count


def purge_rows(db: Tx, now: int) -> int:
    """One transaction: rows whose time is over are deleted, and the full-text index keeps nothing of them."""
    gone = [cast("int", row[0]) for row in db.execute("SELECT id FROM memory WHERE purge_at <= ?", (now,))]
    for number in gone:
        drop_merges(db, number, now, now)
        db.execute("DELETE FROM edge WHERE kind = 'memory' AND derived_id = ?", (number,))
        db.execute("DELETE FROM turn_memory WHERE memory_id = ?", (number,))
        db.execute("DELETE FROM memory WHERE id = ?", (number,))
    if gone:
        forget_terms(db)
    return len(gone)


ChatLines = dict[tuple[int, ...], EchoIndex]
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


class MemoryForgetting:
    """What is told to be forgotten is gone."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def forget(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Disable, scrub every derived copy and store the receipt in one commit; the receipt's text. Once for a key."""
        text = await self._database.write(lambda db: forget_memories(db, forgetting, receipt, at, self._note_storage))
        if forgetting.purge_at is None:
            await self.purge(at)
        return text

    async def purge(self, now: int) -> int:
        """Delete the rows whose days for undo are over, and every trace of them in the files; how many."""
        return await purge_now(self._database, now)


def forget_memories(db: Tx, forgetting: Forgetting, receipt: Receipt, at: int, note_storage: NoteStorage) -> str:
    """One transaction: rows disabled, derived copies scrubbed, receipt stored."""
    before = earlier_receipt(db, receipt, at)
    if before is not None:
        return before
    if forgetting.unwished:
        # First: what holds again is no copy of what goes, even where it says the same (叫我 and 别叫我).
        restore_names(db, forgetting.memories, at)
    disable_memories(db, forgetting, receipt.chat_id, at, note_storage)
    number = forgetting.memories[0].id if forgetting.memories else 0
    undoable = number if forgetting.purge_at is not None else 0
    return store_receipt(db, receipt, receipt.text(number, len(forgetting.memories) > 1), at, undoable)


def disable_memories(db: Tx, forgetting: Forgetting, chat_id: int, at: int, note_storage: NoteStorage) -> None:
    """Within a transaction: rows disabled and derived copies scrubbed, on a word that was said in that chat."""
    purge_at = at if forgetting.purge_at is None else forgetting.purge_at
    if forgetting.purge_at is None and forgetting.person_id:
        db.execute(
            "INSERT OR REPLACE INTO effect (key, result, at) VALUES (?, 'done', ?)",
            (final_key(forgetting.person_id, chat_id), at),
        )
    told: ChatLines = {}
    for memory in forgetting.memories:
        db.execute(
            "UPDATE memory SET disabled_at = ?, disabled_reason = 'asked', purge_at = ?, updated_at = ? WHERE id = ?",
            (at, purge_at, at, memory.id),
        )
        index_memory(db, memory.id)
        db.execute("DELETE FROM rewriting WHERE memory_id = ?", (memory.id,))
        drop_merges(db, memory.id, at, purge_at)
        _scrub(db, memory, forgetting, chat_id, at, note_storage, told)
    forget_terms(db)


def _scrub(
    db: Tx, memory: Memory, forgetting: Forgetting, chat_id: int, at: int, note_storage: NoteStorage,
    told: ChatLines
) -> None:  # fmt: skip
    """Everything derived from the same events, and every line that repeats the statement.

    `told` keeps the lines of the same chats for the next memory: who forgets all they told forgets hundreds.
    """
    chats = _reach(db, memory, chat_id)
    if chats not in told:
        told[chats] = EchoIndex(lines_said_in(db, chats, forgetting.person_id))
    hidden = {number for text in memory.wordings for number in told[chats].echoing(text)}
    if memory.source != "tool" or memory.asked:
        hidden |= _sources(db, memory.id)
    hidden |= reminder_lines(db, hidden)
    stale = _stale_epochs(db, memory, hidden, chats)
    for text in memory.wordings:
        hidden |= replies_to(db, text, hidden, stale)
    remove_from_notes(db, note_storage, RemovedContent(frozenset(hidden), memory.wordings, chats, _whose(memory)), at)
    hide_lines(db, hidden, "forgotten")
    drop_reminders(db, hidden, "forgotten", at)
    forget_reminders(db, memory.owner_id, lambda text: _repeats(memory, text), at)
    _derived(db, memory, hidden, at, at if forgetting.purge_at is None else forgetting.purge_at)
    for place in chats:
        _unsay(db, memory, place)


def _reach(db: Tx, memory: Memory, chat_id: int) -> tuple[int, ...]:
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


def _sources(db: Tx, memory_id: int) -> set[int]:
    """The very messages that it was told in; also one whose text is gone by its age may stand in a note."""
    rows = db.execute(
        "SELECT event.id FROM edge JOIN event ON event.id = edge.event_id WHERE edge.kind = 'memory' "
        "AND edge.derived_id = ? AND event.hidden IN ('', 'old') "
        "AND (event.kind = 'message' OR event.label = 'address')",
        (memory_id,),
    )
    return {cast("int", row[0]) for row in rows}


def replies_to(db: Tx, text: str | None, hidden: set[int], stale: set[int]) -> set[int]:
    """Within a transaction: what nuan said to those messages, and of the rest that she said knowing it whatever touches
    on it.

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
        found |= {cast("int", number) for number, line in said if text is None or shares_words(text, line)}
    return found


def hide_lines(db: Tx, events: set[int], why: str) -> None:
    """Within a transaction: these lines are told nobody any more, and nothing of them is kept."""
    numbers = [(number,) for number in sorted(events)]
    db.executemany(f"UPDATE event SET hidden = '{why}', text = '', quote = '' WHERE id = ?", numbers)
    db.executemany("DELETE FROM attachment WHERE event_id = ?", numbers)
    drop_documents(db, "line", events)


def logs_of(db: Tx, events: set[int]) -> set[int]:
    """Within a transaction: the epochs whose logs tell something of these lines."""
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


def empty_digests(db: Tx, events: set[int], at: int) -> None:
    """Within a transaction: the digests made from these lines are emptied, and made again by rule from what is left."""
    for number in sorted(events):
        rows = db.execute(
            "SELECT digest.id, session_id FROM edge JOIN digest ON digest.id = derived_id "
            "WHERE edge.kind = 'digest' AND event_id = ?",
            (number,),
        ).fetchall()
        for digest, session_id in rows:
            empty_talk(db, digest, session_id, at)


def empty_talk(db: Tx, digest_id: int, session_id: int, at: int) -> None:
    """Within a transaction: the summary of a talk is gone, and made again by rule from what is left of its lines."""
    db.execute("UPDATE digest SET summary = '' WHERE id = ?", (digest_id,))
    summary_changed(db, digest_id)
    db.execute("UPDATE session SET digest_due_at = ? WHERE id = ?", (at, session_id))


def _stale_epochs(db: Tx, memory: Memory, hidden: set[int], chats: tuple[int, ...]) -> set[int]:
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


def _derived(db: Tx, memory: Memory, hidden: set[int], at: int, purge_at: int) -> None:
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
            drop_documents(db, "digest", (number,))
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


def _talks(db: Tx, memory: Memory, which: str) -> list[tuple[int, int, str]]:
    return db.execute(
        f"SELECT id, session_id, summary FROM digest WHERE (owner_id IS ?1 OR chat_id = ?2) AND {which}",
        (memory.owner_id, memory.chat_id),
    ).fetchall()


def _repeats(memory: Memory, line: str) -> bool:
    """Whether a line says what it says, in a model's words or in those of whoever told it."""
    return any(echoes(text, line) for text in memory.wordings)


def _unsay(db: Tx, memory: Memory, chat_id: int) -> None:
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
