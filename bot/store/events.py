"""Events: taking them in, queueing what asks for an answer, reading them back as the context bus."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from bot.store.access import Lists, admit, kept
from bot.store.arrival import Accepted, Arrival
from bot.store.bots import quiet
from bot.store.bursts import keep_pace, waiting
from bot.store.copies import aimed, compared, heard, note
from bot.store.database import Database
from bot.store.indexing import index_lines
from bot.store.lulls import arm
from bot.store.people import find_chat, find_person
from bot.store.quoting import QUOTE_CHARS, QUOTED, known
from bot.types.event import FORGOTTEN, Event, EventKind, EventState, Incoming, Place
from bot.types.feedback import Signal
from bot.types.speaking import HALTS, Decision, Paced, Situation

EVENT = f"""SELECT id, chat_id, at, kind, person_id, name, text,
    CASE hidden WHEN 'forgotten' THEN '{FORGOTTEN}' ELSE label END, why, forwarded, turn_id,
    CASE WHEN target <> '' AND kind = 'message' THEN (SELECT coalesce(nullif(substr(quoted.text, 1, 200), ''),
        quoted.name) FROM main.event AS quoted WHERE quoted.id = {QUOTED} AND quoted.hidden = ''
        AND quoted.id <> (SELECT max(id) FROM main.event AS before WHERE before.chat_id = event.chat_id
        AND before.id < event.id AND before.hidden = '')) END,
    quote,
    (SELECT json_group_array(json_array(position, attachment.kind, attachment.name, attachment.state, attachment.text))
        FROM attachment WHERE event_id = event.id) FROM event """
"""An event with what it replies to, unless that is the line just before it, and with what was sent along.

main.event inside is the same table: views.py rewrites the one FROM at the end.
"""

APART = ("command", "pair", "closed", "off", *HALTS)
"""What is answered without a model; it opens no window."""

VISIBLE = "hidden = '' AND "
OWN_LINES = (
    f"WHERE {VISIBLE}kind = 'message' AND forwarded = 0 AND outcome <> 'command' AND person_id = ?2 AND id IN "
    "(SELECT id FROM event WHERE chat_id = ?1 ORDER BY id DESC LIMIT 60) ORDER BY id DESC LIMIT 8"
)
"""What a person wrote last in a chat, of its newest 60 events, without mere commands."""
LINES = (
    "WHERE (hidden = '' OR (hidden = 'forgotten' AND kind IN ('message', 'bot'))) AND chat_id = ?1 "
    "AND (state <> 'queued' OR (kind = 'message' AND tries = 0)) AND (state <> 'dead' OR turn_id IS NOT NULL) "
    "AND id NOT IN (SELECT value FROM json_each(?2)) "
    "AND id < coalesce((SELECT min(waits.id) FROM main.event AS waits INDEXED BY event_queue WHERE waits.chat_id = ?1 "
    "AND waits.state = 'queued' AND waits.kind = 'message' AND waits.tries = 0 AND (?3 OR waits.why = 'command') "
    "AND waits.id > (SELECT max(value) FROM json_each(?2))), 1 << 62) "
)
"""The lines of chat ?1 that a request may tell besides the messages ?2 that it answers, a JSON list.

That is all that people can see, also what waits for an answer of its own, and that something was said which is
forgotten. Not what comes after a command that is still to be carried out and may close the session, nor, with ?3, after
a message that is answered by itself: lines are told in order.

What failed, and waits to be tried alone, is left out, and what was given up before it could be put into a request: it
would break the next one as well.
"""


@dataclass(frozen=True, slots=True)
class Seen(Event):
    """An event that replies to an older line (`quote` is its text, else who said it), or brings attachments."""

    quote: str = ""
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that happened to a chat or to an older message of it; `at` is now, ms.

    Of a `stranger` nothing but facts of the platform counts.
    """

    incoming: Incoming
    chat_id: int
    person_id: int | None
    at: int
    stranger: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change leaves: `hidden` keeps its line from being told, `queued` has the chat's lane see to it."""

    hidden: str = ""
    queued: bool = False


Change = Callable[[sqlite3.Connection, Happened], Effect]
Halt = Callable[[sqlite3.Connection, Accepted, Arrival], Accepted]
Remark = Callable[[sqlite3.Connection, int, int, tuple[Signal, ...], int], None]
Promise = Callable[[sqlite3.Connection, Accepted, Arrival], bool]


class Events:
    """The context bus on disk: what happened in each chat, and what of it still waits for an answer."""

    def __init__(
        self, database: Database, lists: Lists, change: Change, halt: Halt, remark: Remark, promise: Promise
    ) -> None:  # fmt: skip
        """`change`, `halt`, `remark` and `promise` carry out, within the commit, what an event but a message does to
        older ones, what a command to stop does, what a message lets on about the last reply, and what it promises.
        """
        self._database = database
        self._change = change
        self._halt = halt
        self._remark = remark
        self._promise = promise
        self._lists = lists

    async def accept(self, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """Commit an event together with the decision about it; a second copy changes nothing."""

        def verb(db: sqlite3.Connection) -> Accepted:
            accepted = accept(db, arrival, decide, self._lists, self._change)
            event = accepted.event
            if arrival.remarks and event is not None and event.person_id is not None:
                self._remark(db, accepted.chat.id, event.person_id, arrival.remarks, arrival.situation.at)
            promised = self._promise(db, accepted, arrival)
            return self._halt(db, replace(accepted, armed=accepted.armed or promised), arrival)

        return await self._database.write(verb)

    async def newest(self, place: Place) -> str:
        """The platform's id of the newest message of a place, "" when there is none."""
        row = await self._database.row(
            "SELECT event.external_id FROM event JOIN place ON place.chat_id = event.chat_id WHERE place.platform = ? "
            "AND place.external_id = ? AND event.external_id <> '' AND kind = 'message' ORDER BY event.id DESC LIMIT 1",
            (place.platform, place.external_id),
        )
        return str(row[0]) if row else ""

    async def newest_ids(self, place: Place, limit: int) -> tuple[str, ...]:
        """The platform's ids of the newest visible messages of people of a place, newest first."""
        rows = await self._database.rows(
            "SELECT event.external_id FROM event JOIN place ON place.chat_id = event.chat_id WHERE place.platform = ? "
            "AND place.external_id = ? AND event.external_id <> '' AND kind = 'message' AND hidden = '' "
            "ORDER BY event.id DESC LIMIT ?",
            (place.platform, place.external_id, limit),
        )
        return tuple(str(row[0]) for row in rows)

    async def recent(
        self, chat_id: int, after: int, since: int, limit: int, *, waiting: bool = False
    ) -> tuple[Event, ...]:
        """The newest `limit` visible events of a chat after event `after` and not older than `since`, in order.

        With `waiting` also those that still wait for their own answer.
        """
        queued = "" if waiting else "state <> 'queued' AND "
        rows = await self._database.rows(
            f"{EVENT}WHERE {VISIBLE}{queued}chat_id = ? AND id > ? AND at >= ? ORDER BY id DESC LIMIT ?",
            (chat_id, after, since, limit),
        )
        return tuple(event_of(row) for row in reversed(rows))

    async def between(self, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """All visible events of a chat with after < id <= upto that may be kept, in order."""
        rows = await self._database.rows(
            f"{EVENT}WHERE {VISIBLE}off_record = 0 AND chat_id = ? AND id > ? AND id <= ? ORDER BY id",
            (chat_id, after, upto),
        )
        return tuple(event_of(row) for row in rows)

    async def around(self, chat_id: int, event_id: int, most: int) -> tuple[int, int]:
        """The first and the last number of the messages around one in its chat, at most so many on either side."""
        row = await self._database.row(
            "SELECT (SELECT min(id) FROM (SELECT id FROM event WHERE chat_id = ?1 AND kind = 'message' AND id <= ?2 "
            "ORDER BY id DESC LIMIT ?3)), (SELECT max(id) FROM (SELECT id FROM event WHERE chat_id = ?1 "
            "AND kind = 'message' AND id >= ?2 ORDER BY id LIMIT ?3))",
            (chat_id, event_id, most),
        )
        first, last = (row[0], row[1]) if row is not None else (None, None)
        return int(first or event_id), int(last or event_id)

    async def finish(self, events: tuple[int, ...], state: EventState, outcome: str) -> None:
        """Take events off the queue with a recorded outcome."""
        await self._database.write(lambda db: finish(db, events, state, outcome))


def event_of(row: tuple[object, ...]) -> Event:
    """A row of EVENT as a value."""
    number, chat_id, at, kind, person_id, name, text, label, why, forwarded, turn_id, known, told, attached = row
    quote = known or told
    marks = " ".join(mark(cast("int", number), *each) for each in sorted(json.loads(str(attached))))
    event = Event(
        cast("int", number), cast("int", chat_id), cast("int", at), cast("EventKind", kind),
        cast("int | None", person_id), str(name), str(text), str(label), str(why), bool(forwarded),
        cast("int | None", turn_id),
    )  # fmt: skip
    if not quote and not marks:
        return event
    return Seen(
        event.id, event.chat_id, event.at, event.kind, event.person_id, event.name, event.text, event.label, event.why,
        event.forwarded, event.turn_id, str(quote or ""), marks,
    )  # fmt: skip


def mark(event_id: int, position: int, kind: str, name: str, state: str, text: str) -> str:
    """One attachment in short: [image #12], [file #12.2 name.txt], or what is known of it: [image #12: a cat]."""
    number = f"#{event_id}.{position + 1}" if position else f"#{event_id}"
    shown = f"{kind} {number} {name}" if kind == "file" and name else f"{kind} {number}"
    if state == "refused" and text:
        return f"[{shown} ({text})]"
    return f"[{shown}: {text}]" if state == "done" and text else f"[{shown}]"


def finish(db: sqlite3.Connection, events: tuple[int, ...], state: EventState, outcome: str) -> None:
    """Verb part: the outcome of queued events."""
    db.executemany(
        "UPDATE event SET state = ?, outcome = ?, due_at = NULL WHERE id = ? AND state = 'queued'",
        [(state, outcome, number) for number in events],
    )


def accept(
    db: sqlite3.Connection, arrival: Arrival, decide: Callable[[Situation], Decision], lists: Lists, change: Change
) -> Accepted:
    """Verb: store one event with its decision; of what strangers send, and of a copy, only that it came."""
    incoming, at = arrival.incoming, arrival.situation.at
    chat = find_chat(db, incoming.place, at)
    if db.execute("SELECT 1 FROM event WHERE delivery_key = ?", (_delivery(incoming),)).fetchone():
        return Accepted(None, chat, None)
    incoming = came = aimed(db, chat.id, incoming)
    person_id = find_person(db, incoming.sender, chat.id, arrival.script, at) if incoming.sender else None
    until = 0
    if person_id is not None:
        _member(db, chat.id, person_id, incoming, at)
        row = db.execute(
            "SELECT until FROM window WHERE chat_id = ? AND person_id = ?", (chat.id, person_id)
        ).fetchone()
        until = row[0] if row else 0
    situation = admit(db, lists, chat.id, person_id, arrival.situation)
    muted = db.execute("SELECT 1 FROM chat WHERE id = ? AND gone > ?", (chat.id, at)).fetchone() is not None
    bots_quiet = situation.from_bot and situation.mentions_bot and quiet(db, chat.id, at)
    seen = replace(situation, enabled=chat.enabled, window_until=until, muted=muted, bots_quiet=bots_quiet)
    decision = decide(replace(seen, mode=chat.mode))
    new, twin = compared(db, chat.id, heard(incoming, person_id, at))
    before = waiting(db, chat.id, person_id, at)
    paced = arrival.pace(decision, before) if twin is None else Paced(Decision("listen", "copy", 0, until))
    decision = paced.decision
    incoming, stranger = kept(incoming, situation, decision.why)
    if incoming.scene is not None and incoming.scene != chat.scene and not stranger:
        db.execute("UPDATE chat SET scene = ? WHERE id = ?", (incoming.scene, chat.id))
        _insert(db, chat.id, at, Incoming(incoming.place, None, "event", incoming.scene, "scene"))
    # What was asked to be kept is told and forgotten like any line; another command is nobody's talk.
    commands = decision.why == "command" and not situation.is_memory_command
    hidden = "stranger" if stranger else "command" if commands else arrival.hidden
    if incoming.kind == "message":
        db.execute("UPDATE chat SET gone = 0 WHERE id = ? AND gone <> 0 AND gone <= ?", (chat.id, at))
    else:
        effect = change(db, Happened(came, chat.id, person_id, at, stranger))
        if effect.hidden:
            incoming, hidden = replace(incoming, text=""), hidden or effect.hidden
        if effect.queued:
            decision = Decision("now", "listen", at, until)
    if twin is not None:
        incoming, hidden = replace(incoming, text="", quote=""), "copy"
    number = _insert(db, chat.id, at, incoming, person_id, decision, hidden)
    note(db, chat.id, number, new, twin)
    speaks = incoming.kind == "message" and decision.action != "listen" and decision.why not in APART
    if person_id is not None and speaks:
        keep_pace(db, chat.id, person_id, paced, (before, at))
    stored = event_of(db.execute(EVENT + "WHERE id = ?", (number,)).fetchone())
    return Accepted(stored, chat, decision, armed=arm(db, chat.id, decision.lull_at))


def _insert(
    db: sqlite3.Connection, chat_id: int, at: int, incoming: Incoming,
    person_id: int | None = None, decision: Decision | None = None, hidden: str = "",
) -> int:  # fmt: skip
    queued = decision is not None and decision.action != "listen"
    number = cast(
        "int",
        db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, name, text, label, delivery_key, external_id, forwarded, "
            "state, why, due_at, hidden, target, via, quote) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chat_id, min(incoming.at or at, at), incoming.kind, person_id,
                incoming.sender.name if incoming.sender else "",
                incoming.text, incoming.label, _delivery(incoming), incoming.external_id,
                int(incoming.forwarded), "queued" if queued else "listened", decision.why if decision else "",
                decision.due_at if decision and queued else None, hidden, incoming.target, incoming.via,
                "" if hidden or known(db, chat_id, incoming.target) else incoming.quote[:QUOTE_CHARS],
            ),
        ).lastrowid,
    )  # fmt: skip
    db.executemany(
        "INSERT INTO attachment (event_id, position, kind, handle, name, mime, size) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (number, place, each.kind, each.handle, each.name, each.mime, each.size)
            for place, each in enumerate(incoming.attachments)
        ],
    )
    index_lines(db, (number,))
    return number


def _delivery(incoming: Incoming) -> str | None:
    """Delivery keys are unique within a platform only; None (never repeated) equals nothing."""
    return f"{incoming.place.platform} {incoming.delivery_key}" if incoming.delivery_key else None


def _member(db: sqlite3.Connection, chat_id: int, person_id: int, incoming: Incoming, at: int) -> None:
    """Whoever does something in a chat belongs to its audience until they leave."""
    if incoming.kind == "event" and incoming.label == "leave":
        db.execute("DELETE FROM member WHERE chat_id = ? AND person_id = ?", (chat_id, person_id))
        return
    db.execute(
        "INSERT INTO member (chat_id, person_id, seen_at) VALUES (?, ?, ?) "
        "ON CONFLICT (chat_id, person_id) DO UPDATE SET seen_at = excluded.seen_at",
        (chat_id, person_id, at),
    )
