"""Lines deleted, taken back by reply or kept off the record, and memories shared or shared no longer."""

import json
from dataclasses import dataclass, replace

from bot.core.memories import Memory, Visibility
from bot.core.people import Chat
from bot.store.commitments import withdraw_promises
from bot.store.engine import reads, writes
from bot.store.events import finish_events
from bot.store.files import DataFiles
from bot.store.forget import (
    SCRUBBED_LINES,
    Forgetting,
    ScrubbingRepository,
    disable_memories,
    empty_digests,
    forget_memories,
    hide_lines,
    logs_of,
    own_lines,
    replies_to,
)
from bot.store.index import forget_terms, index_lines, index_memory
from bot.store.ingest import pass_to_copy
from bot.store.ledger import charge_reserved
from bot.store.memories import Receipt, address_lines, earlier_receipt, replace_same, store_receipt
from bot.store.notes import RemovedContent, remove_from_notes
from bot.store.outbox import withdraw
from bot.store.reminders import drop_reminders, reminder_lines
from bot.store.schema import SELECT_MEMORY, placeholders
from bot.store.sessions import drop_log, end_logs
from bot.store.supersession import drop_merges, end_memory, restore_former, scrub_merges
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import echoes


def delete_message(tx: Tx, chat_id: int, target: str, at: int, files: DataFiles) -> None:
    """A message, or a line of nuan's, is gone with everything made from it (ARCHITECTURE §6)."""
    if pass_to_copy(tx, chat_id, target):
        return
    if said := lines_of_message(tx, chat_id, target):
        delete_lines(tx, said, at, files)
    quoting = "SELECT id FROM event WHERE chat_id = ? AND target = ? AND target <> '' AND quote <> ''"
    for number in tx.ids(quoting, chat_id, target):
        tx.run("UPDATE event SET quote = '' WHERE id = ?", number)
        _stop(tx, logs_of(tx, {number}), at)


def delete_lines(tx: Tx, said: dict[int, str], at: int, files: DataFiles) -> None:
    """These lines (id: text) are gone with everything made from them."""
    texts = {text for text in said.values() if text}
    gone_ids = set(said) | _receipts(tx, set(said)) | address_lines(tx, said) | reminder_lines(tx, set(said))
    stale = logs_of(tx, gone_ids) | tx.ids_for(
        "SELECT epoch_id FROM turn JOIN event ON event.turn_id = turn.id WHERE event.id = ? AND event.kind = 'bot'",
        said,
    )
    for text in sorted(texts) if len(said) == 1 else (None,):
        gone_ids |= replies_to(tx, text, set(said), stale)
    stale |= logs_of(tx, gone_ids)
    _stop(tx, stale, at)
    remove_from_notes(tx, files, RemovedContent(frozenset(gone_ids)), at)
    hide_lines(tx, gone_ids, "deleted")
    finish_events(tx, tuple(sorted(gone_ids)), "done", "deleted")
    empty_digests(tx, gone_ids, at)
    withdraw_promises(tx, gone_ids)
    drop_reminders(tx, gone_ids, "deleted", at)
    _forget(tx, gone_ids, at, files)
    for number in sorted(gone_ids):
        reply = "turn_id = (SELECT turn_id FROM event WHERE id = ?1 AND kind = 'bot')"
        shown = f"state = 'pending' AND preview_id <> '' AND {reply}"
        tx.run(f"UPDATE outbox SET kind = 'withdrawal', text = '', due_at = ?2 WHERE {shown}", number, at)
        tx.run(
            "UPDATE outbox SET text = '', state = CASE WHEN state IN ('pending', 'sending') THEN 'cancelled' "
            f"ELSE state END WHERE kind <> 'withdrawal' AND (event_id = ?1 OR {reply})",
            number,
        )
    forget_terms(tx)


def lines_of_message(tx: Tx, chat_id: int, target: str) -> dict[int, str]:
    """The message with that id and its edits, or the reply or receipt sent under it; with their texts."""
    if not target:
        return {}
    lines: dict[int, str] = dict(tx.all(
        "SELECT id, text FROM event WHERE chat_id = ?1 AND external_id = ?2 AND external_id <> '' AND kind = 'message' "
        "UNION SELECT id, text FROM event WHERE chat_id = ?1 AND kind = 'event' AND label = 'edit' AND target = ?2 "
        "UNION SELECT event.id, text FROM sent JOIN event ON event.turn_id = sent.turn_id AND event.kind = 'bot' "
        "WHERE sent.chat_id = ?1 AND sent.external_id = ?2",
        chat_id, target,
    ))  # fmt: skip
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
            found.update(tx.ids(
                "SELECT id FROM event WHERE id > ?1 AND chat_id = (SELECT chat_id FROM event WHERE id = ?1) "
                "AND kind = 'bot' AND label = 'memory' AND text = ?2",
                number, text,
            ))  # fmt: skip
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


def _forget(tx: Tx, events: set[int], at: int, files: DataFiles) -> None:
    """Memories made from these lines go at once and do not come back, unless they were told elsewhere too."""
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
                for wording in filter(None, (text, original)):
                    files.tombstones.add_tombstone(number, wording, at)
            restore_former(tx, number)
            end_memory(tx, number, "deleted", at, at)
            drop_merges(tx, number, at, at)
    scrub_merges(tx, events)


def told_elsewhere(tx: Tx, memory_id: int, events: set[int]) -> bool:
    """Whether somebody said it in another message as well, that is still there."""
    return not events.issuperset(tx.ids(
        "SELECT event.id FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'memory' AND derived_id = ? "
        "AND event.kind = 'message' AND hidden = ''",
        memory_id,
    ))  # fmt: skip


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


class TakenBackLines(ScrubbingRepository):
    """Lines that people take back or keep off the record."""

    @reads
    def is_reply(self, tx: Tx, event_id: int) -> bool:
        """Whether a message replies to another."""
        return tx.has("SELECT 1 FROM event WHERE id = ? AND target <> '' AND kind = 'message'", event_id)

    @reads
    def replied(self, tx: Tx, event_id: int) -> RepliedLine:
        """What that message replies to."""
        chat_id, target = _reply_of(tx, event_id)
        by: set[int] = set()
        receipt, there, memories = "", False, dict[int, Memory]()
        for number in sorted(lines_of_message(tx, chat_id, target)):
            kind, person_id, text, label, turn_id, hidden = tx.row(
                "SELECT kind, person_id, text, label, turn_id, hidden FROM event WHERE id = ?", number
            )
            if hidden in ("deleted", "forgotten"):
                continue
            there = True
            if kind == "bot":
                receipt = text if label == "memory" else ""
                by |= _answered(tx, turn_id) | (_commanded(tx, text) if receipt else set())
            elif person_id is not None:
                by.add(person_id)
                memories |= {memory.id: memory for memory in _kept(tx, number, chat_id, person_id, text)}
        kept = tuple(memories[number] for number in sorted(memories))
        return RepliedLine(chat_id, target, there, frozenset(by), receipt, kept)

    @reads
    def replied_lines(self, tx: Tx, event_id: int) -> tuple[tuple[int, ...], str, int]:
        """The lines that a message replies to, what is visible of them, and when that was said, ms."""
        found = lines_of_message(tx, *_reply_of(tx, event_id))
        for number in sorted(found, reverse=True):
            at = tx.value("SELECT at FROM event WHERE id = ? AND hidden = ''", number)
            if at is not None:
                return tuple(sorted(found)), found[number].strip(), at
        return tuple(sorted(found)), "", 0

    @reads
    def keeper(self, tx: Tx, memory_id: int) -> Memory | None:
        """An active memory, whoever owns it."""
        return tx.one(f"{SELECT_MEMORY}WHERE memory.id = ? AND disabled_at IS NULL", memory_id, to=Memory)

    @reads
    def told(self, tx: Tx, person_id: int, chat: Chat) -> tuple[tuple[int, int, str], ...]:
        """What that person said, oldest first: number, when (ms), text; in a group only there, else in their DMs."""
        where = "chat_id = ?2" if chat.kind == "group" else "chat_id IN (SELECT id FROM chat WHERE kind = 'dm')"
        rows = tx.all(
            "SELECT id, at, text FROM event WHERE person_id = ?1 AND kind = 'message' AND hidden = '' AND text <> '' "
            f"AND (chat_id = ?2 OR {where}) ORDER BY id DESC LIMIT {SCRUBBED_LINES}",
            person_id, chat.id,
        )  # fmt: skip
        return tuple((number, at, text) for number, at, text in reversed(rows))

    @reads
    def forgot_since(self, tx: Tx, person_id: int, chat_id: int, since: int) -> bool:
        """Whether that person had something forgotten there since then, ms: a wish of theirs is hidden."""
        return tx.has(
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? AND hidden = 'forgotten' LIMIT 1",
            chat_id, person_id, since,
        )  # fmt: skip

    @reads
    def kept_from(self, tx: Tx, events: tuple[int, ...], owner_id: int) -> tuple[Memory, ...]:
        """What that person asked to keep in these messages."""
        return tx.all(
            f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ? AND memory.id IN "
            f"(SELECT derived_id FROM edge WHERE kind = 'memory' AND event_id IN ({placeholders(events)})) ORDER BY id",
            owner_id, *events, to=Memory,
        )  # fmt: skip

    async def forget_with_lines(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget memories and all that was said of a matter, with the receipt in one commit; its text. Once for a
        key; the lines are gone at once."""
        self._add_tombstones(forgetting.memories, at)
        return await self._scrub(
            lambda tx: forget_with_lines(tx, forgetting, receipt, at, self._files), forgetting.purge_at, at
        )

    async def take_back_line(self, what: RepliedLine, purge_at: int | None, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key.

        What was asked to be kept in it can be undone until `purge_at` (ms), with None it is purged now.
        """
        self._add_tombstones(what.memories, at)
        return await self._scrub(lambda tx: self._unsay(tx, what, purge_at, receipt, at), purge_at, at)

    def _add_tombstones(self, memories: tuple[Memory, ...], at: int) -> None:
        for memory in memories:
            for text in memory.wordings:
                self._files.tombstones.add_tombstone(memory.id, text, at)

    def _unsay(self, tx: Tx, what: RepliedLine, purge_at: int | None, receipt: Receipt, at: int) -> str:
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        delete_lines(tx, lines_of_message(tx, what.chat_id, what.target), at, self._files)
        for memory in what.memories:  # ended by that already, but these can be undone
            forgetting = Forgetting((memory,), memory.owner_id or 0, purge_at)
            disable_memories(tx, forgetting, receipt.chat_id, at, self._files)
        number = what.memories[0].id if what.memories else 0
        text = receipt.text(number, len(what.memories) > 1)
        return store_receipt(tx, receipt, text, at, number if purge_at is not None else 0)

    @writes
    def set_aside(
        self, tx: Tx, events: tuple[int, ...], forgetting: Forgetting | None, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        """Mark these messages and the replies to them, with the receipt in one commit; its text. Once for each key."""
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        marked = set(events) | replies_to(tx, None, set(events), set())
        for number in marked:
            tx.run("UPDATE event SET off_record = 1 WHERE id = ?", number)
        tx.link("aside", receipt.event_id, marked)
        index_lines(tx, marked)
        remove_from_notes(tx, self._files, RemovedContent(frozenset(marked)), at)
        empty_digests(tx, marked, at)
        # What others said and promised stays theirs.
        own = tx.ids(
            f"SELECT id FROM event WHERE id IN ({placeholders(marked)}) AND (person_id = ? OR person_id IS NULL) "
            "ORDER BY id",
            *marked, receipt.person_id,
        )  # fmt: skip
        withdraw_promises(tx, own)
        for number in own:
            for memory_id in tx.ids(
                "SELECT memory.id FROM edge JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory' "
                "AND event_id = ? AND asked = 0 AND disabled_at IS NULL",
                number,
            ):
                end_memory(tx, memory_id, "derived", at, at)
        changed = 0
        if forgetting is not None:
            disable_memories(tx, forgetting, receipt.chat_id, at, self._files)
            changed = forgetting.memories[0].id if forgetting.purge_at is not None else 0
        return store_receipt(tx, receipt, receipt.text(changed, forgetting is not None), at, changed)


def forget_with_lines(
    tx: Tx, forgetting: Forgetting, receipt: Receipt, at: int, files: DataFiles
) -> str:  # fmt: skip
    """What was said of it and all that was made of that is gone, then the memories; the receipt's text."""
    if (before := earlier_receipt(tx, receipt, at)) is not None:
        return before
    if forgetting.lines:
        delete_lines(tx, dict(forgetting.lines), at, files)
    return forget_memories(tx, forgetting, receipt, at, files)


def _reply_of(tx: Tx, event_id: int) -> tuple[int, str]:
    """The chat of a message, and the id of what it replies to."""
    chat_id, target = tx.row("SELECT chat_id, target FROM event WHERE id = ?", event_id)
    return chat_id, target


def _answered(tx: Tx, turn_id: int | None) -> set[int]:
    """The people whose messages a turn answered."""
    return set(tx.ids(
        "SELECT person_id FROM turn WHERE id = ?1 UNION SELECT person_id FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = ?1 AND person_id IS NOT NULL",
        turn_id,
    ))  # fmt: skip


def _commanded(tx: Tx, receipt: str) -> set[int]:
    """The people whose commands got this receipt."""
    keys = tx.all("SELECT key FROM effect WHERE result = ? AND key LIKE 'event:%'", receipt)
    events = {int(key.split(":")[1]) for (key,) in keys}
    return tx.ids_for("SELECT person_id FROM event WHERE id = ? AND person_id IS NOT NULL", events)


def _kept(tx: Tx, event_id: int, chat_id: int, person_id: int, text: str) -> tuple[Memory, ...]:
    """The memories that were asked to be kept in a message, or by pointing at it."""
    return tx.all(
        f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ?1 AND (memory.id IN (SELECT "
        "derived_id FROM edge WHERE kind = 'memory' AND event_id = ?2) "
        "OR (folded = ?3 AND folded <> '' AND chat_id = ?4))",
        person_id, event_id, fold(text.strip()), chat_id, to=Memory,
    )  # fmt: skip


class Sharing(ScrubbingRepository):
    """Who may see a memory, as its owner says."""

    @writes
    def share(self, tx: Tx, memory: Memory, at: int) -> bool:
        """From now on it is told wherever its owner speaks; False when it is so already, or is gone."""
        found = tx.one(f"{SELECT_MEMORY}WHERE id = ? AND disabled_at IS NULL", memory.id, to=Memory)
        if found is None or found.owner_id is None or found.visibility == "public":
            return False
        _move(tx, found, "public", at)
        return True

    @writes
    def unshare(self, tx: Tx, memory: Memory, at: int) -> Visibility | None:
        """It is of the chat again in which it was told, of its owner alone if that was a DM; None when not shared.

        Elsewhere no log tells it any more, and what nuan said of it there is not shown again.
        """
        found = tx.one(
            f"{SELECT_MEMORY}WHERE id = ? AND disabled_at IS NULL AND visibility = 'public'", memory.id, to=Memory
        )
        kind = None if found is None else tx.value("SELECT kind FROM chat WHERE id = ?", found.chat_id)
        if found is None or kind is None:
            return None
        back: Visibility = "private" if kind == "dm" else "chat"
        _move(tx, found, back, at)
        _end_logs_elsewhere(tx, memory, back, at, self._files)
        return back


def _move(tx: Tx, memory: Memory, seen: Visibility, at: int) -> None:
    """It takes the place of what its owner has there already: the same, or another name."""
    replace_same(tx, replace(memory, visibility=seen), at)
    tx.run("UPDATE memory SET visibility = ? WHERE id = ?", seen, memory.id)
    index_memory(tx, memory.id)


def _end_logs_elsewhere(tx: Tx, memory: Memory, back: Visibility, at: int, files: DataFiles) -> None:
    """Logs that were told it where it may not be told any more end, and nuan's own words of it go with them."""
    if back == "private":
        elsewhere, who = "NOT (chat.kind = 'dm' AND turn.person_id IS NOT DISTINCT FROM ?)", memory.owner_id
    else:
        elsewhere, who = "chat.id <> ?", memory.chat_id
    turns = tx.ids(
        "SELECT turn.id FROM turn_memory JOIN turn ON turn.id = turn_id JOIN chat ON chat.id = turn.chat_id "
        f"WHERE memory_id = ? AND {elsewhere}",
        memory.id, who,
    )  # fmt: skip
    logs = tx.ids_for(
        "SELECT epoch_id FROM turn WHERE id = ?1 UNION SELECT epoch_id FROM entry WHERE turn_id = ?1", turns
    )
    said = {number for number, text in own_lines(tx, logs) if any(echoes(wording, text) for wording in memory.wordings)}
    remove_from_notes(tx, files, RemovedContent(frozenset(said)), at)
    end_logs(tx, logs)
    empty_digests(tx, said, at)
    hide_lines(tx, said, "forgotten")
