"""Persons, chats and audiences: numbers of our own, to which platform accounts and places point."""

from dataclasses import dataclass, field

from bot.types.event import ChatKind
from bot.types.speaking import Mode


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
    mode: Mode | None = None
    persona: str = ""


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
