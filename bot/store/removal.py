"""Taking memories and lines away with all that was made of them (ARCHITECTURE §6), and purging what was kept for undo."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from bot.core.errors import StoreError
from bot.core.memories import Memory, wordings
from bot.store.commitments import forget_promises, withdraw_promises
from bot.store.digests import summary_changed, take_memory_back
from bot.store.duplicates import pass_to_copy
from bot.store.engine import Database, wipe_soon
from bot.store.events import MOST_IN_ONE, finish_events, note_effect
from bot.store.index import drop_documents, index_lines
from bot.store.ledger import charge_reserved
from bot.store.memories import Receipt, address_lines, chats_of_memory, earlier_receipt, store_receipt
from bot.store.notes import RemovedContent, remove_from_notes
from bot.store.outbox import unsent, waiting_files, withdraw
from bot.store.reminders import drop_reminders, forget_reminders, reminder_lines
from bot.store.schema import IS_NAME, NO_LIMIT, SELECT_MEMORY, placeholders
from bot.store.sessions import drop_log, end_logs
from bot.store.supersession import bring_back, drop_merges, end_memory, restore_former, scrub_merges
from bot.store.transactions import Tx
from bot.store.waiting import UNSTORED_MS
from bot.text.similarity import EchoIndex, repeating, shares_words

T = TypeVar("T")

SCRUBBED_LINES = 4_000
"""How many of a chat's newest lines are searched for echoes; what is older left every prompt long ago."""


PURGED_AT_ONCE = 50
"""Memories that go in one commit: people wait for no longer than that takes."""


OFF_RECORD, ANNOUNCED, TOLD_THEN = 1, 2, 3
"""Of a message that is kept nowhere: because somebody asked so, as the one that asked so of what its writer tells next,
and as what was told then."""


def final_key(person_id: int, chat_id: int) -> str:
    """Of the effect that tells when that person last had something forgotten there that cannot come back."""
    return f"final:{person_id}:{chat_id}"


async def purge_now(database: Database, now: int) -> int:
    """Delete the rows whose days for undo are over, and whatever was scrubbed from the files; how many rows.

    Archives that their owners wait for may still tell it, so they go, too, and the bytes of what is not sent any more.
    """
    owners = await database.read(lambda tx: {*tx.ids("SELECT owner_id FROM memory WHERE purge_at <= ?", now)})
    await asyncio.to_thread(database.files.archives.remove, owners)
    await asyncio.to_thread(database.files.parts.tidy, await database.read(waiting_files), now - UNSTORED_MS)
    count = 0
    while gone := await database.write(lambda tx: purge_rows(tx, now, PURGED_AT_ONCE), beside=True):
        count += gone
    with contextlib.suppress(StoreError):  # somebody reads: it is tried again before the minute is over (`wipe_soon`)
        await database.truncate()
    return count


def purge_rows(tx: Tx, now: int, most: int = NO_LIMIT) -> int:
    """Rows whose time is over, at most so many, are deleted; how many."""
    gone = tx.ids("SELECT id FROM memory WHERE purge_at <= ? LIMIT ?", now, most)
    if gone:
        wipe_soon(tx, now)
    for number in gone:
        drop_merges(tx, number, now, now)
        tx.unlink("memory", number)
        tx.run("DELETE FROM turn_memory WHERE memory_id = ?", number)
        tx.run("DELETE FROM memory WHERE id = ?", number)
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


async def carry_out(database: Database, forgetting: Forgetting, work: Callable[[Tx], T], at: int) -> T:
    """Run a transaction that forgets it, after the tombstones; what cannot be brought back is purged then."""

    def transaction(tx: Tx) -> T:
        before = () if forgetting.unwished else _names_before(tx, forgetting.memories)
        tx.files.tombstones.add_tombstones(wordings((*forgetting.memories, *before)), at)
        return work(tx)

    done = await database.write(transaction, beside=True)
    if forgetting.purge_at is None:
        await purge_now(database, at)
    return done


def restore_names(tx: Tx, memories: tuple[Memory, ...], at: int) -> None:
    """What a new way to be called, or a new value, had ended holds again."""
    for memory in memories:
        if not memory.is_name:
            restore_former(tx, memory.id)
            continue
        sql = (
            f"SELECT id FROM memory WHERE owner_id IS NOT DISTINCT FROM ? AND {IS_NAME} "
            "AND disabled_reason = 'replaced' AND disabled_at IN (?, ?)"
        )
        # It ended when the new one was said, or brought back.
        for number in tx.ids(sql, memory.owner_id, memory.created_at, memory.updated_at):
            bring_back(tx, number, at)


def forget_memories(tx: Tx, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
    """Lines deleted, rows disabled, derived copies scrubbed, receipt stored; the receipt's text, once for a key."""
    if (before := earlier_receipt(tx, receipt, at)) is not None:
        return before
    if forgetting.lines:
        told = [text for memory in forgetting.memories for text in memory.wordings]
        delete_lines(tx, dict(forgetting.lines), at, told)
    if forgetting.unwished:
        # First: what holds again is no copy of what goes, even where it says the same (叫我 and 别叫我).
        restore_names(tx, forgetting.memories, at)
    disable_memories(tx, forgetting, receipt.chat_id, at)
    number = forgetting.memories[0].id if forgetting.memories else 0
    undoable = number if forgetting.purge_at is not None else 0
    return store_receipt(tx, receipt, receipt.text(number, len(forgetting.memories) > 1), at, undoable)


def disable_memories(tx: Tx, forgetting: Forgetting, chat_id: int, at: int) -> None:
    """Rows disabled and derived copies scrubbed, on a word that was said in that chat."""
    purge_at = at if forgetting.purge_at is None else forgetting.purge_at
    if forgetting.purge_at is None and forgetting.person_id:
        note_effect(tx, final_key(forgetting.person_id, chat_id), at)
    # Who forgets all they told forgets hundreds: what may repeat them is read once for all of one place.
    places: dict[tuple[int | None, int, bool], list[Memory]] = {}
    for memory in forgetting.memories:
        end_memory(tx, memory.id, "asked", at, purge_at)
        tx.run("DELETE FROM rewriting WHERE memory_id = ?", memory.id)
        drop_merges(tx, memory.id, at, purge_at)
    for memory in forgetting.memories:
        places.setdefault((memory.owner_id, memory.chat_id, memory.visibility == "chat"), []).append(memory)
    told: dict[tuple[int, ...], EchoIndex] = {}
    for memories in places.values():
        chats = tuple(sorted({chat_id, *chats_of_memory(tx, memories[0])}))
        if chats not in told:
            told[chats] = EchoIndex(lines_said_in(tx, chats, forgetting.person_id))
        _scrub(tx, memories, told[chats], chats, at, purge_at)
    if not forgetting.unwished:
        _drop_names(tx, _names_before(tx, forgetting.memories), at, purge_at)


def _drop_names(tx: Tx, names: Iterable[Memory], at: int, purge_at: int) -> None:
    """These former names are told nobody any more, nor are the lines that set them and what answered those; whatever
    else has such a word stays.
    """
    for name in names:
        said = _told_in(tx, name)
        answers = tx.all(
            "SELECT event.id, event.text FROM turn_event JOIN event ON event.turn_id = turn_event.turn_id AND "
            f"event.kind = 'bot' WHERE turn_event.event_id IN ({placeholders(said)})",
            *sorted(said),
        )
        lines = said | _receipts(tx, said) | repeating(name.wordings, answers)
        end_logs(tx, logs_of(tx, lines))
        remove_from_notes(tx, RemovedContent(frozenset(lines)), at)
        hide_lines(tx, lines, "forgotten")
        empty_digests(tx, lines, at)
        end_memory(tx, name.id, "derived", at, purge_at)
        drop_merges(tx, name.id, at, purge_at)


def _names_before(tx: Tx, memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """How the same people were called there before, of those among these memories that say how they are."""
    sql = (
        f"{SELECT_MEMORY}WHERE owner_id = ? AND chat_id = ? AND visibility = ? AND slot = 'address' "
        "AND disabled_reason = 'replaced'"
    )
    whose = {(each.owner_id, each.chat_id, each.visibility) for each in memories if each.slot == "address"}
    return tuple(found for one in sorted(whose, key=str) for found in tx.all(sql, *one, to=Memory))


def _scrub(
    tx: Tx,
    memories: Sequence[Memory],
    lines: EchoIndex,
    chats: tuple[int, ...],
    at: int,
    purge_at: int,
) -> None:
    """Everything derived from the same events as these memories of one place, and what repeats them in these chats, of
    which `lines` were said.
    """
    logged = (
        "SELECT epoch_id, message FROM entry JOIN epoch ON epoch.id = epoch_id JOIN session ON session.id = session_id"
    )
    logs = EchoIndex(row for chat in chats for row in tx.all(f"{logged} WHERE session.chat_id = ?", chat))
    hidden, stale = set[int](), set[int]()
    for memory in memories:
        found, ended = _lines_and_logs(tx, memory, lines, logs)
        hidden |= found
        stale |= ended
    end_logs(tx, stale)
    owner_id, chat_id = memories[0].owner_id, memories[0].chat_id
    # What was for one chat is in that chat's notes, else in its owner's own, too.
    whose = None if memories[0].visibility == "chat" else owner_id
    told = tuple(dict.fromkeys(text for memory in memories for text in memory.wordings))
    take_lines_away(tx, RemovedContent(frozenset(hidden), told, chats, whose), "forgotten", at)
    _scrub_same(tx, (owner_id, chat_id), told, hidden, at, purge_at)
    _unsay(tx, chats, told)


def _lines_and_logs(tx: Tx, memory: Memory, lines: EchoIndex, logs: EchoIndex) -> tuple[set[int], set[int]]:
    """Of these the lines from which a memory was made, that repeat it or answer those, and the epochs that tell it."""
    hidden = {number for text in memory.wordings for number in lines.echoing(text)}
    hidden |= _told_in(tx, memory)
    hidden |= reminder_lines(tx, hidden)
    # A log that was dropped by its age told them as well.
    stale, numbers = logs_of(tx, hidden), sorted(hidden)
    for start in range(0, len(numbers), MOST_IN_ONE):
        some = numbers[start : start + MOST_IN_ONE]
        answered = f"turn_event JOIN turn ON turn.id = turn_id WHERE event_id IN ({placeholders(some)})"
        stale.update(tx.ids(f"SELECT turn.epoch_id FROM {answered}", *some))
    stale |= {epoch for text in memory.wordings for epoch in logs.echoing(text)}
    for text in memory.wordings:
        hidden |= replies_to(tx, text, hidden, stale)
    return hidden, stale


def _told_in(tx: Tx, memory: Memory) -> set[int]:
    """The messages that it was told in; also one whose text is gone by its age, which may stand in a note."""
    if memory.source == "tool" and not memory.asked:
        return set()
    sql = (
        "SELECT event.id FROM edge JOIN event ON event.id = edge.event_id WHERE edge.kind = 'memory' "
        "AND edge.derived_id = ? AND event.hidden IN ('', 'old') "
        "AND (event.kind = 'message' OR event.label = 'address')"
    )
    return set(tx.ids(sql, memory.id))


def replies_to(tx: Tx, text: str | None, hidden: set[int], stale: set[int]) -> set[int]:
    """What nuan said to those messages, and of the rest that it said knowing it whatever touches on it.

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


def take_lines_away(tx: Tx, content: RemovedContent, why: Literal["forgotten", "deleted"], at: int) -> None:
    """These lines are told nobody any more, nor are the notes, summaries, promises and reminders made from them."""
    wipe_soon(tx, at)
    remove_from_notes(tx, content, at)
    hide_lines(tx, content.events, why)
    empty_digests(tx, content.events, at)
    withdraw_promises(tx, content.events)
    drop_reminders(tx, content.events, why, at)


def hide_lines(tx: Tx, events: Collection[int], why: str) -> None:
    """These lines are told nobody any more, and nothing of them is kept."""
    for number in sorted(events):
        tx.run("UPDATE event SET hidden = ?, text = '', quote = '' WHERE id = ?", why, number)
        tx.run("DELETE FROM attachment WHERE event_id = ?", number)
    drop_documents(tx, "line", events)


def logs_of(tx: Tx, events: set[int]) -> set[int]:
    """The epochs whose logs tell something of these lines."""
    return tx.ids_for(
        "SELECT entry.epoch_id FROM edge JOIN entry ON entry.id = edge.derived_id "
        "WHERE edge.kind IN ('entry', 'told') AND edge.event_id = ?",
        events,
    ) | tx.ids_for(
        "SELECT entry.epoch_id FROM edge JOIN edge AS log ON log.kind = 'recount' AND log.event_id = edge.derived_id "
        "JOIN entry ON entry.id = log.derived_id WHERE edge.kind = 'digest' AND edge.event_id = ?",
        events,
    )


def empty_digests(tx: Tx, events: Collection[int], at: int) -> None:
    """The digests made from these lines are emptied, and made again by rule from what is left."""
    made = "SELECT derived_id FROM edge WHERE kind = 'digest' AND event_id = ?"
    for digest in sorted(tx.ids_for(made, events)):
        empty_talk(tx, digest, at)


def empty_talk(tx: Tx, digest_id: int, at: int) -> None:
    """A summary is gone; that of a talk is made again by rule from what is left of its lines."""
    tx.run("UPDATE digest SET summary = '' WHERE id = ?", digest_id)
    summary_changed(tx, digest_id)
    session_id = tx.value("SELECT session_id FROM digest WHERE id = ?", digest_id)
    tx.run("UPDATE session SET digest_due_at = ? WHERE id = ?", at, session_id)


def _scrub_same(
    tx: Tx, whose: tuple[int | None, int], told: tuple[str, ...], hidden: set[int], at: int, purge_at: int
) -> None:
    """Summaries, reminders and promises of an owner and in a chat that say the same go, and memories that do or are of
    the same lines.
    """
    owner_id, chat_id = whose
    forget_reminders(tx, owner_id, told, at)
    digests = "FROM digest WHERE (owner_id IS NOT DISTINCT FROM ? OR chat_id = ?)"
    talks = tx.all(f"SELECT id, summary {digests} AND session_id IS NOT NULL AND summary <> ''", *whose)
    for number in sorted(repeating(told, talks)):
        empty_talk(tx, number, at)
    # Rolled-up ones last, each as it reads by then: where none of its talks says it, all together may.
    for number in tx.ids(f"SELECT id {digests} AND session_id IS NULL", *whose):
        if repeating(told, tx.all("SELECT id, summary FROM digest WHERE id = ?", number)):
            empty_talk(tx, number, at)
    made = {number for event in hidden for number in tx.derived("memory", event)}
    rows = tx.all(
        "SELECT id, text, original FROM memory WHERE ((disabled_at IS NULL AND asked = 0) OR "
        "disabled_reason IN ('replaced', 'merged', 'archived')) AND "
        "(owner_id IS NOT DISTINCT FROM ? OR (owner_id IS NULL AND chat_id = ?))",
        *whose,
    )
    same = repeating(told, ((number, text) for number, *texts in rows for text in texts))
    for number in (number for number, *_ in rows if number in same | made):
        end_memory(tx, number, "derived", at, purge_at)
        drop_merges(tx, number, at, purge_at)
    scrub_merges(tx, hidden, whose, told)
    forget_promises(tx, owner_id, chat_id, told)


def _unsay(tx: Tx, chats: tuple[int, ...], told: tuple[str, ...]) -> None:
    """Receipts that a crash may repeat, and what waits to be sent or was."""
    for chat_id in chats:
        for number in repeating(told, ((row.id, row.text) for row in unsent(tx, chat_id) if row.text)):
            # A preview keeps its row: the message on the screen is still to be edited.
            left = "CASE state WHEN 'preview' THEN state ELSE 'cancelled' END"
            tx.run(f"UPDATE outbox SET text = '', payload = '', state = {left} WHERE id = ?", number)
        receipts = tx.all("SELECT key, result FROM effect WHERE chat_id = ? AND result <> ''", chat_id)
        for place in repeating(told, enumerate(result for _, result in receipts)):
            tx.run("UPDATE effect SET result = '' WHERE key = ?", receipts[place][0])


def lines_said_in(tx: Tx, chats: tuple[int, ...], person_id: int) -> Iterator[tuple[int, str]]:
    """What that person, or nuan, said in these chats, with what was made of their pictures and files.

    Commands are told nobody, but what one says (`.ai remind …`) is stored like any line.
    """
    for chat_id in chats:
        sql = (
            "SELECT id, text || ? || quote FROM event WHERE chat_id = ? AND hidden IN ('', 'command') "
            "AND text <> '' AND (person_id = ? OR person_id IS NULL) ORDER BY id DESC LIMIT ?"
        )
        yield from tx.all(sql, "\n", chat_id, person_id, SCRUBBED_LINES)
        yield from tx.all(
            "SELECT event.id, attachment.text FROM event JOIN attachment ON event_id = event.id WHERE chat_id = ? "
            "AND hidden = '' AND attachment.text <> '' AND person_id = ?",
            chat_id,
            person_id,
        )


def delete_message(tx: Tx, chat_id: int, target: str, at: int) -> None:
    """A message, or a line of nuan's, is gone with everything made from it (ARCHITECTURE §6)."""
    if pass_to_copy(tx, chat_id, target):
        return
    if said := lines_of_message(tx, chat_id, target):
        delete_lines(tx, said, at)
    quoting = "SELECT id FROM event WHERE chat_id = ? AND target = ? AND target <> '' AND quote <> ''"
    for number in tx.ids(quoting, chat_id, target):
        tx.run("UPDATE event SET quote = '' WHERE id = ?", number)
        _stop(tx, logs_of(tx, {number}), at)


def delete_lines(tx: Tx, said: dict[int, str], at: int, told: Iterable[str] = ()) -> None:
    """These lines (id: text) are gone with everything made from them; `told` is what memories say of the same."""
    texts = {text for text in (*said.values(), *told) if text}
    gone_ids = set(said) | _receipts(tx, set(said)) | address_lines(tx, said) | reminder_lines(tx, set(said))
    sql = "SELECT epoch_id FROM turn JOIN event ON event.turn_id = turn.id WHERE event.id = ? AND event.kind = 'bot'"
    stale = logs_of(tx, gone_ids) | tx.ids_for(sql, said)
    for text in sorted(texts) if len(said) == 1 else (None,):
        gone_ids |= replies_to(tx, text, set(said), stale)
    stale |= logs_of(tx, gone_ids)
    _stop(tx, stale, at)
    take_lines_away(tx, RemovedContent(frozenset(gone_ids)), "deleted", at)
    finish_events(tx, tuple(sorted(gone_ids)), "deleted")
    _forget(tx, gone_ids, at)
    _cancel(tx, gone_ids, at)


def _cancel(tx: Tx, events: set[int], at: int) -> None:
    """What says these lines is not sent any more, and taken away where it stands on the screen half said."""
    turns = tx.ids_for("SELECT turn_id FROM event WHERE id = ? AND kind = 'bot' AND turn_id IS NOT NULL", events)
    for chat_id in tx.ids_for("SELECT chat_id FROM event WHERE id = ?", events):
        for row in unsent(tx, chat_id):
            if row.turn_id in turns and row.state == "pending" and row.shown:
                withdrawn = "UPDATE outbox SET kind = 'withdrawal', text = '', payload = '', due_at = ? WHERE id = ?"
                tx.run(withdrawn, at, row.id)
            elif row.kind != "withdrawal" and (row.turn_id in turns or row.event_id in events):
                state = "cancelled" if row.state in ("pending", "sending") else row.state
                tx.run("UPDATE outbox SET text = '', payload = '', state = ? WHERE id = ?", state, row.id)


def lines_of_message(tx: Tx, chat_id: int, target: str) -> dict[int, str]:
    """The message with that id and its edits, or the reply or receipt sent under it; with their texts."""
    if not target:
        return {}
    lines: dict[int, str] = dict(
        tx.all(
            "SELECT id, text FROM event WHERE chat_id = ? AND external_id = ? AND external_id <> '' AND kind = 'message' "
            "UNION SELECT id, text FROM event WHERE chat_id = ? AND kind = 'event' AND label = 'edit' AND target = ? "
            "UNION SELECT event.id, text FROM sent JOIN event ON event.turn_id = sent.turn_id AND event.kind = 'bot' "
            "WHERE sent.chat_id = ? AND sent.external_id = ?",
            *(chat_id, target) * 3,
        )
    )
    receipt = "SELECT 1 FROM sent WHERE chat_id = ? AND external_id = ? AND turn_id IS NULL"
    if tx.has(receipt, chat_id, target):
        answers = "FROM outbox JOIN event ON event.id = event_id WHERE outbox.chat_id = ?"
        sent = tx.all(f"SELECT event.id, event.text, external_ids {answers}", chat_id)
        lines |= {number: text for number, text, external_ids in sent if target in json.loads(external_ids)}
    return lines


def _receipts(tx: Tx, events: set[int]) -> set[int]:
    """The receipts of commands in these messages; a crash says none of them again."""
    found: set[int] = set()
    for number in sorted(events):
        keys = (f"event:{number}:", f"event:{number};")  # ';' is the character after ':'
        for (text,) in tx.all("SELECT result FROM effect WHERE key > ? AND key < ? AND result <> ''", *keys):
            sql = (
                "SELECT id FROM event WHERE id > ? AND chat_id = (SELECT chat_id FROM event WHERE id = ?) "
                "AND kind = 'bot' AND label = 'memory' AND text = ?"
            )
            found.update(tx.ids(sql, number, number, text))
        tx.run("UPDATE effect SET result = '' WHERE key > ? AND key < ?", *keys)
    return found


def _stop(tx: Tx, epochs: set[int], at: int) -> None:
    """These logs are never sent again; turns that run on them are void, and what else they answer waits anew."""
    for epoch_id in sorted(epochs):
        tx.run("UPDATE epoch SET stale = 'deleted' WHERE id = ?", epoch_id)
        for turn_id in tx.ids("SELECT id FROM turn WHERE epoch_id = ? AND state IN ('asked', 'answered')", epoch_id):
            tx.run("UPDATE turn SET state = 'void', receipts = '[]' WHERE id = ?", turn_id)
            charge_reserved(tx, turn_id, at)
            tx.run("UPDATE event SET turn_id = NULL WHERE turn_id = ? AND state = 'queued'", turn_id)
            withdraw(tx, turn_id, at)
        drop_log(tx, epoch_id)


def _forget(tx: Tx, events: set[int], at: int) -> None:
    """Memories made from these lines go at once and do not come back, unless they were told elsewhere too."""
    forgotten: list[tuple[int, str]] = []
    for event_id in sorted(events):
        for number, text, original, asked in tx.all(
            "SELECT memory.id, text, original, asked FROM edge JOIN memory ON memory.id = derived_id "
            "WHERE edge.kind = 'memory' AND event_id = ? AND (disabled_at IS NULL OR disabled_reason <> 'deleted')",
            event_id,
        ):
            other = told_elsewhere(tx, number, events)
            if asked and other:
                continue
            if not other:
                forgotten += [(number, each) for each in (text, original) if each]
            take_memory_back(tx, number, "deleted", at)
    tx.files.tombstones.add_tombstones(forgotten, at)
    scrub_merges(tx, events)


def told_elsewhere(tx: Tx, memory_id: int, events: set[int]) -> bool:
    """Whether somebody said it in another message as well, that is still there."""
    return not events.issuperset(
        tx.ids(
            "SELECT event.id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? "
            "AND event.kind = 'message' AND hidden = ''",
            memory_id,
        )
    )


def mark_off_record(tx: Tx, events: Iterable[int], mark: int) -> None:
    """These messages are kept nowhere, for that reason."""
    for number in events:
        tx.run("UPDATE event SET off_record = ? WHERE id = ?", mark, number)


def keep_off_record(tx: Tx, wish: int, events: tuple[int, ...], person_id: int, at: int) -> None:
    """On that message's wish nothing is made of these messages and of what nuan said to or like them, nor of what was
    made of them."""
    marked = set(events) | replies_to(tx, None, set(events), set()) | _said_again(tx, events)
    mark_off_record(tx, marked, OFF_RECORD)
    tx.link("aside", wish, marked)
    # What others said and promised stays theirs.
    sql = (
        f"SELECT id FROM event WHERE id IN ({placeholders(marked)}) AND (person_id = ? OR person_id IS NULL) "
        "ORDER BY id"
    )
    take_off_record(tx, marked, tx.ids(sql, *marked, person_id), at)


def empty_off_record(tx: Tx, events: Collection[int]) -> None:
    """Of these messages that are kept nowhere blank lines are left; it can be undone no more."""
    wishes = tx.ids_for("SELECT derived_id FROM edge WHERE kind = 'aside' AND event_id = ?", events)
    for wish in wishes:
        tx.unlink("aside", wish)
    gone = {*events, *wishes}
    gone |= _receipts(tx, gone)
    for epoch_id in sorted(logs_of(tx, gone)):
        drop_log(tx, epoch_id)
    hide_lines(tx, gone, "deleted")
    for number in sorted(gone):
        tx.run(
            "UPDATE outbox SET text = '', payload = '' WHERE event_id = ? AND state NOT IN ('pending', 'sending')",
            number,
        )
        reply = "SELECT turn_id FROM event WHERE id = ? AND kind = 'bot'"
        tx.run(
            f"UPDATE outbox SET text = '', payload = '' WHERE turn_id = ({reply}) AND state NOT IN ('pending', 'sending')",
            number,
        )


def clear_off_record(tx: Tx, chat_id: int, between: tuple[int, int], at: int) -> None:
    """What was said there after the first of two events, up to the other, is kept nowhere; what was asked to be kept
    stays."""
    sql = (
        "SELECT id FROM event WHERE chat_id = ? AND id > ? AND id <= ? AND kind IN ('message', 'bot') "
        "AND hidden = '' AND off_record = 0 ORDER BY id"
    )
    cleared = tx.ids(sql, chat_id, *between)
    mark_off_record(tx, cleared, OFF_RECORD)
    asked = (
        "SELECT event_id FROM edge JOIN commitment ON commitment.id = derived_id WHERE edge.kind = 'commitment' "
        "AND source = 'tool' AND event_id = ?"
    )
    kept = tx.ids_for(asked, cleared)
    take_off_record(tx, cleared, [number for number in cleared if number not in kept], at)


def _said_again(tx: Tx, events: Collection[int]) -> set[int]:
    """What nuan said after these messages, in their chat, that repeats one of them."""
    told = tx.all(f"SELECT id, text FROM event WHERE id IN ({placeholders(events)})", *events)
    sql = (
        "SELECT id, text FROM event WHERE chat_id = (SELECT chat_id FROM event WHERE id = ?) AND id > ? "
        "AND kind = 'bot' AND hidden = '' ORDER BY id DESC LIMIT ?"
    )
    first = min(events, default=0)
    return repeating([text for _, text in told], tx.all(sql, first, first, SCRUBBED_LINES))


def take_off_record(tx: Tx, marked: Collection[int], own: Iterable[int], at: int) -> None:
    """Nothing is left of what was made of these messages that are marked; of what was made of `own` ones also no
    promise and no memory that nobody asked for."""
    index_lines(tx, marked)
    remove_from_notes(tx, RemovedContent(frozenset(marked)), at)
    empty_digests(tx, marked, at)
    withdraw_promises(tx, own)
    for number in own:
        for memory_id in tx.ids(
            "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' "
            "AND event_id = ? AND asked = 0 AND disabled_at IS NULL",
            number,
        ):
            take_memory_back(tx, memory_id, "derived", at)
