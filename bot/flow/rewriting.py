"""`memory.rewrite`: a small model call turns a kept sentence into a clean statement, in the background.

Whatever goes wrong, the sentence stays as it was said.
"""

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.scribe import Errand, Scribe
from bot.flow.words import Words
from bot.memory.minutes import Scope
from bot.memory.rewriting import Verdict, grounded, parse_verdict
from bot.ports import Clock
from bot.store.ledger import Reservation, Settlement
from bot.store.questions import Asked
from bot.store.rewrites import Outcome, Waiting
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.fold import fold
from bot.text.script import Script
from bot.types.log import Log
from bot.types.memory import Question
from bot.types.outgoing import Draft
from bot.types.people import Person
from bot.types.prompt import Message
from bot.types.turn import Call

MOST_TRIES = 3
"""Model calls for one sentence (seed: 3 attempts)."""

WAIT_MS = 30_000
"""Before the second try; doubled before the third."""

ANSWER_CHARS = 500
"""How much of an answer to what it asked a model is given."""

OUTPUT_TOKENS = 200
"""Longest answer (seed: 220)."""

UNGROUNDED = Verdict("reject")
"""What a statement is taken for that nobody said."""

FINAL = ("refused", "filtered", "overflow")
"""Faults that the same request would meet again: 400, 401, 403, 404, a filter, a text too long."""


class Rewriting:
    """Rewrites what waits for it."""

    def __init__(
        self, store: Store, scribe: Scribe, clock: Clock, settings: Settings, words: Words, aside: Aside, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = scribe
        self._clock = clock
        self._settings = settings
        self._words = words
        self._aside = aside
        self._gate = BackgroundGate(store.switches, settings.background)
        self._log = log

    async def work(self, memory_id: int) -> None:
        """Rewrite one sentence if it is due; one call, whose outcome is one commit."""
        waiting = await self._store.rewrites.waiting(memory_id, self._clock.now())
        if waiting is None:
            return
        silent = bool(waiting.question) and waiting.answer is None
        allowed = self._settings.memory.rewrite and not silent and await self._gate.allows("rewrite")
        outcome = await self._asked(waiting) if allowed and waiting.attempts < MOST_TRIES else Outcome("")
        if outcome is not None:
            await self._store.rewrites.end(waiting.memory, outcome, self._clock.now())

    async def _asked(self, waiting: Waiting) -> Outcome | None:
        """What the model makes of it; None when it is to be tried again."""
        memory = waiting.memory
        person = await self._store.people.person(memory.owner_id or 0)
        script = self._words.script(person)

        async def reserve(reservation: Reservation, now: int) -> Call:
            return await self._store.rewrites.reserve(memory, reservation, now)

        answer, more = waiting.answer, tuple[Message, ...]()
        if answer is not None:
            more = (Message("assistant", waiting.question), Message("user", clip(answer.text, ANSWER_CHARS)))
        errand = Errand("rewrite", memory.chat_id, script, memory.text, OUTPUT_TOKENS, small=True, more=more)
        try:
            async with self._scribe.written(errand, reserve) as paper:
                verdict = parse_verdict(paper.text)
                if verdict is not None:
                    stands = await self._grounded(verdict, waiting, person)
                    return self._outcome(verdict if stands else UNGROUNDED, waiting, paper.settlement, script)
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

    async def _grounded(self, verdict: Verdict, waiting: Waiting, person: Person) -> bool:
        """Whether a statement stands in what its owner said; what is no statement needs no ground."""
        if verdict.kind != "ok":
            return True
        memory, answer = waiting.memory, waiting.answer
        chat = await self._store.people.chat(memory.chat_id)
        tz = self._words.tz(self._words.zone_of(chat, person))
        said = [(memory.text, memory.said_at or memory.created_at)]
        said += [(clip(answer.text, ANSWER_CHARS), answer.at)] if answer is not None else []
        scope = Scope(chat.id, chat.kind, self._settings.bot.names[0], person.id, tz)
        return await self._aside.run(grounded, verdict.text, said, scope)

    def _outcome(self, verdict: Verdict, waiting: Waiting, paid: Settlement, script: Script) -> Outcome:
        """What is changed and said: a statement that was forgotten once, or says the same, changes nothing.

        Of what followed a question and did not answer it nothing is said: it was answered as what it is.
        """
        memory, answer = waiting.memory, waiting.answer

        def notice(key: str, **values: object) -> Draft:
            return Draft(self._words.messages.text(key, script, id=memory.id, **values), "notice")

        if verdict.kind == "ok":
            if fold(verdict.text) == fold(memory.text) or self._store.tombstones.covers(verdict.text):
                return Outcome("", None, paid)
            original = " ".join(f"{memory.original or memory.text} {answer.text if answer else ''}".split())
            told = notice("rewritten", text=verdict.text, original=original)
            return Outcome(verdict.text, told, paid, answer=answer)
        if answer is not None:
            return Outcome("", None, paid)
        if verdict.kind == "clarify" and waiting.attempts + 1 < MOST_TRIES:
            until = self._clock.now() + self._settings.memory.confirm_seconds * 1000
            asked = Asked(Question("clarify", (memory.id,)), until)
            return Outcome("", notice("rewrite_asks", text=verdict.text), paid, asked)
        return Outcome("", notice("rewrite_kept"), paid)
