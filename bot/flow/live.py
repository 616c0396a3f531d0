"""Shows a reply while it is written. What it shows is a preview of an outbox row that is stored before."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from bot.errors import SendError, StoreError
from bot.ports import Adapter, Clock, Drafts, Edits, Splits, offers
from bot.store.store import Store
from bot.text.markup import preview
from bot.types.log import Log
from bot.types.outgoing import Outgoing
from bot.types.people import Chat
from bot.types.turn import Turn

Source = Callable[[], str]

PLACEHOLDER = "…"

LONG_CHARS = 120
"""A reply that is shown by edits begins with this much: of a short one people are told once, not as … and an edit."""

END_S = 3.0
"""How long the end of a turn waits for a preview that is on its way, seconds: a stop has ten for everything."""


class Preview:
    """The growing reply of one turn; nothing is shown before the platform's interval is over, so short ones are not."""

    def __init__(
        self, store: Store, clock: Clock, adapter: Adapter, chat: Chat, turn: Turn, log: Log,
        fit: Callable[[str], str],
    ) -> None:  # fmt: skip
        """`fit` makes of a half-written text what may be shown of it."""
        self._store = store
        self._clock = clock
        self._adapter = adapter
        self._chat = chat
        self._turn = turn
        self._log = log
        self._fit = fit
        self._source: Source = str
        self._shown = ""
        self._begun = False
        self._drafts = offers(adapter, Drafts)
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    def hear(self, source: Source) -> None:
        """There is more of the text."""
        self._source = source
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(), name=f"preview-{self._turn.id}")

    async def end(self) -> None:
        """Show nothing more; a message on its way to the platform is waited for a little, so that its id is known."""
        self._ended.set()
        if self._task is None:
            return
        try:
            if not self._drafts:
                await asyncio.wait((self._task,), timeout=END_S)
        finally:
            self._task.cancel()

    async def _work(self) -> None:
        adapter = self._adapter
        try:
            while await self._pause():
                text = preview("\n".join((*self._turn.receipts, self._fit(self._source().strip()))))
                part = adapter.parts(text)[0] if offers(adapter, Splits) else text
                begun = self._drafts or self._begun or len(part) >= LONG_CHARS
                if part.strip() and part != self._shown and begun:
                    self._shown = part
                    await self._show(part)
        except (SendError, StoreError, OSError) as error:
            # The reply itself goes out by the outbox: a preview that fails is only missing.
            self._log.info("preview_failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - a preview must never end a turn
            self._log.error("preview_failed", exc_info=error)

    async def _show(self, text: str) -> None:
        """Show it once. A message begins as …: a crash that loses its id leaves only that beside the whole reply."""
        adapter, chat = self._adapter, self._chat
        number, shown = await self._store.outbox.preview(
            chat.id, self._turn.id, self._clock.now(), text, draft=self._drafts
        )  # fmt: skip
        outgoing = Outgoing(number, chat.id, chat.platform, chat.external_id, text, "reply", preview_id=shown)
        if self._drafts and offers(adapter, Drafts) and await adapter.draft(outgoing):
            return
        self._drafts = False
        if offers(adapter, Edits) and shown:
            await adapter.show(outgoing)
        elif offers(adapter, Edits):
            self._shown, self._begun = "", True
            shown = await adapter.show(replace(outgoing, text=PLACEHOLDER))
            await self._store.outbox.shown(number, shown, self._clock.now())

    async def _pause(self) -> bool:
        """Wait for the platform's interval; False when the reply is finished."""
        adapter = self._adapter
        wait = 0
        if self._drafts and offers(adapter, Drafts):
            wait = adapter.draft_interval_ms
        elif offers(adapter, Edits):
            wait = adapter.edit_interval_ms
        due = asyncio.Event()
        alarm = self._clock.at(self._clock.now() + wait, due.set)
        waits = [asyncio.ensure_future(event.wait()) for event in (due, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            for waiting in waits:
                waiting.cancel()
        return not self._ended.is_set()
