"""Closing a session: open → closing → closed, with exactly one digest, by one small model call or by rule."""

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget, StoreError
from bot.flow.aside import Aside
from bot.flow.background import BackgroundGate
from bot.flow.plan import Planner
from bot.flow.scribe import Errand, Scribe
from bot.flow.talk import talk
from bot.flow.words import Words
from bot.memory.digest import DigestLine, Scope, excerpt, needs_model, rule_digest
from bot.memory.merging import merging
from bot.memory.parse import parse_digest
from bot.ports import Clock
from bot.store.digests import Digested
from bot.store.ledger import Reservation, Settlement
from bot.store.store import Store
from bot.text.script import script_of
from bot.types.digest import Digest
from bot.types.duration import HOUR_MS
from bot.types.log import Log
from bot.types.session import Session
from bot.types.turn import Call

FIRST_WAIT_MS = 30_000
LONGEST_WAIT_MS = HOUR_MS
"""Back-off while the model is down: 30 s, doubled each time, at most an hour."""

MOST_TRIES = 12
"""After this many failed calls (about six hours) the rule makes the digest, so that a dead model loses nothing."""

OUTPUT_TOKENS = 400
"""Longest digest: summary and eight short statements."""


class Closing:
    """Makes and commits digests."""

    def __init__(
        self, store: Store, scribe: Scribe, planner: Planner, clock: Clock, settings: Settings, words: Words,
        aside: Aside, log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._scribe = scribe
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._aside = aside
        self._gate = BackgroundGate(store.switches, settings.background)
        self._log = log

    async def digest(self, session_id: int) -> None:
        """Digest a closed session, or put it off while the model is down; nothing happens twice."""
        session = await self._store.sessions.session(session_id)
        if session.digest_due_at is None or session.digest_due_at > self._clock.now():
            return
        chat = await self._store.people.chat(session.chat_id)
        if session.state == "closing" and not session.digest_attempts:
            self._log.info(
                "session_closed", chat=chat.id, session=session.number, reason=session.close_reason,
                opened=session.open_reason,
            )  # fmt: skip
        lines = await self._told(session)
        people = {line.person_id: line.name for line in lines if line.person_id is not None}
        owner = next(iter(people), None) if chat.kind == "dm" else None
        zone = self._words.zone
        if owner is not None:
            zone = self._words.zone_of(chat, await self._store.people.person(owner))
        scope = Scope(chat.id, chat.kind, self._settings.bot.names[0], owner, self._words.tz(zone))
        again = session.state == "closed"
        try:
            digest, settlement = await self._make(session, lines, scope, again)
        except (StoreError, OSError):
            raise
        except Exception as defect:  # noqa: BLE001 - a defect in one digest must leave neither it nor its money hanging
            error = defect if isinstance(defect, ModelError) else ModelError("invalid", type(defect).__name__)
            if error is not defect:
                self._log.error("digest_failed", chat=chat.id, session=session.number, exc_info=defect)
            wait = min(FIRST_WAIT_MS * 2**session.digest_attempts, LONGEST_WAIT_MS)
            await self._store.sessions.postpone_digest(session.id, self._clock.now() + wait)
            self._log.warning(
                "digest_postponed", session=session.number, chat=chat.id, wait_ms=wait, fault=error.fault,
                detail=error.detail, text=error.said,
            )  # fmt: skip
            return
        covered = self._store.tombstones.covers
        kept = Digest(
            "" if covered(digest.summary) else digest.summary,
            tuple(memory for memory in digest.memories if not covered(memory.text)),
            digest.by,
        )
        names = tuple(people.values())
        numbers = tuple(line.event_id for line in lines)
        if await self._store.digests.store(
            Digested(session, kept, owner, names, numbers, settlement, merging(people, self._words.day)),
            self._clock.now(),
        ):
            self._log.info(
                "digest", chat=chat.id, session=session.number, reason=session.close_reason, by=kept.by,
                lines=len(lines), memories=len(kept.memories),
            )  # fmt: skip

    async def _told(self, session: Session) -> tuple[DigestLine, ...]:
        """What was said in a session, as it is now."""
        return await talk(self._store, self._settings, session.chat_id, session.from_event, session.upto_event)

    async def _make(
        self, session: Session, lines: tuple[DigestLine, ...], scope: Scope, again: bool
    ) -> tuple[Digest, Settlement | None]:
        """The digest, with what it cost when a model made it."""
        enough = session.digest_attempts >= MOST_TRIES
        able = self._scribe.able and await self._gate.allows("digest")
        if again or enough or not able or not needs_model(lines):
            return await self._by_rule(lines, scope), None

        async def reserve(reservation: Reservation, now: int) -> Call:
            if await self._told(session) != lines:
                raise ModelError("busy", "what it tells was changed meanwhile", final=True)
            return await self._store.ledger.reserve(session.id, reservation, now)

        step, _ = await self._planner.step(session.chat_id, None, self._clock.now())
        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._words.language)
        errand = Errand("digest", scope.chat_id, script, excerpt(lines), OUTPUT_TOKENS, small=step != "full")
        try:
            async with self._scribe.written(errand, reserve) as paper:
                digest = parse_digest(paper.text, lines, scope) or await self._by_rule(lines, scope)
                return digest, paper.settlement
        except OverBudget as error:
            self._log.warning("over_budget", session=session.number, chat=scope.chat_id, limit=error.limit)
            return await self._by_rule(lines, scope), None
        except ModelError as error:
            if error.fault in ("cut", "invalid", "filtered", "overflow"):
                return await self._by_rule(lines, scope), None
            raise

    async def _by_rule(self, lines: tuple[DigestLine, ...], scope: Scope) -> Digest:
        """The deterministic digest, made off the event loop: a busy group's session has thousands of lines."""
        return await self._aside.run(rule_digest, lines, scope)
