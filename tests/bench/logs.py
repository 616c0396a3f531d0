"""A recorded group chat as what an adapter would bring. It knows no installation and no time but the log's own."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.core.events import Incoming, Place, Sender

PLATFORM = "console"

LABELS = {"join": "join", "leave": "leave", "nick": "rename"}
"""What a row that is no message is called as an event."""

_ADDRESSED = re.compile(r"([^\s:,]+)[:,]")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a log; `at` is ms since 1970 UTC, `text` of a nick change is the new name."""

    at: int
    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """Something to bring through ingest at `at`, ms."""

    at: int
    incoming: Incoming


@dataclass(frozen=True, slots=True)
class Log:
    """One group chat without the lines of the person whom the bot plays; `names` are all that person's nicks."""

    title: str
    names: tuple[str, ...]
    steps: tuple[Step, ...]


def read_logs(folder: Path, limit: int | None = None) -> tuple[Log, ...]:
    """Every *.jsonl log of a folder, by name, each cut to its first `limit` rows."""
    return tuple(
        log_of(path.stem, tuple(read_rows(path.read_text("utf-8").splitlines()))[:limit])
        for path in sorted(folder.glob("*.jsonl"))
    )


def read_rows(lines: Iterable[str]) -> Iterator[Row]:
    """The rows of a log; ValueError or KeyError for a line that is none."""
    for line in lines:
        row = json.loads(line)
        at = round(datetime.fromisoformat(row["at"]).timestamp() * 1000)
        yield Row(at, str(row["kind"]), str(row["name"]), str(row["text"]))


def log_of(title: str, rows: tuple[Row, ...]) -> Log:
    """The chat with its most-addressed person as the bot; people are followed through their nick changes."""
    people = people_of(rows)
    bot = people[most_addressed(rows, frozenset(people))]
    names = sorted(nick for nick, person in people.items() if person == bot)
    return Log(title, tuple(names), tuple(_steps(title, rows, people, bot)))


def people_of(rows: tuple[Row, ...]) -> dict[str, str]:
    """Each nick with the first nick of its person: two nicks are one person when a nick change joins them."""
    people: dict[str, str] = {}
    for row in rows:
        person = people.setdefault(row.name, row.name)
        if row.kind == "nick":
            other = people.setdefault(row.text, person)
            people.update({nick: person for nick, known in people.items() if known == other})
    return people


def most_addressed(rows: tuple[Row, ...], nicks: frozenset[str]) -> str:
    """The nick at the beginning of most messages (`NICK:` or `NICK,`); of several, the first by name."""
    counts = Counter(nick for row in rows if row.kind == "message" for nick in _addressees(row.text, nicks))
    return min(counts or nicks, key=lambda nick: (-counts[nick], nick))


def _addressees(text: str, nicks: frozenset[str]) -> Iterator[str]:
    found = _ADDRESSED.match(text)
    if found is not None and found[1] in nicks:
        yield found[1]


def _steps(title: str, rows: tuple[Row, ...], people: dict[str, str], bot: str) -> Iterator[Step]:
    place = Place(PLATFORM, title, "group", title)
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        others = frozenset(nick for nick in seen if people[nick] != bot)
        seen.add(row.text if row.kind == "nick" else row.name)
        if people[row.name] == bot:
            continue
        key = f"{title}:{number}"
        sender = Sender(PLATFORM, f"{title}:{people[row.name]}", row.text if row.kind == "nick" else row.name)
        if row.kind == "message":
            other = any(_addressees(row.text, others))
            incoming = Incoming(
                place, sender, "message", row.text, delivery_key=key, external_id=key, addresses_other=other
            )
        else:
            text = f"{row.name} → {row.text}" if row.kind == "nick" else ""
            incoming = Incoming(place, sender, "event", text, label=LABELS[row.kind], delivery_key=key)
        yield Step(row.at, incoming)
