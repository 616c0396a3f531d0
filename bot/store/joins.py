"""Entering a talk: what is known of it, what was judged, the event that asks nuan, and its end. It judges nothing."""

import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.access import Lists, standing
from bot.store.database import Database
from bot.store.ledger import settle
from bot.store.quoting import QUOTED
from bot.store.settings import HOUSE_OFF
from bot.store.steps import TURN, Saying, say, turn_of
from bot.store.unasked import leave
from bot.types.joining import ENTRY, JOIN, Entry, Verdict
from bot.types.outgoing import Outgoing
from bot.types.speaking import Mode

LINES = 30
"""Newest lines of a talk that are looked at: more than people say in the time that counts, or than counts for pace."""

LINE_CHARS = 500
"""Characters of a line that are looked at."""

ENTRIES = 60
"""Earlier entries that are looked at: as many as an hour may have."""

NEUTRAL = ("", "overtaken", "crash", "void", "background")
"""Outcomes that say nothing about whether nuan is welcome."""

_LINES = f"""SELECT event.id, event.at, person_id, person.name, substr(event.text, 1, {LINE_CHARS}), why, forwarded,
    person.is_bot, target <> '', CASE WHEN target <> '' THEN
        (SELECT quoted.person_id FROM main.event AS quoted WHERE quoted.id = {QUOTED}) END
    FROM event JOIN person ON person.id = person_id
    WHERE chat_id = ?1 AND kind = 'message' AND hidden = '' ORDER BY event.id DESC LIMIT {LINES}"""

_ENTRIES = f"""SELECT event.id, coalesce(turn.said_at, event.at), outcome, EXISTS (SELECT 1 FROM event AS answer
    WHERE answer.chat_id = ?1 AND answer.id > event.id AND answer.kind = 'message'
    AND answer.at <= coalesce(turn.said_at, event.at) + ?2 AND answer.why IN ('mention', 'reply', 'name', 'window'))
    FROM event LEFT JOIN turn ON turn.id = event.turn_id
    WHERE event.chat_id = ?1 AND event.why = '{JOIN}' ORDER BY event.id DESC LIMIT {ENTRIES}"""

_SPOKE = """SELECT id, at FROM event WHERE chat_id = ? AND kind = 'bot' AND label <> 'stop' ORDER BY id DESC LIMIT 1"""

_WAITING = "SELECT 1 FROM event WHERE chat_id = ? AND state = 'queued' AND kind = 'message' LIMIT 1"


@dataclass(frozen=True, slots=True)
class Heard:
    """One line of people, as it was said: whether it was for somebody else, and who that is where a reply tells."""

    id: int
    at: int
    person_id: int
    name: str
    text: str
    why: str
    forwarded: bool
    from_bot: bool
    is_reply: bool
    replied_to: int | None


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is stored of a talk that is to be looked at, lines and entries in order; `mode` is the chat's own."""

    mode: Mode | None
    lines: tuple[Heard, ...]
    entries: tuple[Entry, ...]
    seen: int
    spoke_id: int
    spoke_at: int
    waiting: bool
    hushed: bool


class Joins:
    """The talks that nuan may enter."""

    def __init__(self, database: Database, lists: Lists, boot: str) -> None:
        self._database = database
        self._lists = lists
        self._boot = boot

    async def begin(self, at: int) -> None:
        """At a start: what an earlier process began to say is not said any more."""
        await self._database.write(lambda db: leave(db, JOIN, None, "crash", at))

    async def take(self, chat_id: int, window_ms: int, at: int) -> Standing | None:
        """The talk of a chat whose deadline has come, which is over with that; None where none has.

        What somebody said up to `window_ms` after an entry may answer it.
        """
        return await self._database.write(lambda db: take(db, chat_id, window_ms, at))

    async def keep(self, chat_id: int, verdict: Verdict, event_id: int, at: int) -> None:
        """Remember what was judged of a talk up to that event, and when to look again."""
        await self._database.write(lambda db: keep(db, chat_id, verdict, event_id, at))

    async def enter(self, chat_id: int, verdict: Verdict, newest: Heard, text: str, at: int) -> Verdict:
        """Queue the event that asks nuan; `text` is what the model is told. What came of it is remembered.

        Nothing is queued where somebody said something after the `newest` line, or where nuan may not speak now.
        """
        return await self._database.write(lambda db: enter(db, self._lists, chat_id, (verdict, newest, text), at))

    async def say(self, saying: Saying, at: int) -> Outgoing | None:
        """The last commit of a turn that nobody asked for; what to send first.

        Without a line, or when somebody said something meanwhile, it is void: paid for, not logged, nothing is sent.
        """
        return await self._database.write(lambda db: say_entry(db, self._lists, saying, at, self._boot))

    async def leave(self, chat_id: int, outcome: str, *, overtaken: bool, at: int) -> None:
        """What is under way in this chat is not said. A call that was `overtaken` by people did not fail."""

        def verb(db: sqlite3.Connection) -> None:
            leave(db, JOIN, chat_id, outcome, at)
            if overtaken:
                db.execute(
                    "UPDATE event SET outcome = 'overtaken' WHERE outcome = 'failed' AND id = "
                    "(SELECT max(id) FROM event WHERE chat_id = ? AND why = ?)",
                    (chat_id, JOIN),
                )

        await self._database.write(verb)


def take(db: sqlite3.Connection, chat_id: int, window_ms: int, at: int) -> Standing | None:
    """Verb: see `Joins.take`."""
    due = "UPDATE joining SET due_at = NULL WHERE chat_id = ? AND due_at <= ?"
    if db.execute(due, (chat_id, at)).rowcount != 1:
        return None
    (mode,) = db.execute("SELECT mode FROM chat WHERE id = ?", (chat_id,)).fetchone()
    (hushed,) = db.execute("SELECT hushed FROM joining WHERE chat_id = ?", (chat_id,)).fetchone()
    entries = db.execute(_ENTRIES, (chat_id, window_ms)).fetchall()
    spoke = db.execute(_SPOKE, (chat_id,)).fetchone() or (0, 0)
    return Standing(
        mode=cast("Mode", mode) if mode else None,
        lines=tuple(_heard(row) for row in reversed(db.execute(_LINES, (chat_id,)).fetchall())),
        entries=tuple(
            Entry(said_at, outcome == "answered", bool(answered) and outcome == "answered", outcome not in NEUTRAL)
            for _, said_at, outcome, answered in reversed(entries)
        ),
        seen=entries[0][0] if entries else 0,
        spoke_id=spoke[0], spoke_at=spoke[1],
        waiting=db.execute(_WAITING, (chat_id,)).fetchone() is not None, hushed=bool(hushed),
    )  # fmt: skip


def _heard(row: tuple[object, ...]) -> Heard:
    number, at, person, name, text, why, forwarded, is_bot, is_reply, to = row
    return Heard(
        cast("int", number), cast("int", at), cast("int", person), str(name), str(text), str(why), bool(forwarded),
        bool(is_bot), bool(is_reply), cast("int | None", to),
    )  # fmt: skip


def keep(db: sqlite3.Connection, chat_id: int, verdict: Verdict, event_id: int, at: int) -> None:
    """Verb: see `Joins.keep`; a nearer deadline that came meanwhile stays."""
    due = verdict.at if verdict.action == "wait" else None
    db.execute(
        "UPDATE joining SET due_at = CASE WHEN ?2 IS NULL THEN due_at ELSE min(coalesce(due_at, ?2), ?2) END, "
        "why = ?3, until = ?4, score = ?5, event_id = ?6, looked_at = ?7 WHERE chat_id = ?1",
        (chat_id, due, verdict.why, verdict.at, verdict.score, event_id, at),
    )


def enter(
    db: sqlite3.Connection, lists: Lists, chat_id: int, what: tuple[Verdict, Heard, str], at: int
) -> Verdict:  # fmt: skip
    """Verb: see `Joins.enter`."""
    verdict, newest, text = what
    if not _may(db, lists, chat_id, newest.person_id) or _later(db, chat_id, newest.id):
        verdict = Verdict("silent", "away", score=verdict.score)
    else:
        db.execute(
            "INSERT INTO event (chat_id, at, kind, person_id, text, label, state, why, due_at, hidden) "
            "VALUES (?1, ?2, 'event', ?3, ?4, ?5, 'queued', ?6, ?2, ?5)",
            (chat_id, at, newest.person_id, text, ENTRY, JOIN),
        )
    keep(db, chat_id, verdict, newest.id, at)
    return verdict


def say_entry(db: sqlite3.Connection, lists: Lists, saying: Saying, at: int, boot: str) -> Outgoing | None:
    """Verb: as `say`, unless there is nothing to say, somebody said something, or nuan may not speak any more."""
    turn = turn_of(db.execute(TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    (asked,) = db.execute("SELECT max(event_id) FROM turn_event WHERE turn_id = ?", (turn.id,)).fetchone()
    free = _may(db, lists, turn.chat_id, turn.person_id) and not _later(db, turn.chat_id, asked)
    if saying.line and free:
        return say(db, saying, at, boot)
    if saying.settlement is not None:
        settle(db, saying.settlement, at)
    leave(db, JOIN, turn.chat_id, "overtaken" if saying.line else "skip", at)
    return None


def _may(db: sqlite3.Connection, lists: Lists, chat_id: int, person_id: int) -> bool:
    """Whether nuan may speak there unasked: switched on, not muted, allowed with whoever spoke last."""
    here = (
        "SELECT 1 FROM chat JOIN joining ON chat_id = id WHERE id = ? AND enabled = 1 AND gone = 0 AND hushed = 0 "
        f"AND NOT {HOUSE_OFF}"
    )
    on = db.execute(here, (chat_id,)).fetchone() is not None
    return on and standing(db, lists, chat_id, person_id).allowed


def _later(db: sqlite3.Connection, chat_id: int, event_id: int) -> bool:
    """Whether something was said after that event, or somebody waits."""
    said = "SELECT 1 FROM event WHERE chat_id = ? AND id > ? AND kind = 'message' AND hidden = '' LIMIT 1"
    later = db.execute(said, (chat_id, event_id)).fetchone() is not None
    return later or db.execute(_WAITING, (chat_id,)).fetchone() is not None
