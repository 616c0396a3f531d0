"""Backups of a database on a server: made by pg_dump, put back by pg_restore beside the present one, then swapped."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bot.core.errors import FolderLockedError, StoreError
from bot.core.files import create_file, give_name, sync_to_disk
from bot.store.backups import DUMP, PresentState, cleanse
from bot.store.engine import PooledUrl
from bot.store.files import DataFiles, carry_kept
from bot.store.postgres.connection import KEPT, PostgresTx, first_line
from bot.store.postgres.kept import KeptOnServer, carry_rows
from bot.store.postgres.opening import (
    THROUGH_POOLER,
    PostgresDatabase,
    WritingTx,
    explained,
    open_database,
    read_existing,
    version_of,
)
from bot.store.postgres.processes import OF_PROCESSES
from bot.store.schema import SCHEMA_VERSION
from bot.text.dates import stamp_in

PROGRAMS = Path("/usr/lib/postgresql")
"""Where Debian has the programs of each version."""

RESTORED, BEFORE = "_restored", "_before_"
"""What a database is called until it has the place of the present one, and what that is called from then on."""

RENAME_TRIES = 3
"""How often a database is given its name; each time the server waits 5 s for those that are connected to it."""

CUT_OFF = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ? AND usename = current_user"
"""Others' connections may not be ended by everybody."""

DUMPED = (
    "--format=custom",
    "--no-owner",
    "--no-privileges",
    *(f"--exclude-table-data={each}" for each in OF_PROCESSES),
)
"""What a dump is like; in another place nobody answers yet from what is made of it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The name of the database before, how many memories were forgotten again, and the lines and memories of that
    database which the backup has not."""

    before: str
    forgotten: int
    newer: tuple[int, int]


def dump(url: str, path: Path) -> None:
    """Write the database into a file (0600) in pg_dump's own format; StoreError when it cannot, or the file is there."""
    if isinstance(url, PooledUrl):  # what pg_dump sets would be left to whoever has its connection next
        raise StoreError(THROUGH_POOLER)
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_file(new)
        _run("pg_dump", url, *DUMPED, f"--exclude-schema={KEPT}", f"--file={new}")
        check(new)
        if holds_kept(new):
            raise StoreError(f"the backup holds {KEPT}, which none may: it was thrown away")
        sync_to_disk(new)
        give_name(new, path)
        sync_to_disk(path.parent)
    except FileExistsError:
        raise StoreError(f"{path} is there already: give another name") from None
    except OSError as error:
        raise StoreError(f"no backup could be made ({error}): nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def copy_before_update(url: str, folder: Path) -> None:
    """Where the database is of an earlier schema, copy it into the data folder, in the place of such a copy; StoreError,
    saying how to go on, when that cannot be done, DatabaseHeldError while another nuan answers from it.
    """
    version = read_existing(url, version_of)
    if not 0 < version < SCHEMA_VERSION:
        return
    path = folder / f"nuan.before-{version + 1}{DUMP}"
    new = path.with_name(f"{path.stem}.again{DUMP}")
    try:
        with explained(), contextlib.closing(WritingTx(url)):
            new.unlink(missing_ok=True)
            dump(url, new)
            new.replace(path)
    except FolderLockedError:
        raise
    except StoreError as error:
        raise StoreError(
            f"the tables of the database change from schema {version} to {SCHEMA_VERSION}, and no copy can be made before "
            f"({error}); or copy it yourself and set store.copy_before_update = false"
        ) from error


def check(path: Path) -> None:
    """Read what the file says it holds; StoreError unless it is a database of nuan."""
    if "TABLE DATA public memory " not in _run("pg_restore", "", "--list", str(path)):
        raise StoreError(f"{path.name} is damaged or no database of nuan: nothing was changed")


def holds_kept(path: Path) -> bool:
    """Whether a dump has what no backup may hold; StoreError when it cannot be read."""
    return f" {KEPT} " in _run("pg_restore", "", "--list", str(path))


async def restore(url: str, folder: Path, copy: Path, stamp: str, at: int) -> Restored:
    """Put a copy in the database's place; the role of `url` must be allowed to make databases.

    FolderLockedError when a nuan writes to it. Who is connected to it at the end is cut off. A crash leaves the present
    database, or for an instant none of its name: then both are there under the names RESTORED and BEFORE.
    """
    check(copy)
    with explained(), contextlib.closing(WritingTx(url)) as present:
        name = str(present.value("SELECT current_database()"))  # an address without one means that of the user's name
        new, before = f"{name}{RESTORED}", f"{name}{BEFORE}{stamp.lower()}"
        since = PresentState.of(present)
        present.execute(f'DROP DATABASE IF EXISTS "{new}"')
        present.execute(f'CREATE DATABASE "{new}" TEMPLATE template0')
        _run(
            "pg_restore",
            at_name(url, new),
            "--no-owner",
            "--no-privileges",
            "--exit-on-error",
            f"--exclude-schema={KEPT}",
            str(copy),
        )
        database: PostgresDatabase = await open_database(at_name(url, new))
        kept = KeptOnServer(at_name(url, new))
        carry_kept(KeptOnServer(url), kept)
        carry_rows(url, at_name(url, new))
        try:
            last = await database.read(lambda tx: tx.last_numbers())
            count = await cleanse(database, since, DataFiles(folder, kept), at)
        finally:
            await database.close()
        lines = "SELECT count(*) FROM event WHERE kind = 'message' AND id > ?"
        memories = "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND id > ?"
        newer = present.number(lines, last["event"]), present.number(memories, last["memory"])
    left = f'the restored one is left as "{new}" and the present one is as it was: stop every nuan and restore again'
    try:
        with explained():
            _rename(at_name(url, new), name, before)
            left = f'none is called "{name}" now: rename "{new}", the restored one, or "{before}", the one before it'
            _rename(at_name(url, before), new, name)
    except StoreError as error:
        raise StoreError(f"{error}; {left}") from error
    return Restored(before, count, newer)


def left_by_restores(url: str, until: str) -> tuple[str, ...]:
    """The databases that restores up to that stamp gave another name; StoreError when the server cannot be reached."""
    named = f"SELECT datname, current_database() || '{BEFORE}' FROM pg_database ORDER BY datname"
    found = read_existing(url, lambda tx: tx.all(named))
    return tuple(
        name for name, start in found if (made := stamp_in(name.upper())) <= until and name == f"{start}{made.lower()}"
    )


def at_name(url: str, name: str) -> str:
    """The address of another database of the same server."""
    return make_conninfo(url, dbname=name)


def _rename(url: str, old: str, new: str) -> None:
    """Give a database another name, from a connection to one beside it; who is connected to it meanwhile is cut off."""
    with contextlib.closing(PostgresTx(url)) as beside:
        for tries_left in reversed(range(RENAME_TRIES)):
            beside.execute(CUT_OFF, (old,))
            try:
                beside.execute(f'ALTER DATABASE "{old}" RENAME TO "{new}"')
                return
            except psycopg.errors.ObjectInUse:  # another came in between
                if not tries_left:
                    raise


def _run(program: str, url: str, *words: str) -> str:
    """What a program of PostgreSQL prints; its password goes by the environment, which nobody else can read."""
    place = next(_places(program), None)
    if place is None:
        raise StoreError(f"{program} is not there: install PostgreSQL's client programs (postgresql-client)")
    known = conninfo_to_dict(url) if url else {}
    password = str(known.pop("password", "") or "")
    address = [f"--dbname={make_conninfo('', **known)}"] if url else []
    env = os.environ | ({"PGPASSWORD": password} if password else {})
    try:
        done = subprocess.run(  # noqa: S603 - a program of PostgreSQL, with words of our own
            [place, *address, *words], env=env, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise StoreError(f"{program} cannot be run ({error}): nothing was changed") from error
    if done.returncode:
        raise StoreError(f"{program} failed ({first_line(psycopg.Error(done.stderr))}): nothing was changed")
    return done.stdout


def dump_version() -> str:
    """What pg_dump, which backups are made by, says of its version, "" where there is none; StoreError when it cannot be
    run."""
    return _run("pg_dump", "", "--version").strip() if next(_places("pg_dump"), None) is not None else ""


def _places(program: str) -> Iterator[str]:
    """Where a program may be, the newest version first: it must not be older than the server."""
    folders = PROGRAMS.glob(f"*/bin/{program}")
    yield from (str(path) for path in sorted(folders, key=lambda path: int(path.parts[-3]), reverse=True))
    if (found := shutil.which(program)) is not None:
        yield found
