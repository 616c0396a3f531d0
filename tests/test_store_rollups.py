"""Dialogue memory in the store: killed at any statement, brought back from a copy, and as an older nuan left it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.people import Audience
from bot.store.backups import backup, roll_back
from bot.store.schema import MIGRATIONS
from tests.blank import open_laid
from tests.kill_rolling import kill_at, roll_up
from tests.storing import DAY, NOW, SAID, Where, look, sound, talked

ROWS = "SELECT id, session_id, tier, until, into_id, roll_at, talks, summary FROM digest ORDER BY id"
LATER = NOW + 20 * DAY


@pytest.mark.parametrize("statement", [1, 9, 15])
async def test_killed_while_it_rolls_up_nothing_was_done_and_the_next_start_does_it(
    tmp_path: Path, statement: int
) -> None:
    async with await open_laid(tmp_path) as store:
        await talked(store)
    before = look(tmp_path, ROWS)
    kill_at(tmp_path, statement, LATER)
    async with await open_laid(tmp_path) as store:
        assert look(tmp_path, ROWS) == before
        await roll_up(store, LATER)
        done = look(tmp_path, ROWS)
        await roll_up(store, LATER)
    assert look(tmp_path, ROWS) == done
    assert [row[2:4] + row[6:] for row in done if row[1] is None] == [
        ("week", 1_781_496_000_000, 3, " / ".join(SAID))
    ], "Monday 04:00 UTC"
    assert sound(tmp_path) == []


async def test_what_was_cleared_stays_cleared_when_an_older_copy_is_put_back(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        audience = await talked(store)
        await roll_up(store, LATER)
        group = await talked(store, ("聊了爬山",), Where("ann", "hall", "group"), NOW)
    copy = backup(tmp_path, "backfill", "1")
    async with await open_laid(tmp_path) as store:
        assert await store.digests.clear(audience, LATER) == 3
    assert look(tmp_path, "SELECT summary FROM digest") == [("聊了爬山",)]
    await roll_back(tmp_path, copy, "2", LATER)
    async with await open_laid(tmp_path) as store:
        assert await store.digests.told(audience, 0, 0) == ()
        (left,) = await store.digests.told(Audience(group.chat_id, "group", group.person_ids), 0, 0)
        assert left.summary == "聊了爬山"
    assert sound(tmp_path) == []


def test_the_talks_of_an_older_nuan_are_kept_with_who_took_part_and_are_due(tmp_path: Path) -> None:
    first = 24  # migrations/0025_dialogue_memory.sql
    with closing(sqlite3.connect(tmp_path / "old.db")) as db:
        for migration in MIGRATIONS[:first]:
            for statement in migration:
                db.execute(statement)
        db.execute("INSERT INTO person (id, name, created_at) VALUES (7, 'Ann', 0)")
        db.execute("INSERT INTO event (id, chat_id, person_id, at, kind, state) VALUES (3, 1, 7, 0, 'message', 'done')")
        db.execute(
            "INSERT INTO digest (id, session_id, chat_id, owner_id, summary, made_by, names, started_at, ended_at, "
            "created_at) VALUES (5, 2, 1, 7, '聊了熊猫', 'rule', '[]', 1, 2, 3)"
        )
        db.execute("INSERT INTO edge VALUES ('digest', 5, 3)")
        for statement in MIGRATIONS[first]:
            db.execute(statement)
        row = db.execute("SELECT id, session_id, summary, tier, into_id, roll_at FROM digest").fetchone()
        assert row == (5, 2, "聊了熊猫", "raw", None, 0)
        assert db.execute("SELECT * FROM talker").fetchall() == [(5, 7)]
        db.execute("DELETE FROM digest")
        again = "INSERT INTO digest (chat_id, summary, made_by, names, started_at, ended_at, created_at) VALUES "
        assert db.execute(again + "(1, '', '', '', 0, 0, 0)").lastrowid == 6, "no number is given twice"
