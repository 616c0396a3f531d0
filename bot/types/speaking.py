"""Whether, when and why nuan speaks: the facts a decision sees, and the decision."""

from dataclasses import dataclass
from typing import Literal

from bot.types.event import ChatKind

Why = Literal[
    "dm", "mention", "reply", "name", "window", "command", "listen", "off", "other", "forwarded", "silent", "pair",
    "stranger", "old", "closed", "muted", "stop", "quiet", "bot", "bots", "copy", "uncalled", "join", "heartbeat",
]  # fmt: skip
Stop = Literal["", "stop", "quiet"]
"""Nothing of the kind; end what runs now; end it and listen no longer until somebody calls."""

HALTS: tuple[Why, ...] = ("stop", "quiet")
"""What is carried out in the commit that stores the message."""

UNASKED: tuple[Why, ...] = ("heartbeat", "join")
"""Why a turn is taken that nobody asked for."""

UNCALLED: tuple[Why, ...] = ("window", *UNASKED)
"""Where nobody waits for a word: the model may pass it over, and nobody is told when it fails."""

Mode = Literal["window", "called", "join"]
"""How nuan speaks in a group: calls and follow-ups; calls alone; the first, and she may enter a talk by herself."""

Action = Literal["now", "follow", "listen"]
Busy = Literal["collect", "interrupt", "queue"]
"""What becomes of messages that come while a turn runs: answered together, cutting it short, one after the other."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known when a message arrives; `window_until` is the end of this person's activation window, ms.

    `allowed` says that nuan may talk here with this person, `refused` that they get no answer at all. `greets` is a
    command that everyone is answered; `code` is the code that the message brings, "" for none. `age_ms` is how
    long ago it was written: what a platform kept while nuan was away comes late. `awaited`: its platform shows that
    an answer will come. `muted`: the platform lets nuan read this chat, not write to it. `stop` is what the text
    commands when it is addressed to nuan. `bots_quiet`: other bots were answered often enough here. `mode` is the
    chat's own, None leaves it to the configuration.
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
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """now: answer at once; follow: after silence, at `due_at`; listen: only remember that it was said.

    `lull_at` is when nuan may look whether to enter the talk, ms, 0 for never.
    """

    action: Action
    why: Why
    due_at: int
    window_until: int
    lull_at: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a decision must know of a chat's other messages, ms, 0 for none.

    `since`: the first message of this person that is not due yet; `last` and `before`: the two newest messages for
    nuan; `rush_since` and `rush_until`: the time in which the messages of a flood are gathered. `calls`: that
    first message is a call.
    """

    since: int = 0
    last: int = 0
    before: int = 0
    rush_since: int = 0
    rush_until: int = 0
    calls: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What is special about some of a chat's waiting messages, by their numbers.

    `later`: not due yet, there only because something else is; `tried`: failed before; `parked`: follow-ups that could
    not be answered and wait, without a deadline, for the next call.
    """

    later: frozenset[int] = frozenset()
    tried: frozenset[int] = frozenset()
    parked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Paced:
    """A decision with its deadline among the others, and the time in which a flood is gathered, ms, 0 for none.

    `joins`: what the same person said before waits until then, too.
    """

    decision: Decision
    rush_since: int = 0
    rush_until: int = 0
    joins: bool = False
