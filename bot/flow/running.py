"""A turn under way, between two of its commits. It does nothing."""

from dataclasses import dataclass

from bot.flow.crew import Member
from bot.types.people import Chat, Person
from bot.types.prompt import ToolSpec
from bot.types.session import Epoch
from bot.types.turn import Call, Turn


@dataclass(frozen=True, slots=True)
class Running:
    """A turn under way: its log as it is stored, and who is reserved to be called for it, if anybody.

    The newest of what it answers is of `written_at`, ms.
    """

    turn: Turn
    chat: Chat
    person: Person
    epoch: Epoch
    tools: tuple[ToolSpec, ...]
    reserved: tuple[Member, Call] | None
    written_at: int
