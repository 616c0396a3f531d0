"""Opening the data folder: an error says what to do and changes nothing; never a silently new database."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from bot.core.errors import FolderLockedError, StoreError
from bot.store.schema import MIGRATIONS
from bot.store.settings import settings_in
from bot.store.sqlite.connection import SqliteTx
from bot.store.sqlite.opening import _migrate, _prepare
from bot.store.store import DATABASE, open_store
from tests.storing import ids, in_files, keep, look, sound
from tests.world import World

BACKUP = f"nuan.before-{len(MIGRATIONS) + 1}.db"
HOLD = """import asyncio, pathlib, sys
from bot.store.store import open_store
from bot.store.sqlite.connection import SqliteTx
from bot.store.transactions import Tx
async def hold():
    async with await open_store(pathlib.Path(sys.argv[1])):
        print("held", flush=True)
        await asyncio.to_thread(sys.stdin.read)
asyncio.run(hold())
"""


_filled: dict[str, bytes] = {}
"""The files of such a folder."""


async def filled(folder: Path) -> Path:
    """A database with something in it, closed; it is filled once and copied from then on."""
    if not _filled:
        async with await open_store(folder) as store:
            await asyncio.gather(*(keep(store, f"第{number}件事 xyzzy") for number in range(200)))
        _filled.update(contents(folder))
    else:
        copy(folder)
    return folder / DATABASE


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def copy(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in _filled.items():
        (folder / name).touch(0o600)
        (folder / name).write_bytes(content)


async def refused(path: Path, pattern: str) -> None:
    """Opening fails with that advice, twice, for writing and reading, and changes no file."""
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    for _ in range(2):
        with pytest.raises(StoreError, match=pattern):
            await open_store(path.parent)
    before.setdefault("nuan.lock", b"")
    assert {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()} == before


def modes(folder: Path) -> dict[str, int]:
    """The files of a folder and who may do what with them."""
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


def allow(path: Path, mode: int) -> None:
    path.chmod(mode)


def holder(folder: Path) -> subprocess.Popen[bytes]:
    """Another process that answers from this folder until its input ends."""
    return subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may write anywhere, so rights are tried as somebody else."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("at", [20, 100, 4096, 3 * 4096, 12 * 4096])
async def test_a_file_with_flipped_bytes_is_refused_and_stays(tmp_path: Path, at: int) -> None:
    path = await filled(tmp_path)
    with path.open("r+b") as file:
        file.seek(at)
        found = file.read(64)
        file.seek(at)
        file.write(bytes(byte ^ 0xFF for byte in found))
    await refused(path, "damaged.*backup")


async def test_a_schema_that_is_no_text_any_more_is_refused_and_stays(tmp_path: Path) -> None:
    path = await filled(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE memory", b"CREATE TABLE m\x80mory"))
    await refused(path, "damaged.*backup")
    assert settings_in(path) == ()
    async with await open_store(tmp_path, read_only=True) as store:
        with pytest.raises(StoreError):
            await store.people.person(1)


async def test_a_version_below_zero_is_refused_and_stays(tmp_path: Path) -> None:
    path = await filled(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = -7")
    await refused(path, "damaged.*backup")
    with pytest.raises(StoreError, match="damaged"):
        await open_store(tmp_path, read_only=True)


@pytest.mark.parametrize("size", [0, 10, 4096, 5 * 4096 + 17])
async def test_a_truncated_file_is_refused_and_stays(tmp_path: Path, size: int) -> None:
    path = await filled(tmp_path)
    os.truncate(path, size)
    await refused(path, "damaged.*backup")


async def test_a_file_that_is_no_database_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    path.write_text("diary\n" * 2_000)
    await refused(path, "damaged.*backup")


async def test_the_database_of_another_program_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE contacts (name)")
        db.commit()
    await refused(path, "another program.*--data")


async def test_a_newer_schema_is_refused_and_stays(tmp_path: Path) -> None:
    path = await filled(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    await refused(path, "update nuan")


async def test_a_folder_in_the_file_s_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / DATABASE).mkdir()
    await refused(tmp_path / DATABASE, "cannot be used")


async def test_a_database_that_is_gone_while_its_log_is_there_is_not_begun_anew(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE}-wal").write_bytes(b"x" * 100)
    await refused(tmp_path / DATABASE, "is gone")
    assert not (tmp_path / DATABASE).exists()


async def test_a_folder_that_may_not_be_written_is_an_error_that_says_so() -> None:
    with tempfile.TemporaryDirectory() as name:
        allow(Path(name), 0o555)
        with ordinary_user(), pytest.raises(StoreError, match="--data"):
            await open_store(Path(name))
        assert modes(Path(name)) == {}


async def test_a_file_that_may_not_be_written_is_an_error_that_says_so() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = await filled(folder)
        for file, mode in ((path, 0o444), (folder / "nuan.lock", 0o666), (folder, 0o755)):
            allow(file, mode)
        before = path.read_bytes()
        with ordinary_user(), pytest.raises(StoreError, match="writable"):
            await open_store(folder)
        assert path.read_bytes() == before


async def test_reading_only_makes_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="talk to nuan once"):
        await open_store(tmp_path, read_only=True)
    assert modes(tmp_path) == {}


@pytest.mark.parametrize("content", [b"", b"diary\n" * 2_000])
async def test_reading_only_of_a_damaged_file_is_an_error_and_leaves_nothing_running(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / DATABASE).write_bytes(content)
    with pytest.raises(StoreError):
        await open_store(tmp_path, read_only=True)
    assert (tmp_path / DATABASE).read_bytes() == content


async def test_a_second_nuan_is_told_at_once_and_one_that_only_reads_works_beside(tmp_path: Path) -> None:
    await filled(tmp_path)
    with holder(tmp_path) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(FolderLockedError, match="stop it"):
            await open_store(tmp_path)
        async with await open_store(tmp_path, read_only=True) as store:
            assert len(await store.people.chats()) == 1
            with pytest.raises(StoreError, match="reading only"):
                await store.people.switch(1, enabled=False, at=0)
        first.communicate()
    async with await open_store(tmp_path) as store:
        await store.people.switch(1, enabled=False, at=0)


async def test_nobody_else_may_read_any_file(tmp_path: Path) -> None:
    async with await open_store(tmp_path) as store:
        await keep(store, "秘密")
        store.tombstones.add_tombstones([(1, "秘密")], 0)
        found = modes(tmp_path)
    assert len(found) == 6
    assert set(found.values()) == {0o600}


async def test_a_first_start_that_was_killed_half_way_begins_again(tmp_path: Path) -> None:
    for part in ("", "-wal", "-shm"):
        (tmp_path / f"{DATABASE}.new{part}").write_bytes(b"half")
    async with await open_store(tmp_path) as store:
        await ids(store)
    assert set(modes(tmp_path)) == {DATABASE, "nuan.lock"}


@pytest.mark.parametrize("broken", [0, 1])
async def test_a_migration_that_fails_half_way_leaves_the_old_schema_and_a_backup(tmp_path: Path, broken: int) -> None:
    path = await filled(tmp_path)
    steps = ["ALTER TABLE person ADD COLUMN mood TEXT", "CREATE TABLE diary (day)"]
    steps.insert(broken, "CREATE TABLE person (again)")
    with pytest.raises(StoreError):
        _prepare(path, (*MIGRATIONS, tuple(steps)))
    assert look(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert not look(tmp_path, "SELECT 1 FROM sqlite_master WHERE name = 'diary'")
    backup = tmp_path / BACKUP
    assert backup.stat().st_mode & 0o777 == 0o600
    assert BACKUP in in_files(tmp_path, "xyzzy")
    async with await open_store(tmp_path) as store:
        await keep(store, "还能用")
    _prepare(path, (*MIGRATIONS, ("ALTER TABLE person ADD COLUMN mood TEXT",)))
    assert look(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS) + 1,)]
    assert BACKUP in in_files(tmp_path, "还能用"), "what came since is in the copy"
    assert sound(tmp_path) == []


def test_a_migration_that_is_killed_half_way_leaves_the_old_schema(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    _prepare(path, MIGRATIONS)
    child = os.fork()
    if not child:  # the child dies between two statements of one migration
        db = sqlite3.connect(path, isolation_level=None, factory=SqliteTx)
        db.create_function("die", 0, lambda: os._exit(9))
        _migrate(db, path, (*MIGRATIONS, ("CREATE TABLE diary (day)", "SELECT die()")))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert look(tmp_path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert not look(tmp_path, "SELECT 1 FROM sqlite_master WHERE name = 'diary'")
    assert sound(tmp_path) == []


async def test_older_conversations_know_why_they_began_and_who_took_part(tmp_path: Path) -> None:
    world = await World(tmp_path / "data").open()
    await world.say("小暖，在吗", "阿明", "闲聊")
    await world.say("小暖，早", "小红", "闲聊")
    await world.say("你好")
    told = "SELECT id, open_reason FROM session ORDER BY id", "SELECT * FROM participant ORDER BY 1, 2"
    known = [world.rows(sql) for sql in told]
    await world.close()
    with closing(sqlite3.connect(world.folder / DATABASE)) as database:  # as nuan left it before it kept them
        database.execute("UPDATE session SET open_reason = ''")
        database.execute("DELETE FROM participant")
        for statement in next(
            steps for steps in MIGRATIONS if any("IGNORE INTO participant" in step for step in steps)
        ):
            database.execute(statement)
        database.commit()
    await world.open()
    assert [world.rows(sql) for sql in told] == known == [[(1, "name"), (2, "dm")], [(1, 1), (1, 2), (2, 3)]]
    await world.close()


async def test_every_commit_waits_for_the_disk(tmp_path: Path) -> None:
    async with await open_store(tmp_path) as store:
        assert await store._database.write(lambda db: db.execute("PRAGMA synchronous").fetchone()) == (2,)


READ = """import asyncio, pathlib, sys
from bot.store.store import open_store
from bot.store.settings import settings_in
async def read():
    folder = pathlib.Path(sys.argv[1])
    async with await open_store(folder, read_only=True) as store:
        print((await store.people.person(1)).name, settings_in(folder / "nuan.db"))
asyncio.run(read())
"""
MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" -c "$3" "$1"'


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("killed", [False, True], ids=["stopped well", "killed"])
async def test_what_only_reads_works_on_a_mount_that_can_only_be_read(tmp_path: Path, killed: bool) -> None:
    if run("unshare", "-rm", "true").returncode:
        pytest.skip("this machine lets nobody mount")
    folder = tmp_path / "data"
    async with await open_store(folder) as store:
        await ids(store)
        if killed:
            folder = tmp_path / "killed"
            folder.mkdir()
            for name, content in contents(tmp_path / "data").items():
                (folder / name).write_bytes(content)
    read = run("unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(folder), sys.executable, READ)
    assert (read.returncode, read.stdout) == (0, "Ann ()\n"), read.stdout + read.stderr


@pytest.mark.parametrize("before", [None, 0o755, 0o777])
async def test_the_data_folder_is_for_this_user_alone(tmp_path: Path, before: int | None) -> None:
    folder = tmp_path / "deep" / "data"
    if before is not None:
        folder.mkdir(parents=True)
        folder.chmod(before)
    async with await open_store(folder):
        assert folder.stat().st_mode & 0o777 == 0o700
