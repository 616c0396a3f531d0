"""Texts that a model writes in the background, where nobody waits for them."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.core.models import Message, ModelRequest, Prompt, ResponseFormat
from bot.core.people import Script
from bot.core.ports import Clock
from bot.core.sessions import CallCause, ModelCall
from bot.model.pool import Endpoint
from bot.pipeline.calls import ModelCaller, complete_whole, end_failed, settlement_of
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.store.ledger import Ledger, Reservation, Settlement
from bot.text.length import message_tokens

ReserveAt = Callable[[Reservation, int], Awaitable[ModelCall]]
"""Commits a reservation at an instant, ms; it may raise OverBudget, and ModelError when the call is not wanted now."""


@dataclass(frozen=True, slots=True)
class WritingTask:
    """What is written for which chat: from this text, by the instructions in that language, in so many tokens.

    `more` is what follows the text: an answer, and what is to be better about it. `shape` is that of the answer.
    """

    cause: CallCause
    chat_id: int
    script: Script
    text: str
    output_tokens: int
    small: bool
    more: tuple[Message, ...] = ()
    shape: ResponseFormat | None = None


@dataclass(frozen=True, slots=True)
class WrittenText:
    """What a model wrote, and what is to be committed for it."""

    text: str
    settlement: Settlement


class BackgroundWriter:
    """Who writes one kind of these texts, by the instructions of that folder."""

    def __init__(
        self, caller: ModelCaller, folder: str, planner: Planner, ledger: Ledger, clock: Clock, current: Current
    ) -> None:
        self._caller = caller
        self._folder = folder
        self._planner = planner
        self._ledger = ledger
        self._clock = clock
        self._current = current

    @property
    def able(self) -> bool:
        """Whether the first model can write such texts; the offline one cannot."""
        return self._current.pool.first.model.digests

    @asynccontextmanager
    async def written(self, task: WritingTask, reserve: ReserveAt) -> AsyncIterator[WrittenText]:
        """The model's text, by one call; whatever the call or the block raises, its reservation is settled.

        ModelError: no model answered. OverBudget: a limit leaves no room for the call.
        """
        model, pool = self._current.settings.model, self._current.pool
        system = Message("system", self._current.value.texts.instructions[self._folder][task.script])
        prompt = Prompt((), (system, Message("user", task.text), *task.more))
        vocabulary = self._planner.vocabulary
        estimated = sum(message_tokens(message, vocabulary) for message in prompt.messages)
        most = min(task.output_tokens, model.max_output_tokens)
        request = ModelRequest(prompt, most, 0.0, model.deadline_seconds, shape=task.shape)
        calls: list[ModelCall] = []

        async def book(endpoint: Endpoint) -> ModelCall:
            now, tokens = self._clock.now(), math.ceil(estimated * await self._planner.ratio(endpoint))
            calls.append(await reserve(self._planner.reservation(task.cause, endpoint, tokens, now, estimated), now))
            return calls[-1]

        endpoint = pool.pick(self._clock.now(), small=task.small)
        try:
            first = endpoint, await book(endpoint)
            answered = await self._caller.ask(task.chat_id, request, first, book, self._ledger, complete_whole)
            paid = settlement_of(answered, vocabulary, self._clock.now(), model.window_tokens)
            yield WrittenText(answered.completion.text, paid)
        except Exception as error:
            if calls:
                await end_failed(self._ledger, calls[-1].id, error, self._clock.now())
            raise
