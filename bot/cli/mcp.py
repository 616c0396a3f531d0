"""`nuan mcp`: serves another agent over standard input and output, for one person in one chat."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import import_module

from adapters.console import PipeTerminal
from bot.app import App
from bot.cli.installation import Installation, make_dependencies, make_words
from bot.cli.platforms import configured_secrets
from bot.cli.terminal import stopped_by_sigterm
from bot.container import make_planner, make_recall
from bot.core.clock import SystemClock
from bot.core.errors import ConfigError, FolderLockedError, NuanError, StoreError
from bot.core.people import AgentReply, AgentRequest, Chat, Principal
from bot.core.ports import Clock, Log
from bot.mcp.agents import AgentServices, AgentTexts, AgentTools, AgentWriter, read_texts
from bot.ops.control import request_change
from bot.ops.logs import Logs
from bot.pipeline.endpoints import make_pool
from bot.store.store import Store, open_store
from bot.text.catalogue import catalogue


def change_handler(app: App) -> Callable[[AgentRequest], Awaitable[AgentReply]]:
    """What the running bot does for agents, by the configuration that holds at the moment."""

    async def carry_out(wish: AgentRequest) -> AgentReply:
        parts = app.parts
        writes = AgentWriter(parts.store, parts.clock, parts.settings, parts.words, catalogue(parts.prompts, "mcp"))
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
        """As AgentWrites does; who stops waiting for it undoes nothing, and leaves no lock behind."""
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
                store = await open_store(place.data, frozenset(place.settings.bot.owners))
            except FolderLockedError:
                return AgentReply(self._texts.sentences.text("busy", self._words.language), wrong=True)
            async with store:
                writes = AgentWriter(store, self._clock, place.settings, self._words, self._texts.sentences)
                return await writes.carry_out(wish)

    def _done(self, task: asyncio.Task[AgentReply]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.warning("agent_change_failed", cause=type(error).__name__)


LIBRARY_MISSING = "the library of `nuan mcp` is missing: pip install 'nuan[mcp]'"


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
        async with await open_store(place.data, frozenset(settings.bot.owners), read_only=True) as store:
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
) -> AsyncIterator[AgentTools]:  # fmt: skip
    """What answers agents for that principal; at the end every change that was begun is done."""
    pool = make_pool(place.settings, place.prompts.path)
    parts = make_dependencies(place, store, pool, log, clock)
    texts = read_texts(place.prompts.path)
    changing = ChangeClient(place, texts, log, parts.clock)
    planner, _ = make_planner(parts)
    services = AgentServices(store, planner, make_recall(parts), parts.words, place.settings, parts.clock, log)
    try:
        yield AgentTools(services, principal, texts, changing.carry_out)
    finally:
        await changing.finish()
        await pool.close()
        await asyncio.to_thread(parts.thread.close)


async def find_principal(store: Store, person: str, chat: str) -> Principal:
    """The person by number or name in the chat by number or title: the owner in their own private chat unless named.

    StoreError lists what there is. Nobody sits where they do not take part.
    """
    chats = await store.people.chats()
    if chat:
        chats = tuple(each for each in chats if chat in (str(each.id), each.title, each.external_id))
        if len(chats) != 1:
            raise StoreError(f"--chat: give one of: {_chats(await store.people.chats())}")
    else:
        chats = tuple(each for each in chats if each.kind == "dm")
    there = [
        (each, await store.people.person(number))
        for each in chats
        for number in (await store.people.audience(each)).person_ids
    ]
    found = [(where, who) for where, who in there if (person in (str(who.id), who.name) if person else who.is_owner)]
    if not found and not person and len({who.id for _, who in there}) == 1:
        found = there  # nobody else it could be
    if len({who.id for _, who in found}) != 1:
        known = {who.id: who.name for _, who in there}
        raise StoreError(
            f"--person: give one of: {', '.join(f'{n} {name}' for n, name in known.items()) or 'nobody yet'}"
        )
    where, who = found[0]
    return Principal(who.id, where.id)


def _chats(chats: tuple[Chat, ...]) -> str:
    return ", ".join(f"{each.id} {each.platform} {each.title or each.external_id}" for each in chats) or "no chat yet"
