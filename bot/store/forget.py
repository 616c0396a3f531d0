"""Forgetting memories along their source edges, undoing a wish, and purging what was kept for undo."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from bot.core.memories import Memory, NumberedThing
from bot.core.people import Audience
from bot.store.commitments import drop_commitment, forget_promises, settle_commitment
from bot.store.digests import summary_changed
from bot.store.engine import Database, Repository, reads, writes
from bot.store.events import note_effect
from bot.store.files import DataFiles
from bot.store.index import drop_documents, forget_terms, index_lines
from bot.store.memories import Receipt, earlier_receipt, store_receipt, visible_memory
from bot.store.notes import RemovedContent, remove_from_notes
from bot.store.reminders import REMINDER_TEXT, drop_reminders, end_reminders, forget_reminders, reminder_lines
from bot.store.schema import IS_NAME, SELECT_MEMORY, placeholders
from bot.store.sessions import end_logs
from bot.store.supersession import bring_back, drop_merges, end_memory, restore_former, scrub_merges
from bot.store.transactions import Tx
from bot.text.similarity import EchoIndex, echoes, shares_words

T = TypeVar("T")

TOGETHER_MS = 10_000
"""What was kept from one message within this time was one wish."""

SCRUBBED_LINES = 4_000
"""How many of a chat's newest lines are searched for echoes; what is older left every prompt long ago."""

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


@dataclass(frozen=True, slots=True)
class LastWish:
    """What somebody asked last: to `keep` these memories, or to forget them; `at` is when, ms."""

    keep: bool
    memories: tuple[Memory, ...]
    at: int


def final_key(person_id: int, chat_id: int) -> str:
    """Of the effect that tells when that person last had something forgotten there that cannot come back."""
    return f"final:{person_id}:{chat_id}"


def _record_again(tx: Tx, aside: int, at: int) -> None:
    """The lines that this one set off the record are on it again; talks of that time are digested anew."""
    heard = tx.sources("aside", aside)
    tx.unlink("aside", aside)
    for number in heard:
        tx.run("UPDATE event SET off_record = 0 WHERE id = ?", number)
        tx.run(
            "UPDATE session SET digest_due_at = ?1 WHERE id IN (SELECT digest.session_id FROM edge JOIN digest "
            "ON digest.id = derived_id WHERE edge.kind = 'digest' AND event_id = ?2)",
            at, number,
        )  # fmt: skip
    index_lines(tx, heard)


def restore_names(tx: Tx, memories: tuple[Memory, ...], at: int) -> None:
    """What a new way to be called, or a new value, had ended holds again."""
    for memory in memories:
        if not memory.is_name:
            restore_former(tx, memory.id)
            continue
        for number in tx.ids(
            f"SELECT id FROM memory WHERE owner_id IS NOT DISTINCT FROM ? AND {IS_NAME} "
            "AND disabled_reason = 'replaced' AND disabled_at IN (?, ?)",
            memory.owner_id, memory.created_at, memory.updated_at,  # when it was said, or brought back
        ):  # fmt: skip
            bring_back(tx, number, at)


def lines_said_in(tx: Tx, chats: tuple[int, ...], person_id: int) -> Iterator[tuple[int, str]]:
    """What that person, or nuan, said in these chats, with what was made of their pictures and files.

    Commands are told nobody, but what one says (`.ai remind …`) is stored like any line.
    """
    for chat_id in chats:
        yield from tx.all(
            "SELECT id, text || ? || quote FROM event WHERE chat_id = ? AND hidden IN ('', 'command') "
            "AND text <> '' AND (person_id = ? OR person_id IS NULL) ORDER BY id DESC LIMIT ?",
            "\n", chat_id, person_id, SCRUBBED_LINES,
        )  # fmt: skip
        yield from tx.all(
            "SELECT event.id, attachment.text FROM event JOIN attachment ON event_id = event.id WHERE chat_id = ? "
            "AND hidden = '' AND attachment.text <> '' AND person_id = ?",
            chat_id, person_id,
        )  # fmt: skip


async def purge_now(database: Database, files: DataFiles, now: int) -> int:
    """Delete the rows whose days for undo are over, and whatever was scrubbed from the files; how many rows.

    Archives that their owners wait for may still tell it, so they go, too.
    """
    owners = await database.read(lambda tx: tx.ids("SELECT DISTINCT owner_id FROM memory WHERE purge_at <= ?", now))
    await asyncio.to_thread(files.archives.remove, owners)
    count = await database.write(lambda tx: purge_rows(tx, now))
    await database.truncate()
    return count


def purge_rows(tx: Tx, now: int) -> int:
    """Rows whose time is over are deleted, and the full-text index keeps nothing of them; how many."""
    gone = tx.ids("SELECT id FROM memory WHERE purge_at <= ?", now)
    for number in gone:
        drop_merges(tx, number, now, now)
        tx.unlink("memory", number)
        tx.run("DELETE FROM turn_memory WHERE memory_id = ?", number)
        tx.run("DELETE FROM memory WHERE id = ?", number)
    if gone:
        forget_terms(tx)
    return len(gone)


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


class ScrubbingRepository(Repository):
    """A repository whose transactions also take things out of notes."""

    def __init__(self, database: Database, files: DataFiles) -> None:
        super().__init__(database)
        self._files = files

    async def _scrub(self, work: Callable[[Tx], T], purge_at: int | None, at: int) -> T:
        """Run a transaction that forgets till `purge_at`, ms; with None what it ended is purged after it."""
        done = await self._database.write(work)
        if purge_at is None:
            await purge_now(self._database, self._files, at)
        return done


class MemoryForgetting(ScrubbingRepository):
    """What is told to be forgotten is gone; what can be taken back, and the end of reminders with it."""

    async def forget(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Disable, scrub every derived copy and store the receipt in one commit; the receipt's text. Once for a key."""
        return await self._scrub(
            lambda tx: forget_memories(tx, forgetting, receipt, at, self._files), forgetting.purge_at, at
        )

    async def purge(self, now: int) -> int:
        """Delete the rows whose days for undo are over, and every trace of them in the files; how many."""
        return await purge_now(self._database, self._files, now)

    async def last(self, owner_id: int, audience: Audience, since: int, now: int) -> LastWish | None:
        """The last wish of a person that this audience may see; what was kept before `since`, ms, stays."""
        gone, held = await self.forgotten(owner_id, audience, now), await self.told(owner_id, audience, since)
        ended = gone[0].disabled_at or 0 if gone else 0
        kept = max((memory.created_at for memory in held), default=0)
        if gone and ended >= kept:
            return LastWish(False, gone, ended)
        return LastWish(True, held, kept) if held else None

    @reads
    def forgotten(self, tx: Tx, owner_id: int, audience: Audience, now: int) -> tuple[Memory, ...]:
        """What a person asked to forget last, as far as it is still kept and this audience could see it."""
        where, params = visible_memory(audience, elsewhere=False)
        asked = f"owner_id = ? AND disabled_reason = 'asked' AND purge_at > ? AND {where}"
        last = f"{SELECT_MEMORY}WHERE {asked} AND disabled_at = (SELECT max(disabled_at) FROM memory WHERE {asked})"
        return tx.all(f"{last} ORDER BY id", *(owner_id, now, *params) * 2, to=Memory)

    @reads
    def final(self, tx: Tx, owner_id: int, chat_id: int) -> int:
        """When that person last had something forgotten there that cannot come back, ms; 0 for never."""
        return tx.value("SELECT at FROM effect WHERE key = ?", final_key(owner_id, chat_id)) or 0

    @reads
    def told(self, tx: Tx, owner_id: int, audience: Audience, since: int) -> tuple[Memory, ...]:
        """The memories of the last message in which a person asked to keep something, not before `since`, ms."""
        where, params = visible_memory(audience, elsewhere=False)
        return tx.all(
            "WITH newest AS (SELECT id, created_at AS at FROM memory WHERE owner_id = ? AND disabled_at IS NULL "
            f"AND asked = 1 AND source IN ('command', 'tool') AND created_at >= ? AND {where} "
            "ORDER BY created_at DESC, id DESC LIMIT 1) "
            f"{SELECT_MEMORY}JOIN newest ON memory.id = newest.id OR (memory.owner_id = ? "
            f"AND memory.disabled_at IS NULL AND memory.asked = 1 AND {where} AND memory.created_at >= newest.at - ? "
            "AND EXISTS (SELECT 1 FROM edge AS one JOIN edge AS two ON one.event_id = two.event_id "
            "WHERE one.kind = 'memory' AND two.kind = 'memory' AND one.derived_id = memory.id "
            "AND two.derived_id = newest.id)) ORDER BY memory.id",
            owner_id, since, *params, owner_id, *params, TOGETHER_MS, to=Memory,
        )  # fmt: skip

    @reads
    def plans(self, tx: Tx, person_id: int, chat_id: int, group: int | None, now: int) -> tuple[LastPlan, ...]:
        """What a person asked of reminders, promises and lines that can be taken back, the last wish first."""
        wishes: dict[tuple[PlanWish, int], list[int]] = {}
        for kind, at, number in tx.all(f"{_PLANS} ORDER BY 2 DESC, 3", person_id, group, now, chat_id):
            wishes.setdefault((kind, at), []).append(number)
        return tuple(LastPlan(kind, tuple(numbers), at) for (kind, at), numbers in wishes.items())

    @writes
    def take_back(self, tx: Tx, wish: LastPlan, owner_id: int, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key."""
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        match wish.kind:
            case "set":
                end_reminders(tx, wish.numbers, "cancelled", at)
            case "cancelled":
                for number in wish.numbers:
                    tx.run("UPDATE reminder SET ended_at = NULL, outcome = '', made_at = ? WHERE id = ?", at, number)
            case "promised":
                for number in wish.numbers:
                    drop_commitment(tx, number, owner_id, at)
            case "settled":
                for number in wish.numbers:
                    settle_commitment(tx, number, owner_id, "pending", at)
            case "aside":
                for number in wish.numbers:
                    _record_again(tx, number, at)
        return store_receipt(tx, receipt, receipt.text(0, False), at)

    @reads
    def texts(self, tx: Tx, thing: NumberedThing, numbers: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
        """What these reminders or promises say, each with its number."""
        table, text = {"reminder": ("reminder", REMINDER_TEXT), "promise": ("commitment", "text")}[thing]
        found = f"SELECT id, {text} FROM {table} WHERE id IN ({placeholders(numbers)}) ORDER BY id"
        return tuple((number, said) for number, said in tx.all(found, *numbers))

    @reads
    def holds_again(self, tx: Tx, number: int, audience: Audience) -> Memory | None:
        """What holds again once this memory is taken back, if it took the place of something and is current."""
        where, params = visible_memory(audience)
        return tx.one(
            f"{SELECT_MEMORY}WHERE replaced_by = ? AND disabled_at IS NULL AND {where} "
            "AND EXISTS (SELECT 1 FROM memory AS new WHERE new.id = ? AND new.replaced_by IS NULL) "
            "ORDER BY max(said_at, created_at) DESC, id DESC LIMIT 1",
            number, *params, number, to=Memory,
        )  # fmt: skip


def forget_memories(tx: Tx, forgetting: Forgetting, receipt: Receipt, at: int, files: DataFiles) -> str:
    """Rows disabled, derived copies scrubbed, receipt stored; the receipt's text, once for a key."""
    if (before := earlier_receipt(tx, receipt, at)) is not None:
        return before
    if forgetting.unwished:
        # First: what holds again is no copy of what goes, even where it says the same (叫我 and 别叫我).
        restore_names(tx, forgetting.memories, at)
    disable_memories(tx, forgetting, receipt.chat_id, at, files)
    number = forgetting.memories[0].id if forgetting.memories else 0
    undoable = number if forgetting.purge_at is not None else 0
    return store_receipt(tx, receipt, receipt.text(number, len(forgetting.memories) > 1), at, undoable)


def disable_memories(tx: Tx, forgetting: Forgetting, chat_id: int, at: int, files: DataFiles) -> None:
    """Rows disabled and derived copies scrubbed, on a word that was said in that chat."""
    purge_at = at if forgetting.purge_at is None else forgetting.purge_at
    if forgetting.purge_at is None and forgetting.person_id:
        note_effect(tx, final_key(forgetting.person_id, chat_id), at)
    told: dict[tuple[int, ...], EchoIndex] = {}  # who forgets all they told forgets hundreds
    for memory in forgetting.memories:
        end_memory(tx, memory.id, "asked", at, purge_at)
        tx.run("DELETE FROM rewriting WHERE memory_id = ?", memory.id)
        drop_merges(tx, memory.id, at, purge_at)
        chats = _reach(tx, memory, chat_id)
        if chats not in told:
            told[chats] = EchoIndex(lines_said_in(tx, chats, forgetting.person_id))
        repeating = {number for text in memory.wordings for number in told[chats].echoing(text)}
        _scrub(tx, memory, repeating, chats, at, purge_at, files)
    forget_terms(tx)


def _reach(tx: Tx, memory: Memory, chat_id: int) -> tuple[int, ...]:
    """The chats in which it may have been told: its own, and unless it was only for that one, all of its owner's."""
    found = {memory.chat_id, chat_id}
    if memory.visibility != "chat":
        found.update(tx.ids(
            "SELECT chat_id FROM member WHERE person_id = ?1 UNION SELECT chat_id FROM conversation_window WHERE person_id = ?1",
            memory.owner_id,
        ))  # fmt: skip
    return tuple(sorted(found))


def _scrub(
    tx: Tx, memory: Memory, hidden: set[int], chats: tuple[int, ...], at: int, purge_at: int, files: DataFiles
) -> None:  # fmt: skip
    """Everything derived from the same events, and the lines that repeat the statement (`hidden`) in these chats."""

    def repeats(line: str) -> bool:
        return any(echoes(text, line) for text in memory.wordings)

    if memory.source != "tool" or memory.asked:
        # The messages that it was told in; also one whose text is gone by its age may stand in a note.
        hidden.update(tx.ids(
            "SELECT event.id FROM edge JOIN event ON event.id = edge.event_id WHERE edge.kind = 'memory' "
            "AND edge.derived_id = ? AND event.hidden IN ('', 'old') "
            "AND (event.kind = 'message' OR event.label = 'address')",
            memory.id,
        ))  # fmt: skip
    hidden |= reminder_lines(tx, hidden)
    stale = _stale_epochs(tx, hidden, chats, repeats)
    for text in memory.wordings:
        hidden |= replies_to(tx, text, hidden, stale)
    # What was for one chat is in that chat's notes, else in its owner's own, too.
    whose = None if memory.visibility == "chat" else memory.owner_id
    remove_from_notes(tx, files, RemovedContent(frozenset(hidden), memory.wordings, chats, whose), at)
    hide_lines(tx, hidden, "forgotten")
    drop_reminders(tx, hidden, "forgotten", at)
    forget_reminders(tx, memory.owner_id, repeats, at)
    _scrub_derived(tx, memory, hidden, repeats, at, purge_at)
    _unsay(tx, chats, repeats)


def replies_to(tx: Tx, text: str | None, hidden: set[int], stale: set[int]) -> set[int]:
    """What nuan said to those messages, and of the rest that she said knowing it whatever touches on it.

    Without a text (nobody knows any more what it said before an edit) that is all.
    """
    found = tx.ids_for(
        "SELECT event.id FROM turn_event JOIN event ON event.turn_id = turn_event.turn_id "
        "WHERE turn_event.event_id = ? AND event.kind = 'bot'",
        hidden,
    )
    return found | {number for number, line in own_lines(tx, stale) if text is None or shares_words(text, line)}


def own_lines(tx: Tx, epochs: Iterable[int]) -> Iterator[tuple[int, str]]:
    """What nuan said in the turns of these epochs, number and text."""
    for epoch_id in epochs:
        yield from tx.all(
            "SELECT event.id, event.text FROM event JOIN turn ON turn.id = event.turn_id WHERE turn.epoch_id = ? "
            "AND event.kind = 'bot' AND event.text <> ''",
            epoch_id,
        )


def hide_lines(tx: Tx, events: set[int], why: str) -> None:
    """These lines are told nobody any more, and nothing of them is kept."""
    for number in sorted(events):
        tx.run("UPDATE event SET hidden = ?, text = '', quote = '' WHERE id = ?", why, number)
        tx.run("DELETE FROM attachment WHERE event_id = ?", number)
    drop_documents(tx, "line", events)


def logs_of(tx: Tx, events: set[int]) -> set[int]:
    """The epochs whose logs tell something of these lines."""
    return tx.ids_for(
        "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id "
        "WHERE edge.kind IN ('entry', 'told') AND edge.event_id = ?1 UNION SELECT entry.epoch_id FROM edge "
        "JOIN edge AS log ON log.kind = 'recount' AND log.event_id = edge.derived_id "
        "JOIN entry ON entry.id = log.derived_id WHERE edge.kind = 'digest' AND edge.event_id = ?1",
        events,
    )


def empty_digests(tx: Tx, events: set[int], at: int) -> None:
    """The digests made from these lines are emptied, and made again by rule from what is left."""
    for number in sorted(events):
        for digest, session_id in tx.all(
            "SELECT digest.id, session_id FROM edge JOIN digest ON digest.id = derived_id "
            "WHERE edge.kind = 'digest' AND event_id = ?",
            number,
        ):
            empty_talk(tx, digest, session_id, at)


def empty_talk(tx: Tx, digest_id: int, session_id: int, at: int) -> None:
    """The summary of a talk is gone, and made again by rule from what is left of its lines."""
    tx.run("UPDATE digest SET summary = '' WHERE id = ?", digest_id)
    summary_changed(tx, digest_id)
    tx.run("UPDATE session SET digest_due_at = ? WHERE id = ?", at, session_id)


def _stale_epochs(tx: Tx, hidden: set[int], chats: tuple[int, ...], repeats: Callable[[str], bool]) -> set[int]:
    """Logs that hold it are never sent again. Returns them."""
    found = logs_of(tx, hidden)
    for chat_id in chats:
        for epoch_id, text in tx.all(
            "SELECT epoch_id, message FROM entry JOIN epoch ON epoch.id = entry.epoch_id "
            "JOIN session ON session.id = epoch.session_id WHERE session.chat_id = ?",
            chat_id,
        ):
            if epoch_id not in found and repeats(text):
                found.add(epoch_id)
    end_logs(tx, found)
    return found


def _scrub_derived(
    tx: Tx, memory: Memory, hidden: set[int], repeats: Callable[[str], bool], at: int, purge_at: int
) -> None:  # fmt: skip
    """Digests and other memories made from the same messages, or that say the same, go with it.

    A digest is made again by rule from what is left.
    """
    talks = {number for event in hidden for number in tx.derived("digest", event)}
    found = "SELECT id, session_id, summary FROM digest WHERE (owner_id IS NOT DISTINCT FROM ?1 OR chat_id = ?2)"
    for number, session_id, summary in tx.all(f"{found} AND session_id IS NOT NULL", memory.owner_id, memory.chat_id):
        if number in talks or repeats(summary):
            empty_talk(tx, number, session_id, at)
    for number, _, summary in tx.all(f"{found} AND session_id IS NULL", memory.owner_id, memory.chat_id):
        if repeats(summary):  # none of its talks says it, all together do
            tx.run("UPDATE digest SET summary = '' WHERE id = ?", number)
            drop_documents(tx, "digest", (number,))
    same = {number for event in hidden for number in tx.derived("memory", event)}
    for number, text, original in tx.all(
        "SELECT id, text, original FROM memory WHERE id <> ?2 AND ((disabled_at IS NULL AND asked = 0) OR "
        "disabled_reason IN ('replaced', 'merged', 'archived')) AND "
        "(owner_id IS NOT DISTINCT FROM ?1 OR (owner_id IS NULL AND chat_id = ?3))",
        memory.owner_id, memory.id, memory.chat_id,
    ):  # fmt: skip
        if number in same or repeats(text) or (original and repeats(original)):
            end_memory(tx, number, "derived", at, purge_at)
            drop_merges(tx, number, at, purge_at)
    scrub_merges(tx, hidden, (memory.owner_id, memory.chat_id), repeats)
    forget_promises(tx, memory.owner_id, memory.chat_id, hidden, repeats)


def _unsay(tx: Tx, chats: tuple[int, ...], repeats: Callable[[str], bool]) -> None:
    """Receipts that a crash may repeat, and what waits to be sent or was."""
    for chat_id in chats:
        for number, text in tx.all("SELECT id, text FROM outbox WHERE chat_id = ? AND text <> ''", chat_id):
            if repeats(text):
                # A preview keeps its row: the message on the screen is still to be edited.
                left = "CASE state WHEN 'preview' THEN state ELSE 'cancelled' END"
                tx.run(f"UPDATE outbox SET text = '', state = {left} WHERE id = ?", number)
    for key, text in tx.all("SELECT key, result FROM effect WHERE result NOT IN ('', 'done')"):
        if repeats(text):
            tx.run("UPDATE effect SET result = '' WHERE key = ?", key)
