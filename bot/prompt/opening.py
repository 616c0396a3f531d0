"""The opening block: where we are, who is here, and the warm boot. Pure; frozen once it is logged."""

from bot.prompt.topic import topic_line
from bot.prompt.warmboot import Words, fit, sections
from bot.text.clean import as_data, clean
from bot.text.dates import DayWords
from bot.text.estimate import estimate_tokens
from bot.types.memory import Memory
from bot.types.opening import OpeningFacts
from bot.types.people import Person

PEOPLE = 8
"""How many of those present are named."""


def opening(facts: OpeningFacts, words: Words, days: DayWords, limit: int) -> str:
    """The whole block in at most about `limit` tokens; place and people always, memories as many as fit."""
    head = clean("\n".join(_head(facts, words)))
    boot = boot_text(facts, words, days, limit - estimate_tokens(head))
    return head + ("\n" + boot if boot else "")


def present(facts: OpeningFacts, words: Words) -> str:
    """All that small talk needs of it: who is here, and how to address them; at most one line."""
    return clean("\n".join(_here(facts, words)))


def boot_text(facts: OpeningFacts, words: Words, days: DayWords, limit: int) -> str:
    """The warm boot alone, as `nuan boot` prints it; "" when there is nothing to tell."""
    title = words("title", name=facts.bot_name)
    text = fit(sections(facts, words, days), limit - estimate_tokens(title), estimate_tokens)
    return clean(f"{title}\n{text}") if text else ""


def _head(facts: OpeningFacts, words: Words) -> list[str]:
    platform = words(f"platform_{facts.chat.platform}")
    key = "place_dm" if facts.chat.kind == "dm" else "place_group"
    lines = [words(key, platform=platform, title=as_data(facts.chat.title), zone=facts.zone)]
    if facts.owner:
        lines[0] += words("owner", owner=as_data(facts.owner))
    if facts.chat.scene:
        lines.append(words("scene", scene=as_data(facts.chat.scene)))
    about = [topic_line(facts.topic, words)] if facts.topic is not None else []
    return lines + _here(facts, words) + about


def _here(facts: OpeningFacts, words: Words) -> list[str]:
    people = "; ".join(_person(person, facts.memories, words) for person in facts.present[:PEOPLE])
    return [words("here", people=people)] if people else []


def _person(person: Person, memories: tuple[Memory, ...], words: Words) -> str:
    text = words("person_owner" if person.is_owner else "person", name=_plain(person.name))
    mine = [memory for memory in memories if memory.owner_id == person.id and memory.slot]
    for memory in mine:
        if memory.slot == "address":
            text = words("address", name=text, wanted=as_data(memory.text))
    for memory in mine:
        if memory.slot == "no_address":
            text = words("no_address", name=text, unwanted=as_data(memory.text))
    return text


def _plain(name: str) -> str:
    """A display name without the marks that this list is written with: nobody may look like the owner."""
    return as_data(name.translate(MARKS)) or "?"


MARKS = str.maketrans("（）();；【】[]", " " * 10)
"""Brackets and separators of the list of those present."""
