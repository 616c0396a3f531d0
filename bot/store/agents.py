"""What tools, other agents and the rewriting model keep and forget on a person's words."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.events import Draft, Event
from bot.core.memories import Memory, NewMemory
from bot.core.sessions import ModelCall, Turn
from bot.store.changes import check_running
from bot.store.deletion import forget_with_lines
from bot.store.engine import Database, Repository
from bot.store.events import IS_VISIBLE, SELECT_EVENT, event_of
from bot.store.failures import fail_turn
from bot.store.forget import Forgetting, disable_memories, purge_now
from bot.store.index import index_memory, sort_memory
from bot.store.ledger import CallAccount, Reservation, Settlement, reserve_call, settle_call
from bot.store.memories import OpenQuestion, Receipt, StoredMemory, ask_back, known_memory, store_memory
from bot.store.notes import NoteStorage
from bot.store.outbox import announce
from bot.store.schema import SELECT_MEMORY, memory_of, placeholders
from bot.store.transactions import Tx
from bot.store.windows import requeue_events
from bot.text.fold import fold

MOST_OWN_LINES, OWN_WORDS_MS = 4, 600_000
"""So many lines of a person, of the last ten minutes, say together what they ask for."""


class OwnLines:
    """The own words of a turn, and what is done on them."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def own(
        self, event_ids: tuple[int, ...], person_id: int, now: int, *, answered: bool = False
    ) -> tuple[Event, ...]:  # fmt: skip
        """Those of these messages that this person wrote, in order: nothing forwarded, and nothing of a bot.

        Where they are few, what the same person wrote in that chat just before them comes first; what was `answered`
        as a command only when it is asked for.
        """
        own = (
            f"{SELECT_EVENT}WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM person WHERE person.id = person_id AND is_bot = 1) AND "
        )
        without = "AND outcome <> 'command' "
        these, before = await self._database.snapshot(
            (f"{own}id IN ({placeholders(event_ids)}) ORDER BY id", (person_id, *event_ids)),
            (f"{own}chat_id = (SELECT chat_id FROM event WHERE id = ?) AND id < ? AND at >= ? "
             f"{'' if answered else without}ORDER BY id DESC LIMIT {MOST_OWN_LINES}",
             (person_id, max(event_ids, default=0), min(event_ids, default=0), now - OWN_WORDS_MS)),
        )  # fmt: skip
        room = max(0, MOST_OWN_LINES - len(these))
        return tuple(event_of(row) for row in (*reversed(before[:room]), *these))

    async def before(self, event_ids: tuple[int, ...]) -> Mapping[int, str]:
        """What nuan said right before each of these messages, with nobody's line between, within ten minutes."""
        rows = await self._database.rows(
            "SELECT event.id, said.text FROM event JOIN event AS said ON said.id = (SELECT max(id) FROM event AS other "
            "WHERE other.chat_id = event.chat_id AND other.id < event.id AND other.kind IN ('message', 'bot')) "
            f"WHERE event.id IN ({placeholders(event_ids)}) AND said.kind = 'bot' AND said.hidden = '' "
            "AND said.at >= event.at - ?",
            (*event_ids, OWN_WORDS_MS),
        )
        return {int(row[0]): str(row[1]) for row in rows}

    async def kept(self, event_ids: tuple[int, ...], owner_id: int) -> tuple[tuple[int, str], ...]:
        """Number and text of what this person asked to keep in these messages."""
        rows = await self._database.rows(
            "SELECT DISTINCT memory.id, text FROM memory JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id "
            f"WHERE owner_id = ? AND asked = 1 AND disabled_at IS NULL AND event_id IN ({placeholders(event_ids)}) "
            "ORDER BY memory.id",
            (owner_id, *event_ids),
        )
        return tuple((int(row[0]), str(row[1])) for row in rows)

    async def forget(self, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget, confirm it and end the turn in one commit, once for the receipt's key; its text.

        What else the turn answers is due again, on a log that does not tell what is forgotten.
        """
        text = await self._database.write(lambda db: self._forget(db, turn, forgetting, receipt, at))
        if forgetting.purge_at is None:
            await purge_now(self._database, at)
        return text

    def _forget(
        self, db: Tx, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int
    ) -> str:  # fmt: skip
        check_running(db, turn.id)
        text = forget_with_lines(db, forgetting, receipt, at, self._note_storage)
        db.execute("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", (turn.epoch_id,))
        fail_turn(db, turn, "forgotten", None, None, at)
        requeue_events(db, turn.event_ids, at)
        return text


class AgentWrites:
    """The writes that other agents ask for."""

    def __init__(self, database: Database, note_storage: NoteStorage) -> None:
        self._database = database
        self._note_storage = note_storage

    async def kept(self, owner_id: int, since: int) -> int:
        """How many memories agents added for that person since that moment, ms; also those that are gone again."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND source = 'mcp' AND created_at >= ?", (owner_id, since)
        )
        return int(row[0]) if row else 0

    async def forgotten(self, owner_id: int, since: int) -> int:
        """How many memories of that person were forgotten on somebody's word since that moment, ms."""
        row = await self._database.row(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND disabled_reason = 'asked' AND disabled_at >= ?",
            (owner_id, since),
        )
        return int(row[0]) if row else 0

    async def remember(self, memory: NewMemory, at: int) -> StoredMemory:
        """Store it beside what is there, merged with nothing; what is known already is not counted once more."""
        return await self._database.write(lambda db: remember_for_agent(db, memory, at))

    async def said(self, person_id: int, chat_id: int, now: int) -> tuple[str, ...]:
        """What that person wrote there last, newest first: as much as says what somebody asks for."""
        rows = await self._database.rows(
            f"SELECT text FROM event WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? "
            f"AND chat_id = ? AND at >= ? ORDER BY id DESC LIMIT {MOST_OWN_LINES}",
            (person_id, chat_id, now - OWN_WORDS_MS),
        )
        return tuple(str(row[0]) for row in rows)

    async def forget(self, forgetting: Forgetting, chat_id: int, told: Draft, at: int) -> None:
        """Disable the memories, scrub every derived copy and tell the chat, in one commit; without days for undo they
        are purged.
        """

        def transaction(db: Tx) -> None:
            disable_memories(db, forgetting, chat_id, at, self._note_storage)
            announce(db, chat_id, told, at)

        await self._database.write(transaction)
        if forgetting.purge_at is None:
            await purge_now(self._database, at)


def remember_for_agent(db: Tx, memory: NewMemory, at: int) -> StoredMemory:
    """One transaction: an agent that says the same a hundred times does not make it weigh more than what people say."""
    same = known_memory(db, memory)
    if same is not None and not memory.asked:
        return StoredMemory(same, True)
    return store_memory(db, memory, at)


_QUESTION = f"(SELECT text FROM event WHERE {IS_VISIBLE}event.id = asked_id)"


@dataclass(frozen=True, slots=True)
class PendingRewrite:
    """A memory to be rewritten, and how often a model was asked before.

    `question` is what its owner was asked about it, "" for nothing; `answer` what they said next, as it is now.
    """

    memory: Memory
    attempts: int
    question: str = ""
    answer: Event | None = None


@dataclass(frozen=True, slots=True)
class RewriteOutcome:
    """What became of it: a new text ("" leaves it as it was said), what is said of it, and what the call cost.

    With `asked` the person is asked, and it waits for what they say next. An `answer` is a source of the new text.
    """

    text: str
    notice: Draft | None = None
    settlement: Settlement | None = None
    asked: OpenQuestion | None = None
    answer: Event | None = None


class Rewrites(Repository):
    """What waits to be rewritten."""

    async def waiting(self, memory_id: int, now: int) -> PendingRewrite | None:
        """The memory, if it is active and due."""
        answer = "(SELECT answer_id FROM rewriting WHERE memory_id = ?)"
        rows, said = await self._database.snapshot(
            (
                SELECT_MEMORY.replace("SELECT ", f"SELECT rewriting.attempts, coalesce({_QUESTION}, ''), ", 1)
                + "JOIN rewriting ON memory_id = memory.id WHERE memory.id = ? AND disabled_at IS NULL AND due_at <= ?",
                (memory_id, now),
            ),
            (f"{SELECT_EVENT}WHERE {IS_VISIBLE}id = {answer}", (memory_id,)),
        )
        if not rows:
            return None
        attempts, question, *memory = rows[0]
        return PendingRewrite(memory_of(tuple(memory)), int(attempts), question, event_of(said[0]) if said else None)

    async def reserve(self, memory: Memory, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the call and count the attempt in one commit; OverBudget when a limit would be passed."""

        def transaction(db: Tx) -> ModelCall:
            db.execute("UPDATE rewriting SET attempts = attempts + 1 WHERE memory_id = ?", (memory.id,))
            return reserve_call(db, reservation, at, CallAccount(None, memory.chat_id))

        return await self._database.write(transaction)

    async def postpone(self, memory_id: int, due_at: int) -> None:
        """Try again at that instant, ms."""
        await self._database.write(
            lambda db: db.execute("UPDATE rewriting SET due_at = ? WHERE memory_id = ?", (due_at, memory_id))
        )

    async def end(self, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
        """Commit what became of it; of a memory that was forgotten or changed meanwhile nothing is said."""
        await self._database.write(lambda db: _end(db, memory, outcome, at))

    async def offer(self, memory_id: int, event: Event, at: int) -> None:
        """What its owner said after they were asked: a model may make one statement of both."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE rewriting SET answer_id = ?, due_at = ? WHERE memory_id = ? AND asked_id IS NOT NULL",
                (event.id, at, memory_id),
            )
        )


def _end(db: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
    if outcome.settlement is not None:
        settle_call(db, outcome.settlement, at)
    same = db.execute(
        "SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL AND text = ?", (memory.id, memory.text)
    ).fetchone()
    waits = outcome.asked is not None and same is not None
    if not waits:
        db.execute("DELETE FROM rewriting WHERE memory_id = ?", (memory.id,))
    if same is None or not _stands(db, outcome.answer):
        return
    if outcome.text:
        _say_otherwise(db, memory, outcome, at)
    if outcome.notice is not None:
        line = announce(db, memory.chat_id, outcome.notice, at)
        if outcome.asked is not None:
            db.execute(
                "UPDATE rewriting SET due_at = ?, asked_id = ? WHERE memory_id = ?",
                (outcome.asked.until, line, memory.id),
            )
            ask_back(db, memory.chat_id, memory.owner_id or 0, outcome.asked)


def _stands(db: Tx, answer: Event | None) -> bool:
    """Whether a line still says what a model was given."""
    return answer is None or bool(
        db.execute(f"SELECT 1 FROM event WHERE {IS_VISIBLE}id = ? AND text = ?", (answer.id, answer.text)).fetchone()
    )


def _say_otherwise(db: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
    said = memory.original or memory.text
    if outcome.answer is not None:
        said = f"{said}\n{outcome.answer.text}"
        db.execute(
            "INSERT OR IGNORE INTO edge (kind, derived_id, event_id) VALUES ('memory', ?, ?)",
            (memory.id, outcome.answer.id),
        )
    db.execute(
        "UPDATE memory SET original = ?, text = ?, folded = ?, updated_at = ? WHERE id = ?",
        (said, outcome.text, fold(outcome.text), at, memory.id),
    )
    sort_memory(db, memory.id)
    index_memory(db, memory.id)
