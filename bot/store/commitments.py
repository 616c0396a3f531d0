"""What people promised and have still to do, read off messages and gone with them."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import cast

from bot.core.commitments import (
    Commitment,
    CommitmentSource,
    CommitmentState,
    NewCommitment,
    SettledCommitment,
    SpokenPromise,
)
from bot.core.memories import Dated, Visibility
from bot.core.people import Audience, Chat
from bot.core.tools import ToolOutcome
from bot.store.engine import Repository
from bot.store.ingest import Accepted, Arrival
from bot.store.memories import Receipt, earlier_receipt, store_receipt
from bot.store.schema import placeholders
from bot.store.supersession import hand_nudge_over, note_moved, set_nudge, withdraw_nudges
from bot.store.transactions import Tx
from bot.text.fold import fold
from bot.text.similarity import content_words, same_promise

_COLUMNS = """SELECT id, owner_id, chat_id, visibility, text, state, made_at, due_at, source, updated_at, toward, dated
    FROM commitment """

MOST_OPEN = 100
"""Open promises of one person in one place; whoever makes more breaks the oldest."""

ENDED: tuple[CommitmentState, ...] = ("done", "failed")


class Commitments(Repository):
    """Promises and open tasks."""

    async def open(self, audience: Audience, limit: int) -> tuple[Commitment, ...]:
        """What those who take part have still to do, as far as this audience may see it: the newest, oldest first."""
        where, params = visible_commitment(audience)
        rows = await self._database.rows(
            f"{_COLUMNS}WHERE ended_at IS NULL AND {where} ORDER BY made_at DESC, id DESC LIMIT ?", (*params, limit)
        )
        return tuple(commitment_of(row) for row in reversed(rows))

    async def owned(self, owner_id: int, audience: Audience) -> tuple[Commitment, ...]:
        """What that person promised and this audience may see, ended ones too as long as they are kept, oldest first.

        What was dropped has no text any more, and is not among them.
        """
        where, params = visible_commitment(audience)
        rows = await self._database.rows(
            f"{_COLUMNS}WHERE owner_id = ? AND text <> '' AND {where} ORDER BY id", (owner_id, *params)
        )
        return tuple(commitment_of(row) for row in rows)

    async def settle(self, number: int, owner_id: int, state: CommitmentState, at: int) -> bool:
        """Its owner says how it stands; False when they have none of that number."""
        return await self._database.write(lambda db: settle_commitment(db, number, owner_id, state, at))

    async def end(self, ended: tuple[SettledCommitment, ...], receipt: Receipt, at: int) -> str:
        """What a line of their owner says became of these, with its receipt in one commit; its text. Once for each key.

        A promise that was dropped or erased meanwhile stays as it is.
        """

        def transaction(db: Tx) -> str:
            before = earlier_receipt(db, receipt, at)
            if before is not None:
                return before
            for each in ended:
                settle_commitment(db, each.number, receipt.person_id, each.state, at, each.event_ids)
            return store_receipt(db, receipt, receipt.text(0, False), at, ended[0].number)

        return await self._database.write(transaction)

    async def ended_by(self, event_id: int) -> dict[int, str]:
        """The promises that ended by this line, by number."""
        rows = await self._database.rows(
            "SELECT id, text FROM edge JOIN commitment ON id = derived_id WHERE kind = 'settled' AND event_id = ?",
            (event_id,),
        )
        return {int(row[0]): str(row[1]) for row in rows}

    async def to_end(self, event_id: int, owner_id: int, audience: Audience) -> dict[int, str]:
        """What that line of its owner may end, by number: the newest open promises but those it makes, and those that
        it ended already."""
        where, params = visible_commitment(audience)
        of_line = "(SELECT derived_id FROM edge WHERE kind = '{}' AND event_id = ?)"
        rows = await self._database.rows(
            f"SELECT id, text FROM commitment WHERE owner_id = ? AND text <> '' AND {where} AND ("
            f"(ended_at IS NULL AND id NOT IN {of_line.format('commitment')}) OR id IN {of_line.format('settled')}) "
            "ORDER BY id DESC LIMIT ?",
            (owner_id, *params, event_id, event_id, MOST_OPEN),
        )
        return {int(row[0]): str(row[1]) for row in reversed(rows)}

    async def reopen(self, numbers: tuple[int, ...], at: int) -> None:
        """The line that ended these does not say so any more."""
        await self._database.write(lambda db: reopen_commitments(db, numbers, at))

    async def nudged(self, chat_id: int, person_id: int) -> int:
        """The promise that nuan's last line there reminded that person of; 0: none."""
        row = await self._database.row(
            "SELECT commitment_id FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminded' "
            "AND person_id = ? AND commitment_id IS NOT NULL AND event_id = (SELECT max(id) FROM event "
            "WHERE chat_id = ? AND kind = 'bot' AND hidden = '')",
            (person_id, chat_id),
        )
        return int(row[0]) if row else 0

    async def drop(self, number: int, owner_id: int, at: int) -> bool:
        """Its owner wants it gone: the words go at once, and nothing read later brings it back."""
        return await self._database.write(lambda db: drop_commitment(db, number, owner_id, at))

    async def tidy(self, before: int, at: int) -> int:
        """What nobody spoke of since `before`, ms, though it was due, is broken, and what ended before then is deleted.

        Returns how many rows that were.
        """
        return await self._database.write(lambda db: tidy_commitments(db, before, at))


def store_commitment(db: Tx, new: NewCommitment, at: int) -> int:
    """Within a transaction: store a commitment and its source edges, or find the one that says the same; its number.

    The one that is open gets what the new one says more: its words, a day; another day moves the reminder of it. One
    that ended stays as it is when this is only read later off what was said before its end, and a day stays as it was
    read first.
    """
    if new.changes:
        return _change(db, new, at)
    known = _same_place(db, new)
    same = next((row for row in known if row[4] is None and _says(row, new)), None)
    if same is None:
        read = _read_off(db, new)
        ended = next((row for row in known if row[4] is not None and _is_over(row, new, read)), None)
        if ended is not None:
            return cast("int", ended[0])
    if same is not None:
        number = cast("int", same[0])
        text = new.text if content_words(new.text) > content_words(str(same[1])) else str(same[1])
        due = cast("int | None", same[5])
        moves = new.due_at not in (None, due) and (
            due is None or new.source != "digest" or not _known_lines(db, number, new)
        )
        # Spoken of when it was said: a digest may read it much later.
        db.execute(
            "UPDATE commitment SET text = ?, folded = ?, due_at = ?, updated_at = max(updated_at, ?) WHERE id = ?",
            (text, fold(text), new.due_at if moves else due, new.made_at, number),
        )
        if moves:
            set_nudge(db, number, new, at)
            note_moved(db, number, at)
    else:
        number = _insert(db, new)
        set_nudge(db, number, new, at)
        _make_room(db, [row for row in known if row[4] is None], at)
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('commitment', ?, ?)",
        [(number, event) for event in new.event_ids],
    )
    return number


def _change(db: Tx, new: NewCommitment, at: int) -> int:
    """Within a transaction: the open one of that number has these words and this day now."""
    row = db.execute(
        "SELECT due_at FROM commitment WHERE id = ? AND owner_id = ? AND ended_at IS NULL", (new.changes, new.owner_id)
    ).fetchone()
    if row is None:
        return new.changes
    db.execute(
        "UPDATE commitment SET text = ?, folded = ?, due_at = ?, dated = ?, updated_at = max(updated_at, ?) "
        "WHERE id = ?",
        (new.text, fold(new.text), new.due_at, new.dated, new.made_at, new.changes),
    )
    if row[0] != new.due_at:
        set_nudge(db, new.changes, new, at)
        note_moved(db, new.changes, at)
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('commitment', ?, ?)",
        [(new.changes, event) for event in new.event_ids],
    )
    return new.changes


def _same_place(db: Tx, new: NewCommitment) -> list[tuple[object, ...]]:
    """What the same person promised to the same audience: number, words, folded, state, when it ended, and its day."""
    return db.execute(
        "SELECT id, text, folded, state, ended_at, due_at FROM commitment WHERE owner_id = ? AND visibility = ? "
        "AND (visibility <> 'chat' OR chat_id = ?) ORDER BY id DESC",
        (new.owner_id, new.visibility, new.chat_id),
    ).fetchall()


def _says(row: tuple[object, ...], new: NewCommitment) -> bool:
    return row[2] == fold(new.text) or same_promise(str(row[1]), new.text)


def _known_lines(db: Tx, number: int, new: NewCommitment) -> bool:
    """Whether the new one is only read off the same lines once more."""
    rows = db.execute("SELECT event_id FROM edge WHERE kind = 'commitment' AND derived_id = ?", (number,))
    return {row[0] for row in rows} >= set(new.event_ids)


def _is_over(row: tuple[object, ...], new: NewCommitment, read: set[int]) -> bool:
    """Whether the new one is only this ended one, read once more; words are compared last: there may be hundreds."""
    late = bool(row[1]) and cast("int", row[4]) >= new.made_at
    if not late and row[0] not in read:
        return False
    return (row[0] in read and not row[1]) or _says(row, new)


def _read_off(db: Tx, new: NewCommitment) -> set[int]:
    """The commitments that were read off the same messages."""
    found = db.execute(
        f"SELECT derived_id FROM edge WHERE kind = 'commitment' AND event_id IN ({placeholders(new.event_ids)})",
        new.event_ids,
    )
    return {cast("int", row[0]) for row in found}


def _insert(db: Tx, new: NewCommitment) -> int:
    return cast(
        "int",
        db.execute(
            "INSERT INTO commitment (owner_id, chat_id, visibility, text, folded, due_at, source, made_at, updated_at, "
            "toward, dated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (new.owner_id, new.chat_id, new.visibility, new.text, fold(new.text), new.due_at, new.source, new.made_at,
             new.made_at, new.toward, new.dated),
        ).lastrowid,
    )  # fmt: skip


def _make_room(db: Tx, others: list[tuple[object, ...]], at: int) -> None:
    for row in others[MOST_OPEN - 1 :]:
        db.execute("UPDATE commitment SET state = 'failed', ended_at = ? WHERE id = ?", (at, row[0]))


def settle_commitment(
    db: Tx, number: int, owner_id: int, state: CommitmentState, at: int, said: tuple[int, ...] = ()
) -> bool:  # fmt: skip
    """Within a transaction: how an own promise stands now, and the lines that say so; one that is open again counts
    from now.
    """
    ended = at if state in ENDED else None
    changed = db.execute(
        "UPDATE commitment SET state = ?, updated_at = ?, ended_at = ? WHERE id = ? AND owner_id = ? AND text <> ''",
        (state, at, ended, number, owner_id),
    ).rowcount
    if changed:
        db.execute("DELETE FROM edge WHERE kind = 'settled' AND derived_id = ?", (number,))
        db.executemany(
            "INSERT INTO edge (kind, derived_id, event_id) VALUES ('settled', ?, ?)",
            [(number, event) for event in said],
        )
    return bool(changed)


def commitments_settled_in(db: Tx, event_id: int) -> list[int]:
    """The promises that ended by this line."""
    rows = db.execute("SELECT derived_id FROM edge WHERE kind = 'settled' AND event_id = ?", (event_id,))
    return [cast("int", row[0]) for row in rows]


def reopen_commitments(db: Tx, numbers: Iterable[int], at: int) -> None:
    """Within a transaction: these promises are open again: what ended them was taken back, or is not said any more."""
    for number in numbers:
        db.execute(
            "UPDATE commitment SET state = 'pending', updated_at = ?, ended_at = NULL WHERE id = ? AND text <> ''",
            (at, number),
        )
        db.execute("DELETE FROM edge WHERE kind = 'settled' AND derived_id = ?", (number,))


def drop_commitment(db: Tx, number: int, owner_id: int, at: int) -> bool:
    """One transaction: the words are gone; the empty row is kept so that no digest of the same lines brings them
    back.
    """
    return bool(
        db.execute(
            "UPDATE commitment SET text = '', folded = '', state = 'failed', updated_at = ?1, ended_at = ?1 "
            "WHERE id = ?2 AND owner_id = ?3 AND text <> ''",
            (at, number, owner_id),
        ).rowcount
    )


def tidy_commitments(db: Tx, before: int, at: int) -> int:
    """One transaction: as `Commitments.tidy`; what was due later than it was spoken of last counts from then."""
    old = [cast("int", row[0]) for row in db.execute("SELECT id FROM commitment WHERE ended_at < ?", (before,))]
    delete_commitments(db, old)
    broken = db.execute(
        "UPDATE commitment SET state = 'failed', ended_at = ?1 WHERE ended_at IS NULL "
        "AND max(updated_at, coalesce(due_at, 0)) < ?2",
        (at, before),
    ).rowcount
    return len(old) + broken


def delete_commitments(db: Tx, numbers: list[int]) -> None:
    """Within a transaction: these rows and their edges are gone."""
    db.executemany(
        "DELETE FROM edge WHERE kind IN ('commitment', 'settled') AND derived_id = ?", [(each,) for each in numbers]
    )
    db.executemany("DELETE FROM commitment WHERE id = ?", [(each,) for each in numbers])


def visible_commitment(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 for commitments, only of who takes part: of somebody alone all of theirs."""
    if audience.alone is not None:
        return "owner_id = ?", (audience.alone,)
    here = "(visibility = 'public' OR (visibility = 'chat' AND chat_id = ?))"
    return f"owner_id IN ({placeholders(audience.person_ids)}) AND {here}", (*audience.person_ids, audience.chat_id)


def commitment_of(row: sqlite3.Row | tuple[object, ...]) -> Commitment:
    """A row of `_COLUMNS` as a value."""
    return Commitment(
        cast("int", row[0]), cast("int", row[1]), cast("int", row[2]), cast("Visibility", row[3]), str(row[4]),
        cast("CommitmentState", row[5]), cast("int", row[6]), cast("int | None", row[7]),
        cast("CommitmentSource", row[8]), cast("int", row[9]), str(row[10]), cast("Dated", row[11]),
    )  # fmt: skip


Covers = Callable[[str], bool]


def note_promises(db: Tx, accepted: Accepted, arrival: Arrival, covers: Covers) -> bool:
    """Within a transaction: what a message, or the edit of one, promises, with the message itself.

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


def store_tool_promise(db: Tx, outcome: ToolOutcome, owner_id: int, at: int) -> str:
    """Within a transaction: store a tool's commitment, or what became of one of that person's; the text with its
    number.
    """
    if outcome.settled is not None:
        done = outcome.settled
        settle_commitment(db, done.number, owner_id, done.state, at, done.event_ids)
    if outcome.commitment is None:
        return outcome.text
    return outcome.text.replace("{id}", str(store_commitment(db, outcome.commitment, at)))


def _new(promise: SpokenPromise, owner_id: int, chat: Chat, event_id: int, at: int) -> NewCommitment:
    seen: Visibility = "private" if chat.kind == "dm" else "chat"
    return NewCommitment(owner_id, chat.id, seen, promise.text, at, "rule", (event_id,), promise.due_at, promise.nudge)


def _said(db: Tx, chat_id: int, event_id: int, arrival: Arrival) -> int | None:
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


def withdraw_promises(db: Tx, events: Iterable[int]) -> None:
    """Within a transaction: what was promised in these lines is gone, unless another visible one says it in the same
    words; what they alone told as done is open again.
    """
    gone = frozenset(events)
    for event_id in sorted(gone):
        reopen_commitments(
            db,
            commitments_settled_in(db, event_id),
            db.execute("SELECT at FROM event WHERE id = ?", (event_id,)).fetchone()[0],
        )
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


def _undo(db: Tx, numbers: list[int]) -> None:
    withdraw_nudges(db, numbers)
    delete_commitments(db, numbers)


def reread_promises(db: Tx, event_id: int, text: str) -> None:
    """Within a transaction: a message reads anew; what it says no more is no promise of it."""
    rows = db.execute(
        "SELECT folded FROM edge JOIN commitment ON commitment.id = derived_id WHERE edge.kind = 'commitment' "
        "AND event_id = ? AND folded <> ''",
        (event_id,),
    ).fetchall()
    if any(str(row[0]) not in fold(text) for row in rows):
        withdraw_promises(db, (event_id,))


def forget_promises(
    db: Tx, owner_id: int | None, chat_id: int, hidden: Iterable[int], repeats: Callable[[str], bool]
) -> None:
    """Within a transaction: what was promised in hidden lines, or says what is forgotten, is gone; open or not."""
    withdraw_promises(db, hidden)
    rows = db.execute(
        "SELECT id, text FROM commitment WHERE text <> '' AND (owner_id IS ?1 OR (?1 IS NULL AND chat_id = ?2))",
        (owner_id, chat_id),
    ).fetchall()
    _undo(db, [cast("int", number) for number, text in rows if repeats(str(text))])


def _lines(db: Tx, number: int) -> list[tuple[int, str]]:
    """The visible messages in which it was said."""
    return db.execute(
        "SELECT event.id, text FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'commitment' "
        "AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND off_record = 0",
        (number,),
    ).fetchall()


def join_promises(db: Tx, owner_id: int) -> None:
    """Within a transaction: two persons are one; of open promises that say the same in one place the older is left,
    with the later's day and all edges.
    """
    rows = db.execute(
        "SELECT id, text, due_at, CASE visibility WHEN 'chat' THEN chat_id ELSE visibility END FROM commitment "
        "WHERE owner_id = ? AND ended_at IS NULL ORDER BY made_at, id",
        (owner_id,),
    ).fetchall()
    kept: list[tuple[int, str, object]] = []
    for number, text, due_at, place in rows:
        same = next((each for each, said, there in kept if there == place and same_promise(said, text)), None)
        if same is None:
            kept.append((number, text, place))
            continue
        if due_at is not None:
            db.execute("UPDATE commitment SET due_at = ? WHERE id = ?", (due_at, same))
            hand_nudge_over(db, same, number)
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT kind, ?, event_id FROM edge "
            "WHERE kind = 'commitment' AND derived_id = ?",
            (same, number),
        )
        delete_commitments(db, [number])
