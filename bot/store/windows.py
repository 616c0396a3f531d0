"""Activation windows and waits of a chat, and replies of which only a part goes out."""

from collections.abc import Callable

from bot.core.speaking import UNASKED, PacedDecision, PendingMessages
from bot.store.index import index_lines
from bot.store.schema import EVENT_QUEUE, NO_EVENT, WAITING_THERE
from bot.store.transactions import Tx

QUIET_KEY = "quiet:"
"""How the key of the effect begins that keeps a turn, by its number, from opening windows."""

INTERRUPTED_KEY = "interrupted"
"""The error of the turn, and how the key of the effect begins that keeps what it answered from a second time."""

CUT_LABEL = "cut"
"""The label of what people saw of a reply that was not said whole."""

IS_QUIET = f"SELECT 1 FROM effect WHERE key = '{QUIET_KEY}' || ?"

IN_RUNNING_TURNS = """(SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_event.turn_id
    WHERE turn.state IN ('asked', 'answered'))"""
"""The events that a turn under way answers."""

FOR_MODEL = "kind = 'message' AND why NOT IN ('command', 'pair', 'closed', 'stop', 'quiet')"
"""Whether an event is for the model to answer, as SQL."""

NOT_YET = f"FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND due_at > ? AND {FOR_MODEL} AND tries = 0"
"""Messages of a chat that wait for a deadline after a time, and for an answer of the model; what failed waits alone."""

UNSENT_TURNS = (
    f"SELECT DISTINCT turn_id FROM outbox {WAITING_THERE} WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = 'pending' "
    "AND kind = 'reply' AND EXISTS (SELECT 1 FROM turn WHERE turn.id = turn_id AND turn.state = 'said')"
)
"""Turns of a chat of whose replies something waits to be sent."""

PACED_TURNS = (
    f"SELECT turn_id, min(part) FROM outbox {WAITING_THERE} WHERE chat_id = ? AND state IN ('pending', 'sending') AND state = "
    "'pending' AND kind = 'reply' AND wait_ms > 0 GROUP BY turn_id"
)
"""Turns of a chat whose replies are still being said, message by message, and the message that comes next."""


def arm_join(tx: Tx, chat_id: int, at: int) -> bool:
    """Look at that chat at `at`, ms (0: never), unless nuan is to be quiet there; True when no look was as near."""
    return (
        bool(at)
        and tx.run(
            "INSERT INTO joining (chat_id, due_at) VALUES (?, ?) ON CONFLICT (chat_id) DO UPDATE SET due_at = excluded.due_at "
            "WHERE joining.hushed = 0 AND (joining.due_at IS NULL OR joining.due_at > excluded.due_at)",
            chat_id,
            at,
        )
        == 1
    )


def pending_messages(tx: Tx, chat_id: int, person_id: int | None, at: int) -> PendingMessages:
    """What a decision made at that time must know of the chat's other messages."""
    rush = tx.one(
        "SELECT last, before, coalesce((SELECT seen_at FROM member WHERE member.chat_id = rush.chat_id AND person_id = ?), 0), "
        "since, until FROM rush WHERE chat_id = ?",
        person_id,
        chat_id,
    )
    last, before, seen, rush_since, rush_until = rush or (0, 0, 0, 0, 0)
    first = f"SELECT at, why <> 'window' {NOT_YET} AND person_id = ? ORDER BY due_at, id LIMIT 1"
    since, calls = tx.one(first, chat_id, at, person_id) or (0, 0)
    return PendingMessages(since, last, before, seen, rush_since, rush_until, bool(calls))


def composed_messages(tx: Tx, chat_id: int, person_id: int, oldest: int, at: int, before: int) -> tuple[int, ...]:
    """The messages before that one that a turn is composed for at `at`, if one of this person's is due since `oldest`, ms.

    Not what was interrupted before.
    """
    sql = (
        f"SELECT id, person_id = ? AND due_at > ? FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' "
        f"AND due_at <= ? AND id < ? AND {FOR_MODEL} AND tries = 0 AND NOT EXISTS "
        f"(SELECT 1 FROM effect WHERE key = '{INTERRUPTED_KEY}:' || event.id)"
    )
    due = tx.all(sql, person_id, oldest, chat_id, at, before)
    return tuple(number for number, _ in due) if any(own for _, own in due) else ()


def keep_pace(tx: Tx, chat_id: int, person_id: int, at: int, paced: PacedDecision, before: PendingMessages) -> None:
    """A message for nuan came at `at`: the window is open, and what waited `before` keeps pace with it, in a flood for longer."""
    if paced.decision.why != "window":  # somebody calls nuan, so that it may enter talks again
        tx.run("UPDATE joining SET hushed = 0 WHERE chat_id = ? AND hushed <> 0", chat_id)
    sql = (
        "INSERT INTO rush (chat_id, last, before, since, until) VALUES (?, ?, 0, ?, ?) ON CONFLICT (chat_id) "
        "DO UPDATE SET before = rush.last, last = excluded.last, since = excluded.since, until = excluded.until"
    )
    tx.run(sql, chat_id, at, paced.rush_since, paced.rush_until)
    if paced.rush_until > max(at, before.rush_until):
        later = f"UPDATE event SET due_at = ? WHERE id IN (SELECT id {NOT_YET} AND due_at < ?)"
        tx.run(later, paced.rush_until, chat_id, at, paced.rush_until)
    _activate(tx, chat_id, person_id, at, paced)


def _activate(tx: Tx, chat_id: int, person_id: int, at: int, paced: PacedDecision) -> None:
    """Open or extend the window: this person's lines are answered in their order, and none waits longer than the newest."""
    due, until = paced.decision.due_at, paced.decision.window_until
    tx.put("conversation_window", "chat_id, person_id", chat_id=chat_id, person_id=person_id, until=until)
    sql = (
        f"UPDATE {EVENT_QUEUE} SET due_at = ? WHERE chat_id = ? AND person_id = ? AND state = 'queued' "
        "AND due_at IS DISTINCT FROM ? AND tries = 0 AND ((why = 'window' AND id > ?) "
        "OR ((? OR due_at > ?) AND due_at > ? AND why NOT IN ('command', 'pair', 'closed')))"
    )
    tx.run(sql, due, chat_id, person_id, due, _newest_call(tx, chat_id, person_id, at, paced), paced.joins, due, at)


def _newest_call(tx: Tx, chat_id: int, person_id: int, at: int, paced: PacedDecision) -> int:
    """The newest call of this person that waits for its turn and not for this line; 0 for none."""
    if paced.decision.why != "window":
        return 0
    sql = (
        f"SELECT max(id) FROM {EVENT_QUEUE} WHERE chat_id = ? AND person_id = ? "
        f"AND state = 'queued' AND {FOR_MODEL} AND why <> 'window' AND tries = 0 AND (due_at <= ? OR NOT ?)"
    )
    return tx.number(sql, chat_id, person_id, at, paced.joins)


def put_follow_ups_back(tx: Tx, events: tuple[int, ...], outcome: str, at: int) -> None:
    """Follow-ups that could not be answered wait for the next call of their chat, as long as the window of their person lasts."""
    for number in events:
        tx.run(
            "UPDATE event SET due_at = NULL, turn_id = NULL, outcome = ?, state = CASE WHEN EXISTS (SELECT 1 FROM "
            "conversation_window AS open WHERE open.chat_id = event.chat_id AND open.person_id = event.person_id AND until > ?) "
            "THEN 'queued' ELSE 'done' END WHERE id = ? AND state = 'queued'",
            outcome,
            at,
            number,
        )


def keep_windows_open(tx: Tx, turn_id: int, events: tuple[int, ...], until: int) -> None:
    """Whoever was answered, not by an entry into a talk, stays in conversation until then, ms, unless silence was wanted."""
    if tx.has(IS_QUIET, turn_id):
        return
    for number in events:
        tx.run(
            "INSERT INTO conversation_window (chat_id, person_id, until) SELECT chat_id, person_id, ? FROM event WHERE id = ? "
            "AND person_id IS NOT NULL AND why <> 'join' ON CONFLICT (chat_id, person_id) "
            "DO UPDATE SET until = excluded.until WHERE excluded.until > conversation_window.until",
            until,
            number,
        )


def end_conversations(tx: Tx, chat_id: int, before: int | None, outcome: str, at: int) -> int:
    """Nobody in the chat is in conversation, nuan enters no talk of it until somebody calls it, and follow-ups before that
    event (None: all) are off the queue; how many.
    """
    tx.run("DELETE FROM conversation_window WHERE chat_id = ?", chat_id)
    tx.run(
        "INSERT INTO joining (chat_id, hushed) VALUES (?, 1) "
        "ON CONFLICT (chat_id) DO UPDATE SET hushed = 1, due_at = NULL",
        chat_id,
    )
    tx.run(
        f"INSERT INTO effect (key, result, at) SELECT '{QUIET_KEY}' || id, 'done', ? FROM turn WHERE chat_id = ? "
        "AND state IN ('asked', 'answered') ON CONFLICT DO NOTHING",
        at,
        chat_id,
    )
    sql = (
        f"UPDATE {EVENT_QUEUE} SET state = 'done', outcome = ?, due_at = NULL WHERE chat_id = ? AND state = 'queued' "
        f"AND why = 'window' AND id < ? AND id NOT IN {IN_RUNNING_TURNS}"
    )
    return tx.run(sql, outcome, chat_id, NO_EVENT if before is None else before)


def requeue_events(tx: Tx, events: tuple[int, ...], at: int) -> None:
    """Events whose turn failed are due again."""
    for number in events:
        sql = "UPDATE event SET state = 'queued', due_at = ?, outcome = '' WHERE id = ? AND outcome = 'failed'"
        tx.run(sql, at, number)


def end_windows(tx: Tx, now: int) -> int:
    """Remove the windows that are over, and what waits for a call of their people; how many windows."""
    over = tx.run("DELETE FROM conversation_window WHERE until <= ?", now)
    tx.run(
        "UPDATE event SET state = 'done' WHERE state = 'queued' AND due_at IS NULL AND NOT EXISTS (SELECT 1 FROM "
        "conversation_window AS open WHERE open.chat_id = event.chat_id AND open.person_id = event.person_id) "
        f"AND id NOT IN {IN_RUNNING_TURNS}"
    )
    return over


def cut_replies_to(tx: Tx, chat_id: int, person_id: int, at: int, *, called: bool) -> tuple[int, ...]:
    """That person spoke: what answers them, if they `called`, and what nobody asked for is left out; of which turns (C19)."""

    def ends(turn_id: int) -> bool:
        unasked = tx.value("SELECT why FROM turn WHERE id = ?", turn_id) in UNASKED
        return unasked or (called and answers_person(tx, turn_id, person_id))

    return _cut(tx, chat_id, at, ends)


def cut_older_replies(tx: Tx, chat_id: int, turn_id: int, at: int) -> None:
    """A reply is said; of older ones to the same people nothing more comes in between."""
    people = (
        "SELECT DISTINCT person_id FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ? "
        "AND person_id IS NOT NULL"
    )
    _cut(tx, chat_id, at, lambda older: any(answers_person(tx, older, each) for each in tx.ids(people, turn_id)))


def cut_all_replies(tx: Tx, chat_id: int, at: int) -> tuple[int, ...]:
    """What is still to be said in that chat is left out, whoever it answers; of which turns."""
    return _cut(tx, chat_id, at, lambda _: True)


def _cut(tx: Tx, chat_id: int, at: int, ends: Callable[[int], bool]) -> tuple[int, ...]:
    cut = [(turn_id, part) for turn_id, part in tx.all(PACED_TURNS, chat_id) if ends(turn_id)]
    for turn_id, part in cut:
        cut_reply(tx, turn_id, part, at)
    return tuple(turn_id for turn_id, _ in cut)


def answers_person(tx: Tx, turn_id: int, person_id: int) -> bool:
    """Whether that turn answers something that this person said."""
    sql = "SELECT 1 FROM turn_event JOIN event ON event.id = event_id WHERE turn_event.turn_id = ? AND person_id = ?"
    return tx.has(sql, turn_id, person_id)


def cut_reply(tx: Tx, turn_id: int, part: int, at: int) -> None:
    """What waits to be sent of a reply, from that part on, goes no more; its line holds what went."""
    sql = (
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND part >= ? AND state = 'pending' AND "
        "kind = 'reply' ORDER BY part, id"
    )
    rows = tx.all(sql, turn_id, part)
    for number, shown, _ in rows:
        kind, state = ("withdrawal", "pending") if shown else ("reply", "cancelled")
        tx.run(
            "UPDATE outbox SET kind = ?, state = ?, text = '', payload = '', due_at = ? WHERE id = ?",
            kind,
            state,
            at,
            number,
        )
    said = tx.one(
        "SELECT id, text FROM event WHERE turn_id = ? AND kind = 'bot' AND label = '' AND hidden = ''", turn_id
    )
    if said is None:
        return
    line, text = said
    went = tx.has(
        "SELECT 1 FROM outbox WHERE turn_id = ? AND kind = 'reply' AND state IN ('pending', 'sending', 'sent', "
        "'unknown')",
        turn_id,
    )
    seen = _without(text, tuple(row[2] for row in rows)) if went else ""
    tx.run("UPDATE event SET text = ?, label = ? WHERE id = ?", seen.rstrip(), CUT_LABEL, line)
    index_lines(tx, (line,))
    _tell_again(tx, line, at)


def _without(whole: str, parts: tuple[str, ...]) -> str:
    """A reply without its last parts, as far as these are found in it: code that is split has marks of its own."""
    end = len(whole)
    for part in reversed(parts):
        at = whole.rfind(part, 0, end)
        end = at if at >= 0 else end
    return whole[:end]


def _tell_again(tx: Tx, line: int, at: int) -> None:
    """Somebody else was answered meanwhile, so that the log has passed the line: it stands anew after that."""
    if not tx.has(
        "SELECT 1 FROM event JOIN session ON session.chat_id = event.chat_id AND session.state = 'open' "
        "WHERE event.id = ? AND event.id <= (SELECT logged_upto FROM epoch WHERE session_id = session.id "
        "ORDER BY number DESC LIMIT 1)",
        line,
    ):
        return
    sql = (
        "INSERT INTO event (chat_id, at, kind, text, label, state, turn_id) SELECT chat_id, ?, kind, text, label, "
        "'done', turn_id FROM event WHERE id = ? RETURNING id"
    )
    (new,) = tx.ids(sql, at, line)
    tx.run("UPDATE event SET hidden = ?, text = '' WHERE id = ?", CUT_LABEL, line)
    index_lines(tx, (line, new))
    tx.run("UPDATE outbox SET event_id = ? WHERE event_id = ?", new, line)
