"""What was said in a stretch of a chat, as digests and notes are made from it."""

from bot.config.settings import Settings
from bot.context.xml import CUT_LABEL
from bot.memory.minutes import DigestLine
from bot.store.events import Seen
from bot.store.reminding import LABEL as REMINDER
from bot.store.store import Store
from bot.types.event import Event

TOLD = ("", CUT_LABEL, REMINDER)
"""The labels of lines that are told: people's and hers, and what she said of reminders: it is what "done" answers."""

AROUND = 200
"""Lines before and after one in which a change of plans is looked for."""


async def talk(store: Store, settings: Settings, chat_id: int, after: int, upto: int) -> tuple[DigestLine, ...]:
    """The messages and replies of a chat with after < number <= upto, as they are now; commands are none.

    What was forgotten, deleted or is not to be recorded is left out, and so is what is older than the chat wants kept.
    """
    events = await store.events.between(chat_id, after, upto)
    told = [event for event in events if event.kind in ("message", "bot") and event.label in TOLD]
    most = (await store.switches.context(chat_id)).recent_max
    told = told if most is None else told[max(0, len(told) - most) :]
    return tuple(_line(number, event, settings) for number, event in enumerate(told, 1))


async def around_of(store: Store, settings: Settings, chat_id: int, event_id: int) -> tuple[DigestLine, ...]:
    """What was said in a chat around a line, in order: at most AROUND lines before it, and as many after it."""
    first, last = await store.events.around(chat_id, event_id, AROUND)
    return await talk(store, settings, chat_id, first - 1, last)


def _line(number: int, event: Event, settings: Settings) -> DigestLine:
    is_bot = event.kind == "bot"
    name = settings.bot.names[0] if is_bot else event.name
    marks = event.marks if isinstance(event, Seen) else ""
    return DigestLine(number, event.id, event.person_id, name, event.text, event.at, is_bot, marks, event.forwarded)
