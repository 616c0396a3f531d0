"""PostgreSQL: a line to the server is cut, or it crashes. Of a commit without an answer its caller is told the truth, what
was not stored is stored once, and who only listens notices it, too."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from bot.core.errors import StoreError
from bot.core.ports import ROLES
from bot.store.engine import WRITERS
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import open_database
from bot.store.postgres.wakeups import ServerWakeups
from bot.store.transactions import Tx
from tests import servers
from tests.proxies import Line
from tests.servers import programs, url_of
from tests.torture.database import DatabaseServer

pytestmark = pytest.mark.postgres

LONG_S, WAIT_S = 300.0, 30.0
"""A lease that is not renewed while a test lasts: what is stored beside makes what came before it last."""

COMMITS_ALONE = """fsync = on
wal_level = minimal
max_wal_senders = 0
wal_writer_delay = 10s
autovacuum = off
"""
"""Nothing but a commit, or whoever tidies, brings what was written to the disk."""

SOCKETS = Path("/proc/net/tcp")
OPEN, NO_TIMER, NOTICED_S = "01", "00", 15
"""The state of a socket, its timer where nobody asks whether the other side is there, and how soon one asks at the latest."""

LOCK, UNLOCK = "SELECT pg_advisory_lock(50)", "SELECT pg_advisory_unlock(50)"
HELD_COMMITS = """CREATE FUNCTION waits() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(50); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON prefix DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION waits()"""
"""Who stores a prefix waits in the commit, before any of it is stored, for whoever has that lock."""

IN_COMMIT = "SELECT pid FROM pg_stat_activity WHERE query = 'COMMIT' AND wait_event = 'advisory' AND datname = current_database()"
PREFIXES = "SELECT signature FROM prefix"


class Other:
    """Somebody else on the database, who holds its commits up."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self.ask(HELD_COMMITS)
        self.ask(LOCK)

    def ask(self, sql: str) -> list[tuple[object, ...]]:
        """What that says, nothing where it says nothing."""
        done = self._connection.execute(sql.encode())
        return done.fetchall() if done.description else []

    async def until(self, sql: str, *, there: bool) -> None:
        """Wait until it says something, or nothing more."""
        async with asyncio.timeout(WAIT_S):
            while bool(await asyncio.to_thread(self.ask, sql)) != there:
                await asyncio.to_thread(self.ask, "SELECT pg_sleep(0.05)")

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database."""
    url = servers.lend(tmp_path / "data")
    yield url
    with closing(PostgresTx(url)) as tx:
        tx.execute("DROP FUNCTION IF EXISTS waits CASCADE")
    servers.take_back()


def by_line(url: str, line: Line) -> str:
    """The same database, by that line."""
    return url.replace("@/", f"@127.0.0.1:{line.port}/").partition("?")[0]


def timers(port: int) -> list[tuple[str, str]]:
    """Kind and time of the timer of each connection to that port."""
    if not SOCKETS.exists():
        pytest.skip(f"no {SOCKETS}: only Linux tells the timers of sockets")
    rows = [row.split() for row in SOCKETS.read_text("ascii").splitlines()]
    mine = [row[5].partition(":") for row in rows if row[2].endswith(f":{port:04X}") and row[3] == OPEN]
    return [(kind, when) for kind, _, when in mine]


def put(tx: Tx, tries: list[str]) -> None:
    """Store a prefix, and note the number of the transaction."""
    tries.append(tx.value("SELECT pg_current_xact_id()::text"))
    tx.insert("prefix", signature="a", message="", tools="")


@pytest.mark.parametrize("stored", [True, False])
async def test_a_commit_whose_line_was_cut_is_stored_once_whatever_became_of_it(url: str, stored: bool) -> None:
    tries: list[str] = []
    async with Line(servers.server() / ".s.PGSQL.5432") as line:
        database = await open_database(by_line(url, line), lease_seconds=LONG_S)
        with closing(Other(url)) as other:
            writing = asyncio.create_task(database.write(partial(put, tries=tries)))
            await other.until(IN_COMMIT, there=True)
            line.end()
            if not stored:
                other.ask(IN_COMMIT.replace("pid", "pg_terminate_backend(pid)", 1))
                await other.until(IN_COMMIT, there=False)
            other.ask(UNLOCK)
            await writing
        assert len(tries) == (1 if stored else 2)
        assert await database.read(lambda tx: tx.all(PREFIXES)) == (("a",),)
        await database.close()


async def test_what_a_crash_lost_is_not_taken_for_stored_when_another_got_its_number() -> None:
    """The number of a transaction of which nothing reached the disk is given once more."""
    if programs() is None:
        pytest.skip("no PostgreSQL server")
    tries: list[str] = []
    async with DatabaseServer(COMMITS_ALONE) as server:
        server.change("CREATE DATABASE nuan")
        url = url_of(server.folder, "nuan")
        database = await open_database(url, lease_seconds=LONG_S)
        await database.write(lambda tx: tx.set_meta("first", "1"))
        with closing(Other(url)) as other:
            server.change("ALTER DATABASE nuan ALLOW_CONNECTIONS false")
            writing = asyncio.create_task(database.write(partial(put, tries=tries)))
            await other.until(IN_COMMIT, there=True)
            server.kill()
        await server.start()
        given: list[object] = []
        while tries[0] not in given and len(given) < 50:
            given += server.rows("SELECT pg_current_xact_id()::text")[0]
        assert tries[0] in given, "its number was not given again, so nothing was tried here"
        server.change("ALTER DATABASE nuan ALLOW_CONNECTIONS true")
        with pytest.raises(StoreError, match="whether it was stored is not known"):
            await writing
        assert await database.read(lambda tx: tx.all(PREFIXES)) == ()
        await database.write(lambda tx: tx.insert("prefix", signature="b", message="", tools=""))
        assert await database.read(lambda tx: tx.all(PREFIXES)) == (("b",),)
        await database.close()


async def test_every_connection_of_a_process_finds_out_when_its_line_was_cut(tmp_path: Path, url: str) -> None:
    async with Line(servers.server() / ".s.PGSQL.5432") as line:
        place = by_line(url, line)
        database, wakeups = await open_database(place, lease_seconds=LONG_S, roles=ROLES), ServerWakeups(place, "a")
        await wakeups.listening.wait()
        found = timers(line.port)
        assert len(found) > WRITERS
        for kind, when in found:
            assert kind != NO_TIMER
            assert int(when, 16) / os.sysconf("SC_CLK_TCK") <= NOTICED_S
        await wakeups.close()
        await database.close()
