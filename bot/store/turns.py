"""Turns: their three commits (asked, answered, said), and what ends without an answer: refused, limited, failed, void."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.core.clock import DAY_MS
from bot.core.errors import JoinedError, LogForgottenError, StoreError
from bot.core.events import Draft, Outgoing
from bot.core.models import Message
from bot.core.parts import stored_part
from bot.core.recall import RecallRound
from bot.core.sessions import CloseReason, ModelCall, ToldItem, Turn, TurnState
from bot.core.speaking import STOP_REASONS
from bot.core.tools import ToolOutcome
from bot.store.commitments import store_tool_promise
from bot.store.digests import TALKS_OF
from bot.store.engine import IS_LEFT, Repository, reading, reads, writes, writes_chat, writing_chat
from bot.store.events import QUOTED_ID, add_line, end_waiting, finish_events, note_effect
from bot.store.index import index_lines, note_hit, note_round
from bot.store.ledger import (
    CHARGE,
    CallAccount,
    Reservation,
    ReservationFate,
    Settlement,
    charge_reserved,
    release_reserved,
    reserve_call,
    settle_call,
)
from bot.store.memories import store_memory
from bot.store.outbox import enqueue, mark_sent, take_next, withdraw
from bot.store.reminders import end_reminders, reset_reminder, store_reminder
from bot.store.removal import keep_off_record
from bot.store.schema import EVENT_QUEUE, GREATEST, LEAST, placeholders
from bot.store.sessions import (
    NewEpoch,
    close_session,
    digest_now,
    drop_entries,
    drop_log,
    open_epoch,
    open_session,
    take_part,
)
from bot.store.told import note_told_items, note_told_memories
from bot.store.transactions import Row, Tx, row_reader
from bot.store.windows import (
    CUT_LABEL,
    IS_QUIET,
    cut_older_replies,
    end_conversations,
    keep_windows_open,
    put_follow_ups_back,
    requeue_events,
)
from bot.text.similarity import echoes

OVER_BUDGET = "over_budget"
"""How the error of a turn begins that a limit ended; its events are refused, not failed."""

SORRY_KEY = "sorry:"
"""How the key of the effect begins that keeps when a chat was told that no model answers, until one does."""

SELECT_TURN = """SELECT turn.id, turn.chat_id, turn.session_id, epoch_id, turn.number, turn.state, why, person_id,
    asked_at, '[]', receipts, session.number, epoch.number, session.opened_at, mode, mode_why, turn.parts FROM turn
    JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id """


OFF_RECORD_LINES = f"""SELECT event.id, text, off_record, EXISTS (SELECT 1 FROM turn_event WHERE turn_id = turn.id
    AND event_id = event.id) FROM turn JOIN event ON event.chat_id = turn.chat_id AND event.id > (SELECT
    {LEAST}(from_event, coalesce((SELECT min(event_id) - 1 FROM turn_event WHERE turn_id = turn.id), from_event))
    FROM session WHERE session.id = session_id) WHERE turn.id = ? AND kind = 'message' AND off_record > 0 ORDER BY event.id"""
"""What is to be kept nowhere of the talk of a turn: number, text, why, and whether the turn answers it."""

ASKED_IN = """SELECT state, logged_upto, stale, (SELECT coalesce(max(number), 0) + 1 FROM turn WHERE session_id =
    session.id) FROM session JOIN epoch ON epoch.id = ? WHERE session.id = ?"""
"""How session and epoch of a turn that is asked are, and the turn's number."""


@dataclass(frozen=True, slots=True)
class TurnToAsk:
    """Everything the first commit of a turn holds. `session_id` None opens a session, `epoch` begins an epoch.

    `ends` is why a session that is still open, though its time is over, ends with this turn; `memories`, `digests`,
    `commitments` and `reminders` are those that it tells, `recalled` the memories that are told besides the opening,
    `brought` is noted of both; what is told is strengthened at most once in `rest_ms`. `round` is what its own recall
    found in which section. What it answers was due by `due_by`, if that is known.
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
    due_by: int | None = None


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """The running turn and its reserved call."""

    turn: Turn
    call: ModelCall


@dataclass(frozen=True, slots=True)
class TurnToSay:
    """The last commit: the final completion, what it cost, and what goes out on one of the connected `platforms`; the
    `known` ones are those that anybody is connected to.

    Without a `settlement` no call was made for it. Without drafts nothing is said, and no window is kept open.
    """

    chat_id: int
    turn_id: int
    entry: Message
    tokens: int
    settlement: Settlement | None
    line: str
    drafts: tuple[Draft, ...]
    window_until: int
    close_at: int
    platforms: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


turn_of: Callable[[Row], Turn] = row_reader(Turn)
"""A row of SELECT_TURN as a value, without its events."""


def read_turn(tx: Tx, turn_id: int) -> Turn:
    """The turn of that number, with what it answers."""
    return _with_events(tx, turn_of(tx.row(SELECT_TURN + "WHERE turn.id = ?", turn_id)))


def running_turns(tx: Tx, chat_id: int | None = None) -> tuple[Turn, ...]:
    """The turns between asked and said, in one chat or all, with what they answer."""
    where, values = ("", ()) if chat_id is None else ("turn.chat_id = ? AND ", (chat_id,))
    rows = tx.all(f"{SELECT_TURN}WHERE {where}turn.state IN ('asked', 'answered') ORDER BY turn.id", *values)
    return tuple(_with_events(tx, turn_of(row)) for row in rows)


def _with_events(tx: Tx, turn: Turn) -> Turn:
    events = tx.ids("SELECT event_id FROM turn_event WHERE turn_id = ? ORDER BY event_id", turn.id)
    return replace(turn, event_ids=events)


def append_entry(tx: Tx, turn_id: int, message: Message, tokens: int) -> int:
    """A message at the end of the log of that turn; the entry's number."""
    sql = (
        "INSERT INTO entry (epoch_id, turn_id, position, message, tokens) SELECT epoch_id, id, "
        "(SELECT coalesce(max(position), -1) + 1 FROM entry WHERE epoch_id = turn.epoch_id), ?, ? FROM turn "
        "WHERE id = ? RETURNING id"
    )
    (number,) = tx.ids(sql, message.canonical(), tokens, turn_id)
    return number


def link_told(tx: Tx, entry_id: int, kind: str, derived: tuple[int, ...]) -> None:
    """An entry that tells memories or commitments comes from the same events as they do.

    One that tells talks comes from these: a week has many lines, and what is told of it does not grow with them.
    """
    for number in derived:
        if kind == "digest":
            tx.link("recount", entry_id, tx.ids(TALKS_OF, number))
        else:
            tx.link("entry" if kind == "memory" else "told", entry_id, tx.sources(kind, number))


def link_shown(tx: Tx, entry_id: int, events: tuple[int, ...]) -> None:
    """An entry comes from the lines it shows, and from those that they quote."""
    quoted = f"SELECT {QUOTED_ID} FROM event WHERE id = ? AND target <> '' AND {QUOTED_ID} IS NOT NULL"
    tx.link("entry", entry_id, {*events, *tx.ids_for(quoted, events)})


def check_still_there(tx: Tx, shown: tuple[int, ...], answering: tuple[int, ...]) -> None:
    """StoreError when something that is shown was deleted since it was composed, or what it answers was stopped."""
    for number in sorted({*shown, *answering}):
        hidden, outcome, why = tx.row("SELECT hidden, outcome, why FROM event WHERE id = ?", number)
        if hidden == "deleted" or (number in answering and (outcome == "stopped" or why in STOP_REASONS)):
            raise StoreError(f"event {number!r} was taken back meanwhile: nothing was stored, compose again")


def check_still_due(tx: Tx, answering: tuple[int, ...], due_by: int | None) -> None:
    """JoinedError when all of what was due by then has a later deadline now."""
    if due_by is not None and all(
        tx.has("SELECT 1 FROM event WHERE id = ? AND due_at > ?", number, due_by) for number in answering
    ):
        raise JoinedError(f"events {answering!r} are answered later, with what came meanwhile: nothing was stored")


def check_not_forgotten(tx: Tx, epoch_id: int) -> None:
    """LogForgottenError when what the log tells was forgotten while its turn ran: it is not sent again."""
    if tx.has("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", epoch_id):
        raise LogForgottenError(f"the log {epoch_id!r} tells what was forgotten meanwhile: nothing was stored")


def check_running(tx: Tx, turn_id: int) -> None:
    """StoreError when the turn was voided under way: what its log told was deleted, or it was stopped."""
    if tx.has("SELECT 1 FROM turn WHERE id = ? AND state = 'void'", turn_id):
        raise StoreError(f"turn {turn_id!r} was voided meanwhile: nothing was stored, it ends here")


def ask_turn(tx: Tx, asking: TurnToAsk, at: int) -> AskedTurn:
    """Commit the composed bytes and the reservation: session and epoch when new, the turn, its entry with source edges.

    OverBudget stores nothing. StoreError when the session it was composed for was closed meanwhile: compose again.
    JoinedError when what it answers is to be answered later, with something that came meanwhile.
    """
    session_id, epoch_id, answering = asking.session_id, asking.epoch_id, asking.answering
    check_still_there(tx, asking.shown, answering)
    check_still_due(tx, answering, asking.due_by)
    if session_id is None:
        # A session whose time is over may still be open, when a message comes before its alarm.
        for still in tx.ids("SELECT id FROM session WHERE chat_id = ? AND state = 'open'", asking.chat_id):
            close_session(tx, still, asking.ends or "idle", at)
        session_id = open_session(tx, asking.chat_id, min(answering) - 1, at, asking.close_at, asking.why)
    if epoch_id is None:
        assert asking.epoch is not None
        epoch_id = open_epoch(tx, session_id, asking.epoch, at)
        if asking.epoch.mode == "full":
            digest_now(tx, asking.chat_id, at)
    asked_in = tx.one(ASKED_IN, epoch_id, session_id)
    if asked_in is None or asked_in[0] != "open":
        raise StoreError(f"session {session_id!r} was closed meanwhile: nothing was stored, compose again")
    _, before, stale, count = asked_in
    if stale:
        raise StoreError(f"the log of epoch {epoch_id!r} was dropped meanwhile: nothing was stored, compose again")
    turn_id = tx.insert(
        "turn",
        chat_id=asking.chat_id,
        session_id=session_id,
        epoch_id=epoch_id,
        number=count,
        state="asked",
        why=asking.why,
        person_id=asking.person_id,
        asked_at=at,
        logged_before=before,
        receipts=json.dumps(asking.receipts, ensure_ascii=False),
        mode_why=asking.mode_why,
    )
    entry_id = append_entry(tx, turn_id, asking.entry, asking.tokens)
    link_shown(tx, entry_id, asking.shown)
    note_told_memories(tx, turn_id, asking.memories, asking.rest_ms, at, boot=True)
    note_told_memories(tx, turn_id, asking.recalled, asking.rest_ms, at)
    note_told_items(tx, turn_id, asking.brought)
    if asking.round is not None:
        note_round(tx, turn_id, asking.chat_id, asking.person_id, asking.round, at)
    link_told(tx, entry_id, "memory", (*asking.memories, *asking.recalled))
    link_told(tx, entry_id, "digest", asking.digests)
    link_told(tx, entry_id, "commitment", asking.commitments)
    link_told(tx, entry_id, "reminder", asking.reminders)
    tx.run(f"UPDATE epoch SET logged_upto = {GREATEST}(logged_upto, ?) WHERE id = ?", asking.logged_upto, epoch_id)
    for number in answering:
        tx.insert("turn_event", turn_id=turn_id, event_id=number)
        tx.run("UPDATE event SET turn_id = ? WHERE id = ?", turn_id, number)
    take_part(tx, session_id, answering)
    sql = f"UPDATE session SET last_at = ?, close_at = ?, upto_event = {GREATEST}(upto_event, ?) WHERE id = ?"
    tx.run(sql, at, asking.close_at, asking.logged_upto, session_id)
    turn = turn_of(tx.row(SELECT_TURN + "WHERE turn.id = ?", turn_id))
    owner = CallAccount(session_id, asking.chat_id, turn_id, asking.person_id)
    call = reserve_call(tx, asking.reservation, at, owner)
    return AskedTurn(replace(turn, event_ids=answering), call)


def _count(tx: Tx, turn_id: int, settlement: Settlement) -> None:
    """Remember what the server counted for the log as it was sent; an estimate teaches nothing."""
    if settlement.usage.returned:
        sql = (
            "UPDATE epoch SET prompt_tokens = ?, prompt_entries = (SELECT count(*) - 1 FROM entry WHERE "
            "entry.epoch_id = epoch.id) WHERE id = (SELECT epoch_id FROM turn WHERE id = ?)"
        )
        tx.run(sql, settlement.usage.prompt_tokens, turn_id)


def answer_turn(tx: Tx, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
    """Commit a completion that asks for tools and what it cost, once for each call."""
    check_running(tx, turn.id)
    if not settle_call(tx, settlement, at):
        return
    append_entry(tx, turn.id, entry, tokens)
    _count(tx, turn.id, settlement)
    tx.run("UPDATE turn SET state = 'answered' WHERE id = ?", turn.id)


def store_tool_result(tx: Tx, turn: Turn, outcome: ToolOutcome, at: int) -> str:
    """Commit a tool's result in the log with its effect, once for each (turn, key); the receipt, "" for none."""
    key, answer = f"turn:{turn.id}:{outcome.key}", outcome.answer
    check_running(tx, turn.id)
    if tx.has("SELECT 1 FROM effect WHERE key = ?", key):
        return ""
    text, receipt = store_tool_promise(tx, answer, turn.person_id, at), answer.receipt
    if answer.memory is not None:
        stored = store_memory(tx, answer.memory, at, outcome.merging).id
        text, receipt = (said.replace("{id}", str(stored)) for said in (text, receipt))
        if not answer.memory.asked:
            # The model drew it from all that its log told it; what a person asked to keep is in their own words.
            log = "SELECT event_id FROM edge JOIN entry ON entry.id = derived_id WHERE edge.kind = 'entry' AND epoch_id = ?"
            tx.link("memory", stored, tx.ids(log, turn.epoch_id))
    if answer.remind is not None and answer.unremind:
        reset_reminder(tx, answer.unremind[0], answer.remind)
    elif answer.remind is not None:
        text = text.replace("{id}", str(store_reminder(tx, answer.remind, at)))
    else:
        end_reminders(tx, answer.unremind, "cancelled", at)
    if answer.aside:
        keep_off_record(tx, answer.aside[-1], answer.aside, turn.person_id or 0, at)
    if receipt:
        receipts = json.loads(tx.value("SELECT receipts FROM turn WHERE id = ?", turn.id))
        said = json.dumps([*receipts, receipt], ensure_ascii=False)
        tx.run("UPDATE turn SET receipts = ? WHERE id = ?", said, turn.id)
    if answer.parts:
        parts = json.loads(tx.value("SELECT parts FROM turn WHERE id = ?", turn.id))
        made = json.dumps([*parts, *map(stored_part, answer.parts)], ensure_ascii=False)
        tx.run("UPDATE turn SET parts = ? WHERE id = ?", made, turn.id)
    if answer.quiet:
        end_conversations(tx, turn.chat_id, None, "stopped", at)
    entry_id = append_entry(tx, turn.id, Message("tool", text, tool_call_id=outcome.call_id), outcome.tokens)
    tx.link("entry", entry_id, turn.event_ids)
    link_shown(tx, entry_id, answer.lines)
    note_told_memories(tx, turn.id, answer.told, outcome.rest_ms, at)
    told = ToldItem(outcome.name, "", outcome.tokens, " ".join(f"#{each}" for each in answer.told))
    note_told_items(tx, turn.id, (told,))
    link_told(tx, entry_id, "memory", answer.told)
    note_hit(tx, turn.id, answer.told)
    link_told(tx, entry_id, "digest", answer.digests)
    link_told(tx, entry_id, "commitment", answer.commitments)
    tx.insert("effect", key=key, result="done", at=at)
    return receipt


def say_turn(tx: Tx, saying: TurnToSay, at: int) -> Outgoing | None:
    """Commit the final completion, the outbox rows and the end of the turn together; what to send first, marked as taken."""
    if saying.settlement is not None:
        settle_call(tx, saying.settlement, at)
    if not end_turn(tx, saying.turn_id, "said", "" if saying.drafts else "skipped", at):
        return None
    turn = read_turn(tx, saying.turn_id)
    tx.link("entry", append_entry(tx, turn.id, saying.entry, saying.tokens), turn.event_ids)
    tx.run("DELETE FROM effect WHERE key = ?", f"{SORRY_KEY}{turn.chat_id}")
    if saying.settlement is not None:
        _count(tx, turn.id, saying.settlement)
    if saying.drafts:
        cut_older_replies(tx, turn.chat_id, turn.id, at)
    line = say_line(tx, turn, saying.line, at) if saying.line else None
    due = at
    for part, draft in enumerate(saying.drafts):
        due += draft.wait_ms
        enqueue(tx, turn.chat_id, draft, due, part=part, turn_id=turn.id, event_id=line)
    finish_events(tx, turn.event_ids, "answered" if saying.drafts else "skipped")
    if saying.drafts:
        keep_windows_open(tx, turn.id, turn.event_ids, saying.window_until)
    if all(draft.part is not None for draft in saying.drafts):
        withdraw(tx, turn.id, at)
    drop_forgotten(tx, turn.epoch_id)
    sql = f"UPDATE session SET last_at = ?, close_at = ?, upto_event = {GREATEST}(upto_event, coalesce(?, 0)) WHERE id = ?"
    tx.run(sql, at, saying.close_at, line, turn.session_id)
    return take_next(tx, turn.chat_id, at, saying.platforms)


def has_acted(tx: Tx, turn_id: int) -> bool:
    """Whether a tool did something in that turn: what is asked anew would do it twice."""
    return tx.has("SELECT 1 FROM effect WHERE key >= ? AND key < ?", f"turn:{turn_id}:", f"turn:{turn_id}:x")


def say_line(tx: Tx, turn: Turn, text: str, at: int, label: str = "") -> int:
    """The line of nuan's that a turn said, or that is left of it; off the record when it answers or repeats such a line."""
    unkept = tx.all(OFF_RECORD_LINES, turn.id)
    about = {number: mark for number, said, mark, answered in unkept if answered or echoes(said, text)}
    line = add_line(tx, turn.chat_id, text, at, label, turn_id=turn.id, off_record=max(about.values(), default=0))
    wishes = "SELECT derived_id FROM edge WHERE kind = 'aside' AND event_id = ?"
    for wish in sorted(tx.ids_for(wishes, about)):
        tx.link("aside", wish, (line,))  # who takes the wish back takes it back for both
    index_lines(tx, (line,))
    return line


def fail_turn(
    tx: Tx, turn: Turn, error: str, notice: Draft | None, fate: ReservationFate, at: int, *, sorry: bool = False
) -> None:
    """Void a turn: its log entries go, its events end as failed and join the next delta; tell the person.

    Without a notice a follow-up waits for the next call. `fate` is what becomes of the reservation of a call in flight;
    `sorry`: the notice tells that no model answers.
    """
    (charge_reserved if fate == "charge" else release_reserved)(tx, turn.id, at)
    if not end_turn(tx, turn.id, "failed", error):
        return
    drop_entries(tx, "turn_id", turn.id)
    sql = (
        "UPDATE epoch SET logged_upto = (SELECT logged_before FROM turn WHERE id = ?), prompt_tokens = 0, "
        "prompt_entries = 0 WHERE id = ?"
    )
    tx.run(sql, turn.id, turn.epoch_id)
    drop_forgotten(tx, turn.epoch_id)
    over = error.startswith(OVER_BUDGET)
    if turn.why == "window" and notice is None:
        put_follow_ups_back(tx, turn.event_ids, "silent" if over else "failed", at)
    else:
        finish_events(tx, turn.event_ids, "refused" if over else "failed")
    if notice is None:
        withdraw(tx, turn.id, at)
        return
    enqueue(tx, turn.chat_id, notice, at, turn_id=turn.id)
    if sorry:
        note_effect(tx, f"{SORRY_KEY}{turn.chat_id}", at)


def void_turn(tx: Tx, turn: Turn, error: str, at: int, *, withdrawn: bool = False) -> bool:
    """A turn under way is void: a call in flight costs what was reserved, nothing stays logged.

    Whether something of it is on the screen, which stays there unless it is `withdrawn`; then the next delta tells it.
    """
    shown = not withdrawn and _keep_shown(tx, turn, at)
    fail_turn(tx, turn, error, None, "charge", at)
    tx.run("UPDATE turn SET state = 'void' WHERE id = ?", turn.id)
    return shown


def _keep_shown(tx: Tx, turn: Turn, at: int) -> bool:
    """What is on the screen stays there as it is, and the next delta tells it; whether something is."""
    row = tx.one(
        "SELECT id, preview_id, text FROM outbox WHERE turn_id = ? AND state = 'preview' AND text <> ''", turn.id
    )
    if row is None:
        return False
    number, shown, text = row
    line = say_line(tx, turn, text, at, CUT_LABEL)
    ids = (shown,) if shown else ()
    sql = (
        "UPDATE outbox SET state = ?, kind = 'reply', text = '', payload = '', event_id = ?, sent_at = ?, external_ids = ? "
        "WHERE id = ?"
    )
    tx.run(sql, "sent" if shown else "cancelled", line, at, json.dumps(ids), number)
    mark_sent(tx, turn.chat_id, turn.id, ids)
    return True


def end_turn(tx: Tx, turn_id: int, state: TurnState, error: str, said_at: int | None = None) -> bool:
    """A turn ends once; its receipts are in the reply or the notice from now on. True for the first time."""
    ended = (
        "UPDATE turn SET state = ?, receipts = '[]', parts = '[]', error = ?, said_at = coalesce(?, said_at) WHERE id = ? "
        "AND state IN ('asked', 'answered')"
    )
    return tx.run(ended, state, error, said_at, turn_id) == 1


def drop_forgotten(tx: Tx, epoch_id: int) -> None:
    """What was forgotten while a turn ran on its log is deleted as soon as nothing runs on it."""
    if tx.has("SELECT 1 FROM epoch WHERE id = ? AND stale = 'forgotten'", epoch_id):
        drop_log(tx, epoch_id)


class TurnCommits(Repository):
    """Turns from asked to said, what gets no answer, and who was told why."""

    ask = writing_chat(ask_turn)
    answer = writing_chat(answer_turn)
    fail = writing_chat(fail_turn)
    say = writing_chat(say_turn)
    running = reading(running_turns)
    acted = reading(has_acted)

    async def tool_done(self, turn: Turn, outcome: ToolOutcome, at: int) -> str:
        """As `store_tool_result`; what changes memories, promises or reminders is of all chats."""
        answer = outcome.answer
        writes_elsewhere = answer.memory or answer.commitment or answer.settled or answer.remind
        chat = None if writes_elsewhere or answer.unremind or answer.aside else turn.chat_id
        return await self._database.write(lambda tx: store_tool_result(tx, turn, outcome, at), chat=chat)

    @writes_chat
    def ask_again(self, tx: Tx, turn: Turn, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the next call of a running turn; StoreError when it was voided, or its log forgotten, meanwhile."""
        check_running(tx, turn.id)
        check_not_forgotten(tx, turn.epoch_id)
        owner = CallAccount(turn.session_id, turn.chat_id, turn.id, turn.person_id)
        return reserve_call(tx, reservation, at, owner)

    @writes_chat
    def begin_anew(self, tx: Tx, turn: Turn, error: str, fate: ReservationFate, at: int) -> None:
        """The log cannot be sent (again): void the turn and let its events be answered anew.

        One that is too long (`overflow`) ends its session, and what was asked belongs to the next one. Receipts are
        made again with the answer. What is due later stays so.
        """
        due = f"SELECT max(due_at) FROM event WHERE id IN ({placeholders(turn.event_ids)})"
        again_at = max(at, tx.number(due, *turn.event_ids))
        fail_turn(tx, turn, error, None, fate, at)
        requeue_events(tx, turn.event_ids, again_at)
        if error == "overflow" and close_session(tx, turn.session_id, "budget", at):
            last = min(turn.event_ids) - 1
            tx.run("UPDATE session SET upto_event = ? WHERE id = ?", last, turn.session_id)

    @reads
    def voided(self, tx: Tx, turns: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """Those of these turns that are void by now: the chat and the number of each."""
        return tx.all(f"SELECT chat_id, id FROM turn WHERE id IN ({placeholders(turns)}) AND state = 'void'", *turns)

    @writes
    def lost_calls(self, tx: Tx, at: int) -> int:
        """Charge every reservation that a process left which is gone; how many there were."""
        return tx.run(f"{CHARGE}AND {IS_LEFT}", at, tx.boot)

    @reads
    def tried(self, tx: Tx, turn_id: int) -> tuple[int, int]:
        """How many requests of a turn were answered, and how many were not: failed, or cut off by a crash."""
        answered, lost = tx.row(
            "SELECT count(CASE state WHEN 'settled' THEN 1 END), count(CASE state WHEN 'settled' THEN NULL ELSE 1 END) "
            "FROM call WHERE turn_id = ?",
            turn_id,
        )
        return answered, lost

    @reads
    def logged_lately(self, tx: Tx, chat_id: int, turns: int, mark: str) -> bool:
        """Whether the model wrote that mark in one of the last so many replies of the chat."""
        last = "SELECT id FROM turn WHERE chat_id = ? AND state = 'said' ORDER BY id DESC LIMIT ?"
        written = f"SELECT message FROM ({last}) AS latest JOIN entry ON entry.turn_id = latest.id"
        messages = [Message.parse(stored) for (stored,) in tx.all(written, chat_id, turns)]
        return any(message.role == "assistant" and mark in message.content for message in messages)

    @reads
    def sorry(self, tx: Tx, chat_id: int, since: int) -> bool:
        """Whether that chat was told at `since` (ms) or later that no model answers, and none has answered since."""
        return tx.has("SELECT 1 FROM effect WHERE key = ? AND at >= ?", f"{SORRY_KEY}{chat_id}", since)

    @writes_chat
    def failed(
        self,
        tx: Tx,
        chat_id: int,
        events: tuple[int, ...],
        error: str,
        again: Callable[[int], int | None],
        notice: Draft | None,
        at: int,
    ) -> tuple[list[int], list[int]]:
        """Handling these queued events of a chat failed once more; all of them, and those that get no other try.

        Without any it was the first that is due there. `again` tells from the number of tries in how many ms the next
        one is, None for no more; then a turn that is under way for them is void, and the chat is told the notice, if
        there is one.
        """
        which, values = f"id IN ({placeholders(events)}) AND state = 'queued'", events
        if not events:
            which = f"id = (SELECT min(id) FROM {EVENT_QUEUE} WHERE chat_id = ? AND state = 'queued' AND due_at <= ?)"
            values = (chat_id, at)
        counted, dead = list[int](), list[int]()
        for number, tries in tx.all(f"SELECT id, tries + 1 FROM event WHERE {which} ORDER BY id", *values):
            wait = again(tries)
            counted.append(number)
            due, state, outcome = (None, "dead", "failed") if wait is None else (at + wait, "queued", "")
            sql = "UPDATE event SET tries = ?, error = ?, due_at = ?, state = ?, outcome = ? WHERE id = ?"
            tx.run(sql, tries, error, due, state, outcome, number)
            if wait is None:
                dead.append(number)
        for turn in running_turns(tx, chat_id) if dead else ():
            if not {*turn.event_ids}.isdisjoint(dead):
                fail_turn(tx, turn, error, None, "charge", at)
        if dead and notice is not None:
            enqueue(tx, chat_id, notice, at)
        for number in dead:
            end_waiting(tx, number)
        return counted, dead

    @reads
    def off_record(self, tx: Tx, turn_id: int) -> tuple[str, ...]:
        """What people said in the talk of that turn that is to be kept nowhere."""
        return tuple(said for _, said, *_ in tx.all(OFF_RECORD_LINES, turn_id))

    @reads
    def is_quiet(self, tx: Tx, turn_id: int) -> bool:
        """Whether silence was wanted while that turn ran, so that it opens no window."""
        return tx.has(IS_QUIET, turn_id)
