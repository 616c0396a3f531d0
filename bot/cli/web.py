"""`nuan web`: the web page with a house of its own, or beside a nuan that answers, to read only."""

import asyncio

from bot.cli.front import front_of
from bot.cli.house import Place, make_parts
from bot.cli.models import make_crew
from bot.cli.run import run, signals
from bot.cli.source import Source
from bot.clock import SystemClock
from bot.errors import HeldError
from bot.ops.silence import Silence
from bot.store.store import open_store


async def web(source: Source, place: Place) -> None:
    """Serve the page until a signal; when another nuan answers from the folder, what it stores can be read."""
    try:
        await run(source, place, alone=True)
    except HeldError:
        await look(source, place)


async def look(source: Source, place: Place) -> None:
    """The page over the database of a nuan that answers elsewhere: nothing is changed, nobody is answered."""
    settings, clock, stopped = place.settings, SystemClock(), asyncio.Event()
    with signals(stopped.set, lambda: None), front_of(source, settings, clock, reads=True) as front:
        async with await open_store(place.data, frozenset(settings.bot.owners), read_only=True) as store:
            crew = make_crew(settings, place.prompts.path)
            parts = make_parts(place, store, crew, Silence(), clock)
            try:
                async with front.served(lambda: parts, Silence()):
                    print("nuan: another nuan answers from this folder, so this page only reads", flush=True)
                    await stopped.wait()
            finally:
                await crew.close()
