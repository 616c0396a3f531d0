"""The index of terms: what is deleted leaves it whole and cheaply, and an index of an older schema is taken over."""

import random
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bot.core.errors import StoreError
from bot.core.people import Audience
from bot.store.index import Doc, add_document, drop_documents
from bot.store.postings import MOST_LISTED, numbers_of, postings_of, steps_of, term_number
from bot.store.schema import MIGRATIONS
from bot.store.sqlite.connection import SqliteTx
from bot.store.sqlite.opening import _migrate, _prepare, connect
from bot.store.store import DATABASE
from bot.store.supersession import near_memories
from bot.text.terms import search_terms
from tests.blank import open_laid
from tests.indexed import wrong_index
from tests.kill_migration import copies, killed
from tests.sizes import SHARE, sized
from tests.storing import ids, keep, look, say, searched, sound, statement

FTS5 = 45
"""The last schema with an index of FTS5."""

ROWS = (
    "INSERT INTO person (id, name, created_at) VALUES (1, 'Ann', 1)",
    "INSERT INTO account (platform, external_id, person_id, name, created_at) VALUES ('test', 'ann', 1, 'Ann', 1)",
    "INSERT INTO chat (id, kind, created_at) VALUES (1, 'dm', 1)",
    "INSERT INTO place (platform, external_id, chat_id) VALUES ('test', 'dm-ann', 1)",
    "INSERT INTO member (chat_id, person_id, seen_at) VALUES (1, 1, 1)",
    "INSERT INTO memory (id, owner_id, chat_id, visibility, kind, text, folded, source, stability_days, accessed_at, "
    "observed_at, created_at, updated_at) VALUES (1, 1, 1, 'private', 'knowledge', '院子里有桂花', '院子里有桂花', "
    "'command', 99, 1, 1, 1, 1)",
    "INSERT INTO doc (id, kind, ref, scope, chat_id, person_id, at, length) VALUES (1, 'memory', 1, 'p1', 1, 1, 1, 11)",
    "INSERT INTO meta (key, value) VALUES ('terms', '2')",
)

EVERY = SHARE // sized(SHARE)
"""A start is killed at each statement, in `make test` at one of three."""

WORN = 2_200
"""Empty levels as years of 'optimize' left them: more than SQLite reads."""


def of_older_schema(folder: Path, *, worn: bool, schema: int = FTS5) -> None:
    """A database with one memory in an index of FTS5, closed."""
    path = folder / DATABASE
    folder.mkdir(exist_ok=True)
    with closing(connect(path)) as db:
        _migrate(db, path, MIGRATIONS[:schema])
        for sql in ROWS:
            db.execute(sql)
        terms = " ".join(search_terms("院子里有桂花"))
        db.execute("INSERT INTO doc_text (rowid, scope, terms) VALUES (1, 'p1', ?)", (terms,))
        if worn:
            (row,) = db.execute("SELECT block FROM doc_text_data WHERE id = 10").fetchone()
            count = bytes((WORN >> 7 | 0x80, WORN & 0x7F))
            block = row[:4] + count + row[5:7] + bytes(2) * (WORN - row[4]) + row[7:]
            db.execute("UPDATE doc_text_data SET block = ? WHERE id = 10", (block,))


@pytest.mark.parametrize("worn", [False, True])
async def test_an_index_of_an_older_schema_is_taken_over_however_worn_it_is(tmp_path: Path, worn: bool) -> None:
    of_older_schema(tmp_path, worn=worn)
    if worn:
        with closing(sqlite3.connect(tmp_path / DATABASE)) as db, pytest.raises(sqlite3.DatabaseError):
            db.execute("SELECT count(*) FROM doc_text")
    async with await open_laid(tmp_path) as store:
        person, chat, _ = await ids(store)
        found = await searched(store, Audience(chat, "dm", (person,)), "桂花")
    assert [memory.text for memory in found] == ["院子里有桂花"]
    assert sound(tmp_path) == []
    assert (tmp_path / f"nuan.before-{FTS5 + 1}.db").exists(), "as it was"


def old_index(path: Path) -> list[tuple[str]]:
    """What FTS5 finds in an index of an older schema that is whole; sqlite3.DatabaseError when it is not."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO doc_text (doc_text) VALUES ('integrity-check')")
        return db.execute("SELECT scope FROM doc_text WHERE doc_text MATCH 'terms : 桂'").fetchall()


def test_a_start_that_is_killed_at_any_statement_leaves_the_old_index_whole_or_the_new_one(tmp_path: Path) -> None:
    of_older_schema(tmp_path / "old", worn=False)
    path, copy, statement = tmp_path / "work" / DATABASE, f"nuan.before-{FTS5 + 1}.db", 0
    while True:
        statement += EVERY
        copies(tmp_path / "old" / DATABASE, path)
        if not killed(path, len(MIGRATIONS), statement):
            break
        if look(path.parent, "PRAGMA user_version") == [(FTS5,)]:
            assert old_index(path) == [("p1",)]
        _prepare(path, MIGRATIONS)
        assert old_index(path.with_name(copy)) == [("p1",)]
        assert sound(path.parent) == []
    assert statement > 40


@pytest.mark.parametrize("schema", [13, 34, 38, FTS5])
def test_a_worn_index_of_any_schema_is_taken_over(tmp_path: Path, schema: int) -> None:
    of_older_schema(tmp_path, worn=True, schema=schema)
    _prepare(tmp_path / DATABASE, MIGRATIONS)
    assert sound(tmp_path) == []


async def test_a_start_fills_lists_of_documents_that_are_gone(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await say(store, "院子里有桂花")
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db, db:
        db.execute("DELETE FROM posting")
    async with await open_laid(tmp_path):
        pass
    assert sound(tmp_path) == []


def test_a_second_failed_start_makes_no_other_copy(tmp_path: Path) -> None:
    of_older_schema(tmp_path, worn=False)
    path, copy = tmp_path / DATABASE, tmp_path / f"nuan.before-{FTS5 + 1}.db"
    made = []
    for _ in range(2):
        with pytest.raises(StoreError):
            _prepare(path, (*MIGRATIONS[:FTS5], ("SELECT no_such()",)))
        assert old_index(copy) == [("p1",)]
        made.append(copy.stat().st_ino)
    assert made[0] == made[1]


def test_numbers_of_any_distance_stand_in_a_row_as_they_were() -> None:
    chance = random.Random(3)
    for widest in (1, 200, 60_000, 4_000_000):
        numbers = [7]
        for _ in range(MOST_LISTED - 1):
            numbers.append(numbers[-1] + chance.randint(1, widest))
            assert list(numbers_of(numbers[0], steps_of(numbers))) == numbers


async def test_documents_come_and_go_in_any_order_and_the_index_has_what_is_left(tmp_path: Path) -> None:
    async with await open_laid(tmp_path):
        pass
    chance, there = random.Random(5), dict[int, str]()
    with closing(sqlite3.connect(tmp_path / DATABASE, factory=SqliteTx)) as db:
        for _ in range(1_500):
            ref = chance.randrange(200)
            if chance.random() < 0.4:
                drop_documents(db, "note", (ref,))
                there.pop(ref, None)
                continue
            there[ref] = f"甲{chance.randrange(5)} 乙{chance.randrange(40)}"
            drop_documents(db, "note", (ref,))
            add_document(db, Doc("note", ref, f"c{chance.randrange(2)}", 1, None, 0, there[ref]))
        docs = dict(db.execute("SELECT ref, id FROM doc"))
        for term in ("甲", "3", "17"):
            wanted = {docs[ref] for ref, text in there.items() if term in search_terms(text)}
            assert set(postings_of(db, ("c0", "c1"), (term,))[term]) == wanted
        assert wrong_index(db) == []
        drop_documents(db, "note", range(200))
        assert db.execute("SELECT count(*) FROM posting").fetchone() == (0,), "nothing is left of anything"
        add_document(db, Doc("memory", 1, "c0", 1, 7, 0, "甲"))
        assert len(postings_of(db, ("c0", "w7"), ("甲",))["甲"]) == 1, "once, though it is listed for both"


async def test_a_memory_is_near_by_words_and_not_by_numbers_that_two_words_share(tmp_path: Path) -> None:
    assert term_number("plumless") == term_number("buckeroo")
    async with await open_laid(tmp_path) as store:
        number = await keep(store, "plumless")
        person, chat, _ = await ids(store)
        near = [
            await store._database.read(partial(near_memories, new=statement(text, person, chat, "private")))
            for text in ("buckeroo", "plumless")
        ]
    assert [[memory.id for memory in found] for found in near] == [[], [number]]


@pytest.mark.parametrize("documents", [100, 3_000])
async def test_one_document_less_costs_what_its_own_terms_cost(tmp_path: Path, documents: int) -> None:
    async with await open_laid(tmp_path):
        pass
    chance = random.Random(9)
    with closing(sqlite3.connect(tmp_path / DATABASE, factory=SqliteTx)) as db:
        texts = ["".join(chr(0x4E00 + chance.randrange(300)) for _ in range(20)) for _ in range(documents)]
        for ref, text in enumerate(texts):
            add_document(db, Doc("note", ref, "c1", 1, None, 0, text))
        before = db.total_changes
        drop_documents(db, "note", (documents // 2,))
        terms = len(set(search_terms(texts[documents // 2])))
        assert db.total_changes - before <= 2 + 2 * terms, "two rows of its own, and at most two for each term"
