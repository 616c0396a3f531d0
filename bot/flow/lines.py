"""Which lines of a chat a prompt holds: what a new log begins with, and how much of it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.context.bus import stack
from bot.context.xml import Limits
from bot.memory.correcting import AT_ONCE, AT_ONCE_MS, joined, names_time, redates
from bot.store.store import Store
from bot.types.event import Event
from bot.types.occasion import Occasion
from bot.types.session import Session

PERSON_CHARS = 120
"""What an opening shows of one older message (C8); a delta and raw lines show 200."""

MOST_EVENTS = 1 << 62
"""Above every event."""

LIGHT_LINES, LIGHT_TOKENS = 4, 120
"""What small talk is told of before: the newest lines, and how many tokens of them (seed: 400 to 500 for all)."""


@dataclass(frozen=True, slots=True)
class First:
    """What a log begins with, and how much of it; `earlier` lines are not among the events and only counted."""

    events: tuple[Event, ...]
    limits: Limits
    earlier: int


class FirstLines:
    """Reads the lines that stand before a log."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def limits(self, tokens: int) -> Limits:
        """The configured limits of one delta, with so many tokens of lines that nobody waits on."""
        return Limits(
            tokens=tokens, answered=self._settings.input.max_chars,
            scene=self._settings.context.scene.max_chars, gap_ms=self._settings.context.gap_seconds * 1000,
        )  # fmt: skip

    async def read(self, occasion: Occasion, session: Session | None, now: int, light: bool) -> First:
        """The lines that a new log begins with; what its first turn answers comes besides.

        A session that is open tells its own lines, and before them what it was, or would have been, opened with.
        """
        context, chat = self._settings.context, occasion.chat
        wish = await self._store.switches.context(chat.id)
        recent = context.recent if wish.recent is None else wish.recent
        window = context.window_seconds if wish.window_seconds is None else wish.window_seconds
        most = context.bus_max if wish.recent_max is None else wish.recent_max
        floor = await self._store.sessions.floor(chat.id)
        own, opened = (session.from_event, session.opened_at) if session is not None else (MOST_EVENTS, now)
        ended = await self._store.sessions.undigested(chat.id)
        raw = [each.from_event for each in ended if each.close_reason != "clear" and each.from_event < own]
        stands_in = bool(raw) and not light
        if stands_in:
            # The digest is not there yet: the raw lines stand in for it, as many as the chat itself wants to be told.
            floor, recent = max(floor, min(raw)), most if wish.recent is None else wish.recent
            window = opened // 1000 if wish.window_seconds is None else wish.window_seconds
        lines = min(LIGHT_LINES, recent) if light else most
        events, earlier = await self._store.views.lines(
            chat.id, tuple(event.id for event in occasion.answering), floor, (own, opened - window * 1000), lines,
            apart=self._settings.speak.busy == "queue",
        )  # fmt: skip
        if light:
            limits = self.limits(LIGHT_TOKENS)
            return First(events, replace(limits, bot=limits.message), earlier)
        lead = stack(event for event in events if event.id <= own)
        cut = sum(len(line.event_ids) for line in lead[: max(0, len(lead) - recent)])
        limits = self.limits(context.carry_tokens)
        if stands_in or session is not None:  # raw lines are bounded by tokens alone, the bot's own lines as well
            limits = replace(limits, bot=limits.message, bot_lines=most)
        else:
            limits = replace(limits, message=PERSON_CHARS)
        return First(mended(events[cut:]), limits, earlier + cut)


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
