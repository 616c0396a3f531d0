"""Reminders and questions about them: set, said, moved and ended."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from bot.core.commitments import DueReminder, IncompleteReminder, NewReminder, Reminder, ReminderEnd
from bot.core.events import ChatKind, Draft
from bot.core.sessions import ChangedReminder
from bot.store.engine import Database
from bot.store.events import finish_events
from bot.store.outbox import enqueue
from bot.store.people import AccessLists, permissions_of
from bot.store.schema import placeholders
from bot.store.transactions import Tx
from bot.text.similarity import content_words, same_promise

_PERSON = re.compile(r"[我你您]|\b(?:i|me|my|you|your)\b", re.IGNORECASE)
"""A reminder is worded for its person, a promise by them."""

REMINDER_LABEL = "reminder"
"""The label of nuan's own lines about reminders: told to models that answer and digest, in no note or index."""

REMINDERS_A_COMMIT = 50
"""Reminders that one commit says."""

REMINDER_TEXT = "coalesce((SELECT commitment.text FROM commitment WHERE commitment.id = commitment_id), reminder.text)"
"""What a reminder is of; one of a promise holds none of its words."""

REMINDER_COLUMNS = f"""reminder.id, reminder.person_id, reminder.chat_id, {REMINDER_TEXT}, reminder.due_at, rule,
    reminder.made_at, coalesce(commitment_id, 0), reminder.script, reminder.shared"""
SELECT_OPEN_REMINDERS = f"SELECT {REMINDER_COLUMNS} FROM reminder WHERE ended_at IS NULL "

_DUE = f"""SELECT {REMINDER_COLUMNS}, chat.kind, person.name, person.script, person.timezone, enabled, gone,
    EXISTS (SELECT 1 FROM member WHERE member.chat_id = reminder.chat_id AND member.person_id = reminder.person_id)
    FROM reminder JOIN chat ON chat.id = reminder.chat_id JOIN person ON person.id = reminder.person_id
    WHERE ended_at IS NULL AND due_at <= ? ORDER BY due_at, reminder.id LIMIT {REMINDERS_A_COMMIT}"""


@dataclass(frozen=True, slots=True)
class ReminderAnswer:
    """What is said to a message about reminders; `text` gets the numbers of those that were set."""

    chat_id: int
    event_id: int
    text: Callable[[tuple[int, ...]], str]


def reminder_of(row: tuple[object, ...]) -> Reminder:
    """A row of COLUMNS as a value."""
    number, person, chat, text, due, rule, made, promise, script, shared = row
    return Reminder(
        cast("int", number), cast("int", person), cast("int", chat), str(text), cast("int", due), str(rule),
        cast("int", made), cast("int", promise), str(script), shared == 1,
    )  # fmt: skip


def store_reminder(db: Tx, new: NewReminder, at: int) -> int:
    """Within a transaction: store it with its source edges; its number. The same of the same message is stored once."""
    for event in new.event_ids:
        same = db.execute(
            "SELECT id FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminder' "
            "AND event_id = ? AND text = ? AND due_at = ? AND rule = ? AND ended_at IS NULL",
            (event, new.text, new.due_at, new.rule),
        ).fetchone()
        if same is not None:
            return cast("int", same[0])
    number = cast(
        "int",
        db.execute(
            "INSERT INTO reminder (person_id, chat_id, text, due_at, rule, made_at, script, shared, wall) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                new.person_id,
                new.chat_id,
                new.text,
                new.due_at,
                new.rule,
                at,
                new.script,
                int(new.shared),
                int(new.wall),
            ),
        ).lastrowid,
    )
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('reminder', ?, ?)",
        [(number, event) for event in new.event_ids],
    )
    _instead(db, new, at)
    return number


def _instead(db: Tx, new: NewReminder, at: int) -> None:
    """Within a transaction: whoever asks to be reminded of what the same message promises is reminded once, as they
    asked.
    """
    for event in new.event_ids:
        rows = db.execute(
            "SELECT reminder.id, commitment.text, reminder.due_at FROM edge "
            "JOIN commitment ON commitment.id = edge.derived_id "
            "JOIN reminder ON reminder.commitment_id = commitment.id AND reminder.ended_at IS NULL "
            "WHERE edge.kind = 'commitment' AND edge.event_id = ? AND reminder.person_id = ?",
            (event, new.person_id),
        ).fetchall()
        same = (number for number, text, due in rows if due == new.due_at or same_thing(new.text, str(text)))
        end_reminders(db, same, "asked", at)


def same_thing(asked: str, promised: str) -> bool:
    """Within a transaction: whether a reminder, bare or of these words, is one of that promise."""
    return not content_words(asked) or same_promise(_PERSON.sub("", asked), _PERSON.sub("", promised))


def end_reminders(db: Tx, numbers: Iterable[int], why: ReminderEnd, at: int) -> int:
    """Within a transaction: these are not said any more; how many there were. Of a cancelled one the text is kept for
    undo.
    """
    kept = "text" if why == "cancelled" else "''"
    return sum(
        db.execute(
            f"UPDATE reminder SET ended_at = ?, outcome = ?, text = {kept} WHERE id = ? AND ended_at IS NULL",
            (at, why, number),
        ).rowcount
        for number in numbers
    )


def change_reminder(db: Tx, changed: ChangedReminder, at: int) -> None:
    """Within a transaction: an open one that somebody asked for has other words or another time, or is over."""
    if not changed.text and changed.due_at is None:
        end_reminders(db, (changed.number,), "cancelled", at)
        return
    db.execute(
        "UPDATE reminder SET text = CASE WHEN ?1 = '' THEN text ELSE ?1 END, "
        "due_at = CASE WHEN ?2 > ?4 THEN ?2 ELSE due_at END WHERE id = ?3 AND ended_at IS NULL "
        "AND commitment_id IS NULL",
        (changed.text, changed.due_at or 0, changed.number, at),
    )


def reset_reminder(db: Tx, number: int, new: NewReminder) -> None:
    """Within a transaction: an open one has these words now and is said then, as these messages say; its number
    stays.
    """
    db.execute(
        "UPDATE reminder SET text = ?, due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL",
        (new.text, new.due_at, new.rule, number),
    )
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('reminder', ?, ?)",
        [(number, event) for event in new.event_ids],
    )


def drop_reminders(db: Tx, events: Iterable[int], why: ReminderEnd, at: int) -> None:
    """Within a transaction: reminders that came from these messages, and questions about them, go with them."""
    for event in sorted(events):
        rows = db.execute("SELECT derived_id FROM edge WHERE kind = 'reminder' AND event_id = ?", (event,)).fetchall()
        numbers = tuple(row[0] for row in rows)
        end_reminders(db, numbers, why, at)
        _no_undo(db, numbers, why)
        unsay_reminders(db, numbers)
        db.execute("DELETE FROM reminder_question WHERE event_id = ?", (event,))


def reminder_lines(db: Tx, events: set[int]) -> set[int]:
    """Within a transaction: nuan's lines that confirm or say what these messages asked to be reminded of, or
    promised.
    """
    return {
        cast("int", row[0])
        for number in events
        for row in db.execute(
            "SELECT line.event_id FROM edge JOIN edge AS line ON line.kind = 'reminded' "
            "AND line.derived_id = edge.derived_id WHERE edge.kind = 'reminder' AND edge.event_id = ?1 "
            "UNION SELECT line.event_id FROM edge JOIN reminder ON commitment_id = edge.derived_id "
            "JOIN edge AS line ON line.kind = 'reminded' AND line.derived_id = reminder.id "
            "WHERE edge.kind = 'commitment' AND edge.event_id = ?1",
            (number,),
        )
    }


def unsay_reminders(db: Tx, numbers: tuple[int, ...]) -> None:
    """Within a transaction: nuan's lines about these reminders are told no more; what waits to be sent is not."""
    for number in numbers:
        lines = "SELECT event_id FROM edge WHERE kind = 'reminded' AND derived_id = ?"
        db.execute(
            "UPDATE outbox SET text = '', state = 'cancelled' WHERE state = 'pending' AND attempts = 0 "
            f"AND event_id IN ({lines})",
            (number,),
        )
        db.execute(f"UPDATE event SET text = '', hidden = 'deleted' WHERE id IN ({lines})", (number,))


def forget_reminders(db: Tx, owner_id: int | None, repeats: Callable[[str], bool], at: int) -> None:
    """Within a transaction: what repeats a forgotten statement is not said to its owner later."""
    rows = db.execute("SELECT id, text FROM reminder WHERE person_id IS ? AND text <> ''", (owner_id,)).fetchall()
    gone = tuple(row[0] for row in rows if repeats(row[1]))
    end_reminders(db, gone, "forgotten", at)
    _no_undo(db, gone, "forgotten")
    unsay_reminders(db, gone)


def _no_undo(db: Tx, numbers: Iterable[int], why: ReminderEnd) -> None:
    """Of cancelled reminders nothing is kept for undo any more."""
    db.executemany(
        "UPDATE reminder SET outcome = ?, text = '' WHERE id = ? AND outcome = 'cancelled'",
        [(why, number) for number in numbers],
    )


def answer_reminder(db: Tx, said: ReminderAnswer, numbers: tuple[int, ...], at: int) -> None:
    """Within a transaction: nuan's line, in the outbox and among the lines, and the message off the queue."""
    via = db.execute("SELECT via FROM event WHERE id = ?", (said.event_id,)).fetchone()
    text = said.text(numbers)
    line = add_reminder_line(db, said.chat_id, text, at)
    for number in numbers:
        db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('reminded', ?, ?)", (number, line))
    enqueue(db, said.chat_id, Draft(text, "receipt", via=via[0] if via else ""), at, event_id=line)
    finish_events(db, (said.event_id,), "done", "command")


def waits_for_answer(db: Tx, event_id: int) -> bool:
    """Within a transaction: whether a message still waits for its answer: it was neither deleted nor stopped
    meanwhile.
    """
    row = db.execute("SELECT state = 'queued' AND hidden = '' FROM event WHERE id = ?", (event_id,)).fetchone()
    return bool(row and row[0])


def add_reminder_line(db: Tx, chat_id: int, text: str, at: int) -> int:
    """Within a transaction: nuan's line among those of the chat; its number."""
    return cast(
        "int",
        db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, ?, 'done')",
            (chat_id, at, text, REMINDER_LABEL),
        ).lastrowid,
    )


def ask_about_reminder(db: Tx, chat_id: int, person_id: int, waiting: IncompleteReminder | None, until: int) -> None:
    """Within a transaction: the open question of a person there, in place of the one before; None ends it."""
    db.execute("DELETE FROM reminder_question WHERE chat_id = ? AND person_id = ?", (chat_id, person_id))
    if waiting is not None:
        db.execute(
            "INSERT INTO reminder_question (chat_id, person_id, text, said, wakes, plain, asked_at, event_id, until, "
            "shared, numbers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (chat_id, person_id, waiting.text, json.dumps(waiting.said, ensure_ascii=False), int(waiting.wakes),
             int(waiting.plain), waiting.asked_at, waiting.event_id, until, int(waiting.shared),
             json.dumps(waiting.numbers)),
        )  # fmt: skip


def fire_reminders(
    db: Tx, lists: AccessLists, text: Callable[[DueReminder], str],
    upcoming: Callable[[DueReminder], int | None], at: int
) -> tuple[tuple[int, int, bool], ...]:  # fmt: skip
    """One transaction: say what is due, each once, and set what comes back to its next time; (number, chat, said) of
    each.

    Where nuan may not speak, nothing can be sent, or its person is not any more, it is not said; once is then over.
    """
    done: list[tuple[int, int, bool]] = []
    for *columns, kind, name, script, timezone, enabled, gone, there in db.execute(_DUE, (at,)).fetchall():
        reminder = reminder_of(tuple(columns))
        due = DueReminder(reminder, cast("ChatKind", kind), str(name), reminder.script or str(script), str(timezone))
        away = gone == 1 or gone > at
        may = permissions_of(db, lists, reminder.chat_id, reminder.person_id).allowed
        speaks = bool(enabled) and not away and may and (kind == "dm" or bool(there))
        if speaks:
            words = text(due)
            line = add_reminder_line(db, reminder.chat_id, words, at)
            db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('reminded', ?, ?)", (reminder.id, line))
            enqueue(db, reminder.chat_id, Draft(words, "notice"), at, event_id=line)
        again = upcoming(due) if reminder.rule else None
        if again is None:
            end_reminders(db, (reminder.id,), "said" if speaks else "unsaid", at)
        else:
            db.execute("UPDATE reminder SET due_at = ? WHERE id = ?", (again, reminder.id))
        if speaks:
            db.execute("UPDATE reminder SET said_at = ? WHERE id = ?", (at, reminder.id))
        done.append((reminder.id, reminder.chat_id, speaks))
    return tuple(done)


def reminders_back(db: Tx, upcoming: Callable[[Reminder, str], int | None], said_after: int) -> int:
    """One transaction: what comes back and was last said after that moment (ms) is due at its next time; how many that
    were.
    """
    changed = 0
    rows = db.execute(
        f"SELECT {REMINDER_COLUMNS}, timezone FROM reminder JOIN person ON person.id = person_id "
        "WHERE ended_at IS NULL AND rule <> '' AND said_at > ?",
        (said_after,),
    ).fetchall()
    for *columns, zone in rows:
        reminder = reminder_of(tuple(columns))
        due = upcoming(reminder, str(zone))
        if due is not None and due < reminder.due_at:
            db.execute("UPDATE reminder SET due_at = ?, said_at = NULL WHERE id = ?", (due, reminder.id))
            changed += 1
    return changed


def tidy_reminders(db: Tx, ended_before: int, now: int) -> None:
    """Within a transaction: rows of reminders that ended before that moment (ms) go, and questions whose time is
    over.
    """
    old = "SELECT id FROM reminder WHERE ended_at < ?"
    db.execute(f"DELETE FROM edge WHERE kind IN ('reminder', 'reminded') AND derived_id IN ({old})", (ended_before,))
    db.execute("DELETE FROM reminder WHERE ended_at < ?", (ended_before,))
    db.execute("DELETE FROM reminder_question WHERE until < ?", (now,))


class Reminders:
    """Reminders and the questions about them."""

    def __init__(self, database: Database, lists: AccessLists) -> None:
        self._database = database
        self._lists = lists

    async def open(
        self, person_id: int, chat_id: int | None = None, *, shared: bool = False
    ) -> tuple[Reminder, ...]:  # fmt: skip
        """The open reminders of a person, the next first; only those of one chat unless that is None.

        With `shared` those for all of that chat as well, whoever asked for them.
        """
        rows = await self._database.rows(
            f"{SELECT_OPEN_REMINDERS}AND (person_id = ?1 OR (?3 AND reminder.shared = 1)) AND (?2 IS NULL OR chat_id "
            "= ?2) "
            "ORDER BY due_at, reminder.id",
            (person_id, chat_id, int(shared and chat_id is not None)),
        )
        return tuple(reminder_of(tuple(row)) for row in rows)

    async def of_events(self, event_ids: tuple[int, ...]) -> frozenset[int]:
        """The reminders that ever came from these messages."""
        rows = await self._database.rows(
            f"SELECT derived_id FROM edge WHERE kind = 'reminder' AND event_id IN ({placeholders(event_ids)})",
            event_ids,
        )
        return frozenset(int(row[0]) for row in rows)

    async def ordered(self, event_id: int) -> bool:
        """Whether this message was done as a command, alone or with an answer to the rest of it."""
        row = await self._database.row(
            "SELECT 1 FROM event WHERE id = ? AND (outcome = 'command' OR EXISTS (SELECT 1 FROM edge "
            "WHERE edge.kind = 'reminder' AND event_id = event.id))",
            (event_id,),
        )
        return row is not None

    async def set_for(self, event_id: int, due_at: int) -> bool:
        """Whether a reminder of that moment, ms, ever came from this message."""
        row = await self._database.row(
            "SELECT 1 FROM edge JOIN reminder ON reminder.id = derived_id WHERE kind = 'reminder' AND event_id = ? "
            "AND due_at = ?",
            (event_id, due_at),
        )
        return row is not None

    async def overdue(self, before: int) -> tuple[int, int]:
        """How many are open, and how many of them should have been said before that moment (ms)."""
        row = await self._database.row(
            "SELECT count(*), coalesce(sum(due_at < ?), 0) FROM reminder WHERE ended_at IS NULL", (before,)
        )
        return (int(row[0]), int(row[1])) if row else (0, 0)

    async def set(
        self, new: Sequence[NewReminder], said: ReminderAnswer | None, at: int, *,
        asks: Callable[[tuple[int, ...]], IncompleteReminder | None] = lambda numbers: None, until: int = 0,
    ) -> tuple[int, ...]:  # fmt: skip
        """Store and confirm them in one commit and leave the question open that their numbers `asks`; the numbers.

        None: the message waits for no answer any more.
        """

        def transaction(db: Tx) -> tuple[int, ...]:
            if said is not None and not waits_for_answer(db, said.event_id):
                return ()
            numbers = tuple(store_reminder(db, each, at) for each in new)
            ask_about_reminder(db, new[0].chat_id, new[0].person_id, asks(numbers), until)
            if said is not None:
                answer_reminder(db, said, numbers, at)
            return numbers

        return await self._database.write(transaction)

    async def reset(
        self, new: Sequence[NewReminder], chat_id: int, text: Callable[[tuple[int, ...]], str], at: int
    ) -> None:  # fmt: skip
        """A message that had set some was edited: what it asks for now, and a line that says so."""

        def transaction(db: Tx) -> None:
            numbers = tuple(store_reminder(db, each, at) for each in new)
            line = add_reminder_line(db, chat_id, text(numbers), at)
            enqueue(db, chat_id, Draft(text(numbers), "receipt"), at, event_id=line)

        await self._database.write(transaction)

    async def move(self, moved: Mapping[int, tuple[int, str]], said: ReminderAnswer, at: int) -> bool:
        """These are said at another time: due_at (ms) and rule of each; False when nobody waits for it any more.

        The question stays open: they may be moved once more.
        """

        def transaction(db: Tx) -> bool:
            if not waits_for_answer(db, said.event_id):
                return False
            for number, (due, rule) in moved.items():
                db.execute(
                    "UPDATE reminder SET due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL", (due, rule, number)
                )
            answer_reminder(db, said, tuple(moved), at)
            return True

        return await self._database.write(transaction)

    async def say(
        self, said: ReminderAnswer, person_id: int, at: int, *, asks: IncompleteReminder | None = None, until: int = 0,
        ends: tuple[int, ...] = (),
    ) -> bool:  # fmt: skip
        """Answer a message, end these reminders, and leave the question open; False when nobody waits any more."""

        def transaction(db: Tx) -> bool:
            if not waits_for_answer(db, said.event_id):
                return False
            end_reminders(db, ends, "cancelled", at)
            ask_about_reminder(db, said.chat_id, person_id, asks, until)
            answer_reminder(db, said, (), at)
            return True

        return await self._database.write(transaction)

    async def told_besides(self, chat_id: int, event_id: int, text: str, at: int) -> None:
        """A line among those of the chat, once for a message: the answer to its rest brings this receipt."""

        def transaction(db: Tx) -> None:
            key = f"event:{event_id}:reminder"
            if db.execute("INSERT OR IGNORE INTO effect (key, result, at) VALUES (?, 'done', ?)", (key, at)).rowcount:
                add_reminder_line(db, chat_id, text, at)

        await self._database.write(transaction)

    async def cancel(self, numbers: tuple[int, ...], at: int) -> int:
        """These are not said any more; how many that were."""
        return await self._database.write(lambda db: end_reminders(db, numbers, "cancelled", at))

    async def question(self, chat_id: int, person_id: int, at: int) -> IncompleteReminder | None:
        """What this person was asked there, while an answer counts."""
        row = await self._database.row(
            "SELECT text, said, wakes, plain, asked_at, event_id, shared, numbers FROM reminder_question "
            "WHERE chat_id = ? "
            "AND person_id = ? AND until > ?",
            (chat_id, person_id, at),
        )
        if row is None:
            return None
        return IncompleteReminder(
            str(row[0]), tuple(json.loads(row[1])), bool(row[2]), bool(row[3]), int(row[4]), int(row[5]),
            bool(row[6]), tuple(json.loads(row[7])),
        )  # fmt: skip

    async def questions(self) -> frozenset[tuple[int, int]]:
        """Who was asked, by chat and person."""
        rows = await self._database.rows("SELECT chat_id, person_id FROM reminder_question")
        return frozenset((int(row[0]), int(row[1])) for row in rows)

    async def ask(self, chat_id: int, person_id: int, waiting: IncompleteReminder | None, until: int) -> None:
        """Leave a question open, or none."""
        await self._database.write(lambda db: ask_about_reminder(db, chat_id, person_id, waiting, until))

    async def fire(
        self, text: Callable[[DueReminder], str], upcoming: Callable[[DueReminder], int | None], at: int
    ) -> tuple[tuple[int, int, bool], ...]:
        """Say what is due, each once and all in one commit; (number, chat, whether it was said) of each."""
        return await self._database.write(lambda db: fire_reminders(db, self._lists, text, upcoming, at))

    async def rezone(self, person_id: int, zone: str, due: Callable[[Reminder], int | None], at: int) -> int:
        """This is a person's zone now, and what is said by their wall clock moves with it; how many that were.

        What would be over by the new clock stays where it is.
        """

        def transaction(db: Tx) -> int:
            db.execute("UPDATE person SET timezone = ? WHERE id = ?", (zone, person_id))
            moved = 0
            rows = db.execute(
                f"{SELECT_OPEN_REMINDERS}AND person_id = ? AND (rule <> '' OR wall = 1)", (person_id,)
            ).fetchall()
            for reminder in (reminder_of(row) for row in rows):
                then = due(reminder)
                if then is not None and then > at and then != reminder.due_at:
                    db.execute("UPDATE reminder SET due_at = ? WHERE id = ?", (then, reminder.id))
                    moved += 1
            db.execute(
                "UPDATE epoch SET stale = 'people' WHERE stale = '' AND session_id IN (SELECT session.id FROM session "
                "JOIN chat ON chat.id = session.chat_id AND chat.kind = 'dm' JOIN member ON member.chat_id = chat.id "
                "WHERE session.state = 'open' AND person_id = ?)",
                (person_id,),
            )
            return moved

        return await self._database.write(transaction)
