"""What an opening block is made of, and the block as it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Literal

from bot.core.commitments import Commitment, Reminder
from bot.core.memories import Memory
from bot.core.people import Chat, Person
from bot.core.recall import TopicLine
from bot.core.sessions import Dialogue

OpeningSectionName = Literal["who", "about", "ahead", "moods", "events", "talks"]
"""The parts of a warm boot: who nuan is, what she knows of people, what comes and is to be done, how they felt, what
happened, what was talked about. Templates know them by these names."""


@dataclass(frozen=True, slots=True)
class OpeningFacts:
    """Everything a session's opening may tell its audience; `names` are display names by person number.

    `memories`, `dialogues` and `commitments` were already filtered by audience in the query, `vitality` is that of the
    memories by number; `zone` is the name of the time zone `tz`. `last_at` is when they last talked, ms; `met`: a talk
    with this audience has ended before, or nuan answered them. `topic` is what the last talk stayed with. `user` is
    what the owner wrote of themselves, "" for every other audience. `reminders` are those that the person waits for,
    `groups` the titles of the groups that something of it was said in, where that is told elsewhere. `changed` are
    memories whose lines told a day that was changed later.
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
    commitments: tuple[Commitment, ...] = ()
    last_at: int | None = None
    topic: TopicLine | None = None
    met: bool = True
    user: str = ""
    reminders: tuple[Reminder, ...] = ()
    groups: Mapping[int, str] = field(default_factory=dict)
    changed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class OpeningLine:
    """One thing that a warm boot tells. Templates print `id` (0: none), `who` ("": nobody's words), `text`, `tag` and
    `value` of a mood, and `when`: of a fact the day it was said, of an event the day it happened, of what lies ahead
    its day and how far off that is. `day` and `due` ("": none) say the first two and the last in one word, `over` that
    it was due.

    `place` is the group that it was said in, where that is not here; `who` ends with it.

    `at` is when it was or will be, ms; `weight` orders what is told when not all of it fits, the greatest first. The
    numbers say what it was made from, 0 where from nothing of that sort.
    """

    text: str
    id: int = 0
    who: str = ""
    tag: str = ""
    value: float = 0.0
    day: str = ""
    due: str = ""
    over: bool = False
    at: int = 0
    weight: float = 0.0
    memory: int = 0
    commitment: int = 0
    dialogues: tuple[int, ...] = ()
    when: str = ""
    place: str = ""
    reminder: int = 0


@dataclass(frozen=True, slots=True)
class OpeningSection:
    """A part of a warm boot in the order in which it is read; `share` is what it may take when all are full."""

    name: OpeningSectionName
    share: float
    lines: tuple[OpeningLine, ...]


@dataclass(frozen=True, slots=True)
class OpeningBlock:
    """An opening block: its text, how long they had not talked, in words ("" for not worth a word), what it tells.

    `memories` are all whose words are in it: more than have a line, as names and twins have none.
    """

    text: str
    since: str = ""
    sections: tuple[OpeningSection, ...] = ()
    memories: tuple[int, ...] = ()

    def told(self, kind: Literal["memory", "dialogue", "commitment", "reminder"]) -> tuple[int, ...]:
        """The numbers of what its lines tell of that kind."""
        lines = (line for section in self.sections for line in section.lines)
        match kind:
            case "memory":
                numbers = [line.memory for line in lines]
            case "dialogue":
                numbers = [number for line in lines for number in line.dialogues]
            case "commitment":
                numbers = [line.commitment for line in lines]
            case "reminder":
                numbers = [line.reminder for line in lines]
        return tuple(number for number in numbers if number)
