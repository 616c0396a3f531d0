"""Persons, chats and audiences by our own numbers; what other agents ask for a person; export and erasure of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from bot.core.events import ChatKind
from bot.core.speaking import GroupMode

Script = Literal["zh-Hans", "zh-Hant", "en"]
"""What somebody writes in, and the languages that nuan has texts in."""

SCRIPTS: tuple[Script, ...] = get_args(Script)

AgentAction = Literal["remember", "forget"]
MemoryKind = Literal["identity", "emotion", "knowledge", "event", "experience", "anniversary"]
ExportFormat = Literal["md", "jsonl", "both"]


def script_named(name: str) -> Script | None:
    """The script of that name; None for any other text."""
    return next((script for script in SCRIPTS if script == name), None)


@dataclass(frozen=True, slots=True)
class Person:
    """One human (or another bot); `name` is the last display name seen."""

    id: int
    name: str
    script: str = ""
    timezone: str = ""
    is_owner: bool = False
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation place; `scene` is what its adapter last said about it. `enabled`: nuan may speak there.

    `mode` (None) and `persona` ("") are its own, else as configured.
    """

    id: int
    platform: str
    external_id: str
    kind: ChatKind
    title: str = ""
    enabled: bool = True
    scene: str = ""
    mode: GroupMode | None = None
    persona: str = ""

    @property
    def label(self) -> str:
        """Its platform with its title, or with its id there."""
        return f"{self.platform} {self.title or self.external_id}"


@dataclass(frozen=True, slots=True)
class Audience:
    """Everyone who can read the reply: in a DM one person, in a group everyone of that chat.

    `person_ids` are those who take part: exactly one in a DM; in a group the ones whose public memories may be told.
    """

    chat_id: int
    kind: ChatKind
    person_ids: tuple[int, ...] = field(default=())

    @property
    def alone(self) -> int | None:
        """The one person of a DM, who alone is told what is private; None in a group."""
        return self.person_ids[0] if self.kind == "dm" and len(self.person_ids) == 1 else None


@dataclass(frozen=True, slots=True)
class ChatContextSettings:
    """A chat's own numbers; None leaves one to the configuration.

    `recent` is the newest lines that open a session, `window_seconds` how old they may be, `recent_max` how many
    events an opening looks at and a digest reads.
    """

    recent: int | None = None
    window_seconds: int | None = None
    recent_max: int | None = None


@dataclass(frozen=True, slots=True)
class Principal:
    """The person on whose behalf an agent asks, in the chat whose audience hears the answer; neither is its choice."""

    person_id: int
    chat_id: int


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """A change that an agent of that name asks for.

    To remember: a `text` of that `kind`; `words` are those with which the person asked to keep it, "" when they did
    not; they count where nuan heard them. To forget: a `number`, or a `text` that says which.
    """

    verb: AgentAction
    principal: Principal
    agent: str
    text: str
    kind: MemoryKind = "knowledge"
    words: str = ""
    number: int | None = None


@dataclass(frozen=True, slots=True)
class AgentReply:
    """What an agent is told; `wrong`: nothing of what it asked was done. `ids` are the memories meant, for the log."""

    text: str
    wrong: bool = False
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """The number of the person, their direct chats and all their chats, ids and names they bore on platforms.

    `counts` says how much went, by kind: lines, memories, promises, reminders, talks, notes.
    """

    person_id: int
    dms: frozenset[int]
    chats: frozenset[int]
    ids: frozenset[str]
    names: frozenset[str]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PersonalRecords:
    """Rows of one person, each a record of plain values with its times in ms.

    Nothing anybody else said is among them: no quotes, no summaries of groups, no replies.
    """

    person: dict[str, object]
    promises: tuple[dict[str, object], ...]
    reminders: tuple[dict[str, object], ...]
    lines: tuple[dict[str, object], ...]
    files: tuple[dict[str, object], ...]
    feedback: tuple[dict[str, object], ...]
    usage: tuple[dict[str, object], ...]
    chats: tuple[dict[str, object], ...]
