"""What all engines share: a writer thread that groups commits, the database it writes, and repositories over it."""

import asyncio
import contextlib
import functools
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from contextvars import ContextVar
from importlib import import_module
from types import ModuleType
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

from bot.core.errors import ChatLeaseLostError, StoreError
from bot.core.files import install_command
from bot.core.ports import ChatLeases
from bot.store.files import DataFiles
from bot.store.transactions import AccessLists, OtherChatError, Row, Tx

T = TypeVar("T")
P = ParamSpec("P")

Transaction = Callable[[Tx], Any]


class Connection(Tx):
    """A connection that the writer runs transactions on, of any engine."""

    BEGIN: str
    """The statement that begins a transaction which will write."""

    failures: type[Exception]
    """What its driver raises."""

    doubtful = False
    """Whether the last commit may be stored though it failed: it must not be tried again."""

    def ready(self) -> None:
        """Before a transaction begins: who has lost its server looks for it again."""

    def begin(self, chat: int | None = None, leases: "Collection[ChatLease]" = ()) -> "Collection[ChatLease]":
        """Begin a transaction of that chat, None: of all; which of these leases another process has now.

        Those of one chat follow each other, those of all run beside no other. StoreError when this nuan may not write
        any more, OtherChatError when there is no such chat.
        """
        self.execute(self.BEGIN)
        return ()

    def commit(self) -> None:
        """End a transaction; return when it is stored for good."""
        self.execute("COMMIT")

    def may_succeed(self, error: Exception) -> bool:
        """Whether the same transaction may be stored when it is tried again."""
        return False

    def undoes_all(self, error: Exception) -> bool:
        """Whether nothing of the whole commit can be trusted after this failure of a statement."""
        raise NotImplementedError

    def refusal(self, error: Exception) -> StoreError:
        """What the callers of a commit that failed are told."""
        raise NotImplementedError

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Store many new rows, inside a transaction; a row may refer to a later one of them."""
        raise NotImplementedError

    def close(self) -> None:
        """Free it."""
        raise NotImplementedError


class PooledUrl(str):
    """The address of a server that is reached through a pooler in transaction mode: nothing lasts there for longer than a
    transaction, neither what is set or prepared nor a lock."""

    __slots__ = ()


WRITERS, LEASE_SECONDS = 4, 15.0
"""Connections to a server that write for one chat each at a time, and how long a nuan that died there is waited for."""

COMMIT_BATCH = 64
"""Most transactions in one commit: bounds how long the first of them waits."""

MOST_TRIES = 5
"""How often a transaction is tried that stood in the way of another."""

JobOrder = Literal["next", "beside", "single", "alone"]
"""When the writer does it: with what waits, after that, so that many of its kind hold nobody up, in a commit of its own,
or outside any transaction."""


class ChatLease(NamedTuple):
    """That a process works in a chat: each process that does has a higher term."""

    chat_id: int
    term: int


CHAT_LEASE: ContextVar[ChatLease | None] = ContextVar("chat_lease", default=None)
"""That under which is written, where several processes share the chats."""


class _Job:
    __slots__ = ("chat", "error", "future", "lease", "order", "result", "transaction")

    def __init__(
        self, transaction: Transaction, future: "asyncio.Future[Any]", order: JobOrder, chat: int | None = None
    ) -> None:
        self.transaction = transaction
        self.future = future
        self.order = order
        self.chat = chat
        self.lease = CHAT_LEASE.get()
        self.result: Any = None
        self.error: BaseException | None = None


def chat_lease_lost(lease: ChatLease | None) -> ChatLeaseLostError:
    """What a transaction is refused with that was written under it."""
    chat = None if lease is None else lease.chat_id
    return ChatLeaseLostError(f"another process works in chat {chat} now: nothing of this was stored")


class LastWrite:
    """How the last write went, of all writers of a database: why it was refused, "" when it was taken."""

    refusing = ""


class Writer:
    """Runs transactions one after the other on a connection."""

    def __init__(self, connection: Connection, last: LastWrite | None = None) -> None:
        self.tx = connection
        self.last = last or LastWrite()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._aside: deque[_Job] = deque()
        self._thread = threading.Thread(target=self._work, name="nuan-writer", daemon=True)
        self._waiting = 0
        self._closed = False
        self._gate = threading.Lock()
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many transactions are asked for and not yet told their result."""
        return self._waiting

    async def run(self, transaction: Callable[[Tx], T], *, beside: bool = False, chat: int | None = None) -> T:
        """Run `transaction` as one; return after the commit. One that runs `beside` lets go first what waits.

        A cancelled caller does not undo it: the transaction runs whole or not at all. Raises what the transaction
        raised (its savepoint is rolled back) or StoreError when the disk or the database refuses. One of a `chat` has a
        commit of its own: in one with others it would hold what these do not need.
        """
        order: JobOrder = "beside" if beside else "next" if chat is None else "single"
        result: T = await self._do(transaction, order, chat)
        return result

    async def alone(self, work: Callable[[Tx], T]) -> T:
        """Run `work` outside any transaction, after what waits and before any other."""
        result: T = await self._do(work, "alone")
        return result

    async def _do(self, transaction: Transaction, order: JobOrder, chat: int | None = None) -> Any:
        job = _Job(transaction, asyncio.get_running_loop().create_future(), order, chat)
        with self._gate:  # a transaction that came after the last one would wait for ever
            if self._closed:
                raise StoreError("the database is closed")
            self._jobs.put(job)
        self._waiting += 1
        return await job.future

    def close(self) -> None:
        """Finish what waits, then end the thread and the connection."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._jobs.put(None)
        self._thread.join()
        self.tx.close()

    def _work(self) -> None:
        last = False
        while not last or self._aside:
            batch, rest, last = ([], None, True) if last else self._batch()
            self._commit(batch)
            if rest is not None:
                (self._alone if rest.order == "alone" else self._single)(rest)
                batch.append(rest)
            self._answer(batch)
            if self._aside:
                beside = [self._aside.popleft()]
                self._commit(beside)
                self._answer(beside)

    def _batch(self) -> tuple[list[_Job], _Job | None, bool]:
        """What waits now: transactions for one commit, a job that runs by itself after them, and whether it was the
        last. What runs beside is set aside.
        """
        batch: list[_Job] = []
        while len(batch) < COMMIT_BATCH:
            try:
                job = self._jobs.get(block=not (batch or self._aside))
            except queue.Empty:
                break
            if job is None:
                return batch, None, True
            if job.order in ("alone", "single"):
                return batch, job, False
            (self._aside if job.order == "beside" else batch).append(job)
        return batch, None, False

    def _answer(self, jobs: list[_Job]) -> None:
        for job in jobs:
            with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to be told
                job.future.get_loop().call_soon_threadsafe(self._tell, job)

    def _commit(self, batch: list[_Job], tries: int = 1) -> None:
        """One transaction for all; when it is refused, one for each, so that nobody fails for another's transaction."""
        if not batch:
            return
        try:
            self.tx.ready()
        except self.tx.failures as error:
            self.last.refusing = str(error)
            for job in batch:
                job.error = self.tx.refusal(error)
            return
        try:
            lost = self.tx.begin(leases={job.lease for job in batch if job.lease is not None})
            for job in batch:
                if job.lease in lost:
                    job.error = chat_lease_lost(job.lease)
                else:
                    self._one(job)
            self.tx.commit()
            self.last.refusing = ""
        except StoreError as error:  # what a transaction itself raised was taken by `_one`
            self._undo()
            for job in batch:
                job.error = error
        except self.tx.failures as error:
            self._undo()
            for job in batch:
                job.result, job.error = None, None
            if self.tx.doubtful:
                self.last.refusing = str(error)
                for job in batch:
                    job.error = self.tx.refusal(error)
                return
            if len(batch) == 1 and tries < MOST_TRIES and self.tx.may_succeed(error):
                self._commit(batch, tries + 1)
                return
            if len(batch) == 1:
                self.last.refusing = str(error)
                batch[0].error = self.tx.refusal(error)
                return
            for job in batch:
                self._commit([job])
        except Exception as error:  # noqa: BLE001 - a defect must not end the thread, with which all would wait for ever
            self._undo()
            for job in batch:
                job.error = error

    def _undo(self) -> None:
        with contextlib.suppress(self.tx.failures):  # the failure itself may have ended the transaction
            self.tx.execute("ROLLBACK")

    def _single(self, job: _Job) -> None:
        """A transaction of a chat; one that stood in the way of another is tried again."""
        for tries in range(1, MOST_TRIES + 1):
            try:
                self.tx.ready()
                if self.tx.begin(job.chat, () if job.lease is None else (job.lease,)):
                    raise chat_lease_lost(job.lease)
                job.result = job.transaction(self.tx)
                self.tx.commit()
                self.last.refusing = ""
                return
            except OtherChatError:
                self._undo()
                self._commit([job])
                return
            except self.tx.failures as error:
                self._undo()
                if tries < MOST_TRIES and not self.tx.doubtful and self.tx.may_succeed(error):
                    continue
                job.error = self.tx.refusal(error)
                if self.tx.undoes_all(error):
                    self.last.refusing = str(error)
                return
            except Exception as error:  # noqa: BLE001 - as in a transaction of all
                self._undo()
                job.error = error
                return

    def _alone(self, job: _Job) -> None:
        try:
            job.result = job.transaction(self.tx)
        except self.tx.failures as error:
            job.error = StoreError(f"the database refused ({error})")
        except Exception as error:  # noqa: BLE001 - as in a transaction: it belongs to the caller
            job.error = error

    def _one(self, job: _Job) -> None:
        self.tx.execute("SAVEPOINT one")
        try:
            job.result = job.transaction(self.tx)
        except self.tx.failures as error:
            if self.tx.undoes_all(error):
                raise
            job.error = self.tx.refusal(error)
        except Exception as error:  # noqa: BLE001 - what a transaction raises belongs to its caller
            job.error = error
        if job.error is not None:
            self.tx.execute("ROLLBACK TO one")
        self.tx.execute("RELEASE one")

    def _tell(self, job: _Job) -> None:
        self._waiting -= 1
        if job.future.cancelled():
            return
        if job.error is not None:
            job.future.set_exception(job.error)
            job.future.exception()  # seen, also when a cancelled caller no longer looks
        else:
            job.future.set_result(job.result)


IS_LEFT = "boot <> ? AND boot NOT IN (SELECT boot FROM process)"
"""What a process left that is gone, as SQL of the boot of this one; a file's is alone, and registers nowhere."""

WIPE_KEY, WIPE_MS = "wipe_at", 30_000
"""When, ms, the log of the database is emptied of what was taken away: so long after the first of it, so that
nothing of it is left a minute later though somebody was reading."""


def wipe_soon(tx: Tx, at: int) -> None:
    """A minute after `at`, ms, nothing of what is taken away now is left in the log of the database."""
    sql = (
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE CAST(excluded.value AS INTEGER) < CAST(meta.value AS INTEGER)"
    )
    tx.run(sql, WIPE_KEY, str(at + WIPE_MS))


class OwnLeases:
    """Those of a process that is alone on its database: it works in every chat, and nothing is asked or stored for that."""

    shared = False

    @contextlib.asynccontextmanager
    async def working(self, chat_id: int) -> AsyncIterator[bool]:
        """As `ChatLeases.working`: always True."""
        yield True

    async def claim(self, chat_ids: Iterable[int]) -> frozenset[int]:
        """As `ChatLeases.claim`: all of them."""
        return frozenset(chat_ids)

    def hand_over(self) -> None:
        """As `ChatLeases.hand_over`: nobody else would claim them."""

    def on_claimed(self, call: Callable[[int], None]) -> None:
        """As `ChatLeases.on_claimed`: never, as nobody else had it before."""

    async def take(self, name: str) -> bool:
        """As `ChatLeases.take`: always True."""
        return True

    async def leave(self, name: str) -> None:
        """As `ChatLeases.leave`: nobody else would take it."""

    async def take_for(self, name: str, ms: int) -> bool:
        """As `ChatLeases.take_for`: always True, as one process paces itself."""
        return True

    def on_gone(self, call: Callable[[], None]) -> None:
        """As `ChatLeases.on_gone`: never, as there is no other."""


class Database:
    """What the repositories ask of an engine: reading and writing transactions."""

    leases: ChatLeases = OwnLeases()
    """Which of several processes does what."""

    def __init__(self, writer: Writer | None) -> None:
        self._writer = writer
        self.lost = asyncio.Event()
        """Set when another nuan took over and nothing can be stored here any more."""
        self.unheard = asyncio.Event()
        """Set while nobody has heard of this process for as long as its lease lasts: another may take over now."""

    def share(self, files: DataFiles, lists: AccessLists | None = None, boot: str = "") -> None:
        """What transactions find beside the rows, from now on."""
        self.files = files
        for tx in self._connections():
            tx.files, tx.lists, tx.boot = files, lists or AccessLists(), boot

    def _connections(self) -> tuple[Tx, ...]:
        raise NotImplementedError

    @property
    def refusing(self) -> str:
        """Why the last write was refused, "" when it was taken."""
        return self._writer.last.refusing if self._writer is not None else ""

    @property
    def unwritten(self) -> int:
        """How many transactions wait for their commit."""
        return self._writer.waiting if self._writer is not None else 0

    async def write(self, transaction: Callable[[Tx], T], *, beside: bool = False, chat: int | None = None) -> T:
        """Run one transaction and return after its commit; StoreError when it cannot be stored.

        What may be long and come by the hundred runs `beside`: after what waits already, one at a time. Where an engine
        writes for several chats at once, one that names its `chat` runs beside those of others: it writes what belongs
        to that chat, and what people or all chats share only as `Tx` says.
        """
        if self._writer is None:
            raise StoreError("the database is open for reading only")
        return await self._writer.run(transaction, beside=beside)

    async def read(self, work: Callable[[Tx], T]) -> T:
        """What a function reads in one transaction, off the event loop; StoreError when it cannot be read."""
        raise NotImplementedError

    async def truncate(self) -> None:
        """Nothing deleted is left in what the engine keeps beside the rows; StoreError when that is still due."""
        raise NotImplementedError

    async def close(self) -> None:
        """Finish the writes that wait and free the connections."""
        raise NotImplementedError


def postgres_part(name: str) -> ModuleType:
    """A module of the engine of PostgreSQL; StoreError when its driver is not installed."""
    try:
        return import_module(f"bot.store.postgres.{name}")
    except ImportError as error:
        raise StoreError(f"store.url needs the extra postgres: {install_command('postgres')}") from error


class Repository:
    """What the store knows of one noun: the transactions of a subclass read and write through this database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _files(self) -> DataFiles:
        """The files of the same data folder, for what is done outside of transactions."""
        return self._database.files


R = TypeVar("R", bound=Repository)


def reads(method: Callable[Concatenate[R, Tx, P], T]) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """A method of a repository whose body is a reading transaction, all of one moment; StoreError as `Database.read`."""

    @functools.wraps(method)
    async def call(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda tx: method(self, tx, *args, **kwargs))

    return call


def writes(method: Callable[Concatenate[R, Tx, P], T]) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """A method of a repository whose body is one transaction; it returns after the commit, StoreError as `Database.write`."""

    @functools.wraps(method)
    async def call(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: method(self, tx, *args, **kwargs))

    return call


def writes_chat(method: Callable[Concatenate[R, Tx, P], T]) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """As `writes`, of the chat that its first argument is, or is of."""

    @functools.wraps(method)
    async def call(self: R, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: method(self, tx, *args, **kwargs), chat=_chat_of(args[0]))

    return call


def _chat_of(first: Any) -> int:
    """A chat by its number, or the one that something is of."""
    number: int = first if isinstance(first, int) else first.chat_id
    return number


def reading(function: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that runs a function, which other transactions call as well, as a reading transaction of its own."""

    @functools.wraps(function)
    async def call(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda tx: function(tx, *args, **kwargs))

    return call


def writing(function: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """A method that runs a function, which other transactions call as well, as one transaction of its own."""

    @functools.wraps(function)
    async def call(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: function(tx, *args, **kwargs))

    return call


def writing_chat(function: Callable[Concatenate[Tx, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """As `writing`, of the chat that its first argument is, or is of."""

    @functools.wraps(function)
    async def call(self: Repository, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.write(lambda tx: function(tx, *args, **kwargs), chat=_chat_of(args[0]))

    return call
