"""PostgreSQL: what only a server can do wrong, and that both engines have the same tables and find the same."""

import asyncio
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from bot.cli.doctor import kept_finding, machine_findings, postgres_finding, programs_lack, server_findings
from bot.cli.installation import ConfigSource
from bot.config.settings import Settings
from bot.core.errors import FolderLockedError, StoreError
from bot.core.memories import Memory
from bot.core.models import ModelRequest
from bot.core.people import Audience
from bot.store.deadlines import DeadlineBounds
from bot.store.files import DataFiles
from bot.store.postgres import backups
from bot.store.postgres.backups import at_name, check, dump, holds_kept, restore
from bot.store.postgres.connection import NUMBERED, PostgresTx
from bot.store.postgres.opening import MIGRATIONS, bring_forward, open_database, server_state
from bot.store.postgres.processes import LOCK
from bot.store.schema import SCHEMA_VERSION
from bot.store.sqlite.connection import open_existing
from bot.store.store import DATABASE, Store, open_store
from bot.store.transactions import Tx
from bot.text.dates import stamp
from bot.text.terms import TERMS_VERSION
from tests import servers, storing
from tests.belonging import nuan
from tests.blank import lay, open_laid
from tests.servers import let_in
from tests.storing import DAY, NOW
from tests.world import World

pytestmark = pytest.mark.postgres

TEXTS = (
    "我对花生过敏",
    "妹妹住在上海",
    "I like long walks in the rain",
    "周五交报告",
    "猫叫Momo，今年三岁",
    "最爱喝美式咖啡",
)
QUESTIONS = (("花生",), ("上海", "妹妹"), ("rain",), ("报告", "咖啡"), ("momo",), ("北京",))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a new database, in the place of a folder's file."""
    yield servers.lend(tmp_path / "data")
    servers.take_back()


def end_connections(url: str) -> None:
    """What a server that is started anew does to everybody."""
    servers.close_idle(url)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )


async def found_in(store: Store) -> list[list[int]]:
    """What is kept and told, and the numbers of what each question finds in it."""
    for number, text in enumerate(TEXTS):
        await storing.keep(store, text, at=NOW + number * DAY)
    person, chat, _ = await storing.ids(store, at=NOW + 9 * DAY)
    audience = Audience(chat, "dm", (person,))
    return [[memory.id for memory in await storing.searched(store, audience, *asked)] for asked in QUESTIONS]


async def test_both_engines_find_the_same(tmp_path: Path, url: str) -> None:
    async with await open_laid(tmp_path / "file") as store:
        of_file = await found_in(store)
    async with await open_store(tmp_path / "data", url=url) as store:
        assert await found_in(store) == of_file
    assert sum(map(len, of_file)) >= 5


def test_both_engines_have_the_same_tables_under_one_number(tmp_path: Path, url: str) -> None:
    lay(tmp_path)
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    with closing(PostgresTx(url)) as server, closing(open_existing(tmp_path / DATABASE)) as file:
        for (table,) in file.all(names):
            assert [column[:2] for column in server.columns(table)] == [column[:2] for column in file.columns(table)]
        indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        of_server = "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%\\_key' "
        assert {*file.all(indexes)} == {*server.all(f"{of_server}AND indexname NOT LIKE '%\\_pkey'")}
        numbered = (
            "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'id'"
        )
        assert {str(table) for (table,) in server.all(numbered)} == NUMBERED
    assert max(MIGRATIONS) == SCHEMA_VERSION


async def test_a_second_nuan_is_told_and_one_that_only_reads_works_beside(tmp_path: Path, url: str) -> None:
    async with await open_store(tmp_path / "data", url=url) as store:
        number = await storing.keep(store, "我爱喝茶")
        with pytest.raises(FolderLockedError, match="another nuan is answering"):
            await open_store(tmp_path / "other", url=url)
        async with await open_store(tmp_path / "data", read_only=True, url=url) as beside:
            assert await beside.memories.with_lines(number) is not None
            with pytest.raises(StoreError):
                await storing.keep(beside, "不行")


async def test_connections_that_the_server_ended_are_made_anew_and_nothing_is_lost(tmp_path: Path, url: str) -> None:
    async with await open_store(tmp_path / "data", url=url) as store:
        await storing.keep(store, "第一件")
        await asyncio.to_thread(end_connections, url)
        await storing.keep(store, "第二件")
        await asyncio.to_thread(end_connections, url)
        person, chat, _ = await storing.ids(store)
        kept = await store.memories.owned(person, Audience(chat, "dm", (person,)))
        assert {memory.text for memory in kept} == {"第一件", "第二件"}


SLOW_COMMITS = """CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON prefix DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()"""
"""A transaction that stores a prefix takes a second to end."""


async def test_what_became_of_a_commit_is_asked_until_the_server_is_back(url: str) -> None:
    """Its outcome is known then, so that it is stored once."""
    tries: list[int] = []
    comes_and_goes = [threading.Timer(0.3, let_in, (url, "false")), threading.Timer(1.5, let_in, (url, "true"))]

    def work(tx: Tx) -> None:
        tries.append(tx.insert("prefix", signature="a", message="", tools=""))
        if len(tries) == 1:
            for timer in comes_and_goes:
                timer.start()

    database = await open_database(url)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(SLOW_COMMITS)
    await database.write(work)
    assert len(tries) == 2
    assert await database.read(lambda tx: tx.all("SELECT signature FROM prefix")) == (("a",),)
    await database.close()


async def test_an_answer_that_comes_while_the_server_is_away_is_paid_once_and_said_when_it_is_back(
    tmp_path: Path, url: str
) -> None:
    world = await World(tmp_path / "data").open()

    def go_away(request: ModelRequest) -> str:
        let_in(url, "false")
        return "好的"

    world.model.script = go_away
    await world.say("在吗")
    await world.wait(600)
    assert (world.replies, len(world.model.requests)) == ([], 1)
    let_in(url, "true")
    await world.wait(60)
    assert (world.replies, len(world.model.requests)) == (["好的"], 1)
    assert world.peek.calls.values("state") == ["settled"]
    await world.close()


async def test_deadlines_are_read_whatever_way_the_server_has_found_to_read_them(tmp_path: Path, url: str) -> None:
    async with await open_store(tmp_path / "data", url=url) as store:
        await storing.say(store, "早")
        with closing(PostgresTx(url)) as tx:
            tx.execute("ANALYZE")  # then it reads all of a small table, and asks first what is cheap to ask
        assert await store.deadlines.bring_back(NOW, DeadlineBounds(1, 1, 1, 1, 1)) >= 0
        assert await store.deadlines.look(NOW)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("postgresql://nobody@127.0.0.1:1/nuan", "cannot be used"),
        ("postgresql://nuan@/absent?host={host}", "does not exist"),
    ],
)
async def test_a_server_or_a_database_that_is_not_there_is_one_clear_line(
    tmp_path: Path, wrong: str, told: str
) -> None:
    address = wrong.format(host=servers.server())
    with pytest.raises(StoreError, match=told) as refused:
        await open_store(tmp_path / "data", url=address)
    assert "\n" not in str(refused.value)
    finding = await asyncio.to_thread(postgres_finding, address)
    assert not finding.good


async def test_what_was_set_in_chats_is_read_from_the_server_and_taken_back_there(tmp_path: Path, url: str) -> None:
    config = tmp_path / "nuan.toml"
    config.write_text(f'[store]\nurl = "{url}"\n', "utf-8")
    source = ConfigSource(config, tmp_path / "data", {})
    place = source.read()
    async with await open_store(place.data, url=place.url) as store:
        await store.settings.put({"budget.day_tokens": "900"}, None, NOW)
    assert source.read().settings.budget.day_tokens == 900
    said = await asyncio.to_thread(nuan, place.data, "unset", "--all", "--config", str(config))
    assert "taken back: budget.day_tokens" in said.out
    said = await asyncio.to_thread(nuan, place.data, "unset", "--config", str(tmp_path / "absent.toml"))
    assert (said.code, "absent.toml: there is no such file" in said.err) == (1, True)
    assert source.read().settings.budget.day_tokens == place.settings.budget.day_tokens
    assert not (place.data / DATABASE).exists()


def test_the_doctor_tells_the_server_s_version_and_what_a_crash_of_it_would_lose(url: str) -> None:
    safe = f"{url}&options=-c%20synchronous_commit%3Don"
    assert (postgres_finding(safe).warn, "can be reached" in postgres_finding(safe).line) == (False, True)
    finding = postgres_finding(f"{url}&options=-c%20synchronous_commit%3Doff")
    assert (finding.good, finding.warn, "synchronous_commit = on" in finding.line) == (True, True, True)


def test_the_doctor_says_when_backups_would_fail_for_want_of_a_pg_dump_that_fits_the_server(url: str) -> None:
    debian = "pg_dump (PostgreSQL) {} (Debian {}-0+deb12u1)"
    for server, program, told in (
        ("17.2 (Debian 17.2-1)", "", "is not there: install postgresql-client 17 or newer"),
        ("17.2", debian.format("15.18", "15.18"), "is of PostgreSQL 15 and refuses a server of 17"),
    ):
        finding = programs_lack(server, program)
        assert finding is not None
        assert (finding.good, finding.warn, told in finding.text) == (True, True, True)
    assert programs_lack("17.2", debian.format("17.0", "17.0")) is None
    assert programs_lack("15.3", "pg_dump (PostgreSQL) 18beta1") is None
    lacking = programs_lack(server_state(url)[0], backups.dump_version())
    assert [*server_findings(url)] == [postgres_finding(url), *([lacking] if lacking else [])]


def test_the_doctor_names_a_database_that_a_restore_left_and_nobody_dropped_in_time(tmp_path: Path, url: str) -> None:
    name = url.partition("@/")[2].partition("?")[0]
    left = [f"{name}_before_{stamp(NOW - days * DAY).lower()}" for days in (29, 31)]
    for each in (*left, f"{name}_before_2026", f"{left[1]}x"):
        servers.run(servers.server(), f'CREATE DATABASE "{each}" TEMPLATE template0')
    try:
        settings = Settings.model_validate({"store": {"url": url}})
        told = [each.text for each in machine_findings(settings, tmp_path, NOW) if "a restore took" in each.text]
        assert told == [
            f"a restore took the place of {left[1]} more than 30 days ago (backup.days), and what was forgotten since is in "
            "there: drop it"
        ]
    finally:
        for each in (*left, f"{name}_before_2026", f"{left[1]}x"):
            servers.run(servers.server(), f'DROP DATABASE "{each}"')


def test_a_database_of_another_program_or_of_a_newer_nuan_is_left_alone(url: str) -> None:
    with closing(PostgresTx(url)) as tx:
        tx.run("UPDATE schema_version SET number = number + 1")
        with pytest.raises(StoreError, match="newer nuan"):
            bring_forward(tx)
        tx.run("UPDATE schema_version SET number = number - 1")
        tx.execute("ALTER TABLE schema_version RENAME TO other")
        with pytest.raises(StoreError, match="another program"):
            bring_forward(tx)
        tx.execute("ALTER TABLE other RENAME TO schema_version")


OLDER = 51


@pytest.fixture
def older() -> Iterator[str]:
    """The address of a database as an earlier nuan left it."""
    name = f"older_{secrets.token_hex(6)}"
    servers.run(servers.server(), f"CREATE DATABASE {name}")
    address = servers.url_of(servers.server(), name)
    with closing(PostgresTx(address)) as tx:
        for number, statements in MIGRATIONS.items():
            for statement in statements if number <= OLDER else ():
                tx.execute(statement)
        tx.run("UPDATE schema_version SET number = ?", OLDER)
        tx.set_meta("terms", str(TERMS_VERSION))
    yield address
    servers.run(servers.server(), f"DROP DATABASE {name} WITH (FORCE)")


def dumps_in(folder: Path) -> list[Path]:
    """What pg_dump made."""
    return list(folder.glob("*.dump"))


def completed(url: str, line: str) -> list[str]:
    """What a shell offers for that line, by a process of its own."""
    words = line.split(" ")
    env = {"_NUAN_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    ran = subprocess.run(
        [sys.executable, "-m", "bot"],
        env=os.environ | env | {"NUAN_STORE__URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split()


async def test_a_shell_completes_from_the_server_and_waits_for_none_that_does_not_answer(
    tmp_path: Path, url: str
) -> None:
    async with await open_store(tmp_path / "data", url=url) as store:
        person, _, _ = await storing.ids(store)
    assert await asyncio.to_thread(completed, url, "nuan export ") == [str(person)]
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        waits = f"postgresql://nuan@127.0.0.1:{silent.getsockname()[1]}/nuan"
        assert await asyncio.to_thread(completed, waits, "nuan export ") == []
    assert await asyncio.to_thread(completed, "postgresql://nuan@127.0.0.1:1/nuan", "nuan export ") == []


async def test_before_its_tables_change_the_database_is_copied(tmp_path: Path, older: str) -> None:
    if not shutil.which("pg_dump"):
        pytest.skip("pg_dump is not there: install postgresql-client")
    async with await open_store(tmp_path, url=older) as store:
        await storing.keep(store, "我爱喝茶")
    (copy,) = dumps_in(tmp_path)
    assert copy.name == f"nuan.before-{OLDER + 1}.dump"
    check(copy)
    async with await open_store(tmp_path, url=older):
        assert dumps_in(tmp_path) == [copy]


async def test_without_pg_dump_the_tables_change_only_when_the_operator_says_so(
    tmp_path: Path, older: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(backups, "PROGRAMS", tmp_path)
    with pytest.raises(StoreError, match=r"postgresql-client.*store\.copy_before_update = false") as refused:
        await open_store(tmp_path / "data", url=older)
    assert "\n" not in str(refused.value)
    with closing(PostgresTx(older)) as tx:
        assert tx.number("SELECT number FROM schema_version") == OLDER
    async with await open_store(tmp_path / "data", url=older, copied=False):
        pass
    with closing(PostgresTx(older)) as tx:
        assert tx.number("SELECT number FROM schema_version") == SCHEMA_VERSION


async def named(store: Store, number: int) -> Memory:
    """The memory of that number."""
    person, chat, _ = await storing.ids(store)
    return next(
        each for each in await store.memories.owned(person, Audience(chat, "dm", (person,))) if each.id == number
    )


def test_the_doctor_names_a_backup_that_holds_what_none_may(tmp_path: Path, url: str) -> None:
    if not shutil.which("pg_dump"):
        pytest.skip("pg_dump is not there: install postgresql-client")
    dump(url, tmp_path / "nuan-20260612T010000000Z.dump")
    assert kept_finding(tmp_path) is None
    theirs = tmp_path / "nuan-20260613T010000000Z.dump"
    subprocess.run(["pg_dump", "--format=custom", f"--file={theirs}", url], check=True)
    finding = kept_finding(tmp_path)
    assert finding is not None
    assert (finding.warn, theirs.name in finding.line) == (True, True)


async def test_tombstones_that_a_folder_has_from_before_are_taken_to_the_server(tmp_path: Path, url: str) -> None:
    DataFiles(tmp_path).tombstones.add_tombstones([(7, "我对花生过敏")], NOW)
    async with await open_store(tmp_path, url=url):
        pass
    async with await open_store(tmp_path / "another machine", url=url) as store:
        assert store.tombstones.covers("我对花生过敏")


async def test_of_a_note_that_was_changed_in_two_places_both_texts_stay(tmp_path: Path, url: str) -> None:
    first, second, note = tmp_path / "first", tmp_path / "second", "notes/2026-05-02.md"
    for folder in (first, second):
        async with await open_store(folder, url=url) as store:
            store.files.notes.create(note, b"one\n")
    (first / note).write_text("by hand\n", "utf-8")
    async with await open_store(second, url=url) as store:
        store.files.notes.replace(note, b"by nuan\n")
    async with await open_store(first, url=url) as store:
        assert sorted(store.files.notes.listing().found) == ["notes/2026-05-02-here.md", note]
        assert store.files.notes.read(note, 99)[0] == b"by nuan\n"
        assert store.files.notes.read("notes/2026-05-02-here.md", 99)[0] == b"by hand\n"


async def test_a_new_database_takes_the_notes_of_the_folder_and_removes_none(
    tmp_path: Path, url: str, older: str
) -> None:
    async with await open_store(tmp_path, url=url) as store:
        store.files.notes.create("notes/2026-05-02.md", b"one\n")
    async with await open_store(tmp_path, url=older, copied=False) as store:
        assert store.files.notes.read("notes/2026-05-02.md", 99)[0] == b"one\n"
    async with await open_store(tmp_path / "another machine", url=older) as store:
        assert store.files.notes.read("notes/2026-05-02.md", 99)[0] == b"one\n"


async def test_a_backup_is_put_back_and_what_was_forgotten_since_stays_forgotten(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(shutil.which(program) for program in ("pg_dump", "pg_restore")):
        pytest.skip("pg_dump and pg_restore are not there: install postgresql-client")
    copy, folder = tmp_path / "nuan.dump", tmp_path / "data"
    async with await open_store(folder, url=url) as store:
        await storing.keep(store, "我爱喝茶")
        gone = await storing.keep(store, "我对花生过敏")
        await storing.drop(store, await named(store, await storing.keep(store, "早就忘了的")), days=None)
        picture = store.files.parts.write(b"a picture", ".png", NOW)
        await asyncio.to_thread(dump, url, copy)
        check(copy)
        assert not holds_kept(copy)
        with pytest.raises(StoreError, match="is there already"):
            dump(url, copy)
        await storing.drop(store, await named(store, gone), days=None)
        await storing.keep(store, "后来说的")
        with pytest.raises(FolderLockedError):
            await restore(url, folder, copy, "20260612T010000000Z", NOW)
    with closing(PostgresTx(url)) as other:
        other.execute("SELECT pg_advisory_lock(?)", (LOCK,))
        with pytest.raises(FolderLockedError, match="just now: wait"):
            await restore(url, folder, copy, "20260612T010000000Z", NOW)
    servers.drop(url)
    name = url.partition("@/")[2].partition("?")[0]
    monkeypatch.setenv("PGDATABASE", name)  # an address need not name it
    with closing(psycopg.connect(url)):  # another nuan that starts meanwhile
        done = await restore(url.replace(name, ""), folder, copy, "20260612T010000000Z", NOW)
    assert (done.forgotten, done.newer[1]) == (1, 1)
    async with await open_store(tmp_path / "another machine", url=url) as store:
        person, chat, _ = await storing.ids(store)
        kept = await store.memories.owned(person, Audience(chat, "dm", (person,)))
        assert [memory.text for memory in kept] == ["我爱喝茶"]
        assert store.tombstones.covers("我对花生过敏")
        assert store.tombstones.covers("早就忘了的")
        assert store.files.parts.read(picture, 9) == b"a picture", "what waits to be sent is in no backup, and stays"
    with closing(PostgresTx(at_name(url, done.before))) as before:
        assert before.number("SELECT count(*) FROM memory WHERE text = '后来说的'") == 1
    with pytest.raises(StoreError, match=r'already exists.*_restored" and the present one is as it was'):
        await restore(url, folder, copy, "20260612T010000000Z", NOW)
    servers.drop(url)
