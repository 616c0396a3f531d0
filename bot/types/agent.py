"""What another agent asks to be changed, and what it is told."""

from dataclasses import dataclass
from typing import Literal

from bot.types.memory import MemoryKind

AgentVerb = Literal["remember", "forget"]


@dataclass(frozen=True, slots=True)
class Seat:
    """The person on whose behalf an agent asks, in the chat whose audience hears the answer; neither is its choice."""

    person_id: int
    chat_id: int


@dataclass(frozen=True, slots=True)
class AgentWish:
    """A change that an agent of that name asks for.

    To remember: a `text` of that `kind`; `words` are those with which the person asked to keep it, "" when they did
    not; they count where nuan heard them. To forget: a `number`, or a `text` that says which.
    """

    verb: AgentVerb
    seat: Seat
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
