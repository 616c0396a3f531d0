"""The opening block: where we are, who is here, and the warm boot. Pure; frozen once it is logged."""

from collections.abc import Callable
from dataclasses import replace

from bot.prompt.fitting import Render, fit
from bot.prompt.people import people
from bot.prompt.since import Words, since
from bot.prompt.topic import topic_line
from bot.prompt.warmboot import sections
from bot.text.clean import as_data, clean
from bot.text.dates import DayWords
from bot.text.estimate import estimate_tokens
from bot.types.memory import Memory
from bot.types.opening import Opened, OpeningFacts
from bot.types.people import Person

Begin = Callable[[str, str], Render]
"""What renders a warm boot by its template: whose it is, and how long they had not talked, in words."""

PEOPLE = 8
"""How many of those present are named."""


def opening(facts: OpeningFacts, words: Words, days: DayWords, begin: Begin, limit: int) -> Opened:
    """The whole block in at most about `limit` tokens; place and people always, memories as many as fit."""
    head = clean("\n".join(_head(facts, words)))
    paused = since(facts.last_at, facts.now, facts.tz, words)
    known = people(facts, _plain, limit, estimate_tokens)
    head = "\n".join(filter(None, (head, clean(known.text))))
    rest = replace(facts, memories=tuple(each for each in facts.memories if each.id not in known.told))
    left = limit - estimate_tokens(head + "\n")
    told = fit(sections(rest, words, days), begin(facts.bot_name, paused), left, estimate_tokens)
    if told is None:
        return Opened(head, paused)
    return Opened(f"{head}\n{clean(told.text)}", paused, told.sections)


def present(facts: OpeningFacts, words: Words) -> str:
    """All that small talk needs of it: who is here, how to address them, and how long they had not talked; short."""
    paused = since(facts.last_at, facts.now, facts.tz, words)
    return clean("\n".join((*_here(facts, words), *((words("pause", since=paused),) if paused else ()))))


def _head(facts: OpeningFacts, words: Words) -> list[str]:
    platform = words(f"platform_{facts.chat.platform}")
    key = "place_dm" if facts.chat.kind == "dm" else "place_group"
    lines = [words(key, platform=platform, title=_quoted(facts.chat.title), zone=facts.zone)]
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
    mine = [memory for memory in memories if memory.owner_id == person.id and memory.is_name]
    for memory in mine:
        if memory.slot == "address":
            text = words("address", name=text, wanted=_quoted(memory.text))
    for memory in mine:
        if memory.slot == "no_address":
            text = words("no_address", name=text, unwanted=_quoted(memory.text))
    return text


def _quoted(words: str) -> str:
    """What stands between quotation marks there: it ends neither them nor the sentence with a word of the owner."""
    return as_data(words.translate(MARKS | QUOTES))


def _plain(name: str) -> str:
    """A display name without the marks that this list is written with: nobody may look like the owner."""
    return as_data(name.translate(MARKS)) or "?"


MARKS = str.maketrans("（）();；【】[]", " " * 10)
"""Brackets and separators of the list of those present."""

QUOTES = str.maketrans('「」『』“”"', "       ")
