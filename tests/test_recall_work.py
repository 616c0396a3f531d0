"""What a recall costs: what its audience may see counts, not how many others live in the installation."""

import asyncio
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar, cast

import pytest

from bot.core.people import Audience
from bot.core.recall import HIT_KINDS, HitKind, Matches, RecallQuery
from bot.store.engine import Database
from bot.store.index import Doc, add_document, drop_documents, rescope
from bot.store.search import Search, WantedDocuments
from bot.store.sqlite.connection import SqliteTx
from bot.store.sqlite.opening import open_database
from bot.store.store import DATABASE
from bot.store.transactions import Tx
from tests.bench.recall_speed import NOW, fill, sentence

T = TypeVar("T")

EVENT = "INSERT INTO event (id, chat_id, at, kind, person_id, text, state)"


class Counted:
    """A file that is read, with the steps that SQLite took."""

    def __init__(self, path: Path) -> None:
        self.steps = 0
        self._db = sqlite3.connect(path, factory=SqliteTx)
        self._db.set_progress_handler(self._step, 10)

    def _step(self) -> None:
        self.steps += 10

    async def read(self, work: Callable[[Tx], T]) -> T:
        return work(self._db)

    def close(self) -> None:
        self._db.close()


def all_found(matches: Matches) -> WantedDocuments:
    """Twenty of what holds a word of the question, with the lines around them."""
    docs = tuple({doc for posting in matches.postings for doc in posting.docs})
    return WantedDocuments(docs[:20], docs[:20])


async def looked(folder: Path, lines: int, people: int, kinds: tuple[HitKind, ...], heard: int) -> tuple[int, int]:
    """Steps of a question of the first of so many people, each with so many lines, and how many lines that read."""
    path = folder / f"{people}" / DATABASE
    await (await open_database(path)).close()
    await asyncio.to_thread(fill, path, lines * people, people)
    asking = RecallQuery(Audience(1, "dm", (1,)), 1, "", NOW, kinds=kinds, heard=heard)

    with closing(Counted(path)) as counted:
        finding = Search(cast("Database", counted))
        terms = tuple(dict.fromkeys(sentence(random.Random(3), 8)))
        _, found = await finding.look(asking, terms, ((0, NOW),), all_found)
        return counted.steps, len(found)


@pytest.mark.parametrize(("kinds", "heard"), [(HIT_KINDS, 0), (("memory", "line"), 10**9)])
async def test_a_recall_looks_at_no_lines_of_people_who_may_not_be_seen(
    tmp_path: Path, kinds: tuple[HitKind, ...], heard: int
) -> None:
    alone, few = await looked(tmp_path, 40, 1, kinds, heard)
    among, as_few = await looked(tmp_path, 40, 60, kinds, heard)
    assert few > 20
    assert as_few > 20
    assert among < 2 * alone


@pytest.mark.parametrize("heard", [0, 390])
async def test_of_the_talks_of_a_person_only_what_is_new_is_read_unless_documents_went(
    tmp_path: Path, heard: int
) -> None:
    path = tmp_path / DATABASE
    await (await open_database(path)).close()
    await asyncio.to_thread(fill, path, 400, 1)
    asking = RecallQuery(Audience(1, "dm", (1,)), 1, "", NOW, heard=heard)
    terms = tuple(dict.fromkeys(sentence(random.Random(3), 8)))
    with closing(Counted(path)) as counted:
        finding = Search(cast("Database", counted))

        async def steps() -> int:
            """Of one question; what it finds is what a nuan that knows nothing yet finds."""
            before = counted.steps
            found = await finding.look(asking, terms, (), all_found)
            after = counted.steps
            assert all(not heard or doc < heard for posting in found[0].postings for doc in posting.docs)
            assert found == await Search(cast("Database", counted)).look(asking, terms, (), all_found)
            return after - before

        async def added(number: int, talk: int, at: int = NOW) -> int:
            """Steps of the question after one more line."""
            event = (number, at, sentence(random.Random(number)))
            await counted.read(lambda tx: tx.run(f"{EVENT} VALUES (?, 1, ?, 'message', 1, ?, 'listened')", *event))
            line = Doc("line", number, "p1", 1, 1, at, event[2], talk, number)
            await counted.read(lambda tx: add_document(tx, line))
            return await steps()

        first, again = await steps(), await steps()
        assert again < first
        new = [await added(401, 401), await added(402, 401), await added(403, 380, NOW - 90_000_000)]
        assert again < min(new) <= max(new) < first - (first - again) / 2
        await counted.read(lambda tx: drop_documents(tx, "line", (7,)))
        gone = await steps()
        await counted.read(lambda tx: drop_documents(tx, "line", (8, 401)))
        both = await added(404, 401)
        between = await added(405, 7)
        assert min(gone, both) > max(new)
        assert (between > max(new)) == (not heard), "its talk stands before others, or is left out"
        await counted.read(lambda tx: rescope(tx, "p1", "p2"))
        assert await steps() < again
