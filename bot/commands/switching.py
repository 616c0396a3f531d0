"""`.ai on` and `.ai off`: whether nuan speaks in a chat, or anywhere. They store nothing themselves."""

from collections.abc import Callable

from bot.commands.table import Asked
from bot.ports import Clock
from bot.store.store import Store
from bot.text.fold import fold

EVERYWHERE = ("all", "全部")


class SwitchCommands:
    """A chat by those who may, everything by owners."""

    def __init__(self, store: Store, clock: Clock, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
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
        await self._store.people.switch(asked.chat.id, on, now)
        if on and await self._store.settings.house_off():
            return self._text(asked, "switched_on_house_off")
        return self._text(asked, "switched_on" if on else "switched_off")
