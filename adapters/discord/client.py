"""discord.py's client, pointed at another address where one is configured, safe from unreadable events; the token
check."""

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import aiohttp
import discord
from aiohttp import (
    BaseConnector,
    ClientError,
    ClientSession,
    ClientWebSocketResponse,
    TraceConfig,
    TraceRequestEndParams,
)
from aiohttp_socks import ProxyConnector, ProxyError
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.http import HTTPClient, Route
from discord.state import ConnectionState
from discord.webhook.async_ import AsyncWebhookAdapter, async_context
from yarl import URL

from adapters.discord import Shards
from bot.core.inspection import CheckResult, failed, passed
from bot.core.ports import Log

RATE_LIMIT_S = 60.0
"""The longest wait that the library may do by itself; a longer one becomes SendError("later")."""

FILE_HOSTS = (".discordapp.com", ".discordapp.net")
"""Where Discord keeps attachments (cdn and media)."""

_VOICE = "voice will NOT be supported"
"""The library says so at every start; nuan does not speak."""

OnEvent = Callable[[str, tuple[object, ...]], None]

_OF_INTERACTIONS = re.compile(r"/(?:interactions|webhooks)/")


@dataclass(frozen=True, slots=True)
class Address:
    """Where Discord is: the REST API, the gateway ("" asks the API, or is the library's own), a proxy or ""."""

    api: str = Route.BASE
    gateway: str = ""
    proxy: str = ""

    @property
    def moved(self) -> bool:
        """Whether the API is somewhere else than the library thinks."""
        return self.api != Route.BASE

    @property
    def http_proxy(self) -> str | None:
        """The proxy if it is one that aiohttp speaks to itself."""
        return self.proxy if self.proxy.startswith("http") else None

    def connector(self) -> BaseConnector | None:
        """A connector through a SOCKS proxy; None where none is wanted. To be made in a running loop."""
        return ProxyConnector.from_url(self.proxy) if self.proxy.startswith("socks") else None

    def url(self, route: Route) -> str:
        """Where a route leads."""
        return f"{self.api}{route.url.removeprefix(Route.BASE)}"

    def serves(self, url: str) -> bool:
        """Whether an attachment may be read from there: from Discord's own hosts, or beside the API where it is."""
        try:
            there = URL(url)
            if self.moved and there.user is None and there.origin() == URL(self.api).origin():
                return True
        except ValueError:
            return False
        plain = there.scheme == "https" and there.user is there.password is None and there.port == 443
        return plain and (there.host or "").endswith(FILE_HOSTS)

    @contextmanager
    def interactions(self) -> Iterator[None]:
        """Inside it answers to interactions, for which the library has a client of its own, go there too."""
        token = async_context.set(_Webhooks(self)) if self.moved else None
        try:
            yield
        finally:
            if token is not None:
                async_context.reset(token)


class Client(discord.Client):
    """One connection. `seen` gets every event of the library at once, in the order in which they came.

    "connect" and "ready" come with the number of the shard.
    """

    def __init__(self, address: Address, seen: OnEvent, log: Log, **options: Any) -> None:
        self._address = address
        self._seen = seen
        self._events_log = log
        intents = discord.Intents.default()
        intents.message_content = True
        intents.members = True
        intents.moderation = False
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            chunk_guilds_at_startup=False,
            connector=address.connector(),
            proxy=address.http_proxy,
            max_ratelimit_timeout=RATE_LIMIT_S,
            http_trace=_no_retries(),
            **options,
        )

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Tell of an event without a task in between: tasks would not keep their order for certain."""
        super().dispatch(event, *args, **kwargs)
        self._tell(event, args)

    def _tell(self, event: str, args: tuple[object, ...]) -> None:
        self._seen(event, (0,) if event in ("connect", "ready") else args)

    def silent_ms(self) -> int | None:
        """How long ago the gateway said something, ms; None before it said hello."""
        return _silent_ms(self.ws)

    async def shut(self) -> None:
        """Close everything, also when the other side does not answer."""
        for waiting in self._waiting():
            waiting.cancel()
        try:
            await self.close()
        finally:
            await self.http.close()
            for thread in threading.enumerate():  # of a connection that never became one nobody else knows
                if isinstance(thread, KeepAliveHandler) and thread.ws._connection is self._connection:  # noqa: SLF001
                    thread.stop()

    def _waiting(self) -> Iterable["asyncio.Task[None]"]:
        """What the library leaves running for two seconds."""
        task = self._connection._ready_task  # noqa: SLF001
        return () if task is None else (task,)

    def _get_state(self, **options: Any) -> "ConnectionState[Client]":
        """The library makes its state here, so this is where the HTTP client and the parsers can be others."""
        if self._address.moved or self._address.gateway:
            given = self.http
            self.http = _Http(
                self._address,
                given.loop,
                options.get("connector"),
                proxy=given.proxy,
                max_ratelimit_timeout=given.max_ratelimit_timeout,
                http_trace=given.http_trace,
            )
        state: ConnectionState[Client] = super()._get_state(**options)
        state.parsers = {
            name: parse if name in ("READY", "RESUMED") else self._guarded(name, parse)
            for name, parse in state.parsers.items()
        }
        return state

    def _guarded(self, name: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        def parsed(payload: Any) -> None:
            try:
                parse(payload)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one event, the next ones are good
                self._events_log.warning("discord_malformed", gateway_event=name, error=type(error).__name__)

        return parsed


class ShardedClient(Client, discord.AutoShardedClient):  # type: ignore[misc]  # the state is of the class that is asked
    """Some of the connections of a bot, each with its share of the guilds.

    `may_identify` is asked before a session begins, with the number of the bucket in which Discord counts it, until it
    says yes.
    """

    def __init__(
        self, address: Address, seen: OnEvent, log: Log, shards: Shards, may_identify: Callable[[int], Awaitable[None]]
    ) -> None:
        super().__init__(address, seen, log, shard_ids=[*shards.numbers], shard_count=shards.count)
        self._may_identify = may_identify
        self._at_once = 1

    async def connect(self, *, reconnect: bool = True) -> None:
        """As the library does, once it is known how many sessions may begin at once."""
        self._at_once = max(1, (await self.fetch_session_start_limits()).max_concurrency)
        await super().connect(reconnect=reconnect)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait until no other session of this bucket began in the last moments, in this process or another."""
        await self._may_identify((shard_id or 0) % self._at_once)

    def silent_ms(self) -> int | None:
        """That of the connection that said nothing for longest; None until all are there."""
        heard = [_silent_ms(shard._parent.ws) for shard in self.shards.values()]  # noqa: SLF001 - as for one
        known = [one for one in heard if one is not None]
        return max(known) if len(known) == len(self.shard_ids or ()) else None

    def _tell(self, event: str, args: tuple[object, ...]) -> None:
        if event not in ("connect", "ready"):  # of all at once: each shard is told by itself
            self._seen(event.removeprefix("shard_") if event in ("shard_connect", "shard_ready") else event, args)

    def _waiting(self) -> Iterable["asyncio.Task[None]"]:
        return (*super()._waiting(), *self._connection._ready_tasks.values())  # noqa: SLF001


def _silent_ms(socket: object) -> int | None:
    """How long ago a connection brought something. The library counts by this clock."""
    beating = socket._keep_alive if isinstance(socket, DiscordWebSocket) else None  # noqa: SLF001 - nothing else tells it
    return None if beating is None else round((perf_counter() - beating._last_recv) * 1000)  # noqa: SLF001


class ServerFault(ClientError):
    """Discord answered with an error of its own; whoever asked decides about another try."""


def _no_retries() -> TraceConfig:
    """Ends a request that failed at the server: the library would repeat it five times before the outbox hears of it.

    Its waiting for rate limits is left alone: it alone knows Discord's buckets. So are its answers to interactions,
    which nobody else may repeat.
    """

    async def ended(session: ClientSession, context: object, answer: TraceRequestEndParams) -> None:
        if answer.response.status >= 500 and not _OF_INTERACTIONS.search(answer.url.path):
            answer.response.close()
            raise ServerFault(str(answer.response.status))

    trace = TraceConfig()
    trace.on_request_end.append(ended)
    return trace


class _Http(HTTPClient):
    """The library's HTTP client at another address."""

    def __init__(self, address: Address, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = address

    async def request(self, route: Route, **kwargs: Any) -> Any:
        route.url = self._address.url(route)
        return await super().request(route, **kwargs)

    async def ws_connect(self, url: str, *, compress: int = 0) -> ClientWebSocketResponse:
        """The library's gateway is replaced; an address for resuming, which the server gave, is not."""
        wanted = URL(url)
        if wanted.host == DiscordWebSocket.DEFAULT_GATEWAY.host:
            gateway = self._address.gateway or (await self.get_bot_gateway())[1]
            url = str(URL(gateway).update_query(wanted.query))
        return await super().ws_connect(url, compress=compress)


class _Webhooks(AsyncWebhookAdapter):
    """The library's client for interactions at another address."""

    def __init__(self, address: Address) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._address = address

    async def request(self, route: Route, *args: Any, **kwargs: Any) -> Any:
        route.url = self._address.url(route)
        return await super().request(route, *args, **kwargs)


class _LibraryLogs(logging.Handler):
    """The library's warnings as lines of our own log: the words of its source, never what it filled in."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._to = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line; the error behind it only by its kind, as its text may hold addresses."""
        if _VOICE in str(record.msg):
            return
        kind = record.exc_info[0] if record.exc_info else None
        error = kind.__name__ if kind is not None else ""
        self._to.warning("discord_library", part=record.name, said=str(record.msg), error=error)


@contextmanager
def library_logs_forwarded(log: Log) -> Iterator[None]:
    """Inside it the library logs to `log` only."""
    library, handler = logging.getLogger("discord"), _LibraryLogs(log)
    before = library.propagate
    library.addHandler(handler)
    library.propagate = False
    try:
        yield
    finally:
        library.removeHandler(handler)
        library.propagate = before


async def check(token: str, address: Address, shards: Shards, log: Log) -> tuple[CheckResult, ...]:
    """Ask the API who the bot is; never raises for what a token, a proxy or a server can do."""
    where = f"{address.api}{' through the proxy' if address.proxy else ''}"
    client = Client(address, lambda event, given: None, log)
    try:
        await client.login(token)
        info = await client.application_info()
        advised, gateway, _ = await client.http.get_bot_gateway()
    except discord.LoginFailure:
        return (failed("discord.token", "is refused: take the one of the developer portal, Bot, Reset Token"),)
    except (discord.DiscordException, aiohttp.ClientError, ProxyError, OSError, TimeoutError) as error:
        text = f"{where} cannot be reached ({type(error).__name__}): check discord.api_url and discord.proxy"
        return (failed("discord", text),)
    finally:
        await client.shut()
    flags = info.flags
    intents = (
        ("Message Content", flags.gateway_message_content or flags.gateway_message_content_limited),
        ("Server Members", flags.gateway_guild_members or flags.gateway_guild_members_limited),
    )
    return (
        passed("discord", f"{where} knows the bot as {info.name}, the gateway is {address.gateway or gateway}"),
        *(
            [
                CheckResult(
                    True, "discord.shards", f"Discord advises {advised} shards; there are {shards.count}", warn=True
                )
            ]
            if advised > shards.count
            else []
        ),
        *(
            CheckResult(
                on, "discord", f"intent {name}: {'on' if on else 'off; switch it on in the developer portal, Bot'}"
            )
            for name, on in intents
        ),
    )
