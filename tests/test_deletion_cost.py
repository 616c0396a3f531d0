"""What is deleted or forgotten is gone from every byte within a minute, and costs the same however much others said."""

import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copytree

import pytest

from bot.core.events import Incoming, Place, Sender
from bot.store.backups import copy_to, roll_back
from bot.store.files import DataFiles
from bot.store.store import DATABASE
from tests.bench.largedb import Size, make
from tests.conftest import NewWorld
from tests.erasing import files_with
from tests.metering import Meter
from tests.storing import holding
from tests.test_changes import happens
from tests.world import NINE, World

WORD = "zwk7731"
SMALL, LARGE = Size(400, 60, 4, 80, 15), Size(4_000, 600, 40, 80, 15)
"""The same person among few and among many others."""

WRITTEN = 600_000
"""Bytes of the log for one deletion: the pages of a line's words, and of what was made of it."""


async def emptied(world: World) -> None:
    """The minute is over."""
    await world.wait(60)


def left(world: World, tmp_path: Path) -> list[str]:
    """The files of the database, and of a new backup, in which the word stands."""
    copy = copy_to(world.folder, tmp_path / "copies" / "new.db")
    found = [each for each in files_with(world.folder, WORD) if each.startswith("nuan.db")]
    return found + [copy.name for _ in range(WORD.encode() in copy.read_bytes())]


@pytest.mark.parametrize("way", ["delete", "forget", "seven days"])
async def test_words_are_gone_from_file_log_and_new_backups_after_a_minute(
    new_world: NewWorld, tmp_path: Path, way: str
) -> None:
    world = await new_world()
    asks = "" if way == "delete" else "记住"
    await world.say(f"{asks}我的门禁码是{WORD}", external_id="m1")
    await world.say("嗯", external_id="m2")
    assert "nuan.db-wal" in left(world, tmp_path / "before")
    match way:
        case "delete":
            await happens(world, "delete", "m1")
        case "forget":
            await world.say("彻底忘记门禁码")
        case _:
            await world.say("忘记门禁码")
            assert set(holding(world.folder, WORD)) <= {"memory.text", "memory.folded"}, "in the row for undo alone"
            await world.wait(7 * 86_400)
    await emptied(world)
    assert left(world, tmp_path) == []


async def cost(folder: Path, what: str) -> tuple[int, int]:
    """Statements and bytes of the log for one deletion or one wish to forget of 小王."""
    meter = Meter()
    with meter.watching():
        world = await World(folder).open()
        await world.say("早")
        ((target, number),) = world.rows(
            "SELECT external_id, memory.id FROM memory JOIN edge ON edge.kind = 'memory' AND derived_id = memory.id "
            "JOIN event ON event.id = event_id WHERE asked = 1 AND memory.chat_id = 1 ORDER BY event.id LIMIT 1"
        )
        await world.store._database.truncate()
        meter.start()
        if what == "delete":
            place = Place("console", "local", "dm")
            sender = Sender("console", "local", "小王")
            await world.app.ingest.accept(Incoming(place, sender, "event", "", "delete", target=str(target)))
            await world.app.settled()
        else:
            await world.say(f"忘记 #{number}")
            assert f"#{number}" in world.replies[-1]
        written = (folder / "nuan.db-wal").stat().st_size
        await world.close()
    return meter.work.statements, written


async def test_one_of_many_costs_what_one_of_few_costs(tmp_path: Path) -> None:
    await make(tmp_path / "few", SMALL)
    await make(tmp_path / "many", LARGE)
    for what in ("delete", "forget"):
        few, small = await cost(copytree(tmp_path / "few", tmp_path / f"few {what}"), what)
        many, large = await cost(copytree(tmp_path / "many", tmp_path / f"many {what}"), what)
        assert many <= few * 1.05, what
        assert large <= small * 1.3, what
        assert large <= WRITTEN, what


READINGS = (
    "SELECT id, text || ",
    "SELECT epoch_id, message FROM entry",
    "SELECT id, session_id FROM digest",
    "SELECT id, summary FROM digest WHERE (",
    "SELECT id, text, original FROM memory",
    "SELECT id, text FROM outbox",
    "SELECT key, result FROM effect",
)
"""How the statements begin that read all that was said, logged, told or kept in a chat."""


async def restored(folder: Path, forgotten: int) -> tuple[int, int]:
    """Statements of a restore after 小王 forgot so many memories, and how many of them read a chat."""
    await make(folder, SMALL)
    copy = copy_to(folder, folder / "copy.db")
    with closing(sqlite3.connect(folder / DATABASE)) as db, db:
        rows = db.execute("SELECT id, text FROM memory WHERE chat_id = 1 ORDER BY id LIMIT ?", (forgotten,)).fetchall()
        db.executemany(
            "UPDATE memory SET disabled_at = 1, disabled_reason = 'asked' WHERE id = ?", [row[:1] for row in rows]
        )
    DataFiles(folder).tombstones.add_tombstones(rows, NINE)
    meter = Meter()
    with meter.watching():
        _, count = await roll_back(folder, copy, "20260612T010000000Z", NINE)
    assert count == forgotten
    readings = sum(count for sql, count in meter.statements.items() if sql.startswith(READINGS))
    return meter.asked, readings


async def test_a_restore_reads_a_chat_once_for_all_that_was_forgotten_there(tmp_path: Path) -> None:
    few, once = await restored(tmp_path / "few", 3)
    many, again = await restored(tmp_path / "many", 13)
    assert once == again
    assert many - few <= 10 * 180  # each line that nuan said knowing it takes some


async def test_a_summary_is_emptied_once_however_many_of_its_lines_go(tmp_path: Path) -> None:
    await make(tmp_path / "data", Size(400, 60, 8))
    meter = Meter()
    with meter.watching():
        world = await World(tmp_path / "data").open()
        ((talks,),) = world.rows("SELECT count(*) FROM digest WHERE summary <> '' AND chat_id = 5")
        meter.start()
        await world.store.people.erase(6, world.clock.now())
        emptied = sum(n for sql, n in meter.statements.items() if sql.startswith("UPDATE digest SET summary = ''"))
        await world.close()
    assert isinstance(talks, int)
    assert emptied <= 2 * talks, "with the lines, and as one that they took part in"


async def test_however_many_memories_go_with_a_message_the_disk_is_waited_for_once(world: World) -> None:
    await world.say("记住我爱吃面\n记住我怕狗\n记住我住在杭州", external_id="m1")
    assert world.rows("SELECT count(*) FROM memory WHERE disabled_at IS NULL") == [(3,)]
    await happens(world, "delete", "m1")
    written = (world.folder / "tombstones.jsonl").read_text("utf-8")
    assert len(written.splitlines()) == 1 + 3, "each time it is written to it begins with an empty line"
