"""The verbs behind reminders: set, say, end. What a request means and what is said is decided elsewhere."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from bot.store.access import Lists, standing
from bot.store.events import finish
from bot.store.outbox import put
from bot.text.alike import alike, core
from bot.types.digest import ChangedReminder
from bot.types.event import ChatKind
from bot.types.outgoing import Draft
from bot.types.reminder import Due, Ended, NewReminder, Reminder, Waiting

_PERSON = re.compile(r"[我你您]|\b(?:i|me|my|you|your)\b", re.IGNORECASE)
"""A reminder is worded for its person, a promise by them."""

LABEL = "reminder"
"""The label of nuan's own lines about reminders: told to models that answer and digest, in no note or index."""

ROUND = 50
"""Reminders that one commit says."""

TEXT = "coalesce((SELECT commitment.text FROM commitment WHERE commitment.id = commitment_id), reminder.text)"
"""What a reminder is of; one of a promise holds none of its words."""

COLUMNS = f"""reminder.id, reminder.person_id, reminder.chat_id, {TEXT}, reminder.due_at, rule, reminder.made_at,
    coalesce(commitment_id, 0), reminder.script, reminder.shared"""
OPEN = f"SELECT {COLUMNS} FROM reminder WHERE ended_at IS NULL "

_DUE = f"""SELECT {COLUMNS}, chat.kind, person.name, person.script, person.timezone, enabled, gone,
    EXISTS (SELECT 1 FROM member WHERE member.chat_id = reminder.chat_id AND member.person_id = reminder.person_id)
    FROM reminder JOIN chat ON chat.id = reminder.chat_id JOIN person ON person.id = reminder.person_id
    WHERE ended_at IS NULL AND due_at <= ? ORDER BY due_at, reminder.id LIMIT {ROUND}"""


@dataclass(frozen=True, slots=True)
class Answer:
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


def store_reminder(db: sqlite3.Connection, new: NewReminder, at: int) -> int:
    """Verb part: store it with its source edges; its number. The same of the same message is stored once."""
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


def _instead(db: sqlite3.Connection, new: NewReminder, at: int) -> None:
    """Verb part: whoever asks to be reminded of what the same message promises is reminded once, as they asked."""
    for event in new.event_ids:
        rows = db.execute(
            "SELECT reminder.id, commitment.text, reminder.due_at FROM edge "
            "JOIN commitment ON commitment.id = edge.derived_id "
            "JOIN reminder ON reminder.commitment_id = commitment.id AND reminder.ended_at IS NULL "
            "WHERE edge.kind = 'commitment' AND edge.event_id = ? AND reminder.person_id = ?",
            (event, new.person_id),
        ).fetchall()
        same = (number for number, text, due in rows if due == new.due_at or same_thing(new.text, str(text)))
        end(db, same, "asked", at)


def same_thing(asked: str, promised: str) -> bool:
    """Verb part: whether a reminder, bare or of these words, is one of that promise."""
    return not core(asked) or alike(_PERSON.sub("", asked), _PERSON.sub("", promised))


def end(db: sqlite3.Connection, numbers: Iterable[int], why: Ended, at: int) -> int:
    """Verb part: these are not said any more; how many there were. Of a cancelled one the text is kept for undo."""
    kept = "text" if why == "cancelled" else "''"
    return sum(
        db.execute(
            f"UPDATE reminder SET ended_at = ?, outcome = ?, text = {kept} WHERE id = ? AND ended_at IS NULL",
            (at, why, number),
        ).rowcount
        for number in numbers
    )


def change_reminder(db: sqlite3.Connection, changed: ChangedReminder, at: int) -> None:
    """Verb part: an open one that somebody asked for has other words or another time, or is over."""
    if not changed.text and changed.due_at is None:
        end(db, (changed.number,), "cancelled", at)
        return
    db.execute(
        "UPDATE reminder SET text = CASE WHEN ?1 = '' THEN text ELSE ?1 END, "
        "due_at = CASE WHEN ?2 > ?4 THEN ?2 ELSE due_at END WHERE id = ?3 AND ended_at IS NULL "
        "AND commitment_id IS NULL",
        (changed.text, changed.due_at or 0, changed.number, at),
    )


def reset_reminder(db: sqlite3.Connection, number: int, new: NewReminder) -> None:
    """Verb part: an open one has these words now and is said then, as these messages say; its number stays."""
    db.execute(
        "UPDATE reminder SET text = ?, due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL",
        (new.text, new.due_at, new.rule, number),
    )
    db.executemany(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('reminder', ?, ?)",
        [(number, event) for event in new.event_ids],
    )


def drop_reminders(db: sqlite3.Connection, events: Iterable[int], why: Ended, at: int) -> None:
    """Verb part: reminders that came from these messages, and questions about them, go with them."""
    for event in sorted(events):
        rows = db.execute("SELECT derived_id FROM edge WHERE kind = 'reminder' AND event_id = ?", (event,)).fetchall()
        numbers = tuple(row[0] for row in rows)
        end(db, numbers, why, at)
        _no_undo(db, numbers, why)
        unsay(db, numbers)
        db.execute("DELETE FROM reminder_question WHERE event_id = ?", (event,))


def reminded(db: sqlite3.Connection, events: set[int]) -> set[int]:
    """Verb part: nuan's lines that confirm or say what these messages asked to be reminded of, or promised."""
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


def unsay(db: sqlite3.Connection, numbers: tuple[int, ...]) -> None:
    """Verb part: nuan's lines about these reminders are told no more; what waits to be sent is not."""
    for number in numbers:
        lines = "SELECT event_id FROM edge WHERE kind = 'reminded' AND derived_id = ?"
        db.execute(
            "UPDATE outbox SET text = '', state = 'cancelled' WHERE state = 'pending' AND attempts = 0 "
            f"AND event_id IN ({lines})",
            (number,),
        )
        db.execute(f"UPDATE event SET text = '', hidden = 'deleted' WHERE id IN ({lines})", (number,))


def forget_reminders(db: sqlite3.Connection, owner_id: int | None, repeats: Callable[[str], bool], at: int) -> None:
    """Verb part: what repeats a forgotten statement is not said to its owner later."""
    rows = db.execute("SELECT id, text FROM reminder WHERE person_id IS ? AND text <> ''", (owner_id,)).fetchall()
    gone = tuple(row[0] for row in rows if repeats(row[1]))
    end(db, gone, "forgotten", at)
    _no_undo(db, gone, "forgotten")
    unsay(db, gone)


def _no_undo(db: sqlite3.Connection, numbers: Iterable[int], why: Ended) -> None:
    """Of cancelled reminders nothing is kept for undo any more."""
    db.executemany(
        "UPDATE reminder SET outcome = ?, text = '' WHERE id = ? AND outcome = 'cancelled'",
        [(why, number) for number in numbers],
    )


def answer(db: sqlite3.Connection, said: Answer, numbers: tuple[int, ...], at: int) -> None:
    """Verb part: nuan's line, in the outbox and among the lines, and the message off the queue."""
    via = db.execute("SELECT via FROM event WHERE id = ?", (said.event_id,)).fetchone()
    text = said.text(numbers)
    line = tell(db, said.chat_id, text, at)
    for number in numbers:
        db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('reminded', ?, ?)", (number, line))
    put(db, said.chat_id, Draft(text, "receipt", via=via[0] if via else ""), at, event_id=line)
    finish(db, (said.event_id,), "done", "command")


def waits(db: sqlite3.Connection, event_id: int) -> bool:
    """Verb part: whether a message still waits for its answer: it was neither deleted nor stopped meanwhile."""
    row = db.execute("SELECT state = 'queued' AND hidden = '' FROM event WHERE id = ?", (event_id,)).fetchone()
    return bool(row and row[0])


def tell(db: sqlite3.Connection, chat_id: int, text: str, at: int) -> int:
    """Verb part: nuan's line among those of the chat; its number."""
    return cast(
        "int",
        db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state) VALUES (?, ?, 'bot', ?, ?, 'done')",
            (chat_id, at, text, LABEL),
        ).lastrowid,
    )


def ask(db: sqlite3.Connection, chat_id: int, person_id: int, waiting: Waiting | None, until: int) -> None:
    """Verb part: the open question of a person there, in place of the one before; None ends it."""
    db.execute("DELETE FROM reminder_question WHERE chat_id = ? AND person_id = ?", (chat_id, person_id))
    if waiting is not None:
        db.execute(
            "INSERT INTO reminder_question (chat_id, person_id, text, said, wakes, plain, asked_at, event_id, until, "
            "shared, numbers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (chat_id, person_id, waiting.text, json.dumps(waiting.said, ensure_ascii=False), int(waiting.wakes),
             int(waiting.plain), waiting.asked_at, waiting.event_id, until, int(waiting.shared),
             json.dumps(waiting.numbers)),
        )  # fmt: skip


def fire(
    db: sqlite3.Connection, lists: Lists, text: Callable[[Due], str], upcoming: Callable[[Due], int | None], at: int
) -> tuple[tuple[int, int, bool], ...]:  # fmt: skip
    """Verb: say what is due, each once, and set what comes back to its next time; (number, chat, said) of each.

    Where nuan may not speak, nothing can be sent, or its person is not any more, it is not said; once is then over.
    """
    done: list[tuple[int, int, bool]] = []
    for *columns, kind, name, script, timezone, enabled, gone, there in db.execute(_DUE, (at,)).fetchall():
        reminder = reminder_of(tuple(columns))
        due = Due(reminder, cast("ChatKind", kind), str(name), reminder.script or str(script), str(timezone))
        away = gone == 1 or gone > at
        may = standing(db, lists, reminder.chat_id, reminder.person_id).allowed
        speaks = bool(enabled) and not away and may and (kind == "dm" or bool(there))
        if speaks:
            words = text(due)
            line = tell(db, reminder.chat_id, words, at)
            db.execute("INSERT INTO edge (kind, derived_id, event_id) VALUES ('reminded', ?, ?)", (reminder.id, line))
            put(db, reminder.chat_id, Draft(words, "notice"), at, event_id=line)
        again = upcoming(due) if reminder.rule else None
        if again is None:
            end(db, (reminder.id,), "said" if speaks else "unsaid", at)
        else:
            db.execute("UPDATE reminder SET due_at = ? WHERE id = ?", (again, reminder.id))
        if speaks:
            db.execute("UPDATE reminder SET said_at = ? WHERE id = ?", (at, reminder.id))
        done.append((reminder.id, reminder.chat_id, speaks))
    return tuple(done)


def reminders_back(db: sqlite3.Connection, upcoming: Callable[[Reminder, str], int | None], said_after: int) -> int:
    """Verb: what comes back and was last said after that moment (ms) is due at its next time; how many that were."""
    changed = 0
    rows = db.execute(
        f"SELECT {COLUMNS}, timezone FROM reminder JOIN person ON person.id = person_id "
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


def tidy_reminders(db: sqlite3.Connection, ended_before: int, now: int) -> None:
    """Verb part: rows of reminders that ended before that moment (ms) go, and questions whose time is over."""
    old = "SELECT id FROM reminder WHERE ended_at < ?"
    db.execute(f"DELETE FROM edge WHERE kind IN ('reminder', 'reminded') AND derived_id IN ({old})", (ended_before,))
    db.execute("DELETE FROM reminder WHERE ended_at < ?", (ended_before,))
    db.execute("DELETE FROM reminder_question WHERE until < ?", (now,))
