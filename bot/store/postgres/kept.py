"""What must be known after any restore, in a schema of its own that no backup of nuan holds: tombstones, who was erased."""

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import closing

from bot.core.errors import StoreError
from bot.store.files import KEPT_LINES, KeptBeside, carry_kept
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import KEPT, explained


class KeptOnServer:
    """In that schema of a database; each step has a connection of its own, and is durable when it returns."""

    def __init__(self, url: str) -> None:
        self._url = url

    def lines(self, name: str) -> tuple[str | bytes, ...]:
        """As `KeptBeside.lines`."""
        with self._connected("nothing was changed") as tx:
            return tuple(text for (text,) in tx.all(f"SELECT text FROM {KEPT}.line WHERE name = ? ORDER BY id", name))

    def append(self, name: str, lines: Sequence[str], done: str) -> None:
        """As `KeptBeside.append`."""
        with self._connected(f"nothing was {done}") as tx:
            _put_lines(tx, name, lines)

    def value(self, name: str) -> bytes | None:
        """As `KeptBeside.value`."""
        with self._connected("nothing was changed") as tx:
            found: bytes | None = tx.value(f"SELECT value FROM {KEPT}.value WHERE name = ?", name)
            return found

    def settle(self, name: str, value: bytes) -> bytes:
        """As `KeptBeside.settle`."""
        with self._connected("nothing was changed") as tx:
            tx.run(f"INSERT INTO {KEPT}.value (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", name, value)
            found: bytes = tx.value(f"SELECT value FROM {KEPT}.value WHERE name = ?", name)
            return found

    def replace(self, name: str, lines: Sequence[str | bytes]) -> None:
        """As `KeptBeside.replace`."""
        with self._connected("nothing was changed") as tx:
            tx.run(f"DELETE FROM {KEPT}.line WHERE name = ?", name)
            _put_lines(
                tx, name, [line.decode("utf-8", "replace") if isinstance(line, bytes) else line for line in lines]
            )

    def put(self, name: str, value: bytes) -> None:
        """As `KeptBeside.put`."""
        with self._connected("nothing was changed") as tx:
            tx.put(f"{KEPT}.value", "name", name=name, value=value)

    def take_in(self, folder: KeptBeside) -> None:
        """What a folder keeps from before this schema was there is kept here, too, unless anything is."""
        if not any(map(self.lines, KEPT_LINES)) and any(map(folder.lines, KEPT_LINES)):
            carry_kept(folder, self)

    @contextlib.contextmanager
    def _connected(self, undone: str) -> Iterator[PostgresTx]:
        try:
            with explained(), closing(PostgresTx(self._url)) as tx:
                tx.execute(tx.BEGIN)
                yield tx
                tx.execute("COMMIT")
        except StoreError as error:
            raise StoreError(f"{error}: {undone}") from error


def _put_lines(tx: PostgresTx, name: str, lines: Sequence[str]) -> None:
    tx.fill(f"{KEPT}.line", ("name", "text"), ((name, line.replace("\0", "")) for line in lines))
