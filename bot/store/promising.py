"""Promises and the messages they came from: read off as a message is stored, gone when it goes. It decides nothing."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import cast

from bot.store.arrival import Accepted, Arrival
from bot.store.commitments import delete, reopen, settle, settled_in, store_commitment
from bot.store.nudging import handed, take_back
from bot.text.alike import alike
from bot.text.fold import fold
from bot.types.commitment import NewCommitment, Promise
from bot.types.memory import Visibility
from bot.types.people import Chat
from bot.types.tool import ToolOutcome

Covers = Callable[[str], bool]


def note_promises(db: sqlite3.Connection, accepted: Accepted, arrival: Arrival, covers: Covers) -> bool:
    """Verb part: what a message, or the edit of one, promises, with the message itself.

    Returns whether something is promised with a day: there may be a nearer deadline now.

    `covers` tells what was forgotten: that is not noted again.
    """
    event, chat = accepted.event, accepted.chat
    if event is None or event.person_id is None:
        return False
    said = _said(db, chat.id, event.id, arrival)
    if said is None:
        return False
    zone = db.execute("SELECT timezone FROM person WHERE id = ?", (event.person_id,)).fetchone()[0]
    made = arrival.promising(str(zone))
    for promise in made:
        if not covers(promise.text):
            store_commitment(db, _new(promise, event.person_id, chat, said, event.at), arrival.situation.at)
    return any(promise.nudge for promise in made)


def promised(db: sqlite3.Connection, outcome: ToolOutcome, owner_id: int, at: int) -> str:
    """Verb part: store a tool's commitment, or what became of one of that person's; the text with its number."""
    if outcome.settled is not None:
        done = outcome.settled
        settle(db, done.number, owner_id, done.state, at, done.event_ids)
    if outcome.commitment is None:
        return outcome.text
    return outcome.text.replace("{id}", str(store_commitment(db, outcome.commitment, at)))


def _new(promise: Promise, owner_id: int, chat: Chat, event_id: int, at: int) -> NewCommitment:
    seen: Visibility = "private" if chat.kind == "dm" else "chat"
    return NewCommitment(owner_id, chat.id, seen, promise.text, at, "rule", (event_id,), promise.due_at, promise.nudge)


def _said(db: sqlite3.Connection, chat_id: int, event_id: int, arrival: Arrival) -> int | None:
    """The visible message that says it: the one that came, or the one that was edited by its writer."""
    if arrival.incoming.kind == "message":
        row = db.execute("SELECT id FROM event WHERE id = ? AND hidden = ''", (event_id,)).fetchone()
    elif arrival.incoming.label == "edit":
        row = db.execute(
            "SELECT said.id FROM event AS edit JOIN event AS said ON said.chat_id = edit.chat_id "
            "AND said.external_id = edit.target AND said.external_id <> '' AND said.kind = 'message' "
            "AND said.hidden = '' AND said.off_record = 0 AND said.person_id = edit.person_id "
            "AND said.text = edit.text AND said.forwarded = 0 WHERE edit.id = ? AND edit.chat_id = ? "
            "ORDER BY said.id DESC LIMIT 1",
            (event_id, chat_id),
        ).fetchone()
    else:
        row = None
    return cast("int", row[0]) if row is not None else None


def unpromise(db: sqlite3.Connection, events: Iterable[int]) -> None:
    """Verb part: what was promised in these lines is gone, unless another visible one says it in the same words; what
    they alone told as done is open again."""
    gone = frozenset(events)
    for event_id in sorted(gone):
        reopen(db, settled_in(db, event_id), db.execute("SELECT at FROM event WHERE id = ?", (event_id,)).fetchone()[0])
        rows = db.execute(
            "SELECT commitment.id, folded FROM edge JOIN commitment ON commitment.id = derived_id "
            "WHERE edge.kind = 'commitment' AND event_id = ?",
            (event_id,),
        ).fetchall()
        for number, folded in rows:
            if not folded:
                continue  # dropped: the empty row keeps a digest from bringing it back
            others = [row for row in _lines(db, number) if row[0] not in gone]
            if any(folded in fold(str(text)) for _, text in others):
                db.execute(
                    "DELETE FROM edge WHERE kind = 'commitment' AND derived_id = ? AND event_id = ?", (number, event_id)
                )
            else:
                _undo(db, [number])


def _undo(db: sqlite3.Connection, numbers: list[int]) -> None:
    take_back(db, numbers)
    delete(db, numbers)


def reread(db: sqlite3.Connection, event_id: int, text: str) -> None:
    """Verb part: a message reads anew; what it says no more is no promise of it."""
    rows = db.execute(
        "SELECT folded FROM edge JOIN commitment ON commitment.id = derived_id WHERE edge.kind = 'commitment' "
        "AND event_id = ? AND folded <> ''",
        (event_id,),
    ).fetchall()
    if any(str(row[0]) not in fold(text) for row in rows):
        unpromise(db, (event_id,))


def forget_promises(
    db: sqlite3.Connection, owner_id: int | None, chat_id: int, hidden: Iterable[int], repeats: Callable[[str], bool]
) -> None:
    """Verb part: what was promised in hidden lines, or says what is forgotten, is gone; open or not."""
    unpromise(db, hidden)
    rows = db.execute(
        "SELECT id, text FROM commitment WHERE text <> '' AND (owner_id IS ?1 OR (?1 IS NULL AND chat_id = ?2))",
        (owner_id, chat_id),
    ).fetchall()
    _undo(db, [cast("int", number) for number, text in rows if repeats(str(text))])


def _lines(db: sqlite3.Connection, number: int) -> list[tuple[int, str]]:
    """The visible messages in which it was said."""
    return db.execute(
        "SELECT event.id, text FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'commitment' "
        "AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND off_record = 0",
        (number,),
    ).fetchall()


def join_promises(db: sqlite3.Connection, owner_id: int) -> None:
    """Verb part: two persons are one; of open promises that say the same in one place the older is left, with the
    later's day and all edges."""
    rows = db.execute(
        "SELECT id, text, due_at, CASE visibility WHEN 'chat' THEN chat_id ELSE visibility END FROM commitment "
        "WHERE owner_id = ? AND ended_at IS NULL ORDER BY made_at, id",
        (owner_id,),
    ).fetchall()
    kept: list[tuple[int, str, object]] = []
    for number, text, due_at, place in rows:
        same = next((each for each, said, there in kept if there == place and alike(said, text)), None)
        if same is None:
            kept.append((number, text, place))
            continue
        if due_at is not None:
            db.execute("UPDATE commitment SET due_at = ? WHERE id = ?", (due_at, same))
            handed(db, same, number)
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT kind, ?, event_id FROM edge "
            "WHERE kind = 'commitment' AND derived_id = ?",
            (same, number),
        )
        delete(db, [number])
