"""`python -m tests.bench.unasked DIR`: each line of a conversation is a memory, each question a message of a turn. What is
brought unasked by words alone, and with what meaning adds and takes away, as nuan does where the local encoder is there.

One JSON object: for both how many messages have a right memory brought, how many memories and tokens are brought,
as a turn tells them within `memory.inject_tokens`, and how many of the memories for messages that call for none.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.config.settings import Settings
from bot.container import make_planner, make_recall
from bot.core.recall import RecallQuery
from bot.core.sessions import Occasion
from bot.pipeline.recall import CANDIDATES, AutoRecalled, SectionChoice
from bot.text.length import estimate_tokens
from tests.bench.lines import Line
from tests.bench.recall import FOLDER, PATIENT, make_vectors, read
from tests.bench.sections import DAY, tell
from tests.world import World


class Count:
    """What one rule brought."""

    def __init__(self) -> None:
        self._wanted = self._found = self._brought = self._astray = self._tokens = 0

    def add(self, gold: set[int], brought: AutoRecalled) -> None:
        """One message: the memories that it calls for, and what was brought."""
        self._wanted += bool(gold)
        self._found += not gold.isdisjoint(brought.memories)
        self._brought += len(brought.memories)
        self._astray += 0 if gold else len(brought.memories)
        self._tokens += estimate_tokens(brought.text)

    def told(self) -> dict[str, int]:
        """The sums."""
        return {
            "wanted": self._wanted,
            "found": self._found,
            "brought": self._brought,
            "for_no_reason": self._astray,
            "tokens": self._tokens,
        }


async def measure(folder: Path, part: int, data: Path) -> dict[str, object]:
    """Keep, ask and count; SystemExit when nothing is compared by meaning."""
    memory = {"embedding": {"provider": "local", **PATIENT}}
    settings = Settings.model_validate({"bot": {"timezone": "UTC"}, "memory": memory})
    convs, questions = read(folder, "folder", part)
    world = await World(data, settings).open()
    try:
        return await _counted(world, convs, questions)
    finally:
        await world.close()
        await world.parts.current.pool.close()


async def _counted(
    world: World, convs: Mapping[str, Sequence[Line]], questions: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    recalling = make_recall(world.parts, world.app._services.vector_maker._find_caller, pays=True)
    bringing = make_planner(world.parts, recalling)._bringing
    counts = {"words": Count(), "words and meaning": Count()}
    for name, lines in convs.items():
        told = await tell(world, name, lines)
        await make_vectors(world)
        now = told.end + DAY
        chats = {chat.id: chat for chat in await world.store.people.chats()}
        person = await world.store.people.person(told.audience.person_ids[0])
        assert person is not None
        occasion = Occasion(chats[told.audience.chat_id], person, (), "called")
        for row in (row for row in questions if row["conv"] == name):
            text = row["question"]
            asking = RecallQuery(told.audience, 0, text, now, CANDIDATES, kinds=("memory",), mode="v2", strict=True)
            _, found, _ = await bringing.found(asking, SectionChoice())
            above = await recalling.standing(asking)
            if not above:
                raise SystemExit("the encoder gave no vectors")
            gold = {told.memories[turn] for turn in row["gold_turns"]}
            for count, known in zip(counts.values(), ({}, above), strict=True):
                news = await bringing.by_meaning(asking, "", found, known)
                count.add(gold, bringing._told(occasion, news, (), now))
    return {rule: count.told() for rule, count in counts.items()}


def main(arguments: list[str]) -> int:
    """Measure one data set and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.unasked", description=__doc__)
    parser.add_argument("folder", type=Path, help=FOLDER)
    parser.add_argument("--part", type=int, default=0, metavar="N", help="only the first N conversations")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as data:
        print(json.dumps(asyncio.run(measure(options.folder, options.part, Path(data) / "data")), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
