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
from bot.store.search import Search, WantedDocuments
from bot.store.sqlite.connection import SqliteTx
from bot.store.sqlite.opening import open_database
from bot.store.store import DATABASE
from bot.store.transactions import Tx
from tests.bench.recall_speed import NOW, fill, sentence

T = TypeVar("T")


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


async def looked(folder: Path, lines: int, people: int, kinds: tuple[HitKind, ...], heard: int) -> tuple[int, int]:
    """Steps of a question of the first of so many people, each with so many lines, and how many lines that read."""
    path = folder / f"{people}" / DATABASE
    await (await open_database(path)).close()
    await asyncio.to_thread(fill, path, lines * people, people)
    asking = RecallQuery(Audience(1, "dm", (1,)), 1, "", NOW, kinds=kinds, heard=heard)

    def choose(matches: Matches) -> WantedDocuments:
        docs = tuple({doc for posting in matches.postings for doc in posting.docs})
        return WantedDocuments(docs[:20], docs[:20])

    with closing(Counted(path)) as counted:
        finding = Search(cast("Database", counted))
        terms = tuple(dict.fromkeys(sentence(random.Random(3), 8)))
        _, found = await finding.look(asking, terms, ((0, NOW),), choose)
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
