"""Memories, digests and what a person asks of them."""

from dataclasses import dataclass
from typing import Literal

MemoryKind = Literal["identity", "emotion", "knowledge", "event", "experience"]
Visibility = Literal["private", "chat", "public"]
Slot = Literal["", "address", "no_address"]
Source = Literal["command", "digest", "tool"]
Verb = Literal["remember", "forget", "undo", "nick_set", "nick_revoke"]

STABILITY_DAYS: dict[MemoryKind, int] = {
    "identity": 999_999,
    "emotion": 365,
    "knowledge": 90,
    "event": 14,
    "experience": 90,
}
"""Days S of vitality e^(-t/S) (seed Warm Boot: 999999 / 365 / 90 / 14); experience lasts like knowledge."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One typed statement. `id` is the number people see (#12); times are ms since 1970 UTC.

    `observed_at` is when the thing happened, `asked` that a person asked to keep it; `slot` marks how someone
    wants to be addressed. `importance` counts how often it was told.
    """

    id: int
    owner_id: int | None
    chat_id: int
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    created_at: int
    source: Source
    slot: Slot = ""
    asked: bool = False
    importance: int = 1
    emotion: str = ""
    emotion_value: float = 0.0
    stability_days: float = 90
    accessed_at: int = 0
    disabled_at: int | None = None


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A statement about to be stored, with the events it came from."""

    owner_id: int | None
    chat_id: int
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    source: Source
    event_ids: tuple[int, ...]
    slot: Slot = ""
    asked: bool = False
    emotion: str = ""
    emotion_value: float = 0.0


@dataclass(frozen=True, slots=True)
class MemoryCommand:
    """What a person asked of memory in a message.

    `content` is verbatim, in the person's own script; None when it points elsewhere (那条) or gives a number.
    `forever` asks for 彻底忘记: gone at once, without the days for undo. `replied` means the message replied to.
    """

    verb: Verb
    content: str | None
    number: int | None = None
    forever: bool = False
    replied: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """The commands of one message, in order, and what is left of it to answer ("" when nothing is)."""

    commands: tuple[MemoryCommand, ...]
    rest: str


@dataclass(frozen=True, slots=True)
class Digest:
    """What closing a session made: a summary of at most 40 字 and typed memories."""

    summary: str
    memories: tuple[NewMemory, ...]
    by: Literal["model", "rule"]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One stored summary of a closed session, as dialogue memory shows it."""

    id: int
    session_id: int
    chat_id: int
    summary: str
    started_at: int
    ended_at: int
    names: tuple[str, ...]
