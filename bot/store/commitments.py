"""What people promised and have still to do, read off messages and gone with them, and when they are reminded of it."""

from collections.abc import Iterable
from typing import NamedTuple

from bot.core.events import ChatKind, Event
from bot.core.memories import (
    SOMETHING_ELSE,
    Commitment,
    CommitmentState,
    NewCommitment,
    SettledCommitment,
    SpokenPromise,
    Visibility,
)
from bot.core.people import Audience
from bot.core.tools import ToolAnswer
from bot.store.engine import Repository, reads, writes, writing
from bot.store.memories import Receipt, earlier_receipt, store_receipt
from bot.store.reminders import unsay_reminders
from bot.store.schema import GREATEST, placeholders
from bot.store.supersession import note_moved
from bot.store.transactions import Row, Tx
from bot.text.fold import fold
from bot.text.similarity import content_words, reminds_of, repeating, same_promise

SELECT_COMMITMENT = """SELECT id, owner_id, chat_id, visibility, text, state, made_at, due_at, source, updated_at, toward,
    dated FROM commitment """

MOST_OPEN = 100
"""Open promises of one person in one place; whoever makes more breaks the oldest."""

ENDED: tuple[CommitmentState, ...] = ("done", "failed")


def settle_commitment(
    tx: Tx, number: int, owner_id: int, state: CommitmentState, at: int, said: tuple[int, ...] = ()
) -> bool:
    """How an own promise stands now, and the lines that say so; False when its owner has none of that number."""
    sql = "UPDATE commitment SET state = ?, updated_at = ?, ended_at = ? WHERE id = ? AND owner_id = ? AND text <> ''"
    changed = tx.run(sql, state, at, at if state in ENDED else None, number, owner_id)
    if changed:
        tx.unlink("settled", number)
        tx.link("settled", number, said)
        settle_nudges(tx, number)
    return bool(changed)


def settle_nudges(tx: Tx, number: int) -> None:
    """Nobody is reminded of a promise that ended; of one that is open again they are, if that still lies ahead."""
    found = tx.one("SELECT ended_at, updated_at FROM commitment WHERE id = ?", number)
    if found is None:
        return
    ended_at, updated_at = found
    if ended_at is None:
        over = "commitment_id = ? AND outcome = 'settled' AND due_at > ?"
        tx.run(f"UPDATE reminder SET ended_at = NULL, outcome = '' WHERE {over}", number, updated_at)
    else:
        settled = "UPDATE reminder SET ended_at = ?, outcome = 'settled' WHERE commitment_id = ? AND ended_at IS NULL"
        tx.run(settled, ended_at, number)


def reopen_commitments(tx: Tx, numbers: Iterable[int], at: int) -> None:
    """These promises are open again: what ended them was taken back, or is not said any more."""
    for number in numbers:
        sql = "UPDATE commitment SET state = 'pending', updated_at = ?, ended_at = NULL WHERE id = ? AND text <> ''"
        tx.run(sql, at, number)
        tx.unlink("settled", number)
        settle_nudges(tx, number)


def drop_commitment(tx: Tx, number: int, owner_id: int, at: int) -> bool:
    """Its owner wants it gone: the words go at once; the empty row keeps digests from bringing it back."""
    dropped = "UPDATE commitment SET text = '', folded = '', state = 'failed', updated_at = ?, ended_at = ?"
    if not tx.run(f"{dropped} WHERE id = ? AND owner_id = ? AND text <> ''", at, at, number, owner_id):
        return False
    settle_nudges(tx, number)
    return True


class Commitments(Repository):
    """Promises and open tasks."""

    settle = writing(settle_commitment)
    reopen = writing(reopen_commitments)
    drop = writing(drop_commitment)

    @reads
    def open(self, tx: Tx, audience: Audience, limit: int) -> tuple[Commitment, ...]:
        """What those who take part have still to do, as far as this audience may see it: the newest, oldest first."""
        where, params = visible_commitment(audience)
        order = "ORDER BY made_at DESC, id DESC LIMIT ?"
        return tx.all(f"{SELECT_COMMITMENT}WHERE ended_at IS NULL AND {where} {order}", *params, limit, to=Commitment)[
            ::-1
        ]

    @reads
    def owned(self, tx: Tx, owner_id: int, audience: Audience) -> tuple[Commitment, ...]:
        """What that person promised and this audience may see, ended ones too as long as they are kept, oldest first."""
        where, params = visible_commitment(audience)
        sql = f"{SELECT_COMMITMENT}WHERE owner_id = ? AND text <> '' AND {where} ORDER BY id"
        return tx.all(sql, owner_id, *params, to=Commitment)

    @writes
    def end(self, tx: Tx, ended: tuple[SettledCommitment, ...], receipt: Receipt, at: int) -> str:
        """What a line of their owner says became of these, with its receipt in one commit; its text. Once for each key.

        A promise that was dropped or erased meanwhile stays as it is.
        """
        if (before := earlier_receipt(tx, receipt, at)) is not None:
            return before
        for each in ended:
            settle_commitment(tx, each.number, receipt.person_id, each.state, at, each.event_ids)
        return store_receipt(tx, receipt, receipt.text(0, False), at, ended[0].number)

    @reads
    def ended_by(self, tx: Tx, event_id: int) -> dict[int, str]:
        """The promises that ended by this line, by number."""
        sql = "SELECT id, text FROM edge JOIN commitment ON id = derived_id WHERE kind = 'settled' AND event_id = ?"
        return dict(tx.all(sql, event_id))

    @reads
    def to_end(self, tx: Tx, event_id: int, owner_id: int, audience: Audience) -> dict[int, str]:
        """What that line of its owner may end, by number: the newest open promises but those it makes, and those that
        it ended already."""
        where, params = visible_commitment(audience)
        of_line = "(SELECT derived_id FROM edge WHERE kind = '{}' AND event_id = ?)"
        sql = (
            f"SELECT id, text FROM commitment WHERE owner_id = ? AND text <> '' AND {where} AND ("
            f"(ended_at IS NULL AND id NOT IN {of_line.format('commitment')}) OR id IN {of_line.format('settled')}) "
            "ORDER BY id DESC LIMIT ?"
        )
        rows = tx.all(sql, owner_id, *params, event_id, event_id, MOST_OPEN)
        return dict(reversed(rows))

    @reads
    def nudged(self, tx: Tx, chat_id: int, person_id: int) -> int:
        """The promise that nuan's last line there reminded that person of; 0: none, SOMETHING_ELSE: it said a reminder
        of something that they did not promise."""
        sql = (
            f"SELECT coalesce(commitment_id, {SOMETHING_ELSE}) FROM edge JOIN reminder ON reminder.id = derived_id "
            "WHERE edge.kind = 'reminded' AND person_id = ? AND (commitment_id IS NOT NULL OR said_at IS NOT NULL) "
            "AND event_id = (SELECT max(id) FROM event WHERE chat_id = ? AND kind = 'bot' AND hidden = '')"
        )
        return tx.number(sql, person_id, chat_id)

    @writes
    def tidy(self, tx: Tx, before: int, at: int) -> int:
        """What nobody spoke of since `before`, ms, though it was due, is broken, and what ended before then is deleted.

        What was due later than it was spoken of last counts from then. Returns how many rows that were.
        """
        old = tx.ids("SELECT id FROM commitment WHERE ended_at < ?", before)
        delete_commitments(tx, old)
        past = "SELECT id FROM commitment WHERE ended_at IS NULL AND updated_at < ? AND coalesce(due_at, 0) < ?"
        broken = tx.ids(past, before, before)
        _break(tx, broken, at)
        return len(old) + len(broken)


def store_commitment(tx: Tx, new: NewCommitment, at: int) -> int:
    """Store a commitment and its source edges, or find the one that says the same; its number.

    The one that is open gets what the new one says more: its words, a day; another day moves the reminder of it. One
    that ended stays as it is when this is only read later off what was said before its end, and a day stays as it was
    read first.
    """
    tx.hold_person(new.owner_id)
    if new.changes:
        return _change(tx, new, at)
    sql = (
        "SELECT id, text, folded, ended_at, due_at FROM commitment WHERE owner_id = ? AND visibility = ? "
        "AND (visibility <> 'chat' OR chat_id = ?) ORDER BY id DESC"
    )
    known = tx.all(sql, new.owner_id, new.visibility, new.chat_id, to=_Known)
    opened = [each for each in known if each.ended_at is None]
    same = next((each for each in opened if _says(each, new)), None)
    if same is None:
        read = tx.ids_for("SELECT derived_id FROM edge WHERE event_id = ? AND kind = 'commitment'", new.event_ids)
        for each in known:
            if each.ended_at is not None and _is_over(each, each.ended_at, new, read):
                return each.id
        number = tx.insert(
            "commitment",
            owner_id=new.owner_id,
            chat_id=new.chat_id,
            visibility=new.visibility,
            text=new.text,
            folded=fold(new.text),
            due_at=new.due_at,
            source=new.source,
            made_at=new.made_at,
            updated_at=new.made_at,
            toward=new.toward,
            dated=new.dated,
        )
        set_nudge(tx, number, new, at)
        _break(tx, [each.id for each in opened[MOST_OPEN - 1 :]], at)
    else:
        number, due = same.id, same.due_at
        text = new.text if content_words(new.text) > content_words(same.text) else same.text
        read_again = new.source == "digest" and tx.sources("commitment", number).issuperset(new.event_ids)
        moves = new.due_at not in (None, due) and (due is None or not read_again)
        # Spoken of when it was said: a digest may read it much later.
        sql = f"UPDATE commitment SET text = ?, folded = ?, due_at = ?, updated_at = {GREATEST}(updated_at, ?) WHERE id = ?"
        tx.run(sql, text, fold(text), new.due_at if moves else due, new.made_at, number)
        if moves:
            set_nudge(tx, number, new, at)
        if moves and due is not None:
            note_moved(tx, number, at)
    tx.link("commitment", number, new.event_ids)
    return number


def _break(tx: Tx, numbers: Iterable[int], at: int) -> None:
    """Nobody speaks of these promises any more."""
    for number in numbers:
        tx.run("UPDATE commitment SET state = 'failed', ended_at = ? WHERE id = ?", at, number)
        settle_nudges(tx, number)


class _Known(NamedTuple):
    """What the same person promised to the same audience."""

    id: int
    text: str
    folded: str
    ended_at: int | None
    due_at: int | None


def _says(known: _Known, new: NewCommitment) -> bool:
    return known.folded == fold(new.text) or same_promise(known.text, new.text)


def _is_over(known: _Known, ended_at: int, new: NewCommitment, read: set[int]) -> bool:
    """Whether the new one is only this ended one, read once more; `read` are those of the same messages."""
    if known.id in read:
        return not known.text or _says(known, new)
    return bool(known.text) and ended_at >= new.made_at and _says(known, new)


def _change(tx: Tx, new: NewCommitment, at: int) -> int:
    """The open one of that number has these words and this day now."""
    row = tx.one(
        "SELECT due_at FROM commitment WHERE id = ? AND owner_id = ? AND ended_at IS NULL", new.changes, new.owner_id
    )
    if row is None:
        return new.changes
    sql = (
        f"UPDATE commitment SET text = ?, folded = ?, due_at = ?, dated = ?, updated_at = {GREATEST}(updated_at, ?) "
        "WHERE id = ?"
    )
    tx.run(sql, new.text, fold(new.text), new.due_at, new.dated, new.made_at, new.changes)
    if row[0] != new.due_at:
        set_nudge(tx, new.changes, new, at)
    if row[0] not in (None, new.due_at):
        note_moved(tx, new.changes, at)
    tx.link("commitment", new.changes, new.event_ids)
    return new.changes


def set_nudge(tx: Tx, number: int, new: NewCommitment, at: int) -> None:
    """A promise has another day: its person is reminded then, in the chat where they named it, or not at all where that
    is over, where they asked for that themselves, or have reminders enough.
    """
    tx.run("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", number)
    wanted = new.nudge
    if wanted is None or wanted.at <= at or _is_asked_for(tx, new):
        return
    if tx.value("SELECT count(*) FROM reminder WHERE ended_at IS NULL AND person_id = ?", new.owner_id) < (
        wanted.most_open
    ):
        tx.insert(
            "reminder",
            person_id=new.owner_id,
            chat_id=new.chat_id,
            text="",
            due_at=wanted.at,
            made_at=at,
            commitment_id=number,
            wall=1,
        )


def _is_asked_for(tx: Tx, new: NewCommitment) -> bool:
    """Whether one of its messages asked to be reminded of it."""
    asked = (
        "SELECT text FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminder' "
        "AND event_id = ? AND ended_at IS NULL"
    )
    return any(reminds_of(text, new.text) for event in new.event_ids for (text,) in tx.all(asked, event))


def delete_commitments(tx: Tx, numbers: Iterable[int]) -> None:
    """These rows and their edges are gone."""
    for number in numbers:
        tx.unlink("commitment", number)
        tx.unlink("settled", number)
        tx.run("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", number)
        tx.run("UPDATE reminder SET commitment_id = NULL WHERE commitment_id = ?", number)
        tx.run("DELETE FROM commitment WHERE id = ?", number)


def visible_commitment(audience: Audience) -> tuple[str, tuple[object, ...]]:
    """The condition of ARCHITECTURE §7 for commitments, only of who takes part: of somebody alone all of theirs."""
    if audience.alone is not None:
        return "owner_id = ?", (audience.alone,)
    here = "(visibility = 'public' OR (visibility = 'chat' AND chat_id = ?))"
    return f"owner_id IN ({placeholders(audience.person_ids)}) AND {here}", (*audience.person_ids, audience.chat_id)


def note_promises(
    tx: Tx,
    said: int,
    event: Event,
    kind: ChatKind,
    made: tuple[SpokenPromise, ...],
    at: int,
) -> bool:
    """What the message `said` promises, as that event brought or changed it, but nothing that was forgotten.

    Returns whether something is promised with a day: there may be a nearer deadline now.
    """
    seen: Visibility = "private" if kind == "dm" else "chat"
    for promise in made:
        if event.person_id is not None and not tx.files.tombstones.covers(promise.text):
            new = NewCommitment(
                event.person_id,
                event.chat_id,
                seen,
                promise.text,
                event.at,
                "rule",
                (said,),
                promise.due_at,
                promise.nudge,
            )
            store_commitment(tx, new, at)
    return any(promise.nudge for promise in made)


def store_tool_promise(tx: Tx, answer: ToolAnswer, owner_id: int, at: int) -> str:
    """Store a tool's commitment, or what became of one of that person's; the text with its number."""
    if answer.settled is not None:
        done = answer.settled
        settle_commitment(tx, done.number, owner_id, done.state, at, done.event_ids)
    if answer.commitment is None:
        return answer.text
    return answer.text.replace("{id}", str(store_commitment(tx, answer.commitment, at)))


def withdraw_promises(tx: Tx, events: Iterable[int]) -> None:
    """What was promised in these lines is gone, unless another visible one says it in the same words; what they alone
    told as done is open again.
    """
    gone = frozenset(events)
    for event_id in sorted(gone):
        at = tx.value("SELECT at FROM event WHERE id = ?", event_id)
        reopen_commitments(tx, tx.derived("settled", event_id), at)
        for number, folded in _made_in(tx, event_id):
            others = tx.all(
                "SELECT event.id, text FROM edge JOIN event ON event.id = event_id WHERE edge.kind = 'commitment' "
                "AND derived_id = ? AND event.kind = 'message' AND hidden = '' AND off_record = 0",
                number,
            )
            if any(folded in fold(text) for other, text in others if other not in gone):
                tx.unlink("commitment", number, event_id)
            else:
                _undo(tx, number)


def _made_in(tx: Tx, event_id: int) -> tuple[Row, ...]:
    """The promises of a message that have words still, number and folded text."""
    return tx.all(
        "SELECT commitment.id, folded FROM edge JOIN commitment ON commitment.id = derived_id "
        "WHERE edge.kind = 'commitment' AND event_id = ? AND folded <> ''",
        event_id,
    )


def _undo(tx: Tx, number: int) -> None:
    """A promise was never made: what nuan said of it is not told any more, nor sent again."""
    unsay_reminders(tx, tx.ids("SELECT id FROM reminder WHERE commitment_id = ?", number))
    delete_commitments(tx, (number,))


def reread_promises(tx: Tx, event_id: int, text: str) -> None:
    """A message reads anew; what it says no more is no promise of it."""
    if any(folded not in fold(text) for _, folded in _made_in(tx, event_id)):
        withdraw_promises(tx, (event_id,))


def forget_promises(tx: Tx, owner_id: int | None, chat_id: int, wordings: Iterable[str]) -> None:
    """What was promised and says what is forgotten is gone; open or not."""
    whose, value = (
        ("owner_id = ?", owner_id) if owner_id is not None else ("(owner_id IS NULL OR chat_id = ?)", chat_id)
    )
    for number in sorted(
        repeating(wordings, tx.all(f"SELECT id, text FROM commitment WHERE text <> '' AND {whose}", value))
    ):
        _undo(tx, number)


def join_promises(tx: Tx, owner_id: int) -> None:
    """Two persons are one; of open promises that say the same in one place the older is left, with the later's day and
    all edges.
    """
    kept: list[tuple[int, str, object]] = []
    for number, text, due_at, place in tx.all(
        "SELECT id, text, due_at, CASE visibility WHEN 'chat' THEN CAST(chat_id AS TEXT) ELSE visibility END FROM commitment "
        "WHERE owner_id = ? AND ended_at IS NULL ORDER BY made_at, id",
        owner_id,
    ):
        same = next((each for each, said, there in kept if there == place and same_promise(said, text)), None)
        if same is None:
            kept.append((number, text, place))
            continue
        if due_at is not None:  # and so does when its person is reminded
            tx.run("UPDATE commitment SET due_at = ? WHERE id = ?", due_at, same)
            tx.run("DELETE FROM reminder WHERE commitment_id = ? AND ended_at IS NULL", same)
            tx.run("UPDATE reminder SET commitment_id = ? WHERE commitment_id = ?", same, number)
        tx.link("commitment", same, tx.sources("commitment", number))
        delete_commitments(tx, (number,))
