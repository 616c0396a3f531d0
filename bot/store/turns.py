"""Turns and their three commits: asked, answered, said."""

import json
from dataclasses import dataclass, replace

from bot.core.clock import DAY_MS
from bot.core.errors import StoreError
from bot.core.events import Draft, Outgoing
from bot.core.models import Message
from bot.core.recall import RecallRound
from bot.core.sessions import CloseReason, ModelCall, ToldItem, Turn
from bot.core.tools import ToolOutcome
from bot.store.changes import check_not_forgotten, check_running, check_still_there, link_shown
from bot.store.commitments import store_tool_promise
from bot.store.digests import TALKS_OF
from bot.store.engine import Database, Repository, reads, writes, writing
from bot.store.events import finish_events
from bot.store.failures import SORRY_KEY, drop_forgotten, end_turn, fail_turn, say_line
from bot.store.feedback import note_told_items, note_told_memories
from bot.store.files import DataFiles
from bot.store.forget import keep_off_record
from bot.store.index import note_hit, note_round
from bot.store.ledger import CHARGE, CallAccount, Reservation, Settlement, reserve_call, settle_call
from bot.store.memories import store_memory
from bot.store.outbox import enqueue, take_next, withdraw
from bot.store.reminders import end_reminders, reset_reminder, store_reminder
from bot.store.sessions import NewEpoch, close_session, digest_now, open_epoch, open_session, take_part
from bot.store.transactions import Row, Tx
from bot.store.windows import cut_older_replies, end_conversations, keep_windows_open, requeue_events

SELECT_TURN = """SELECT turn.id, turn.chat_id, turn.session_id, epoch_id, turn.number, turn.state, why, person_id,
    asked_at, receipts, session.number, epoch.number, session.opened_at, mode, mode_why FROM turn
    JOIN session ON session.id = turn.session_id JOIN epoch ON epoch.id = turn.epoch_id """


@dataclass(frozen=True, slots=True)
class TurnToAsk:
    """Everything the first commit of a turn holds. `session_id` None opens a session, `epoch` begins an epoch.

    `ends` is why a session that is still open, though its time is over, ends with this turn; `memories`, `digests`,
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


def turn_of(row: Row) -> Turn:
    """A row of SELECT_TURN as a value, without its events."""
    number, chat, session, epoch, count, state, why, person, at, receipts, *counts = row
    return Turn(number, chat, session, epoch, count, state, why, person, at, (), tuple(json.loads(receipts)), *counts)


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
    epoch_id, position = tx.row(
        "SELECT epoch_id, (SELECT coalesce(max(position), -1) + 1 FROM entry WHERE epoch_id = turn.epoch_id) "
        "FROM turn WHERE id = ?",
        turn_id,
    )
    return tx.insert(
        "entry", epoch_id=epoch_id, turn_id=turn_id, position=position, message=message.canonical(), tokens=tokens
    )


def link_told(tx: Tx, entry_id: int, kind: str, derived: tuple[int, ...]) -> None:
    """An entry that tells memories or commitments comes from the same events as they do.

    One that tells talks comes from these: a week has many lines, and what is told of it does not grow with them.
    """
    for number in derived:
        if kind == "digest":
            tx.link("recount", entry_id, tx.ids(TALKS_OF, number))
        else:
            tx.link("entry" if kind == "memory" else "told", entry_id, tx.sources(kind, number))


def ask_turn(tx: Tx, asking: TurnToAsk, at: int) -> AskedTurn:
    """Commit the composed bytes and the reservation: session and epoch when new, the turn, its entry with source edges.

    OverBudget stores nothing. StoreError when the session it was composed for was closed meanwhile: compose again.
    """
    session_id, epoch_id, answering = asking.session_id, asking.epoch_id, asking.answering
    check_still_there(tx, asking.shown, answering)
    if session_id is None:
        # A session whose time is over may still be open, when a message comes before its alarm.
        for still in tx.ids("SELECT id FROM session WHERE chat_id = ? AND state = 'open'", asking.chat_id):
            close_session(tx, still, asking.ends or "idle", at)
        session_id = open_session(tx, asking.chat_id, min(answering) - 1, at, asking.close_at, asking.why)
    elif not tx.has("SELECT 1 FROM session WHERE id = ? AND state = 'open'", session_id):
        raise StoreError(f"session {session_id!r} was closed meanwhile: nothing was stored, compose again")
    if epoch_id is None:
        assert asking.epoch is not None
        epoch_id = open_epoch(tx, session_id, asking.epoch, at)
        if asking.epoch.mode == "full":
            digest_now(tx, asking.chat_id, at)
    before, stale = tx.row("SELECT logged_upto, stale FROM epoch WHERE id = ?", epoch_id)
    if stale:
        raise StoreError(f"the log of epoch {epoch_id!r} was dropped meanwhile: nothing was stored, compose again")
    count = tx.value("SELECT coalesce(max(number), 0) + 1 FROM turn WHERE session_id = ?", session_id)
    turn_id = tx.insert(
        "turn", chat_id=asking.chat_id, session_id=session_id, epoch_id=epoch_id, number=count, state="asked",
        why=asking.why, person_id=asking.person_id, asked_at=at, logged_before=before,
        receipts=json.dumps(asking.receipts, ensure_ascii=False), mode_why=asking.mode_why,
    )  # fmt: skip
    owner = CallAccount(session_id, asking.chat_id, turn_id, asking.person_id)
    call = reserve_call(tx, asking.reservation, at, owner)
    entry_id = append_entry(tx, turn_id, asking.entry, asking.tokens)
    link_shown(tx, entry_id, asking.shown)
    note_told_memories(tx, turn_id, asking.memories, asking.rest_ms, at, boot=True)
    note_told_memories(tx, turn_id, asking.recalled, asking.rest_ms, at)
    note_told_items(tx, turn_id, asking.brought)
    note_round(tx, turn_id, asking.round, at)
    link_told(tx, entry_id, "memory", (*asking.memories, *asking.recalled))
    link_told(tx, entry_id, "digest", asking.digests)
    link_told(tx, entry_id, "commitment", asking.commitments)
    link_told(tx, entry_id, "reminder", asking.reminders)
    tx.run("UPDATE epoch SET logged_upto = max(logged_upto, ?) WHERE id = ?", asking.logged_upto, epoch_id)
    for number in answering:
        tx.insert("turn_event", turn_id=turn_id, event_id=number)
        tx.run("UPDATE event SET turn_id = ? WHERE id = ?", turn_id, number)
    take_part(tx, session_id, answering)
    tx.run(
        "UPDATE session SET last_at = ?, close_at = ?, upto_event = max(upto_event, ?) WHERE id = ?",
        at, asking.close_at, asking.logged_upto, session_id,
    )  # fmt: skip
    return AskedTurn(replace(read_turn(tx, turn_id), event_ids=answering), call)


def _count(tx: Tx, turn_id: int, settlement: Settlement) -> None:
    """Remember what the server counted for the log as it was sent; an estimate teaches nothing."""
    if settlement.usage.returned:
        tx.run(
            "UPDATE epoch SET prompt_tokens = ?, prompt_entries = (SELECT count(*) - 1 FROM entry WHERE "
            "entry.epoch_id = epoch.id) WHERE id = (SELECT epoch_id FROM turn WHERE id = ?)",
            settlement.usage.prompt_tokens, turn_id,
        )  # fmt: skip


def answer_turn(tx: Tx, turn: Turn, entry: Message, tokens: int, settlement: Settlement, at: int) -> None:
    """Commit a completion that asks for tools and what it cost, once for each call."""
    check_running(tx, turn.id)
    if not settle_call(tx, settlement, at):
        return
    append_entry(tx, turn.id, entry, tokens)
    _count(tx, turn.id, settlement)
    tx.run("UPDATE turn SET state = 'answered' WHERE id = ?", turn.id)


def store_tool_result(tx: Tx, turn: Turn, outcome: ToolOutcome, at: int, files: DataFiles) -> None:
    """Commit a tool's result in the log with its effect, once for each (turn, key)."""
    key, answer = f"turn:{turn.id}:{outcome.key}", outcome.answer
    check_running(tx, turn.id)
    if tx.has("SELECT 1 FROM effect WHERE key = ?", key):
        return
    text = store_tool_promise(tx, answer, turn.person_id, at)
    if answer.memory is not None:
        stored = store_memory(tx, answer.memory, at, outcome.merging).id
        text = text.replace("{id}", str(stored))
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
        keep_off_record(tx, turn.event_ids[-1], answer.aside, turn.person_id or 0, at, files)
    if answer.receipt:
        receipts = json.loads(tx.value("SELECT receipts FROM turn WHERE id = ?", turn.id))
        said = json.dumps([*receipts, answer.receipt], ensure_ascii=False)
        tx.run("UPDATE turn SET receipts = ? WHERE id = ?", said, turn.id)
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


def say_turn(tx: Tx, saying: TurnToSay, at: int, boot: str) -> Outgoing | None:
    """Commit the final completion, the outbox rows and the end of the turn together; what to send first.

    Every message being answered is done, its people stay in conversation. The chat's first waiting message is marked as
    being sent and handed out: a commit of its own would come next.
    """
    if saying.settlement is not None:
        settle_call(tx, saying.settlement, at)
    if not end_turn(tx, saying.turn_id, "said"):
        return None
    turn = read_turn(tx, saying.turn_id)
    tx.link("entry", append_entry(tx, turn.id, saying.entry, saying.tokens), turn.event_ids)
    tx.run("DELETE FROM effect WHERE key = ?", f"{SORRY_KEY}{turn.chat_id}")
    if saying.settlement is not None:
        _count(tx, turn.id, saying.settlement)
    finish_events(tx, turn.event_ids, "done", "answered" if saying.drafts else "skipped")
    if saying.drafts:
        cut_older_replies(tx, turn.chat_id, turn.id, at)
    line = say_line(tx, turn, saying.line, at) if saying.line else None
    due = at
    for part, draft in enumerate(saying.drafts):
        due += draft.wait_ms
        enqueue(tx, turn.chat_id, draft, due, part=part, turn_id=turn.id, event_id=line)
    if saying.drafts:
        keep_windows_open(tx, turn.id, turn.event_ids, saying.window_until)
    else:
        withdraw(tx, turn.id, at)
    tx.run("UPDATE turn SET said_at = ?, error = ? WHERE id = ?", at, "" if saying.drafts else "skipped", turn.id)
    drop_forgotten(tx, turn.epoch_id)
    tx.run(
        "UPDATE session SET last_at = ?, close_at = ?, upto_event = max(upto_event, coalesce(?, 0)) WHERE id = ?",
        at, saying.close_at, line, turn.session_id,
    )  # fmt: skip
    return take_next(tx, turn.chat_id, boot, at, saying.platforms)


class Turns(Repository):
    """Turns, from asked to said."""

    def __init__(self, database: Database, boot: str, files: DataFiles) -> None:
        super().__init__(database)
        self._boot = boot
        self._files = files

    ask = writing(ask_turn)
    answer = writing(answer_turn)
    fail = writing(fail_turn)

    @writes
    def tool_done(self, tx: Tx, turn: Turn, outcome: ToolOutcome, at: int) -> None:
        """Commit a tool's result in the log with its effect, once for each (turn, key)."""
        store_tool_result(tx, turn, outcome, at, self._files)

    @writes
    def ask_again(self, tx: Tx, turn: Turn, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the next call of a running turn; StoreError when it was voided, or its log forgotten, meanwhile."""
        check_running(tx, turn.id)
        check_not_forgotten(tx, turn.epoch_id)
        owner = CallAccount(turn.session_id, turn.chat_id, turn.id, turn.person_id)
        return reserve_call(tx, reservation, at, owner)

    @writes
    def say(self, tx: Tx, saying: TurnToSay, at: int) -> Outgoing | None:
        """The last commit of a turn; what to send first."""
        return say_turn(tx, saying, at, self._boot)

    @writes
    def begin_anew(self, tx: Tx, turn: Turn, error: str, call: tuple[int, str] | None, at: int) -> None:
        """The log cannot be sent (again): void the turn and let its events be answered anew.

        One that is too long (`overflow`) ends its session, and what was asked belongs to the next one. Receipts are
        made again with the answer.
        """
        fail_turn(tx, turn, error, None, call, at)
        requeue_events(tx, turn.event_ids, at)
        if error == "overflow" and close_session(tx, turn.session_id, "budget", at):
            last = min(turn.event_ids) - 1
            tx.run("UPDATE session SET upto_event = ? WHERE id = ?", last, turn.session_id)

    @reads
    def reserved_call(self, tx: Tx, turn_id: int) -> int | None:
        """The call of a turn that is in flight."""
        number: int | None = tx.value("SELECT id FROM call WHERE turn_id = ? AND state = 'reserved'", turn_id)
        return number

    @reads
    def running(self, tx: Tx, chat_id: int | None = None) -> tuple[Turn, ...]:
        """Turns between asked and said, in one chat or all: after a crash or a full disk they wait to be taken up."""
        return running_turns(tx, chat_id)

    @writes
    def lost_calls(self, tx: Tx, at: int) -> int:
        """Charge every reservation that an earlier process left; how many there were."""
        return tx.run(CHARGE, at)

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
    def totals(self, tx: Tx, turn_id: int) -> tuple[int, int, int, int, float, str]:
        """Calls, prompt, cached and output tokens, and money of one turn, and the model of its last call."""
        calls, prompt, cached, output, cost, model = tx.row(
            "SELECT count(*), coalesce(sum(prompt_tokens), 0), coalesce(sum(cached_tokens), 0), "
            "coalesce(sum(output_tokens), 0), coalesce(sum(cost), 0), "
            "(SELECT model FROM call WHERE turn_id = ?1 ORDER BY id DESC LIMIT 1) FROM call WHERE turn_id = ?1",
            turn_id,
        )
        return calls, prompt, cached, output, float(cost), model or ""
