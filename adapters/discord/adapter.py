"""Discord as a platform: connects, hands events on, sends. Wiring only; what is said and when is decided elsewhere."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import aiohttp
import discord
from aiohttp_socks import ProxyError

from adapters.discord import DiscordSettings, shards_of
from adapters.discord.channels import ChannelQueues, History, readable
from adapters.discord.client import Address, Client, ServerFault, ShardedClient, check, library_logs_forwarded
from adapters.discord.events import PLATFORM, events_of, typing_of
from adapters.discord.sending import FAILURES, SENDS, DiscordSender, error_text, fate_of
from adapters.discord.slash import Interactions, interaction_event, sync
from bot.core.errors import NuanError, PlatformError, SendError, StoreError
from bot.core.events import Attachment, CommandSpec, Incoming, Outgoing, Place
from bot.core.files import read_at_most
from bot.core.inspection import CheckResult
from bot.core.ports import Clock, EventSink, Log, TakeFor, pause
from bot.text.split import split, utf16_units

PART_CHARS = 1_900
"""Discord takes 2,000 characters; formatting may add some. They are counted as UTF-16 units, as it may do (D16)."""
NOT_CONNECTED_MS = 1_000
"""How soon a message is tried again that had no connection: that says nothing of its chat, whose wait would double."""
CLOSE_S = 3
"""How long the gateway may take to say goodbye; the library would wait for thirty seconds."""
CANCEL_S = 0.2
"""How long a cancelled connection may take before it is cancelled again."""
FETCH_S = 60
"""How long an attachment may take."""
UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""An attachment is wanted as it is: what is packed small may be large."""

_REFUSED_KEY = (
    "discord refused the token: make a new one (developer portal → Bot → Reset Token) and set NUAN_DISCORD__TOKEN"
)
_INTENTS_REFUSED = (
    "discord refuses the intents: switch on Message Content Intent and Server Members Intent "
    "(developer portal → Bot → Privileged Gateway Intents)"
)
_SHARDS_REFUSED = (
    "discord refuses the shards: set discord.shards, like 0-3/16, in every process with the same number behind the "
    "stroke; `nuan doctor` says how many it wants"
)
_REFUSED_KEY_CODE, _INTENTS_CODES, _SHARDS_CODES = 4004, (4013, 4014), (4010, 4011)

IDENTIFY_MS = 5_000
"""In which Discord lets one session begin, for each bucket of shards."""
ASKED_AGAIN_MS = 500
"""How soon it is tried again whether a session may begin."""


async def is_admin(client: discord.Client, external_chat_id: str, account: str) -> bool:
    """Whether that account owns the channel's server or has the permission Administrator there.

    OSError when Discord cannot be asked.
    """
    if not (external_chat_id.isdecimal() and account.isdecimal()):
        return False
    try:
        guild = await guild_of(client, int(external_chat_id))
        if guild is None or guild.owner_id == int(account):
            return guild is not None
        return (await guild.fetch_member(int(account))).guild_permissions.administrator
    except (discord.NotFound, discord.Forbidden):
        return False
    except FAILURES as error:
        raise OSError(type(error).__name__) from None


async def alone(name: str, ms: int) -> bool:
    """What a process may take that has the bot for itself."""
    return True


async def guild_of(client: discord.Client, channel_id: int) -> discord.Guild | None:
    """The guild of a channel, also of one whose events another process gets; None for a direct channel."""
    channel = client.get_channel(channel_id)
    guild = getattr(channel if channel is not None else await client.fetch_channel(channel_id), "guild", None)
    if not isinstance(guild, discord.Guild):
        return None
    return guild if channel is not None else await client.fetch_guild(guild.id, with_counts=False)


class DiscordAdapter:
    """Discord: Adapter, Splits, Typing, Edits, Debounces, Files and Shared of bot/core/ports.py. One connection at a
    time, or one for each of its shards.

    `commands` become slash commands.
    """

    platform = PLATFORM
    resends = True
    sends = SENDS
    edit_interval_ms = 1_500
    placeholder = False
    debounce_ms = 600

    def __init__(self, settings: DiscordSettings, commands: tuple[CommandSpec, ...], clock: Clock, log: Log) -> None:
        self._token = settings.token.get_secret_value() if settings.token else ""
        self._address = Address(settings.api_url, settings.gateway_url, settings.proxy)
        self._sharded, self._shards = bool(settings.shards), shards_of(settings.shards)
        self._take_for: TakeFor = alone
        self.lease = f"{PLATFORM} {settings.shards}".rstrip()
        self._identified: dict[int, int] = {}
        self._ready: set[int] = set()
        self._commands = commands
        self._log = log
        self._interactions = Interactions(clock, self._token)
        self._clock = clock
        self._client: Client | None = None
        self._queues: ChannelQueues | None = None
        self._sink: EventSink | None = None
        self._posts: DiscordSender | None = None
        self._typing: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def share(self, take_for: TakeFor) -> None:
        """Sessions begin by turns with those of other processes, which take the same names."""
        self._take_for = take_for

    async def run(self, sink: EventSink) -> None:
        """Work until cancelled. PlatformError when Discord or the store cannot be used, OSError to try again."""
        self._sink = sink
        self._ready.clear()
        with library_logs_forwarded(self._log):
            client = Client(self._address, self._seen, self._log) if not self._sharded else self._sharded_client()
            history = History(client, self._log)
            self._queues = queues = ChannelQueues(sink, history, self._clock, self._log, self._shards)
            async with self._logged_in(client):
                await self._sync(client)
                await self._connected(client, queues)

    async def reach(self, sink: EventSink) -> None:
        """As `run`, but without a connection to the gateway: other processes have those."""
        with library_logs_forwarded(self._log):
            async with self._logged_in(Client(self._address, lambda event, given: None, self._log)):
                await asyncio.get_running_loop().create_future()

    async def check(self) -> tuple[CheckResult, ...]:
        """Ask the API who the bot is, and which intents it has."""
        return await check(self._token, self._address, self._shards, self._log)

    def silent_ms(self) -> int | None:
        """How long ago the gateway said something, if only that it heard a heartbeat, ms; None: not connected."""
        return self._client.silent_ms() if self._client is not None else None

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Send one message, the same row any number of times; SendError says what became of one not sent."""
        sent = await self._ready_posts().post(outgoing)
        return (sent,) if sent else ()

    async def show(self, outgoing: Outgoing) -> str:
        """Send `outgoing.text`, or put it into the message `preview_id`; that message's id. SendError as `send`."""
        return await self._ready_posts().show(replace(outgoing, buttons=()))

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take the message `preview_id` away, or the sign that `via` is being answered, if it is still there. SendError."""
        await self._ready_posts().withdraw(outgoing)

    def parts(self, text: str) -> tuple[str, ...]:
        """The text as messages of at most 1,900 characters, an emoji being two."""
        return split(text, PART_CHARS, utf16_units)

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide that an answer is being written; a channel that does not want it gets none."""
        if (over := self._typing.pop(external_chat_id, None)) is not None:
            over.set()
        if on and self._client is not None and external_chat_id.isdecimal():
            over = self._typing[external_chat_id] = asyncio.Event()
            self._start(self._type(self._client, int(external_chat_id), over))

    async def is_admin(self, external_chat_id: str, account: str) -> bool:
        """Whether that account looks after the server; OSError when Discord cannot be asked."""
        if self._client is None:
            raise OSError("Discord is not connected")
        return await is_admin(self._client, external_chat_id, account)

    async def fetch(self, attachment: Attachment, most: int) -> bytes:
        """Its content; SendError("never") when it is gone or larger than `most` bytes, OSError to try again."""
        if attachment.size > most:
            raise SendError("never", f"{attachment.size} bytes")
        address = self._address
        if not address.serves(attachment.handle):
            raise SendError("never", "not a file of Discord")
        timeout = aiohttp.ClientTimeout(total=FETCH_S)
        try:
            async with (
                aiohttp.ClientSession(
                    connector=address.connector(), timeout=timeout, auto_decompress=False, headers=UNCOMPRESSED
                ) as session,
                session.get(attachment.handle, proxy=address.http_proxy, allow_redirects=False) as response,
            ):
                if 300 <= response.status < 500 and response.status != 429:
                    raise SendError("never", f"{response.status}")
                response.raise_for_status()
                return await read_at_most(response.content.iter_any(), most)
        except (aiohttp.ClientError, ProxyError) as error:
            raise ConnectionError(type(error).__name__) from error

    def _sharded_client(self) -> Client:
        return ShardedClient(self._address, self._seen, self._log, self._shards, self._may_identify)

    async def _may_identify(self, bucket: int) -> None:
        """Return when the last session of that bucket began long enough ago, here or in another process."""
        while not await self._its_turn(bucket):
            await pause(self._clock, ASKED_AGAIN_MS)
        self._identified[bucket] = self._clock.now()

    async def _its_turn(self, bucket: int) -> bool:
        if self._clock.now() < self._identified.get(bucket, 0) + IDENTIFY_MS:
            return False
        with suppress(StoreError):  # who cannot ask waits, too
            return await self._take_for(f"discord identify {bucket}", IDENTIFY_MS)
        return False

    @asynccontextmanager
    async def _logged_in(self, client: Client) -> AsyncGenerator[None]:
        """While inside, Discord can be asked and written to."""
        try:
            await client.login(self._token)
            self._posts = DiscordSender(client, self._address, self._clock, self._interactions)
            self._client = client
            yield
        except Exception as error:
            raise connection_error(error, client) from error
        finally:
            await self._stop(client)

    async def _sync(self, client: Client) -> None:
        try:
            if await sync(client, self._commands):
                self._log.info("discord_commands_synced", commands=len(self._commands))
        except FAILURES as error:  # chatting works without them
            self._log.error("discord_commands_failed", error=error_text(error))

    async def _connected(self, client: Client, queues: ChannelQueues) -> None:
        """Be connected until that, or storing, is not possible any more."""
        connection = asyncio.create_task(client.connect(reconnect=True), name="discord connection")
        try:
            await asyncio.wait((connection, queues.failed), return_when=asyncio.FIRST_COMPLETED)
            if queues.failed.done():
                queues.failed.result()
            connection.result()
            raise ConnectionError("discord closed the connection")
        finally:
            while not connection.done():  # asyncio.wait_for of Python 3.11 may swallow a cancellation
                connection.cancel()
                await asyncio.wait((connection,), timeout=CANCEL_S)
            await asyncio.gather(connection, return_exceptions=True)

    async def _stop(self, client: Client) -> None:
        queues, self._client, self._posts, self._queues = self._queues, None, None, None
        for over in self._typing.values():
            over.set()
        self._typing.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if queues is not None:
            await queues.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await client.shut()
        except TimeoutError:
            self._log.info("discord_closed_hard")

    def _seen(self, event: str, args: tuple[object, ...]) -> None:
        """Every event of the library; one that cannot be understood is a line in the log."""
        client, queues = self._client, self._queues
        if client is None or queues is None:
            return
        try:
            match event, args:
                case "connect", (int() as shard,):
                    queues.connected(shard)
                    self._log.info("discord_connected", **({"shard": shard} if self._sharded else {}))
                case "ready", (int() as shard,):
                    self._ready.add(shard)
                    self._start(self._look(client, queues, shard))
                case "guild_available" | "guild_join", (discord.Guild() as guild,) if guild.shard_id in self._ready:
                    for there in readable(guild):
                        queues.look(there)
                case "guild_remove", (discord.Guild() as guild,):
                    self._start(self._removed(queues, guild))
                case "interaction", (discord.Interaction() as interaction,):
                    self._start(self._used(client, queues, interaction))
                case "raw_typing", (discord.RawTypingEvent() as typing,):
                    if self._sink is not None and (found := typing_of(typing, client)) is not None:
                        self._sink.typing(*found)
                case _:
                    for incoming in events_of(event, args, client):
                        queues.put(incoming)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one event, the next ones are good
            self._log.warning("discord_malformed", gateway_event=event, error=type(error).__name__)

    async def _look(self, client: Client, queues: ChannelQueues, shard: int) -> None:
        """See what a shard missed everywhere; Discord names no direct channels, so the sink is asked for those."""
        for there in (found for guild in client.guilds if guild.shard_id == shard for found in readable(guild)):
            queues.look(there)
        for there in await self._known(queues, shard):
            queues.look(there)

    async def _known(self, queues: ChannelQueues, shard: int) -> tuple[Place, ...]:
        """The stored places of a shard; none where the store refuses, which ends the connection."""
        try:
            return await queues.known(shard)
        except StoreError as error:
            queues.fail(error)
            return ()

    async def _removed(self, queues: ChannelQueues, guild: discord.Guild) -> None:
        """nuan was put out of a guild: nothing more is sent to any place of it."""
        for there in await self._known(queues, guild.shard_id):
            if there.parent == str(guild.id):
                queues.put(Incoming(there, None, "event", label="gone"))

    async def _used(self, client: Client, queues: ChannelQueues, interaction: discord.Interaction[Any]) -> None:
        """A slash command or button: stored, then told that it arrived, for which Discord waits three seconds only."""
        handle, bot_id = self._interactions.handle(interaction), client.user.id if client.user is not None else 0
        incoming = interaction_event(interaction, self._commands, bot_id, handle)
        told, deferred = self._interactions.begin(handle), False
        try:
            if incoming is not None:
                await queues.take(incoming)
            with self._address.interactions():
                await interaction.response.defer(ephemeral=True, thinking=incoming is not None)
            deferred = True
        except FAILURES as error:  # what was asked is done all the same; the answer goes where it was asked
            self._log.warning("discord_interaction_late", error=type(error).__name__)
        finally:  # also when the connection ends here: an answer may be waiting to know
            told.set_result(deferred)

    async def _type(self, client: Client, number: int, over: asyncio.Event) -> None:
        try:
            async with client.get_partial_messageable(number).typing():
                await over.wait()
        except FAILURES as error:
            self._log.info("discord_typing_failed", channel=number, error=type(error).__name__)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _ready_posts(self) -> DiscordSender:
        if self._posts is None:
            raise SendError("later", "not connected", NOT_CONNECTED_MS)
        return self._posts


def connection_error(error: Exception, client: discord.Client) -> Exception:
    """What ended a connection as PlatformError, with what to do, or OSError when another try may help."""
    match error:
        case discord.LoginFailure():
            return PlatformError(_REFUSED_KEY, final=True)
        case discord.PrivilegedIntentsRequired():
            return PlatformError(_INTENTS_REFUSED, final=True)
        case discord.ConnectionClosed() if error.code == _REFUSED_KEY_CODE:
            return PlatformError(_REFUSED_KEY, final=True)
        case discord.ConnectionClosed() if error.code in _INTENTS_CODES:
            return PlatformError(_INTENTS_REFUSED, final=True)
        case discord.ConnectionClosed() if error.code in _SHARDS_CODES:
            return PlatformError(_SHARDS_REFUSED, final=True)
        case discord.HTTPException() if fate_of(error).fate == "never":
            return PlatformError(f"discord refuses to be talked to: {error.status}, code {error.code}", final=True)
        case NuanError() | OSError():
            return error
        case ServerFault():
            return ConnectionError(f"discord answers {error}")
        case _:
            # Among others: a library that stumbles over its missing connection when the first try fails.
            return ConnectionError(f"discord: {type(error).__name__}")
