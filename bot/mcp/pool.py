"""The configured servers: each opened, read and closed by one task of its own, when it is needed; and what an owner
approved of them."""

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.config.mcp import OutsideServer
from bot.core.clock import MINUTE_MS
from bot.core.errors import OutsideError
from bot.core.ports import Clock, Log
from bot.core.tools import CallResult, Offer, ServerReview, ServerStanding, ServerState
from bot.pipeline.configuration import Configuration, Current
from bot.store.outside import StoredServer
from bot.store.store import Store
from bot.text.dates import local_day
from bot.tools.outside import CODE_CHARS, fingerprint, offers_from, offers_json

if TYPE_CHECKING:
    from bot.mcp.client import ServerConnection

START_S = 60.0
"""How long a server may take to start and to list what it offers; whoever waits for it waits no longer than for a call."""

FIRST_WAIT_MS, LONGEST_WAIT_MS = 1_000, 5 * MINUTE_MS
"""Between tries of a server that cannot be reached: the first wait, doubled each time, and the longest."""

REREAD_MS = 10 * MINUTE_MS
"""After that what a server offers is listed anew: not every one says that it changed."""

IDLE_MS = 15 * MINUTE_MS
"""A server that nobody calls is closed after that."""

MOST_TIMEOUTS = 2
"""Calls one after the other that got no answer in time, after which the server is started anew."""

CLOSE_S = 8.0
"""How long a server's task may take to close it."""


class Server:
    """One server. Its own task opens and closes the connection; others only call over it."""

    def __init__(self, name: str, rules: OutsideServer, clock: Clock, log: Log) -> None:
        self.name = name
        self.rules = rules
        self.problem = ""
        self._clock = clock
        self._log = log
        self._owners: set[asyncio.Task[None]] = set()
        self._ready: asyncio.Future[ServerConnection] | None = None
        self._leave = asyncio.Event()
        self._leave.set()
        self._offers: tuple[Offer, ...] = ()
        self._tries = 0
        self._next_try = 0
        self._timeouts = 0
        self._listed_at = 0
        self._used_at = 0

    async def offers(self, *, anew: bool = False) -> tuple[Offer, ...]:
        """What it offers now; the server is started when it does not run. OutsideError."""
        connection, leave = await self._open()
        if anew or connection.stale or self._clock.now() - self._listed_at > REREAD_MS:
            try:
                async with asyncio.timeout(self.rules.timeout_seconds):
                    self._offers = await connection.offers()
            except (TimeoutError, OutsideError) as error:
                leave.set()
                raise _told(error) from error
            self._listed_at = self._clock.now()
        return self._offers

    async def call(self, offer: Offer, arguments: dict[str, Any]) -> CallResult:
        """Call it; what only reads is called once more over a new connection when the first one broke. OutsideError.

        A server that was started anew, and offers that otherwise now, is not called.
        """
        for last in (not offer.reads, True):
            connection, leave = await self._open()
            if not any(each.name == offer.name and each.digest == offer.digest for each in self._offers):
                raise OutsideError("changed")
            try:
                result = await connection.call(offer, arguments, self.rules.timeout_seconds)
            except OutsideError as error:
                self._timeouts = self._timeouts + 1 if error.fault == "timeout" else 0
                if error.fault in ("lost", "flood") or self._timeouts >= MOST_TIMEOUTS:
                    leave.set()
                if error.fault != "lost" or last:
                    raise
            else:
                self._timeouts = 0
                return result
        raise OutsideError("lost")

    async def close(self) -> None:
        """Have its task close it, and wait for that; the next call opens it again."""
        self._leave.set()
        if self._owners:
            _, late = await asyncio.wait(self._owners, timeout=CLOSE_S)
            for owner in late:
                owner.cancel()

    async def _open(self) -> tuple["ServerConnection", asyncio.Event]:
        """The connection, opened by a task of its own where there is none, and what to set for it to be left."""
        self._used_at = self._clock.now()
        if self._leave.is_set():
            if self._clock.now() < self._next_try:
                raise OutsideError("away", self.problem)
            self._leave = asyncio.Event()
            self._ready = asyncio.get_running_loop().create_future()
            owner = asyncio.create_task(self._own(self._ready, self._leave), name=f"mcp-{self.name}")
            self._owners.add(owner)
            owner.add_done_callback(self._owners.discard)
        leave = self._leave
        assert self._ready is not None
        try:
            async with asyncio.timeout(self.rules.timeout_seconds):
                return await asyncio.shield(self._ready), leave
        except TimeoutError:
            raise OutsideError("timeout", "start") from None

    async def _own(self, ready: "asyncio.Future[ServerConnection]", leave: asyncio.Event) -> None:
        """Open, list, wait until it is to be left or the server is gone, close."""
        await asyncio.to_thread(import_module, "bot.mcp.client")  # a second in which other chats go on
        from bot.mcp.client import connected

        opened = False
        if leave.is_set():
            return self._failed(ready, OutsideError("absent", "closed"))
        start = asyncio.timeout(START_S)
        leaving = asyncio.ensure_future(leave.wait())
        # Whoever leaves a server that is still being opened does not wait for that.
        leaving.add_done_callback(lambda _: None if opened or not start.when() else start.reschedule(0))
        try:
            async with start, connected(self.name, self.rules) as connection:
                self._offers = await connection.offers()
                opened, self.problem, self._tries = True, "", 0
                start.reschedule(None)
                self._listed_at = self._clock.now()
                self._log.info("mcp_opened", server=self.name, offers=len(self._offers))
                if not ready.done():
                    ready.set_result(connection)
                await self._until_over(connection, leave)
        except asyncio.CancelledError:
            self._failed(ready, OutsideError("absent", "cancelled"))
            raise
        except BaseExceptionGroup as error:
            self._failed(ready, _told(error.exceptions[0]), quiet=opened)
        except Exception as error:  # noqa: BLE001 - whatever a library raises on a connection is that server's trouble alone
            self._failed(ready, _told(error), quiet=opened)
        finally:
            opened = True
            leaving.cancel()
            leave.set()
            self._log.info("mcp_closed", server=self.name)

    async def _until_over(self, connection: "ServerConnection", leave: asyncio.Event) -> None:
        """Return when the server is gone, or is to be left, or nobody called it for long."""

        def look() -> None:
            idle_at = self._used_at + IDLE_MS
            if self._clock.now() >= idle_at:
                leave.set()
            elif not leave.is_set():
                self._clock.at(idle_at, look)

        look()
        waits = [asyncio.ensure_future(each.wait()) for each in (connection.ended, leave)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    def _failed(self, ready: "asyncio.Future[ServerConnection]", error: OutsideError, *, quiet: bool = False) -> None:
        """It could not be opened: nobody tries again before the wait is over."""
        if quiet:
            return
        if error.fault == "lost":  # while it was being opened nothing was called
            error = OutsideError("absent", error.detail, error.said)
        wait = min(FIRST_WAIT_MS * 2**self._tries, LONGEST_WAIT_MS)
        self._tries, self._next_try = self._tries + 1, self._clock.now() + wait
        self.problem = f"{error.fault} {error.detail}".strip()
        self._log.warning("mcp_failed", server=self.name, fault=error.fault, detail=error.detail, text=error.said)
        if not ready.done():
            ready.set_exception(error)
            ready.exception()  # whoever asked may have given up


def _told(error: BaseException) -> OutsideError:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, OutsideError):
        return error
    if isinstance(error, TimeoutError):
        return OutsideError("timeout", "start")
    said = getattr(error, "strerror", None) or type(error).__name__
    return OutsideError("absent", str(said))


class ServerPool:
    """All configured servers, with what was approved of each."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log
        self._running: dict[str, Server] = {}

    @property
    def rules(self) -> Mapping[str, OutsideServer]:
        """What is configured now, by name."""
        return self._current.settings.mcp.servers

    @property
    def today(self) -> int:
        """The number of the day, by the installation's calendar."""
        return local_day(self._clock.now(), self._current.words.default_tz).toordinal()

    def server(self, name: str) -> Server:
        """The one of that name, which is configured; it runs only when it is called."""
        found = self._running.get(name)
        if found is None:
            found = self._running[name] = Server(name, self.rules[name], self._clock, self._log)
        return found

    async def follow(self, after: Configuration) -> None:
        """Close what is configured otherwise now, or no more."""
        new = after.settings.mcp.servers
        for name in [name for name, server in self._running.items() if new.get(name) != server.rules]:
            await self._running.pop(name).close()

    async def close(self) -> None:
        """Close all of them."""
        running, self._running = tuple(self._running.values()), {}
        await asyncio.gather(*(server.close() for server in running))

    async def usable(self, name: str) -> tuple[Offer, ...]:
        """What an owner approved of it, as long as nothing else is known to be offered."""
        stored = (await self._store.outside.servers()).get(name)
        return self.approved(stored) if stored is not None and not stored.waiting else ()

    def approved(self, stored: StoredServer) -> tuple[Offer, ...]:
        """What of the approved is still let through."""
        rules = self.rules[stored.name]
        return tuple(offer for offer in offers_from(stored.approved) if rules.offers(offer.name))

    async def look(self, name: str, *, anew: bool = False) -> StoredServer:
        """Ask the server what it offers, and keep that where it is not what was approved. OutsideError."""
        offers = await self.server(name).offers(anew=anew)
        stored = (await self._store.outside.servers()).get(name) or StoredServer(name, "", "")
        same = bool(stored.approved) and fingerprint(self.approved(stored)) == fingerprint(offers)
        waiting = "" if same else offers_json(offers)
        if waiting != stored.waiting:
            await self._store.outside.keep_waiting(name, waiting)
        return StoredServer(name, stored.approved, waiting)

    async def states(self) -> tuple[ServerState, ...]:
        """Where each of them stands."""
        stored, calls = await self._store.outside.servers(), await self._store.outside.calls(self.today)
        found: list[ServerState] = []
        for name, rules in self.rules.items():
            known = stored.get(name)
            standing: ServerStanding = "new"
            if known is not None and known.approved:
                standing = "changed" if known.waiting else "approved"
            offers = offers_from(known.waiting or known.approved) if known is not None else ()
            running = self._running.get(name)
            problem = running.problem if running is not None else ""
            found.append(ServerState(name, standing, len(offers), calls.get(name, 0), rules.day_calls, problem))
        return tuple(found)

    async def review(self, name: str) -> ServerReview | None:
        """What that server offers now, beside what was approved."""
        if name not in self.rules:
            return None
        try:
            stored = await self.look(name, anew=True)
        except OutsideError as error:
            return ServerReview(name, (), (), "", f"{error.fault} {error.detail}".strip())
        before = self.approved(stored)
        after = offers_from(stored.waiting) if stored.waiting else before
        return ServerReview(name, before, after, fingerprint(after)[:CODE_CHARS])

    async def approve(self, name: str, code: str) -> bool:
        """Take what waits as approved, if the code is of that."""
        stored = (await self._store.outside.servers()).get(name)
        if stored is None or not stored.waiting or name not in self.rules:
            return False
        if fingerprint(offers_from(stored.waiting))[:CODE_CHARS] != code.lower():
            return False
        done = await self._store.outside.approve(name, stored.waiting)
        self._log.info("mcp_approved", server=name, done=done)
        return done

    async def revoke(self, name: str) -> bool:
        """Approve nothing of it any more, and close it."""
        if (server := self._running.pop(name, None)) is not None:
            await server.close()
        return await self._store.outside.revoke(name)
