"""Who sits on an agent's seat now. It decides nothing about what they may."""

from dataclasses import dataclass

from bot.store.store import Store
from bot.types.agent import Seat
from bot.types.people import Chat, Person


@dataclass(frozen=True, slots=True)
class Sat:
    """The person and the chat of a seat, as they are now."""

    chat: Chat
    person: Person


async def sit(store: Store, seat: Seat) -> Sat:
    """Read them; LookupError when one is gone, or the person does not take part there any more."""
    chat, person = await store.people.chat(seat.chat_id), await store.people.person(seat.person_id)
    if person.id not in (await store.people.audience(chat)).person_ids:
        raise LookupError(f"person {person.id} is not in chat {chat.id}")
    return Sat(chat, person)
