"""Lines of a data set's conversations, and the moments that data sets write."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

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


def moment(text: str) -> tuple[int, bool]:
    """A moment of the data as ms, and whether it tells the hour; UTC."""
    spoken = _SPOKEN.search(text)
    if spoken is not None:
        day = f"{spoken[4]} {spoken[5]} {spoken[6]} {spoken[1]}:{spoken[2]} {spoken[3]}"
        return _ms(datetime.strptime(day, "%d %B %Y %I:%M %p").replace(tzinfo=UTC)), False
    found = _DAY.search(text)
    assert found is not None, text
    clock = _CLOCK.search(text, found.end())
    day_ = datetime(int(found[1]), int(found[2]), int(found[3]), 9, tzinfo=UTC)
    return (_ms(day_.replace(hour=int(clock[1]), minute=int(clock[2]))), True) if clock else (_ms(day_), False)


def _ms(when: datetime) -> int:
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
