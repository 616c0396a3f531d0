"""Dialogue memory: talks, and what they are rolled up into by hour, day and week."""

from dataclasses import dataclass
from typing import Literal

Tier = Literal["raw", "hour", "day", "week"]
TIERS: tuple[Tier, ...] = ("raw", "hour", "day", "week")
"""One talk, then the talks of a clock hour, of a day from 04:00 on, and of a week from Monday 04:00 on."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One summary as dialogue memory shows it: of a closed session, or of the `talks` that it was rolled up of.

    `session_id` is 0 for a rolled-up one; `own` says that the person it was read for took part, `changed` that a day
    it tells of was changed later. Times in ms.
    """

    id: int
    session_id: int
    chat_id: int
    summary: str
    started_at: int
    ended_at: int
    names: tuple[str, ...]
    tier: Tier = "raw"
    talks: int = 1
    own: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of dialogue memory as rolling up looks at it; `owner_id` is None for a group's."""

    id: int
    owner_id: int | None
    tier: Tier
    ended_at: int


@dataclass(frozen=True, slots=True)
class Roll:
    """The rows `members` become one of that tier, which ends at `until`; it is looked at again at `roll_at`, ms."""

    owner_id: int | None
    tier: Tier
    until: int
    members: tuple[int, ...]
    roll_at: int | None


@dataclass(frozen=True, slots=True)
class RollPlan:
    """What becomes of one chat's rows: those rolled up, and when the others are looked at again: (number, ms)."""

    rolls: tuple[Roll, ...]
    waits: tuple[tuple[int, int | None], ...]
