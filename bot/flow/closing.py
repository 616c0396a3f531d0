"""Closing a session: open → closing → closed, with exactly one digest."""

from collections.abc import Iterable
from datetime import tzinfo

from bot.config.settings import Settings
from bot.errors import ModelError, StoreError
from bot.flow.digesting import Digesting
from bot.flow.words import Words
from bot.memory.merging import merging
from bot.memory.minutes import Scope
from bot.people.reminding import nudging
from bot.ports import Clock
from bot.store.digests import Digested
from bot.store.store import Store
from bot.types.duration import HOUR_MS
from bot.types.log import Log

FIRST_WAIT_MS = 30_000
LONGEST_WAIT_MS = HOUR_MS
"""Back-off while the model is down: 30 s, doubled each time, at most an hour."""


class Closing:
    """Makes and commits digests."""

    def __init__(
        self, store: Store, digesting: Digesting, clock: Clock, settings: Settings, words: Words, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._digesting = digesting
        self._clock = clock
        self._settings = settings
        self._words = words
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
        lines = await self._digesting.told(session)
        people = {line.person_id: line.name for line in lines if line.person_id is not None}
        owner = next(iter(people), None) if chat.kind == "dm" else None
        zone = self._words.zone
        if owner is not None:
            zone = self._words.zone_of(chat, await self._store.people.person(owner))
        scope = Scope(
            chat.id, chat.kind, self._settings.bot.names[0], owner, self._words.tz(zone),
            await self._zones(people), nudging(self._settings.remind),
        )  # fmt: skip
        again = session.state == "closed"
        try:
            digest, settlement = await self._digesting.make(session, lines, scope, again)
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
        kept = self._store.digests.allowed(digest)
        names = tuple(people.values())
        numbers = tuple(line.event_id for line in lines)
        if await self._store.digests.store(
            Digested(session, kept, owner, names, numbers, settlement, merging(people, self._words.day)),
            self._clock.now(),
        ):
            self._log.info(
                "digest", chat=chat.id, session=session.number, reason=session.close_reason, by=kept.by,
                lines=len(lines), memories=len(kept.memories), commitments=len(kept.commitments),
            )  # fmt: skip

    async def _zones(self, people: Iterable[int]) -> dict[int, tzinfo]:
        """By whose calendar each of these people promises: their own where they set one."""
        known = [await self._store.people.person(number) for number in people]
        return {person.id: self._words.tz(person.timezone) for person in known if person.timezone}
