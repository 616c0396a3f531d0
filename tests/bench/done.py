"""`python -m tests.bench.done FILE`: which open promises a line ends, each in a fresh World.

Each line of FILE is JSON: promises: a list of {"id", "text"}, line, closes: the ids that it ends. By the rule, without
a model, unless `--by-hand DIR` has somebody play it there (byhand.py). A promise that is ended without being wanted is
wrong; one that is wanted is found, asked for, or missed.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.core.memories import NewCommitment
from bot.store.commitments import store_commitment
from bot.store.transactions import Tx
from tests.bench.byhand import ByHand
from tests.world import NINE, World

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Played:
    """What became of the promises, by their ids in the row: ended, asked about; and what was said."""

    ended: frozenset[str]
    asked: frozenset[str]
    replies: tuple[str, ...]


async def played(row: Row, hand: ByHand | None) -> Played:
    """The row in a World of its own, where these promises are open; `hand` is its model, None without."""
    promises = row["promises"]
    assert isinstance(promises, list)
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        if hand is not None:
            world.model = hand  # type: ignore[assignment]
        await world.open()
        try:
            await world.say("/new")  # who writes is known then, and no log has begun
            heard = len(world.replies)
            ids: dict[int, str] = {}

            def made(db: Tx, text: str) -> int:
                return store_commitment(db, NewCommitment(1, 1, "private", text, NINE, "rule", ()), NINE)

            for each in promises:
                number = await world.store._database.write(partial(made, text=str(each["text"])))
                ids[number] = str(each["id"])
            await world.say(str(row["line"]))
            ended = world.rows("SELECT id FROM commitment WHERE ended_at IS NOT NULL")
            asked = world.rows("SELECT memories FROM question WHERE kind = 'done'")
            return Played(
                frozenset(ids[int(str(number))] for (number,) in ended),
                frozenset(ids[number] for (numbers,) in asked for number in json.loads(str(numbers))),
                tuple(world.replies[heard:]),
            )
        finally:
            await world.close()


async def measured(rows: list[Row], hand: ByHand | None, *, show: bool) -> Counter[str]:
    """How many promises are found, asked for or missed of those that are wanted, and how many are wrongly ended."""
    counts = Counter[str]()
    for row in rows:
        found = await played(row, hand)
        wants = row["closes"]
        assert isinstance(wants, list)
        wanted = frozenset(map(str, wants))
        told = {
            "wanted": len(wanted),
            "found": len(wanted & found.ended),
            "wrong": len(found.ended - wanted),
            "asked": len(wanted & found.asked - found.ended),
            "asked of none": len(found.asked - wanted),
        }
        counts += Counter(told)
        if show and (found.ended != wanted or found.asked):
            print(
                row["line"],
                row["promises"],
                "wants",
                sorted(wanted),
                "->",
                sorted(found.ended),
                "asked",
                sorted(found.asked),
                found.replies,
                file=sys.stderr,
            )
    return counts


def main() -> int:
    """Print the figures; 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--by-hand", type=Path, metavar="DIR", help="Somebody plays the model in this folder.")
    parser.add_argument("--show", action="store_true", help="Print each row that is not right, on standard error.")
    asked = parser.parse_args()
    try:
        rows = [json.loads(line) for line in asked.file.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        print(f"{asked.file}: {error}", file=sys.stderr)
        return 2
    hand = ByHand(asked.by_hand) if asked.by_hand else None
    try:
        counts = asyncio.run(measured(rows, hand, show=asked.show))
    finally:
        if hand is not None:
            hand.finish()
    wanted = counts["wanted"]
    print(
        f"{len(rows)} situations, {wanted} to end: found {counts['found']} ({counts['found'] / max(1, wanted):.1%}), "
        f"asked {counts['asked']}, wrong {counts['wrong']}, asked of others {counts['asked of none']}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
