"""The verbs behind memories: store a statement, confirm a command, bring something back. Nothing is looked up here."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from bot.store.addressing import tell_address
from bot.store.current import one_current, supersede
from bot.store.events import finish
from bot.store.indexing import index_lines, index_memory
from bot.store.merges import merge, near
from bot.store.outbox import put
from bot.store.questions import Asked, ask
from bot.store.quotas import excess
from bot.store.rows import IS_NAME, NAME_SLOT
from bot.store.sorting import sort_memory
from bot.text.fold import fold
from bot.types.memory import MOST_IMPORTANCE, STABILITY_DAYS, NewMemory, Visibility, name_slot
from bot.types.merging import INTO_OLDER, Merging, keep_apart
from bot.types.outgoing import Button, Draft
from bot.types.quota import Excess, Quota


@dataclass(frozen=True, slots=True)
class Stored:
    """The number of a memory, and whether it was there before."""

    id: int
    again: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """What makes two memories the same: whose, where, which slot, and the folded text."""

    owner_id: int | None
    chat_id: int
    visibility: Visibility
    slot: str
    folded: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """How a memory command is confirmed: said at once, or handed to the reply that follows.

    `rest` is what the message asks besides. `key` makes it happen once; `text` gets the memory's number and whether
    it was known (or several were meant). `hide` empties the message: a command to forget names what is forgotten.
    `last`: no other command of the message comes after it; only the last is told and said, with the others: `whole`
    makes that of its own text. `asks` is what it asks the person back. `address` says how to address
    them, by slot and name.
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
    asks: Asked | None = None
    address: Callable[[str, str], str] = lambda slot, text: text


def store_memory(db: sqlite3.Connection, new: NewMemory, at: int, merging: Merging = keep_apart) -> Stored:
    """Verb part: store a statement, or count it once more where the same owner already has it in the same place.

    `merging` decides what becomes of one that is only much like others of the same owner in the same place. The same
    event tells nothing once more: a digest may find what its message already had kept.
    """
    folded = fold(new.text)
    number = known(db, new)
    if number is not None:
        _count(db, number, new, at)
        _prove(db, number, new)
        supersede(db, number, new, at)
        return Stored(number, True)
    found = () if name_slot(new.slot) or new.replaces else merging(new, near(db, new))
    into = next((each for each in found if each.how in INTO_OLDER), None)
    if into is not None:
        merge(db, into.older.id, new, into, at)
        if new.slot:
            _fill(db, into.older.id, new)
            supersede(db, into.older.id, new, at)
        return Stored(into.older.id, True)
    number = _insert(db, new, folded, at)
    _prove(db, number, new)
    supersede(db, number, new, at)
    for each in found:
        merge(db, number, new, each, at)
    return Stored(number, False)


def known(db: sqlite3.Connection, new: NewMemory) -> int | None:
    """Verb part: the number of the same statement of the same owner in the same place, if it is there."""
    same = db.execute(
        f"SELECT id FROM memory WHERE owner_id IS ? AND folded = ? AND visibility = ? AND {NAME_SLOT} = ? AND "
        "disabled_at IS NULL AND (visibility <> 'chat' OR chat_id = ?)",
        (new.owner_id, fold(new.text), new.visibility, name_slot(new.slot), new.chat_id),
    ).fetchone()
    return cast("int", same[0]) if same is not None else None


def _prove(db: sqlite3.Connection, number: int, new: NewMemory) -> None:
    """It comes from these events."""
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
        [(number, event) for event in new.event_ids],
    )


def _count(db: sqlite3.Connection, number: int, new: NewMemory, at: int) -> None:
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


def _fill(db: sqlite3.Connection, number: int, new: NewMemory) -> None:
    """What the same statement, said again, tells that was not known of it."""
    db.execute(
        "UPDATE memory SET slot = iif(slot = '', ?1, slot), subject = iif(subject = '', ?2, subject), "
        "lasting = max(lasting, ?3), observed_at = iif(dated = '' AND ?4 <> '', ?5, observed_at), "
        "dated = iif(dated = '', ?4, dated) WHERE id = ?6",
        (new.slot, new.subject, int(new.lasting), new.dated, new.observed_at, number),
    )


def _insert(db: sqlite3.Connection, new: NewMemory, folded: str, at: int) -> int:
    if name_slot(new.slot):
        replace_same(db, Statement(new.owner_id, new.chat_id, new.visibility, new.slot, folded), at)
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


def replace_same(db: sqlite3.Connection, said: Statement, at: int) -> None:
    """Verb part: 叫我X ends the former name and a ban of X, 别叫我X ends X as the name to use.

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


def confirm(db: sqlite3.Connection, receipt: Receipt, text: str, at: int, changed: int = 0) -> str:
    """Verb part: the receipt's line on the bus and, when nothing else will be said, in the outbox.

    `changed` is the memory whose change the receipt's buttons may take back, 0 for none.
    """
    if receipt.hide:
        # The command names what is to be forgotten; what it asks besides is still to be answered.
        gone = "" if receipt.rest else "forgotten"
        db.execute("UPDATE event SET text = ?, hidden = ? WHERE id = ?", (receipt.rest, gone, receipt.event_id))
        index_lines(db, (receipt.event_id,))
    if receipt.last:
        said = receipt.whole(text)
        line = db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, 'memory', 'done')",
            (receipt.chat_id, at, said),
        ).lastrowid
        if receipt.send:
            offered = receipt.buttons(changed) if changed or receipt.asks is not None else ()
            _send(db, receipt, said, at, offered, line)
    if receipt.person_id:
        ask(db, receipt.chat_id, receipt.person_id, receipt.asks)
    db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (receipt.key, text, at))
    return text


def done_before(db: sqlite3.Connection, receipt: Receipt, at: int) -> str | None:
    """Verb part: the text of a receipt that was committed before a crash.

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
            finish(db, (receipt.event_id,), "done", "command")
    return text


def _send(
    db: sqlite3.Connection, receipt: Receipt, text: str, at: int, buttons: tuple[Button, ...], line: int | None
) -> None:
    via = db.execute("SELECT via FROM event WHERE id = ?", (receipt.event_id,)).fetchone()
    draft = Draft(text, "receipt", via=via[0] if via else "", buttons=buttons)
    put(db, receipt.chat_id, draft, at, event_id=line)
    if not receipt.rest:
        finish(db, (receipt.event_id,), "done", "command")


def answer(db: sqlite3.Connection, receipt: Receipt, at: int) -> str:
    """Verb: a receipt for a command that changed nothing, once."""
    before = done_before(db, receipt, at)
    return confirm(db, receipt, receipt.text(0, False), at) if before is None else before


def remember(
    db: sqlite3.Connection, memory: NewMemory, receipt: Receipt, at: int, merging: Merging = keep_apart, *,
    rewrite: bool = False, quota: Quota | None = None, refused: Callable[[Excess], str] = str,
) -> str:  # fmt: skip
    """Verb: the memory and its receipt, once; a new one may wait to be put into other words.

    Where it would pass the quota, `refused` is the receipt and nothing is kept.
    """
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    if over := passes(db, memory, quota, at):
        return confirm(db, receipt, refused(over), at)
    stored = store_memory(db, memory, at, merging)
    if not stored.again:
        tell_address(db, stored.id, receipt.address, at)
    if rewrite and not stored.again:
        db.execute("INSERT OR REPLACE INTO rewriting (memory_id, due_at, attempts) VALUES (?, ?, 0)", (stored.id, at))
    return confirm(db, receipt, receipt.text(stored.id, stored.again), at, 0 if stored.again else stored.id)


def passes(db: sqlite3.Connection, memory: NewMemory, quota: Quota | None, at: int) -> Excess:
    """Verb part: the limit that keeping it would pass; what is known already takes no room."""
    return "" if quota is None or known(db, memory) is not None else excess(db, memory, quota, at)


def undo(
    db: sqlite3.Connection, numbers: tuple[int, ...], whose: tuple[str, tuple[object, ...]], receipt: Receipt, at: int
) -> str | None:
    """Verb: forgotten rows are active again, in place of what was said since; what was scrubbed stays scrubbed."""
    before = done_before(db, receipt, at)
    if before is not None:
        return before
    found = [number for number in numbers if _bring_back(db, number, whose, at)]
    for number in found:
        tell_address(db, number, receipt.address, at)
    return confirm(db, receipt, receipt.text(found[0], len(found) > 1), at) if found else None


def _bring_back(db: sqlite3.Connection, number: int, whose: tuple[str, tuple[object, ...]], at: int) -> bool:
    row = db.execute(
        f"SELECT owner_id, chat_id, visibility, {NAME_SLOT}, folded FROM memory WHERE id = ? "
        f"AND disabled_at IS NOT NULL AND purge_at > ? AND {whose[0]}",
        (number, at, *whose[1]),
    ).fetchone()
    if row is None:
        return False
    replace_same(db, Statement(*row), at)
    db.execute(
        "UPDATE memory SET disabled_at = NULL, disabled_reason = '', purge_at = NULL, updated_at = ? WHERE id = ?",
        (at, number),
    )
    index_memory(db, number)
    one_current(db, row[0])
    return True
