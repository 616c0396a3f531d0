"""Memory rows and conditions on them, what engines spell differently, and the migrations."""

import sqlite3
from collections.abc import Callable, Sequence, Sized
from importlib.resources import files

from bot.core.memories import Memory
from bot.store.transactions import Row, row_reader

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

WAITING_THERE = "INDEXED BY outbox_pending"
"""Of the outbox what waits in a chat: without the hint SQLite may read all that was ever sent there."""

OVER_THERE = "INDEXED BY outbox_over"
"""Of the outbox what is over in a chat and was not sent: without the hint SQLite may read all that was ever sent there."""

BY_SPACE = "INDEXED BY vector_space"
"""Of a vector what the index knows: the rows are large."""

VECTOR_INDEX = f"doc CROSS JOIN vector {BY_SPACE} ON doc_id = doc.id"
"""Documents with what is known of their vectors, read from the index alone."""

GREATEST, LEAST = "MAX", "MIN"
"""The functions for the larger and the smaller of two values: in capitals, which no aggregate has."""

LIST_OF, TEXT_LIST = "json_group_array", "group_concat"
"""The aggregates that make a list in JSON of values, and one text of texts."""

POSTED = """CASE length(steps) WHEN 0 THEN 1
    ELSE 1 + (length(steps) - 1) / CAST(hex(substr(steps, 1, 1)) AS INTEGER) END"""
"""How many documents a row of the index lists, by the bytes of its steps."""

META_AT = "CAST(value AS INTEGER)"
"""The instant that a row of `meta` says, ms. Who asks for it may meet rows that say something else."""

SERVER_NOW = "CAST(strftime('%s', 'now') AS INTEGER) * 1000"
"""What the clock of the database says, ms."""

GIVEN, NAMED = "json_each(?) AS given", "json_each(?) AS named"
"""The numbers, and the words, of a list in JSON as rows with a column `value`."""

NO_EVENT = 1 << 62
"""Beyond the number of any event."""

TOGETHER = 64
"""Values of a list in a statement are as many, or twice or three times as many: an engine keeps some hundred statements."""

NO_LIMIT = 1 << 62
"""More rows than there are."""


def placeholders(values: Sized) -> str:
    """A question mark for each value, for IN (…); SQLite takes none, too."""
    return ", ".join("?" * len(values))


def padded(values: Sequence[int]) -> tuple[int, ...]:
    """The same for IN (…), the last one again and again up to a multiple of TOGETHER: statements of few lengths are
    prepared once."""
    return (*values, *tuple(values[-1:]) * (-len(values) % TOGETHER))


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


def read_migrations(engine: str) -> dict[int, tuple[str, ...]]:
    """The statements of each migration of that package, by its number."""
    folder = files(engine).joinpath("migrations")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    found = {int(name[:4]): _statements(folder.joinpath(name).read_text("utf-8")) for name in names}
    assert len(found) == len(names), f"two migrations of {engine} have one number"
    return found


MIGRATIONS = tuple(read_migrations("bot.store.sqlite").values())
"""Migration n, the file of number n + 1, brings a database from user_version n to n + 1; those that are missing run in
one transaction."""

SCHEMA_VERSION = len(MIGRATIONS)
"""The number of the last migration, of any engine."""
