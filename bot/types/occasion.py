"""Why a turn is composed."""

from dataclasses import dataclass

from bot.types.event import Event
from bot.types.pace import Pace
from bot.types.people import Chat, Person


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a turn is composed: the messages being answered what was already done for them, how often one may.

    `cues` are what they may ask of memory, or end (done, and numbers of promises), which only the model can tell.
    """

    chat: Chat
    person: Person
    answering: tuple[Event, ...]
    why: str
    receipts: tuple[str, ...] = ()
    pace: Pace | None = None
    cues: tuple[str, ...] = ()
