"""What people want to be reminded of, and what nuan asked them back about it. It decides nothing."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence

from bot.store.access import Lists
from bot.store.database import Database
from bot.store.outbox import put
from bot.store.reminding import OPEN, Answer, answer, ask, end, fire, reminder_of, store_reminder, tell, waits
from bot.store.rows import marks
from bot.types.outgoing import Draft
from bot.types.reminder import Due, NewReminder, Reminder, Waiting


class Reminders:
    """Reminders and the questions about them."""

    def __init__(self, database: Database, lists: Lists) -> None:
        self._database = database
        self._lists = lists

    async def open(
        self, person_id: int, chat_id: int | None = None, *, shared: bool = False
    ) -> tuple[Reminder, ...]:  # fmt: skip
        """The open reminders of a person, the next first; only those of one chat unless that is None.

        With `shared` those for all of that chat as well, whoever asked for them.
        """
        rows = await self._database.rows(
            f"{OPEN}AND (person_id = ?1 OR (?3 AND reminder.shared = 1)) AND (?2 IS NULL OR chat_id = ?2) "
            "ORDER BY due_at, reminder.id",
            (person_id, chat_id, int(shared and chat_id is not None)),
        )
        return tuple(reminder_of(tuple(row)) for row in rows)

    async def of_events(self, event_ids: tuple[int, ...]) -> frozenset[int]:
        """The reminders that ever came from these messages."""
        rows = await self._database.rows(
            f"SELECT derived_id FROM edge WHERE kind = 'reminder' AND event_id IN ({marks(event_ids)})", event_ids
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
        self, new: Sequence[NewReminder], said: Answer | None, at: int, *,
        asks: Callable[[tuple[int, ...]], Waiting | None] = lambda numbers: None, until: int = 0,
    ) -> tuple[int, ...]:  # fmt: skip
        """Store and confirm them in one commit and leave the question open that their numbers `asks`; the numbers.

        None: the message waits for no answer any more.
        """

        def verb(db: sqlite3.Connection) -> tuple[int, ...]:
            if said is not None and not waits(db, said.event_id):
                return ()
            numbers = tuple(store_reminder(db, each, at) for each in new)
            ask(db, new[0].chat_id, new[0].person_id, asks(numbers), until)
            if said is not None:
                answer(db, said, numbers, at)
            return numbers

        return await self._database.write(verb)

    async def reset(
        self, new: Sequence[NewReminder], chat_id: int, text: Callable[[tuple[int, ...]], str], at: int
    ) -> None:  # fmt: skip
        """A message that had set some was edited: what it asks for now, and a line that says so."""

        def verb(db: sqlite3.Connection) -> None:
            numbers = tuple(store_reminder(db, each, at) for each in new)
            line = tell(db, chat_id, text(numbers), at)
            put(db, chat_id, Draft(text(numbers), "receipt"), at, event_id=line)

        await self._database.write(verb)

    async def move(self, moved: Mapping[int, tuple[int, str]], said: Answer, at: int) -> bool:
        """These are said at another time: due_at (ms) and rule of each; False when nobody waits for it any more.

        The question stays open: they may be moved once more.
        """

        def verb(db: sqlite3.Connection) -> bool:
            if not waits(db, said.event_id):
                return False
            for number, (due, rule) in moved.items():
                db.execute(
                    "UPDATE reminder SET due_at = ?, rule = ? WHERE id = ? AND ended_at IS NULL", (due, rule, number)
                )
            answer(db, said, tuple(moved), at)
            return True

        return await self._database.write(verb)

    async def say(
        self, said: Answer, person_id: int, at: int, *, asks: Waiting | None = None, until: int = 0,
        ends: tuple[int, ...] = (),
    ) -> bool:  # fmt: skip
        """Answer a message, end these reminders, and leave the question open; False when nobody waits any more."""

        def verb(db: sqlite3.Connection) -> bool:
            if not waits(db, said.event_id):
                return False
            end(db, ends, "cancelled", at)
            ask(db, said.chat_id, person_id, asks, until)
            answer(db, said, (), at)
            return True

        return await self._database.write(verb)

    async def told_besides(self, chat_id: int, event_id: int, text: str, at: int) -> None:
        """A line among those of the chat, once for a message: the answer to its rest brings this receipt."""

        def verb(db: sqlite3.Connection) -> None:
            key = f"event:{event_id}:reminder"
            if db.execute("INSERT OR IGNORE INTO effect (key, result, at) VALUES (?, 'done', ?)", (key, at)).rowcount:
                tell(db, chat_id, text, at)

        await self._database.write(verb)

    async def cancel(self, numbers: tuple[int, ...], at: int) -> int:
        """These are not said any more; how many that were."""
        return await self._database.write(lambda db: end(db, numbers, "cancelled", at))

    async def question(self, chat_id: int, person_id: int, at: int) -> Waiting | None:
        """What this person was asked there, while an answer counts."""
        row = await self._database.row(
            "SELECT text, said, wakes, plain, asked_at, event_id, shared, numbers FROM reminder_question "
            "WHERE chat_id = ? "
            "AND person_id = ? AND until > ?",
            (chat_id, person_id, at),
        )
        if row is None:
            return None
        return Waiting(
            str(row[0]), tuple(json.loads(row[1])), bool(row[2]), bool(row[3]), int(row[4]), int(row[5]),
            bool(row[6]), tuple(json.loads(row[7])),
        )  # fmt: skip

    async def questions(self) -> frozenset[tuple[int, int]]:
        """Who was asked, by chat and person."""
        rows = await self._database.rows("SELECT chat_id, person_id FROM reminder_question")
        return frozenset((int(row[0]), int(row[1])) for row in rows)

    async def ask(self, chat_id: int, person_id: int, waiting: Waiting | None, until: int) -> None:
        """Leave a question open, or none."""
        await self._database.write(lambda db: ask(db, chat_id, person_id, waiting, until))

    async def fire(
        self, text: Callable[[Due], str], upcoming: Callable[[Due], int | None], at: int
    ) -> tuple[tuple[int, int, bool], ...]:
        """Say what is due, each once and all in one commit; (number, chat, whether it was said) of each."""
        return await self._database.write(lambda db: fire(db, self._lists, text, upcoming, at))

    async def rezone(self, person_id: int, zone: str, due: Callable[[Reminder], int | None], at: int) -> int:
        """This is a person's zone now, and what is said by their wall clock moves with it; how many that were.

        What would be over by the new clock stays where it is.
        """

        def verb(db: sqlite3.Connection) -> int:
            db.execute("UPDATE person SET timezone = ? WHERE id = ?", (zone, person_id))
            moved = 0
            rows = db.execute(f"{OPEN}AND person_id = ? AND (rule <> '' OR wall = 1)", (person_id,)).fetchall()
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

        return await self._database.write(verb)
