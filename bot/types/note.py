"""Markdown notes: what stands at the top of one, its pieces, and what is read back of it."""

from dataclasses import dataclass

from bot.types.memory import Visibility

CURATED = "MEMORY.md"
"""The note of the data folder that an owner keeps by hand."""

FOLDER = "notes"
"""Where all other notes are, in the data folder."""


class NoteRefused(Exception):
    """A file that is no note; `why` says it in a few words, without what the file holds."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Front:
    """The lines at the top of a note that nuan wrote: whose it is, and the numbers of the events it was made from."""

    chat_id: int
    visibility: Visibility
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note; lines count from 1, both ends belong to it."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """A line that nuan writes into a note, and the events that it says something of."""

    text: str
    event_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewNote:
    """What nuan writes: in which chat, who may read it, under which name, and the lines below a heading.

    `path` is the name without a number and ending. `named_by` are the events that the name tells of. With `appends` it
    goes to the end of a note of that name and audience, if there is one.
    """

    front: Front
    path: str
    heading: str
    lines: tuple[Written, ...]
    named_by: tuple[int, ...] = ()
    appends: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """A note as the index has it: how its file stood (`stamp`, "" when it is to be read anew) and how it was cut.

    `made`: nuan wrote it; the others are kept by hand.
    """

    path: str
    stamp: str
    cut: str
    made: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """A note as it was read: `front` is None for one kept by hand, which is its `owners`' alone.

    `stamp` is how the file stood, `hash` its content's, `cut` how it was cut into chunks; `at` is its day, ms.
    """

    path: str
    stamp: str
    hash: str
    cut: str
    front: Front | None
    owners: tuple[int, ...]
    at: int
    chunks: tuple[Chunk, ...]


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
