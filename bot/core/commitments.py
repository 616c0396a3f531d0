"""What people promised or have still to do, and what they want to be reminded of."""

from dataclasses import dataclass
from typing import Literal

from bot.core.events import ChatKind
from bot.core.memories import Dated, Visibility

CommitmentState = Literal["pending", "ongoing", "done", "failed"]
CommitmentSource = Literal["rule", "digest", "tool"]
"""Who found it: the rule on a message, the digest of a session, or the model by tool."""

OPEN_STATES: tuple[CommitmentState, ...] = ("pending", "ongoing")

ReminderEnd = Literal["said", "cancelled", "unsaid", "deleted", "forgotten", "edited", "settled", "asked"]
"""Why a reminder is over; settled: the promise it is of ended, asked: its person asked for one of the same."""


@dataclass(frozen=True, slots=True)
class NudgeRules:
    """How people are reminded of what they promised: on a day without a time at that local `hour`, 0-23.

    Whoever has `most_open` open reminders gets none.
    """

    hour: int
    most_open: int


@dataclass(frozen=True, slots=True)
class Nudge:
    """When its person is to be reminded of a promise, ms since 1970 UTC, unless so many reminders are open."""

    at: int
    most_open: int


@dataclass(frozen=True, slots=True)
class NewCommitment:
    """One promise or open task about to be stored, with the events it came from.

    `changes` is the number of the open one that this is now, 0 for a new one. `made_at` is when it was said, `due_at`
    when it should be done, if a time was named (`dated`: how exactly); ms since 1970 UTC.
    `nudge` is when its person is reminded of it, if that lies ahead; `toward` whom it was promised to.
    """

    owner_id: int
    chat_id: int
    visibility: Visibility
    text: str
    made_at: int
    source: CommitmentSource
    event_ids: tuple[int, ...]
    due_at: int | None = None
    nudge: Nudge | None = None
    toward: str = ""
    dated: Dated = ""
    changes: int = 0


@dataclass(frozen=True, slots=True)
class SpokenPromise:
    """A promise as a message makes it: the person's words, and by when, ms; None where no day is named."""

    text: str
    due_at: int | None = None
    nudge: Nudge | None = None


@dataclass(frozen=True, slots=True)
class SettledCommitment:
    """What became of an open commitment by its number, as its owner said it in these messages, where they are known."""

    number: int
    state: CommitmentState
    event_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Commitment:
    """One stored promise or open task. `id` is the number people see; times are ms since 1970 UTC.

    `dated` is how exactly `due_at` is known, `toward` whom it was promised to.
    """

    id: int
    owner_id: int
    chat_id: int
    visibility: Visibility
    text: str
    state: CommitmentState
    made_at: int
    due_at: int | None
    source: CommitmentSource
    updated_at: int
    toward: str = ""
    dated: Dated = ""


@dataclass(frozen=True, slots=True)
class NewReminder:
    """A reminder about to be stored, in the person's own words ("" for none), with the messages it came from.

    `due_at` is ms since 1970 UTC; `rule` is "" for once, else one of bot/language/time/schedule.py by the person's wall
    clock. `script` is that of the request, `shared` one for all of the chat, `wall` one of a time of day, no number of
    hours; `assumed`: the time of day is not the person's.
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
class DueReminder:
    """A reminder whose time has come, with whom it is for and where it is said."""

    reminder: Reminder
    kind: ChatKind
    name: str
    script: str
    timezone: str


@dataclass(frozen=True, slots=True)
class IncompleteReminder:
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
