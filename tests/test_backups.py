"""`nuan backup` and `nuan restore`: whole copies beside a running nuan; the way back brings nothing forgotten."""

import json
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.people import Audience
from bot.store.schema import MIGRATIONS, SCHEMA_VERSION
from bot.store.sqlite.opening import _prepare
from bot.store.store import DATABASE, Store, open_store
from tests import servers
from tests.belonging import copies, nuan, nuan_in_thread
from tests.carrying import ANN, BOB, fill, in_installation
from tests.conftest import NewWorld
from tests.kill_data import kill_in
from tests.peek import Other
from tests.prefixes import one_system_then_strict_alternation
from tests.storing import drop, holding, ids, keep, look, sound
from tests.test_changes import happens
from tests.world import World

TEXTS = "SELECT text FROM memory WHERE disabled_at IS NULL ORDER BY id"


async def forget_all_of(store: Store, text: str) -> None:
    """Ann forgets what holds that word, for good."""
    person, chat, _ = await ids(store)
    owned = await store.memories.owned(person, Audience(chat, "dm", (person,)))
    for memory in owned:
        if text in memory.text:
            await drop(store, memory, ANN, days=None)


def test_a_backup_is_private_named_by_its_time_and_replaces_nothing(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    said = nuan(tmp_path, "backup", "--json")
    told = json.loads(said.out)
    [copy] = copies(tmp_path)
    assert (said.code, told["file"], told["schema"]) == (0, str(copy), SCHEMA_VERSION)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o777 == 0o700
    named = tmp_path / "mine.db"
    assert nuan(tmp_path, "backup", str(named)).code == 0
    before = named.read_bytes()
    again = nuan(tmp_path, "backup", str(named))
    assert (again.code, "is there already" in again.err, named.read_bytes() == before) == (1, True, True)
    assert json.loads(nuan(tmp_path, "backup", "--list", "--json").out)[0]["file"] == str(copy)
    assert str(copy) in nuan(tmp_path, "backup", "--list").out
    assert [path.name for path in tmp_path.rglob("*.new")] == []


def test_without_a_database_or_a_place_to_write_there_is_no_backup(tmp_path: Path) -> None:
    said = nuan(tmp_path, "backup")
    assert (said.code, "there is no database" in said.err) == (1, True)
    in_installation(tmp_path, fill)
    (tmp_path / "backups").write_text("a file")
    said = nuan(tmp_path, "backup")
    assert (said.code, "cannot be written" in said.err) == (1, True)


def test_the_newest_are_kept_and_the_old_ones_go(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    (tmp_path / "backups").mkdir()
    for name in ("nuan-20200101T000000000Z.db", "nuan-notes.db", ".nuan-20200101T000000000Z.db.new"):
        (tmp_path / "backups" / name).write_text("old")
    assert "1 old ones were removed" in nuan(tmp_path, "backup").out
    for _ in range(3):
        assert nuan(tmp_path, "backup", NUAN_BACKUP__KEEP="2").code == 0
    assert len(copies(tmp_path)) == 3, "two of ours and one that is none"
    assert (tmp_path / "backups" / "nuan-notes.db").read_text() == "old"
    assert not (tmp_path / "backups" / ".nuan-20200101T000000000Z.db.new").exists()


def test_a_copy_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    stop, written = threading.Event(), 0
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        for table in ("one", "two"):
            db.execute(f"CREATE TABLE {table} (x)")
        db.execute(
            "CREATE TABLE much AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 30000) "
            "SELECT hex(randomblob(300)) AS x FROM n"
        )
        db.commit()

    def write() -> None:
        nonlocal written
        with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
            while not stop.is_set():
                for table in ("one", "two"):
                    db.execute(f"INSERT INTO {table} VALUES (1)")
                db.commit()
                written += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert nuan(tmp_path, "backup").code == 0
    finally:
        stop.set()
        writer.join()
    with closing(sqlite3.connect(copies(tmp_path)[0])) as db:
        one, two = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("one", "two"))
    assert one == two < written


def test_a_restore_brings_back_what_was_and_not_what_was_forgotten_since(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711"))
    assert nuan(tmp_path, "backup").code == 0
    before = look(tmp_path, TEXTS)
    in_installation(tmp_path, lambda store: forget_all_of(store, "4711"))
    in_installation(tmp_path, lambda store: keep(store, "后来的事", BOB))
    name = copies(tmp_path)[0].name
    assert "is whole and can be restored" in nuan(tmp_path, "restore", name, "--check").out
    said = nuan(tmp_path, "restore", name)
    assert (said.code, "1 memories that were forgotten since stay forgotten" in said.out) == (0, True)
    assert "3 lines and 1 memories are newer than it" in said.out
    assert look(tmp_path, TEXTS) == [row for row in before if row != ("门禁码是4711",)]
    assert holding(tmp_path, "4711") == []
    [before_it] = tmp_path.glob("nuan.before-restore-*.db")
    with closing(sqlite3.connect(before_it)) as db:
        assert db.execute("SELECT count(*) FROM memory WHERE text = '后来的事'").fetchone() == (1,)
    assert sound(tmp_path) == []


@pytest.mark.parametrize("broken", [False, True])
def test_who_was_erased_is_erased_again_even_with_the_present_file_damaged(tmp_path: Path, broken: bool) -> None:
    in_installation(tmp_path, fill)
    assert nuan(tmp_path, "backup").code == 0
    said = nuan(tmp_path, "erase", "test:ann", "--yes")
    assert (said.code, "1 backups made before still hold them" in said.out) == (0, True)
    assert holding(tmp_path, "花生") == []
    if broken:
        (tmp_path / DATABASE).write_bytes(b"not a database" * 1000)
    said = nuan(tmp_path, "restore", copies(tmp_path)[0].name)
    assert (said.code, "cannot be told" in said.out) == (0, broken)
    for word in ("花生", "小安", "Ann"):
        assert holding(tmp_path, word) == []
    assert holding(tmp_path, "爬山") != []
    again = nuan(tmp_path, "backup", "--json")
    in_installation(tmp_path, lambda store: keep(store, "我又来了"))
    later = nuan(tmp_path, "backup", str(tmp_path / "later.db"))
    assert (again.code, later.code) == (0, 0)
    assert nuan(tmp_path, "restore", str(tmp_path / "later.db")).code == 0
    assert ("我又来了",) in look(tmp_path, TEXTS), "who came back after the erasure stays"


async def test_a_name_before_the_forgotten_one_stays_gone_with_the_present_file_damaged(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("叫我老王")
    assert (await nuan_in_thread(world, "backup")).code == 0
    await world.say("叫我阿宁")
    await world.say("忘记我的名字")
    await world.close()
    (world.folder / DATABASE).write_bytes(b"not a database" * 1000)
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    assert world.peek.memories("text", disabled_at=None) == []
    await world.say("叫我老王")
    assert world.peek.memories("text", disabled_at=None) == [("老王",)]


async def test_what_was_edited_and_then_forgotten_stays_so_with_the_present_file_damaged(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("记住门禁码是4711", external_id="m1")
    await world.say("记住我喜欢绿茶")
    assert (await nuan_in_thread(world, "backup")).code == 0
    await happens(world, "edit", "m1", "记住门禁码写在门后")
    await world.say("忘记门禁码写在门后")
    assert "忘" in world.replies[-1]
    await world.close()
    (world.folder / DATABASE).write_bytes(b"not a database" * 1000)
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    assert [text for (text,) in look(world.folder, TEXTS)] == ["我喜欢绿茶"]


def test_what_cannot_be_restored_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    in_installation(data, fill)
    in_installation(tmp_path / "other", fill)
    before = (data / DATABASE).read_bytes()
    damaged, newer, foreign, text = (tmp_path / f"{name}.db" for name in ("damaged", "newer", "foreign", "text"))
    damaged.write_bytes(before[:9000] + b"x" * 5000)
    text.write_text("hello")
    newer.write_bytes(before)
    for path, sql in (
        (newer, f"PRAGMA user_version = {SCHEMA_VERSION + 1}"),
        (foreign, "CREATE TABLE t (x)"),
    ):
        with closing(sqlite3.connect(path)) as db:
            db.execute(sql)
            db.commit()
    wrong = {
        damaged: "damaged.db",
        newer: "written by a newer nuan",
        foreign: "no database of nuan",
        text: "text.db",
        tmp_path / "none.db": "is no file",
        tmp_path / "other" / DATABASE: "another installation",
        data / DATABASE: "is the database itself",
    }
    for path, problem in wrong.items():
        said = nuan(data, "restore", str(path))
        assert (said.code, problem in said.err, said.err.count("\n")) == (1, True, 1), (path, said)
    assert nuan(data, "restore", str(newer), "--check").code == 1
    assert (data / DATABASE).read_bytes() == before
    assert sorted(path.name for path in data.iterdir()) == [DATABASE, "nuan.lock"]


async def test_a_restore_waits_for_nobody_and_refuses_beside_a_running_nuan(world: World) -> None:
    await world.say("记住我喜欢荷花")
    assert (await nuan_in_thread(world, "backup")).code == 0
    said = await nuan_in_thread(world, "restore", copies(world.folder)[0].name)
    assert (said.code, "another nuan is answering" in said.err) == (1, True)
    assert "whole" in (await nuan_in_thread(world, "restore", copies(world.folder)[0].name, "--check")).out
    said = await nuan_in_thread(world, "erase", "console:local", "--yes")
    assert (said.code, "another nuan is answering" in said.err) == (1, True)


def test_a_backup_of_an_older_schema_is_brought_up_to_date_and_stays_as_it_is(tmp_path: Path) -> None:
    in_installation(tmp_path / "data", fill)
    older = tmp_path / "older.db"
    _prepare(older, MIGRATIONS[:-1])
    with closing(sqlite3.connect(older)) as db, closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as now:
        installation = now.execute("SELECT value FROM meta WHERE key = 'house'").fetchone()
        db.execute("UPDATE meta SET value = ? WHERE key = 'house'", installation)
        db.commit()
        db.execute("PRAGMA journal_mode = DELETE")
    before = older.read_bytes()
    assert f"would be brought to {SCHEMA_VERSION}" in nuan(tmp_path / "data", "restore", str(older), "--check").out
    assert nuan(tmp_path / "data", "restore", str(older)).code == 0
    assert look(tmp_path / "data", "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert older.read_bytes() == before
    assert [path.name for path in (tmp_path / "data").glob("nuan-rollback*")] == []


def test_into_an_empty_folder_a_backup_is_an_installation(tmp_path: Path) -> None:
    in_installation(tmp_path / "old", fill)
    assert nuan(tmp_path / "old", "backup", str(tmp_path / "copy.db")).code == 0
    said = nuan(tmp_path / "new", "restore", str(tmp_path / "copy.db"), "--json")
    assert (said.code, json.loads(said.out)["before"]) == (0, None)
    assert look(tmp_path / "new", TEXTS) == look(tmp_path / "old", TEXTS)
    assert (tmp_path / "new" / DATABASE).stat().st_mode & 0o777 == 0o600


def test_killed_in_the_middle_of_a_restore_the_installation_is_the_old_one_and_the_next_works(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    assert nuan(tmp_path, "backup").code == 0
    in_installation(tmp_path, lambda store: keep(store, "后来的事", BOB))
    [copy] = copies(tmp_path)
    kill_in("restore", tmp_path, str(copy))
    assert ("后来的事",) in look(tmp_path, TEXTS)
    assert sound(tmp_path) == []
    assert nuan(tmp_path, "restore", copy.name).code == 0
    assert ("后来的事",) not in look(tmp_path, TEXTS)
    assert list(tmp_path.glob("nuan-rollback*")) == []


def test_killed_in_the_middle_of_an_erasure_the_next_start_ends_it(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    kill_in("erase", tmp_path, "test:ann")
    assert holding(tmp_path, "花生") != [], "nothing of it was stored"
    in_installation(tmp_path, nothing)
    assert holding(tmp_path, "花生") == []
    assert sound(tmp_path) == []


async def nothing(store: Store) -> None:
    """Only a start."""


async def back_up_while_it_answers(world: World, **settings: str) -> None:
    """A backup is made while a model is asked about 在吗, and the answer comes afterwards."""
    world.shut()
    await world.app.ingest.accept(world.message("在吗"))
    await world.held()
    assert (await nuan_in_thread(world, "backup", **settings)).code == 0
    await world.let_answer()


async def test_what_was_said_answered_or_ended_since_does_not_happen_again(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("我明天把报告发给你")
    await world.say(".ai remind 1小时后 喝水")
    await back_up_while_it_answers(world)
    await world.say(".ai promise drop 1")
    await world.say("今天好累")
    await world.wait(4000)
    said = len(world.replies)
    spent = world.rows("SELECT count(*), sum(prompt_tokens) FROM call WHERE state <> 'reserved'")
    counted = set(world.rows("SELECT id, occasion FROM call WHERE occasion IS NOT NULL"))
    await world.close()
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    await world.wait(4000)
    assert len(world.replies) == said
    assert world.peek.commitments.count(text=Other("")) == 0
    assert world.peek.reminders.count(ended_at=None) == 0
    assert world.rows("SELECT count(*), sum(prompt_tokens) FROM call WHERE state <> 'reserved'") >= spent
    assert set() < counted <= set(world.rows("SELECT id, occasion FROM call")), "limits count them, too"
    await world.say("在吗？")
    assert len(world.replies) == said + 1


async def test_after_a_restore_a_turn_that_was_under_way_leaves_no_question_behind_in_the_log(
    new_world: NewWorld,
) -> None:
    world = await new_world()
    await world.say("你好")
    await back_up_while_it_answers(world)
    await world.close()
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    await world.say("现在呢")
    first, *_, last = world.prompts
    one_system_then_strict_alternation(last)
    assert last[: len(first)] == first
    assert "在吗" in last[-1].content
    assert "现在呢" in last[-1].content


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
async def test_after_a_restore_calls_cost_what_they_cost_and_those_under_way_what_was_reserved(
    new_world: NewWorld, engine: str
) -> None:
    if engine == "postgres" and not any(shutil.which(program) for program in ("pg_dump", "pg_restore")):
        pytest.skip("pg_dump and pg_restore are not there: install postgresql-client")
    world = await new_world()
    place = {"NUAN_STORE__URL": servers.URLS[world.folder]} if engine == "postgres" else {}
    await back_up_while_it_answers(world, **place)
    said, settled = len(world.replies), world.rows(ENDED)
    world.shut()
    await world.app.ingest.accept(world.message("还在吗"))
    await world.held()
    await world.kill()
    reserved = world.rows("SELECT reserved_tokens, reserved_cost FROM call WHERE state = 'reserved'")
    [copy] = (world.folder / "backups").glob("nuan-*.d*")
    for url in place.values():
        servers.drop(url)
    assert (await nuan_in_thread(world, "restore", copy.name, **place)).code == 0
    await world.open()
    assert world.rows(ENDED) == [*settled, ("lost", *reserved[0])]
    assert len(world.replies) == said
    await world.say("在吗？")
    assert len(world.replies) == said + 1


ENDED = "SELECT state, prompt_tokens, cost FROM call WHERE state <> 'reserved' ORDER BY id"


async def test_a_read_only_store_resumes_nothing(tmp_path: Path) -> None:
    async with await open_store(tmp_path) as store:
        await fill(store)
        store.files.erasures.begin(["test:ann"], 1)
    async with await open_store(tmp_path, read_only=True) as store:
        assert await store.people.by_account("test:ann") is not None


async def test_what_was_cleared_or_set_aside_since_stays_so(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("我下周要去上海")
    await world.say("今天吃了荷花酥")
    assert (await nuan_in_thread(world, "backup")).code == 0
    await world.say("别记这个")
    await world.say(".ai clear")
    sql = "SELECT id FROM event WHERE off_record = 1 AND text LIKE '%荷花酥'"
    marked, cleared = world.rows(sql), world.peek.chats("cleared_upto")
    assert marked != []
    await world.close()
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    assert look(world.folder, sql) == marked
    assert look(world.folder, "SELECT cleared_upto FROM chat") == cleared
    await world.open()


async def test_what_waited_to_be_sent_when_the_copy_was_made_is_not_sent_again(new_world: NewWorld) -> None:
    world = await new_world()
    world.talk.broken = True
    await world.say("在吗")
    assert (await nuan_in_thread(world, "backup")).code == 0
    world.talk.broken = False
    await world.wait(200)
    assert len(world.replies) == 1
    await world.close()
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    await world.wait(4000)
    assert len(world.replies) == 1


async def test_what_was_kept_of_a_deleted_message_stays_gone_with_the_present_file_damaged(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("记住我的门禁码是4711", external_id="m1")
    await world.say("记住我怕狗")
    assert (await nuan_in_thread(world, "backup")).code == 0
    await happens(world, "delete", "m1")
    await world.close()
    (world.folder / DATABASE).write_bytes(b"not a database" * 1000)
    assert (await nuan_in_thread(world, "restore", copies(world.folder)[0].name)).code == 0
    await world.open()
    assert [text for (text,) in look(world.folder, TEXTS)] == ["我怕狗"]


async def forget_a_note_of_it(store: Store) -> None:
    """As when a line of a note that says it is forgotten: by its words, without a number."""
    store.files.tombstones.add_tombstones([(0, "门禁码是4711")], 1)


def test_what_was_forgotten_by_its_words_stays_so_with_the_present_file_damaged(tmp_path: Path) -> None:
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711"))
    assert nuan(tmp_path, "backup").code == 0
    in_installation(tmp_path, forget_a_note_of_it)
    (tmp_path / DATABASE).write_bytes(b"not a database" * 1000)
    assert nuan(tmp_path, "restore", copies(tmp_path)[0].name).code == 0
    assert look(tmp_path, TEXTS) == []
