"""`python -m tests.bench.hostile`: the slowest texts for splitting and markup, and how their time grows.

Twice the text may take twice the time; a text of 50,000 characters that takes three times as long as its first half is
named, and the command fails.
"""

import sys
from collections.abc import Callable
from functools import partial
from time import process_time

from bot.text.markdown import discord, entities, preview
from bot.text.split import split, utf16_units
from tests.hostile import LONG, MARKUP, crossed, hostile

LENGTH = 50_000
"""Characters; a model's longest reply is a tenth of that."""

GROWTH = 3.0
"""How many times as long a text may take as its first half; what takes less than FLOOR_S is noise."""

FLOOR_S = 0.05

Work = Callable[[str], object]


def seconds(work: Work, text: str) -> float:
    """The shortest of three runs, CPU seconds."""
    runs = []
    for _ in range(3):
        start = process_time()
        work(text)
        runs.append(process_time() - start)
    return min(runs)


def main() -> int:
    """Print the ten slowest; 1 when a time grows faster than its text."""
    marking: dict[str, Work] = {"entities": entities, "discord": discord, "preview": preview}
    splitting: dict[str, Work] = {
        "split 4096": partial(split, limit=4096, size=utf16_units),
        "split 2000": partial(split, limit=2000, size=len),
    }
    makers: list[tuple[str, Callable[[int], str], dict[str, Work]]] = [("crossed", crossed, marking)]
    makers += [(repr(unit), partial(hostile, unit), marking) for unit in MARKUP]
    makers += [(repr(unit), partial(hostile, unit), splitting) for unit in LONG]
    rows = []
    for name, make, works in makers:
        for verb, work in works.items():
            half, whole = seconds(work, make(LENGTH // 2)), seconds(work, make(LENGTH))
            rows.append((whole, half, verb, name))
    rows.sort(reverse=True)
    bad = [row for row in rows if row[0] > FLOOR_S and row[0] > GROWTH * row[1]]
    for whole, half, verb, name in rows[:10] + [row for row in bad if row not in rows[:10]]:
        print(f"{whole * 1000:7.1f} ms  x{whole / max(half, 1e-6):4.1f}  {verb:10} {name}")
    print(f"{len(rows)} texts of {LENGTH} characters, {len(bad)} that grow faster than {GROWTH} for twice the text")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
