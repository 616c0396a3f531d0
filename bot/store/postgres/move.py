"""Moving all rows between a file and a database of a server: copied in steps that are kept, then compared.

Whoever calls holds the data folder. The source is only read, and locked against every other nuan.
"""

import contextlib
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bot.core.errors import StoreError
from bot.core.files import sync_to_disk
from bot.core.people import Audience
from bot.core.recall import Matches, RecallQuery
from bot.store.engine import Connection
from bot.store.files import KeptBeside, KeptInFolder, carry_kept
from bot.store.postgres.connection import BEGIN_READING, NUMBERED, PostgresTx
from bot.store.postgres.kept import FilesOnServer, KeptOnServer
from bot.store.postgres.notes import NotesOnServer
from bot.store.postgres.opening import (
    UNFINISHED,
    WritingTx,
    bring_forward,
    check_version,
    explained,
    tables_in,
)
from bot.store.postgres.processes import OF_PROCESSES
from bot.store.schema import SCHEMA_VERSION
from bot.store.search import KnownTalks, WantedDocuments, look_up
from bot.store.sqlite.connection import SqliteTx, reading_uri
from bot.store.sqlite.opening import MOVING, checkpoint, connect
from bot.store.sqlite.opening import bring_forward as bring_file_forward
from bot.store.transactions import Row, Tx
from bot.store.waiting import FilesInFolder, WaitingFiles, carry_files
from bot.text.terms import query_terms

STEP = 2_000
"""Rows of one commit; what a move that is cut off has to copy again."""

SAMPLED = 20
"""Memories, and lines, whose texts are looked for in both places at the end."""

MOST_FOUND = 40
"""Documents of each question that are compared."""

OWN = ("meta", "schema_version", *OF_PROCESSES, UNFINISHED)
"""Tables that a new database has rows in, or that are about the move: `meta` comes last, the others stay."""

Tell = Callable[[int, int], None]
"""How many rows are left, of how many."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the columns of its primary key; rows of one that refers `to_itself` are stored in one commit."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    to_itself: bool = False

    def rows(self, tx: Tx, after: Row | None = None) -> Iterator[tuple[Row, ...]]:
        """Its rows by their keys, as many at once as STEP says, from the first or the one after that key."""
        key, places = ", ".join(self.key), [self.columns.index(name) for name in self.key]
        select = f"SELECT {', '.join(self.columns)} FROM {self.name}"
        beyond = f" WHERE ({key}) > ({', '.join('?' * len(self.key))})"
        rows: tuple[Row, ...] = ((),) * STEP
        while len(rows) == STEP:
            rows = tx.all(f"{select}{beyond if after else ''} ORDER BY {key} LIMIT {STEP}", *(after or ()))
            if rows:
                yield rows
                after = tuple(rows[-1][place] for place in places)

    def last(self, tx: Tx) -> Row | None:
        """The key of the last row."""
        backwards = ", ".join(f"{name} DESC" for name in self.key)
        return tx.one(f"SELECT {', '.join(self.key)} FROM {self.name} ORDER BY {backwards} LIMIT 1")

    def count(self, tx: Tx) -> int:
        """How many rows it has."""
        return tx.number(f"SELECT count(*) FROM {self.name}")


@dataclass(frozen=True, slots=True)
class Checksum:
    """How many rows of a table were read, and a number that tells their values."""

    table: str
    rows: int
    sum: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What is the same in both places: each table, how many questions found the same, how many tombstones and erasures
    are `kept`, and how many notes; `anew` when what an earlier run had copied was no longer what the source says."""

    tables: tuple[Checksum, ...]
    questions: int
    kept: int
    notes: int
    anew: bool


class FileSource:
    """A database file that is only read."""

    def __init__(self, path: Path) -> None:
        self.kept = KeptInFolder(path.parent)
        self.waiting: WaitingFiles = FilesInFolder(path.parent)
        self.tx = sqlite3.connect(reading_uri(path), uri=True, isolation_level=None, factory=SqliteTx)
        self.tx.execute("PRAGMA query_only = ON")
        version = self.tx.value("PRAGMA user_version")
        if version != SCHEMA_VERSION:
            self.tx.close()
            raise StoreError(f"{path.name} has another version: start nuan of the same version once")
        self.tx.execute("BEGIN")


class ServerSource:
    """A database of a server that is only read, and that nobody else may write to."""

    def __init__(self, url: str) -> None:
        self.kept = KeptOnServer(url)
        self.waiting: WaitingFiles = FilesOnServer(url)
        self.tx = WritingTx(url)
        try:
            check_version(self.tx)
        except BaseException:
            self.tx.close()
            raise
        self.tx.execute(BEGIN_READING)


class FileTarget:
    """A new file that gets its name when all is in it."""

    def __init__(self, path: Path) -> None:
        for there in (path, path.with_name(f"{path.name}-wal")):
            if there.exists():
                raise StoreError(f"{there} is there already: move it away, or give --data DIR")
        self._path, self._new = path, path.with_name(MOVING)
        self._open()

    def _open(self) -> None:
        if not self._new.exists():
            bring_file_forward(self._new)
        self.tx = connect(self._new)
        if self.tx.value("PRAGMA user_version") != SCHEMA_VERSION:  # another nuan began it
            self.empty(())

    def empty(self, tables: Iterable[Table]) -> None:
        """Nothing of an earlier run is left."""
        self.tx.close()
        self._new.unlink()
        self._open()

    def close(self) -> None:
        """Free it."""
        self.tx.close()

    @property
    def kept(self) -> KeptBeside:
        """Where that lies which no backup holds."""
        return KeptInFolder(self._path.parent)

    @property
    def waiting(self) -> WaitingFiles:
        """Where that lies which waits to be sent or fetched."""
        return FilesInFolder(self._path.parent)

    def finish(self) -> None:
        """From now on nuan may run on it."""
        checkpoint(self.tx)
        self.close()
        sync_to_disk(self._new)
        self._new.rename(self._path)
        sync_to_disk(self._path.parent)


class ServerTarget:
    """A database of a server that no nuan runs on before all is in it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.tx = WritingTx(url)
        try:
            self._prepare()
        except BaseException:
            self.tx.close()
            raise

    def _prepare(self) -> None:
        if UNFINISHED in tables_in(self.tx):
            if self.tx.number("SELECT number FROM schema_version") != SCHEMA_VERSION:
                raise StoreError("the move was begun by a nuan of another version: make a new database for it")
            return
        bring_forward(self.tx)
        for table in tables_of(self.tx):
            if table.name not in OWN and table.last(self.tx) is not None:
                raise StoreError("the database of --to is not empty: name a new one")
        self.tx.execute(f"CREATE TABLE {UNFINISHED} ()")

    def empty(self, tables: Iterable[Table]) -> None:
        """Nothing of an earlier run is left."""
        self.tx.execute(f"TRUNCATE {', '.join(table.name for table in tables)}")

    def close(self) -> None:
        """Free it."""
        self.tx.close()

    @property
    def kept(self) -> KeptBeside:
        """Where that lies which no backup holds."""
        return KeptOnServer(self._url)

    @property
    def waiting(self) -> WaitingFiles:
        """Where that lies which waits to be sent or fetched."""
        return FilesOnServer(self._url)

    def finish(self) -> None:
        """From now on nuan may run on it."""
        self.tx.execute("ANALYZE")
        self.tx.execute(f"DROP TABLE {UNFINISHED}")


def move(source: Path | str, target: Path | str, folder: Path, tell: Tell, now: int) -> Moved:
    """Copy everything and compare it; each is a database file or the address of a database of a server, one a server.
    `folder` is the data folder.

    What an earlier run copied stays, as far as the source still says so. StoreError with what to do: the target is not
    empty, a version is another one, a server or a disk fails, or a comparison does.
    """
    with _explained(), contextlib.ExitStack() as opened:
        of = FileSource(source) if isinstance(source, Path) else ServerSource(source)
        opened.callback(of.tx.close)
        to = FileTarget(target) if isinstance(target, Path) else ServerTarget(target)
        opened.callback(to.close)
        known = of.tx if isinstance(of.tx, PostgresTx) else to.tx
        tables = [table for table in tables_of(known) if table.name not in OWN]
        meta = next(table for table in tables_of(known) if table.name == "meta")
        counts = Counter({table.name: table.count(of.tx) for table in tables})
        progress = _Progress(counts.total(), tell)
        anew = not all(_continues(of.tx, to.tx, table, progress) for table in tables)
        if anew:
            to.empty(tables)
            progress = _Progress(counts.total(), tell)
        for table in tables:
            _copy(of.tx, to.tx, table, progress)
        with _transaction(to.tx):
            to.tx.run("DELETE FROM meta")
            to.tx.fill(meta.name, meta.columns, chain.from_iterable(meta.rows(of.tx)))
            last = of.tx.last_numbers()
            for name in NUMBERED:
                to.tx.raise_last_number(name, max(last.get(name, 0), to.tx.number(f"SELECT max(id) FROM {name}")))
        same = tuple(_compared(of.tx, to.tx, table, progress) for table in (*tables, meta))
        questions = _asked_alike(of.tx, to.tx, now)
        kept = carry_kept(of.kept, to.kept)
        carry_files(of.waiting, to.waiting)
        carried = 0
        for url in (source, target):  # the folder is between: a server gives it all notes, or takes all from it
            if isinstance(url, str):
                with contextlib.closing(NotesOnServer(folder, url)) as notes:
                    carried = notes.carried()
        to.finish()
        return Moved(same, questions, kept, carried, anew)


class _Progress:
    """Each row is copied, then read in both places: three steps."""

    def __init__(self, rows: int, tell: Tell) -> None:
        self._all = self._left = 3 * rows
        self._tell = tell

    def done(self, rows: int) -> None:
        self._left -= rows
        self._tell(max(self._left, 0), self._all)


def tables_of(tx: Tx) -> tuple[Table, ...]:
    """All tables of a database of a server, of which the file has the same, in an order that their references allow."""
    keys = {name: tuple(json.loads(key)) for name, key in tx.all(_KEYS)}
    refers: dict[str, set[str]] = {name: set() for name in sorted(keys)}
    for name, other in tx.all(_REFERENCES):
        refers[name].add(other)
    order = TopologicalSorter({name: others - {name} for name, others in refers.items()}).static_order()
    columns = {name: tuple(column for column, _, _ in tx.columns(name)) for name in keys}
    return tuple(Table(name, columns[name], keys[name], name in refers[name]) for name in order)


def _continues(source: Tx, target: Tx, table: Table, progress: _Progress) -> bool:
    """Whether what the target has of a table is how the source's begins."""
    if table.last(target) is None:
        return True
    there = _checksum(target, table)
    progress.done(there.rows)
    return there == _checksum(source, table, there.rows)


def _copy(source: Tx, target: Connection, table: Table, progress: _Progress) -> None:
    """Copy what the target has not yet, step by step."""

    last = table.last(target)

    def counted() -> Iterator[tuple[Row, ...]]:
        for rows in table.rows(source, last):
            yield rows
            progress.done(len(rows))

    for step in [chain.from_iterable(counted())] if table.to_itself else counted():
        with _transaction(target):
            target.fill(table.name, table.columns, step)


def _compared(source: Tx, target: Tx, table: Table, progress: _Progress) -> Checksum:
    """The rows of a table, which are the same in both; StoreError when they are not."""
    there, here = _checksum(target, table, tell=progress.done), _checksum(source, table, tell=progress.done)
    if there != here:
        raise StoreError(
            f"the copy of {table.name} is not what the source has ({there.rows} rows, {here.rows} in the source): "
            "nothing was changed there; name a new database, and report it"
        )
    return here


def _checksum(tx: Tx, table: Table, most: int | None = None, tell: Callable[[int], None] = lambda _: None) -> Checksum:
    """Of the first `most` rows, or of all."""
    found, count = hashlib.blake2b(digest_size=6), 0
    for rows in table.rows(tx):
        some = rows if most is None else rows[: most - count]
        found.update(repr(some).encode("utf-8", "surrogatepass"))
        count += len(some)
        tell(len(some))
        if count == most:
            break
    return Checksum(table.name, count, found.hexdigest())


def _asked_alike(source: Tx, target: Tx, now: int) -> int:
    """How many questions found the same documents in both places; StoreError when one did not."""
    said = [
        *_some(source, "memory", "owner_id", "disabled_at IS NULL"),
        *_some(source, "event", "person_id", "kind = 'message' AND hidden = '' AND text <> ''"),
    ]
    for text, chat, person in said:
        asking = RecallQuery(Audience(chat, "dm", (person,)), person, text, now)
        terms = query_terms(text)
        found = [_found(tx, asking, terms) for tx in (source, target)]
        if found[0] != found[1]:
            raise StoreError("the copy does not find what the source finds: nothing was changed there; report it")
    return len(said)


def _some(tx: Tx, table: str, person: str, where: str) -> tuple[tuple[str, int, int], ...]:
    """Texts from all of a table, with the chat and the person of each."""
    numbers = tx.ids(f"SELECT id FROM {table} WHERE {where} AND {person} IS NOT NULL ORDER BY id")
    chosen = numbers[:: max(len(numbers) // SAMPLED, 1)][:SAMPLED]
    return tuple(tx.row(f"SELECT text, chat_id, {person} FROM {table} WHERE id = ?", number) for number in chosen)


def _found(tx: Tx, asking: RecallQuery, terms: tuple[str, ...]) -> tuple[object, ...]:
    """What a question finds, in an order of its own: that of rows is nobody's promise."""

    def choose(matches: Matches) -> WantedDocuments:
        docs = tuple(sorted({doc for posting in matches.postings for doc in posting.docs}))[-MOST_FOUND:]
        return WantedDocuments(docs, docs)

    matches, candidates = look_up(tx, asking, terms, (), choose, KnownTalks())
    talks = sorted((talk.chat_id, talk.talk, talk.begun, talk.at, talk.length) for talk in matches.talks)
    return matches.postings, matches.count, matches.length, talks, sorted(candidates, key=lambda one: one.finding.doc)


@contextlib.contextmanager
def _transaction(tx: Connection) -> Iterator[None]:
    tx.execute(tx.BEGIN)
    try:
        yield
        tx.commit()
    except BaseException:
        with contextlib.suppress(tx.failures):  # the failure itself may have ended the transaction
            tx.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """What goes wrong in the middle says how to go on."""
    again = "the source is as it was; run the same command again, and it goes on where it was"
    try:
        with explained("the PostgreSQL server"):
            yield
    except sqlite3.Error as error:
        raise StoreError(f"the file cannot be used ({error}); {again}") from error
    except StoreError as error:
        if isinstance(error.__cause__, psycopg.OperationalError) and type(error) is StoreError:
            raise StoreError(f"{error}; {again}") from error
        raise


def named(url: str) -> str:
    """A database of a server as people are told of it, without its password."""
    known = conninfo_to_dict(url)
    return f"the database {known.get('dbname', '')} on {known.get('host', 'this machine')}"


def same_database(url: str, other: str) -> bool:
    """Whether two addresses lead to the same database, as their servers say; StoreError when one cannot be asked."""
    return _identity(url) == _identity(other)


def _identity(url: str) -> tuple[int, int]:
    """The number of the server that made its files, and that of the database among its own."""
    with explained("the PostgreSQL server"), contextlib.closing(PostgresTx(url)) as tx:
        found: tuple[int, int] = tx.row(_IDENTITY)
        return found


_IDENTITY = "SELECT system_identifier, oid FROM pg_control_system(), pg_database WHERE datname = current_database()"

_KEYS = """SELECT relname, (SELECT json_agg(attname ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS part (number, place)
    JOIN pg_attribute ON attrelid = conrelid AND attnum = part.number)
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE contype = 'p' AND connamespace = 'public'::regnamespace"""

_REFERENCES = """SELECT one.relname, other.relname FROM pg_constraint JOIN pg_class AS one ON one.oid = conrelid
    JOIN pg_class AS other ON other.oid = confrelid WHERE contype = 'f' AND connamespace = 'public'::regnamespace"""
