"""`nuan move`: everything goes to a server and back, the same; cut off, it goes on; what cannot be done is one line."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.errors import StoreError
from bot.core.people import Audience
from bot.store.files import KEY_FILE, TOMBSTONES_FILE, KeptInFolder
from bot.store.postgres import move as engine
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.processes import LOCK, OF_PROCESSES
from bot.store.schema import SCHEMA_VERSION
from bot.store.sqlite.opening import MOVING
from bot.store.store import DATABASE, open_store
from tests import servers, storing
from tests.belonging import nuan, nuan_in_thread
from tests.noting import dm, found, look, put
from tests.storing import NOW
from tests.world import World

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[1]

CUT = """
import os, signal, sys
from pathlib import Path
from bot.store.files import KEY_FILE, TOMBSTONES_FILE, KeptInFolder
from bot.store.postgres import move as engine

engine.STEP, left = 7, int(sys.argv[3])

def tell(*_):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

places = [where if where.startswith("postgresql") else Path(where) for where in sys.argv[1:3]]
engine.move(*places, Path(sys.argv[4]), tell, 0)
"""
"""A move that is killed after so many steps."""


KEYS = "备用钥匙在邻居家\n"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[str]:
    """The address of a database with nothing in it."""
    name = f"empty_{os.urandom(6).hex()}"
    servers.run(servers.server(), f"CREATE DATABASE {name}")
    yield servers.url_of(servers.server(), name)
    servers.run(servers.server(), f"DROP DATABASE {name} WITH (FORCE)")


async def fill(world: World) -> None:
    """Something of everything that people do here."""
    await world.say("记住我对花生过敏")
    await world.say("记住妹妹住在上海")
    await world.say("明天9点提醒我交报告")
    await world.say("我答应了周五之前把书还给小李")
    await world.say("忘记花生")
    await world.say("大家好", who="bob", group="家")
    await world.say("小暖，今天下雨了", who="bob", group="家")
    for number in range(12):
        await world.say(f"第{number}件小事，猫叫Momo，Lunch in Leeds")
    await world.say("/new")
    await world.wait(4_000)
    await world.say(".ai budget day 9000")


def cut(source: str, target: str, folder: Path, steps: int) -> None:
    """Begin a move, and kill it."""
    done = subprocess.run([sys.executable, "-c", CUT, source, target, str(steps), str(folder)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL


def left_in(folder: Path) -> list[Path]:
    """What a move has not finished."""
    return list(folder.glob(f"{MOVING}*"))


def rows(url: str = "", file: Path | None = None) -> dict[str, object]:
    """Every row of every table, as another program reads them, but of who works on it."""
    tx = PostgresTx(url) if url else None
    with closing(tx or sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        names = (
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'"
            if url
            else "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {
            name: sorted(map(repr, db.execute(f"SELECT * FROM {name}").fetchall()))
            for (name,) in db.execute(names).fetchall()
            if name not in OF_PROCESSES
        }


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    """A data folder whose nuan has been talked to, and was stopped."""
    world = await World(tmp_path / "data").open()
    await fill(world)
    await world.say(".ai export me")
    assert "another nuan is answering" in (await nuan_in_thread(world, "move", "--to", "postgresql://u@/x")).err
    await world.close()
    return world.folder


async def test_everything_goes_to_a_server_talks_go_on_there_and_it_all_comes_back(filled: Path, empty: str) -> None:
    file, (archive,) = filled / DATABASE, (filled / "exports").iterdir()
    before = rows(file=file)
    said = nuan(filled, "move", "--to", empty)
    assert (said.code, "store.url" in said.out) == (0, True), said.err
    assert rows(empty) == before == rows(file=file)
    assert KeptInFolder(filled).lines(TOMBSTONES_FILE)
    for name in (TOMBSTONES_FILE, KEY_FILE):
        (filled / name).unlink()
    assert "not empty" in nuan(filled, "move", "--to", empty).err
    servers.URLS[filled] = empty
    world = await World(filled).open()
    await world.say(".ai mem")
    assert "妹妹住在上海" in world.replies[-1]
    assert world.store.tombstones.covers("我对花生过敏")
    assert not list((filled / "exports").iterdir()), "it waits on the server now"
    await world.say("记住我爱喝茶")
    await world.close()
    servers.URLS.clear()
    back = {"NUAN_STORE__URL": empty}
    assert "is there already" in nuan(filled, "move", "--to", "sqlite:", **back).err
    file.rename(filled / "before.db")
    there = rows(empty)
    assert nuan(filled, "move", "--to", "sqlite:", **back).code == 0
    assert rows(file=file) == there == rows(empty) != before
    world = await World(filled).open()
    await world.say(".ai mem")
    assert "我爱喝茶" in world.replies[-1]
    assert world.store.tombstones.covers("我对花生过敏")
    assert list((filled / "exports").iterdir()) == [archive]
    await world.close()


async def test_notes_go_along_and_a_start_elsewhere_has_them_and_what_is_known_of_them(
    tmp_path: Path, empty: str
) -> None:
    world = await World(tmp_path / "data").open()
    await world.say("在吗")
    put(world, "notes/keys.md", KEYS)
    await look(world)
    await world.close()
    said = nuan(world.folder, "move", "--to", empty)
    assert (said.code, "1 notes went along" in said.out) == (0, True), said
    servers.URLS[tmp_path / "new"] = empty
    other = await World(tmp_path / "new").open()
    assert (other.folder / "notes/keys.md").read_text("utf-8") == KEYS
    await look(other)
    assert found(other, dm(other), KEYS.strip()) == ["notes/keys.md#L1"]
    put(other, "notes/more.md", KEYS)
    await look(other)
    await other.close()
    servers.URLS.clear()
    said = nuan(tmp_path / "back", "move", "--to", "sqlite:", NUAN_STORE__URL=empty)
    assert (said.code, "2 notes went along" in said.out) == (0, True), said
    back = await World(tmp_path / "back").open()
    await look(back)
    assert found(back, dm(back), KEYS.strip()) == ["notes/keys.md#L1", "notes/more.md#L1"]
    await back.close()


async def test_numbers_go_on_behind_those_that_were_given_also_where_the_rows_are_gone(
    tmp_path: Path, empty: str
) -> None:
    async with await open_store(tmp_path) as store:
        number = await storing.keep(store, "说过就忘")
        person, chat, _ = await storing.ids(store)
        (memory,) = await store.memories.owned(person, Audience(chat, "dm", (person,)))
        await storing.drop(store, memory, days=None)
    assert nuan(tmp_path, "move", "--to", empty).code == 0
    (tmp_path / DATABASE).unlink()
    assert nuan(tmp_path, "move", "--to", "sqlite:", NUAN_STORE__URL=empty).code == 0
    async with await open_store(tmp_path, url=empty) as store:
        assert await storing.keep(store, "新的") == number + 1
    async with await open_store(tmp_path) as store:
        assert await storing.keep(store, "新的") == number + 1


@pytest.mark.parametrize("back", [False, True])
async def test_killed_at_any_step_it_goes_on_and_no_nuan_starts_on_half_of_it(
    filled: Path, empty: str, back: bool
) -> None:
    file = filled / DATABASE
    before, way, settings = rows(file=file), ("--to", empty), {}
    if back:
        assert nuan(filled, "move", *way).code == 0
        file.unlink()
        way, settings = ("--to", "sqlite:"), {"NUAN_STORE__URL": empty}
    places = (empty, str(file)) if back else (str(file), empty)
    for steps in (3, 9, 40, 80):
        cut(*places, filled, steps=steps)
        with pytest.raises(StoreError, match="not finished: run `nuan move` again"):
            await open_store(filled, url="" if back else empty)
    done = nuan(filled, "move", *way, **settings)
    assert (done.code, "copied anew" in done.out) == (0, False), done.err
    assert (rows(file=file) if back else rows(empty)) == before
    assert left_in(filled) == []


async def test_what_was_changed_between_two_runs_is_copied_anew(filled: Path, empty: str) -> None:
    file = filled / DATABASE
    cut(str(file), empty, filled, steps=40)
    world = await World(filled).open()
    await world.say("叫我阿王")
    await world.close()
    done = nuan(filled, "move", "--to", empty)
    assert (done.code, "copied anew" in done.out) == (0, True), done.err
    assert rows(empty) == rows(file=file)


async def test_a_server_that_goes_away_in_the_middle_is_one_line_and_it_goes_on(filled: Path, empty: str) -> None:
    left = 20

    def tell(*_: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
            servers.run(servers.server(), ended.format(empty.partition("@/")[2].partition("?")[0]))

    with pytest.raises(
        StoreError, match=r"cannot be used .*; the source is as it was; run the same command again"
    ) as gone:
        engine.move(filled / DATABASE, empty, filled, tell, NOW)
    assert "\n" not in str(gone.value)
    assert nuan(filled, "move", "--to", empty).code == 0


async def test_what_cannot_be_moved_is_said_in_one_line_and_nothing_is_changed(filled: Path, empty: str) -> None:
    def refused(*words: str, **settings: str) -> str:
        said = nuan(filled, "move", *words, **settings)
        assert (said.code, said.err.count("\n")) == (1, 1), said
        return said.err

    assert "must be" in refused("--to", "mysql://x")
    assert "there already" in refused("--to", "sqlite:")
    assert "there already" in refused("--to", empty, NUAN_STORE__URL=empty)
    assert "there already" in refused("--to", f"{empty}&application_name=x", NUAN_STORE__URL=empty)
    assert "does not exist" in refused("--to", servers.url_of(servers.server(), "absent"))
    with closing(PostgresTx(empty)) as other:  # a restore, another move, a nuan that begins
        other.execute("SELECT pg_advisory_lock(?)", (LOCK,))
        assert "just now: wait" in refused("--to", empty)
    with closing(sqlite3.connect(filled / DATABASE)) as db:
        db.execute("PRAGMA user_version = 7")
    assert "another version" in refused("--to", empty)
    with closing(sqlite3.connect(filled / DATABASE)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    with closing(PostgresTx(empty)) as tx:
        tx.execute("CREATE TABLE theirs (number bigint)")
    assert "another program" in refused("--to", empty)
