"""Facts and decisions about whether, when and why the bot speaks: calls, windows, entering a talk, writing first."""

from dataclasses import dataclass
from typing import Literal

from bot.core.events import ChatKind

Why = Literal[
    "dm",
    "mention",
    "reply",
    "name",
    "window",
    "command",
    "listen",
    "off",
    "other",
    "forwarded",
    "silent",
    "pair",
    "stranger",
    "old",
    "closed",
    "muted",
    "stop",
    "quiet",
    "bot",
    "bots",
    "copy",
    "uncalled",
    "join",
    "heartbeat",
]
Stop = Literal["", "stop", "quiet"]
"""Nothing of the kind; end what runs now; end it and listen no longer until somebody calls."""

STOP_REASONS: tuple[Why, ...] = ("stop", "quiet")
"""What is carried out in the commit that stores the message."""

UNASKED: tuple[Why, ...] = ("heartbeat", "join")
"""Why a turn is taken that nobody asked for."""

UNCALLED: tuple[Why, ...] = ("window", *UNASKED)
"""Where nobody waits for a word: the model may pass it over, and nobody is told when it fails."""

GroupMode = Literal["window", "called", "join"]
"""How nuan speaks in a group: calls and follow-ups; calls alone; the first, and it may enter a talk by itself."""

Action = Literal["now", "follow", "listen"]
BusyPolicy = Literal["collect", "interrupt", "queue"]
"""What becomes of messages that come while a turn runs: answered together, cutting it short, one after the other."""

JOIN = "join"
"""Why a turn is taken though nobody called; also what its event, its calls and their limit are named."""

ENTRY = "entry"
"""The label of the event that asks nuan whether to enter: a person who joins a chat is a "join" there."""

JoinReason = Literal[
    "enter",
    "nothing",
    "lull",
    "same",
    "spoke",
    "stale",
    "bot",
    "forwarded",
    "other",
    "waiting",
    "hushed",
    "hours",
    "pair",
    "cap",
    "entered",
    "ignored",
    "question",
    "score",
    "away",
    "background",
]
"""What a look at a talk came to; `why_look_…` in the catalogue says each in words."""

HEARTBEAT = "heartbeat"
"""Why a turn is taken though nobody wrote; also what its event, its calls and their limit are named."""

ReasonFrame = Literal["spoke", "still", "waits"]
"""nuan spoke; stayed silent; waits."""


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The limits for one occasion to answer; None is no limit.

    `occasion` is the number of the first message being answered: all calls made for it count once. The local day
    goes from `day_since` to `day_until`, ms.
    """

    occasion: int
    day_since: int
    day_until: int
    cooldown_ms: int | None = None
    person_minute: int | None = None
    person_day: int | None = None
    global_minute: int | None = None
    global_day: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when a message arrives; `window_until` is the end of this person's activation window, ms.

    `allowed` says that nuan may talk here with this person, `refused` that they get no answer at all. `greets` is a
    command that everyone is answered; `code` is the code that the message brings, "" for none. `age_ms` is how
    long ago it was written: what a platform kept while nuan was away comes late. `awaited`: its platform shows that
    an answer will come. `muted`: the platform lets nuan read this chat, not write to it. `stop` is what the text
    commands when it is addressed to nuan. `bots_quiet`: other bots were answered often enough here. `mode` is the
    chat's own, None leaves it to the configuration. `whole`: its text looks like all that is to be said just now.
    """

    at: int
    chat_kind: ChatKind
    enabled: bool
    text: str
    is_message: bool
    from_bot: bool
    is_command: bool
    is_memory_command: bool
    mentions_bot: bool
    replies_to_bot: bool
    addresses_other: bool
    forwarded: bool
    window_until: int
    allowed: bool = True
    refused: bool = False
    from_owner: bool = False
    greets: bool = False
    code: str = ""
    age_ms: int = 0
    awaited: bool = False
    muted: bool = False
    stop: Stop = ""
    bots_quiet: bool = False
    mode: GroupMode | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """now: answer at once; follow: after silence, at `due_at`; listen: only remember that it was said.

    `silence_at` is when nuan may look whether to enter the talk, ms, 0 for never.
    """

    action: Action
    why: Why
    due_at: int
    window_until: int
    silence_at: int = 0


@dataclass(frozen=True, slots=True)
class PendingMessages:
    """What a decision must know of a chat's other messages, ms, 0 for none.

    `since`: the first message of this person that is not due yet; `last` and `before`: the two newest messages for
    nuan; `seen`: when this person did something last; `rush_since` and `rush_until`: the time in which the messages of a flood are gathered. `calls`: that
    first message is a call.
    """

    since: int = 0
    last: int = 0
    before: int = 0
    seen: int = 0
    rush_since: int = 0
    rush_until: int = 0
    calls: bool = False


@dataclass(frozen=True, slots=True)
class QueueMarks:
    """What is special about some of a chat's waiting messages, by their numbers.

    `later`: not due yet, there only because something else is; `tried`: failed before; `parked`: follow-ups that could
    not be answered and wait, without a deadline, for the next call.
    """

    later: frozenset[int] = frozenset()
    tried: frozenset[int] = frozenset()
    parked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class PacedDecision:
    """A decision with its deadline among the others, and the time in which a flood is gathered, ms, 0 for none.

    `joins`: what the same person said before waits until then, too.
    """

    decision: Decision
    rush_since: int = 0
    rush_until: int = 0
    joins: bool = False


@dataclass(frozen=True, slots=True)
class GroupLine:
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
class PastEntry:
    """An earlier time that nuan was asked whether to enter, at `at`, ms. `said` that it did, `answered` by people.

    `counts`: it says something about whether nuan is welcome; one that somebody's line overtook does not.
    """

    at: int
    said: bool
    answered: bool
    counts: bool = True


@dataclass(frozen=True, slots=True)
class GroupTalk:
    """A group as it stands: its newest lines in order, and nuan's part in it; all times in ms.

    `spoke_id` and `spoke_at` are nuan's last line (0: none that is known), `seen` the newest event at which it was asked
    whether to enter. `waiting`: somebody waits for an answer here; `hushed`: somebody told it to be quiet.
    """

    lines: tuple[GroupLine, ...]
    entries: tuple[PastEntry, ...] = ()
    spoke_id: int = 0
    spoke_at: int = 0
    seen: int = 0
    waiting: bool = False
    hushed: bool = False


@dataclass(frozen=True, slots=True)
class JoinVerdict:
    """enter: now; wait: look again at `at`, ms; silent: not before somebody says something more.

    `at` of a silent one is until when its reason holds, 0 for no time. `score` is 0 where nothing was scored.
    """

    action: Literal["enter", "wait", "silent"]
    why: JoinReason
    at: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class SilentChat:
    """A DM in which nuan may write first, as far as access goes; all times in ms.

    `last_at` is when either side last said something there, `tried_at` when nuan was last asked to write first (0:
    never). `said` are the times of its last first messages; `ignored` of them came after the person's last message, at
    `heard_at`, as did the `skips`, where it was asked and had nothing to say. `matters` are moments from then on that
    something is dated to, `yearly` such of any year whose day comes back.
    """

    last_at: int
    tried_at: int
    said: tuple[int, ...]
    ignored: int
    person_id: int
    script: str = ""
    timezone: str = ""
    heard_at: int = 0
    skips: int = 0
    matters: tuple[int, ...] = ()
    yearly: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LastLine:
    """The newest message of a chat, and what became of it; `due_at` is when it is to be answered, ms."""

    id: int
    name: str
    why: str
    state: str
    outcome: str
    due_at: int | None


@dataclass(frozen=True, slots=True)
class LastLook:
    """The last look at whether to enter the talk, up to that event, and when the next one is due, ms."""

    event_id: int
    why: str
    until: int
    due_at: int | None


@dataclass(frozen=True, slots=True)
class LastEntry:
    """The last time that nuan was asked to say something unasked, why, and what came of it ("": it goes on)."""

    id: int
    why: str
    outcome: str


@dataclass(frozen=True, slots=True)
class LastDecisions:
    """All that is known; None for what never was."""

    line: LastLine | None
    look: LastLook | None
    entry: LastEntry | None


@dataclass(frozen=True, slots=True)
class SpeakingReason:
    """The answer: `key` is the sentence of the catalogue, `name` whom it is about, `at` a moment of it, ms, or 0."""

    frame: ReasonFrame
    key: str
    name: str = ""
    at: int = 0
