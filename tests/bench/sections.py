"""`python -m tests.bench.sections DIR`: each line of a conversation is a memory, and its questions are the turns of one
talk. What nuan's own recall finds narrowed to what the talk stays with, beside what it finds searching everything.

One JSON object: the share of section searches and of documents read that is saved, and the recall of both ways.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.config.settings import Settings
from bot.container import make_planner
from bot.core.memories import NewMemory
from bot.core.people import Audience
from bot.core.recall import Candidate, Matches, RecallQuery, RecallRound, RecallTrace, TimeSpan
from bot.pipeline.recall import CANDIDATES, AutoRecall, SectionChoice
from bot.recall.sections import sections_to_search
from bot.recall.selection import called_for
from bot.store.memories import store_memory
from bot.store.search import Search, WantedDocuments
from bot.store.transactions import Tx
from tests.bench.lines import Line, moment
from tests.bench.recall import Tally, _recall, conversations, questions
from tests.storing import Where, ids
from tests.world import World

DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation as memories: who sees it, which memory each line became, and which sections hold any."""

    audience: Audience
    memories: dict[str, int]
    sections: int
    starts: dict[int, int]
    end: int


@dataclass(slots=True)
class Saved:
    """What was searched and read narrowed, and what it would be otherwise."""

    searched: int = 0
    of_sections: int = 0
    read: int = 0
    of_read: int = 0
    handed: int = 0
    of_handed: int = 0
    turns: int = 0
    narrowed: int = 0
    widened: int = 0

    def told(self) -> dict[str, object]:
        """In percent and counts."""
        return {
            "section_searches_saved": round(100 * (1 - self.searched / self.of_sections), 1),
            "documents_saved": round(100 * (1 - self.read / self.of_read), 1),
            "index_rows_saved": round(100 * (1 - self.handed / self.of_handed), 1),
            "turns": self.turns,
            "narrowed": self.narrowed,
            "widened": self.widened,
        }


class Rows(Search):
    """Counts the documents that the index hands over for the terms of questions."""

    def __init__(self, inner: Search) -> None:
        super().__init__(inner._database)
        self._handed = 0

    @classmethod
    def of(cls, bringing: AutoRecall) -> "Rows":
        """The one that this recall reads through."""
        store = bringing._recalling._store
        if not isinstance(store.search, cls):
            store.search = cls(store.search)
        return store.search

    def taken(self) -> int:
        """How many since the last time."""
        handed, self._handed = self._handed, 0
        return handed

    async def look(
        self,
        asking: RecallQuery,
        terms: Sequence[str],
        spans: Sequence[TimeSpan],
        choose: Callable[[Matches], WantedDocuments],
    ) -> tuple[Matches, tuple[Candidate, ...]]:
        """As it is."""
        matches, candidates = await super().look(asking, terms, spans, choose)
        self._handed += sum(len(posting.docs) for posting in matches.postings)
        return matches, candidates


async def tell(world: World, name: str, lines: Sequence[Line]) -> Told:
    """Every line is kept as something its speaker told the group."""
    people: dict[str, int] = {}
    chat = 0
    for speaker in dict.fromkeys(line.speaker for line in lines):
        people[speaker], chat, _ = await ids(world.store, Where(f"{name}:{speaker}", name, "group"))

    def keep(db: Tx) -> dict[str, int]:
        return {line.turn: store_memory(db, memory(line), line.at).id for line in lines}

    def memory(line: Line) -> NewMemory:
        return NewMemory(people[line.speaker], chat, "chat", "knowledge", line.text, line.at, "digest", ())

    memories = await world.store._database.write(keep)
    [row] = world.rows("SELECT count(DISTINCT section) FROM memory WHERE chat_id = ?", chat)
    starts: dict[int, int] = {}
    for line in lines:
        starts.setdefault(line.index, line.at)
    audience = Audience(chat, "group", tuple(people.values()))
    return Told(audience, memories, int(str(row[0])), starts, max(line.at for line in lines))


async def ask(
    bringing: AutoRecall, asking: RecallQuery, rounds: list[RecallRound], saved: Saved, told: Told
) -> tuple[RecallTrace, RecallTrace]:
    """One turn both ways: narrowed, and everywhere."""
    sectioning, rows = bringing.sectioning, Rows.of(bringing)
    named = sectioning.registry.named(asking.text)
    first = SectionChoice(sections_to_search(rounds, named, sectioning._current.settings.sections), named)
    everywhere = await bringing._recalling.recall(asking)
    saved.of_handed += rows.taken()
    trace, found, where = await bringing.found(asking, first)
    saved.handed += rows.taken()
    one = where.round(found)
    assert one is not None
    rounds.append(one)
    widened = bool(first.searched) and not where.searched
    saved.turns += 1
    saved.narrowed += bool(where.searched)
    saved.widened += widened
    saved.of_sections += told.sections
    saved.searched += (len(first.searched) if first.searched else 0) + (0 if where.searched else told.sections)
    saved.of_read += len(everywhere.scored)
    saved.read += len(trace.scored)
    return trace, everywhere


def order(rows: list[dict[str, Any]], how: str, lines: dict[str, int]) -> list[dict[str, Any]]:
    """The questions as they are given, or those about the same stretch of the conversation together."""
    return rows if how == "given" else sorted(rows, key=lambda row: min(lines[turn] for turn in row["gold_turns"]))


async def measure(options: argparse.Namespace, data: Path, settings: Settings) -> dict[str, object]:
    """Keep, ask and count."""
    convs = conversations(options.folder, options.part)
    world = World(data, settings)
    await world.open()
    planner = make_planner(world.parts)
    saved = Saved()
    narrow, whole, called, called_whole = Tally(), Tally(), Tally(), Tally()
    queries = [row for row in questions(options.folder) if row["gold_turns"]]
    for name, lines in convs.items():
        told = await tell(world, name, lines)
        rounds: list[RecallRound] = []
        mine = [row for row in queries if row["conv"] == name]
        for row in order(mine, options.order, {line.turn: place for place, line in enumerate(lines)}):
            until = told.starts.get(int(row["before_session"])) if "before_session" in row else None
            now = until or (moment(row["asked_at"])[0] if "asked_at" in row else told.end + DAY)
            asking = RecallQuery(
                told.audience,
                0,
                row["question"],
                now,
                CANDIDATES,
                kinds=("memory",),
                mode="v2",
                strict=True,
                until=until,
            )
            both = await ask(planner._bringing, asking, rounds, saved, told)
            gold = [str(told.memories[turn]) for turn in row["gold_turns"]]
            for trace, tally, calls in zip(both, (narrow, whole), (called, called_whole), strict=True):
                found = [str(one.finding.ref) for one in trace.chosen]
                tally.add({f"recall@{most}": _recall(gold, found, most) for most in (5, 10)})
                lines_ = [str(one.finding.ref) for one in called_for(trace, row["question"])]
                calls.add({"brought@6": _recall(gold, lines_, 6)})
    await world.close()
    return {
        "order": options.order,
        **saved.told(),
        "narrowed_recall": narrow.means() | called.means(),
        "recall": whole.means() | called_whole.means(),
    }


def main(arguments: list[str]) -> int:
    """Measure one data set and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sections", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, default=0, metavar="N", help="only the first N conversations")
    parser.add_argument("--order", choices=("given", "talk"), default="given", help="how the questions follow")
    parser.add_argument("--window", type=int, choices=(3, 5, 10), default=5)
    parser.add_argument("--dominant", type=float, default=0.7)
    options = parser.parse_args(arguments)
    settings = Settings.model_validate(
        {
            "bot": {"timezone": "UTC"},
            "sections": {"window": options.window, "dominant": options.dominant},
        }
    )
    with tempfile.TemporaryDirectory() as data:
        print(json.dumps(asyncio.run(measure(options, Path(data) / "data", settings)), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
