"""Events and their attachments: stored with the decision about them, queued, and read back as the context bus."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.core.events import FORGOTTEN, Attachment, Event, Place
from bot.core.memories import MemoryQuestion
from bot.core.people import Chat, Person
from bot.core.speaking import STOP_REASONS, LastDecisions, LastEntry, LastLine, LastLook, QueueMarks
from bot.store.access import chat_of, persons
from bot.store.engine import Repository, reading, reads, writes, writing
from bot.store.index import index_lines
from bot.store.ledger import ReservationFate, Settlement, end_call, settle_call
from bot.store.schema import EVENT_QUEUE, NO_EVENT, placeholders
from bot.store.transactions import Row, Tx
from bot.store.windows import put_follow_ups_back

QUOTED_ID = """coalesce((SELECT max(said.id) FROM event AS said WHERE said.chat_id = event.chat_id
    AND said.external_id = event.target AND said.external_id <> '' AND said.kind = 'message' AND said.id < event.id),
    (SELECT max(said.id) FROM sent JOIN event AS said ON said.turn_id = sent.turn_id AND said.kind = 'bot'
    WHERE sent.chat_id = event.chat_id AND sent.external_id = event.target AND event.target <> ''))"""
"""The line that a message replies to."""

SELECT_EVENT = f"""SELECT id, chat_id, at, kind, person_id, name, text,
    CASE hidden WHEN 'forgotten' THEN '{FORGOTTEN}' ELSE label END, why, forwarded, turn_id,
    CASE WHEN target <> '' AND kind = 'message' THEN (SELECT coalesce(nullif(substr(quoted.text, 1, 200), ''),
        quoted.name) FROM event AS quoted WHERE quoted.id = {QUOTED_ID} AND quoted.hidden = ''
        AND quoted.id <> (SELECT max(id) FROM event AS before WHERE before.chat_id = event.chat_id
        AND before.id < event.id AND before.hidden = '')) END, quote FROM """
"""An event with what it replies to, unless that is the line just before it."""

MOST_IN_ONE = 500
"""Events that one statement asks for by their numbers."""

COMMAND_REASONS = ("command", "pair", "closed", "off", *STOP_REASONS)
"""What is answered without a model; it opens no window."""

IS_VISIBLE = "hidden = '' AND "
OWN_RECENT_LINES = (
    f"WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND outcome <> 'command' AND person_id = ? AND id IN "
    "(SELECT id FROM event WHERE chat_id = ? ORDER BY id DESC LIMIT 60) ORDER BY id DESC LIMIT 8"
)
"""What a person wrote last in a chat, of its newest 60 events, without mere commands."""

TELLABLE_LINES = (
    "WHERE (hidden = '' OR (hidden = 'forgotten' AND kind IN ('message', 'bot'))) AND chat_id = ? AND id < ? "
    "AND (state <> 'queued' OR (kind = 'message' AND tries = 0)) AND (state <> 'dead' OR turn_id IS NOT NULL) "
)
"""The lines of a chat before an event that a request may tell: all that people can see, also what waits for an answer of
its own, and that something was said which is forgotten.

What failed, and waits to be tried alone, is left out, and what was given up before it could be put into a request: it
would break the next one as well.
"""

IS_DEAD = "state = 'dead' AND hidden <> 'old'"
"""What was given up, as long as its text is kept."""


SPOKEN_NAMES = ("", "voice-message.ogg")
"""What platforms call a recording that was made to be sent (Telegram, Discord)."""

MOST_OWN_LINES, OWN_WORDS_MS = 4, 600_000
"""So many lines of a person, of the last ten minutes, say together what they ask for."""


def read_events(tx: Tx, where: str, *values: object, table: str = "event", marked: bool = True) -> tuple[Event, ...]:
    """The events of a condition and its order, with what they reply to and, unless none is `marked`, what was sent along.

    `table` may say by which index they are found.
    """
    rows = tx.all(f"{SELECT_EVENT}{table} {where}", *values)
    marks = attachment_marks(tx, [row[0] for row in rows]) if marked else {}
    return tuple(_event(row, marks.get(row[0], "")) for row in rows)


def tellable_lines(
    tx: Tx, chat_id: int, answering: tuple[int, ...], limit: int, where: str, *values: object, apart: bool
) -> tuple[tuple[Event, ...], int]:
    """The newest `limit` lines of a chat that a request may tell and for which `where` holds, in order, and how many
    are older; `values` are those of `where`.

    Not the messages that it is `answering`, and not what comes after a command that is still to be carried out and may
    close the session, nor, `apart`, after a message that is answered by itself: lines are told in order.
    """
    sql = (
        f"SELECT min(id) FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND kind = 'message' AND tries = 0 "
        "AND (? OR why = 'command') AND id > ?"
    )
    next_alone = tx.value(sql, chat_id, apart, max(answering, default=NO_EVENT))
    told = f"{TELLABLE_LINES}AND {where} AND id NOT IN ({placeholders(answering)}) "
    given = (chat_id, next_alone or NO_EVENT, *values, *answering)
    found = read_events(tx, f"{told}ORDER BY id DESC LIMIT ?", *given, limit)
    if len(found) < limit:
        return found[::-1], 0
    return found[::-1], tx.value(f"SELECT count(*) FROM event {told}", *given) - len(found)


def _event(row: Row, marks: str) -> Event:
    number, chat_id, at, kind, person_id, name, text, label, why, forwarded, turn_id, known, told = row
    quote = known or told or ""
    return Event(number, chat_id, at, kind, person_id, name, text, label, why, bool(forwarded), turn_id, quote, marks)


def attachment_marks(tx: Tx, event_ids: Sequence[int]) -> dict[int, str]:
    """What the <ctx> tells of the attachments of these events; an event without any is left out."""
    found: dict[int, list[str]] = {}
    for start in range(0, len(event_ids), MOST_IN_ONE):
        part = event_ids[start : start + MOST_IN_ONE]
        for row in tx.all(
            "SELECT event_id, position, kind, name, state, text FROM attachment "
            f"WHERE event_id IN ({placeholders(part)}) ORDER BY event_id, position",
            *part,
        ):
            found.setdefault(row[0], []).append(attachment_mark(*row))
    return {number: " ".join(each) for number, each in found.items()}


def attachment_mark(event_id: int, position: int, kind: str, name: str, state: str, text: str) -> str:
    """One attachment in short: [image #12], [file #12.2 name.txt], or what is known of it: [image #12: a cat]."""
    number = f"#{event_id}.{position + 1}" if position else f"#{event_id}"
    shown = f"{kind} {number} {name}" if kind == "file" and name else f"{kind} {number}"
    if state == "refused" and text:
        return f"[{shown} ({text})]"
    return f"[{shown}: {text}]" if state == "done" and text else f"[{shown}]"


def finish_events(tx: Tx, events: tuple[int, ...], outcome: str) -> None:
    """Take events off the queue with a recorded outcome; what is said to them by itself is stored before."""
    done = "UPDATE event SET state = 'done', outcome = ?, due_at = NULL WHERE id = ? AND state = 'queued' RETURNING via"
    for number in events:
        if tx.value(done, outcome, number):
            end_waiting(tx, number)


def end_waiting(tx: Tx, number: int) -> None:
    """Where a platform shows that the answer to a command is on its way, and none comes there, it shows that no more."""
    sql = (
        "INSERT INTO outbox (chat_id, kind, text, state, due_at, via, only_for) "
        "SELECT chat_id, 'withdrawal', '', 'pending', at, via, account FROM event WHERE id = ? AND via <> '' "
        "AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.via <> '' AND outbox.via = event.via)"
    )
    tx.run(sql, number)


def add_line(tx: Tx, chat_id: int, text: str, at: int, label: str = "", **more: object) -> int:
    """A line of nuan's own in a chat; its number. `more` are values of further columns."""
    return tx.insert("event", chat_id=chat_id, at=at, kind="bot", text=text, label=label, state="done", **more)


def note_effect(tx: Tx, key: str, at: int, result: str = "done") -> None:
    """Under that key stands when something was done last, and what came of it."""
    tx.put("effect", "key", key=key, result=result, at=at)


SELECT_ATTACHMENT = """SELECT event_id, position, attachment.kind, handle, attachment.name, mime, size FROM attachment
    JOIN event ON event.id = attachment.event_id WHERE event.hidden = '' """
IS_ATTACHMENT = (
    "event_id = ? AND position = ? AND EXISTS (SELECT 1 FROM event WHERE event.id = event_id AND hidden = '')"
)


@dataclass(frozen=True, slots=True)
class SentAttachment:
    """One attachment of an event; `position` counts from 0."""

    event_id: int
    position: int
    attachment: Attachment


IS_DUE = f"SELECT 1 FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND due_at <= ?"
CALLED = f"{IS_DUE} AND kind = 'message' AND why NOT IN ('command', 'pair', 'closed')"
QUEUED = (
    "WHERE chat_id = ? AND state = 'queued' AND (due_at <= ? OR (why <> 'window' AND tries = 0) "
    f"OR (due_at IS NULL AND EXISTS ({CALLED}))) AND EXISTS ({IS_DUE}) ORDER BY id"
)
"""What is due, and with it what came late and waits for the rest of its backlog: it would be shown and told twice.

What failed waits for its next try alone. With what a turn answers also the follow-ups that an earlier one failed on:
they wait without a deadline.
"""
SELECT_QUEUE_MARKS = (
    f"SELECT id, coalesce(due_at > ?, FALSE), tries > 0, due_at IS NULL FROM {EVENT_QUEUE} "
    "WHERE chat_id = ? AND state = 'queued'"
)


@dataclass(frozen=True, slots=True)
class WaitingChat:
    """What in a chat is to be answered by now, in order, with the people who wrote it.

    `asked` is what people of the chat were asked back about memories, by person; `promising` are those of whom any
    promise is known.
    """

    chat: Chat
    due: tuple[Event, ...]
    people: Mapping[int | None, Person]
    standing: QueueMarks = field(default_factory=QueueMarks)
    asked: Mapping[int, MemoryQuestion] = field(default_factory=dict)
    promising: frozenset[int] = frozenset()


class EventLog(Repository):
    """The context bus on disk: what happened in each chat, and what of it still waits for an answer."""

    @reads
    def newest_ids(self, tx: Tx, place: Place, limit: int, *, hidden: bool = False) -> tuple[str, ...]:
        """The platform's ids of the newest messages of people of a place, newest first; also `hidden` ones."""
        sql = (
            "SELECT event.external_id FROM event JOIN place ON place.chat_id = event.chat_id WHERE place.platform = ? "
            "AND place.external_id = ? AND event.external_id <> '' AND kind = 'message' AND (? OR hidden = '') "
            "ORDER BY event.id DESC LIMIT ?"
        )
        found = tx.all(sql, place.platform, place.external_id, hidden, limit)
        return tuple(number for (number,) in found)

    @reads
    def recent(
        self, tx: Tx, chat_id: int, after: int, since: int, limit: int, *, waiting: bool = False
    ) -> tuple[Event, ...]:
        """The newest `limit` visible events of a chat after event `after` and not older than `since`, in order.

        With `waiting` also those that still wait for their own answer.
        """
        queued = "" if waiting else "state <> 'queued' AND "
        where = f"WHERE {IS_VISIBLE}{queued}chat_id = ? AND id > ? AND at >= ? ORDER BY id DESC LIMIT ?"
        return read_events(tx, where, chat_id, after, since, limit)[::-1]

    @reads
    def between(self, tx: Tx, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """All visible events of a chat with after < id <= upto that may be kept, in order."""
        where = f"WHERE {IS_VISIBLE}off_record = 0 AND chat_id = ? AND id > ? AND id <= ? ORDER BY id"
        return read_events(tx, where, chat_id, after, upto)

    @reads
    def around(self, tx: Tx, chat_id: int, event_id: int, most: int) -> tuple[int, int]:
        """The first and the last number of the messages around one in its chat, at most so many on either side."""
        here = "SELECT id FROM event WHERE chat_id = ? AND kind = 'message' AND id"
        before = tx.ids(f"{here} <= ? ORDER BY id DESC LIMIT ?", chat_id, event_id, most)
        after = tx.ids(f"{here} >= ? ORDER BY id LIMIT ?", chat_id, event_id, most)
        return min(before, default=event_id), max(after, default=event_id)

    @reads
    def of(self, tx: Tx, numbers: tuple[int, ...]) -> tuple[Event, ...]:
        """Those events, in order."""
        return read_events(tx, f"WHERE id IN ({placeholders(numbers)}) ORDER BY id", *numbers)

    @reads
    def own_lines(
        self, tx: Tx, event_ids: tuple[int, ...], person_id: int, now: int, *, answered: bool = False
    ) -> tuple[Event, ...]:
        """Those of these messages that this person wrote, in order: nothing forwarded, and nothing of a bot.

        Where they are few, what the same person wrote in that chat just before them comes first; what was `answered`
        as a command only when it is asked for.
        """
        own = (
            f"WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM person WHERE person.id = person_id AND is_bot = 1) AND "
        )
        these = read_events(tx, f"{own}id IN ({placeholders(event_ids)}) ORDER BY id", person_id, *event_ids)
        before = read_events(
            tx,
            f"{own}chat_id = (SELECT chat_id FROM event WHERE id = ?) AND id < ? AND at >= ? "
            "AND (? OR outcome <> 'command') ORDER BY id DESC LIMIT ?",
            person_id,
            max(event_ids, default=0),
            min(event_ids, default=0),
            now - OWN_WORDS_MS,
            answered,
            max(0, MOST_OWN_LINES - len(these)),
        )
        return (*reversed(before), *these)

    @reads
    def off_record(self, tx: Tx, numbers: tuple[int, ...]) -> frozenset[int]:
        """Those of these messages that are to be kept nowhere."""
        return frozenset(
            tx.ids(f"SELECT id FROM event WHERE off_record > 0 AND id IN ({placeholders(numbers)})", *numbers)
        )

    @reads
    def asked_lately(self, tx: Tx, chat_id: int, person_id: int, now: int) -> MemoryQuestion | None:
        """What that person was asked there of memories, while a plain answer counts and ten minutes after it."""
        return _questions(tx, chat_id, now - OWN_WORDS_MS).get(person_id)

    @reads
    def said_before(self, tx: Tx, event_ids: tuple[int, ...]) -> Mapping[int, str]:
        """What nuan said right before each of these messages, with nobody's line between, within ten minutes."""
        sql = (
            "SELECT event.id, said.text FROM event JOIN event AS said ON said.id = (SELECT max(id) FROM event AS other "
            "WHERE other.chat_id = event.chat_id AND other.id < event.id AND other.kind IN ('message', 'bot')) "
            f"WHERE event.id IN ({placeholders(event_ids)}) AND said.kind = 'bot' AND said.hidden = '' "
            "AND said.at >= event.at - ?"
        )
        return dict(tx.all(sql, *event_ids, OWN_WORDS_MS))

    @reads
    def last_words(self, tx: Tx, person_id: int, chat_id: int, now: int) -> tuple[str, ...]:
        """What that person wrote there last, newest first: as much as says what somebody asks for."""
        sql = (
            f"SELECT text FROM event WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? "
            "AND chat_id = ? AND at >= ? ORDER BY id DESC LIMIT ?"
        )
        found = tx.all(sql, person_id, chat_id, now - OWN_WORDS_MS, MOST_OWN_LINES)
        return tuple(text for (text,) in found)

    @reads
    def was_refused(self, tx: Tx, chat_id: int, person_id: int, since: int) -> bool:
        """Whether that person was told there why nothing is answered, for what they wrote at `since` (ms) or later."""
        sql = (
            "SELECT 1 FROM event WHERE chat_id = ? AND person_id = ? AND outcome = 'refused' "
            "AND kind = 'message' AND at >= ? LIMIT 1"
        )
        return tx.has(sql, chat_id, person_id, since)

    @reads
    def met_limit(self, tx: Tx, chat_id: int, person_id: int, since: int) -> bool:
        """Whether what that person wrote there last, at `since` (ms) or later, met a limit."""
        sql = (
            "SELECT outcome FROM event WHERE chat_id = ? AND person_id = ? AND at >= ? "
            "AND outcome IN ('answered', 'failed', 'refused', 'silent') ORDER BY id DESC LIMIT 1"
        )
        return tx.value(sql, chat_id, person_id, since) in ("refused", "silent")

    @reads
    def dead(self, tx: Tx) -> dict[str, int]:
        """How many events were given up, by the name of the error."""
        return dict(tx.all(f"SELECT error, count(*) FROM event WHERE {IS_DEAD} GROUP BY error"))

    attachment_marks = reading(attachment_marks)
    finish = writing(finish_events)
    put_back = writing(put_follow_ups_back)

    @reads
    def waiting(self, tx: Tx, chat_id: int, now: int) -> WaitingChat:
        """What in this chat is to be answered by now; LookupError when there is no such chat."""
        chat = chat_of(tx, chat_id)
        due = read_events(tx, QUEUED, *(chat_id, now) * 3, table=EVENT_QUEUE)
        if not due:
            return WaitingChat(chat, due, {})
        marks, writers = tx.all(SELECT_QUEUE_MARKS, now, chat_id), {event.person_id for event in due}
        return WaitingChat(
            chat,
            due,
            {person.id: person for person in persons(tx, f"WHERE id IN ({placeholders(writers)})", *writers)},
            QueueMarks(*(frozenset(row[0] for row in marks if row[kind]) for kind in (1, 2, 3))),
            _questions(tx, chat_id, now),
            frozenset(tx.ids_for("SELECT owner_id FROM commitment WHERE owner_id = ? LIMIT 1", writers)),
        )

    @reads
    def last_decisions(self, tx: Tx, chat_id: int, before: int) -> LastDecisions:
        """What was decided last in a chat before that event, which asks."""
        line = (
            "SELECT id, name, why, state, outcome, due_at FROM event WHERE chat_id = ? AND id < ? AND kind = "
            "'message' AND hidden = '' ORDER BY id DESC LIMIT 1"
        )
        entry = (
            "SELECT id, why, outcome FROM event WHERE chat_id = ? AND id < ? AND why IN ('join', 'heartbeat') "
            "AND kind = 'event' ORDER BY id DESC LIMIT 1"
        )
        return LastDecisions(
            tx.one(line, chat_id, before, to=LastLine),
            tx.one("SELECT event_id, why, until, due_at FROM joining WHERE chat_id = ?", chat_id, to=LastLook),
            tx.one(entry, chat_id, before, to=LastEntry),
        )

    @writes
    def delay(self, tx: Tx, events: tuple[int, ...], until: int) -> None:
        """These messages are answered then, ms, unless they were done meanwhile."""
        for number in events:
            tx.run("UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", until, number)

    @reads
    def is_voice(self, tx: Tx, event_ids: Sequence[int], person_id: int) -> bool:
        """Whether that person spoke one of these messages; a recording that has a name is a song, or a file."""
        sql = (
            "SELECT 1 FROM attachment JOIN event ON event.id = event_id WHERE attachment.kind = 'voice' "
            f"AND attachment.name IN ({placeholders(SPOKEN_NAMES)}) AND person_id = ? AND forwarded = 0 "
            f"AND event_id IN ({placeholders(event_ids)})"
        )
        return tx.has(sql, *SPOKEN_NAMES, person_id, *event_ids)

    @reads
    def new_attachments(self, tx: Tx, event_ids: Sequence[int]) -> tuple[SentAttachment, ...]:
        """What of these events nobody has looked at yet, in order."""
        sql = (
            f"{SELECT_ATTACHMENT} AND attachment.state = 'new' AND event_id IN ({placeholders(event_ids)}) "
            "ORDER BY event_id, position"
        )
        return tx.all(sql, *event_ids, to=_sent)

    @reads
    def attachment(self, tx: Tx, chat_id: int, event_id: int, position: int) -> SentAttachment | None:
        """One attachment of that chat, unless it was taken back."""
        where = "AND event.chat_id = ? AND event_id = ? AND position = ?"
        return tx.one(SELECT_ATTACHMENT + where, chat_id, event_id, position, to=_sent)

    @writes
    def describe(self, tx: Tx, sent: SentAttachment, text: str, settlement: Settlement | None, at: int) -> None:
        """Commit what it shows or says together with what that cost; once."""
        if settlement is not None:
            settle_call(tx, settlement, at)
        _finish(tx, sent, "done", text)
        index_lines(tx, (sent.event_id,))

    @writes
    def refuse_look(
        self, tx: Tx, sent: SentAttachment, reason: str, call: tuple[int, ReservationFate] | None, at: int
    ) -> None:
        """Commit why it is not known; `call` is the one that failed, and what becomes of its reservation."""
        end_call(tx, call, at)
        _finish(tx, sent, "refused", reason)

    @writes
    def looked(self, tx: Tx, sent: SentAttachment, session_id: int, settlement: Settlement, at: int) -> bool:
        """Commit what another look cost, and that the log of that session tells of it; False when it is gone by now."""
        settle_call(tx, settlement, at)
        if not tx.has(f"SELECT 1 FROM attachment WHERE {IS_ATTACHMENT}", sent.event_id, sent.position):
            return False
        newest = "SELECT max(entry.id) FROM entry JOIN epoch ON epoch.id = epoch_id WHERE session_id = ?"
        if entry := tx.value(newest, session_id):
            tx.link("entry", entry, (sent.event_id,))
        return True


def _finish(tx: Tx, sent: SentAttachment, state: Literal["done", "refused"], text: str) -> None:
    sql = f"UPDATE attachment SET state = ?, text = ? WHERE state = 'new' AND {IS_ATTACHMENT}"
    tx.run(sql, state, text, sent.event_id, sent.position)


def _sent(event_id: int, position: int, *attachment: Any) -> SentAttachment:
    return SentAttachment(event_id, position, Attachment(*attachment))


def _questions(tx: Tx, chat_id: int, now: int) -> dict[int, MemoryQuestion]:
    """What people of a chat were asked back about memories, while an answer counts."""
    rows = tx.all(
        "SELECT person_id, kind, memories, forever FROM question WHERE chat_id = ? AND until > ?", chat_id, now
    )
    return {person: MemoryQuestion(kind, tuple(json.loads(of)), bool(forever)) for person, kind, of, forever in rows}
