"""`<people>`: what a group may know of those present, one line each. Pure.

It is a view of their typed memories, no store of its own. In a private chat the warm boot tells it already.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.text.clean import as_data, named_once
from bot.text.clip import clip
from bot.types.memory import Memory
from bot.types.opening import OpeningFacts

LEAST = 2
"""So many of those present must be known: of one the warm boot tells it as briefly."""

SHARE = 0.3
"""What it may take of the opening's limit."""

FACTS = 4
"""Facts of one person; the reference kept 240 characters of each (seed AI Chat Pipeline)."""

FACT_CHARS = 60
"""A longer fact stays where the warm boot tells it whole."""

_QUOTE = str.maketrans({'"': "＂"})


@dataclass(frozen=True, slots=True)
class People:
    """The part of the opening, "" where there is none, and the memories that need not be told again."""

    text: str = ""
    told: frozenset[int] = frozenset()


def people(facts: OpeningFacts, name: Callable[[str], str], limit: int, cost: Callable[[str], int]) -> People:
    """Who is here and known, in at most its share of `limit` tokens; `name` is how a display name is written.

    Everybody gets their first fact before anybody a second one.
    """
    if facts.chat.kind != "group":
        return People()
    known = {person.id: _facts(facts.memories, person.id, person.name) for person in facts.present}
    known = {number: found for number, found in known.items() if found}
    if len(known) < LEAST:
        return People()
    names = {person.id: name(person.name).translate(_QUOTE) for person in facts.present}
    left = int(limit * SHARE) - cost("<people>\n</people>")
    lines: dict[int, list[Memory]] = {}
    for place in range(FACTS):
        for number, found in known.items():
            price = cost(_fact(found[place])) if place < len(found) else left + 1
            price += 0 if number in lines else cost(_line(names[number], ""))
            if price <= left and (place == 0 or number in lines):
                left -= price
                lines.setdefault(number, []).append(found[place])
    if len(lines) < LEAST:
        return People()
    told = [_line(names[number], "; ".join(_fact(memory) for memory in mine)) for number, mine in lines.items()]
    numbers = frozenset(memory.id for mine in lines.values() for memory in mine)
    return People("\n".join(("<people>", *told, "</people>")), numbers)


def _facts(memories: tuple[Memory, ...], owner_id: int, name: str) -> tuple[Memory, ...]:
    """Who somebody is, and what they asked to be kept, as they told it."""
    mine = [
        memory for memory in memories
        if memory.owner_id == owner_id and not memory.is_name and memory.teller_id and len(memory.text) <= FACT_CHARS
        and not memory.subject
        and (memory.kind == "identity" or ((memory.asked or memory.lasting) and memory.kind == "knowledge"))
    ]  # fmt: skip
    told = (replace(memory, text=named_once(name, memory.text)[1]) for memory in mine)
    return tuple(sorted(told, key=lambda memory: memory.kind != "identity"))


def _fact(memory: Memory) -> str:
    return f"#{memory.id} {as_data(clip(memory.text, FACT_CHARS))}"


def _line(name: str, facts: str) -> str:
    return f'<p n="{name}">{facts}</p>'
