"""`python -m tests.bench.pastes FILE`: what becomes of each message of FILE, told alone in a fresh World without a model.

Each line of FILE is JSON with text and lang, of a wish of one's own also kind. What is pasted must write nothing and
obey nothing before its sender was asked; a wish of one's own is done, and not asked whether it is pasted.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Literal

from bot.core.files import PromptFiles
from bot.model.offline import OfflineModel
from bot.text.catalogue import catalogue
from tests.world import World

Fate = Literal["written", "obeyed", "asked about pasting", "asked", "talk"]
FATES: tuple[Fate, ...] = ("written", "obeyed", "asked about pasting", "asked", "talk")
"""Rows of it are kept; answered as a wish though nothing came of it (nothing to forget); asked back; for a model."""


async def fate(text: str) -> Fate:
    """What becomes of a message, by what is stored afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.model = OfflineModel(catalogue(PromptFiles(None).path, "offline"))  # type: ignore[assignment]
        await world.open()
        try:
            await world.say(text)
            written = world.rows("SELECT 1 FROM memory UNION ALL SELECT 1 FROM reminder")
            asked = world.rows("SELECT kind FROM question UNION ALL SELECT 'reminder' FROM reminder_question")
            turns = world.rows("SELECT 1 FROM turn")
        finally:
            await world.close()
    if written:
        return "written"
    if asked:
        return "asked about pasting" if ("pasted",) in asked else "asked"
    return "talk" if turns else "obeyed"


async def measured(rows: list[dict[str, str]], show: frozenset[str]) -> Counter[tuple[str, str]]:
    """How many messages of each kind came to which end; those of `show` are printed."""
    counts = Counter[tuple[str, str]]()
    for row in rows:
        came = await fate(row["text"])
        counts[row.get("kind", "pasted"), came] += 1
        counts["all", came] += 1
        if came in show:
            print(f"{came}: {row.get('id', '')} {row['text']!r}", file=sys.stderr)
    return counts


def main() -> int:
    """Print the figures; 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="append", choices=FATES, default=[], help="Print the texts with this end.")
    asked = parser.parse_args()
    try:
        rows = [json.loads(line) for line in asked.file.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        print(f"{asked.file}: {error}", file=sys.stderr)
        return 2
    counts = asyncio.run(measured(rows, frozenset(asked.show)))
    for kind in sorted({kind for kind, _ in counts}, key=lambda kind: (kind == "all", kind)):
        print(f"{kind:10} " + ", ".join(f"{counts[kind, came]} {came}" for came in FATES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
