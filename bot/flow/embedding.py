"""Calls for vectors: reserved before they are made, charged or released after; a server that fails rests."""

import asyncio
import math
from collections.abc import Sequence
from typing import Literal

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget
from bot.flow.booked import booked
from bot.flow.crew import EmbeddingMember
from bot.flow.words import Words
from bot.model.breaker import Breaker
from bot.money import prices
from bot.ports import Clock
from bot.store.ledger import Reservation, Settlement
from bot.store.store import Store
from bot.text.clip import clip
from bot.text.estimate import estimate_tokens
from bot.types.embedding import Embedded
from bot.types.log import Log, model_fields
from bot.types.prompt import Usage

TEXT_CHARS = 2_000
"""Longest text that gets a vector, in characters: most models read 512 tokens, few more than 8,000."""

Trouble = Literal["", "down", "budget", "switched_off"]
"""Nothing; the server fails or rests; a limit is reached; calls in the background are off."""


class EmbeddingCalls:
    """Asks one embedder, and knows how it went."""

    def __init__(
        self, store: Store, member: EmbeddingMember, clock: Clock, settings: Settings, words: Words, log: Log
    ) -> None:  # fmt: skip
        self.embedder = member.embedder
        self._store = store
        self._rate = member.rate
        self._clock = clock
        self._settings = settings
        self._words = words
        self._log = log
        self._breaker = Breaker()
        self._wanted_until = 0
        self.trouble: Trouble = ""

    async def embed(
        self, texts: Sequence[str], chat_id: int, person_id: int | None, deadline_s: float
    ) -> tuple[Embedded, Settlement | None]:
        """The vectors of these texts, and what is to be committed for them with what they are made for.

        ModelError and OverBudget: nothing of it is left to settle.
        """
        shown = [clip(text, TEXT_CHARS) for text in texts]
        if not self.embedder.calls:
            return await self.embedder.embed(shown, deadline_s), None
        now = self._clock.now()
        if now < self._wanted_until or not self._breaker.allows(now):
            until = max(self._wanted_until, self._breaker.rests_until)
            wait = max(until - now, 0) / 1000
            raise ModelError("busy", f"{self.embedder.name} is left alone for {wait:.0f} s", limited=True, wait_s=wait)
        tokens = sum(estimate_tokens(text) for text in shown)
        call = await self._reserve(tokens, chat_id, person_id, now)
        probe = not self._breaker.closed
        self._breaker = self._breaker.begun()
        try:
            found = await self.embedder.embed(shown, deadline_s)
        except ModelError as error:
            await self._failed(call, error, probe=probe)
            raise
        except BaseException as error:
            self._breaker = self._breaker.ended(probe=probe)
            await self._store.ledger.charge(call, self._clock.now())
            if isinstance(error, asyncio.CancelledError) or not isinstance(error, Exception):
                raise
            self._log.error("embedding_failed", call=call, exc_info=error)
            raise ModelError("invalid", type(error).__name__) from error
        self._breaker = self._breaker.worked()
        counted = found.tokens is not None
        usage = Usage(found.tokens if found.tokens is not None else tokens, 0, 0, returned=counted)
        return found, Settlement(call, usage, prices.cost(usage, self._rate(self._clock.now())))

    @property
    def _named(self) -> dict[str, str]:
        return model_fields("embeddings", self.embedder.name)

    def note(self, trouble: Trouble, detail: str = "") -> None:
        """Say once that it does not work any more, or that it does again."""
        if trouble == self.trouble:
            return
        self.trouble = trouble
        if trouble:
            self._log.warning("embedding_trouble", why=trouble, detail=detail, **self._named)
        else:
            self._log.info("embedding_works", **self._named)

    def rests_until(self, now: int) -> int:
        """When the server may be asked again, ms; `now` while it may."""
        until = max(self._wanted_until, now if self._breaker.closed else self._breaker.rests_until)
        return max(until, now)

    async def _reserve(self, tokens: int, chat_id: int, person_id: int | None, now: int) -> int:
        most = prices.estimate(tokens, 0, self._rate(now))
        day, month = prices.periods(now, self._words.tz(self._words.zone))
        limits = prices.limits(self._settings)
        reservation = Reservation("embedding", self.embedder.name, most.tokens, most.cost, limits, day, month)
        try:
            booking = self._store.vectors.reserve(chat_id, person_id, reservation, now)
            return await booked(booking, self._store, self._clock)
        except OverBudget as error:
            self.note("budget", error.limit)
            raise

    async def _failed(self, call: int, error: ModelError, *, probe: bool) -> None:
        now, ledger = self._clock.now(), self._store.ledger
        self._breaker = self._breaker.failed(error, now, probe=probe)
        if error.wait_s is not None:
            self._wanted_until = now + math.ceil(error.wait_s * 1000)
        await (ledger.charge if error.billed else ledger.release)(call, now)
        self.note("down", f"{error.fault}: {error.detail}")
