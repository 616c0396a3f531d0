"""How the days of dated sentences are read: `python -m tests.bench.dates FILE`, of rows as in tests/when_dated.tsv.

FILE is a jsonl of {"lang", "said_at" (local ISO), "zone", "text", "expected" (a day, a month or null)} or such a tsv.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.language.time.dates import date_in
from bot.text.dates import local, ms_of

LENGTHS = {"time": 10, "day": 10, "month": 7, "year": 4}


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence, the moment it was said, and the day ("2026-06-15"), month ("2026-06") or "" that it is about."""

    lang: str
    said_at: str
    zone: str
    text: str
    expected: str


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if path.suffix == ".jsonl" and line.strip():
            row = json.loads(line)
            yield Row(row["lang"], row["said_at"], row["zone"], row["text"], row["expected"] or "")
        elif path.suffix != ".jsonl" and line and not line.startswith("#"):
            lang, said_at, zone, expected, text = line.split("\t")
            yield Row(lang, said_at, zone, text, expected)


def read(row: Row) -> str:
    """The day, month or year that is read, as exactly as it is known; "" for none."""
    tz = ZoneInfo(row.zone)
    said = datetime.fromisoformat(row.said_at)
    when = date_in(row.text, ms_of(said if said.tzinfo else said.replace(tzinfo=tz)), tz)
    return local(when.at, tz).date().isoformat()[: LENGTHS[when.precision]] if when else ""


def verdict(row: Row, found: str) -> str:
    """right, wrong year, wrong day, coarse (true, but less exact), unread, or made up where no day is named."""
    if found == row.expected:
        return "right"
    if not row.expected:
        return "made up"
    if not found:
        return "unread"
    if found[:4] != row.expected[:4]:
        return "wrong year"
    return "coarse" if row.expected.startswith(found) else "wrong day"


def main(path: Path) -> None:
    """Print the counts of each verdict, in all and for each language, and each row that is not right."""
    counts: dict[str, Counter[str]] = {}
    for row in rows(path):
        found = read(row)
        told = verdict(row, found)
        for group in ("all", row.lang):
            counts.setdefault(group, Counter())[told] += 1
        if told != "right":
            print(f"{told}: {row.said_at} {row.text} | expected {row.expected or 'none'}, read {found or 'none'}")
    for group, counted in counts.items():
        total = counted.total()
        print(
            group,
            total,
            *(f"{told} {number} ({number / total:.1%})" for told, number in counted.most_common()),
            sep="  ",
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
