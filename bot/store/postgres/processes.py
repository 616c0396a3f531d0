"""The processes that work on a database of a server: registered, heard of, taken off; and which of them does what.

The process table says who may write: every transaction looks there, under its lock, for who it is of.
"""

import asyncio
import contextlib
import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import psycopg

from bot.core.errors import DatabaseHeldError, DatabaseSharedError, LeaseLostError
from bot.core.ports import Role
from bot.store.engine import CHAT_LEASE, ChatLease
from bot.store.postgres.connection import LOCK_ALL, NAME, TAKEN_OFF, PostgresTx, first_line, store_error
from bot.store.transactions import Tx

T = TypeVar("T")

RENEWALS = 4
"""Times that a lease is renewed while it lasts, so that a server may be away for a moment."""

LOOK_SECONDS = 1.0
"""How often one of several processes looks, as it renews its lease, who is there."""

LOCK = 0x6E75616E
"""The number of the lock of who registers, makes the tables or moves all of them: "nuan"."""

BUSY = "another nuan moves, restores, copies or opens this database just now: wait for it, or stop it"
"""Why nothing is done while somebody else has that lock."""

WAITED_MS = 2_000
"""How long that lock is waited for."""

TRANSACTIONS_MS = 8_000
"""How long the end of the transactions under way is waited for; none begins meanwhile."""

CLAIMED_AT_ONCE = 20
"""Chats that are claimed in one transaction."""

OF_PROCESSES = ("process", "chat_lease", "lease")
"""The tables of who works on a database, which are about nothing else."""

NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
"""The server's clock, ms: those of machines differ."""

REGISTER = (
    f"""INSERT INTO process (boot, name, roles, started_at, until) VALUES (?, ?, ?, {NOW}, {NOW} + ?) RETURNING id"""
)
RENEW = f"""UPDATE process SET until = {NOW} + ? WHERE id = ?
    RETURNING (SELECT json_agg(json_build_array(id, until < {NOW})) FROM process), (SELECT last_value FROM process_id_seq)"""
"""Which processes are there, of the moment before, and the last number that one was given: who came and went meanwhile
had one up to it."""

LATE = f"id <> ? AND until < {NOW}"
CUT_OFF = f"""SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN process ON application_name = '{NAME} ' || boot
    WHERE datname = current_database() AND {LATE}"""

CLAIM = """WITH free AS (SELECT id FROM chat WHERE id = ANY (?) AND NOT EXISTS (SELECT 1 FROM chat_lease WHERE chat_id = chat.id
        AND owner <> ?) ORDER BY id FOR NO KEY UPDATE)
    INSERT INTO chat_lease (chat_id, owner, term) SELECT id, ?, 1 FROM free ON CONFLICT (chat_id) DO UPDATE
    SET owner = excluded.owner, term = chat_lease.term + CASE WHEN chat_lease.owner IS NULL THEN 1 ELSE 0 END
    WHERE chat_lease.owner IS NULL OR chat_lease.owner = excluded.owner RETURNING chat_id, term"""
"""Under the lock of the chat's row, as its transactions are: none of who had it before is under way."""

GIVE_BACK = "UPDATE chat_lease SET owner = NULL WHERE owner = ? AND chat_id = ANY (?)"

TAKE = """INSERT INTO lease (name, owner, until) VALUES (?, ?, 0)
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner WHERE lease.owner = excluded.owner RETURNING 1"""
LEAVE = "DELETE FROM lease WHERE name = ? AND owner = ?"
TAKE_FOR = f"""INSERT INTO lease (name, owner, until) SELECT ?, NULL, {NOW} + ? FROM process WHERE id = ?
    ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE lease.until < {NOW} RETURNING 1"""


def holder_of(tx: Tx, tables: Collection[str]) -> str | None:
    """A process that is alive on the database with these tables, by machine and number; None: there is none."""
    holder: str | None = None
    if "process" in tables:
        holder = tx.value(f"SELECT name FROM process WHERE until >= {NOW} ORDER BY id LIMIT 1")
    elif "lease" in tables:  # before schema 55
        holder = tx.value(f"SELECT owner FROM lease WHERE until >= {NOW}")
    return holder


def held_by(holder: str) -> str:
    """That it is held, by whom, and what to do."""
    return f"another nuan is answering from this database ({holder}), or died a few seconds ago: stop it, or name another one"


SHARED = (
    "processes with --role share this database ({holder}, or died a few seconds ago): a nuan without --role, or a "
    "command that writes, starts when all of them are stopped"
)
ALONE = (
    "a command that writes, or a nuan without --role, has this database for itself ({holder}, or died a few seconds ago): "
    "one with --role starts when it is gone"
)


def hold_tables(tx: Tx) -> None:
    """Until this transaction ends nobody else registers, or changes tables; DatabaseHeldError where somebody does."""
    tx.execute(f"SET LOCAL lock_timeout = {WAITED_MS}")
    try:
        tx.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
    except psycopg.errors.LockNotAvailable:
        raise DatabaseHeldError(BUSY) from None
    tx.execute("SET LOCAL lock_timeout = 0")


def take_off(tx: PostgresTx, own: int = 0, which: str = "") -> None:
    """Take off every process but the `own` one that nobody heard of for as long as its lease lasts, of those that an SQL
    condition names; nothing of it is under way then.

    Its connections are ended first: one that hangs in a transaction holds what is waited for. Where another's
    transaction does not end, or another takes it off just now, nothing is done.
    """
    late = f"{LATE}{which}"
    if not tx.has(f"SELECT 1 FROM process WHERE {late}", own):
        return
    tx.execute(f"{CUT_OFF}{which}", (own,))
    tx.execute(tx.BEGIN)
    try:
        tx.execute(f"SET LOCAL lock_timeout = {TRANSACTIONS_MS}")
        if tx.has(f"SELECT 1 FROM process WHERE {late} FOR NO KEY UPDATE SKIP LOCKED", own):
            tx.execute(LOCK_ALL)
            tx.run(f"DELETE FROM process WHERE {late}", own)
        tx.execute("COMMIT")
    except psycopg.errors.LockNotAvailable:
        tx.execute("ROLLBACK")


class Registration:
    """That this process works on a database: at once or refused, renewed by a thread of its own until it is closed.

    Without roles it is alone there; with some, beside others that have some. Who was not heard of for longer than its
    lease lasts goes on unless another took it off meanwhile; then `lost` is called, and nothing can be stored any more.
    `renewed` is called each time that it was heard of, `gone` when another is no longer there, `idle` each time that a
    lease has lasted: all of them by `later`.
    """

    def __init__(
        self,
        url: str,
        boot: str,
        seconds: float,
        roles: Collection[Role],
        later: Callable[[Callable[[], object]], None],
    ) -> None:
        self.boot, self.shared = boot, bool(roles)
        self.lost: Callable[[], object] = lambda: None
        self.renewed: Callable[[], object] = lambda: None
        self.gone: Callable[[], object] = lambda: None
        self.idle: Callable[[], object] = lambda: None
        self._later = later
        self._roles = ",".join(sorted(roles))
        self.seconds, self._ms = seconds, int(seconds * 1000)
        self._ended = threading.Event()
        self._url = url
        self._taking = threading.Thread()
        self._tx = PostgresTx(url, boot)
        try:
            self.id = self._register()
        except BaseException:
            self._tx.close()
            raise
        self._thread = threading.Thread(target=self._keep, name="nuan-lease", daemon=True)
        self._thread.start()

    def _register(self) -> int:
        """Its number; DatabaseHeldError while a process is there that does not go with it, DatabaseSharedError where only
        one of the two has roles."""
        held = "" if not self.shared else " AND roles = ''"
        take_off(self._tx, 0, held)
        self._tx.execute(self._tx.BEGIN)
        hold_tables(self._tx)
        found = self._tx.one(f"SELECT name, roles FROM process WHERE id > 0{held} ORDER BY id LIMIT 1")
        if found is not None:
            holder, others = found
            if bool(others) == self.shared:
                raise DatabaseHeldError(held_by(holder))
            raise DatabaseSharedError((SHARED if others else ALONE).format(holder=holder))
        number: int = self._tx.value(
            REGISTER, self.boot, f"{socket.gethostname()}:{os.getpid()}", self._roles, self._ms
        )
        self._known = set(self._tx.ids("SELECT id FROM process"))
        self._tx.execute("COMMIT")
        return number

    def _keep(self) -> None:
        """Who was late, as the server was away, lets the others be late, too, for as long as a lease lasts."""
        pause = self.seconds / RENEWALS
        if self.shared:
            pause = min(pause, LOOK_SECONDS)
        in_time, since_idle, last = 0.0, 0.0, self.id
        while not self._ended.wait(pause):
            in_time, since_idle = in_time + pause, since_idle + pause
            try:
                self._tx.ready()
                told = self._tx.one(RENEW, self._ms, self.id)
                if told is None:
                    self._later(self.lost)
                    return
                late: dict[int, bool] = dict(json.loads(told[0]))
                if late[self.id]:
                    in_time = 0
                self._later(self.renewed)
                if self.shared and any(late.values()) and in_time >= self.seconds and not self._taking.is_alive():
                    self._taking = threading.Thread(target=self._take_off, name="nuan-take-off", daemon=True)
                    self._taking.start()
            except psycopg.Error:
                in_time = 0
                continue  # the server is away: nobody else can take this one off meanwhile
            if not self._known.union(range(last + 1, told[1] + 1)) <= late.keys():
                self._later(self.gone)
            self._known, last = {*late}, told[1]
            if since_idle >= self.seconds:
                since_idle = 0
                self._later(self.idle)

    def _take_off(self) -> None:
        """Beside the renewing: who waits for what others have under way must not be late meanwhile."""
        with contextlib.suppress(psycopg.Error), contextlib.closing(PostgresTx(self._url, self.boot)) as tx:
            take_off(tx, self.id)

    def close(self) -> None:
        """Another may have at once what this one had."""
        self._ended.set()
        self._thread.join()
        if self._taking.is_alive():
            self._taking.join()
        try:
            self._tx.ready()
            self._tx.run("DELETE FROM process WHERE id = ?", self.id)
        except psycopg.Error:
            pass  # it ends by itself
        finally:
            self._tx.close()


@dataclass(slots=True)
class _Held:
    """A chat that this process works in: how often just now, and whether it did since the last look for idle ones."""

    lease: ChatLease
    working: int = 0
    used: bool = True


class SharedLeases:
    """As `ChatLeases`, of one of several processes; what it has stands here, so that only what is new is asked for.

    All statements run on one thread, one after the other.
    """

    shared = True

    def __init__(self, url: str, registration: Registration) -> None:
        self._tx = PostgresTx(url, registration.boot)
        self._owner, self._registration = registration.id, registration
        self._thread = ThreadPoolExecutor(1, "nuan-chats")
        self._held: dict[int, _Held] = {}
        self._ending = False
        self._names: set[str] = set()
        self._claimed: list[Callable[[int], None]] = []
        self._gone: list[Callable[[], None]] = []
        registration.idle, registration.gone = self._give_back, self._tell_gone

    @contextlib.asynccontextmanager
    async def working(self, chat_id: int) -> AsyncIterator[bool]:
        """As `ChatLeases.working`."""
        if chat_id not in self._held:
            await self.claim((chat_id,))
        held = self._held.get(chat_id)
        if held is None:
            yield False
            return
        before, done = CHAT_LEASE.set(held.lease), False
        held.working += 1
        try:
            yield True
            done = True
        finally:
            held.working -= 1
            held.used = True
            CHAT_LEASE.reset(before)
            if self._ending and done and not held.working and chat_id in self._held:
                self._give([chat_id])

    async def claim(self, chat_ids: Iterable[int]) -> frozenset[int]:
        """As `ChatLeases.claim`."""
        wanted = frozenset(chat_ids)
        missing = iter(() if self._ending else sorted(wanted - self._held.keys()))
        while some := list(islice(missing, CLAIMED_AT_ONCE)):
            for lease in await self._run(partial(self._ask, some)):
                if (held := self._held.get(lease.chat_id)) is None or held.lease != lease:
                    self._held[lease.chat_id] = _Held(lease)
                    for call in self._claimed:
                        call(lease.chat_id)
        return wanted & self._held.keys()

    def _ask(self, chats: list[int], tx: Tx) -> tuple[ChatLease, ...]:
        return tx.all(CLAIM, chats, self._owner, self._owner, to=ChatLease)

    def hand_over(self) -> None:
        """As `ChatLeases.hand_over`. What was cut off another may only take up once this process is no more."""
        self._ending = True
        self._give([chat for chat, held in self._held.items() if not held.working])

    def forget(self, lease: ChatLease) -> None:
        """Another process has that chat now."""
        if (held := self._held.get(lease.chat_id)) is not None and held.lease == lease:
            del self._held[lease.chat_id]

    def on_claimed(self, call: Callable[[int], None]) -> None:
        """As `ChatLeases.on_claimed`."""
        self._claimed.append(call)

    async def take(self, name: str) -> bool:
        """As `ChatLeases.take`."""
        if name not in self._names and await self._run(lambda tx: tx.has(TAKE, name, self._owner)):
            self._names.add(name)
        return name in self._names

    async def leave(self, name: str) -> None:
        """As `ChatLeases.leave`."""
        await self._run(lambda tx: tx.run(LEAVE, name, self._owner))
        self._names.discard(name)

    async def take_for(self, name: str, ms: int) -> bool:
        """As `ChatLeases.take_for`."""
        return await self._run(lambda tx: tx.has(TAKE_FOR, name, ms, self._owner))

    def on_gone(self, call: Callable[[], None]) -> None:
        """As `ChatLeases.on_gone`."""
        self._gone.append(call)

    def close(self) -> None:
        """Finish what is asked for; it blocks meanwhile."""
        self._thread.shutdown()
        self._tx.close()

    def _tell_gone(self) -> None:
        for call in self._gone:
            call()

    def _give_back(self) -> None:
        """Those go that nobody worked in since the last time. Who claims one anew does it after that."""
        idle = [chat for chat, held in self._held.items() if not held.working and not held.used]
        for held in self._held.values():
            held.used = bool(held.working)
        self._give(idle)

    def _give(self, chats: list[int]) -> None:
        for chat in chats:
            del self._held[chat]
        if chats:
            self._thread.submit(self._look, lambda tx: tx.run(GIVE_BACK, self._owner, chats))

    async def _run(self, work: Callable[[Tx], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, work)
        except psycopg.errors.ForeignKeyViolation:
            self._registration.lost()
            raise LeaseLostError(TAKEN_OFF) from None
        except psycopg.Error as error:
            raise store_error(f"the database cannot be asked ({first_line(error)})", error) from error

    def _look(self, work: Callable[[Tx], T]) -> T:
        self._tx.ready()
        try:
            return work(self._tx)
        except psycopg.OperationalError as error:
            if not self._tx.cut_off(error):
                raise
            self._tx.ready()  # the server was started anew since; each of these statements may be repeated
            return work(self._tx)
