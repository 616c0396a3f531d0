"""What models and other agents write to the memories of people: added, forgotten, put in other words."""

from dataclasses import dataclass

from bot.core.events import Draft, Event
from bot.core.memories import Memory, NewMemory
from bot.core.sessions import ModelCall, Turn
from bot.store.engine import Repository, reads, writes
from bot.store.events import IS_VISIBLE, read_events
from bot.store.ledger import CallAccount, Reservation, Settlement, reserve_call, settle_call
from bot.store.memories import OpenQuestion, Receipt, StoredMemory, active_memory, ask_back, known_memory, store_memory
from bot.store.outbox import announce
from bot.store.removal import Forgetting, carry_out, disable_memories, forget_memories
from bot.store.supersession import reword_memory
from bot.store.transactions import Tx
from bot.store.turns import check_running, fail_turn
from bot.store.windows import requeue_events


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


class AgentWrites(Repository):
    """What is written to the memories of people by models and other agents."""

    async def forget_in_turn(self, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        """Forget, confirm it and end the turn in one commit, once for the receipt's key; its text.

        What else the turn answers is due again, on a log that does not tell what is forgotten.
        """
        return await carry_out(
            self._database, forgetting, lambda tx: self._forget_in_turn(tx, turn, forgetting, receipt, at), at
        )

    def _forget_in_turn(self, tx: Tx, turn: Turn, forgetting: Forgetting, receipt: Receipt, at: int) -> str:
        check_running(tx, turn.id)
        text = forget_memories(tx, forgetting, receipt, at)
        tx.run("UPDATE epoch SET stale = 'forgotten' WHERE id = ?", turn.epoch_id)
        fail_turn(tx, turn, "forgotten", None, "charge", at)
        requeue_events(tx, turn.event_ids, at)
        return text

    @reads
    def added_by_agents(self, tx: Tx, owner_id: int, since: int) -> int:
        """How many memories agents added for that person since that moment, ms; also those that are gone again."""
        added = "SELECT count(*) FROM memory WHERE owner_id = ? AND source = 'mcp' AND created_at >= ?"
        return tx.number(added, owner_id, since)

    @reads
    def forgotten_since(self, tx: Tx, owner_id: int, since: int) -> int:
        """How many memories of that person were forgotten on somebody's word since that moment, ms."""
        gone = "SELECT count(*) FROM memory WHERE owner_id = ? AND disabled_reason = 'asked' AND disabled_at >= ?"
        return tx.number(gone, owner_id, since)

    @writes
    def add(self, tx: Tx, memory: NewMemory, at: int) -> StoredMemory:
        """Store it beside what is there, merged with nothing; what is known already is not counted once more."""
        same = known_memory(tx, memory)
        if same is not None and not memory.asked:
            return StoredMemory(same, True)
        return store_memory(tx, memory, at)

    async def forget_and_tell(self, forgetting: Forgetting, chat_id: int, told: Draft, at: int) -> None:
        """Disable the memories, scrub every derived copy and tell the chat, in one commit."""

        def forget(tx: Tx) -> None:
            disable_memories(tx, forgetting, chat_id, at)
            announce(tx, chat_id, told, at)

        await carry_out(self._database, forgetting, forget, at)

    @reads
    def pending_rewrite(self, tx: Tx, memory_id: int, now: int) -> PendingRewrite | None:
        """The memory, if it is active and due."""
        memory = active_memory(tx, memory_id)
        sql = (
            f"SELECT attempts, coalesce((SELECT text FROM event WHERE {IS_VISIBLE}event.id = asked_id), ''), answer_id "
            "FROM rewriting WHERE memory_id = ? AND due_at <= ?"
        )
        row = tx.one(sql, memory_id, now)
        if memory is None or row is None:
            return None
        attempts, question, answer_id = row
        answers = read_events(tx, f"WHERE {IS_VISIBLE}id = ?", answer_id)
        return PendingRewrite(memory, attempts, question, next(iter(answers), None))

    @writes
    def reserve_rewrite(self, tx: Tx, memory: Memory, reservation: Reservation, at: int) -> ModelCall:
        """Reserve the call and count the attempt in one commit; OverBudget when a limit would be passed."""
        tx.run("UPDATE rewriting SET attempts = attempts + 1 WHERE memory_id = ?", memory.id)
        return reserve_call(tx, reservation, at, CallAccount(None, memory.chat_id))

    @writes
    def postpone_rewrite(self, tx: Tx, memory_id: int, due_at: int) -> None:
        """Try again at that instant, ms."""
        tx.run("UPDATE rewriting SET due_at = ? WHERE memory_id = ?", due_at, memory_id)

    @writes
    def end_rewrite(self, tx: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
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
    def offer_answer(self, tx: Tx, memory_id: int, event: Event, at: int) -> None:
        """What its owner said after they were asked: a model may make one statement of both."""
        sql = "UPDATE rewriting SET answer_id = ?, due_at = ? WHERE memory_id = ? AND asked_id IS NOT NULL"
        tx.run(sql, event.id, at, memory_id)


def _say_otherwise(tx: Tx, memory: Memory, outcome: RewriteOutcome, at: int) -> None:
    said = memory.original or memory.text
    if outcome.answer is not None:
        said = f"{said}\n{outcome.answer.text}"
        tx.link("memory", memory.id, (outcome.answer.id,))
    tx.run("UPDATE memory SET original = ? WHERE id = ?", said, memory.id)
    reword_memory(tx, memory.id, outcome.text, at)
