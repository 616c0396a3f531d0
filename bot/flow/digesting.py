"""Making a digest: one small model call with a strict shape, one more to mend a broken answer, or the rule."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.plan import Planner
from bot.flow.scribe import Errand, Scribe
from bot.flow.talk import talk
from bot.flow.words import Words
from bot.memory.digest import rule_digest
from bot.memory.forging import forged
from bot.memory.minutes import MESSAGE_CHARS, DigestLine, Scope, excerpt, needs_model
from bot.memory.parse import SHAPE, Broken, read_digest
from bot.ports import Clock
from bot.store.ledger import Reservation, Settlement
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.script import Script, script_of
from bot.types.digest import Digest
from bot.types.log import Log
from bot.types.prompt import Message
from bot.types.session import Session
from bot.types.turn import Call

MOST_TRIES = 12
"""After this many failed calls (about six hours) the rule makes the digest, so that a dead model loses nothing."""

OUTPUT_TOKENS = 700
"""Longest digest: summary, eight short statements and a few tasks; an answer of 8 and 4 has about 550."""

BROKEN_CHARS = 1_500
"""How much of a broken answer is shown to the model that is to mend it."""

CHANGED = ModelError("busy", "what it tells was changed meanwhile", final=True)

Made = tuple[Digest, Settlement | None]
"""A digest, with the settlement of the call that made it when a model did."""


@dataclass(frozen=True, slots=True)
class Minuting:
    """Who writes digests, and how they are told in each language that an answer is broken."""

    scribe: Scribe
    mending: Mapping[Script, str]


@dataclass(frozen=True, slots=True)
class _Failed:
    """An answer that is no digest: what is wrong with it, and the answer as far as there is one."""

    fault: str
    answer: str = ""


class Digesting:
    """Makes digests; stores none."""

    def __init__(
        self, store: Store, minuting: Minuting, planner: Planner, clock: Clock, settings: Settings, words: Words,
        aside: Aside, log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = minuting.scribe
        self._mending = minuting.mending
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._aside = aside
        self._log = log
        self._gate = BackgroundGate(store.switches, settings.background)

    async def told(self, session: Session) -> tuple[DigestLine, ...]:
        """What was said in a session, and in those that it tells with its own, as it is now."""
        return await talk(self._store, self._settings, session.chat_id, session.told_from, session.upto_event)

    async def able(self) -> bool:
        """Whether a model may make digests now."""
        return self._scribe.able and await self._gate.allows("digest")

    async def make(self, session: Session, lines: tuple[DigestLine, ...], scope: Scope) -> Made:
        """The digest of a session. ModelError: it is to be tried later."""
        enough = session.digest_attempts >= MOST_TRIES
        if enough or not await self.able() or not needs_model(lines):
            return await self._by_rule(lines, scope), None
        errand = await self._errand(session, lines)
        try:
            made = await self._asked(errand, session, lines, scope, tried=1)
        except OverBudget as error:
            return await self._over_budget(error, session, lines, scope)
        except ModelError as error:
            if error.fault not in ("cut", "invalid", "filtered", "overflow"):
                raise
            if not (error.fault == "cut" and error.final):
                return await self._by_rule(lines, scope), None
            self._log_broken(session, "cut: too long", 1)
            made = _Failed("cut: too long")
        if isinstance(made, _Failed):
            return await self._mended(errand, made, session, lines, scope)
        return made

    async def _mended(
        self, errand: Errand, failed: _Failed, session: Session, lines: tuple[DigestLine, ...], scope: Scope
    ) -> Made:
        """The digest after one more call that names the fault; whatever is wrong with that one, the rule's."""
        note = self._mending[errand.script].replace("{fault}", failed.fault)
        shown = clip(failed.answer, BROKEN_CHARS)
        if shown.strip():
            errand = replace(errand, more=(Message("assistant", shown), Message("user", note)))
        else:
            errand = replace(errand, text=f"{errand.text}\n\n{note}")
        try:
            made = await self._asked(errand, session, lines, scope, tried=2)
        except OverBudget as error:
            return await self._over_budget(error, session, lines, scope)
        except ModelError as error:
            if error is CHANGED:
                raise
            self._log_broken(session, error.fault, 2)
            return await self._by_rule(lines, scope), None
        return (await self._by_rule(lines, scope), None) if isinstance(made, _Failed) else made

    async def _asked(
        self, errand: Errand, session: Session, lines: tuple[DigestLine, ...], scope: Scope, tried: int
    ) -> Made | _Failed:
        """One call; of a broken answer the cost is settled here, of a good one with the digest."""

        async def reserve(reservation: Reservation, now: int) -> Call:
            if await self.told(session) != lines:
                raise CHANGED
            return await self._store.ledger.reserve(session.id, reservation, now)

        async with self._scribe.written(errand, reserve) as paper:
            found = await self._aside.run(read_digest, paper.text, lines, scope)
            if not isinstance(found, Broken):
                return found, paper.settlement
            await self._store.ledger.settle(paper.settlement, self._clock.now())
        self._log_broken(session, found.fault, tried)
        return _Failed(found.fault, paper.text)

    async def _errand(self, session: Session, lines: tuple[DigestLine, ...]) -> Errand:
        """What a model is shown: no line that is made to work on it."""
        step, _ = await self._planner.step(session.chat_id, None, self._clock.now())
        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._words.language)
        shown = tuple(line for line in lines if line.is_bot or not forged(line.text[:MESSAGE_CHARS]))
        return Errand(
            "digest", session.chat_id, script, excerpt(shown), OUTPUT_TOKENS, small=step != "full", shape=SHAPE
        )

    async def _over_budget(
        self, error: OverBudget, session: Session, lines: tuple[DigestLine, ...], scope: Scope
    ) -> Made:
        self._log.warning("over_budget", session=session.number, chat=scope.chat_id, limit=error.limit)
        return await self._by_rule(lines, scope), None

    def _log_broken(self, session: Session, fault: str, tried: int) -> None:
        self._log.warning("digest_broken", session=session.number, chat=session.chat_id, fault=fault, tried=tried)

    async def _by_rule(self, lines: tuple[DigestLine, ...], scope: Scope) -> Digest:
        """The deterministic digest, made off the event loop: a busy group's session has thousands of lines."""
        return await self._aside.run(rule_digest, lines, scope)
