"""Texts that a model writes while nobody waits: digests, notes, clean statements. They are asked and paid for here."""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bot.config.settings import Settings
from bot.errors import ModelError
from bot.flow.calling import Caller, listen, settled
from bot.flow.crew import Member
from bot.flow.plan import Planner
from bot.ports import Clock
from bot.prompt.tokens import message_tokens
from bot.store.ledger import Ledger, Reservation, Settlement
from bot.text.script import Script
from bot.types.prompt import Message, Prompt, Request, Shape
from bot.types.turn import Call, Cause

Reserve = Callable[[Reservation, int], Awaitable[Call]]
"""Commits a reservation at an instant, ms; it may raise OverBudget, and ModelError when the call is not wanted now."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What is written for which chat: from this text, by the instructions in that language, in so many tokens.

    `more` is what follows the text: an answer, and what is to be better about it. `shape` is that of the answer.
    """

    cause: Cause
    chat_id: int
    script: Script
    text: str
    output_tokens: int
    small: bool
    more: tuple[Message, ...] = ()
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """What a model wrote, and what is to be committed for it."""

    text: str
    settlement: Settlement


class Scribe:
    """Who writes one kind of these texts, and what it is told in each language."""

    def __init__(
        self, caller: Caller, instructions: Mapping[Script, str], planner: Planner, ledger: Ledger, clock: Clock,
        settings: Settings,
    ) -> None:  # fmt: skip
        self._caller = caller
        self._instructions = instructions
        self._planner = planner
        self._ledger = ledger
        self._clock = clock
        self._model = settings.model

    @property
    def able(self) -> bool:
        """Whether the first model can write such texts; the offline one cannot."""
        return self._caller.crew.first.model.digests

    @asynccontextmanager
    async def written(self, errand: Errand, reserve: Reserve) -> AsyncIterator[Paper]:
        """The model's text, by one call; whatever the call or the block raises, its reservation is settled.

        ModelError: no model answered. OverBudget: a limit leaves no room for the call.
        """
        system = Message("system", self._instructions[errand.script])
        prompt = Prompt((), (system, Message("user", errand.text), *errand.more))
        vocabulary = self._planner.vocabulary
        estimated = sum(message_tokens(message, vocabulary) for message in prompt.messages)
        most = min(errand.output_tokens, self._model.max_output_tokens)
        request = Request(prompt, most, 0.0, self._model.deadline_seconds, shape=errand.shape)
        calls: list[Call] = []

        async def book(member: Member) -> Call:
            now, tokens = self._clock.now(), math.ceil(estimated * await self._planner.ratio(member))
            calls.append(await reserve(self._planner.reservation(errand.cause, member, tokens, now, estimated), now))
            return calls[-1]

        member = self._caller.crew.pick(self._clock.now(), small=errand.small)
        try:
            first = member, await book(member)
            answered = await self._caller.ask(errand.chat_id, request, first, book, self._ledger, listen)
            paid = settled(answered, vocabulary, self._clock.now(), self._model.window_tokens)
            yield Paper(answered.completion.text, paid)
        except Exception as error:
            if calls:
                billed = not isinstance(error, ModelError) or error.billed
                await (self._ledger.charge if billed else self._ledger.release)(calls[-1].id, self._clock.now())
            raise
