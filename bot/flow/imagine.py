"""What would be sent if somebody said something now: composed by the same code as a turn, and never committed."""

from dataclasses import replace

from bot.flow.intake import READ_CHARS, cleaned
from bot.flow.plan import Plan, Planner
from bot.flow.words import Words
from bot.text.script import usual_script
from bot.types.event import Event
from bot.types.occasion import Occasion
from bot.types.people import Chat, Person

NEXT_EVENT = 2**62
"""The number of an event that is only imagined: later than every stored one."""


async def imagine(
    planner: Planner, words: Words, chat: Chat, person: Person, query: str, now: int, names: tuple[str, ...] = ()
) -> Plan:  # fmt: skip
    """The plan of the turn that would answer `query`, taken in as the door would take it in."""
    said = cleaned(query)
    if said.strip():
        lines = (said[:READ_CHARS], *await planner.written(chat, person))
        person = replace(
            person, script=usual_script(lines, names, words.script(person) if person.script else None, words.language)
        )
    event = Event(NEXT_EVENT, chat.id, now, "message", person.id, person.name, said)
    return await planner.plan(Occasion(chat, person, (event,), "dm"), now)
