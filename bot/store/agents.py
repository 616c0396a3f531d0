"""What tools, other agents and the rewriting model keep and forget on a person's words."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.events import Draft, Event
from bot.core.memories import Memory, NewMemory
from bot.core.sessions import ModelCall, Turn
from bot.store.changes import check_running
from bot.store.engine import Repository, reads, writes
from bot.store.events import IS_VISIBLE, read_events
from bot.store.failures import fail_turn
from bot.store.ledger import CallAccount, Reservation, Settlement, reserve_call, settle_call
from bot.store.memories import OpenQuestion, Receipt, StoredMemory, active_memory, ask_back, known_memory, store_memory
from bot.store.outbox import announce
from bot.store.removal import Forgetting, ScrubbingRepository, disable_memories, forget_memories
from bot.store.schema import placeholders
from bot.store.supersession import reword_memory
from bot.store.transactions import Tx
from bot.store.windows import requeue_events

MOST_OWN_LINES, OWN_WORDS_MS = 4, 600_000
"""So many lines of a person, of the last ten minutes, say together what they ask for."""


class OwnLines(ScrubbingRepository):
    """The own words of a turn, and what is done on them."""

    @reads
    def own(
        self, tx: Tx, event_ids: tuple[int, ...], person_id: int, now: int, *, answered: bool = False
    ) -> tuple[Event, ...]:
        """Those of these messages that this person wrote, in order: nothing forwarded, and nothing of a bot.

        Where they are few, what the same person wrote in that chat just before them comes first; what was `answered`
        as a command only when it is asked for.
        """
        own = (
            f"WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM person WHERE person.id = person_id AND is_bot = 1) AND "
        )
        these = read_events(tx, f"{own}id IN ({placeholders(event_ids)}) ORDER BY id", person_id, *event_ids)
        before = read_events(
            tx, f"{own}chat_id = (SELECT chat_id FROM event WHERE id = ?) AND id < ? AND at >= ? "
            "AND (? OR outcome <> 'command') ORDER BY id DESC LIMIT ?",
            person_id, max(event_ids, default=0), min(event_ids, default=0), now - OWN_WORDS_MS, answered,
            max(0, MOST_OWN_LINES - len(these)),
        )  # fmt: skip
        return (*reversed(before), *these)

    @reads
    def before(self, tx: Tx, event_ids: tuple[int, ...]) -> Mapping[int, str]:
        """What nuan said right before each of these messages, with nobody's line between, within ten minutes."""
        return dict(tx.all(
            "SELECT event.id, said.text FROM event JOIN event AS said ON said.id = (SELECT max(id) FROM event AS other "
            "WHERE other.chat_id = event.chat_id AND other.id < event.id AND other.kind IN ('message', 'bot')) "
            f"WHERE event.id IN ({placeholders(event_ids)}) AND said.kind = 'bot' AND said.hidden = '' "
            "AND said.at >= event.at - ?",
            *event_ids, OWN_WORDS_MS,
        ))  # fmt: skip

    async def forget(self, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget, confirm it and end the turn in one commit, once for the receipt's key; its text.

        What else the turn answers is due again, on a log that does not tell what is forgotten.
        """
        return await self._carry_out(forgetting, lambda tx: self._forget(tx, turn, forgetting, receipt, at), at)

    def _forget(self, tx: Tx, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        check_running(tx, turn.id)
        text = forget_memories(tx, forgetting, receipt, at, self._files)
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", turn.epoch_id)
        fail_turn(tx, turn, "forgotten", None, None, at)
        requeue_events(tx, turn.event_ids, at)
        return text


class AgentWrites(ScrubbingRepository):
    """The writes that other agents ask for."""

    @reads
    def kept(self, tx: Tx, owner_id: int, since: int) -> int:
        """How many memories agents added for that person since that moment, ms; also those that are gone again."""
        count: int = tx.value(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND source = 'mcp' AND created_at >= ?", owner_id, since
        )
        return count

    @reads
    def forgotten(self, tx: Tx, owner_id: int, since: int) -> int:
        """How many memories of that person were forgotten on somebody's word since that moment, ms."""
        count: int = tx.value(
            "SELECT count(*) FROM memory WHERE owner_id = ? AND disabled_reason = 'asked' AND disabled_at >= ?",
            owner_id, since,
        )  # fmt: skip
        return count

    @writes
    def remember(self, tx: Tx, memory: NewMemory, at: int) -> StoredMemory:
        """Store it beside what is there, merged with nothing.

        What is known already is not counted once more: an agent that says the same a hundred times does not make it
        weigh more than what people say.
        """
        same = known_memory(tx, memory)
        if same is not None and not memory.asked:
            return StoredMemory(same, True)
        return store_memory(tx, memory, at)

    @reads
    def said(self, tx: Tx, person_id: int, chat_id: int, now: int) -> tuple[str, ...]:
        """What that person wrote there last, newest first: as much as says what somebody asks for."""
        found = tx.all(
            f"SELECT text FROM event WHERE {IS_VISIBLE}kind = 'message' AND forwarded = 0 AND person_id = ? "
            "AND chat_id = ? AND at >= ? ORDER BY id DESC LIMIT ?",
            person_id, chat_id, now - OWN_WORDS_MS, MOST_OWN_LINES,
        )  # fmt: skip
        return tuple(text for (text,) in found)

    async def forget(self, forgetting: Forgetting, chat_id: int, told: Draft, at: int) -> None:
        """Disable the memories, scrub every derived copy and tell the chat, in one commit; without days for undo they
        are purged.
        """

        def forget(tx: Tx) -> None:
            disable_memories(tx, forgetting, chat_id, at, self._files)
            announce(tx, chat_id, told, at)

        await self._carry_out(forgetting, forget, at)


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

    @reads
    def waiting(self, tx: Tx, memory_id: int, now: int) -> PendingRewrite | None:
        """The memory, if it is active and due."""
        memory = active_memory(tx, memory_id)
        row = tx.one(
            f"SELECT attempts, coalesce((SELECT text FROM event WHERE {IS_VISIBLE}event.id = asked_id), ''), answer_id "
            "FROM rewriting WHERE memory_id = ? AND due_at <= ?",
            memory_id, now,
        )  # fmt: skip
        if memory is None or row is None:
            return None
        attempts, question, answer_id = row
        answers = read_events(tx, f"WHERE {IS_VISIBLE}id = ?", answer_id)
        return PendingRewrite(memory, attempts, question, next(iter(answers), None))

    @writes
    def reserve(self, tx: Tx, memory: Memory, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the call and count the attempt in one commit; OverBudget when a limit would be passed."""
        tx.run("UPDATE rewriting SET attempts = attempts + 1 WHERE memory_id = ?", memory.id)
        return reserve_call(tx, reservation, at, CallAccount(None, memory.chat_id))

    @writes
    def postpone(self, tx: Tx, memory_id: int, due_at: int) -> None:
        """Try again at that instant, ms."""
        tx.run("UPDATE rewriting SET due_at = ? WHERE memory_id = ?", due_at, memory_id)

    @writes
    def end(self, tx: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
        """Commit what became of it; of a memory that was forgotten or changed meanwhile nothing is said."""
        if outcome.settlement is not None:
            settle_call(tx, outcome.settlement, at)
        same = tx.has("SELECT 1 FROM memory WHERE id = ? AND disabled_at IS NULL AND text = ?", memory.id, memory.text)
        if outcome.asked is None or not same:
            tx.run("DELETE FROM rewriting WHERE memory_id = ?", memory.id)
        answer = outcome.answer
        stands = f"SELECT 1 FROM event WHERE {IS_VISIBLE}id = ? AND text = ?"
        if not same or (answer is not None and not tx.has(stands, answer.id, answer.text)):
            return
        if outcome.text:
            _say_otherwise(tx, memory, outcome, at)
        if outcome.notice is None:
            return
        line = announce(tx, memory.chat_id, outcome.notice, at)
        if outcome.asked is not None:
            until = outcome.asked.until
            tx.run("UPDATE rewriting SET due_at = ?, asked_id = ? WHERE memory_id = ?", until, line, memory.id)
            ask_back(tx, memory.chat_id, memory.owner_id or 0, outcome.asked)

    @writes
    def offer(self, tx: Tx, memory_id: int, event: Event, at: int) -> None:
        """What its owner said after they were asked: a model may make one statement of both."""
        tx.run(
            "UPDATE rewriting SET answer_id = ?, due_at = ? WHERE memory_id = ? AND asked_id IS NOT NULL",
            event.id, at, memory_id,
        )  # fmt: skip


def _say_otherwise(tx: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
    said = memory.original or memory.text
    if outcome.answer is not None:
        said = f"{said}\n{outcome.answer.text}"
        tx.link("memory", memory.id, (outcome.answer.id,))
    tx.run("UPDATE memory SET original = ? WHERE id = ?", said, memory.id)
    reword_memory(tx, memory.id, outcome.text, at)
