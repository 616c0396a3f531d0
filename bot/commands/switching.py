"""`.ai on` and `.ai off`: whether nuan speaks in a chat, or anywhere. They store nothing themselves."""

import asyncio
from collections.abc import Callable

from bot.commands.table import Asked
from bot.ports import Adapter, Admins, Clock, offers
from bot.store.store import Store
from bot.text.fold import fold

EVERYWHERE = ("all", "全部")

ASK_S = 10.0
"""Seconds to wait until a platform says who looks after a group."""


class SwitchCommands:
    """A chat by those who may, everything by owners."""

    def __init__(
        self, store: Store, clock: Clock, adapter: Callable[[str], Adapter | None], text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`adapter` finds a platform, `text` is (asked, key, **values) in the person's script."""
        self._adapter = adapter
        self._store = store
        self._clock = clock
        self._text = text

    async def on(self, asked: Asked) -> str:
        """Speak here again, or everywhere."""
        return await self._switch(asked, on=True)

    async def off(self, asked: Asked) -> str:
        """Be quiet here, or everywhere: what is said is still read and commands work; nobody is answered.

        Reminders that people asked for still come, as they cost no call and somebody relies on them; nuan writes
        nothing by herself.
        """
        return await self._switch(asked, on=False)

    async def _switch(self, asked: Asked, *, on: bool) -> str:
        words, now = fold(" ".join(asked.words)), self._clock.now()
        if words in EVERYWHERE:
            if not asked.person.is_owner:
                return self._text(asked, "not_allowed")
            await self._store.people.switch_house(on, asked.person.id, now)
            return self._text(asked, "switched_on_all" if on else "switched_off_all")
        if words:
            return self._text(asked, "switch_words")
        if refused := await self._refused(asked):
            return self._text(asked, refused)
        await self._store.people.switch(asked.chat.id, on, now)
        if on and await self._store.settings.house_off():
            return self._text(asked, "switched_on_house_off")
        return self._text(asked, "switched_on" if on else "switched_off")

    async def _refused(self, asked: Asked) -> str:
        """Why this person may not switch this chat, as a key, "" when they may; in a group the platform says so."""
        if asked.person.is_owner or asked.chat.kind == "dm":
            return ""
        adapter = self._adapter(asked.chat.platform)
        if adapter is None or not offers(adapter, Admins):
            return "not_allowed"
        _, account = await self._store.access.answer_to(asked.event)
        try:
            async with asyncio.timeout(ASK_S):
                may = bool(account) and await adapter.is_admin(asked.chat.external_id, account)
        except (OSError, TimeoutError):
            return "switch_unsure"
        return "" if may else "switch_not_allowed"
