"""What a person promised or still has to do."""

from dataclasses import dataclass
from typing import Literal

from bot.types.memory import Dated, Visibility

CommitmentState = Literal["pending", "ongoing", "done", "failed"]
CommitmentSource = Literal["rule", "digest", "tool"]
"""Who found it: the rule on a message, the digest of a session, or the model by tool."""

OPEN: tuple[CommitmentState, ...] = ("pending", "ongoing")


@dataclass(frozen=True, slots=True)
class Nudging:
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
class Promise:
    """A promise as a message makes it: the person's words, and by when, ms; None where no day is named."""

    text: str
    due_at: int | None = None
    nudge: Nudge | None = None


@dataclass(frozen=True, slots=True)
class Settled:
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
