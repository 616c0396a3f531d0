"""The lease of a database: which nuan may write to it, for how long, and its term, which every transaction checks."""

import os
import socket
import threading
from collections.abc import Callable

import psycopg

from bot.core.errors import DatabaseHeldError
from bot.store.postgres.connection import DATABASE_LEASE, PostgresTx
from bot.store.transactions import Tx

RENEWALS = 4
"""Times that a lease is renewed while it lasts, so that a server may be away for a moment."""

LOCK = 0x6E75616E
"""The number of the lock that who makes the tables, or moves all of them, holds: "nuan"."""

NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"
"""The server's clock, ms: those of machines differ."""

TAKE = f"""INSERT INTO lease (name, owner, term, until) VALUES (?, ?, 1, {NOW} + ?) ON CONFLICT (name) DO UPDATE
    SET owner = excluded.owner, term = lease.term + 1, until = excluded.until WHERE lease.until < {NOW} RETURNING term"""
RENEW = f"UPDATE lease SET until = {NOW} + ? WHERE name = ? AND term = ?"
HAND_OVER = "UPDATE lease SET until = 0 WHERE name = ? AND term = ?"
HELD = f"SELECT owner FROM lease WHERE name = ? AND until >= {NOW}"


def holder_of(tx: Tx) -> str | None:
    """Who has the lease of the database now, by machine and process."""
    holder: str | None = tx.value(HELD, DATABASE_LEASE)
    return holder


def held_by(holder: str | None) -> str:
    """That it is held, by whom if that is known, and what to do."""
    who = f" ({holder}), or died a few seconds ago" if holder else ""
    return f"another nuan is answering from this database{who}: stop it, or name another one"


class Lease:
    """The right to write to a database: taken at once or refused, renewed by a thread of its own until it is closed.

    Who was cut off for longer than it lasts keeps it unless another nuan took it meanwhile; then `lost` is called, on
    that thread, and nothing can be stored any more.
    """

    def __init__(self, url: str, seconds: float) -> None:
        self._ms = int(seconds * 1000)
        self._ended = threading.Event()
        self.lost: Callable[[], object] = lambda: None
        self._tx = PostgresTx(url)
        try:
            self.term = self._take()
        except BaseException:
            self._tx.close()
            raise
        self._thread = threading.Thread(target=self._renew, name="nuan-lease", daemon=True)
        self._thread.start()

    def _take(self) -> int:
        """Its term; DatabaseHeldError while another nuan has it. No transaction of that one is under way then."""
        holder, term = holder_of(self._tx), None
        if holder is None:
            self._tx.begin()
            if self._tx.value("SELECT pg_try_advisory_xact_lock(?)", LOCK):
                term = self._tx.value(TAKE, DATABASE_LEASE, f"{socket.gethostname()}:{os.getpid()}", self._ms)
            self._tx.commit()
        if term is None:
            raise DatabaseHeldError(held_by(holder))
        return int(term)

    def _renew(self) -> None:
        while not self._ended.wait(self._ms / 1000 / RENEWALS):
            try:
                self._tx.ready()
                if not self._tx.run(RENEW, self._ms, DATABASE_LEASE, self.term):
                    self.lost()
                    return
            except psycopg.Error:
                continue  # the server is away: nobody else can take it meanwhile

    def close(self) -> None:
        """Hand it over: another nuan may write at once."""
        self._ended.set()
        self._thread.join()
        try:
            self._tx.ready()
            self._tx.run(HAND_OVER, DATABASE_LEASE, self.term)
        except psycopg.Error:
            pass  # it ends by itself
        finally:
            self._tx.close()
