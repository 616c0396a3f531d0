"""Memories on somebody's word: forgotten, taken back, kept off the record."""

import json
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from bot.core.clock import MINUTE_MS
from bot.core.memories import Memory, NumberedThing
from bot.core.people import Audience, Chat
from bot.store.commitments import drop_commitment, settle_commitment
from bot.store.engine import Repository, reading, reads, writes
from bot.store.index import index_lines
from bot.store.memories import Receipt, active_memory, earlier_receipt, store_receipt, visible_memory
from bot.store.reminders import MOVED_KEY, REMINDER_TEXT, end_reminders
from bot.store.removal import (
    ANNOUNCED,
    SCRUBBED_LINES,
    TOLD_THEN,
    Forgetting,
    carry_out,
    clear_off_record,
    disable_memories,
    final_key,
    forget_memories,
    keep_off_record,
    lines_of_message,
    mark_off_record,
    purge_now,
)
from bot.store.schema import GREATEST, SELECT_MEMORY, placeholders
from bot.store.sessions import clear_lines
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import repeating

TOGETHER_MS = 10_000
"""What was kept from one message within this time was one wish."""

AHEAD_MS, GOING_ON_MS = 10 * MINUTE_MS, MINUTE_MS
"""So soon after 我跟你说件事，别记 the thing is told, and so soon after each line of it (an activation window) it goes on."""

NEWEST = 50
"""Messages of a chat among which the announcement is looked for."""

PlanWish = Literal["set", "moved", "cancelled", "promised", "settled", "aside"]


@dataclass(frozen=True, slots=True)
class LastPlan:
    """What somebody last asked of reminders or promises, or of a line (aside): their numbers, and when, ms.

    `before` is when (ms) and by which rule each of them was to be said before it was moved.
    """

    kind: PlanWish
    numbers: tuple[int, ...]
    at: int
    before: tuple[tuple[int, str], ...] = ()


_HERE = "AND chat_id = coalesce(?, chat_id)"
_PLANS = f"""SELECT 'set', made_at, id FROM reminder WHERE person_id = ? {_HERE} AND ended_at IS NULL
    AND commitment_id IS NULL AND NOT EXISTS (SELECT 1 FROM effect WHERE key = '{MOVED_KEY}' || reminder.id)
    UNION ALL SELECT 'cancelled', ended_at, id FROM reminder WHERE person_id = ? {_HERE} AND outcome = 'cancelled'
    AND due_at > ? AND (commitment_id IS NULL OR EXISTS (
        SELECT 1 FROM commitment WHERE commitment.id = commitment_id AND commitment.ended_at IS NULL))
    UNION ALL SELECT 'promised', made_at, id FROM commitment WHERE owner_id = ? {_HERE} AND ended_at IS NULL
    AND source IN ('rule', 'tool')
    UNION ALL SELECT 'settled', ended_at, id FROM commitment WHERE owner_id = ? {_HERE} AND ended_at = updated_at
    AND text <> ''
    UNION ALL SELECT DISTINCT 'aside', at, event.id FROM edge JOIN event ON event.id = derived_id
    WHERE edge.kind = 'aside' AND person_id = ? AND chat_id = ? ORDER BY 2 DESC, 3"""
"""What can be taken back, the last wish first: of a person and, in a group, that group (NULL in a DM)."""


_MOVED = f"""SELECT effect.at, reminder.id, result FROM reminder JOIN effect ON key = '{MOVED_KEY}' || reminder.id
    WHERE person_id = ? AND reminder.chat_id = coalesce(?, reminder.chat_id) AND ended_at IS NULL"""
"""Reminders that were moved, with when and by which rule they were to be said before."""


@dataclass(frozen=True, slots=True)
class LastWish:
    """What somebody asked last: to `keep` these memories, or to forget them; `at` is when, ms."""

    keep: bool
    memories: tuple[Memory, ...]
    at: int


def _record_again(tx: Tx, aside: int, at: int) -> None:
    """The lines that this one set off the record are on it again; talks of that time are digested anew."""
    heard = tx.sources("aside", aside)
    tx.unlink("aside", aside)
    for number in heard:
        sql = (
            "UPDATE event SET off_record = 0 WHERE id = ? AND NOT EXISTS (SELECT 1 FROM session WHERE "
            "session.chat_id = event.chat_id AND close_reason = 'clear' AND event.id BETWEEN from_event + 1 AND upto_event)"
        )
        tx.run(sql, number)
        sql = (
            "UPDATE session SET digest_due_at = ? WHERE id IN (SELECT digest.session_id FROM edge JOIN digest "
            "ON digest.id = derived_id WHERE edge.kind = 'digest' AND event_id = ?)"
        )
        tx.run(sql, at, number)
    index_lines(tx, heard)


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


class MemoryForgetting(Repository):
    """What is told to be forgotten or taken back, and what can be brought back."""

    keeper = reading(active_memory)

    async def forget(self, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Disable, scrub every derived copy and store the receipt in one commit; the receipt's text. Once for a key.

        The lines are gone at once.
        """
        return await carry_out(self._database, forgetting, lambda tx: forget_memories(tx, forgetting, receipt, at), at)

    async def purge(self, now: int) -> int:
        """Delete the rows whose days for undo are over, and every trace of them in the files; how many."""
        return await purge_now(self._database, now)

    async def last_wish(self, owner_id: int, audience: Audience, since: int, now: int) -> LastWish | None:
        """The last wish of a person that this audience may see; what was kept before `since`, ms, stays."""
        gone, held = await self.forgotten(owner_id, audience, now), await self.kept_last(owner_id, audience, since)
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
    def forgot_for_good(self, tx: Tx, owner_id: int, chat_id: int) -> int:
        """When that person last had something forgotten there that cannot come back, ms; 0 for never."""
        return tx.number("SELECT at FROM effect WHERE key = ?", final_key(owner_id, chat_id))

    @reads
    def kept_last(self, tx: Tx, owner_id: int, audience: Audience, since: int) -> tuple[Memory, ...]:
        """The memories of the last message in which a person asked to keep something, not before `since`, ms."""
        where, params = visible_memory(audience, elsewhere=False)
        sql = (
            "WITH newest AS (SELECT id, created_at AS at FROM memory WHERE owner_id = ? AND disabled_at IS NULL "
            f"AND asked = 1 AND source IN ('command', 'tool') AND created_at >= ? AND {where} "
            "ORDER BY created_at DESC, id DESC LIMIT 1) "
            f"{SELECT_MEMORY}JOIN newest ON memory.id = newest.id OR (memory.owner_id = ? "
            f"AND memory.disabled_at IS NULL AND memory.asked = 1 AND {where} AND memory.created_at >= newest.at - ? "
            "AND EXISTS (SELECT 1 FROM edge AS one JOIN edge AS two ON one.event_id = two.event_id "
            "WHERE one.kind = 'memory' AND two.kind = 'memory' AND one.derived_id = memory.id "
            "AND two.derived_id = newest.id)) ORDER BY memory.id"
        )
        return tx.all(sql, owner_id, since, *params, owner_id, *params, TOGETHER_MS, to=Memory)

    @reads
    def plans(self, tx: Tx, person_id: int, chat_id: int, group: int | None, now: int) -> tuple[LastPlan, ...]:
        """What a person asked of reminders, promises and lines that can be taken back, the last wish first."""
        wishes: dict[tuple[PlanWish, int], list[int]] = {}
        whose = person_id, group
        for kind, at, number in tx.all(_PLANS, *whose, *whose, now, *whose, *whose, person_id, chat_id):
            wishes.setdefault((kind, at), []).append(number)
        found = [LastPlan(kind, tuple(numbers), at) for (kind, at), numbers in wishes.items()]
        for at, moved in groupby(tx.all(f"{_MOVED} ORDER BY 1, 2", *whose), key=lambda row: row[0]):
            before = {
                number: (due, rule) for _, number, told in moved for due, rule in (json.loads(told),) if due > now
            }
            if before:
                found.append(LastPlan("moved", tuple(before), at, tuple(before.values())))
        return tuple(sorted(found, key=lambda plan: -plan.at))

    @writes
    def take_back(self, tx: Tx, wish: LastPlan, owner_id: int, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key."""
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        match wish.kind:
            case "set":
                end_reminders(tx, wish.numbers, "cancelled", at)
            case "moved":
                for number, (due, rule) in zip(wish.numbers, wish.before, strict=True):
                    sql = "UPDATE reminder SET due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL"
                    tx.run(sql, due, rule, number)
                    tx.run("DELETE FROM effect WHERE key = ?", f"{MOVED_KEY}{number}")
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
    def told_beside(self, tx: Tx, numbers: tuple[int, ...]) -> tuple[Memory, ...]:
        """What was noted unasked of the lines that these memories are from, and goes with them; no copies of them."""
        here = placeholders(numbers)
        sql = (
            f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 0 AND memory.id NOT IN ({here}) AND owner_id IN "
            f"(SELECT owner_id FROM memory WHERE id IN ({here})) AND memory.id IN (SELECT two.derived_id FROM edge AS "
            "one JOIN edge AS two ON two.kind = 'memory' AND two.event_id = one.event_id "
            f"WHERE one.kind = 'memory' AND one.derived_id IN ({here})) ORDER BY memory.id"
        )
        beside = tx.all(sql, *numbers * 3, to=Memory)
        texts = [text for (text,) in tx.all(f"SELECT text FROM memory WHERE id IN ({here})", *numbers)]
        same = repeating(texts, [(memory.id, memory.text) for memory in beside])
        return tuple(memory for memory in beside if memory.id not in same)

    @reads
    def holds_again(self, tx: Tx, number: int, audience: Audience) -> Memory | None:
        """What holds again once this memory is taken back, if it took the place of something and is current."""
        where, params = visible_memory(audience)
        sql = (
            f"{SELECT_MEMORY}WHERE replaced_by = ? AND disabled_at IS NULL AND {where} "
            "AND EXISTS (SELECT 1 FROM memory AS new WHERE new.id = ? AND new.replaced_by IS NULL) "
            f"ORDER BY {GREATEST}(said_at, created_at) DESC, id DESC LIMIT 1"
        )
        return tx.one(sql, number, *params, number, to=Memory)

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
                by |= _answered(tx, turn_id) | (_commanded(tx, chat_id, text) if receipt else set())
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
    def said_by(self, tx: Tx, person_id: int, chat: Chat) -> tuple[tuple[int, int, str], ...]:
        """What that person said, oldest first: number, when (ms), text; in a group only there, else in their DMs."""
        here = "" if chat.kind == "group" else "OR chat_id IN (SELECT id FROM chat WHERE kind = 'dm')"
        sql = (
            "SELECT id, at, text FROM event WHERE person_id = ? AND kind = 'message' AND hidden = '' AND text <> '' "
            f"AND (chat_id = ? {here}) ORDER BY id DESC LIMIT {SCRUBBED_LINES}"
        )
        rows = tx.all(sql, person_id, chat.id)
        return tuple((number, at, text) for number, at, text in reversed(rows))

    @reads
    def forgot_since(self, tx: Tx, person_id: int, chat_id: int, since: int) -> bool:
        """Whether that person had something forgotten there since then, ms: a wish of theirs is hidden."""
        sql = "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? AND hidden = 'forgotten' LIMIT 1"
        return tx.has(sql, chat_id, person_id, since)

    @reads
    def kept_from(self, tx: Tx, events: tuple[int, ...], owner_id: int) -> tuple[Memory, ...]:
        """What that person asked to keep in these messages."""
        sql = (
            f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ? AND memory.id IN "
            f"(SELECT derived_id FROM edge WHERE kind = 'memory' AND event_id IN ({placeholders(events)})) ORDER BY id"
        )
        return tx.all(sql, owner_id, *events, to=Memory)

    async def take_back_line(self, what: RepliedLine, purge_at: int | None, receipt: Receipt, at: int) -> str:
        """Take it back and store the receipt in one commit; the receipt's text. Once for each key.

        What was asked to be kept in it can be undone until `purge_at` (ms), with None it is purged now.
        """
        owner = next((memory.owner_id for memory in what.memories), None)
        forgetting = Forgetting(what.memories, owner or 0, purge_at)

        def take_back(tx: Tx) -> str:
            lines = tuple(lines_of_message(tx, what.chat_id, what.target).items())
            return forget_memories(tx, replace(forgetting, lines=lines), receipt, at)

        return await carry_out(self._database, forgetting, take_back, at)

    async def set_aside(
        self, events: tuple[int, ...], forgetting: Forgetting, receipt: Receipt, at: int, *, ahead: bool = False
    ) -> str:
        """Mark these messages and the replies to them, with the receipt in one commit; its text. Once for each key.

        `ahead`: what their writer tells next, too.
        """
        return await carry_out(
            self._database, forgetting, lambda tx: self._set_aside(tx, events, forgetting, receipt, at, ahead), at
        )

    @writes
    def clear_talk(self, tx: Tx, chat_id: int, upto_event: int, at: int) -> bool:
        """The talk of this chat that goes on, or the last one that has no digest yet, leaves nothing up to that event
        but what was asked to be kept, and no new log shows a line of it; whether there was one."""
        clear_lines(tx, chat_id, upto_event)
        sql = (
            "SELECT id, from_event FROM session WHERE chat_id = ? AND (state = 'open' OR (state = 'closing' "
            "AND digest_due_at IS NOT NULL)) ORDER BY id DESC LIMIT 1"
        )
        talk = tx.one(sql, chat_id)
        if talk is None:
            return False
        number, from_event = talk
        tx.run("UPDATE session SET close_reason = 'clear' WHERE id = ? AND state = 'closing'", number)
        clear_off_record(tx, chat_id, (from_event, upto_event), at)
        return True

    def _set_aside(
        self, tx: Tx, events: tuple[int, ...], forgetting: Forgetting, receipt: Receipt, at: int, ahead: bool
    ) -> str:
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        # What they told while the wish waited to be carried out.
        sql = (
            "SELECT id FROM event WHERE ? AND chat_id = ? AND id > ? AND person_id = ? AND kind = 'message' "
            "AND hidden = '' ORDER BY id"
        )
        later = tx.ids(sql, ahead, receipt.chat_id, receipt.event_id, receipt.person_id)
        keep_off_record(tx, receipt.event_id, (*events, *later), receipt.person_id, at)
        if ahead:
            mark_off_record(tx, (receipt.event_id,), ANNOUNCED)
            mark_off_record(tx, later, TOLD_THEN)
        changed = 0
        if forgetting.memories:
            disable_memories(tx, forgetting, receipt.chat_id, at)
            changed = forgetting.memories[0].id if forgetting.purge_at is not None else 0
        return store_receipt(tx, receipt, receipt.text(changed, bool(forgetting.memories)), at, changed)


def announced_before(tx: Tx, chat_id: int, person_id: int, at: int) -> int:
    """The message of that person that said that what they tell now, at `at`, is to be kept nowhere; 0: none did."""
    last = tx.one(
        "SELECT id, at, off_record FROM (SELECT id, at, off_record, person_id FROM event WHERE chat_id = ? "
        "AND kind = 'message' AND hidden NOT IN ('copy', 'command') ORDER BY id DESC LIMIT ?) AS newest WHERE person_id = ? ORDER BY id DESC LIMIT 1",
        chat_id,
        NEWEST,
        person_id,
    )
    if last is None:
        return 0
    number, said_at, mark = last
    if at - said_at > {ANNOUNCED: AHEAD_MS, TOLD_THEN: GOING_ON_MS}.get(mark, -1):
        return 0
    return number if mark == ANNOUNCED else next(iter(tx.derived("aside", number)), 0)


def _reply_of(tx: Tx, event_id: int) -> tuple[int, str]:
    """The chat of a message, and the id of what it replies to."""
    chat_id, target = tx.row("SELECT chat_id, target FROM event WHERE id = ?", event_id)
    return chat_id, target


def _answered(tx: Tx, turn_id: int | None) -> set[int]:
    """The people whose messages a turn answered."""
    sql = (
        "SELECT person_id FROM turn WHERE id = ? UNION SELECT person_id FROM turn_event JOIN event "
        "ON event.id = event_id WHERE turn_event.turn_id = ? AND person_id IS NOT NULL"
    )
    return set(tx.ids(sql, turn_id, turn_id))


def _commanded(tx: Tx, chat_id: int, receipt: str) -> set[int]:
    """The people whose commands in that chat got this receipt."""
    keys = tx.all("SELECT key FROM effect WHERE chat_id = ? AND result = ?", chat_id, receipt)
    events = {int(key.split(":")[1]) for (key,) in keys}
    return tx.ids_for("SELECT person_id FROM event WHERE id = ? AND person_id IS NOT NULL", events)


def _kept(tx: Tx, event_id: int, chat_id: int, person_id: int, text: str) -> tuple[Memory, ...]:
    """The memories that were asked to be kept in a message, or by pointing at it."""
    sql = (
        f"{SELECT_MEMORY}WHERE disabled_at IS NULL AND asked = 1 AND owner_id = ? AND (memory.id IN (SELECT "
        "derived_id FROM edge WHERE kind = 'memory' AND event_id = ?) "
        "OR (folded = ? AND folded <> '' AND chat_id = ?))"
    )
    return tx.all(sql, person_id, event_id, fold(text.strip()), chat_id, to=Memory)
