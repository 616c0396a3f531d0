"""What a transaction can do: statements with their values, and rows as values."""

import dataclasses
import functools
import json
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from bot.store.files import DataFiles

Row = tuple[Any, ...]
T = TypeVar("T")

_ADD_EDGE = "INSERT INTO edge (kind, derived_id, event_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


@dataclasses.dataclass(slots=True)
class AccessLists:
    """What the configuration says: owners' accounts, and ids that need no approval, each "platform:id".

    One for the whole store, which a reload fills anew.
    """

    owners: frozenset[str] = frozenset()
    allow: frozenset[str] = frozenset()


class OtherChatError(Exception):
    """A transaction that named its chat found that it is of another one, or of none: it runs beside no other."""


class Tx:
    """A connection inside a transaction, of any engine; values follow their statement as further arguments.

    `files` are those of the same data folder, `lists` who is admitted, `boot` names this process in rows.
    """

    files: DataFiles
    lists: AccessLists
    boot: str

    chat: int | None = None
    """The chat whose transaction it is, while those of others run beside it; None: nothing else is written."""

    def check_chat(self, chat_id: int) -> None:
        """What follows belongs to that chat; else it is done once more while nothing else is written."""
        if self.chat not in (None, chat_id):
            raise OtherChatError

    def hold_person(self, person_id: int | None) -> None:
        """Until this transaction ends no other one writes what belongs to that person in all chats, None: to nobody."""

    def hold_counts(self) -> None:
        """Until this transaction ends no other one counts calls or adds one, whose numbers follow each other as their
        commits do. Take it last."""

    def at_end(self, work: "Callable[[Tx], object]") -> None:
        """Do it as the last of this transaction: who writes a row that all chats share keeps them waiting."""
        work(self)

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        """The cursor of a statement."""
        raise NotImplementedError

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        """A statement with each of these values."""
        raise NotImplementedError

    def copied(self) -> Any:
        """The whole database as it is now, in another one that is gone when it is closed."""
        raise NotImplementedError

    def last_numbers(self) -> dict[str, int]:
        """The last number that was given in each table whose numbers are never given twice."""
        raise NotImplementedError

    def raise_last_number(self, table: str, number: int) -> None:
        """The next number of that table is higher than this one."""
        raise NotImplementedError

    def columns(self, table: str) -> tuple[tuple[str, str, str | None], ...]:
        """Each column of a table with its type and its default as SQL, None without one."""
        raise NotImplementedError

    def faults(self) -> tuple[str, ...]:
        """What the engine finds wrong with what it stores, nothing when it is whole."""
        raise NotImplementedError

    def dangling(self) -> int:
        """How many rows refer to one that is not there."""
        raise NotImplementedError

    def run(self, sql: str, *values: object) -> int:
        """How many rows a statement changed."""
        changed: int = self.execute(sql, values).rowcount
        return changed

    def insert(self, table: str, **values: object) -> int:
        """The number of the new row, which holds these values by the names of its columns."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        done = self.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(values.values()))
        return done.lastrowid or 0

    def put(self, table: str, unique: str, /, **values: object) -> None:
        """A row of these values, in the place of one that has the same in the `unique` columns."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        keys = unique.split(", ")
        new = ", ".join(f"{name} = excluded.{name}" for name in values if name not in keys)
        upsert = f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT ({unique}) DO UPDATE SET {new}"
        self.run(upsert, *values.values())

    @overload
    def all(self, sql: str, *values: object) -> tuple[Row, ...]: ...
    @overload
    def all(self, sql: str, *values: object, to: Callable[..., T]) -> tuple[T, ...]: ...
    def all(self, sql: str, *values: object, to: Callable[..., Any] | None = None) -> tuple[Any, ...]:
        """All rows of a SELECT; with `to`, what that makes of the columns of each."""
        rows = self.execute(sql, values).fetchall()
        return tuple(rows) if to is None else tuple(map(row_reader(to), rows))

    @overload
    def one(self, sql: str, *values: object) -> Row | None: ...
    @overload
    def one(self, sql: str, *values: object, to: Callable[..., T]) -> T | None: ...
    def one(self, sql: str, *values: object, to: Callable[..., Any] | None = None) -> Any:
        """The first row of a SELECT, or None; with `to`, what that makes of its columns."""
        row = self.execute(sql, values).fetchone()
        return row if row is None or to is None else row_reader(to)(row)

    def row(self, sql: str, *values: object) -> Row:
        """The first row of a SELECT that always finds one; LookupError when it does not."""
        row: Row | None = self.execute(sql, values).fetchone()
        if row is None:
            raise LookupError(f"nothing is there: {sql}")
        return row

    def value(self, sql: str, *values: object) -> Any:
        """The first column of the first row of a SELECT; None when there is no row."""
        row = self.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def number(self, sql: str, *values: object) -> int:
        """The first column of the first row of a SELECT, a whole number; 0 when there is no row or it is NULL."""
        return self.value(sql, *values) or 0

    def has(self, sql: str, *values: object) -> bool:
        """Whether a SELECT finds a row."""
        return self.execute(sql, values).fetchone() is not None

    def ids(self, sql: str, *values: object) -> tuple[int, ...]:
        """The first column of each row of a SELECT, in its order."""
        return tuple(row[0] for row in self.execute(sql, values))

    def ids_for(self, sql: str, many: Iterable[object], *values: object) -> set[int]:
        """What `ids` finds with each of `many` as the first value, together."""
        return {number for one in many for number in self.ids(sql, one, *values)}

    def meta(self, key: str) -> str | None:
        """What stands under this key in the table of single values; None when nothing does."""
        found: str | None = self.value("SELECT value FROM meta WHERE key = ?", key)
        return found

    def set_meta(self, key: str, value: object) -> None:
        """Under this key stands this value from now on; None: nothing."""
        if value is None:
            self.run("DELETE FROM meta WHERE key = ?", key)
        else:
            self.put("meta", "key", key=key, value=str(value))

    def link(self, kind: str, number: int | None, events: Iterable[int]) -> None:
        """The row of that kind comes from these events, too (table `edge`)."""
        for event in events:
            self.run(_ADD_EDGE, kind, number, event)

    def unlink(self, kind: str, number: int, event: int | None = None) -> None:
        """The row of that kind comes from that event no more, with None from no event."""
        edges = "DELETE FROM edge WHERE kind = ? AND derived_id = ?"
        if event is None:
            self.run(edges, kind, number)
        else:
            self.run(f"{edges} AND event_id = ?", kind, number, event)

    def sources(self, kind: str, number: int) -> set[int]:
        """The events that the row of that kind comes from."""
        return set(self.ids("SELECT event_id FROM edge WHERE kind = ? AND derived_id = ?", kind, number))

    def derived(self, kind: str, event: int) -> tuple[int, ...]:
        """The rows of that kind that come from an event."""
        return self.ids("SELECT derived_id FROM edge WHERE kind = ? AND event_id = ?", kind, event)


@functools.cache
def row_reader(to: Callable[..., T]) -> Callable[[Row], T]:
    """A function from the columns of a row to `to`'s value.

    Of a dataclass fields that are bool are made so, and tuples are read from JSON.
    """
    hints = typing.get_type_hints(to) if dataclasses.is_dataclass(to) else {}
    fields = tuple(hints.get(field.name) for field in dataclasses.fields(to)) if hints else ()  # type: ignore[arg-type]
    made: dict[int, Callable[[Any], object]] = {place: bool for place, kind in enumerate(fields) if kind is bool}
    made |= {place: _items for place, kind in enumerate(fields) if typing.get_origin(kind) is tuple}
    if not made:
        return lambda row: to(*row)
    return lambda row: to(*(made[place](value) if place in made else value for place, value in enumerate(row)))


def _items(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))
