"""A time as somebody named it: an instant, what comes back, or what is unclear about it. It reads no text."""

from dataclasses import dataclass
from typing import Literal

Missing = Literal["time", "half", "day", "past", "none_such", "several", "rule", "vague", "before", "change", "task"]
"""What is unclear.

No time of day; morning or evening; which day; it is over; no such day or hour; more than one time; a rule that
cannot be kept; no time to count from; how long before; an hour that a change of clocks leaves out or repeats;
what it is of, where its time is clear.
"""


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment, ms since 1970 UTC. `timed`: a time of day, or a number of hours or minutes, was said, not assumed."""

    at: int
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Recurring:
    """What comes back: `rule` as in bot/text/when/rules.py, `at` its first moment, ms; `timed` as of an instant."""

    rule: str
    at: int
    timed: bool = True


@dataclass(frozen=True, slots=True)
class Unclear:
    """What has to be asked back; `said` are the person's own words for the time."""

    what: Missing
    said: str = ""


Moment = Instant | Recurring | Unclear

Precision = Literal["time", "day", "month", "year"]


@dataclass(frozen=True, slots=True)
class When:
    """When something is, as exactly as it was told: `at` is its first moment, ms since 1970 UTC.

    `yearly`: it comes back on that day, as a birthday does; `at` is then the coming one.
    """

    at: int
    precision: Precision = "day"
    yearly: bool = False
