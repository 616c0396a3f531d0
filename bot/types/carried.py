"""What an export carries from one house to another: no numbers of people and chats, only platform ids.

Times are ms since 1970 UTC.
"""

from dataclasses import dataclass
from typing import Literal

from bot.types.event import ChatKind
from bot.types.memory import MemoryKind, Source, Visibility
from bot.types.merging import How

Fate = Literal["new", "same", "changed", "refused", "missing"]


@dataclass(frozen=True, slots=True)
class CarriedPerson:
    """Somebody by their platform accounts, each "platform:id", sorted; the first one is who they are in a file."""

    accounts: tuple[str, ...]
    name: str = ""
    script: str = ""
    timezone: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class CarriedChat:
    """A chat by its places, each "platform:id", the present one first; that is what it is called in a file."""

    places: tuple[str, ...]
    kind: ChatKind
    title: str = ""


@dataclass(frozen=True, slots=True)
class CarriedMerge:
    """What was merged into a memory: what that said `before`, and the statement that came to it; oldest first.

    `undone_at` is 0 unless the merge was taken back.
    """

    at: int
    how: How
    before: str
    before_observed_at: int
    said: str
    kind: MemoryKind
    source: Source
    observed_at: int
    undone_at: int = 0


@dataclass(frozen=True, slots=True)
class CarriedMemory:
    """A memory with everything that lasts of it. The fields are named as its columns are.

    `owner` and `chat` are "platform:id", "" for none (a new line of somebody's has no chat yet). `id` is its number in
    the house that it comes from, 0 for none. `archived_at` is 0 unless it was put away; `more` are the columns that the
    house has besides, where they are not at their default.
    """

    id: int
    owner: str
    chat: str
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    created_at: int
    source: Source
    stability_days: float
    accessed_at: int
    updated_at: int
    section: str = ""
    slot: str = ""
    asked: bool = False
    importance: int = 1
    emotion: str = ""
    emotion_value: float = 0.0
    access_count: int = 0
    protected: bool = False
    archived_at: int = 0
    original: str = ""
    merges: tuple[CarriedMerge, ...] = ()
    more: tuple[tuple[str, int | float | str], ...] = ()


@dataclass(frozen=True, slots=True)
class CarriedSummary:
    """What was talked about in a closed conversation; without an owner it is a group's."""

    id: int
    owner: str
    chat: str
    summary: str
    made_by: str
    names: tuple[str, ...]
    started_at: int
    ended_at: int
    created_at: int
    tier: str = "raw"


@dataclass(frozen=True, slots=True)
class CarriedNote:
    """A Markdown note without what stands at its top.

    One that nuan made has a chat; `owners` is then whose direct chat that is, or nobody for a chat's note. One kept by
    hand has no chat and is for the `owners` of the house. `events` are numbers of the house that it comes from.
    """

    path: str
    owners: tuple[str, ...]
    chat: str
    visibility: Visibility
    events: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Carried:
    """One export, or all of a house. `house` tells houses apart, `numbers` are the memories that were exported.

    `whole`: the file still ends where it was written to, so what is not in it was taken out by somebody.
    """

    house: str = ""
    exported_at: int = 0
    people: tuple[CarriedPerson, ...] = ()
    chats: tuple[CarriedChat, ...] = ()
    memories: tuple[CarriedMemory, ...] = ()
    summaries: tuple[CarriedSummary, ...] = ()
    notes: tuple[CarriedNote, ...] = ()
    numbers: frozenset[int] = frozenset()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Here:
    """What an import is compared with: all active memories, the last number given, and each person's own chat.

    `whose` tells whose each direct chat is, `owners` the accounts of each owner, `files` names that are taken.
    """

    carried: Carried
    last: int
    dms: tuple[tuple[str, str], ...] = ()
    whose: tuple[tuple[str, str], ...] = ()
    owners: tuple[tuple[str, ...], ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Problem:
    """A line of a file that cannot be taken, and why."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file says; `lines` tells where each memory stands (file:line), in the same order."""

    carried: Carried
    lines: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """What an import would do with one memory. `before` is it as it is here, `fields` what would change of it."""

    fate: Fate
    where: str
    memory: CarriedMemory
    before: CarriedMemory | None = None
    fields: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class NoteItem:
    """What an import would do with one note: `note` is as it would be written here, `path` its name in the file."""

    fate: Fate
    path: str
    note: CarriedNote
    why: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do: first make `people` and `chats`, then each item of another fate than same or refused.

    `forget` are memories of this house that the file had and has no more: only after a question of their own.
    """

    people: tuple[CarriedPerson, ...]
    chats: tuple[CarriedChat, ...]
    items: tuple[Item, ...]
    summaries: tuple[CarriedSummary, ...]
    forget: tuple[CarriedMemory, ...] = ()
    notes: tuple[NoteItem, ...] = ()

    def of(self, fate: Fate) -> tuple[Item, ...]:
        """The items of one fate."""
        return tuple(item for item in self.items if item.fate == fate)

    @property
    def new_notes(self) -> tuple[CarriedNote, ...]:
        """The notes that would be written."""
        return tuple(item.note for item in self.notes if item.fate == "new")

    @property
    def count(self) -> int:
        """How much would be written besides what is forgotten."""
        return len(self.of("new")) + len(self.of("changed")) + len(self.summaries) + len(self.new_notes)
