"""What somebody wants to be reminded of, and when it is said."""

from dataclasses import dataclass
from typing import Literal

from bot.types.event import ChatKind

Ended = Literal["said", "cancelled", "unsaid", "deleted", "forgotten", "edited", "settled", "asked"]
"""Why a reminder is over; settled: the promise it is of ended, asked: its person asked for one of the same."""


@dataclass(frozen=True, slots=True)
class NewReminder:
    """A reminder about to be stored, in the person's own words ("" for none), with the messages it came from.

    `due_at` is ms since 1970 UTC; `rule` is "" for once, else one of bot/text/when/rules.py by the person's wall clock.
    `script` is that of the request, `shared` one for all of the chat, `wall` one of a time of day, no number of hours;
    `assumed`: the time of day is not the person's.
    """

    person_id: int
    chat_id: int
    text: str
    due_at: int
    rule: str
    event_ids: tuple[int, ...]
    script: str = ""
    shared: bool = False
    wall: bool = False
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Reminder:
    """One open reminder. `id` is the number people see, `promise` that of the promise it is of, 0 for none."""

    id: int
    person_id: int
    chat_id: int
    text: str
    due_at: int
    rule: str
    made_at: int
    promise: int = 0
    script: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A reminder whose time has come, with whom it is for and where it is said."""

    reminder: Reminder
    kind: ChatKind
    name: str
    script: str
    timezone: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that lacks something: what to remind of, and the words for the time so far, in the order they came.

    `wakes` is a wish to be woken, `plain` one by command; `asked_at`, ms, is when it was made. `numbers` are reminders
    that are set for an hour that was assumed: nothing is lacking, and an answer moves them.
    """

    text: str
    said: tuple[str, ...]
    wakes: bool
    plain: bool
    asked_at: int
    event_id: int
    shared: bool = False
    numbers: tuple[int, ...] = ()
