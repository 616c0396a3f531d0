"""Events: taking them in, queueing what asks for an answer, reading them back as the context bus."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from bot.store.database import Database
from bot.store.people import find_chat, find_person
from bot.types.event import Event, EventKind, EventState, Incoming, Place
from bot.types.people import Chat
from bot.types.speaking import Decision, Situation

EVENT = "SELECT id, chat_id, at, kind, person_id, name, text, label, why, forwarded, turn_id FROM event "
VISIBLE = "hidden = '' AND "
NEWS = f"WHERE {VISIBLE}chat_id = ?1 AND NOT (kind = 'bot' AND turn_id IS NOT NULL) "
"""What a delta may tell: everything visible but replies, which the log holds already."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of an incoming event; `event` is None for a copy of one that was there before."""

    event: Event | None
    chat: Chat
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """What intake knows of an event before it is stored: the situation (window and switch still unknown).

    `script` gives the script of the text from the script that its sender last wrote in ("" when unknown).
    """

    incoming: Incoming
    situation: Situation
    script: Callable[[str], str]
    hidden: str = ""


class Events:
    """The context bus on disk: what happened in each chat, and what of it still waits for an answer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(self, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
        """Commit an event together with the decision about it; a second copy changes nothing."""
        return await self._database.write(lambda db: accept(db, arrival, decide))

    async def due(self, chat_id: int, now: int) -> tuple[Event, ...]:
        """What in this chat is to be answered by now, in order."""
        rows = await self._database.rows(
            EVENT + "INDEXED BY event_queue WHERE chat_id = ? AND state = 'queued' AND due_at <= ? ORDER BY id",
            (chat_id, now),
        )
        return tuple(event_of(row) for row in rows)

    async def newest(self, place: Place) -> str:
        """The platform's id of the newest message of a place, "" when there is none."""
        row = await self._database.row(
            "SELECT event.external_id FROM event JOIN place ON place.chat_id = event.chat_id WHERE place.platform = ? "
            "AND place.external_id = ? AND event.external_id <> '' AND kind = 'message' ORDER BY event.id DESC LIMIT 1",
            (place.platform, place.external_id),
        )
        return str(row[0]) if row else ""

    async def recent(self, chat_id: int, after: int, since: int, limit: int) -> tuple[Event, ...]:
        """The newest `limit` visible events of a chat after event `after` and not older than `since`, in order."""
        rows = await self._database.rows(
            EVENT + "WHERE " + VISIBLE + "chat_id = ? AND id > ? AND at >= ? ORDER BY id DESC LIMIT ?",
            (chat_id, after, since, limit),
        )
        return tuple(event_of(row) for row in reversed(rows))

    async def between(self, chat_id: int, after: int, upto: int) -> tuple[Event, ...]:
        """All visible events of a chat with after < id <= upto, in order."""
        rows = await self._database.rows(
            EVENT + "WHERE " + VISIBLE + "chat_id = ? AND id > ? AND id <= ? ORDER BY id", (chat_id, after, upto)
        )
        return tuple(event_of(row) for row in rows)

    async def finish(self, events: tuple[int, ...], state: EventState, outcome: str) -> None:
        """Take events off the queue with a recorded outcome."""
        await self._database.write(lambda db: finish(db, events, state, outcome))


def event_of(row: tuple[object, ...]) -> Event:
    """A row of EVENT as a value."""
    number, chat_id, at, kind, person_id, name, text, label, why, forwarded, turn_id = row
    return Event(
        cast("int", number), cast("int", chat_id), cast("int", at), cast("EventKind", kind),
        cast("int | None", person_id), str(name), str(text), str(label), str(why), bool(forwarded),
        cast("int | None", turn_id),
    )  # fmt: skip


def finish(db: sqlite3.Connection, events: tuple[int, ...], state: EventState, outcome: str) -> None:
    """Verb part: the outcome of queued events."""
    db.executemany(
        "UPDATE event SET state = ?, outcome = ?, due_at = NULL WHERE id = ? AND state = 'queued'",
        [(state, outcome, number) for number in events],
    )


def accept(db: sqlite3.Connection, arrival: Arrival, decide: Callable[[Situation], Decision]) -> Accepted:
    """Verb: store one event with its decision."""
    incoming, at = arrival.incoming, arrival.situation.at
    chat = find_chat(db, incoming.place, at)
    if db.execute("SELECT 1 FROM event WHERE delivery_key = ?", (_delivery(incoming),)).fetchone():
        return Accepted(None, chat, None)
    person_id = find_person(db, incoming.sender, arrival.script, at) if incoming.sender else None
    if incoming.scene is not None and incoming.scene != chat.scene:
        db.execute("UPDATE chat SET scene = ? WHERE id = ?", (incoming.scene, chat.id))
        _insert(db, chat.id, at, Incoming(incoming.place, None, "event", incoming.scene, "scene"))
    until = 0
    if person_id is not None:
        _member(db, chat.id, person_id, incoming, at)
        row = db.execute(
            "SELECT until FROM window WHERE chat_id = ? AND person_id = ?", (chat.id, person_id)
        ).fetchone()
        until = row[0] if row else 0
    decision = decide(replace(arrival.situation, enabled=chat.enabled, window_until=until))
    number = _insert(db, chat.id, at, incoming, person_id, decision, arrival.hidden)
    if person_id is not None and decision.action != "listen" and decision.why != "command":
        _activate(db, chat.id, person_id, decision)
    return Accepted(event_of(db.execute(EVENT + "WHERE id = ?", (number,)).fetchone()), chat, decision)


def _insert(
    db: sqlite3.Connection, chat_id: int, at: int, incoming: Incoming,
    person_id: int | None = None, decision: Decision | None = None, hidden: str = "",
) -> int:  # fmt: skip
    queued = decision is not None and decision.action != "listen"
    return cast(
        "int",
        db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, name, text, label, delivery_key, external_id, forwarded, "
            "state, why, due_at, hidden) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chat_id, at, incoming.kind, person_id, incoming.sender.name if incoming.sender else "",
                incoming.text, incoming.label, _delivery(incoming), incoming.external_id,
                int(incoming.forwarded), "queued" if queued else "listened", decision.why if decision else "",
                decision.due_at if decision and queued else None, hidden,
            ),
        ).lastrowid,
    )  # fmt: skip


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


def _activate(db: sqlite3.Connection, chat_id: int, person_id: int, decision: Decision) -> None:
    """Open or extend the window, and let this person's waiting lines keep pace with the newest one."""
    db.execute(
        "INSERT INTO window (chat_id, person_id, until) VALUES (?, ?, ?) "
        "ON CONFLICT (chat_id, person_id) DO UPDATE SET until = excluded.until",
        (chat_id, person_id, decision.window_until),
    )
    db.execute(
        "UPDATE event SET due_at = ? WHERE chat_id = ? AND person_id = ? AND state = 'queued' AND why = 'window'",
        (decision.due_at, chat_id, person_id),
    )
