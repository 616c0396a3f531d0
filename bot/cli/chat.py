"""`nuan chat`: a conversation in the terminal."""

import asyncio
import contextlib
import sys
from dataclasses import replace

from adapters.console import ConsoleAdapter, open_terminal
from bot.app import App
from bot.cli.agents import changes_in
from bot.cli.guarding import stoppable
from bot.cli.house import Place, make_parts, make_words, owner_name, warm_up
from bot.cli.models import make_crew
from bot.cli.platforms import secrets
from bot.cli.reload import Reloader
from bot.cli.source import Source
from bot.clock import SystemClock
from bot.config.settings import Settings
from bot.ops.agentdoor import agent_door
from bot.ops.logs import Logs
from bot.rooms import allowed
from bot.store.store import open_store
from bot.types.event import Incoming
from bot.types.event import Place as EventPlace


async def chat(source: Source, place: Place, group: str, name: str, verbose: bool) -> None:
    """Talk until the input ends; every line that was read is answered before it returns."""
    settings = place.settings
    words, reloader = make_words(place), Reloader(source, place)
    async with await open_store(place.data, frozenset(settings.bot.owners), allowed(settings)) as store:
        # The folder is ours from here on: before that, its log may belong to another nuan.
        logs = Logs(
            place.data / "logs", settings.log, SystemClock().now,
            secrets(settings), sys.stderr if verbose else None,
        )  # fmt: skip
        with contextlib.closing(logs):
            crew = make_crew(settings, place.prompts.path)
            app = App(
                replace(
                    make_parts(place, store, crew, logs.log),
                    reload=reloader.command,
                    settle=reloader.settle,
                    scrub=logs.scrub,
                )
            )
            adapter = ConsoleAdapter(
                open_terminal(sys.stdin, sys.stdout), name or owner_name(settings),
                _prefix(settings), group, settings.bot.names,
                words.messages.text("console_scene", settings.bot.language, names="{names}"),
            )  # fmt: skip

            def take(settings: Settings) -> None:
                logs.hide(secrets(settings))
                adapter.rename(name or owner_name(settings), _prefix(settings), settings.bot.names)

            reloader.serve(app, take)
            await app.start([adapter])
            reloading = asyncio.create_task(reloader.keep(), name="reload")
            warm = asyncio.create_task(warm_up(crew), name="warm-up")
            try:
                with stoppable():
                    async with agent_door(place.data, changes_in(app), logs.log, reloader.ask):
                        await adapter.run(app.door if sys.stdin.isatty() else _LineByLine(app))
                        await app.drained()
            finally:
                reloading.cancel()
                await asyncio.wait((reloading,))
                await app.stop()
                await warm
                await app.parts.crew.close()


def _prefix(settings: Settings) -> str:
    """What stands before each reply."""
    return f"{settings.bot.names[0]} › "


class _LineByLine:
    """A door for piped input: each line is answered before the next one is read, as a person would wait."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def accept(self, incoming: Incoming) -> bool:
        """Commit the line and let everything settle that it caused; a reply in several messages is heard out."""
        stored = await self._app.door.accept(incoming)
        await self._app.spoken()
        return stored

    async def newest(self, place: EventPlace) -> str:
        """As the door says."""
        return await self._app.door.newest(place)

    async def recent(self, place: EventPlace, limit: int) -> tuple[str, ...]:
        """As the door says."""
        return await self._app.door.recent(place, limit)
