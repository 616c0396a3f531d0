"""`python -m tests.bench.unasked DIR`: each line of a conversation is a memory, each question a message of a turn. What is
brought unasked by words, as nuan does, and with the memory whose vector is most like the message's, from some likeness on.

One JSON object: for each rule how many messages have a right memory brought, how many memories and tokens are brought,
as a turn tells them within `memory.inject_tokens`, and how many of the memories for messages that call for none.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.config.settings import Settings
from bot.container import make_planner
from bot.core.recall import RecallQuery, ScoredHit
from bot.core.sessions import Occasion
from bot.pipeline.recall import CANDIDATES, AutoRecalled, SectionChoice
from bot.store.search import WantedDocuments
from bot.text.length import estimate_tokens
from tests.bench.recall import _rows, conversations
from tests.bench.sections import DAY, tell
from tests.world import World

ABOVE = (2.0, 2.5, 3.0, 3.5, 4.0)
"""How far the likest is above the mean of all memories, in their standard deviations, to be brought."""

PATIENT_S = 600.0


async def vectors(world: World, texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """The encoder's vectors of these."""
    endpoint = world.parts.current.pool.embedding
    assert endpoint is not None
    made = await endpoint.embedder.embed(texts, PATIENT_S)
    return np.frombuffer(b"".join(made.vectors), dtype="<f4").reshape(len(texts), -1)


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


async def one(world: World, asking: RecallQuery, number: int) -> ScoredHit:
    """The memory of that number as something found."""
    [[doc]] = world.rows("SELECT id FROM doc WHERE kind = 'memory' AND ref = ?", number)
    [candidate] = await world.store.search.read(asking, WantedDocuments((int(str(doc)),), ()))
    return ScoredHit(candidate.finding, 0.0, ())


async def measure(folder: Path, part: int, data: Path) -> dict[str, object]:
    """Keep, ask and count."""
    memory = {"embedding": {"provider": "local", "timeout_seconds": PATIENT_S}}
    settings = Settings.model_validate({"bot": {"timezone": "UTC"}, "memory": memory})
    convs = conversations(folder, part)
    world = await World(data, settings).open()
    bringing = make_planner(world.parts)._bringing
    counts = {rule: Count() for rule in ("words", *(f"words or {above}" for above in ABOVE))}
    questions = [row for row in _rows(folder / "queries.jsonl") if row["conv"] in convs]
    for name, lines in convs.items():
        told = await tell(world, name, lines)
        now = told.end + DAY
        chats = {chat.id: chat for chat in await world.store.people.chats()}
        person = await world.store.people.person(told.audience.person_ids[0])
        assert person is not None
        occasion = Occasion(chats[told.audience.chat_id], person, (), "called")
        known = await vectors(world, [line.text for line in lines])
        mine = [row for row in questions if row["conv"] == name]
        for row, vector in zip(mine, await vectors(world, [row["question"] for row in mine]), strict=True):
            text = row["question"]
            asking = RecallQuery(told.audience, 0, text, now, CANDIDATES, kinds=("memory",), mode="v2", strict=True)
            _, found, _ = await bringing.found(asking, SectionChoice())
            words = bringing._told(occasion, "", found, (), now)
            cosines = np.einsum("ij,j->i", known, vector)
            likest = await one(world, asking, told.memories[lines[int(cosines.argmax())].turn])
            above = float((cosines.max() - cosines.mean()) / cosines.std())
            gold = {told.memories[turn] for turn in row["gold_turns"]}
            counts["words"].add(gold, words)
            for least in ABOVE:
                more = above >= least and not words.memories
                brought = bringing._told(occasion, "", (likest,), (), now) if more else words
                counts[f"words or {least}"].add(gold, brought)
    await world.close()
    await world.parts.current.pool.close()
    return {rule: count.told() for rule, count in counts.items()}


def main(arguments: list[str]) -> int:
    """Measure one data set and print one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.unasked", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", type=int, default=0, metavar="N", help="only the first N conversations")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as data:
        print(json.dumps(asyncio.run(measure(options.folder, options.part, Path(data) / "data")), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
