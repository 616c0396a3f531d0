"""The full-text index over years of forgetting: it stays readable, keeps nothing, and a worn one is built anew."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.core.people import Audience
from bot.store.index import MANY_LEVELS, MOST_LEVELS, Doc, drop_documents, forget_terms, levels, put_document
from bot.store.sqlite import SqliteTx
from bot.store.store import DATABASE
from tests.blank import open_laid
from tests.storing import ids, keep, look, searched, sound

YEARS = 1_200
"""Two forgettings a day, as `tidy` and a purge do, for twenty months: more than SQLite 3.40 bears."""


async def filled(folder: Path) -> Path:
    """A database whose index is larger than a page, so that SQLite merges no small part into it; closed."""
    async with await open_laid(folder) as store:
        await keep(store, "第0件事 桂花")
    with closing(sqlite3.connect(folder / DATABASE, factory=SqliteTx)) as db, db:
        for number in range(1, 80):
            put_document(
                db, Doc("note", number, "c1", 1, None, 0, f"甲乙丙丁戊己庚辛壬癸 {number * 7919} {number * 104729}")
            )
    return folder / DATABASE


async def finds(folder: Path) -> int:
    """How many memories a search of the opened store finds."""
    async with await open_laid(folder) as store:
        person, chat, _ = await ids(store)
        return len(await searched(store, Audience(chat, "dm", (person,)), "桂花"))


async def test_years_of_forgetting_leave_an_index_that_is_whole_small_and_empty_of_it(tmp_path: Path) -> None:
    path = await filled(tmp_path)
    most, left = 0, 0
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db, db:
        db.execute("PRAGMA secure_delete = ON")
        for number in range(1_000, 1_000 + YEARS):
            put_document(db, Doc("note", number, "c1", 1, None, 0, f"zq{number}x{number}z"))
            drop_documents(db, "note", (number - 1,))
            put_document(db, Doc("note", 1, "c1", 1, None, 0, f"又一次 {number}"))
            forget_terms(db)
            most = max(most, levels(db, "doc_text"))
            blocks = db.execute(
                "SELECT count(*) FROM doc_text_data WHERE instr(block, ?)", (f"x{number - 1}z".encode(),)
            )
            left += blocks.fetchone()[0]
    assert (most < MANY_LEVELS, left) == (True, 0)
    assert sound(tmp_path) == []
    assert await finds(tmp_path) == 1


@pytest.mark.parametrize("times", [MANY_LEVELS, MOST_LEVELS])
async def test_an_index_worn_by_an_older_nuan_is_built_anew_at_the_start(tmp_path: Path, times: int) -> None:
    path = await filled(tmp_path)
    before = look(tmp_path, "SELECT rowid, scope, terms FROM doc_text")
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        row = db.execute("SELECT block FROM doc_text_data WHERE id = 10").fetchone()[0]
        assert row[4] < MANY_LEVELS
        empty = bytes(2) * times  # as 'optimize' left them: levels without a part, below the one that has all
        count = row[4] + times
        varint = bytes((count >> 7 | 0x80, count & 0x7F))
        db.execute("UPDATE doc_text_data SET block = ? WHERE id = 10", (row[:4] + varint + row[5:7] + empty + row[7:],))
        db.commit()
    if times == MOST_LEVELS:
        with pytest.raises(sqlite3.DatabaseError, match="constructor"):
            look(tmp_path, "SELECT count(*) FROM doc_text")
    assert await finds(tmp_path) == 1
    assert set(before) <= set(look(tmp_path, "SELECT rowid, scope, terms FROM doc_text"))
    assert sound(tmp_path) == []
    with closing(sqlite3.connect(path, factory=SqliteTx)) as db:
        assert levels(db, "doc_text") < MANY_LEVELS
