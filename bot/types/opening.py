"""What an opening block is made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo

from bot.types.memory import Dialogue, Memory
from bot.types.people import Chat, Person
from bot.types.sections import TopicLine


@dataclass(frozen=True, slots=True)
class OpeningFacts:
    """Everything a session's opening may tell its audience; `names` are display names by person number.

    `memories` were already filtered by audience in the query, `vitality` is theirs by number; `zone` is the
    name of the time zone `tz`. `topic` is what the last talk stayed with.
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
    topic: TopicLine | None = None

    def told(self, tells: Callable[[str], bool]) -> tuple[int, ...]:
        """The memories that an opening made of this tells."""
        also = self.topic
        about = (also.memory_id,) if also is not None and tells(also.text) else ()
        return tuple(dict.fromkeys((*(memory.id for memory in self.memories if tells(memory.text)), *about)))
