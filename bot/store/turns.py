"""Turns and their three commits: asked, answered, said."""

import json
from dataclasses import dataclass, replace
from typing import cast

from bot.core.clock import DAY_MS
from bot.core.errors import StoreError
from bot.core.events import Draft, Outgoing
from bot.core.models import Message
from bot.core.recall import RecallRound
from bot.core.sessions import BootstrapMode, CloseReason, ModelCall, ToldItem, Turn, TurnState
from bot.core.tools import ToolOutcome
from bot.store.changes import check_not_forgotten, check_running, check_still_there, link_shown
from bot.store.commitments import store_tool_promise
from bot.store.digests import TALKS_OF
from bot.store.engine import Database
from bot.store.events import finish_events
from bot.store.failures import ANSWERS_OFF_RECORD, SORRY_KEY, drop_forgotten, end_turn, fail_turn
from bot.store.feedback import MemoryUse, note_told_items, note_told_memories
from bot.store.index import index_lines, note_hit, note_round
from bot.store.ledger import CallAccount, Reservation, Settlement, charge_call, reserve_call, settle_call
from bot.store.memories import store_memory
from bot.store.outbox import enqueue, take_next, withdraw
from bot.store.reminders import end_reminders, reset_reminder, store_reminder
from bot.store.sessions import NewEpoch, close_session, digest_now, open_epoch, open_session, take_part
from bot.store.transactions import Tx
from bot.store.windows import cut_older_replies, end_conversations, keep_windows_open, requeue_events


def append_entry(db: Tx, turn_id: int, message: Message, tokens: int) -> int:
    """Within a transaction: a message at the end of the log of that turn; the entry's number."""
    return cast(
        "int",
        db.execute(
            "INSERT INTO entry (epoch_id, turn_id, position, message, tokens) SELECT epoch_id, turn.id, "
            "(SELECT coalesce(max(position), -1) + 1 FROM entry WHERE epoch_id = turn.epoch_id), ?, ? "
            "FROM turn WHERE turn.id = ?",
            (message.canonical(), tokens, turn_id),
        ).lastrowid,
    )


def link_answered(db: Tx, entry_id: int, turn_id: int) -> None:
    """Within a transaction: an entry comes from the messages that its turn answers."""
    db.execute(
        "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT 'entry', ?, event_id FROM turn_event "
        "WHERE turn_id = ?",
        (entry_id, turn_id),
    )


def link_told(db: Tx, entry_id: int, kind: str, derived: tuple[int, ...]) -> None:
    """Within a transaction: an entry that tells memories or commitments comes from the same events as they do.

    One that tells talks comes from these: a week has many lines, and what is told of it does not grow with them.
    """
    into = "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) SELECT"
    if kind == "digest":
        db.executemany(f"{into} 'recount', ?1, id FROM digest WHERE {TALKS_OF}", [(entry_id, each) for each in derived])
        return
    rows = [("entry" if kind == "memory" else "told", entry_id, kind, number) for number in derived]
    db.executemany(f"{into} ?, ?, event_id FROM edge WHERE kind = ? AND derived_id = ?", rows)


SELECT_TURN = """SELECT turn.id, turn.chat_id, turn.session_id, epoch_id, turn.number, turn.state, why, person_id,
    asked_at, receipts, session.number, epoch.number, session.opened_at, mode, mode_why FROM turn
    JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id """


@dataclass(frozen=True, slots=True)
class TurnToAsk:
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
    brought: tuple[ToldItem, ...] = ()
    rest_ms: int = DAY_MS
    round: RecallRound | None = None


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """The running turn and its reserved call."""

    turn: Turn
    call: ModelCall


@dataclass(frozen=True, slots=True)
class TurnToSay:
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
        session_number, epoch_number, opened_at, cast("BootstrapMode", mode), str(mode_why),
    )  # fmt: skip


def running_turns(db: Tx, chat_id: int) -> tuple[Turn, ...]:
    """Within a transaction: the turns of a chat between asked and said, with what they answer."""
    rows = db.execute(
        SELECT_TURN + "WHERE turn.chat_id = ? AND turn.state IN ('asked', 'answered') ORDER BY turn.id", (chat_id,)
    )
    turns = [turn_of(row) for row in rows.fetchall()]
    events = "SELECT event_id FROM turn_event WHERE turn_id = ? ORDER BY event_id"
    return tuple(
        replace(turn, event_ids=tuple(row[0] for row in db.execute(events, (turn.id,)).fetchall())) for turn in turns
    )


def ask_turn(db: Tx, asking: TurnToAsk, at: int) -> AskedTurn:
    """One transaction: session and epoch when new, the turn, its entry with source edges, and the reservation."""
    session_id = asking.session_id
    check_still_there(db, asking.shown, asking.answering)
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
    owner = CallAccount(session_id, asking.chat_id, turn_id, asking.person_id)
    call, entry_id = (
        reserve_call(db, asking.reservation, at, owner),
        append_entry(db, turn_id, asking.entry, asking.tokens),
    )
    link_shown(db, entry_id, asking.shown)
    note_told_memories(db, turn_id, asking.memories, MemoryUse(asking.rest_ms, boot=True), at)
    note_told_memories(db, turn_id, asking.recalled, MemoryUse(asking.rest_ms), at)
    note_told_items(db, turn_id, asking.brought)
    note_round(db, turn_id, asking.round, at)
    link_told(db, entry_id, "memory", (*asking.memories, *asking.recalled))
    link_told(db, entry_id, "digest", asking.digests)
    link_told(db, entry_id, "commitment", asking.commitments)
    link_told(db, entry_id, "reminder", asking.reminders)
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
    turn = turn_of(db.execute(SELECT_TURN + "WHERE turn.id = ?", (turn_id,)).fetchone())
    return AskedTurn(replace(turn, event_ids=asking.answering), call)


def _end_open(db: Tx, asking: TurnToAsk, at: int) -> None:
    """A session whose time is over may still be open, when a message comes before its alarm."""
    row = db.execute("SELECT id FROM session WHERE chat_id = ? AND state = 'open'", (asking.chat_id,)).fetchone()
    if row is not None:
        close_session(db, row[0], asking.ends or "idle", at, deadline=False)


def _count(db: Tx, turn_id: int, settlement: Settlement) -> None:
    """Remember what the server counted for the log as it was sent; an estimate teaches nothing."""
    if settlement.usage.returned:
        db.execute(
            "UPDATE epoch SET prompt_tokens = ?, prompt_entries = (SELECT count(*) - 1 FROM entry WHERE "
            "entry.epoch_id = epoch.id) WHERE id = (SELECT epoch_id FROM turn WHERE id = ?)",
            (settlement.usage.prompt_tokens, turn_id),
        )


def answer_turn(db: Tx, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
    """One transaction: a completion that asks for tools and what it cost."""
    check_running(db, turn.id)
    if not settle_call(db, settlement, at):
        return
    append_entry(db, turn.id, entry, tokens)
    _count(db, turn.id, settlement)
    db.execute("UPDATE turn SET state = 'answered' WHERE id = ?", (turn.id,))


def store_tool_result(db: Tx, turn: Turn, outcome: ToolOutcome, at: int) -> None:
    """One transaction: a tool's result in the log, with the memory it makes."""
    key = f"turn:{turn.id}:{outcome.key}"
    check_running(db, turn.id)
    if db.execute("SELECT 1 FROM effect WHERE key = ?", (key,)).fetchone():
        return
    text = store_tool_promise(db, outcome, turn.person_id, at)
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
        end_reminders(db, outcome.unremind, "cancelled", at)
    if outcome.receipt:
        db.execute(
            "UPDATE turn SET receipts = json_insert(receipts, '$[#]', ?) WHERE id = ?", (outcome.receipt, turn.id)
        )
    if outcome.quiet:
        end_conversations(db, turn.chat_id, None, "stopped", at)
    message = Message("tool", text, tool_call_id=outcome.call_id)
    entry_id = append_entry(db, turn.id, message, outcome.tokens)
    link_answered(db, entry_id, turn.id)
    link_shown(db, entry_id, outcome.lines)
    note_told_memories(db, turn.id, outcome.told, MemoryUse(outcome.rest_ms), at)
    note_told_items(
        db, turn.id, (ToldItem(outcome.name, "", outcome.tokens, " ".join(f"#{each}" for each in outcome.told)),)
    )
    link_told(db, entry_id, "memory", outcome.told)
    note_hit(db, turn.id, outcome.told)
    link_told(db, entry_id, "digest", outcome.digests)
    link_told(db, entry_id, "commitment", outcome.commitments)
    db.execute("INSERT INTO effect (key, result, at) VALUES (?, ?, ?)", (key, "done", at))


def say_turn(db: Tx, saying: TurnToSay, at: int, boot: str) -> Outgoing | None:
    """One transaction: answered and said in one; every message being answered is done, its people stay in conversation.

    The chat's first waiting message is marked as being sent and handed out: a commit of its own would come next.
    """
    if saying.settlement is not None:
        settle_call(db, saying.settlement, at)
    if not end_turn(db, saying.turn_id, "said"):
        return None
    link_answered(db, append_entry(db, saying.turn_id, saying.entry, saying.tokens), saying.turn_id)
    db.execute(
        "DELETE FROM effect WHERE key = (SELECT ? || chat_id FROM turn WHERE id = ?)", (SORRY_KEY, saying.turn_id)
    )
    if saying.settlement is not None:
        _count(db, saying.turn_id, saying.settlement)
    turn = turn_of(db.execute(SELECT_TURN + "WHERE turn.id = ?", (saying.turn_id,)).fetchone())
    events = tuple(row[0] for row in db.execute("SELECT event_id FROM turn_event WHERE turn_id = ?", (turn.id,)))
    finish_events(db, events, "done", "answered" if saying.drafts else "skipped")
    if saying.drafts:
        cut_older_replies(db, turn.chat_id, turn.id, at)
    line = _line(db, turn, saying.line, at) if saying.line else None
    due = at
    for part, draft in enumerate(saying.drafts):
        due += draft.wait_ms
        enqueue(db, turn.chat_id, draft, due, part=part, turn_id=turn.id, event_id=line)
    if saying.drafts:
        keep_windows_open(db, turn.id, events, saying.window_until)
    else:
        withdraw(db, turn.id, at)
    error = "" if saying.drafts else "skipped"
    db.execute("UPDATE turn SET said_at = ?, error = ? WHERE id = ?", (at, error, turn.id))
    drop_forgotten(db, turn.epoch_id)
    db.execute(
        "UPDATE session SET last_at = ?, close_at = ?, upto_event = max(upto_event, coalesce(?, 0)) WHERE id = ?",
        (at, saying.close_at, line, turn.session_id),
    )
    return take_next(db, turn.chat_id, boot, at, saying.platforms)


def _line(db: Tx, turn: Turn, text: str, at: int) -> int:
    sql = (
        "INSERT INTO event (chat_id, at, kind, text, state, turn_id, off_record) "
        f"VALUES (?, ?, 'bot', ?, 'done', ?, {ANSWERS_OFF_RECORD})"
    )
    number = cast("int", db.execute(sql, (turn.chat_id, at, text, turn.id, turn.id)).lastrowid)
    index_lines(db, (number,))
    return number


class Turns:
    """Turns, from asked to said."""

    def __init__(self, database: Database, boot: str) -> None:
        self._database = database
        self._boot = boot

    async def ask(self, asking: TurnToAsk, at: int) -> AskedTurn:
        """Commit the composed bytes and the reservation; OverBudget stores nothing.

        StoreError when the session it was composed for was closed meanwhile: compose again.
        """
        return await self._database.write(lambda db: ask_turn(db, asking, at))

    async def ask_again(self, turn: Turn, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the next call of a running turn; StoreError when it was voided, or its log forgotten, meanwhile."""
        owner = CallAccount(turn.session_id, turn.chat_id, turn.id, turn.person_id)

        def transaction(db: Tx) -> ModelCall:
            check_running(db, turn.id)
            check_not_forgotten(db, turn.epoch_id)
            return reserve_call(db, reservation, at, owner)

        return await self._database.write(transaction)

    async def answer(self, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
        """Commit a completion that asks for tools, once for each call."""

        await self._database.write(lambda db: answer_turn(db, turn, entry, tokens, settlement, at))

    async def tool_done(self, turn: Turn, outcome: ToolOutcome, at: int) -> None:
        """Commit a tool's effect with its result, once for each (turn, key)."""
        await self._database.write(lambda db: store_tool_result(db, turn, outcome, at))

    async def say(self, saying: TurnToSay, at: int) -> Outgoing | None:
        """Commit the final completion, the outbox rows and the end of the turn together; what to send first."""
        return await self._database.write(lambda db: say_turn(db, saying, at, self._boot))

    async def fail(
        self, turn: Turn, error: str, notice: Draft | None, call: tuple[int, str] | None, at: int, *,
        sorry: bool = False,
    ) -> None:  # fmt: skip
        """Void a turn: its log entries go, its events end as failed and join the next delta; tell the person.

        Without a notice follow-ups are put back instead.

        `call` is the call in flight and what becomes of its reservation: charge or release. `sorry`: the notice tells
        that no model answers.
        """
        await self._database.write(lambda db: fail_turn(db, turn, error, notice, call, at, sorry))

    async def begin_anew(self, turn: Turn, error: str, call: tuple[int, str] | None, at: int) -> None:
        """The log cannot be sent (again): void the turn and let its events be answered anew.

        One that is too long (`overflow`) ends its session, and what was asked belongs to the next one. Receipts are
        made again with the answer.
        """

        def transaction(db: Tx) -> None:
            fail_turn(db, turn, error, None, call, at)
            requeue_events(db, turn.event_ids, at)
            if error == "overflow" and close_session(db, turn.session_id, "budget", at, False):
                last = min(turn.event_ids) - 1
                db.execute("UPDATE session SET upto_event = ? WHERE id = ?", (last, turn.session_id))

        await self._database.write(transaction)

    async def reserved_call(self, turn_id: int) -> int | None:
        """The call of a turn that is in flight."""
        row = await self._database.row("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", (turn_id,))
        return int(row[0]) if row else None

    async def running(self, chat_id: int | None = None) -> tuple[Turn, ...]:
        """Turns between asked and said, in one chat or all: after a crash or a full disk they wait to be taken up."""
        rows = await self._database.rows(
            SELECT_TURN
            + "WHERE turn.state IN ('asked', 'answered') AND (?1 IS NULL OR turn.chat_id = ?1) ORDER BY turn.id",
            (chat_id,),
        )
        return tuple([await self._with_events(turn_of(row)) for row in rows])

    async def lost_calls(self, at: int) -> int:
        """Charge every reservation that an earlier process left; how many there were."""

        def transaction(db: Tx) -> int:
            calls = db.execute("SELECT id FROM call WHERE state = 'reserved'").fetchall()
            for (number,) in calls:
                charge_call(db, number, at)
            return len(calls)

        return await self._database.write(transaction)

    async def tried(self, turn_id: int) -> tuple[int, int]:
        """How many requests of a turn were answered, and how many were not: failed, or cut off by a crash."""
        row = await self._database.row(
            "SELECT count(*), coalesce(sum(state <> 'settled'), 0) FROM call WHERE turn_id = ?", (turn_id,)
        )
        assert row is not None
        return int(row[0]) - int(row[1]), int(row[1])

    async def totals(self, turn_id: int) -> tuple[int, int, int, int, float, str]:
        """Calls, prompt, cached and output tokens, and money of one turn, and the model of its last call."""
        row = await self._database.row(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), "
            "(SELECT model FROM call WHERE turn_id = ?1 ORDER BY id DESC LIMIT 1) FROM call WHERE turn_id = ?1",
            (turn_id,),
        )
        assert row is not None
        return int(row[0]), int(row[1]), int(row[2]), int(row[3]), float(row[4]), str(row[5] or "")

    async def _with_events(self, turn: Turn) -> Turn:
        rows = await self._database.rows(
            "SELECT event_id FROM turn_event WHERE turn_id = ? ORDER BY event_id", (turn.id,)
        )
        return replace(turn, event_ids=tuple(int(row[0]) for row in rows))
