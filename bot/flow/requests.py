"""A request about reminders as the house takes it, and what became of the message that made it."""

from dataclasses import dataclass
from datetime import tzinfo

from bot.text.script import Script
from bot.types.people import Chat, Person


@dataclass(frozen=True, slots=True)
class Request:
    """Whose wish it is, where, and which zone's clock they mean; `event_id` is the message that tells it."""

    chat: Chat
    person: Person
    event_id: int
    now: int
    tz: tzinfo
    script: Script


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a message: nothing of it is left (`done`), or the `rest` is answered with this receipt.

    `cued`: it may ask for a reminder, and a model decides.
    """

    done: bool
    receipt: str = ""
    rest: str = ""
    cued: bool = False


NOT_HEARD = Heard(False)
