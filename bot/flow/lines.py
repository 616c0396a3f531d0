"""Which lines of a chat a prompt holds: what a new log begins with, and how much of it."""

from dataclasses import replace

from bot.config.settings import Settings
from bot.context.xml import Limits
from bot.store.store import Store
from bot.types.event import Event
from bot.types.people import Chat
from bot.types.session import Session

LIGHT_LINES, LIGHT_TOKENS = 4, 120
"""What small talk is told of before: the newest lines, and how many tokens of them (seed: 400 to 500 for all)."""


class FirstLines:
    """Reads the lines that stand before a log."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def limits(self, tokens: int, recent: int | None = None, window_s: int | None = None) -> Limits:
        """The configured limits of one delta, with so many tokens of lines that nobody waits on."""
        return Limits(
            tokens=tokens, recent=recent, window_s=window_s, answered=self._settings.input.max_chars,
            scene=self._settings.context.scene.max_chars, gap_ms=self._settings.context.gap_seconds * 1000,
        )  # fmt: skip

    def _raw(self) -> Limits:
        """Raw lines that stand in for a log or a digest: bounded by tokens alone, the bot's own lines as well."""
        limits = self.limits(self._settings.context.carry_tokens)
        return replace(limits, bot=limits.message, bot_lines=self._settings.context.bus_max)

    async def read(
        self, chat: Chat, session: Session | None, now: int, light: bool
    ) -> tuple[tuple[Event, ...], Limits]:
        """The lines that a new log begins with, and how much of them."""
        context = self._settings.context
        if light:
            events = await self._store.events.recent(
                chat.id, await self._store.sessions.floor(chat.id), now - context.window_seconds * 1000, LIGHT_LINES
            )
            limits = self.limits(LIGHT_TOKENS, LIGHT_LINES, context.window_seconds)
            return events, replace(limits, bot=limits.message)
        if session is not None:
            events = await self._store.events.recent(chat.id, session.from_event, 0, context.bus_max)
            return events, self._raw()
        floor = await self._store.sessions.floor(chat.id)
        waiting = [s.from_event for s in await self._store.sessions.undigested(chat.id) if s.close_reason != "clear"]
        if waiting:
            # The digest is not there yet: the raw lines stand in for it.
            events = await self._store.events.recent(chat.id, max(floor, min(waiting)), 0, context.bus_max)
            return events, self._raw()
        since = now - context.window_seconds * 1000
        events = await self._store.events.recent(chat.id, floor, since, context.bus_max)
        return events, self.limits(context.carry_tokens, context.recent, context.window_seconds)
