"""Entering a talk that nobody called nuan into: what is known of it, and what was judged. It decides nothing."""

from dataclasses import dataclass
from typing import Literal

JOIN = "join"
"""Why a turn is taken though nobody called; also what its event, its calls and their limit are named."""

ENTRY = "entry"
"""The label of the event that asks nuan whether to enter: a person who joins a chat is a "join" there."""

Look = Literal[
    "enter", "nothing", "lull", "same", "spoke", "stale", "bot", "forwarded", "other", "waiting", "hushed", "hours",
    "pair", "cap", "entered", "ignored", "question", "score", "away", "background",
]  # fmt: skip
"""What a look at a talk came to; `why_look_…` in the catalogue says each in words."""


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A line of a group, as far as manners go. `to_other`: it is for somebody else; `to` is who, where that is known.

    `asks` says that its end is a question.
    """

    id: int
    at: int
    person_id: int
    to_other: bool = False
    to: int | None = None
    asks: bool = False
    forwarded: bool = False
    from_bot: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """An earlier time that nuan was asked whether to enter, at `at`, ms. `said` that she did, `answered` by people.

    `counts`: it says something about whether she is welcome; one that somebody's line overtook does not.
    """

    at: int
    said: bool
    answered: bool
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Talk:
    """A group as it stands: its newest lines in order, and nuan's part in it; all times in ms.

    `spoke_id` and `spoke_at` are her last line (0: none that is known), `seen` the newest event at which she was asked
    whether to enter. `waiting`: somebody waits for an answer here; `hushed`: somebody told her to be quiet.
    """

    lines: tuple[TalkLine, ...]
    entries: tuple[Entry, ...] = ()
    spoke_id: int = 0
    spoke_at: int = 0
    seen: int = 0
    waiting: bool = False
    hushed: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """enter: now; wait: look again at `at`, ms; silent: not before somebody says something more.

    `at` of a silent one is until when its reason holds, 0 for no time. `score` is 0 where nothing was scored.
    """

    action: Literal["enter", "wait", "silent"]
    why: Look
    at: int = 0
    score: float = 0.0
