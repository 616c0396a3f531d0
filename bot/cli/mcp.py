"""`nuan mcp`: serves another agent over standard input and output, for one person in one chat."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module

from adapters.console import PipeTerminal
from bot.app import App
from bot.cli.installation import Installation, configured_secrets, make_words, open_dependencies
from bot.cli.lookup import find_principal
from bot.cli.terminal import stopped_by_sigterm
from bot.container import make_planner, make_recall
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, FolderLockedError, NuanError
from bot.core.files import install_command
from bot.core.people import AgentReply, AgentRequest, Principal
from bot.core.ports import Clock, Log
from bot.mcp.agents import AgentServices, AgentTexts, AgentTools, AgentWriter, read_texts
from bot.ops.control import request_change
from bot.ops.logs import Logs
from bot.store.store import Store, open_store
from bot.text.catalogue import catalogue

LIBRARY_MISSING = f"the library of `nuan mcp` is missing: {install_command('mcp')}"


def change_handler(app: App) -> Callable[[AgentRequest], Awaitable[AgentReply]]:
    """What the running bot does for agents, by the configuration that holds at the moment."""

    async def carry_out(wish: AgentRequest) -> AgentReply:
        parts, current = app.parts, app.parts.current
        async with current.held():
            texts = catalogue(current.value.texts.prompts, "mcp")
            writes = AgentWriter(parts.store, parts.clock, current.settings, current.words, texts)
            reply = await writes.carry_out(wish)
        app.look_at_notes()  # what was forgotten may stand in one
        app.look()  # its person is told
        return reply

    return carry_out


class ChangeClient:
    """Has changes carried out, one after the other: by the nuan that answers, else by taking the folder for a moment.

    The folder is never held for longer: `nuan run` must be able to start beside an agent.
    """

    def __init__(self, place: Installation, texts: AgentTexts, log: Log, clock: Clock | None = None) -> None:
        self._place = place
        self._texts = texts
        self._log = log
        self._clock = clock or SystemClock()
        self._words = make_words(place)
        self._one = asyncio.Lock()
        self._running: set[asyncio.Task[AgentReply]] = set()

    async def carry_out(self, wish: AgentRequest) -> AgentReply:
        """As the store does; who stops waiting for it undoes nothing, and leaves no lock behind."""
        task = asyncio.create_task(self._alone(wish), name="agent-change")
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Return when what was begun is done."""
        while self._running:
            await asyncio.wait(self._running.copy())

    async def _alone(self, wish: AgentRequest) -> AgentReply:
        place = self._place
        async with self._one:
            served = await request_change(place.data, wish)
            if served is not None:
                return served
            try:
                store = await open_store(place.data, frozenset(place.settings.bot.owners), url=place.url)
            except FolderLockedError:
                return AgentReply(self._texts.sentences.text("busy", self._words.language), wrong=True)
            async with store:
                writes = AgentWriter(store, self._clock, place.settings, self._words, self._texts.sentences)
                return await writes.carry_out(wish)

    def _done(self, task: asyncio.Task[AgentReply]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.warning("agent_change_failed", cause=type(error).__name__)


async def serve(place: Installation, person: str, chat: str) -> None:
    """Answer one client until it says no more, or a signal; NuanError when there is nobody to speak for."""
    require_library()
    from bot.mcp.server import serve_client

    if sys.stdin is None or sys.stdout is None:
        raise NuanError("an agent talks over standard input and output, and one of them is closed")
    if sys.stdin.isatty():
        print("nuan: an agent starts this and talks to it; Ctrl-D ends it", file=sys.stderr)
    settings = place.settings
    # Two processes must not rotate one file: the log is the client's to keep.
    logs = Logs(None, settings.log, SystemClock().now, configured_secrets(settings), sys.stderr)
    with contextlib.closing(logs), stopped_by_sigterm():
        async with await open_store(place.data, frozenset(settings.bot.owners), read_only=True, url=place.url) as store:
            principal = await find_principal(store, person, chat)
            async with agent_tools(place, store, principal, logs.log) as agents:
                logs.log.info("agents_served", person=principal.person_id, chat=principal.chat_id)
                await serve_client(agents, PipeTerminal(0, sys.stderr).lines())
            logs.log.info("agents_left")


def require_library(library: str = "mcp.server.lowlevel") -> None:
    """ConfigError that names the extra, where the library is not installed."""
    try:
        import_module(library)
    except ImportError:
        raise ConfigError((LIBRARY_MISSING,)) from None


@contextlib.asynccontextmanager
async def agent_tools(
    place: Installation, store: Store, principal: Principal, log: Log, clock: Clock | None = None
) -> AsyncIterator[AgentTools]:
    """What answers agents for that principal; at the end every change that was begun is done."""
    texts = read_texts(place.prompts.path)
    async with open_dependencies(place, store, log, clock) as parts:
        changing = ChangeClient(place, texts, log, parts.clock)
        recall = make_recall(parts)
        planner, words = make_planner(parts, recall), parts.current.words
        services = AgentServices(store, planner, recall, words, place.settings, parts.clock, log)
        try:
            yield AgentTools(services, principal, texts, changing.carry_out)
        finally:
            await changing.finish()
