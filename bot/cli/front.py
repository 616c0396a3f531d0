"""The web page of a house: its socket, its chat box, and what it shows. Its libraries load only when there is one."""

import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from adapters.web import WebAdapter
from bot.cli.house import owner_name
from bot.cli.source import Source
from bot.config.places import settings_shown
from bot.config.settings import Settings
from bot.errors import ConfigError
from bot.ports import Clock
from bot.rooms import Parts
from bot.store.settings import said_in
from bot.store.store import DATABASE
from bot.text.catalogue import catalogue
from bot.types.log import Log

if TYPE_CHECKING:
    from bot.ops.web.house import House
    from bot.ops.web.server import Page

WEB_KEYS = ("web.on", "web.host", "web.port")
"""What the page was opened with: a change waits for a restart."""


class Front:
    """The page of one house, with the adapter that its chat box is."""

    def __init__(self, page: "Page", source: Source, adapter: WebAdapter | None) -> None:
        """Without an adapter the page only reads."""
        self.token = page.token
        self.adapter = adapter
        self._page = page
        self._source = source
        self._made: tuple[Parts, House] | None = None

    def take(self, settings: Settings) -> None:
        """Whoever writes is called as these settings say."""
        if self.adapter is not None:
            self.adapter.rename(owner_name(settings))

    @contextlib.asynccontextmanager
    async def served(self, parts: Callable[[], Parts], log: Log) -> AsyncIterator[None]:
        """The page is answered by the house as it is at each request, and the terminal is told where."""
        async with self._page.served(lambda: self._house(parts()), log):
            print(self._page.greeting(sys.stdout.isatty()), flush=True)
            yield

    def _house(self, parts: Parts) -> "House":
        from bot.ops.web.house import House

        if self._made is None or self._made[0] is not parts:
            settings, source = parts.settings, self._source
            house = House(
                parts.store, parts.clock, settings, parts.words, catalogue(parts.prompts, "web"), parts.prompts,
                {parts.persona.name: parts.persona, **parts.personas},
                lambda: settings_shown(settings, source.config, source.env, said_in(source.data / DATABASE)),
                self.adapter,
            )  # fmt: skip
            self._made = parts, house
        return self._made[1]


@contextlib.contextmanager
def front_of(source: Source, settings: Settings, clock: Clock, *, reads: bool = False) -> Iterator[Front]:
    """Open the page's socket; ConfigError when its libraries are missing, NuanError when the port is taken."""
    try:
        from bot.ops.web.server import opened
    except ImportError as error:
        raise ConfigError((f"web: the library {error.name} is missing: pip install 'nuan[web]'",)) from error
    with opened(settings.web, source.data) as page:
        yield Front(page, source, None if reads else WebAdapter(owner_name(settings), clock))
