"""Memories: storing and confirming them, quotas, questions back, and the condition of who may see one."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.core.clock import MINUTE_MS
from bot.core.events import WISH_TAKEN, Button, Draft
from bot.core.memories import (
    INTO_OLDER,
    MOST_IMPORTANCE,
    STABILITY_DAYS,
    KeepQuota,
    Memory,
    MemoryQuestion,
    MergeRule,
    NewMemory,
    QuotaExcess,
    name_slot,
    no_merge,
)
from bot.core.people import Audience
from bot.store.engine import Repository, reading, reads, writes
from bot.store.events import add_line, finish_events
from bot.store.index import index_lines, index_memory, index_section, sort_memory
from bot.store.outbox import enqueue
from bot.store.schema import GREATEST, IS_NAME, LEAST, NAME_SLOT, SELECT_MEMORY, placeholders
from bot.store.supersession import bring_back, end_memory, make_current, merge_memories, near_memories, one_current
from bot.store.transactions import Tx
from bot.text.fold import fold

ADDRESS_LABEL = "address"

ROWS_WITH_FORGOTTEN = 2
"""With what was forgotten and can still be taken back a person has at most so many times `most` rows."""

TOLD_IN = """SELECT chat.id FROM memory JOIN chat ON chat.id IN (SELECT CASE memory.visibility WHEN 'chat' THEN
    memory.chat_id END UNION ALL SELECT chat_id FROM member WHERE person_id = memory.owner_id)
    WHERE memory.id = ? AND CASE memory.visibility WHEN 'chat' THEN chat.id = memory.chat_id WHEN 'public' THEN TRUE
    ELSE chat.kind = 'dm' END AND EXISTS (SELECT 1 FROM session WHERE session.chat_id = chat.id AND state = 'open')"""
"""The chats with a log under way in which a memory may be told."""

SAME_PLACE = """owner_id IS NOT DISTINCT FROM ? AND visibility = ? AND (visibility <> 'chat' OR chat_id = ?)
    AND disabled_at IS NULL"""
"""Active memories of that owner for those readers."""


def tell_address(tx: Tx, number: int, words: Callable[[str, str], str], at: int) -> None:
    """A wish how to be addressed holds now: logs are told, `words` says it from its slot and name. Other memories are
    not told.
    """
    row = tx.one(
        "SELECT slot, text, owner_id, person.name FROM memory JOIN person ON person.id = owner_id "
        f"WHERE memory.id = ? AND {IS_NAME} AND disabled_at IS NULL",
        number,
    )
    if row is None:
        return
    slot, name, person_id, person = row
    for chat_id in tx.ids(TOLD_IN, number):
        event = tx.insert(
            "event",
            chat_id=chat_id,
            at=at,
            kind="event",
            person_id=person_id,
            name=person,
            text=words(slot, name),
            label=ADDRESS_LABEL,
            state="done",
        )
        tx.link("memory", number, (event,))


def address_lines(tx: Tx, events: Iterable[int]) -> set[int]:
    """The lines by which logs were told of wishes in these messages."""
    sql = (
        "SELECT event.id FROM edge AS said JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = "
        "said.derived_id JOIN event ON event.id = told.event_id WHERE said.kind = 'memory' AND said.event_id = ? "
        "AND event.label = ? AND event.hidden = ''"
    )
    return tx.ids_for(sql, events, ADDRESS_LABEL)


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question with the instant, ms, until which an answer counts."""

    question: MemoryQuestion
    until: int


def ask_back(tx: Tx, chat_id: int, person_id: int, asked: OpenQuestion | None) -> None:
    """The question of a receipt takes the place of the one before; without one nothing is asked."""
    tx.run("DELETE FROM question WHERE chat_id = ? AND person_id = ?", chat_id, person_id)
    if asked is not None:
        question = asked.question
        tx.insert(
            "question",
            chat_id=chat_id,
            person_id=person_id,
            kind=question.kind,
            memories=json.dumps(question.memories),
            forever=int(question.forever),
            until=asked.until,
        )


def quota_excess(tx: Tx, new: NewMemory, quota: KeepQuota | None, at: int) -> QuotaExcess:
    """The limit that keeping it would pass. What is known takes no room; a new name takes that of the last."""
    if quota is None or known_memory(tx, new) is not None:
        return ""
    sql = (
        "SELECT count(*) FILTER (WHERE asked = 1 AND disabled_at IS NULL), coalesce(sum(asked), 0), "
        "count(*) FILTER (WHERE source = 'command' AND created_at > ?) FROM memory WHERE owner_id = ?"
    )
    kept, rows, lately = tx.all(sql, at - MINUTE_MS, new.owner_id)[0]
    if quota.minute is not None and lately >= quota.minute:
        return "often"
    full = quota.most is not None and (kept >= quota.most or rows >= ROWS_WITH_FORGOTTEN * quota.most)
    return "full" if full and new.slot != "address" else ""


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """The number of a memory, and whether it was there before."""

    id: int
    again: bool


@dataclass(frozen=True, slots=True)
class ReceiptQuote:
    """Words of a receipt that its reader sees, and what stands in their place wherever the receipt is stored."""

    said: str
    logged: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """How a memory command is confirmed: said at once, or handed to the reply that follows.

    `rest` is what the message asks besides. `key` makes it happen once; `text` gets the memory's number and whether
    it was known (or several were meant). `hide` empties the message: a command to forget names what is forgotten.
    `last`: no other command of the message comes after it; only the last is told and said, with the others: `whole`
    makes that of its own text. `asks` is what it asks the person back. `address` says how to address
    them, by slot and name. `quotes` are said and not stored: the bus, and what a later prompt
    tells, must not bring back what was forgotten.
    """

    event_id: int
    chat_id: int
    key: str
    text: Callable[[int, bool], str]
    send: bool
    rest: str = ""
    hide: bool = False
    last: bool = True
    buttons: Callable[[int], tuple[Button, ...]] = lambda number: ()
    whole: Callable[[str], str] = str
    person_id: int = 0
    asks: OpenQuestion | None = None
    address: Callable[[str, str], str] = lambda slot, text: text
    quotes: tuple[ReceiptQuote, ...] = ()

    def logged(self, text: str) -> str:
        """The text without its quotes."""
        for quote in self.quotes:
            text = text.replace(quote.said, quote.logged)
        return text


def store_memory(tx: Tx, new: NewMemory, at: int, merging: MergeRule = no_merge) -> StoredMemory:
    """Store a statement, or count it once more where the same owner already has it in the same place.

    `merging` decides what becomes of one that is only much like others of the same owner in the same place. The same
    event tells nothing once more: a digest may find what its message already had kept. What names the same statement as
    replaced has another day for it.
    """
    number = known_memory(tx, new)
    if number is not None and number not in new.replaces:
        _count(tx, number, new, at)
        tx.link("memory", number, new.event_ids)
        make_current(tx, number, new, at)
        return StoredMemory(number, True)
    found = () if name_slot(new.slot) or new.replaces else merging(new, near_memories(tx, new))
    into = next((each for each in found if each.how in INTO_OLDER), None)
    if into is not None:
        merge_memories(tx, into.older.id, new, into, at)
        if new.slot:
            _fill(tx, into.older.id, new)
            make_current(tx, into.older.id, new, at)
        return StoredMemory(into.older.id, True)
    if name_slot(new.slot):
        replace_same(tx, new, at)
    number = tx.insert(
        "memory",
        owner_id=new.owner_id,
        chat_id=new.chat_id,
        visibility=new.visibility,
        kind=new.kind,
        slot=new.slot,
        text=new.text,
        folded=fold(new.text),
        asked=int(new.asked),
        source=new.source,
        emotion=new.emotion,
        emotion_value=new.emotion_value,
        stability_days=STABILITY_DAYS[new.kind],
        accessed_at=at,
        observed_at=new.observed_at,
        created_at=at,
        updated_at=at,
        agent=new.agent,
        subject=new.subject,
        lasting=int(new.lasting),
        said_at=new.said_at or at,
        dated=new.dated,
    )
    sort_memory(tx, number)
    index_memory(tx, number)
    tx.link("memory", number, new.event_ids)
    make_current(tx, number, new, at)
    for each in found:
        merge_memories(tx, number, new, each, at)
    return StoredMemory(number, False)


def active_memory(tx: Tx, number: int) -> Memory | None:
    """The memory of that number, if it holds; whoever owns it."""
    return tx.one(f"{SELECT_MEMORY}WHERE memory.id = ? AND disabled_at IS NULL", number, to=Memory)


def known_memory(tx: Tx, said: NewMemory | Memory) -> int | None:
    """The number of the same statement of the same owner in the same place, if it is there, current before former."""
    number: int | None = tx.value(
        f"SELECT id FROM memory WHERE {SAME_PLACE} AND folded = ? AND {NAME_SLOT} = ? "
        "ORDER BY CASE WHEN former_at IS NULL THEN 0 ELSE 1 END, id DESC LIMIT 1",
        said.owner_id,
        said.visibility,
        said.chat_id,
        fold(said.text),
        name_slot(said.slot),
    )
    return number


def _count(tx: Tx, number: int, new: NewMemory, at: int) -> None:
    """Told once more, unless it comes from the very events that are known; what was not known of it is filled in."""
    if not name_slot(new.slot):
        _fill(tx, number, new)
    more = not (new.event_ids and tx.sources("memory", number).issuperset(new.event_ids))
    told_at = at if more else 0
    sql = (
        f"UPDATE memory SET importance = {LEAST}(?, importance + ?), asked = {GREATEST}(asked, ?), "
        f"updated_at = {GREATEST}(updated_at, ?), accessed_at = {GREATEST}(accessed_at, ?) WHERE id = ?"
    )
    tx.run(sql, MOST_IMPORTANCE, int(more), int(new.asked), told_at, told_at, number)
    index_section(tx, number)


def _fill(tx: Tx, number: int, new: NewMemory) -> None:
    """What the same statement, said again, tells that was not known of it."""
    sql = (
        "UPDATE memory SET slot = CASE slot WHEN '' THEN ? ELSE slot END, "
        f"subject = CASE subject WHEN '' THEN ? ELSE subject END, lasting = {GREATEST}(lasting, ?), "
        "observed_at = CASE WHEN dated = '' AND ? <> '' THEN ? ELSE observed_at END, "
        "dated = CASE dated WHEN '' THEN ? ELSE dated END WHERE id = ?"
    )
    tx.run(sql, new.slot, new.subject, int(new.lasting), new.dated, new.observed_at, new.dated, number)


def replace_same(tx: Tx, said: NewMemory | Memory, at: int) -> None:
    """叫我X ends the former name and a ban of X, 别叫我X ends X as the name to use; anything ends its own copy."""
    ended = {
        "address": f"slot = 'address' OR ({IS_NAME} AND folded = ?)",
        "no_address": f"{IS_NAME} AND folded = ?",
        "": f"NOT {IS_NAME} AND folded = ?",
    }[name_slot(said.slot)]
    place = said.owner_id, said.visibility, said.chat_id
    for number in tx.ids(f"SELECT id FROM memory WHERE {SAME_PLACE} AND ({ended})", *place, fold(said.text)):
        end_memory(tx, number, "replaced", at)


def bring_back_forgotten(tx: Tx, number: int, at: int, whose: str = "1", *values: object) -> Memory | None:
    """A row that is kept for undo is active again, in place of what was said since; None when there is none, or it
    is not of `whose` (a condition and its values). What was scrubbed stays scrubbed.
    """
    sql = f"{SELECT_MEMORY}WHERE id = ? AND disabled_at IS NOT NULL AND purge_at > ? AND {whose}"
    memory = tx.one(sql, number, at, *values, to=Memory)
    if memory is not None:
        replace_same(tx, memory, at)
        bring_back(tx, number, at)
    return memory


def chats_of_memory(tx: Tx, memory: Memory) -> set[int]:
    """The chats in which it may have been told: its own, and unless it was only for that one, all of its owner's."""
    if memory.visibility == "chat":
        return {memory.chat_id}
    sql = (
        "SELECT chat_id FROM member WHERE person_id = ? "
        "UNION SELECT chat_id FROM conversation_window WHERE person_id = ?"
    )
    return {
        memory.chat_id,
        *tx.ids(sql, memory.owner_id, memory.owner_id),
    }


def begin_logs_anew(tx: Tx, chats: Iterable[int]) -> None:
    """The open logs of these chats begin anew, and with them what they were told from memory."""
    opened = "SELECT id FROM session WHERE state = 'open' AND chat_id = ?"
    for chat_id in sorted(chats):
        tx.run(f"UPDATE epoch SET stale = 'memory' WHERE stale = '' AND session_id IN ({opened})", chat_id)


def store_receipt(tx: Tx, receipt: Receipt, text: str, at: int, changed: int = 0) -> str:
    """The receipt's line on the bus and, when nothing else will be said, in the outbox.

    `changed` is the memory whose change the receipt's buttons may take back, 0 for none.
    """
    if receipt.hide:
        # The command names what is to be forgotten; what it asks besides is still to be answered.
        gone = "" if receipt.rest else "forgotten"
        emptied = "UPDATE event SET text = ?, hidden = ?, label = ? WHERE id = ?"
        tx.run(emptied, receipt.rest, gone, WISH_TAKEN if receipt.rest else "", receipt.event_id)
        index_lines(tx, (receipt.event_id,))
    aloud, text = text, receipt.logged(text)
    if receipt.last:
        line = add_line(tx, receipt.chat_id, receipt.whole(text), at, "memory")
        if receipt.send:
            offered = receipt.buttons(changed) if changed or receipt.asks is not None else ()
            _send(tx, receipt, receipt.whole(aloud), at, offered, line)
    if receipt.person_id:
        ask_back(tx, receipt.chat_id, receipt.person_id, receipt.asks)
    tx.insert("effect", key=receipt.key, result=text, at=at, chat_id=receipt.chat_id)
    return text


def earlier_receipt(tx: Tx, receipt: Receipt, at: int) -> str | None:
    """The text of a receipt that was committed before a crash.

    One that waited for a reply to be said with is said alone when meanwhile an edit left nothing to reply to.
    """
    text: str | None = tx.value("SELECT result FROM effect WHERE key = ?", receipt.key)
    if text is None:
        return None
    said = receipt.whole(text)
    line = "SELECT max(id) FROM event WHERE chat_id = ? AND kind = 'bot' AND label = 'memory' AND text = ?"
    number = tx.value(line, receipt.chat_id, said)
    if receipt.send and receipt.last and number is not None:
        if not tx.has("SELECT 1 FROM outbox WHERE event_id = ?", number):
            _send(tx, receipt, said, at, (), number)
        elif not receipt.rest:
            finish_events(tx, (receipt.event_id,), "command")
    return text


def _send(tx: Tx, receipt: Receipt, text: str, at: int, buttons: tuple[Button, ...], line: int) -> None:
    via = tx.value("SELECT via FROM event WHERE id = ?", receipt.event_id) or ""
    enqueue(tx, receipt.chat_id, Draft(text, "receipt", via=via, buttons=buttons), at, event_id=line)
    if not receipt.rest:
        finish_events(tx, (receipt.event_id,), "command")


class KeptMemories(Repository):
    """What lasts."""

    passes = reading(quota_excess)

    @writes
    def remember(
        self,
        tx: Tx,
        memory: NewMemory,
        receipt: Receipt,
        at: int,
        merging: MergeRule = no_merge,
        *,
        rewrite: bool = False,
        quota: KeepQuota | None = None,
        refused: Callable[[QuotaExcess], str] = str,
    ) -> str:
        """Store what a person asked to keep and its receipt in one commit; the receipt's text. Once for each key.

        With `rewrite` it waits for a model to put it into a clean statement. Past the quota the receipt is what
        `refused` says, and nothing is stored.
        """
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        if over := quota_excess(tx, memory, quota, at):
            return store_receipt(tx, receipt, refused(over), at)
        stored = store_memory(tx, memory, at, merging)
        if stored.again:
            return store_receipt(tx, receipt, receipt.text(stored.id, True), at)
        tell_address(tx, stored.id, receipt.address, at)
        if rewrite:
            tx.insert("rewriting", memory_id=stored.id, due_at=at, attempts=0)
        return store_receipt(tx, receipt, receipt.text(stored.id, False), at, stored.id)

    @reads
    def is_done(self, tx: Tx, key: str) -> bool:
        """Whether the command with that key was carried out before a crash."""
        return tx.has("SELECT 1 FROM effect WHERE key = ?", key)

    @writes
    def undo(
        self, tx: Tx, numbers: tuple[int, ...], owner_id: int, audience: Audience, receipt: Receipt, at: int
    ) -> str | None:
        """Bring back forgotten memories of that owner while their rows are kept; None when there is none."""
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        where, params = visible_memory(audience)
        found: list[int] = []
        for number in numbers:
            if bring_back_forgotten(tx, number, at, f"owner_id = ? AND {where}", owner_id, *params) is not None:
                one_current(tx, owner_id)
                found.append(number)
        for number in found:
            tell_address(tx, number, receipt.address, at)
        return store_receipt(tx, receipt, receipt.text(found[0], len(found) > 1), at) if found else None

    @writes
    def answer(self, tx: Tx, receipt: Receipt, at: int) -> str:
        """Store a receipt for a command that changed nothing; its text. Once for each key."""
        before = earlier_receipt(tx, receipt, at)
        return store_receipt(tx, receipt, receipt.text(0, False), at) if before is None else before

    @writes
    def drop_question(self, tx: Tx, chat_id: int, person_id: int) -> None:
        """They spoke of something else: what they say later answers no open question."""
        ask_back(tx, chat_id, person_id, None)

    @writes
    def leave_question(self, tx: Tx, chat_id: int, person_id: int, at: int) -> None:
        """What they said is no plain answer: nothing later is one, and whether it is one a model tells."""
        sql = "UPDATE question SET until = ? WHERE chat_id = ? AND person_id = ? AND until > ?"
        tx.run(sql, at, chat_id, person_id, at)

    @reads
    def experiences_since(self, tx: Tx, chat_id: int, since: int) -> int:
        """How many experiences a chat saved since that instant, ms."""
        experiences = "source = 'tool' AND asked = 0 AND created_at >= ?"
        return tx.number(f"SELECT count(*) FROM memory WHERE chat_id = ? AND {experiences}", chat_id, since)

    @reads
    def owned(self, tx: Tx, owner_id: int, audience: Audience, *, forgotten: bool = False) -> tuple[Memory, ...]:
        """The memories of a person that this audience may see, archived ones too, newest first: what 忘记 may mean.

        With `forgotten` also those that can still be brought back: what 彻底忘记 may mean.
        """
        where, params = visible_memory(audience)
        reasons = "('archived', 'asked')" if forgotten else "('archived')"
        sql = (
            f"{SELECT_MEMORY}WHERE (disabled_at IS NULL OR disabled_reason IN {reasons}) AND owner_id = ? "
            f"AND {where} ORDER BY id DESC"
        )
        return tx.all(sql, owner_id, *params, to=Memory)


def visible_memory(audience: Audience, *, elsewhere: bool = True) -> tuple[str, tuple[object, ...]]:
    """Which memories an audience may see, as `visible_rows`.

    What somebody said in a group is theirs in their own DM as well (unless `elsewhere` is False), but not how they are
    called in a group.
    """
    return visible_rows(
        audience, "memory", f"memory.visibility = 'chat' AND NOT memory.{IS_NAME}" if elsewhere else "FALSE"
    )


def visible_rows(audience: Audience, table: str, own: str = "FALSE") -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 and its parameters: private only in the owner's own DM, chat only there.

    `own` says what else its owner may see in their own DM.
    """
    people = placeholders(audience.person_ids)
    public = f"({table}.visibility = 'public' AND ({table}.owner_id IN ({people}) OR {table}.owner_id IS NULL))"
    here = f"({table}.visibility = 'chat' AND {table}.chat_id = ?)"
    if audience.alone is None:
        return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)
    private = f"({table}.owner_id = ? AND ({table}.visibility = 'private' OR ({own})))"
    return f"({private} OR {here} OR {public})", (audience.alone, audience.chat_id, *audience.person_ids)
