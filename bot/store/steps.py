"""The verbs behind turns: a turn's three commits (asked, answered, said). They decide nothing."""

import json
import sqlite3
from dataclasses import dataclass, replace
from typing import cast

from bot.errors import StoreError
from bot.store.brought import note
from bot.store.changes import goes_on, showing, still_there
from bot.store.cutting import give_way
from bot.store.entries import answers, append, tell
from bot.store.events import finish
from bot.store.feedback import Use, told
from bot.store.indexing import index_lines
from bot.store.keeping import store_memory
from bot.store.ledger import Owner, Reservation, Settlement, reserve, settle
from bot.store.outbox import put, take, withdraw
from bot.store.promising import promised
from bot.store.refusals import SORRY
from bot.store.reminding import end, reset_reminder, store_reminder
from bot.store.sessions import NewEpoch, close, digest_now, open_epoch, open_session, take_part
from bot.store.sorting import note_hit, note_round
from bot.store.voiding import ANSWERS_OFF_RECORD, drop_forgotten, end_turn
from bot.store.windows import hush, keep_open
from bot.types.brought import Brought
from bot.types.duration import DAY_MS
from bot.types.outgoing import Draft, Outgoing
from bot.types.prompt import Message
from bot.types.sections import Round
from bot.types.session import CloseReason, Mode
from bot.types.tool import ToolOutcome
from bot.types.turn import Call, Turn, TurnState

TURN = """SELECT turn.id, turn.chat_id, turn.session_id, epoch_id, turn.number, turn.state, why, person_id, asked_at,
    receipts, session.number, epoch.number, session.opened_at, mode, mode_why FROM turn
    JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id """


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything the first commit of a turn holds. `session_id` None opens a session, `epoch` begins an epoch.

    `ends` is why a session that is still open, though its time is over, ends with this turn; `memories`, `digests`
    `commitments` and `reminders` are those that the opening tells, `recalled` the memories that are told
    besides, `brought` is noted of both; what is told is strengthened at most once in `rest_ms`. `round` is what its own
    recall found in which section.
    """

    chat_id: int
    session_id: int | None
    epoch_id: int | None
    epoch: NewEpoch | None
    entry: Message
    tokens: int
    shown: tuple[int, ...]
    logged_upto: int
    answering: tuple[int, ...]
    why: str
    person_id: int
    receipts: tuple[str, ...]
    close_at: int
    reservation: Reservation
    ends: CloseReason = ""
    memories: tuple[int, ...] = ()
    digests: tuple[int, ...] = ()
    commitments: tuple[int, ...] = ()
    reminders: tuple[int, ...] = ()
    mode_why: str = ""
    recalled: tuple[int, ...] = ()
    brought: tuple[Brought, ...] = ()
    rest_ms: int = DAY_MS
    round: Round | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The running turn and its reserved call."""

    turn: Turn
    call: Call


@dataclass(frozen=True, slots=True)
class Saying:
    """The last commit: the final completion, what it cost, and what goes out on one of the connected `platforms`.

    Without a `settlement` no call was made for it. Without drafts nothing is said, and no window is kept open.
    """

    turn_id: int
    entry: Message
    tokens: int
    settlement: Settlement | None
    line: str
    drafts: tuple[Draft, ...]
    window_until: int
    close_at: int
    platforms: frozenset[str] = frozenset()


def turn_of(row: tuple[object, ...]) -> Turn:
    """A row of TURN as a value, without its events."""
    number, chat, session, epoch, count, state, why, person, at, receipts, *counts, mode, mode_why = row
    session_number, epoch_number, opened_at = (cast("int", each) for each in counts)
    return Turn(
        cast("int", number), cast("int", chat), cast("int", session), cast("int", epoch), cast("int", count),
        cast("TurnState", state), str(why), cast("int", person), cast("int", at), (), tuple(json.loads(str(receipts))),
        session_number, epoch_number, opened_at, cast("Mode", mode), str(mode_why),
    )  # fmt: skip


def under_way(db: sqlite3.Connection, chat_id: int) -> tuple[Turn, ...]:
    """Verb part: the turns of a chat between asked and said, with what they answer."""
    rows = db.execute(
        TURN + "WHERE turn.chat_id = ? AND turn.state IN ('asked', 'answered') ORDER BY turn.id", (chat_id,)
    )
    turns = [turn_of(row) for row in rows.fetchall()]
    events = "SELECT event_id FROM turn_event WHERE turn_id = ? ORDER BY event_id"
    return tuple(
        replace(turn, event_ids=tuple(row[0] for row in db.execute(events, (turn.id,)).fetchall())) for turn in turns
    )


def ask(db: sqlite3.Connection, asking: Asking, at: int) -> Asked:
    """Verb: session and epoch when new, the turn, its entry with source edges, and the reservation."""
    session_id = asking.session_id
    still_there(db, asking.shown, asking.answering)
    if session_id is None:
        _end_open(db, asking, at)
        session_id = open_session(db, asking.chat_id, min(asking.answering) - 1, at, asking.close_at, asking.why)
    elif not db.execute("SELECT 1 FROM session WHERE id = ? AND state = 'open'", (session_id,)).fetchone():
        raise StoreError(f"session {session_id!r} was closed meanwhile: nothing was stored, compose again")
    epoch_id = asking.epoch_id
    if epoch_id is None:
        assert asking.epoch is not None
        epoch_id = open_epoch(db, session_id, asking.epoch, at)
        if asking.epoch.mode == "full":
            digest_now(db, asking.chat_id, at)
    before, stale = db.execute("SELECT logged_upto, stale FROM epoch WHERE id = ?", (epoch_id,)).fetchone()
    if stale:
        raise StoreError(f"the log of epoch {epoch_id!r} was dropped meanwhile: nothing was stored, compose again")
    last = "SELECT coalesce(max(number), 0) + 1 FROM turn WHERE session_id = ?"
    count = db.execute(last, (session_id,)).fetchone()[0]
    turn_id = cast(
        "int",
        db.execute(
            "INSERT INTO turn (chat_id, session_id, epoch_id, number, state, why, person_id, asked_at, logged_before, "
            "receipts, mode_why) VALUES (?, ?, ?, ?, 'asked', ?, ?, ?, ?, ?, ?)",
            (asking.chat_id, session_id, epoch_id, count, asking.why, asking.person_id, at, before,
             json.dumps(asking.receipts, ensure_ascii=False), asking.mode_why),
        ).lastrowid,
    )  # fmt: skip
    owner = Owner(session_id, asking.chat_id, turn_id, asking.person_id)
    call, entry_id = reserve(db, asking.reservation, at, owner), append(db, turn_id, asking.entry, asking.tokens)
    showing(db, entry_id, asking.shown)
    told(db, turn_id, asking.memories, Use(asking.rest_ms, boot=True), at)
    told(db, turn_id, asking.recalled, Use(asking.rest_ms), at)
    note(db, turn_id, asking.brought)
    note_round(db, turn_id, asking.round, at)
    tell(db, entry_id, "memory", (*asking.memories, *asking.recalled))
    tell(db, entry_id, "digest", asking.digests)
    tell(db, entry_id, "commitment", asking.commitments)
    tell(db, entry_id, "reminder", asking.reminders)
    db.execute("UPDATE epoch SET logged_upto = max(logged_upto, ?) WHERE id = ?", (asking.logged_upto, epoch_id))
    db.executemany(
        "INSERT INTO turn_event (turn_id, event_id) VALUES (?, ?)", [(turn_id, number) for number in asking.answering]
    )
    db.executemany("UPDATE event SET turn_id = ? WHERE id = ?", [(turn_id, number) for number in asking.answering])
    take_part(db, session_id, asking.answering)
    db.execute(
        "UPDATE session SET last_at = ?, close_at = ?, upto_event = max(upto_event, ?) WHERE id = ?",
        (at, asking.close_at, asking.logged_upto, session_id),
    )
    turn = turn_of(db.execute(TURN + "WHERE turn.id = ?", (turn_id,)).fetchone())
    return Asked(replace(turn, event_ids=asking.answering), call)


def _end_open(db: sqlite3.Connection, asking: Asking, at: int) -> None:
    """A session whose time is over may still be open, when a message comes before its alarm."""
    row = db.execute("SELECT id FROM session WHERE chat_id = ? AND state = 'open'", (asking.chat_id,)).fetchone()
    if row is not None:
        close(db, row[0], asking.ends or "idle", at, deadline=False)


def _count(db: sqlite3.Connection, turn_id: int, settlement: Settlement) -> None:
    """Remember what the server counted for the log as it was sent; an estimate teaches nothing."""
    if settlement.usage.returned:
        db.execute(
            "UPDATE epoch SET prompt_tokens = ?, prompt_entries = (SELECT count(*) - 1 FROM entry WHERE "
            "entry.epoch_id = epoch.id) WHERE id = (SELECT epoch_id FROM turn WHERE id = ?)",
            (settlement.usage.prompt_tokens, turn_id),
        )


def answer(db: sqlite3.Connection, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
    """Verb: a completion that asks for tools and what it cost."""
    goes_on(db, turn.id)
    if not settle(db, settlement, at):
        return
    append(db, turn.id, entry, tokens)
    _count(db, turn.id, settlement)
    db.execute("UPDATE turn SET state = 'answered' WHERE id = ?", (turn.id,))


def tool_done(db: sqlite3.Connection, turn: Turn, outcome: ToolOutcome, at: int) -> None:
    """Verb: a tool's result in the log, with the memory it makes."""
    key = f"turn:{turn.id}:{outcome.key}"
    goes_on(db, turn.id)
    if db.execute("SELECT 1 FROM effect WHERE key = ?", (key,)).fetchone():
        return
    text = promised(db, outcome, turn.person_id, at)
    if outcome.memory is not None:
        stored = store_memory(db, outcome.memory, at, outcome.merging).id
        text = text.replace("{id}", str(stored))
        if not outcome.memory.asked:
            # The model drew it from all that its log told it; what a person asked to keep is in their own words.
            db.execute(
                "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'memory', ?, event_id FROM edge "
                "JOIN entry ON entry.id = derived_id WHERE edge.kind = 'entry' AND entry.epoch_id = ?",
                (stored, turn.epoch_id),
            )
    if outcome.remind is not None and outcome.unremind:
        reset_reminder(db, outcome.unremind[0], outcome.remind)
    elif outcome.remind is not None:
        text = text.replace("{id}", str(store_reminder(db, outcome.remind, at)))
    else:
        end(db, outcome.unremind, "cancelled", at)
    if outcome.receipt:
        db.execute(
            "UPDATE turn SET receipts = json_insert(receipts, '$[#]', ?) WHERE id = ?", (outcome.receipt, turn.id)
        )
    if outcome.quiet:
        hush(db, turn.chat_id, None, "stopped", at)
    message = Message("tool", text, tool_call_id=outcome.call_id)
    entry_id = append(db, turn.id, message, outcome.tokens)
    answers(db, entry_id, turn.id)
    showing(db, entry_id, outcome.lines)
    told(db, turn.id, outcome.told, Use(outcome.rest_ms), at)
    note(db, turn.id, (Brought(outcome.name, "", outcome.tokens, " ".join(f"#{each}" for each in outcome.told)),))
    tell(db, entry_id, "memory", outcome.told)
    note_hit(db, turn.id, outcome.told)
    tell(db, entry_id, "digest", outcome.digests)
    tell(db, entry_id, "commitment", outcome.commitments)
    db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (key, "done", at))


def say(db: sqlite3.Connection, saying: Saying, at: int, boot: str) -> Outgoing | None:
    """Verb: answered and said in one; every message being answered is done, its people stay in conversation.

    The chat's first waiting message is marked as being sent and handed out: a commit of its own would come next.
    """
    if saying.settlement is not None:
        settle(db, saying.settlement, at)
    if not end_turn(db, saying.turn_id, "said"):
        return None
    answers(db, append(db, saying.turn_id, saying.entry, saying.tokens), saying.turn_id)
    db.execute("DELETE FROM effect WHERE key = (SELECT ? || chat_id FROM turn WHERE id = ?)", (SORRY, saying.turn_id))
    if saying.settlement is not None:
        _count(db, saying.turn_id, saying.settlement)
    turn = turn_of(db.execute(TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    events = tuple(row[0] for row in db.execute("SELECT event_id FROM turn_event WHERE turn_id = ?", (turn.id,)))
    finish(db, events, "done", "answered" if saying.drafts else "skipped")
    if saying.drafts:
        give_way(db, turn.chat_id, turn.id, at)
    line = _line(db, turn, saying.line, at) if saying.line else None
    due = at
    for part, draft in enumerate(saying.drafts):
        due += draft.wait_ms
        put(db, turn.chat_id, draft, due, part=part, turn_id=turn.id, event_id=line)
    if saying.drafts:
        keep_open(db, turn.id, events, saying.window_until)
    else:
        withdraw(db, turn.id, at)
    error = "" if saying.drafts else "skipped"
    db.execute("UPDATE turn SET said_at = ?, error = ? WHERE id = ?", (at, error, turn.id))
    drop_forgotten(db, turn.epoch_id)
    db.execute(
        "UPDATE session SET last_at = ?, close_at = ?, upto_event = max(upto_event, coalesce(?, 0)) WHERE id = ?",
        (at, saying.close_at, line, turn.session_id),
    )
    return take(db, turn.chat_id, boot, at, saying.platforms)


def _line(db: sqlite3.Connection, turn: Turn, text: str, at: int) -> int:
    sql = (
        "INSERT INTO event (chat_id, at, kind, text, state, turn_id, off_record) "
        f"VALUES (?, ?, 'bot', ?, 'done', ?, {ANSWERS_OFF_RECORD})"
    )
    number = cast("int", db.execute(sql, (turn.chat_id, at, text, turn.id, turn.id)).lastrowid)
    index_lines(db, (number,))
    return number
