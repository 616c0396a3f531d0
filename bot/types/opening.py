"""What an opening block is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo

from bot.types.dialogue import Dialogue
from bot.types.memory import Memory
from bot.types.people import Chat, Person


@dataclass(frozen=True, slots=True)
class OpeningFacts:
    """Everything a session's opening may tell its audience; `names` are display names by person number.

    `memories` were already filtered by audience in the query, `vitality` is theirs by number; `zone` is the
    name of the time zone `tz`.
    """

    bot_name: str
    who: str
    owner: str
    zone: str
    tz: tzinfo
    now: int
    chat: Chat
    present: tuple[Person, ...]
    names: Mapping[int, str]
    memories: tuple[Memory, ...]
    dialogues: tuple[Dialogue, ...]
    vitality: Mapping[int, float] = field(default_factory=dict)
