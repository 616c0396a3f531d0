"""Who carries out what other agents ask to be changed: the nuan that answers, or `nuan mcp` where none does."""

import asyncio
from collections.abc import Awaitable, Callable

from bot.app import App
from bot.cli.house import Place, make_words
from bot.clock import SystemClock
from bot.errors import HeldError
from bot.flow.agents import AgentTexts
from bot.flow.agentwrites import AgentWrites
from bot.ops.agentdoor import ask_door
from bot.ports import Clock
from bot.store.store import open_store
from bot.text.catalogue import catalogue
from bot.types.agent import AgentReply, AgentWish
from bot.types.log import Log


def changes_in(app: App) -> Callable[[AgentWish], Awaitable[AgentReply]]:
    """What the running house does for agents, by the configuration that holds at the moment."""

    async def carry_out(wish: AgentWish) -> AgentReply:
        parts = app.parts
        writes = AgentWrites(parts.store, parts.clock, parts.settings, parts.words, catalogue(parts.prompts, "mcp"))
        reply = await writes.carry_out(wish)
        app.look_at_notes()  # what was forgotten may stand in one
        app.look()  # its person is told
        return reply

    return carry_out


class Changing:
    """Has changes carried out, one after the other: by the nuan that answers, else by taking the folder for a moment.

    The folder is never held for longer: `nuan run` must be able to start beside an agent.
    """

    def __init__(self, place: Place, texts: AgentTexts, log: Log, clock: Clock | None = None) -> None:
        self._place = place
        self._texts = texts
        self._log = log
        self._clock = clock or SystemClock()
        self._words = make_words(place)
        self._one = asyncio.Lock()
        self._running: set[asyncio.Task[AgentReply]] = set()

    async def carry_out(self, wish: AgentWish) -> AgentReply:
        """As AgentWrites does; who stops waiting for it undoes nothing, and leaves no lock behind."""
        task = asyncio.create_task(self._alone(wish), name="agent-change")
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Return when what was begun is done."""
        while self._running:
            await asyncio.wait(self._running.copy())

    async def _alone(self, wish: AgentWish) -> AgentReply:
        place = self._place
        async with self._one:
            served = await ask_door(place.data, wish)
            if served is not None:
                return served
            try:
                store = await open_store(place.data, frozenset(place.settings.bot.owners))
            except HeldError:
                return AgentReply(self._texts.sentences.text("busy", self._words.language), wrong=True)
            async with store:
                writes = AgentWrites(store, self._clock, place.settings, self._words, self._texts.sentences)
                return await writes.carry_out(wish)

    def _done(self, task: asyncio.Task[AgentReply]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.warning("agent_change_failed", cause=type(error).__name__)
