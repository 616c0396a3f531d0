"""Which lines of a chat a prompt holds: what a new log begins with, and how much of it."""

from collections.abc import Iterable
from dataclasses import replace

from bot.config.settings import Settings
from bot.context.xml import Limits
from bot.memory.correcting import AT_ONCE, AT_ONCE_MS, joined, names_time, redates
from bot.store.store import Store
from bot.types.event import Event
from bot.types.people import Chat
from bot.types.session import Session

PERSON_CHARS = 120
"""What an opening shows of one older message (C8); a delta and raw lines show 200."""

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
        wish = await self._store.switches.context(chat.id)
        recent = context.recent if wish.recent is None else wish.recent
        window = context.window_seconds if wish.window_seconds is None else wish.window_seconds
        most = context.bus_max if wish.recent_max is None else wish.recent_max
        if light:
            lines = min(LIGHT_LINES, recent)
            events = await self._store.events.recent(
                chat.id, await self._store.sessions.floor(chat.id), now - window * 1000, lines
            )
            limits = self.limits(LIGHT_TOKENS, lines, window)
            return events, replace(limits, bot=limits.message)
        if session is not None:
            events = await self._store.events.recent(chat.id, session.from_event, 0, most)
            if chat.kind == "group" and len(events) < recent:  # a log after small talk tells what that was shown
                before = await self._store.events.recent(
                    chat.id, await self._store.sessions.floor(chat.id), session.opened_at - window * 1000, most
                )
                lead = [event for event in before if event.id <= session.from_event]
                events = (*lead[len(events) - recent :], *events)
            return mended(events), self._raw()
        floor = await self._store.sessions.floor(chat.id)
        waiting = [s.from_event for s in await self._store.sessions.undigested(chat.id) if s.close_reason != "clear"]
        if waiting:
            # The digest is not there yet: the raw lines stand in for it, as many as the chat itself wants to be told.
            events = await self._store.events.recent(chat.id, max(floor, min(waiting)), 0, most)
            return mended(events), replace(self._raw(), recent=wish.recent, window_s=wish.window_seconds)
        events = await self._store.events.recent(chat.id, floor, now - window * 1000, most)
        return mended(events), replace(self.limits(context.carry_tokens, recent, window), message=PERSON_CHARS)


def mended(events: Iterable[Event]) -> tuple[Event, ...]:
    """The lines, each with the correction that its writer made of its day or hour right behind it.

    No word is lost: what would be too long together stays apart.
    """
    told: list[Event] = []
    for event in events:
        late, own = event.at - AT_ONCE_MS, event.kind == "message" and not event.forwarded
        near = [place for place in range(max(0, len(told) - AT_ONCE), len(told)) if told[place].at >= late]
        mine = [place for place in near if told[place].kind == "message" and told[place].person_id == event.person_id]
        last = mine[-1] if mine and own and redates(event.text) else None
        whole = joined(told[last].text, event.text) if last is not None else ""
        if last is None or told[last].forwarded or not names_time(told[last].text) or len(whole) > PERSON_CHARS:
            told.append(event)
        else:
            told[last] = replace(told[last], text=whole)
    return tuple(told)
