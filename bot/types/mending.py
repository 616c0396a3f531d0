"""Memories that do not stand where they should, and what is known to put them right."""

from dataclasses import dataclass
from typing import Literal

from bot.types.event import ChatKind

Part = Literal["namespaces", "sections", "text-index", "vectors"]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a memory stands, as its row says; `chat_kind` is None where there is no such chat.

    `owner_known`: the person it names is there. `senders` wrote the lines it was made from, `chats` are those lines'.
    `members` are the people of its chat, or of the only one of `chats`.
    """

    number: int
    owner_id: int | None
    owner_known: bool
    chat_id: int
    chat_kind: ChatKind | None
    visibility: str
    kind: str
    slot: str
    senders: tuple[int, ...] = ()
    chats: tuple[tuple[int, ChatKind], ...] = ()
    members: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory is to stand."""

    owner_id: int | None
    chat_id: int
    visibility: str
    kind: str
    slot: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a memory, or with the row of the index of what `about` names and `number` counts.

    Of a section `about` is the one where the memory belongs. Without `place` nobody knows where a memory belongs; what
    the index should hold is always known.
    """

    part: Part
    number: int
    why: str
    place: Place | None = None
    about: str = ""

    @property
    def mendable(self) -> bool:
        """Whether a backfill puts it right."""
        return self.part != "namespaces" or self.place is not None
