"""Lines of a data set's conversations, and the moments that data sets write.

What cannot be read is told in one line: SystemExit.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LINE_S = 20
"""Seconds between two lines, of data that tells only days."""

SESSION_S = 3_600
"""Seconds at least from a session's last line to the next session, of data that tells only days or when sessions begin:
what follows sooner nuan would take for the same talk."""

_DAY = re.compile(r"(\d{4})[-/年](\d{1,2})[-/月](\d{1,2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_SPOKEN = re.compile(r"(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) (\w+), (\d{4})")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a conversation, with its moment in ms."""

    turn: str
    session: str
    index: int
    speaker: str
    text: str
    at: int


def json_lines(path: Path, fields: Collection[str]) -> Iterator[dict[str, Any]]:
    """The tables of a file that has one of JSON in each line; each must have these fields."""
    for number, line in enumerate(content(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as error:
            raise SystemExit(f"{where}: {error}") from error
        yield checked(row, fields, where)


def content(path: Path) -> str:
    """What the file says."""
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise SystemExit(f"{path}: {error}") from error


def checked(row: object, fields: Collection[str], where: str) -> dict[str, Any]:
    """The same, as a table that has these fields."""
    if not isinstance(row, dict):
        raise SystemExit(f"{where}: no table with {', '.join(fields)}")
    if missing := [name for name in fields if name not in row]:
        raise SystemExit(f"{where}: lacks {', '.join(missing)}")
    return row


def moment(text: str) -> tuple[int, bool]:
    """A moment of the data as ms, and whether it tells the hour; UTC."""
    spoken = _SPOKEN.search(text)
    if spoken is not None:
        day = f"{spoken[4]} {spoken[5]} {spoken[6]} {spoken[1]}:{spoken[2]} {spoken[3]}"
        return _ms(datetime.strptime(day, "%d %B %Y %I:%M %p").replace(tzinfo=UTC)), False
    found = _DAY.search(text)
    if found is None:
        raise SystemExit(f"no day is told by the time {text!r}")
    clock = _CLOCK.search(text, found.end())
    day_ = datetime(int(found[1]), int(found[2]), int(found[3]), 9, tzinfo=UTC)
    return (_ms(day_.replace(hour=int(clock[1]), minute=int(clock[2]))), True) if clock else (_ms(day_), False)


def _ms(when: datetime) -> int:
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
