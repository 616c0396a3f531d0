"""`nuan mcp`: another agent uses this memory, for one person in one chat. Standard output is that agent's alone."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from importlib import import_module

from adapters.console import PipeTerminal
from bot.cli.agents import Changing
from bot.cli.guarding import stoppable
from bot.cli.house import Place, make_parts
from bot.cli.models import make_crew
from bot.cli.platforms import secrets
from bot.clock import SystemClock
from bot.errors import ConfigError, NuanError, StoreError
from bot.flow.agents import Agents, Desk, read_texts
from bot.ops.logs import Logs
from bot.ports import Clock
from bot.rooms import make_planner, make_recalling
from bot.store.store import Store, open_store
from bot.types.agent import Seat
from bot.types.log import Log
from bot.types.people import Chat

MISSING = "the library of `nuan mcp` is missing: pip install 'nuan[mcp]'"


async def serve(place: Place, person: str, chat: str) -> None:
    """Answer one client until it says no more, or a signal; NuanError when there is nobody to speak for."""
    require()
    from bot.cli.mcpwire import talk

    if sys.stdin is None or sys.stdout is None:
        raise NuanError("an agent talks over standard input and output, and one of them is closed")
    if sys.stdin.isatty():
        print("nuan: an agent starts this and talks to it; Ctrl-D ends it", file=sys.stderr)
    settings = place.settings
    # Two processes must not rotate one file: the log is the client's to keep.
    logs = Logs(None, settings.log, SystemClock().now, secrets(settings), sys.stderr)
    with contextlib.closing(logs), stoppable():
        async with await open_store(place.data, frozenset(settings.bot.owners), read_only=True) as store:
            seat = await find_seat(store, person, chat)
            async with agency(place, store, seat, logs.log) as agents:
                logs.log.info("agents_served", person=seat.person_id, chat=seat.chat_id)
                await talk(agents, PipeTerminal(0, sys.stderr).lines())
            logs.log.info("agents_left")


def require(library: str = "mcp.server.lowlevel") -> None:
    """ConfigError that names the extra, where the library is not installed."""
    try:
        import_module(library)
    except ImportError:
        raise ConfigError((MISSING,)) from None


@contextlib.asynccontextmanager
async def agency(
    place: Place, store: Store, seat: Seat, log: Log, clock: Clock | None = None
) -> AsyncIterator[Agents]:  # fmt: skip
    """What answers agents from that seat; at the end every change that was begun is done."""
    crew = make_crew(place.settings, place.prompts.path)
    parts = make_parts(place, store, crew, log, clock)
    texts = read_texts(place.prompts.path)
    changing = Changing(place, texts, log, parts.clock)
    planner, _ = make_planner(parts)
    desk = Desk(store, planner, make_recalling(parts), parts.words, place.settings, parts.clock, log)
    try:
        yield Agents(desk, seat, texts, changing.carry_out)
    finally:
        await changing.finish()
        await crew.close()
        await asyncio.to_thread(parts.aside.close)


async def find_seat(store: Store, person: str, chat: str) -> Seat:
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
    return Seat(who.id, where.id)


def _chats(chats: tuple[Chat, ...]) -> str:
    return ", ".join(f"{each.id} {each.platform} {each.title or each.external_id}" for each in chats) or "no chat yet"
