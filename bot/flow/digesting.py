"""Makes a digest: a model call with a strict shape, a second one that checks it or mends its form, or the rule."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.plan import Planner
from bot.flow.scribe import Errand, Reserve, Scribe
from bot.flow.talk import around_of, talk
from bot.flow.words import Words
from bot.memory.digest_answer import SHAPE, Broken
from bot.memory.digest_check import SHAPE as CHECK
from bot.memory.digest_check import read_check
from bot.memory.digest_request import NOTHING, Known, needs_model, request_text, touched
from bot.memory.digest_review import Review, checked, digest_of, review
from bot.memory.fallback import rule_digest
from bot.memory.minutes import DigestLine, Scope
from bot.ports import Clock
from bot.prompt.casual import casual
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

OUTPUT_TOKENS = 1_600
"""Longest digest: an answer of sixteen statements and a few tasks has about 1,400."""

BROKEN_CHARS = 1_500
"""How much of a broken answer is shown to the model that is to mend it."""
CHECK_TOKENS = 800
"""Longest answer to the second look: what is right is not said again."""

UNUSABLE = ("cut", "invalid", "filtered", "overflow")
"""Faults of an answer that the same question would have again: then the rule makes the digest."""

CHANGED = ModelError("busy", "what it tells was changed meanwhile", final=True)

Made = tuple[Digest, Settlement | None]
"""A digest, with the settlement of the call that made it when a model did."""


@dataclass(frozen=True, slots=True)
class Minuting:
    """Who writes digests, and what they are told in each language: to mend an answer's form, and to check a digest."""

    scribe: Scribe
    mending: Mapping[Script, str]
    checking: Mapping[Script, str]


@dataclass(frozen=True, slots=True)
class _Failed:
    """An answer that is no digest: what is wrong with it, and the answer as far as there is one."""

    fault: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a digest is made of: whose session, its lines, and what is known that they may touch."""

    session: Session
    lines: tuple[DigestLine, ...]
    scope: Scope
    known: Known


@dataclass(frozen=True, slots=True)
class _Read:
    """An answer that is a digest, as far as it stands, with what it cost."""

    review: Review
    answer: str
    settlement: Settlement


class Digesting:
    """Makes digests; stores none."""

    def __init__(
        self, store: Store, minuting: Minuting, planner: Planner, clock: Clock, settings: Settings, words: Words,
        aside: Aside, log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = minuting.scribe
        self._prompts = minuting
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

    def wanted(self, lines: tuple[DigestLine, ...]) -> bool:
        """Whether somebody said more than small talk, so that a model is to make the digest."""
        return needs_model(lines, lambda text: casual(text, self._settings.bot.names))

    async def make(
        self, session: Session, lines: tuple[DigestLine, ...], scope: Scope, known: Known = NOTHING
    ) -> Made:  # fmt: skip
        """The digest of a session; `known` is what it may touch. ModelError: it is to be tried later."""
        enough = session.digest_attempts >= MOST_TRIES
        if enough or not await self.able() or not self.wanted(lines):
            return await self._by_rule(_Asked(session, lines, scope, known)), None
        asked = _Asked(session, lines, scope, await self._aside.run(touched, known, lines))
        try:
            errand = await self._errand(asked)
            found = await self._found(errand, asked)
            if found is not None:
                return await self._checked(errand, found, asked)
        except OverBudget as error:
            self._log.warning("over_budget", session=session.number, chat=scope.chat_id, limit=error.limit)
        except ModelError as error:
            if error.fault not in UNUSABLE:
                raise
        return await self._by_rule(_Asked(session, lines, scope, known)), None

    async def _found(self, errand: Errand, asked: _Asked) -> _Read | None:
        """What an answer says; a broken one is asked for once more with its fault. None when that is broken too."""
        try:
            first = await self._ask(errand, asked)
        except ModelError as error:
            if not (error.fault == "cut" and error.final):
                raise
            first = _Failed("cut: too long")
        if not isinstance(first, _Failed):
            return first
        second: _Read | _Failed = first
        try:
            second = await self._ask(self._told(errand, first), asked)
        except ModelError as error:
            if error is CHANGED:
                raise
            second = _Failed(error.fault)
        finally:
            self._log_broken(asked.session, first, second)
        return None if isinstance(second, _Failed) else second

    async def _checked(self, errand: Errand, found: _Read, asked: _Asked) -> Made:
        """The digest after a second look at it; without one it is the rule's, or is tried later (ModelError)."""
        if not found.review.answer.items and not found.review.answer.changes:
            return await self._digest(found.review, asked), found.settlement
        await self._store.ledger.settle(found.settlement, self._clock.now())
        note = self._prompts.checking[errand.script]
        lines, rows = await self._aside.run(found.review.second_look, asked.lines, asked.known)
        talk = errand.text
        if lines != asked.lines:
            talk = await self._aside.run(request_text, lines, asked.scope, asked.known, self._clock.now())
        looked = replace(errand, text=f"{talk}\n\n{note}\n{rows}", more=(), output_tokens=CHECK_TOKENS, shape=CHECK)
        async with self._scribe.written(looked, self._reserving(asked)) as paper:
            wrong, settlement = read_check(paper.text), paper.settlement
        if wrong is None:
            await self._store.ledger.settle(settlement, self._clock.now())
            self._log.warning("digest_broken", session=asked.session.number, chat=asked.session.chat_id, tried=2,
                              fault="check")  # fmt: skip
            raise ModelError("invalid", "the second look is no list")
        whole = await self._aside.run(checked, found.review, wrong, asked.lines, asked.scope, asked.known)
        return await self._digest(whole, asked), settlement

    def _told(self, errand: Errand, failed: _Failed) -> Errand:
        """The errand with what is wrong with its answer."""
        note = self._prompts.mending[errand.script].replace("{fault}", failed.fault)
        shown = clip(failed.answer, BROKEN_CHARS)
        if shown.strip():
            return replace(errand, more=(Message("assistant", shown), Message("user", note)))
        return replace(errand, text=f"{errand.text}\n\n{note}")

    async def _ask(self, errand: Errand, asked: _Asked) -> _Read | _Failed:
        """One call; of a broken answer the cost is settled here, of a good one with the digest."""
        async with self._scribe.written(errand, self._reserving(asked)) as paper:
            found = await self._aside.run(review, paper.text, asked.lines, asked.scope, asked.known)
            if not isinstance(found, Broken):
                return _Read(found, paper.text, paper.settlement)
            await self._store.ledger.settle(paper.settlement, self._clock.now())
        return _Failed(found.fault, paper.text)

    def _reserving(self, asked: _Asked) -> Reserve:
        async def reserve(reservation: Reservation, now: int) -> Call:
            if await self.told(asked.session) != asked.lines:
                raise CHANGED
            return await self._store.ledger.reserve(asked.session.id, reservation, now)

        return reserve

    async def _digest(self, found: Review, asked: _Asked) -> Digest:
        return await self._aside.run(digest_of, found, asked.lines, asked.scope, asked.known)

    async def _errand(self, asked: _Asked) -> Errand:
        """What a model is shown."""
        session, lines, now = asked.session, asked.lines, self._clock.now()
        step, _ = await self._planner.step(session.chat_id, None, now)
        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._words.language)
        text = await self._aside.run(request_text, lines, asked.scope, asked.known, now)
        return Errand("digest", session.chat_id, script, text, OUTPUT_TOKENS, small=step != "full", shape=SHAPE)

    def _log_broken(self, session: Session, first: _Failed, second: _Read | _Failed) -> None:
        """One line of an answer that was no digest; `tried` 2 where none came of it."""
        again = isinstance(second, _Failed) and second is not first
        self._log.warning(
            "digest_broken", session=session.number, chat=session.chat_id, tried=1 + again,
            fault=f"{first.fault}; {second.fault}" if isinstance(second, _Failed) and again else first.fault,
        )  # fmt: skip

    async def _by_rule(self, asked: _Asked) -> Digest:
        """The deterministic digest, made off the event loop: a busy group's session has thousands of lines."""
        session, lines, known = asked.session, asked.lines, asked.known
        last = lines[-1].event_id if lines else session.upto_event
        around = await around_of(self._store, self._settings, session.chat_id, last)
        return await self._aside.run(rule_digest, lines, asked.scope, around, known.commitments, known.memories)
