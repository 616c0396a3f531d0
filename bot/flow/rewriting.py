"""`memory.rewrite`: a small model call turns a kept sentence into a clean statement, in the background.

Whatever goes wrong, the sentence stays as it was said.
"""

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.background import BackgroundGate
from bot.flow.scribe import Errand, Scribe
from bot.flow.words import Words
from bot.memory.rewriting import Verdict, parse_verdict
from bot.ports import Clock
from bot.store.ledger import Reservation, Settlement
from bot.store.questions import Asked
from bot.store.rewrites import Outcome, Waiting
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.script import Script
from bot.types.log import Log
from bot.types.memory import Memory, Question
from bot.types.outgoing import Draft
from bot.types.turn import Call

MOST_TRIES = 3
"""Model calls for one sentence (seed: 3 attempts)."""

WAIT_MS = 30_000
"""Before the second try; doubled before the third."""

OUTPUT_TOKENS = 200
"""Longest answer (seed: 220)."""

FINAL = ("refused", "filtered", "overflow")
"""Faults that the same request would meet again: 400, 401, 403, 404, a filter, a text too long."""


class Rewriting:
    """Rewrites what waits for it."""

    def __init__(
        self, store: Store, scribe: Scribe, clock: Clock, settings: Settings, words: Words, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = scribe
        self._clock = clock
        self._settings = settings
        self._words = words
        self._gate = BackgroundGate(store.switches, settings.background)
        self._log = log

    async def work(self, memory_id: int) -> None:
        """Rewrite one sentence if it is due; one call, whose outcome is one commit."""
        waiting = await self._store.rewrites.waiting(memory_id, self._clock.now())
        if waiting is None:
            return
        allowed = self._settings.memory.rewrite and await self._gate.allows("rewrite")
        outcome = await self._asked(waiting) if allowed and waiting.attempts < MOST_TRIES else Outcome("")
        if outcome is not None:
            await self._store.rewrites.end(waiting.memory, outcome, self._clock.now())

    async def _asked(self, waiting: Waiting) -> Outcome | None:
        """What the model makes of it; None when it is to be tried again."""
        memory, tried = waiting.memory, waiting.attempts + 1
        person = await self._store.people.person(memory.owner_id or 0)
        script = self._words.script(person)

        async def reserve(reservation: Reservation, now: int) -> Call:
            return await self._store.rewrites.reserve(memory, reservation, now)

        errand = Errand("rewrite", memory.chat_id, script, memory.text, OUTPUT_TOKENS, small=True)
        try:
            async with self._scribe.written(errand, reserve) as paper:
                verdict = parse_verdict(paper.text)
                if verdict is not None:
                    return self._outcome(verdict, memory, paper.settlement, script, tried)
                await self._store.ledger.settle(paper.settlement, self._clock.now())
        except OverBudget as error:
            self._log.warning("over_budget", memory=memory.id, chat=memory.chat_id, limit=error.limit)
            return Outcome("")
        except ModelError as error:
            return await self._put_off(waiting, error.fault in FINAL or error.final, error.fault)
        return await self._put_off(waiting, False, "invalid")

    async def _put_off(self, waiting: Waiting, final: bool, fault: str) -> Outcome | None:
        memory, tried = waiting.memory, waiting.attempts + 1
        self._log.warning("rewrite_failed", memory=memory.id, chat=memory.chat_id, fault=fault, tried=tried)
        if final or tried >= MOST_TRIES:
            return Outcome("")
        await self._store.rewrites.postpone(memory.id, self._clock.now() + WAIT_MS * 2 ** (tried - 1))
        return None

    def _outcome(self, verdict: Verdict, memory: Memory, paid: Settlement, script: Script, tried: int) -> Outcome:
        """What is changed and said: a statement that was forgotten once, or says the same, changes nothing."""

        def notice(key: str, **values: object) -> Draft:
            return Draft(self._words.messages.text(key, script, id=memory.id, **values), "notice")

        original = memory.original or memory.text
        if verdict.kind == "ok":
            if fold(verdict.text) == fold(memory.text) or self._store.tombstones.covers(verdict.text):
                return Outcome("", None, paid)
            told = notice("rewritten", text=verdict.text, original=" ".join(original.split()))
            return Outcome(verdict.text, told, paid)
        if verdict.kind == "clarify" and tried < MOST_TRIES:
            until = self._clock.now() + self._settings.memory.confirm_seconds * 1000
            asked = Asked(Question("clarify", (memory.id,)), until)
            return Outcome("", notice("rewrite_asks", text=verdict.text), paid, asked)
        return Outcome("", notice("rewrite_kept"), paid)
