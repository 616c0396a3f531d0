"""Why a turn is composed."""

from dataclasses import dataclass

from bot.types.event import Event
from bot.types.people import Chat, Person


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a turn is composed: the messages being answered and what was already done for them."""

    chat: Chat
    person: Person
    answering: tuple[Event, ...]
    why: str
    receipts: tuple[str, ...] = ()
