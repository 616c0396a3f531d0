"""Writing first: a silent chat is due, an event asks for a turn, and whoever writes meanwhile comes before it."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.config.settings import Settings
from bot.errors import StoreError
from bot.flow.background import BackgroundGate
from bot.flow.words import Words
from bot.ports import Clock
from bot.session.heartbeat import due_at
from bot.store.store import Store
from bot.text.dates import duration_label
from bot.types.heartbeat import HEARTBEAT, Silence
from bot.types.log import Log
from bot.types.occasion import Occasion

Begin = Callable[[Occasion, asyncio.Event], Awaitable[None]]
"""Runs the turn of an occasion; its model call ends when the event is set."""


class Heartbeat:
    """What the alarm and the chat lanes do so that nuan writes first."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, words: Words, begin: Begin,
        platforms: Callable[[], frozenset[str]], log: Log,
    ) -> None:  # fmt: skip
        """`platforms` are those that one can send to now."""
        self._store = store
        self._clock = clock
        self._rules = settings.heartbeat
        self._gate = BackgroundGate(store.switches, settings.background)
        self._words = words
        self._begin = begin
        self._platforms = platforms
        self._log = log
        self._fired: set[int] = set()
        self._stops: dict[int, asyncio.Event] = {}

    async def start(self) -> None:
        """Drop what an earlier process began, nobody waits for it, and set all deadlines."""
        await self._store.heartbeats.begin(self._platforms(), self._due, self._clock.now())

    @property
    def under_way(self) -> tuple[set[int], dict[int, asyncio.Event]]:
        """The chats where it was due, and what ends their turns; for whoever goes on."""
        return self._fired, self._stops

    async def succeed(self, fired: set[int], stops: dict[int, asyncio.Event]) -> None:
        """Go on in the place of another by other rules: every deadline is set anew."""
        self._fired, self._stops = fired, stops
        await self._store.heartbeats.rearm(self._platforms(), self._due)

    async def arm(self, chat_id: int, *, anew: bool = False) -> None:
        """Somebody was answered: from now on nuan may write first in this chat, when it has been silent.

        `anew`: more is known of the days ahead.
        """
        if self._rules.on:
            await self._store.heartbeats.arm(chat_id, self._platforms(), self._due, anew=anew)

    async def fire(self) -> int | None:
        """Something is due: queue the event of the first chat, and say which chat that is."""
        now = self._clock.now()
        chat_id = await self._store.heartbeats.fire(
            self._platforms(), self._due, lambda silence: self._told(silence, now), now
        )
        if chat_id is not None:
            self._fired.add(chat_id)
        return chat_id

    async def work(self, chat_id: int) -> None:
        """The turn of a chat where it was due; whatever goes wrong is logged and nobody is told.

        StoreError: nothing of the last step was stored; the next call ends what was begun.
        """
        if chat_id not in self._fired:
            return
        stop = self._stops[chat_id] = asyncio.Event()
        outcome = "void"
        try:
            if await self._gate.allows("heartbeat"):
                outcome = await self._beat(chat_id, stop)
        except (StoreError, OSError):
            raise
        except Exception as error:  # noqa: BLE001 - what nobody asked for must not stop the chat
            self._log.error("heartbeat_failed", chat=chat_id, exc_info=error)
        finally:
            del self._stops[chat_id]
        await self._store.heartbeats.leave(chat_id, outcome, self._clock.now())
        self._fired.discard(chat_id)

    def interrupt(self, chat_id: int) -> None:
        """Somebody writes in this chat: they are answered, and nothing is said first."""
        if chat_id in self._stops:
            self._stops[chat_id].set()

    async def _beat(self, chat_id: int, stop: asyncio.Event) -> str:
        """Run the turn, unless something else is to be done here; what becomes of an event that is still queued."""
        waiting = await self._store.views.waiting(chat_id, self._clock.now())
        beats = tuple(event for event in waiting.due if event.why == HEARTBEAT)
        if len(beats) < len(waiting.due) or await self._store.turns.running(chat_id):
            return "overtaken"
        if beats:
            person = waiting.people[beats[0].person_id]
            await self._begin(Occasion(waiting.chat, person, beats, HEARTBEAT), stop)
        return "void"

    def _due(self, silence: Silence, not_before: int) -> int | None:
        tz = self._words.tz(silence.timezone or self._words.zone)
        return due_at(silence, self._rules, tz, not_before)

    def _told(self, silence: Silence, now: int) -> str:
        """What the model is told instead of a message."""
        text = self._words.opening(self._words.script_named(silence.script))
        return text("heartbeat", silent=duration_label(now - (silence.heard_at or silence.last_at)))
