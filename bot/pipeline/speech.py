"""Voice out: which replies are spoken, and a text of the outbox becomes a recording in one budgeted call.

It sends nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.core.errors import ModelError, OverBudget, SendError
from bot.core.events import Outgoing
from bot.core.models import Usage
from bot.core.parts import Speech, Voice
from bot.core.people import Chat
from bot.core.ports import Adapter, Clock, Log, model_fields, takes_part
from bot.core.speaking import UNASKED
from bot.language.media import asks_aloud, spoken_form
from bot.model.pool import CircuitBreaker, SpeechEndpoint
from bot.pipeline.calls import end_failed, fixed_reservation, reserve_shielded
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.store.ledger import Settlement
from bot.store.store import Store
from bot.text.files import sound_ending

CHARACTERS = 1_000_000
"""What a price is for."""


class SpeechChoice:
    """Says for whom a reply is spoken."""

    def __init__(
        self, store: Store, planner: Planner, adapter: Callable[[str], Adapter | None], clock: Clock, current: Current
    ) -> None:
        self._store = store
        self._planner = planner
        self._adapter = adapter
        self._clock = clock
        self._current = current

    async def longest(self, chat: Chat, person_id: int, event_ids: tuple[int, ...], why: str) -> int:
        """How many characters of a reply to these messages are spoken; 0: it is written.

        It is spoken to who spoke, or asks for it in their own words, unless money runs low.
        """
        if self._current.pool.speech is None or why in UNASKED or not takes_part(self._adapter(chat.platform), "voice"):
            return 0
        now, settings = self._clock.now(), self._current.settings
        if not await self._store.events.is_voice(event_ids, person_id):
            lines = await self._store.events.own_lines(event_ids, person_id, now)
            if not any(asks_aloud(line.text) for line in lines if line.id in event_ids):
                return 0
        _, pressure = await self._planner.step(chat.id, person_id, now)
        return settings.voice.max_chars if pressure.share < settings.budget.small_at else 0


@dataclass(frozen=True, slots=True)
class Recording:
    """What a text became, and what is to be committed for it."""

    voice: Voice
    settlement: Settlement


class SpeechMaker:
    """Has texts spoken; a server that fails again and again is left alone for a while."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log
        self._asked: SpeechEndpoint | None = None
        self._breaker = CircuitBreaker()

    async def record(self, outgoing: Outgoing, speech: Speech) -> Recording:
        """The recording of a message, whose bytes lie in the data folder.

        SendError("never"): it is to be sent as text, and nothing is left to settle. StoreError.
        """
        async with self._current.held():
            endpoint, said = self._current.pool.speech, spoken_form(outgoing.text)
            if endpoint is None or not said:
                raise SendError("never", "nothing speaks it any more")
            sound, settlement = await self._speak(endpoint, said, outgoing.chat_id, speech.person_id)
        ending = sound_ending(sound)
        path = await asyncio.to_thread(self._store.files.parts.write, sound, ending, self._clock.now())
        return Recording(Voice(path, f"voice{ending}", len(sound)), settlement)

    async def _speak(
        self, endpoint: SpeechEndpoint, said: str, chat_id: int, person_id: int
    ) -> tuple[bytes, Settlement]:
        if endpoint is not self._asked:
            self._asked, self._breaker = endpoint, CircuitBreaker()
        if not self._breaker.allows(self._clock.now()):
            raise SendError("never", "the server that speaks is left alone for a while")
        cost = len(said) * endpoint.price / CHARACTERS
        call = await self._reserve(endpoint, len(said), cost, chat_id, person_id)
        probe = not self._breaker.closed
        self._breaker = self._breaker.begun()
        try:
            sound = await endpoint.speaker.speak(said, self._current.settings.voice.deadline_seconds)
        except BaseException as error:
            now, known = self._clock.now(), isinstance(error, ModelError)
            failed = self._breaker.failed(error, now, probe=probe) if isinstance(error, ModelError) else None
            self._breaker = failed or self._breaker.ended(probe=probe)
            await end_failed(self._store.ledger, call, error, now)
            if not isinstance(error, Exception):
                raise
            if not known:
                self._log.error("speech_failed", call=call, exc_info=error)
            raise SendError("never", f"not spoken: {error}") from error
        self._breaker = self._breaker.worked()
        usage = Usage(len(said), 0, 0, returned=False)
        self._log.info("spoken", chat=chat_id, chars=len(said), **model_fields("speech", endpoint.speaker.name))
        return sound, Settlement(call, usage, cost)

    async def _reserve(self, endpoint: SpeechEndpoint, chars: int, cost: float, chat_id: int, person_id: int) -> int:
        """Reserve so many characters; in the ledger they are tokens."""
        now, most_a_day = self._clock.now(), self._current.settings.voice.day_characters
        most = fixed_reservation(self._current, "speak", endpoint.speaker.name, chars, cost, now)
        try:
            booking = self._store.ledger.book(chat_id, replace(most, own_tokens=most_a_day), now, person_id)
            return await reserve_shielded(booking, self._store, self._clock)
        except OverBudget as error:
            self._log.warning("over_budget", chat=chat_id, person=person_id, limit=error.limit)
            raise SendError("never", f"over the limit {error.limit}") from error
