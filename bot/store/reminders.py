"""Reminders and questions about them: set, said, moved and ended."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.core.events import Draft
from bot.core.memories import DueReminder, IncompleteReminder, NewReminder, Reminder, ReminderEnd
from bot.core.sessions import ChangedReminder
from bot.store.access import permissions_of
from bot.store.engine import Repository, reads, writes, writing
from bot.store.events import add_line, finish_events, note_effect
from bot.store.outbox import enqueue
from bot.store.sessions import end_direct_logs
from bot.store.transactions import Row, Tx, row_reader
from bot.text.similarity import reminds_of, repeating

MOVED_KEY = "moved reminder:"
"""With its number: of the effect that has when, ms, and by which rule a reminder was to be said before it was moved."""

REMINDER_LABEL = "reminder"
"""The label of nuan's own lines about reminders: told to models that answer and digest, in no note or index."""

REMINDERS_A_COMMIT = 50
"""Reminders that one commit says."""

REMINDER_TEXT = "coalesce((SELECT commitment.text FROM commitment WHERE commitment.id = commitment_id), reminder.text)"
"""What a reminder is of; one of a promise holds none of its words."""

REMINDER_COLUMNS = f"""reminder.id, reminder.person_id, reminder.chat_id, {REMINDER_TEXT}, reminder.due_at, rule,
    reminder.made_at, coalesce(commitment_id, 0), reminder.script, reminder.shared"""
SELECT_OPEN_REMINDERS = f"SELECT {REMINDER_COLUMNS} FROM reminder WHERE ended_at IS NULL "

SELECT_DUE_REMINDERS = f"""SELECT {REMINDER_COLUMNS}, chat.kind, person.name, person.script, person.timezone, enabled,
    gone, EXISTS (SELECT 1 FROM member WHERE member.chat_id = reminder.chat_id
    AND member.person_id = reminder.person_id)
    FROM reminder JOIN chat ON chat.id = reminder.chat_id JOIN person ON person.id = reminder.person_id
    WHERE ended_at IS NULL AND due_at <= ? ORDER BY due_at, reminder.id LIMIT {REMINDERS_A_COMMIT}"""


reminder_of: Callable[[Row], Reminder] = row_reader(Reminder)
"""REMINDER_COLUMNS of a row as a value."""


@dataclass(frozen=True, slots=True)
class ReminderAnswer:
    """What is said to a message about reminders; `text` gets the numbers of those that were set."""

    chat_id: int
    event_id: int
    text: Callable[[tuple[int, ...]], str]


def store_reminder(tx: Tx, new: NewReminder, at: int) -> int:
    """Store it with its source edges; its number. The same of the same message is stored once."""
    for event in new.event_ids:
        sql = (
            "SELECT id FROM edge JOIN reminder ON reminder.id = derived_id WHERE edge.kind = 'reminder' "
            "AND event_id = ? AND text = ? AND due_at = ? AND rule = ? AND ended_at IS NULL"
        )
        same: int | None = tx.value(sql, event, new.text, new.due_at, new.rule)
        if same is not None:
            return same
    number = tx.insert(
        "reminder",
        person_id=new.person_id,
        chat_id=new.chat_id,
        text=new.text,
        due_at=new.due_at,
        rule=new.rule,
        made_at=at,
        script=new.script,
        shared=int(new.shared),
        wall=int(new.wall),
    )
    tx.link("reminder", number, new.event_ids)
    # Whoever asks to be reminded of what the same message promises is reminded once, as they asked.
    for event in new.event_ids:
        for nudge, text, due in tx.all(
            "SELECT reminder.id, commitment.text, reminder.due_at FROM edge "
            "JOIN commitment ON commitment.id = edge.derived_id "
            "JOIN reminder ON reminder.commitment_id = commitment.id AND reminder.ended_at IS NULL "
            "WHERE edge.kind = 'commitment' AND edge.event_id = ? AND reminder.person_id = ?",
            event,
            new.person_id,
        ):
            if due == new.due_at or reminds_of(new.text, text):
                end_reminders(tx, (nudge,), "asked", at)
    return number


def end_reminders(tx: Tx, numbers: Iterable[int], why: ReminderEnd, at: int) -> int:
    """These are not said any more; how many there were. Of a cancelled one the text is kept for undo."""
    kept = "text" if why == "cancelled" else "''"
    ended = f"UPDATE reminder SET ended_at = ?, outcome = ?, text = {kept} WHERE id = ? AND ended_at IS NULL"
    return sum(tx.run(ended, at, why, number) for number in numbers)


def change_reminder(tx: Tx, changed: ChangedReminder, at: int) -> None:
    """An open one that somebody asked for has other words or another time, or is over."""
    if not changed.text and changed.due_at is None:
        end_reminders(tx, (changed.number,), "cancelled", at)
        return
    due = changed.due_at if changed.due_at is not None and changed.due_at > at else None
    sql = (
        "UPDATE reminder SET text = coalesce(?, text), due_at = coalesce(?, due_at) WHERE id = ? AND ended_at IS NULL "
        "AND commitment_id IS NULL"
    )
    tx.run(sql, changed.text or None, due, changed.number)


def reset_reminder(tx: Tx, number: int, new: NewReminder) -> None:
    """An open one has these words now and is said then, as these messages say; its number stays."""
    sql = "UPDATE reminder SET text = ?, due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL"
    tx.run(sql, new.text, new.due_at, new.rule, number)
    tx.link("reminder", number, new.event_ids)


def drop_reminders(tx: Tx, events: Iterable[int], why: ReminderEnd, at: int) -> None:
    """Reminders that came from these messages, and questions about them, go with them."""
    for event in sorted(events):
        _drop(tx, tx.derived("reminder", event), why, at)
        tx.run("DELETE FROM reminder_question WHERE event_id = ?", event)


def forget_reminders(tx: Tx, owner_id: int | None, wordings: Iterable[str], at: int) -> None:
    """What repeats a forgotten statement is not said to its owner later."""
    rows = tx.all("SELECT id, text FROM reminder WHERE person_id IS NOT DISTINCT FROM ? AND text <> ''", owner_id)
    _drop(tx, tuple(sorted(repeating(wordings, rows))), "forgotten", at)


def _drop(tx: Tx, numbers: tuple[int, ...], why: ReminderEnd, at: int) -> None:
    """These end, and nothing of them is kept for undo or told any more."""
    end_reminders(tx, numbers, why, at)
    for number in numbers:
        tx.run("UPDATE reminder SET outcome = ?, text = '' WHERE id = ? AND outcome = 'cancelled'", why, number)
    unsay_reminders(tx, numbers)


def reminder_lines(tx: Tx, events: set[int]) -> set[int]:
    """nuan's lines that confirm or say what these messages asked to be reminded of, or promised."""
    asked = (
        "SELECT line.event_id FROM edge JOIN edge AS line ON line.kind = 'reminded' "
        "AND line.derived_id = edge.derived_id WHERE edge.kind = 'reminder' AND edge.event_id = ?"
    )
    promised = (
        "SELECT event_id FROM edge WHERE kind = 'reminded' AND derived_id IN (SELECT reminder.id FROM edge AS said "
        "JOIN reminder ON commitment_id = said.derived_id WHERE said.kind = 'commitment' AND said.event_id = ?)"
    )
    return tx.ids_for(asked, events) | tx.ids_for(promised, events)


def unsay_reminders(tx: Tx, numbers: Iterable[int]) -> None:
    """nuan's lines about these reminders are told no more; what waits to be sent is not."""
    lines = "SELECT event_id FROM edge WHERE kind = 'reminded' AND derived_id = ?"
    for number in numbers:
        tx.run(
            "UPDATE outbox SET text = '', payload = '', state = 'cancelled' WHERE state = 'pending' AND attempts = 0 "
            f"AND event_id IN ({lines})",
            number,
        )
        tx.run(f"UPDATE event SET text = '', hidden = 'deleted' WHERE id IN ({lines})", number)


def tidy_reminders(tx: Tx, ended_before: int, now: int) -> None:
    """Rows of reminders that ended before that moment (ms) go, and questions whose time is over."""
    for number in tx.ids("SELECT id FROM reminder WHERE ended_at < ?", ended_before):
        tx.unlink("reminder", number)
        tx.unlink("reminded", number)
        tx.run("DELETE FROM reminder WHERE id = ?", number)
    tx.run("DELETE FROM reminder_question WHERE until < ?", now)


def ask_about_reminder(tx: Tx, chat_id: int, person_id: int, waiting: IncompleteReminder | None, until: int) -> None:
    """The open question of a person there, in place of the one before; None ends it."""
    tx.run("DELETE FROM reminder_question WHERE chat_id = ? AND person_id = ?", chat_id, person_id)
    if waiting is not None:
        tx.insert(
            "reminder_question",
            chat_id=chat_id,
            person_id=person_id,
            text=waiting.text,
            said=json.dumps(waiting.said, ensure_ascii=False),
            wakes=int(waiting.wakes),
            plain=int(waiting.plain),
            asked_at=waiting.asked_at,
            event_id=waiting.event_id,
            until=until,
            shared=int(waiting.shared),
            numbers=json.dumps(waiting.numbers),
        )


def _add_line(tx: Tx, chat_id: int, draft: Draft, at: int, numbers: Iterable[int] = ()) -> None:
    """nuan's line about these reminders, in the outbox and among those of the chat."""
    line = add_line(tx, chat_id, draft.text, at, REMINDER_LABEL)
    for number in numbers:
        tx.link("reminded", number, (line,))
    enqueue(tx, chat_id, draft, at, event_id=line)


def _answer(tx: Tx, said: ReminderAnswer, numbers: tuple[int, ...], at: int) -> None:
    """nuan's line, and the message off the queue."""
    via = tx.value("SELECT via FROM event WHERE id = ?", said.event_id) or ""
    _add_line(tx, said.chat_id, Draft(said.text(numbers), "receipt", via=via), at, numbers)
    finish_events(tx, (said.event_id,), "command")


def _waits(tx: Tx, said: ReminderAnswer) -> bool:
    """Whether a message still waits for its answer: it was neither deleted nor stopped meanwhile."""
    return tx.has("SELECT 1 FROM event WHERE id = ? AND state = 'queued' AND hidden = ''", said.event_id)


class Reminders(Repository):
    """Reminders and the questions about them."""

    ask = writing(ask_about_reminder)

    @reads
    def open(self, tx: Tx, person_id: int, chat_id: int | None = None, *, shared: bool = False) -> tuple[Reminder, ...]:
        """The open reminders of a person, the next first; only those of one chat unless that is None.

        With `shared` those for all of that chat as well, whoever asked for them.
        """
        where, values = "person_id = ?", [person_id]
        if chat_id is not None:
            whose = "(person_id = ? OR reminder.shared = 1)" if shared else where
            where, values = f"{whose} AND chat_id = ?", [person_id, chat_id]
        return tx.all(f"{SELECT_OPEN_REMINDERS}AND {where} ORDER BY due_at, reminder.id", *values, to=Reminder)

    @reads
    def kept_since(self, tx: Tx, reminder: Reminder) -> bool:
        """Whether its person asked there to keep something after it was set."""
        later = "SELECT 1 FROM memory WHERE owner_id = ? AND chat_id = ? AND asked = 1 AND created_at > ? LIMIT 1"
        return tx.has(later, reminder.person_id, reminder.chat_id, reminder.made_at)

    @reads
    def of_events(self, tx: Tx, event_ids: tuple[int, ...]) -> frozenset[int]:
        """The reminders that ever came from these messages."""
        return frozenset(number for event in event_ids for number in tx.derived("reminder", event))

    @reads
    def ordered(self, tx: Tx, event_id: int) -> bool:
        """Whether this message was done as a command, alone or with an answer to the rest of it."""
        return tx.has(
            "SELECT 1 FROM event WHERE id = ? AND (outcome = 'command' OR EXISTS (SELECT 1 FROM edge "
            "WHERE edge.kind = 'reminder' AND event_id = event.id))",
            event_id,
        )

    @reads
    def set_for(self, tx: Tx, event_id: int, due_at: int) -> bool:
        """Whether a reminder of that moment, ms, ever came from this message."""
        sql = (
            "SELECT 1 FROM edge JOIN reminder ON reminder.id = derived_id WHERE kind = 'reminder' AND event_id = ? "
            "AND due_at = ?"
        )
        return tx.has(sql, event_id, due_at)

    @reads
    def overdue(self, tx: Tx, before: int) -> tuple[int, int]:
        """How many are open, and how many of them should have been said before that moment (ms)."""
        late = tx.ids("SELECT due_at < ? FROM reminder WHERE ended_at IS NULL", before)
        return len(late), sum(late)

    @writes
    def set(
        self,
        tx: Tx,
        new: Sequence[NewReminder],
        said: ReminderAnswer | None,
        at: int,
        *,
        asks: Callable[[tuple[int, ...]], IncompleteReminder | None] = lambda numbers: None,
        until: int = 0,
    ) -> tuple[int, ...]:
        """Store and confirm them in one commit and leave the question open that their numbers `asks`; the numbers.

        None: the message waits for no answer any more.
        """
        if said is not None and not _waits(tx, said):
            return ()
        numbers = tuple(store_reminder(tx, each, at) for each in new)
        ask_about_reminder(tx, new[0].chat_id, new[0].person_id, asks(numbers), until)
        if said is not None:
            _answer(tx, said, numbers, at)
        return numbers

    @writes
    def reset(
        self, tx: Tx, new: Sequence[NewReminder], chat_id: int, text: Callable[[tuple[int, ...]], str], at: int
    ) -> None:
        """A message that had set some was edited: what it asks for now, and a line that says so."""
        numbers = tuple(store_reminder(tx, each, at) for each in new)
        _add_line(tx, chat_id, Draft(text(numbers), "receipt"), at)

    @writes
    def move(self, tx: Tx, moved: Mapping[int, tuple[int, str]], said: ReminderAnswer, at: int) -> bool:
        """These are said at another time: due_at (ms) and rule of each; False when nobody waits for it any more.

        The question stays open: they may be moved once more.
        """
        if not _waits(tx, said):
            return False
        for number, (due, rule) in moved.items():
            before = tx.one("SELECT due_at, rule FROM reminder WHERE id = ? AND ended_at IS NULL", number)
            if before is not None:
                note_effect(tx, f"{MOVED_KEY}{number}", at, json.dumps(before))
            tx.run("UPDATE reminder SET due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL", due, rule, number)
        _answer(tx, said, tuple(moved), at)
        return True

    @writes
    def say(
        self,
        tx: Tx,
        said: ReminderAnswer,
        person_id: int,
        at: int,
        *,
        asks: IncompleteReminder | None = None,
        until: int = 0,
        ends: tuple[int, ...] = (),
    ) -> bool:
        """Answer a message, end these reminders, and leave the question open; False when nobody waits any more."""
        if not _waits(tx, said):
            return False
        end_reminders(tx, ends, "cancelled", at)
        ask_about_reminder(tx, said.chat_id, person_id, asks, until)
        _answer(tx, said, (), at)
        return True

    @writes
    def told_besides(self, tx: Tx, chat_id: int, event_id: int, text: str, at: int) -> None:
        """A line among those of the chat, once for a message: the answer to its rest brings this receipt."""
        once = "INSERT INTO effect (key, result, at) VALUES (?, 'done', ?) ON CONFLICT DO NOTHING"
        if tx.run(once, f"event:{event_id}:reminder", at):
            add_line(tx, chat_id, text, at, REMINDER_LABEL)

    @writes
    def cancel(self, tx: Tx, numbers: tuple[int, ...], at: int) -> int:
        """These are not said any more; how many that were."""
        return end_reminders(tx, numbers, "cancelled", at)

    @reads
    def question(self, tx: Tx, chat_id: int, person_id: int, at: int) -> IncompleteReminder | None:
        """What this person was asked there, while an answer counts."""
        asked = (
            "SELECT text, said, wakes, plain, asked_at, event_id, shared, numbers FROM reminder_question "
            "WHERE chat_id = ? AND person_id = ? AND until > ?"
        )
        return tx.one(asked, chat_id, person_id, at, to=IncompleteReminder)

    @reads
    def questions(self, tx: Tx) -> frozenset[tuple[int, int]]:
        """Who was asked, by chat and person."""
        return frozenset((chat, person) for chat, person in tx.all("SELECT chat_id, person_id FROM reminder_question"))

    @writes
    def fire(
        self, tx: Tx, text: Callable[[DueReminder], str], upcoming: Callable[[DueReminder], int | None], at: int
    ) -> tuple[tuple[int, int, bool], ...]:
        """Say what is due, each once and all in one commit, and set what comes back to its next time; (number, chat,
        whether it was said) of each.

        Where nuan may not speak, nothing can be sent, or its person is not any more, it is not said; once is then over.
        """
        done: list[tuple[int, int, bool]] = []
        for *columns, kind, name, script, timezone, enabled, gone, there in tx.all(SELECT_DUE_REMINDERS, at):
            reminder = reminder_of(tuple(columns))
            due = DueReminder(reminder, kind, name, reminder.script or script, timezone)
            away = gone == 1 or gone > at
            may = permissions_of(tx, reminder.chat_id, reminder.person_id).allowed
            speaks = bool(enabled) and not away and may and (kind == "dm" or bool(there))
            if speaks:
                _add_line(tx, reminder.chat_id, Draft(text(due), "notice"), at, (reminder.id,))
                tx.run("UPDATE reminder SET said_at = ? WHERE id = ?", at, reminder.id)
            again = upcoming(due) if reminder.rule else None
            if again is None:
                end_reminders(tx, (reminder.id,), "said" if speaks else "unsaid", at)
            else:
                tx.run("UPDATE reminder SET due_at = ? WHERE id = ?", again, reminder.id)
            done.append((reminder.id, reminder.chat_id, speaks))
        return tuple(done)

    @writes
    def recurring_back(self, tx: Tx, upcoming: Callable[[Reminder, str], int | None], said_after: int) -> int:
        """What comes back and was last said after that moment (ms) is due at its next time; how many that were."""
        changed = 0
        for *columns, zone in tx.all(
            f"SELECT {REMINDER_COLUMNS}, timezone FROM reminder JOIN person ON person.id = person_id "
            "WHERE ended_at IS NULL AND rule <> '' AND said_at > ?",
            said_after,
        ):
            reminder = reminder_of(tuple(columns))
            due = upcoming(reminder, zone)
            if due is not None and due < reminder.due_at:
                changed += tx.run("UPDATE reminder SET due_at = ?, said_at = NULL WHERE id = ?", due, reminder.id)
        return changed

    @writes
    def rezone(self, tx: Tx, person_id: int, zone: str, due: Callable[[Reminder], int | None], at: int) -> int:
        """This is a person's zone now, and what is said by their wall clock moves with it; how many that were.

        What would be over by the new clock stays where it is.
        """
        tx.run("UPDATE person SET timezone = ? WHERE id = ?", zone, person_id)
        moved = 0
        by_clock = f"{SELECT_OPEN_REMINDERS}AND person_id = ? AND (rule <> '' OR wall = 1)"
        for reminder in tx.all(by_clock, person_id, to=Reminder):
            then = due(reminder)
            if then is not None and then > at and then != reminder.due_at:
                moved += tx.run("UPDATE reminder SET due_at = ? WHERE id = ?", then, reminder.id)
        end_direct_logs(tx, person_id)
        return moved
