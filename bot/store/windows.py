"""Activation windows and waits of a chat, and replies of which only a part goes out."""

from collections.abc import Callable
from typing import cast

from bot.core.speaking import UNASKED, PacedDecision, PendingMessages
from bot.store.engine import Repository
from bot.store.index import index_lines
from bot.store.transactions import Tx


def arm_join(db: Tx, chat_id: int, at: int) -> bool:
    """Within a transaction: look at that chat at `at`, ms, 0 for never; True when no look was as near.

    Nothing where she is to be quiet.
    """
    if not at:
        return False
    sooner = db.execute(
        "INSERT INTO joining (chat_id, due_at) VALUES (?1, ?2) ON CONFLICT (chat_id) DO UPDATE SET due_at = ?2 "
        "WHERE hushed = 0 AND (due_at IS NULL OR due_at > ?2)",
        (chat_id, at),
    )
    return sooner.rowcount == 1


def stop_joining(db: Tx, chat_id: int) -> None:
    """Within a transaction: nuan enters no talk of that chat until somebody calls her."""
    db.execute(
        "INSERT INTO joining (chat_id, hushed) VALUES (?, 1) "
        "ON CONFLICT (chat_id) DO UPDATE SET hushed = 1, due_at = NULL",
        (chat_id,),
    )


def allow_joining(db: Tx, chat_id: int) -> None:
    """Within a transaction: somebody calls nuan, so that she may enter talks again."""
    db.execute("UPDATE joining SET hushed = 0 WHERE chat_id = ? AND hushed <> 0", (chat_id,))


NOT_YET = """FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND state = 'queued' AND due_at > ?2
    AND kind = 'message' AND tries = 0 AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')"""
"""Messages of chat ?1 that wait for a deadline after ?2, and for an answer of the model; what failed waits alone."""


class MessageWaits(Repository):
    """The waits that are lengthened after a message is stored."""

    async def wait(self, events: tuple[int, ...], until: int) -> None:
        """These messages are answered then, ms, unless they were done meanwhile."""
        await self._database.write(
            lambda db: (
                db.executemany(
                    "UPDATE event SET due_at = ? WHERE id = ? AND state = 'queued'", [(until, one) for one in events]
                ).rowcount
            )
        )


def pending_messages(db: Tx, chat_id: int, person_id: int | None, at: int) -> PendingMessages:
    """Within a transaction: what a decision made at that time must know of the chat's other messages."""
    row = db.execute("SELECT last, before, since, until FROM rush WHERE chat_id = ?", (chat_id,)).fetchone()
    first = db.execute(
        f"SELECT at, why <> 'window' {NOT_YET} AND person_id = ?3 ORDER BY due_at, id LIMIT 1", (chat_id, at, person_id)
    ).fetchone()
    since, calls = first or (0, 0)
    last, before, rush_since, rush_until = row or (0, 0, 0, 0)
    return PendingMessages(since, last, before, rush_since, rush_until, bool(calls))


def keep_pace(
    db: Tx, chat_id: int, person_id: int, paced: PacedDecision, came: tuple[PendingMessages, int]
) -> None:  # fmt: skip
    """Within a transaction: a message for nuan came: the window is open, and what waits keeps pace with it.

    `came` is what `waiting` told, and when. While a flood is gathered for longer, everything that is not due waits on.
    """
    before, at = came
    if paced.decision.why != "window":
        allow_joining(db, chat_id)
    db.execute(
        "INSERT INTO rush (chat_id, last, before, since, until) VALUES (?1, ?2, 0, ?3, ?4) ON CONFLICT (chat_id) "
        "DO UPDATE SET before = last, last = excluded.last, since = excluded.since, until = excluded.until",
        (chat_id, at, paced.rush_since, paced.rush_until),
    )
    if paced.rush_until > max(at, before.rush_until):
        db.execute(
            f"UPDATE event SET due_at = ?3 WHERE id IN (SELECT id {NOT_YET} AND due_at < ?3)",
            (chat_id, at, paced.rush_until),
        )
    _activate(db, chat_id, person_id, at, paced)


def _activate(db: Tx, chat_id: int, person_id: int, at: int, paced: PacedDecision) -> None:
    """Open or extend the window, and let this person's waiting lines keep pace with the newest one.

    One is answered in the order in which one spoke: what was said before a call that is due already goes with that
    call, and nothing waits for longer than what came after it.
    """
    decision = paced.decision
    db.execute(
        "INSERT INTO window (chat_id, person_id, until) VALUES (?, ?, ?) "
        "ON CONFLICT (chat_id, person_id) DO UPDATE SET until = excluded.until",
        (chat_id, person_id, decision.window_until),
    )
    db.execute(
        "UPDATE event SET due_at = ?1 WHERE chat_id = ?2 AND person_id = ?3 AND state = 'queued' AND due_at IS NOT ?1 "
        "AND tries = 0 AND ((why = 'window' AND id > ?6) "
        "OR ((?5 OR due_at > ?1) AND due_at > ?4 AND why NOT IN ('command', 'pair', 'closed')))",
        (decision.due_at, chat_id, person_id, at, paced.joins, _call(db, chat_id, person_id, at, paced)),
    )


def _call(db: Tx, chat_id: int, person_id: int, at: int, paced: PacedDecision) -> int:
    """The newest call of this person that waits for its turn and not for this line; 0 for none."""
    if paced.decision.why != "window":
        return 0
    ((newest,),) = db.execute(
        "SELECT ifnull(max(id), 0) FROM event INDEXED BY event_queue WHERE chat_id = ?1 AND person_id = ?2 "
        "AND state = 'queued' AND kind = 'message' AND tries = 0 AND (due_at <= ?3 OR NOT ?4) "
        "AND why NOT IN ('window', 'command', 'pair', 'closed', 'stop', 'quiet')",
        (chat_id, person_id, at, paced.joins),
    )
    return int(newest)


QUIET_KEY = "quiet:"
"""How the key of the effect begins that keeps a turn, by its number, from opening windows."""

IS_QUIET = f"SELECT 1 FROM effect WHERE key = '{QUIET_KEY}' || ?"


class Windows(Repository):
    """Who is in conversation, and what waits until they call again."""

    async def put_back(self, events: tuple[int, ...], outcome: str, at: int) -> None:
        """Follow-ups for which no call may be made wait for the next call of their chat."""
        await self._database.write(lambda db: put_follow_ups_back(db, events, outcome, at))

    async def end_with(self, turn_id: int) -> bool:
        """Whether silence was wanted while that turn ran, so that it opens no window."""
        return await self._database.row(IS_QUIET, (turn_id,)) is not None


def keep_windows_open(db: Tx, turn_id: int, events: tuple[int, ...], until: int) -> None:
    """Within a transaction: whoever was answered stays in conversation until that time, ms, unless somebody wanted
    silence.

    An entry into a talk keeps nobody: who answers it by a call or a reply opens a window like anybody.
    """
    if db.execute(IS_QUIET, (turn_id,)).fetchone():
        return
    db.executemany(
        "INSERT INTO window (chat_id, person_id, until) SELECT chat_id, person_id, ? FROM event WHERE id = ? "
        "AND person_id IS NOT NULL AND why <> 'join' ON CONFLICT (chat_id, person_id) "
        "DO UPDATE SET until = max(until, excluded.until)",
        [(until, number) for number in events],
    )


def end_conversations(db: Tx, chat_id: int, before: int | None, outcome: str, at: int) -> int:
    """Within a transaction: nobody in the chat is in conversation, follow-ups before that event (None: all) are off the
    queue.

    A turn under way opens no window again. Returns how many follow-ups that were.
    """
    db.execute("DELETE FROM window WHERE chat_id = ?", (chat_id,))
    stop_joining(db, chat_id)
    db.execute(
        f"INSERT OR IGNORE INTO effect (key, result, at) SELECT '{QUIET_KEY}' || id, 'done', ? FROM turn WHERE "
        "chat_id = ? "
        "AND state IN ('asked', 'answered')",
        (at, chat_id),
    )
    return db.execute(
        "UPDATE event SET state = 'done', outcome = ?1, due_at = NULL WHERE chat_id = ?2 AND state = 'queued' "
        "AND why = 'window' AND (?3 IS NULL OR id < ?3) AND id NOT IN (SELECT event_id FROM turn_event JOIN turn "
        "ON turn.id = turn_event.turn_id WHERE turn.chat_id = ?2 AND turn.state IN ('asked', 'answered'))",
        (outcome, chat_id, before),
    ).rowcount


def put_follow_ups_back(db: Tx, events: tuple[int, ...], outcome: str, at: int) -> None:
    """Within a transaction: follow-ups that could not be answered wait, without a deadline, for the next call of their
    chat.

    Those of people whose window is over are done: the next delta tells them like any other line.
    """
    db.executemany(
        "UPDATE event SET due_at = NULL, turn_id = NULL, outcome = ?1, state = CASE WHEN EXISTS (SELECT 1 FROM window "
        "WHERE window.chat_id = event.chat_id AND window.person_id = event.person_id AND until > ?2) "
        "THEN 'queued' ELSE 'done' END WHERE id = ?3 AND state = 'queued'",
        [(outcome, at, number) for number in events],
    )


def requeue_events(db: Tx, events: tuple[int, ...], at: int) -> None:
    """Within a transaction: events whose turn failed are due again."""
    db.executemany(
        "UPDATE event SET state = 'queued', due_at = ?, outcome = '' WHERE id = ? AND outcome = 'failed'",
        [(at, number) for number in events],
    )


def end_windows(db: Tx, now: int) -> int:
    """One transaction: remove the windows that are over, and what waits for a call of their people; how many
    windows.
    """
    over = db.execute("DELETE FROM window WHERE until <= ?", (now,)).rowcount
    db.execute(
        "UPDATE event SET state = 'done' WHERE state = 'queued' AND due_at IS NULL AND NOT EXISTS (SELECT 1 FROM "
        "window WHERE window.chat_id = event.chat_id AND window.person_id = event.person_id) AND id NOT IN (SELECT "
        "event_id FROM turn_event JOIN turn ON turn.id = turn_event.turn_id WHERE turn.state IN ('asked', 'answered'))"
    )
    return over


CUT_LABEL = "cut"
"""The label of what people saw of a reply that was not said whole."""

UNSENT_TURNS = (
    "SELECT DISTINCT turn_id FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = 'pending' "
    "AND kind = 'reply' AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.state = 'said')"
)
"""Turns of a chat of whose replies something waits to be sent."""

PACED_TURNS = (
    "SELECT turn_id, min(part) FROM outbox WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = "
    "'pending' AND kind = 'reply' AND wait_ms > 0 GROUP BY turn_id"
)
"""Turns of a chat whose replies are still being said, message by message, and the message that comes next."""


def cut_replies_to(db: Tx, chat_id: int, person_id: int, at: int, *, called: bool) -> tuple[int, ...]:
    """Within a transaction: that person spoke, so what is still to be said is left out; of which turns (C19).

    Of what answers them when they `called` nuan, and of what nobody asked for.
    """
    return _cut(db, chat_id, at, lambda turn: (called and answers_person(db, turn, person_id)) or _unasked(db, turn))


def cut_older_replies(db: Tx, chat_id: int, turn_id: int, at: int) -> None:
    """Within a transaction: a reply is said; of older ones to the same people nothing more comes in between."""
    rows = db.execute(
        "SELECT DISTINCT person_id FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ?",
        (turn_id,),
    )
    people = tuple(cast("int", person_id) for (person_id,) in rows if person_id is not None)
    _cut(db, chat_id, at, lambda older: any(answers_person(db, older, person_id) for person_id in people))


def cut_all_replies(db: Tx, chat_id: int, at: int) -> tuple[int, ...]:
    """Within a transaction: what is still to be said in that chat is left out, whoever it answers; of which turns."""
    return _cut(db, chat_id, at, lambda _: True)


def is_still_replying(db: Tx, chat_id: int) -> bool:
    """Within a transaction: whether a reply of that chat is still being said, message by message."""
    return db.execute(PACED_TURNS, (chat_id,)).fetchone() is not None


def _cut(db: Tx, chat_id: int, at: int, ends: Callable[[int], bool]) -> tuple[int, ...]:
    cut = tuple(
        (cast("int", turn_id), cast("int", part))
        for turn_id, part in db.execute(PACED_TURNS, (chat_id,)).fetchall()
        if ends(turn_id)
    )
    for turn_id, part in cut:
        cut_reply(db, turn_id, part, at)
    return tuple(turn_id for turn_id, _ in cut)


def _unasked(db: Tx, turn_id: int) -> bool:
    why = db.execute("SELECT why FROM turn WHERE id = ?", (turn_id,)).fetchone()
    return why is not None and why[0] in UNASKED


def answers_person(db: Tx, turn_id: int, person_id: int) -> bool:
    """Within a transaction: whether that turn answers something that this person said."""
    return (
        db.execute(
            "SELECT 1 FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ? AND person_id = ?",
            (turn_id, person_id),
        ).fetchone()
        is not None
    )


def cut_reply(db: Tx, turn_id: int, part: int, at: int) -> None:
    """Within a transaction: what waits to be sent of a reply, from that part on, goes no more.

    Its line holds what went, and the next delta tells that.
    """
    rows = db.execute(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND part >= ? AND state = 'pending' AND "
        "kind = 'reply' ORDER BY part, id",
        (turn_id, part),
    ).fetchall()
    for number, shown, _ in rows:
        kind, state = ("withdrawal", "pending") if shown else ("reply", "cancelled")
        db.execute(
            "UPDATE outbox SET kind = ?, state = ?, text = '', due_at = ? WHERE id = ?", (kind, state, at, number)
        )
    said = db.execute(
        "SELECT id, text FROM event WHERE turn_id = ? AND kind = 'bot' AND label = '' AND hidden = ''", (turn_id,)
    ).fetchone()
    if said is not None:
        went = db.execute(
            "SELECT 1 FROM outbox WHERE turn_id = ? AND kind = 'reply' AND state IN ('pending', 'sending', 'sent', "
            "'unknown')",
            (turn_id,),
        ).fetchone()
        seen = _without(str(said[1]), tuple(str(row[2]) for row in rows)) if went is not None else ""
        db.execute("UPDATE event SET text = ?, label = ? WHERE id = ?", (seen.rstrip(), CUT_LABEL, said[0]))
        index_lines(db, (said[0],))
        _tell_again(db, said[0], at)


def _without(whole: str, parts: tuple[str, ...]) -> str:
    """A reply without its last parts, as far as these are found in it: code that is split has marks of its own."""
    end = len(whole)
    for part in reversed(parts):
        at = whole.rfind(part, 0, end)
        end = at if at >= 0 else end
    return whole[:end]


def _tell_again(db: Tx, line: int, at: int) -> None:
    """Somebody else was answered meanwhile, so that the log has passed the line: it stands anew after that."""
    passed = db.execute(
        "SELECT 1 FROM event JOIN session ON session.chat_id = event.chat_id AND session.state = 'open' "
        "WHERE event.id = ?1 AND ?1 <= (SELECT logged_upto FROM epoch WHERE session_id = session.id "
        "ORDER BY number DESC LIMIT 1)",
        (line,),
    ).fetchone()
    if passed is None:
        return
    new = cast(
        "int",
        db.execute(
            "INSERT INTO event (chat_id, at, kind, text, label, state, turn_id) "
            "SELECT chat_id, ?, kind, text, label, 'done', turn_id FROM event WHERE id = ?",
            (at, line),
        ).lastrowid,
    )
    db.execute("UPDATE event SET hidden = ?, text = '' WHERE id = ?", (CUT_LABEL, line))
    index_lines(db, (line, new))
    db.execute("UPDATE outbox SET event_id = ? WHERE event_id = ?", (new, line))
