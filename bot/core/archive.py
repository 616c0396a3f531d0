"""Markdown notes, and what an export carries from one installation to another."""

from dataclasses import dataclass
from typing import Literal

from bot.core.events import ChatKind
from bot.core.memories import MemorySource, MergeKind, Visibility
from bot.core.people import MemoryKind

CURATED_NOTE = "MEMORY.md"
"""The note of the data folder that an owner keeps by hand."""

NOTES_FOLDER = "notes"
"""Where all other notes are, in the data folder."""

ImportFate = Literal["new", "same", "changed", "refused"]


class NoteRefused(Exception):
    """A file that is no note; `why` says it in a few words, without what the file holds."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The lines at the top of a note that nuan wrote: whose it is, and the numbers of the events it was made from."""

    chat_id: int
    visibility: Visibility
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A piece of a note; lines count from 1, both ends belong to it."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line that nuan writes into a note, and the events that it says something of."""

    text: str
    event_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewNote:
    """What nuan writes: in which chat, who may read it, under which name, and the lines below a heading.

    `path` is the name without a number and ending. `named_by` are the events that the name tells of. With `appends` it
    goes to the end of a note of that name and audience, if there is one.
    """

    front: FrontMatter
    path: str
    heading: str
    lines: tuple[NoteLine, ...]
    named_by: tuple[int, ...] = ()
    appends: bool = False


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """A note as the index has it: how its file stood (`stamp`, "" when it is to be read anew) and how it was cut.

    `made`: nuan wrote it; the others are kept by hand.
    """

    path: str
    stamp: str
    cut: str
    made: bool


@dataclass(frozen=True, slots=True)
class ReadNoteFile:
    """A note as it was read: `front` is None for one kept by hand, which is its `owners`' alone.

    `stamp` is how the file stood, `hash` its content's, `cut` how it was cut into chunks; `at` is its day, ms.
    """

    path: str
    stamp: str
    hash: str
    cut: str
    front: FrontMatter | None
    owners: tuple[int, ...]
    at: int
    chunks: tuple[NoteChunk, ...]


@dataclass(frozen=True, slots=True)
class NotePart:
    """Lines of a note, as they are read back: `first` to `last` of `total`."""

    path: str
    first: int
    last: int
    total: int
    text: str

    @property
    def citation(self) -> str:
        """How it is cited: notes/2026-05-02.md#L3-9."""
        return citation(self.path, self.first, self.last)


def citation(path: str, first: int, last: int) -> str:
    """How lines of a note are cited: notes/2026-05-02.md#L3-9."""
    return f"{path}#L{first}" if first == last else f"{path}#L{first}-{last}"


@dataclass(frozen=True, slots=True)
class ExportedPerson:
    """Somebody by their platform accounts, each "platform:id", sorted; the first one is who they are in a file."""

    accounts: tuple[str, ...]
    name: str = ""
    script: str = ""
    timezone: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class ExportedChat:
    """A chat by its places, each "platform:id", the present one first; that is what it is called in a file."""

    places: tuple[str, ...]
    kind: ChatKind
    title: str = ""


@dataclass(frozen=True, slots=True)
class ExportedMerge:
    """What was merged into a memory: what that said `before`, and the statement that came to it; oldest first.

    `undone_at` is 0 unless the merge was taken back.
    """

    at: int
    how: MergeKind
    before: str
    before_observed_at: int
    said: str
    kind: MemoryKind
    source: MemorySource
    observed_at: int
    undone_at: int = 0


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """A memory with everything that lasts of it. The fields are named as its columns are.

    `owner` and `chat` are "platform:id", "" for none (a new line of somebody's has no chat yet). `id` is its number in
    the installation that it comes from, 0 for none. `archived_at` is 0 unless it was put away; `more` are the columns
    that the installation has besides, where they are not at their default.
    """

    id: int
    owner: str
    chat: str
    visibility: Visibility
    kind: MemoryKind
    text: str
    observed_at: int
    created_at: int
    source: MemorySource
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
    merges: tuple[ExportedMerge, ...] = ()
    more: tuple[tuple[str, int | float | str], ...] = ()


@dataclass(frozen=True, slots=True)
class ExportedSummary:
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
class ExportedNote:
    """A Markdown note without what stands at its top.

    One that nuan made has a chat; `owners` is then whose direct chat that is, or nobody for a chat's note. One kept by
    hand has no chat and is for the `owners` of the installation. `events` are numbers of the installation that it comes
    from.
    """

    path: str
    owners: tuple[str, ...]
    chat: str
    visibility: Visibility
    events: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class ExportContents:
    """One export, or all of an installation; `installation` says which."""

    installation: str = ""
    exported_at: int = 0
    people: tuple[ExportedPerson, ...] = ()
    chats: tuple[ExportedChat, ...] = ()
    memories: tuple[ExportedMemory, ...] = ()
    summaries: tuple[ExportedSummary, ...] = ()
    notes: tuple[ExportedNote, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportBase:
    """What an import is compared with: all active memories, the last number given, and each person's own chat.

    `whose` tells whose each direct chat is, `owners` the accounts of each owner, `files` names that are taken.
    """

    carried: ExportContents
    last: int
    dms: tuple[tuple[str, str], ...] = ()
    whose: tuple[tuple[str, str], ...] = ()
    owners: tuple[tuple[str, ...], ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A line of a file that cannot be taken, and why."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class ParsedExport:
    """What a file says; `lines` tells where each memory stands (file:line), in the same order."""

    carried: ExportContents
    lines: tuple[str, ...] = ()
    problems: tuple[ImportProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportItem:
    """What an import would do with one memory. `before` is it as it is here, `fields` what would change of it."""

    fate: ImportFate
    where: str
    memory: ExportedMemory
    before: ExportedMemory | None = None
    fields: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """What an import would do with one note: `note` is as it would be written here, `path` its name in the file."""

    fate: ImportFate
    path: str
    note: ExportedNote
    why: str = ""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would do: first make `people` and `chats`, then each item of another fate than same or refused."""

    people: tuple[ExportedPerson, ...]
    chats: tuple[ExportedChat, ...]
    items: tuple[ImportItem, ...]
    summaries: tuple[ExportedSummary, ...]
    notes: tuple[ImportNote, ...] = ()

    def of(self, fate: ImportFate) -> tuple[ImportItem, ...]:
        """The items of one fate."""
        return tuple(item for item in self.items if item.fate == fate)

    @property
    def new_notes(self) -> tuple[ExportedNote, ...]:
        """The notes that would be written."""
        return tuple(item.note for item in self.notes if item.fate == "new")

    @property
    def count(self) -> int:
        """How much would be written."""
        return len(self.of("new")) + len(self.of("changed")) + len(self.summaries) + len(self.new_notes)
