"""Connections to a PostgreSQL server, and what only it can tell of a database."""

import contextlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import psycopg
from psycopg import pq
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.types.numeric import FloatDumper, Int8Dumper
from psycopg.types.string import StrDumper, TextLoader

from bot.core.errors import LeaseLostError, StatementError, StoreError
from bot.store.engine import ChatLease, Connection, PooledUrl, Transaction
from bot.store.postgres.dialect import translated
from bot.store.transactions import OtherChatError, Row

CONNECT_SECONDS = 5
"""How long a server may take to answer; who waits for it is waited for."""

ASKED_AGAIN_SECONDS, ASKED_TIMES = 0.2, 50
"""Between two questions what became of a transaction, and how often a server that is away is asked: a stop waits so long."""

KEEPALIVE = b"SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""Half a minute after a line was cut the server takes the connection for dead, and its locks are free."""

LINE: dict[str, Any] = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""The same on this side: a line that was cut is known as such after half a minute."""

PREPARED = 1_000
"""Statements that the server keeps planned for each connection."""

PREPARE_AFTER = 3
"""Times that a statement is planned before its plan is kept."""

FLAWS = (psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.NotSupportedError)
"""What is wrong with one statement, and says nothing of the server."""

RETRIED = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.UniqueViolation)
"""Failures after which the same transaction may well succeed: it stood in the way of another, or both made a new row."""

NAME = "nuan"
"""What the server calls its connections, before the boot of their process."""

TAKEN_OFF = "another nuan took over, as this one was not heard of for too long: nothing is stored here any more"

LOCK_ALL = "LOCK TABLE chat IN EXCLUSIVE MODE"
OWNER = "SELECT id FROM process WHERE id = {owner:d}"
BEGIN_ALL = f"{{begin}}; {LOCK_ALL}; {OWNER}"
BEGIN_CHAT = f"{{begin}}; SELECT ({OWNER}) FROM chat WHERE id = {{chat:d}} FOR NO KEY UPDATE"
LEASES = "; SELECT chat_id, term FROM chat_lease WHERE owner = {owner:d} AND chat_id IN ({chats})"
"""How transactions begin. Of one chat they wait for each other by its row; one of all waits for every other and lets none
begin, as a row's lock is one of its table, too. Rows that only refer to the chat can be stored meanwhile. Whether the
process is still there is read with the lock: who takes it off does it in a transaction of all. Who works in a chat is
read after it: another claims the chat under the lock of its row."""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""All of one moment."""

KEPT = "nuan_kept"
"""The schema of what no backup of nuan holds, so it is made where it is missing: what must be known after any restore, notes,
and what waits to be sent or fetched."""

LAST_LINE = f"SELECT max(id) FROM {KEPT}.line"
"""A number that rises with each tombstone and each erasure that any process writes down."""

FOLLOWED = f"; {LAST_LINE}"
"""Read after the lock, by a statement of its own, which sees what was written while the lock was waited for."""

MAKE_RUN = f"CREATE UNLOGGED TABLE IF NOT EXISTS {KEPT}.server_run (token uuid NOT NULL)"
"""What a server loses at every crash, and a standby never has. After either it gives the numbers of transactions that did
not reach its disk to others; as long as a token is there, that has not happened."""

FIND_RUN = f"SELECT token FROM {KEPT}.server_run LIMIT 1"
BEGIN_RUN = f"INSERT INTO {KEPT}.server_run (token) VALUES (gen_random_uuid()) RETURNING token"
BECAME_OF = f"SELECT pg_xact_status(?::xid8), EXISTS (SELECT 1 FROM {KEPT}.server_run WHERE token = ?)"

HOLD_PERSON = "SELECT 1 FROM person WHERE id = ? FOR NO KEY UPDATE"
HOLD_COUNTS = "SELECT 1 FROM schema_version FOR UPDATE"
"""What is there once, and is not written otherwise while nuan runs."""


class _NumberLoader(Loader):
    """A sum, which PostgreSQL has as an exact number: an int where it is whole."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else float(text)


class _FlagLoader(Loader):
    """Whether something is so, as SQLite says it."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _FlagDumper(Dumper):
    """Flags are numbers in the tables and so or not so in conditions: the server knows which is meant."""

    def dump(self, obj: bool) -> Buffer | None:
        return b"1" if obj else b"0"


def _teach(context: AdaptContext) -> None:
    """What goes to the server and comes back has the types that SQLite gives it."""
    adapters = context.adapters
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _FlagDumper)
    adapters.register_dumper(float, FloatDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_loader("numeric", _NumberLoader)
    adapters.register_loader("bool", _FlagLoader)
    adapters.register_loader("json", TextLoader)


def store_error(text: str, error: Exception) -> StoreError:
    """The error with that text: StatementError where the server is well."""
    return StatementError(text) if isinstance(error, FLAWS) else StoreError(text)


def first_line(error: Exception) -> str:
    """What an error of the server says, without what it quotes."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class PostgresTx(Connection):
    """A connection to a database of a server."""

    BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"
    failures = psycopg.Error

    def __init__(self, url: str, boot: str = "") -> None:
        self.url = url
        self.name = f"{NAME} {boot}".strip()
        self.owner = 0
        """The number of the process that writes by it; 0: of none that must be there."""
        self.follows = False
        """Whether each transaction first looks what other processes forgot meanwhile."""
        self._run: UUID | None = None
        """A token of the server that was there when this connection began; who does not write needs none."""
        self._held: set[int | None] = set()
        self._last: list[Transaction] = []
        self._connect()

    def _connect(self) -> None:
        self._server = psycopg.connect(
            self.url,
            autocommit=True,
            prepare_threshold=None if isinstance(self.url, PooledUrl) else PREPARE_AFTER,
            cursor_factory=psycopg.RawCursor,
            connect_timeout=CONNECT_SECONDS,
            application_name=self.name,
            **LINE,
        )
        with self._closed_on_failure():
            self._server.prepared_max = PREPARED
            if not isinstance(self.url, PooledUrl):  # what is set there, the next one would have
                self._server.execute(KEEPALIVE)
            _teach(self._server)

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        """What a new connection begins with: where that fails, nothing of it stays open."""
        try:
            yield
        except BaseException:
            self._server.close()
            raise

    @property
    def lost(self) -> bool:
        """Whether the server has gone away; the next statement would fail."""
        return self._server.closed or self._server.broken

    def cut_off(self, error: Exception) -> bool:
        """Whether the server ended the connection with this error, or has gone away: `ready` makes it anew."""
        if isinstance(error, psycopg.errors.AdminShutdown):
            self._server.close()  # that its line is closed may not have been heard yet
        return self.lost

    @property
    def idle(self) -> bool:
        """Whether no transaction is open."""
        return self._server.info.transaction_status == pq.TransactionStatus.IDLE

    def ready(self) -> None:
        """As `Connection.ready`: a connection that was lost is made anew."""
        self.doubtful = False
        if self.lost:
            self._reconnect()

    def _reconnect(self) -> None:
        self._server.close()
        self._run = None
        self._connect()

    def begin(self, chat: int | None = None, leases: Collection[ChatLease] = ()) -> Collection[ChatLease]:
        """As `Connection.begin`."""
        if self.owner and self._run is None:
            self._run = self.value(FIND_RUN) or self.value(BEGIN_RUN)
        self.chat = chat
        self._held.clear()
        self._last.clear()
        sql = BEGIN_ALL if chat is None else BEGIN_CHAT
        if leases:
            sql += LEASES
        if self.follows:
            sql += FOLLOWED
        chats = ", ".join(str(lease.chat_id) for lease in leases)
        sql = sql.format(begin=self.BEGIN, owner=self.owner, chat=chat, chats=chats)
        found = self._server.execute(sql.encode(), prepare=False)  # several statements cannot be prepared
        while not found.description:
            found.nextset()
        row = found.fetchone()
        if row is None and chat is not None:
            raise OtherChatError
        if self.owner and row != (self.owner,):
            raise LeaseLostError(TAKEN_OFF)
        lost = {*leases} - {ChatLease(*each) for each in found.fetchall()} if leases and found.nextset() else set()
        if self.follows and found.nextset():
            self._follow(found)
        return lost

    def begin_reading(self) -> None:
        """Begin a transaction that reads, all of one moment."""
        found = self._server.execute(f"{BEGIN_READING}{FOLLOWED if self.follows else ''}".encode(), prepare=False)
        if self.follows and found.nextset():
            self._follow(found)

    def _follow(self, found: psycopg.Cursor[Any]) -> None:
        """Nothing is written or told that another process had forgotten by now."""
        row = found.fetchone()
        self.files.tombstones.follow((row and row[0]) or 0)

    def hold_person(self, person_id: int | None) -> None:
        """As `Tx.hold_person`."""
        if self.chat is not None and person_id not in self._held:
            self._held.add(person_id)
            if person_id is None:
                self.execute(HOLD_COUNTS)
            else:
                self.execute(HOLD_PERSON, (person_id,))

    def hold_counts(self) -> None:
        """As `Tx.hold_counts`."""
        self.hold_person(None)

    def at_end(self, work: Transaction) -> None:
        """As `Tx.at_end`."""
        if self.chat is None:
            work(self)
        else:
            self._last.append(work)

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """As `Tx.execute`."""
        statement, names = translated(sql)
        values = [parameters[name] for name in names] if isinstance(parameters, Mapping) else parameters
        return self._server.execute(statement, values)

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        """As `Tx.executemany`."""
        statement, _ = translated(sql)
        cursor = self._server.cursor()
        cursor.executemany(statement, list(parameters))
        return cursor

    def insert(self, table: str, **values: object) -> int:
        """As `Tx.insert`; 0 for a table without numbers."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        told = " RETURNING id" if table in NUMBERED else ""
        done = self.execute(f"INSERT INTO {table} ({names}) VALUES ({places}){told}", tuple(values.values()))
        return int(done.fetchone()[0]) if told else 0

    def fill(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """As `Connection.fill`."""
        sql = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._server.cursor() as cursor, cursor.copy(sql.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def commit(self) -> None:
        """As `Connection.commit`; where the server went away meanwhile it is asked what became of it."""
        for work in self._last:
            work(self)
        number = self.value("SELECT pg_current_xact_id_if_assigned()::text")
        try:
            self.execute("COMMIT")
        except psycopg.OperationalError as error:
            if number is None or not self.cut_off(error):
                raise
            self.doubtful = True
            state = self._became_of(number)
            self.doubtful = state not in ("committed", "aborted")
            if state == "aborted":
                self._server.close()  # so that it may be tried again, as after any line that was cut
            if state != "committed":
                raise

    def _became_of(self, number: str) -> str:
        """What became of a transaction, "" when nobody knows: asked on a new connection till it has ended, also while the
        server is away for a moment. Raises what the driver raises when it is away for longer.

        After a crash, or on a standby that took over, another may have its number and have committed.
        """
        run, waiting, tries = self._run, threading.Event(), 0
        while True:
            try:
                self._reconnect()
                while (found := self.row(BECAME_OF, number, run))[0] == "in progress":
                    waiting.wait(ASKED_AGAIN_SECONDS)
                state, same_run = found
                return str(state) if same_run or state == "aborted" else ""
            except psycopg.OperationalError:
                tries += 1
                if tries == ASKED_TIMES:
                    raise
                waiting.wait(ASKED_AGAIN_SECONDS)

    def undoes_all(self, error: Exception) -> bool:
        """When the server refuses, or its tables are not those of nuan."""
        return not isinstance(error, psycopg.DataError | psycopg.IntegrityError)

    def may_succeed(self, error: Exception) -> bool:
        """As `Connection.may_succeed`."""
        return self.cut_off(error) or isinstance(error, RETRIED)

    def refusal(self, error: Exception) -> StoreError:
        """As `store_error`."""
        if self.doubtful:
            return StoreError("the database went away at a commit: whether it was stored is not known")
        return store_error(f"the database refused a write ({first_line(error)}); nothing of it was stored", error)

    def last_numbers(self) -> dict[str, int]:
        """As `Tx.last_numbers`."""
        return {table: self.value(_LAST.format(table)) for table in NUMBERED}

    def raise_last_number(self, table: str, number: int) -> None:
        """As `Tx.raise_last_number`."""
        if number > self.value(_LAST.format(table)):
            self.execute(f"SELECT setval('{table}_id_seq', ?)", (number,))

    def columns(self, table: str) -> tuple[tuple[str, str, str | None], ...]:
        """As `Tx.columns`."""
        return self.all(_COLUMNS, table)

    def faults(self) -> tuple[str, ...]:
        """As `Tx.faults`: a server looks after its files by itself."""
        return ()

    def dangling(self) -> int:
        """As `Tx.dangling`: the server lets none be."""
        return 0

    def copied(self) -> "PostgresTx":
        """As `Tx.copied`, for the index alone: its tables are empty ones that only this connection sees."""
        other = PostgresTx(self.url)
        other.execute("BEGIN")  # they go with it, behind a pooler, too
        for table in ("doc", "doc_text", "posting", "vector"):
            other.execute(f"CREATE TEMP TABLE {table} (LIKE public.{table} INCLUDING ALL)")
        return other

    def close(self) -> None:
        """As `Connection.close`."""
        self._server.close()


_LAST = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {}_id_seq"

_COLUMNS = """SELECT column_name, CASE data_type
    WHEN 'bigint' THEN 'INTEGER' WHEN 'double precision' THEN 'REAL' WHEN 'bytea' THEN 'BLOB' ELSE 'TEXT' END, CASE WHEN column_default LIKE '''%'
    THEN regexp_replace(column_default, '::.*$', '') ELSE column_default END
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ? ORDER BY ordinal_position"""

NUMBERED = frozenset(
    [
        "call",
        "chat",
        "commitment",
        "digest",
        "doc",
        "entry",
        "epoch",
        "event",
        "link",
        "memory",
        "merged",
        "note",
        "note_chunk",
        "note_line",
        "outbox",
        "outside_grant",
        "person",
        "process",
        "reminder",
        "session",
        "told_item",
        "turn",
    ]
)
"""The tables whose rows have a number of their own, `id`."""
