"""Who was erased: what is needed to find the rest of them in files. It names nobody once that is done."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erased:
    """The number of the person, their direct chats and all their chats, ids and names they bore on platforms.

    `counts` says how much went, by kind: lines, memories, promises, reminders, talks, notes.
    """

    person_id: int
    dms: frozenset[int]
    chats: frozenset[int]
    ids: frozenset[str]
    names: frozenset[str]
    counts: Mapping[str, int]
