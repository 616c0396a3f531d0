"""Pictures out: the tool `image`, each picture in one budgeted call, for a person who asked for one.

It sends nothing: what is made goes out with the reply."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from pydantic import Field

from bot.core.errors import ModelError, OverBudget
from bot.core.models import ToolSpec, Usage
from bot.core.parts import Image
from bot.core.ports import Adapter, Clock, Log, model_fields, takes_part
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.media import asks_picture
from bot.model.pool import DrawingEndpoint
from bot.pipeline.calls import end_failed, fixed_reservation, reserve_shielded
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.pipeline.tools.consent import Consent
from bot.store.ledger import PERSON_CALLS, Settlement
from bot.store.store import Store
from bot.text.clean import as_data, clean_line
from bot.text.files import picture_ending
from bot.text.length import clip, estimate_tokens

PROMPT_CHARS = 1_000
"""Longest description of a picture: what every server takes."""

ABOUT_CHARS = 60
"""How much of it stands for the picture in what is told later."""

TOOL_MORE_S = 5.0
"""What the tool may take beside its call, in seconds."""


class ImageArguments(ToolArguments, tool="image"):
    """What is to be seen."""

    prompt: str = Field(max_length=PROMPT_CHARS)


class PictureMaker:
    """Has pictures drawn."""

    def __init__(
        self,
        store: Store,
        planner: Planner,
        adapter: Callable[[str], Adapter | None],
        clock: Clock,
        current: Current,
        log: Log,
    ) -> None:
        """`adapter` finds the platform that is to take a picture."""
        self._store = store
        self._planner = planner
        self._adapter = adapter
        self._clock = clock
        self._current = current
        self._log = log

    def tool(self, spec: ToolSpec, consent: Consent) -> Tool:
        """The tool, for people who ask for a picture in their own words."""

        async def run(context: ToolContext, arguments: str) -> ToolAnswer:
            prompt = clean_line(read_arguments(ImageArguments, arguments).prompt)
            if not prompt:
                raise ToolRefused("image_empty")
            endpoint = self._current.pool.drawing
            chat = await self._store.people.chat(context.audience.chat_id)
            if endpoint is None or not takes_part(self._adapter(chat.platform), "image"):
                raise ToolRefused("image_nowhere")
            await consent.wished(context, lambda line: asks_picture(line.text), "image_unasked")
            _, pressure = await self._planner.step(chat.id, context.person_id, context.now)
            if pressure.share >= self._current.settings.budget.small_at:
                raise ToolRefused("image_budget")
            picture = await self._drawn(endpoint, prompt, chat.id, context.person_id)
            say = self._current.words.opening(self._current.words.script_named(context.script))
            return ToolAnswer(say("image_made", text=as_data(clip(prompt, ABOUT_CHARS))), parts=(picture,))

        return Tool(spec, run, seconds=self._current.settings.image.deadline_seconds + TOOL_MORE_S)

    async def _drawn(self, endpoint: DrawingEndpoint, prompt: str, chat_id: int, person_id: int) -> Image:
        """The picture, its bytes in the data folder, its call settled. ToolRefused, StoreError."""
        call = await self._reserve(endpoint, prompt, chat_id, person_id)
        try:
            data = await endpoint.painter.draw(prompt, self._current.settings.image.deadline_seconds)
        except BaseException as error:
            await end_failed(self._store.ledger, call, error, self._clock.now())
            if not isinstance(error, ModelError):
                raise
            self._log.warning("not_drawn", call=call, fault=error.fault, detail=error.detail, text=error.said)
            raise ToolRefused("image_filtered" if error.fault == "filtered" else "image_failed") from error
        usage = Usage(estimate_tokens(prompt), 0, 0, returned=False)
        await self._store.ledger.settle(Settlement(call, usage, endpoint.price), self._clock.now())
        ending = picture_ending(data)
        path = await asyncio.to_thread(self._store.files.parts.write, data, ending, self._clock.now())
        self._log.info("drawn", chat=chat_id, person=person_id, **model_fields("image", endpoint.painter.name))
        return Image(path, f"picture{ending}", len(data), about=clip(prompt, ABOUT_CHARS))

    async def _reserve(self, endpoint: DrawingEndpoint, prompt: str, chat_id: int, person_id: int) -> int:
        now, most_a_day = self._clock.now(), self._current.settings.image.person_day
        name, tokens = endpoint.painter.name, estimate_tokens(prompt)
        most = fixed_reservation(self._current, "image", name, tokens, endpoint.price, now)
        try:
            booking = self._store.ledger.book(chat_id, replace(most, person_calls=most_a_day), now, person_id)
            return await reserve_shielded(booking, self._store, self._clock)
        except OverBudget as error:
            self._log.warning("over_budget", chat=chat_id, person=person_id, limit=error.limit)
            many = error.limit == PERSON_CALLS
            raise ToolRefused("image_enough" if many else "image_budget", str(most_a_day)) from error
