"""Memory rows and conditions on them, the migrations, and copies that are checked against it."""

import contextlib
import sqlite3
from collections.abc import Callable, Sized
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from bot.core.errors import StoreError
from bot.core.files import create_file, give_name, sync_to_disk
from bot.core.memories import Memory
from bot.store.transactions import Row, Tx, row_reader

T = TypeVar("T")

MEMORY_COLUMNS = """memory.id, memory.owner_id, memory.chat_id, memory.visibility, memory.kind, memory.text,
    memory.observed_at, memory.created_at, memory.source, memory.slot, memory.asked, memory.importance, memory.emotion,
    memory.emotion_value, memory.stability_days, memory.accessed_at, memory.disabled_at, memory.protected,
    memory.updated_at, memory.access_count, memory.faded, memory.helpful, memory.unhelpful, memory.praised_at,
    memory.original, memory.agent, memory.section, memory.subject, memory.lasting, memory.said_at, memory.dated,
    memory.former_at, memory.replaced_by"""
IS_NAME = "slot IN ('address', 'no_address')"
"""Whether a memory says how somebody is called, as SQL."""

NAME_SLOT = f"(CASE WHEN {IS_NAME} THEN slot ELSE '' END)"
"""What of its slot tells two memories with the same words apart, as SQL; `name_slot` says the same of a value."""

SELECT_MEMORY = f"SELECT {MEMORY_COLUMNS} FROM memory "

EVENT_QUEUE = "event INDEXED BY event_queue"
"""The events of a chat by state: without the hint SQLite may read all that the chat ever said."""

OUTBOX_DUE = "outbox INDEXED BY outbox_due"
"""What waits to be sent: without the hint SQLite may read all that was ever sent."""


def last_numbers(tx: Tx) -> dict[str, int]:
    """The last number that was given in each table whose numbers are never given twice."""
    return dict(tx.all("SELECT name, seq FROM sqlite_sequence"))


def raise_last_number(tx: Tx, table: str, number: int) -> None:
    """The next number of that table is higher than this one."""
    tx.run("UPDATE sqlite_sequence SET seq = ? WHERE name = ? AND seq < ?", number, table, number)


def table_columns(tx: Tx, table: str) -> tuple[tuple[str, str, str | None], ...]:
    """Each column of a table with its type and its default as SQL, None without one."""
    return tx.all("SELECT name, type, dflt_value FROM pragma_table_info(?)", table)


def file_faults(tx: Tx) -> tuple[str, ...]:
    """What SQLite finds wrong with the file, nothing when it is whole; it reads all of it."""
    verdicts = [verdict for (verdict,) in tx.all("PRAGMA integrity_check(5)")]
    return tuple(" ".join(verdict.split()) for verdict in verdicts if verdict != "ok")


def dangling_rows(tx: Tx) -> int:
    """How many rows refer to one that is not there."""
    return len(tx.all("PRAGMA foreign_key_check"))


def placeholders(values: Sized) -> str:
    """A question mark for each value, for IN (…); SQLite takes none, too."""
    return ", ".join("?" * len(values))


memory_of: Callable[[Row], Memory] = row_reader(Memory)
"""A row of SELECT_MEMORY as a value."""

LAYER = (
    f"(CASE WHEN {IS_NAME} THEN 'name' WHEN asked OR protected THEN 'kept' WHEN lasting THEN 'lasting' ELSE kind END)"
)
"""Which layer of a warm boot a memory belongs to; the queries say it in the same words, or no index serves them."""

IS_CURRENT = "disabled_at IS NULL AND former_at IS NULL"
"""What may be told as true today."""

IS_KEPT = f"asked = 1 OR protected = 1 OR {IS_NAME}"
"""What somebody asked to keep is searched always, as what belongs to no section is."""


def _statements(script: str) -> tuple[str, ...]:
    """The statements of a file, each of which begins on a line of its own, without the comments between them."""
    found, begun = [], ""
    for line in script.splitlines():
        begun += "" if line.startswith("--") else f"{line}\n"
        if line.endswith(";") and sqlite3.complete_statement(begun):
            found.append(begun.strip().removesuffix(";"))
            begun = ""
    return tuple(found)


MIGRATIONS = tuple(
    _statements(file.read_text("utf-8"))
    for file in sorted(files("bot.store").joinpath("migrations").iterdir(), key=lambda file: file.name)
    if file.name.endswith(".sql")
)
"""Migration n, the file of number n + 1, brings a database from user_version n to n + 1; each runs in one transaction."""

SCHEMA_VERSION = len(MIGRATIONS)


PAGES = 2_000
"""Pages of one step of a copy: 8 MB, after each of which progress is told."""

CopyProgress = Callable[[int, int], None]
"""Pages that are left, and all of them."""


def no_progress(left: int, pages: int) -> None:
    """Nobody watches."""


def copy_database(database: Path, path: Path, tell: CopyProgress = no_progress, *, again: bool = False) -> None:
    """Copy a database, look the copy over and only then give it its name (0600); StoreError when it is not whole.

    Works beside a running nuan: the copy is of one moment. A file of that name is never replaced, unless `again`.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_file(new)
        with contextlib.closing(open_existing(database)) as source, contextlib.closing(sqlite3.connect(new)) as copy:
            # With a snapshot held, what others write meanwhile neither comes in nor begins the copy anew.
            source.execute("BEGIN")
            wrong = source.execute("PRAGMA foreign_key_check").fetchall()
            source.backup(copy, pages=PAGES, progress=lambda _, left, pages: tell(left, pages))
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
            version = source.value("PRAGMA user_version")
        if verify_copy(new, len(wrong)) != version:
            raise StoreError("the backup has another schema than the database: it was thrown away")
        sync_to_disk(new)
        if again:
            new.replace(path)
        else:
            give_name(new, path)
        sync_to_disk(path.parent)
    except FileExistsError:
        raise StoreError(f"{path} is there already: give another name") from None
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def verify_copy(path: Path, wrong: int | None = None) -> int:
    """Open a copy and look it over; its schema. StoreError when it is damaged, no database of nuan, newer than this
    nuan, or has more dangling rows than `wrong`.
    """
    try:
        with contextlib.closing(open_existing(path)) as copy:
            verdict = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
            known = copy.execute("SELECT count(*) FROM sqlite_master WHERE name = 'memory'").fetchone()[0]
            version = int(copy.value("PRAGMA user_version"))
            dangling = dangling_rows(copy)
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be used ({error}): nothing was changed") from error
    if version > SCHEMA_VERSION and known:
        raise StoreError(
            f"{path.name} was written by a newer nuan (schema {version}, this one knows {SCHEMA_VERSION}): "
            "update nuan, nothing was changed"
        )
    if verdict != "ok" or not known or version < 1 or (wrong is not None and dangling > wrong):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")
    return version


def open_existing(path: Path) -> Tx:
    """A connection to a file that is there; sqlite3.Error when it is not."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, factory=Tx)


def read_existing(path: Path, work: Callable[[Tx], T]) -> T:
    """What a function reads in a file that is there, beside whoever has it open; StoreError when it cannot be read."""
    try:
        # Not mode=ro: such a reader would leave the files of the WAL behind.
        with contextlib.closing(open_existing(path)) as tx:
            tx.run("PRAGMA query_only = ON")
            return work(tx)
    except sqlite3.Error as error:
        raise StoreError(f"{path.name} cannot be read ({error})") from error
