"""Memories: storing and confirming them, quotas, questions back, and the condition of who may see one."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from bot.core.clock import MINUTE_MS
from bot.core.events import Button, Draft
from bot.core.memories import (
    INTO_OLDER,
    MOST_IMPORTANCE,
    STABILITY_DAYS,
    KeepQuota,
    Memory,
    MemoryQuestion,
    MergeRule,
    NewMemory,
    QuestionKind,
    QuotaExcess,
    Visibility,
    name_slot,
    no_merge,
)
from bot.core.people import Audience
from bot.store.engine import Repository
from bot.store.events import finish_events
from bot.store.index import index_lines, index_memory, sort_memory
from bot.store.outbox import enqueue
from bot.store.schema import IS_NAME, NAME_SLOT, SELECT_MEMORY, memory_of, placeholders
from bot.store.supersession import make_current, merge_memories, near_memories, one_current
from bot.store.transactions import Tx
from bot.text.fold import fold

ADDRESS_LABEL = "address"

_CHATS = """SELECT chat.id FROM memory JOIN chat ON CASE memory.visibility WHEN 'chat' THEN chat.id = memory.chat_id
    ELSE EXISTS (SELECT 1 FROM member WHERE member.chat_id = chat.id AND person_id = memory.owner_id)
    AND (chat.kind = 'dm' OR memory.visibility = 'public') END
    WHERE memory.id = ? AND EXISTS (SELECT 1 FROM session WHERE session.chat_id = chat.id AND state = 'open')"""
"""The chats with a log under way in which a memory may be told."""


def tell_address(db: Tx, number: int, words: Callable[[str, str], str], at: int) -> None:
    """Within a transaction: a wish how to be addressed holds now; `words` says it from its slot and name. Others are
    not told.
    """
    row = db.execute(
        "SELECT slot, text, owner_id, person.name FROM memory JOIN person ON person.id = owner_id "
        "WHERE memory.id = ? AND slot IN ('address', 'no_address') AND disabled_at IS NULL",
        (number,),
    ).fetchone()
    if row is None:
        return
    for (chat_id,) in db.execute(_CHATS, (number,)).fetchall():
        event = db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, name, text, label, state) "
            "VALUES (?, ?, 'event', ?, ?, ?, ?, 'done')",
            (chat_id, at, row[2], row[3], words(row[0], row[1]), ADDRESS_LABEL),
        ).lastrowid
        db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)", (number, event))


def address_lines(db: Tx, events: Iterable[int]) -> set[int]:
    """Within a transaction: the lines by which logs were told of wishes in these messages."""
    return {
        cast("int", row[0])
        for number in sorted(events)
        for row in db.execute(
            "SELECT event.id FROM edge AS said JOIN edge AS told ON told.kind = 'memory' AND told.derived_id = "
            "said.derived_id JOIN event ON event.id = told.event_id WHERE said.kind = 'memory' AND said.event_id = ? "
            "AND event.label = ? AND event.hidden = ''",
            (number, ADDRESS_LABEL),
        )
    }


SELECT_QUESTION = "SELECT person_id, kind, memories, forever FROM question WHERE chat_id = ?1 AND until > ?2"


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question with the instant, ms, until which an answer counts."""

    question: MemoryQuestion
    until: int


class Questions(Repository):
    """One open question for each person of a chat."""

    async def drop(self, chat_id: int, person_id: int) -> None:
        """They spoke of something else: what they say later answers nothing."""
        await self._database.write(lambda db: ask_back(db, chat_id, person_id, None))


def ask_back(db: Tx, chat_id: int, person_id: int, asked: OpenQuestion | None) -> None:
    """Within a transaction: the question of a receipt takes the place of the one before; without one nothing is
    asked.
    """
    db.execute("DELETE FROM question WHERE chat_id = ? AND person_id = ?", (chat_id, person_id))
    if asked is not None:
        question = asked.question
        db.execute(
            "INSERT INTO question (chat_id, person_id, kind, memories, forever, until) VALUES (?, ?, ?, ?, ?, ?)",
            (chat_id, person_id, question.kind, json.dumps(question.memories), int(question.forever), asked.until),
        )


def question_of(row: tuple[object, ...]) -> tuple[int, MemoryQuestion]:
    """A row of PENDING: whom it asks, and what."""
    person_id, kind, memories, forever = row
    return cast("int", person_id), MemoryQuestion(
        cast("QuestionKind", kind), tuple(json.loads(str(memories))), bool(forever)
    )  # fmt: skip


ROWS_WITH_FORGOTTEN = 2
"""With what was forgotten and can still be taken back a person has at most so many times `most` rows."""

_COUNTED = """SELECT coalesce(sum(asked AND disabled_at IS NULL), 0), coalesce(sum(asked), 0),
    coalesce(sum(source = 'command' AND created_at > ?2), 0) FROM memory WHERE owner_id = ?1"""


def quota_excess(db: Tx, new: NewMemory, quota: KeepQuota, at: int) -> QuotaExcess:
    """Within a transaction: the limit that one memory more of this owner would pass. A new name takes the place of the
    last.
    """
    kept, rows, lately = db.execute(_COUNTED, (new.owner_id, at - MINUTE_MS)).fetchone()
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
class StatementKey:
    """What makes two memories the same: whose, where, which slot, and the folded text."""

    owner_id: int | None
    chat_id: int
    visibility: Visibility
    slot: str
    folded: str


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


def store_memory(db: Tx, new: NewMemory, at: int, merging: MergeRule = no_merge) -> StoredMemory:
    """Within a transaction: store a statement, or count it once more where the same owner already has it in the same
    place.

    `merging` decides what becomes of one that is only much like others of the same owner in the same place. The same
    event tells nothing once more: a digest may find what its message already had kept.
    """
    folded = fold(new.text)
    number = known_memory(db, new)
    if number is not None:
        _count(db, number, new, at)
        _prove(db, number, new)
        make_current(db, number, new, at)
        return StoredMemory(number, True)
    found = () if name_slot(new.slot) or new.replaces else merging(new, near_memories(db, new))
    into = next((each for each in found if each.how in INTO_OLDER), None)
    if into is not None:
        merge_memories(db, into.older.id, new, into, at)
        if new.slot:
            _fill(db, into.older.id, new)
            make_current(db, into.older.id, new, at)
        return StoredMemory(into.older.id, True)
    number = _insert(db, new, folded, at)
    _prove(db, number, new)
    make_current(db, number, new, at)
    for each in found:
        merge_memories(db, number, new, each, at)
    return StoredMemory(number, False)


def known_memory(db: Tx, new: NewMemory) -> int | None:
    """Within a transaction: the number of the same statement of the same owner in the same place, if it is there."""
    same = db.execute(
        f"SELECT id FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND {NAME_SLOT} = ? AND "
        "disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)",
        (new.owner_id, fold(new.text), new.visibility, name_slot(new.slot), new.chat_id),
    ).fetchone()
    return cast("int", same[0]) if same is not None else None


def _prove(db: Tx, number: int, new: NewMemory) -> None:
    """It comes from these events."""
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
        [(number, event) for event in new.event_ids],
    )


def _count(db: Tx, number: int, new: NewMemory, at: int) -> None:
    """Told once more, unless it comes from the very events that are known; what was not known of it is filled in."""
    if not name_slot(new.slot):
        _fill(db, number, new)
    known = {
        row[0] for row in db.execute("SELECT event_id FROM edge WHERE kind = 'memory' AND derived_id = ?", (number,))
    }
    more = not (new.event_ids and known.issuperset(new.event_ids))
    db.execute(
        "UPDATE memory SET importance = min(?1, importance + ?3), asked = max(asked, ?4), "
        "updated_at = max(updated_at, ?2), accessed_at = max(accessed_at, ?2) WHERE id = ?5",
        (MOST_IMPORTANCE, at if more else 0, int(more), int(new.asked), number),
    )


def _fill(db: Tx, number: int, new: NewMemory) -> None:
    """What the same statement, said again, tells that was not known of it."""
    db.execute(
        "UPDATE memory SET slot = iif(slot = '', ?1, slot), subject = iif(subject = '', ?2, subject), "
        "lasting = max(lasting, ?3), observed_at = iif(dated = '' AND ?4 <> '', ?5, observed_at), "
        "dated = iif(dated = '', ?4, dated) WHERE id = ?6",
        (new.slot, new.subject, int(new.lasting), new.dated, new.observed_at, number),
    )


def _insert(db: Tx, new: NewMemory, folded: str, at: int) -> int:
    if name_slot(new.slot):
        replace_same(db, StatementKey(new.owner_id, new.chat_id, new.visibility, new.slot, folded), at)
    number = cast(
        "int",
        db.execute(
            "INSERT INTO memory (owner_id, chat_id, visibility, kind, slot, text, folded, asked, source, emotion, "
            "emotion_value, stability_days, accessed_at, observed_at, created_at, updated_at, agent, subject, lasting, "
            "said_at, dated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (new.owner_id, new.chat_id, new.visibility, new.kind, new.slot, new.text, folded, int(new.asked),
             new.source, new.emotion, new.emotion_value, STABILITY_DAYS[new.kind], at, new.observed_at, at, at,
             new.agent, new.subject, int(new.lasting), new.said_at or at, new.dated),
        ).lastrowid,
    )  # fmt: skip
    sort_memory(db, number)
    index_memory(db, number)
    return number


def replace_same(db: Tx, said: StatementKey, at: int) -> None:
    """Within a transaction: 叫我X ends the former name and a ban of X, 别叫我X ends X as the name to use.

    Anything ends its own copy.
    """
    ended = {
        "address": f"slot = 'address' OR ({IS_NAME} AND folded = ?)",
        "no_address": f"{IS_NAME} AND folded = ?",
        "": f"NOT {IS_NAME} AND folded = ?",
    }[said.slot]
    gone = db.execute(
        f"SELECT id FROM memory WHERE owner_id IS ? AND visibility = ? AND ({ended}) "
        "AND disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)",
        (said.owner_id, said.visibility, said.folded, said.chat_id),
    ).fetchall()
    for (number,) in gone:
        db.execute("UPDATE memory SET disabled_at = ?, disabled_reason = 'replaced' WHERE id = ?", (at, number))
        index_memory(db, number)


def store_receipt(db: Tx, receipt: Receipt, text: str, at: int, changed: int = 0) -> str:
    """Within a transaction: the receipt's line on the bus and, when nothing else will be said, in the outbox.

    `changed` is the memory whose change the receipt's buttons may take back, 0 for none.
    """
    if receipt.hide:
        # The command names what is to be forgotten; what it asks besides is still to be answered.
        gone = "" if receipt.rest else "forgotten"
        db.execute("UPDATE event SET text = ?, hidden = ? WHERE id = ?", (receipt.rest, gone, receipt.event_id))
        index_lines(db, (receipt.event_id,))
    aloud, text = text, receipt.logged(text)
    if receipt.last:
        said = receipt.whole(text)
        line = db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'memory', 'done')",
            (receipt.chat_id, at, said),
        ).lastrowid
        if receipt.send:
            offered = receipt.buttons(changed) if changed or receipt.asks is not None else ()
            _send(db, receipt, receipt.whole(aloud), at, offered, line)
    if receipt.person_id:
        ask_back(db, receipt.chat_id, receipt.person_id, receipt.asks)
    db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (receipt.key, text, at))
    return text


def earlier_receipt(db: Tx, receipt: Receipt, at: int) -> str | None:
    """Within a transaction: the text of a receipt that was committed before a crash.

    One that waited for a reply to be said with is said alone when meanwhile an edit left nothing to reply to.
    """
    row = db.execute("SELECT result FROM effect WHERE key = ?", (receipt.key,)).fetchone()
    if row is None:
        return None
    text = str(row[0])
    said = receipt.whole(text)
    line = "SELECT max(id) FROM event WHERE chat_id = ? AND kind = 'bot' AND label = 'memory' AND text = ?"
    number = db.execute(line, (receipt.chat_id, said)).fetchone()[0]
    if receipt.send and receipt.last and number is not None:
        if db.execute("SELECT 1 FROM outbox WHERE event_id = ?", (number,)).fetchone() is None:
            _send(db, receipt, said, at, (), number)
        elif not receipt.rest:
            finish_events(db, (receipt.event_id,), "done", "command")
    return text


def _send(db: Tx, receipt: Receipt, text: str, at: int, buttons: tuple[Button, ...], line: int | None) -> None:
    via = db.execute("SELECT via FROM event WHERE id = ?", (receipt.event_id,)).fetchone()
    draft = Draft(text, "receipt", via=via[0] if via else "", buttons=buttons)
    enqueue(db, receipt.chat_id, draft, at, event_id=line)
    if not receipt.rest:
        finish_events(db, (receipt.event_id,), "done", "command")


def answer_command(db: Tx, receipt: Receipt, at: int) -> str:
    """One transaction: a receipt for a command that changed nothing, once."""
    before = earlier_receipt(db, receipt, at)
    return store_receipt(db, receipt, receipt.text(0, False), at) if before is None else before


def remember_memory(
    db: Tx, memory: NewMemory, receipt: Receipt, at: int, merging: MergeRule = no_merge, *,
    rewrite: bool = False, quota: KeepQuota | None = None, refused: Callable[[QuotaExcess], str] = str,
) -> str:  # fmt: skip
    """One transaction: the memory and its receipt, once; a new one may wait to be put into other words.

    Where it would pass the quota, `refused` is the receipt and nothing is kept.
    """
    before = earlier_receipt(db, receipt, at)
    if before is not None:
        return before
    if over := quota_passed(db, memory, quota, at):
        return store_receipt(db, receipt, refused(over), at)
    stored = store_memory(db, memory, at, merging)
    if not stored.again:
        tell_address(db, stored.id, receipt.address, at)
    if rewrite and not stored.again:
        db.execute("INSERT OR REPLACE INTO rewriting (memory_id, due_at, attempts) VALUES (?, ?, 0)", (stored.id, at))
    return store_receipt(db, receipt, receipt.text(stored.id, stored.again), at, 0 if stored.again else stored.id)


def quota_passed(db: Tx, memory: NewMemory, quota: KeepQuota | None, at: int) -> QuotaExcess:
    """Within a transaction: the limit that keeping it would pass; what is known already takes no room."""
    return "" if quota is None or known_memory(db, memory) is not None else quota_excess(db, memory, quota, at)


def undo_forgetting(
    db: Tx, numbers: tuple[int, ...], whose: tuple[str, tuple[object, ...]], receipt: Receipt, at: int
) -> str | None:
    """One transaction: forgotten rows are active again, in place of what was said since; what was scrubbed stays
    scrubbed.
    """
    before = earlier_receipt(db, receipt, at)
    if before is not None:
        return before
    found = [number for number in numbers if _bring_back(db, number, whose, at)]
    for number in found:
        tell_address(db, number, receipt.address, at)
    return store_receipt(db, receipt, receipt.text(found[0], len(found) > 1), at) if found else None


def _bring_back(db: Tx, number: int, whose: tuple[str, tuple[object, ...]], at: int) -> bool:
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, {NAME_SLOT}, folded FROM memory WHERE id = ? "
        f"AND disabled_at IS NOT NULL AND purge_at > ? AND {whose[0]}",
        (number, at, *whose[1]),
    ).fetchone()
    if row is None:
        return False
    replace_same(db, StatementKey(*row), at)
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    one_current(db, row[0])
    return True


class Memories(Repository):
    """What lasts."""

    async def remember(
        self, memory: NewMemory, receipt: Receipt, at: int, merging: MergeRule = no_merge, *, rewrite: bool = False,
        quota: KeepQuota | None = None, refused: Callable[[QuotaExcess], str] = str,
    ) -> str:  # fmt: skip
        """Store what a person asked to keep and its receipt in one commit; the receipt's text. Once for each key.

        With `rewrite` it waits for a model to put it into a clean statement. Past the quota the receipt is what
        `refused` says, and nothing is stored.
        """
        return await self._database.write(
            lambda db: remember_memory(db, memory, receipt, at, merging, rewrite=rewrite, quota=quota, refused=refused)
        )

    async def passes(self, memory: NewMemory, quota: KeepQuota, at: int) -> QuotaExcess:
        """The limit that keeping it would pass now."""
        return await self._database.read(lambda db: quota_passed(db, memory, quota, at))

    async def is_done(self, key: str) -> bool:
        """Whether the command with that key was carried out before a crash."""
        return await self._database.row("SELECT 1 FROM effect WHERE key = ?", (key,)) is not None

    async def undo(
        self, numbers: tuple[int, ...], owner_id: int, audience: Audience, receipt: Receipt, at: int
    ) -> str | None:  # fmt: skip
        """Bring back forgotten memories of that owner while their rows are kept; None when there is none."""
        where, params = visible_memory(audience)
        whose = (f"owner_id = ? AND {where}", (owner_id, *params))
        return await self._database.write(lambda db: undo_forgetting(db, numbers, whose, receipt, at))

    async def answer(self, receipt: Receipt, at: int) -> str:
        """Store a receipt for a command that changed nothing; its text. Once for each key."""
        return await self._database.write(lambda db: answer_command(db, receipt, at))

    async def experiences_since(self, chat_id: int, since: int) -> int:
        """How many experiences a chat saved since that instant, ms."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE chat_id = ? AND source = 'tool' AND asked = 0 AND created_at >= ?",
            (chat_id, since),
        )
        return int(row[0]) if row else 0

    async def owned(self, owner_id: int, audience: Audience, *, forgotten: bool = False) -> tuple[Memory, ...]:
        """The memories of a person that this audience may see, archived ones too, newest first: what 忘记 may mean.

        With `forgotten` also those that can still be brought back: what 彻底忘记 may mean.
        """
        where, params = visible_memory(audience)
        reasons = "('archived', 'asked')" if forgotten else "('archived')"
        rows = await self._database.rows(
            SELECT_MEMORY + f"WHERE (disabled_at IS NULL OR disabled_reason IN {reasons}) AND owner_id = ? "
            f"AND {where} ORDER BY id DESC",
            (owner_id, *params),
        )
        return tuple(memory_of(row) for row in rows)


def visible_memory(audience: Audience, *, elsewhere: bool = True) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 and its parameters: private only in the owner's own DM, chat only there.

    What somebody said in a group is theirs in their own DM as well (unless `elsewhere` is False), but not how they are
    called in a group.
    """
    people = placeholders(audience.person_ids)
    public = f"(memory.visibility = 'public' AND (memory.owner_id IN ({people}) OR memory.owner_id IS NULL))"
    here = "(memory.visibility = 'chat' AND memory.chat_id = ?)"
    if audience.alone is None:
        return f"({here} OR {public})", (audience.chat_id, *audience.person_ids)
    kinds = f"memory.visibility = 'chat' AND NOT memory.{IS_NAME}" if elsewhere else "0"
    own = f"(memory.owner_id = ? AND (memory.visibility = 'private' OR ({kinds})))"
    return f"({own} OR {here} OR {public})", (audience.alone, audience.chat_id, *audience.person_ids)
