"""The opening block of a session: place, people, topic and warm boot, as text and as JSON."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC

from bot.core.clock import HOUR_MS
from bot.core.memories import Memory
from bot.core.people import Chat, Person
from bot.core.recall import TopicLine
from bot.language.sections import SHIPPED_SECTIONS
from bot.prompt.days import COARSE_DATES, CatalogueText, DayFormatter, pause_since, speaks_of_days
from bot.prompt.opening_facts import (
    OpeningBlock,
    OpeningFacts,
    OpeningLine,
    OpeningSection,
    OpeningSectionName,
    upcoming,
)
from bot.prompt.templates import RenderLines, fit_sections
from bot.prompt.warm_boot import LIGHT_MOOD_DAYS, LIST_MARKS, QUOTE_MARKS, LineBuilder, moods, warm_boot_sections
from bot.text.clean import as_data, clean, named_once
from bot.text.dates import DayWords, local, local_hour
from bot.text.length import clip, estimate_tokens, excerpt

LEAST = 2
"""So many of those present must be known: of one the warm boot tells it as briefly."""

SHARE = 0.3
"""What it may take of the opening's limit."""

FACTS = 4
"""Facts of one person; the reference kept 240 characters of each (seed AI Chat Pipeline)."""

FACT_CHARS = 60
"""A longer fact stays where the warm boot tells it whole."""

_QUOTE = str.maketrans({'"': "＂"})

TEXT_CHARS = 80
"""Characters of the memory that a topic is told with; the memory itself is told elsewhere."""

_NAMED = frozenset(section.key for section in SHIPPED_SECTIONS)

RendererFor = Callable[[str, str], RenderLines]
"""What renders a warm boot by its template: whose it is, and how long they had not talked, in words."""

PEOPLE = 8
"""How many of those present are named."""

LIGHT_TOKENS = 120
"""What small talk is told of what was, and is to come, at most."""

LIGHT_LINE_TOKENS = 36
"""A longer line of it is told in part."""

LIGHT_PAUSE_MS = 2 * HOUR_MS
"""After a shorter pause small talk needs nothing of it."""

EVENING = 18
"""From this hour on what is to be done tomorrow is told with what is to be done today."""

USER_TOKENS, LIGHT_USER_LINES, LIGHT_USER_CHARS = 400, 2, 200
"""What the owner is told of what they wrote of themselves: of the whole, and of its beginning for small talk (seed
一般聊天 vs 主題／記憶, L7)."""


@dataclass(frozen=True, slots=True)
class PeopleBlock:
    """The part of the opening, "" where there is none, and the memories that need not be told again."""

    text: str = ""
    told: frozenset[int] = frozenset()


def people_block(
    facts: OpeningFacts, name: Callable[[str], str], limit: int, cost: Callable[[str], int]
) -> PeopleBlock:
    """Who is here and known, in at most its share of `limit` tokens; `name` is how a display name is written.

    Everybody gets their first fact before anybody a second one.
    """
    if facts.chat.kind != "group":
        return PeopleBlock()
    known = {person.id: _facts(facts.memories, person.id, person.name) for person in facts.present}
    known = {number: found for number, found in known.items() if found}
    if len(known) < LEAST:
        return PeopleBlock()
    names = {person.id: name(person.name).translate(_QUOTE) for person in facts.present}
    left = int(limit * SHARE) - cost("<people>\n</people>")
    lines: dict[int, list[Memory]] = {}
    for place in range(FACTS):
        for number, found in known.items():
            price = cost(_fact(found[place])) if place < len(found) else left + 1
            price += 0 if number in lines else cost(_person_line(names[number], ""))
            if price <= left and (place == 0 or number in lines):
                left -= price
                lines.setdefault(number, []).append(found[place])
    if len(lines) < LEAST:
        return PeopleBlock()
    told = [_person_line(names[number], "; ".join(_fact(memory) for memory in mine)) for number, mine in lines.items()]
    numbers = frozenset(memory.id for mine in lines.values() for memory in mine)
    return PeopleBlock("\n".join(("<people>", *told, "</people>")), numbers)


def _facts(memories: tuple[Memory, ...], owner_id: int, name: str) -> tuple[Memory, ...]:
    """Who somebody is, and what they asked to be kept, as they told it."""
    mine = [
        memory
        for memory in memories
        if memory.owner_id == owner_id
        and not memory.is_name
        and memory.teller_id
        and len(memory.text) <= FACT_CHARS
        and not memory.subject
        and (memory.kind == "identity" or ((memory.asked or memory.lasting) and memory.kind == "knowledge"))
    ]
    told = (replace(memory, text=named_once(name, memory.text)[1]) for memory in mine)
    return tuple(sorted(told, key=lambda memory: memory.kind != "identity"))


def _fact(memory: Memory) -> str:
    return f"#{memory.id} {as_data(clip(memory.text, FACT_CHARS))}"


def _person_line(name: str, facts: str) -> str:
    return f'<p n="{name}">{facts}</p>'


def section_name(key: str, words: Callable[..., str]) -> str:
    """What a section is called; an operator's own is called by its key."""
    return words(f"section_{key}") if key in _NAMED else as_data(key)


def topic_line(topic: TopicLine, words: Callable[..., str]) -> str:
    """The topic and what was found in it last."""
    return words("topic", name=section_name(topic.section, words), text=as_data(clip(topic.text, TEXT_CHARS)))


def opening(facts: OpeningFacts, words: CatalogueText, near: DayWords, begin: RendererFor, limit: int) -> OpeningBlock:
    """The whole block in at most about `limit` tokens; place and people always, memories as many as fit."""
    days = DayFormatter(facts.now, facts.tz, words, near)
    head = clean("\n".join(_head(facts, words)))
    paused = pause_since(facts.last_at, facts.now, facts.tz, words)
    known = people_block(facts, _plain, limit, estimate_tokens)
    user = _user(facts.user, words, min(USER_TOKENS, limit - estimate_tokens(head)))
    head = "\n".join(filter(None, (head, user, clean(known.text))))
    rest = replace(facts, memories=tuple(each for each in facts.memories if each.id not in known.told))
    left = limit - estimate_tokens(head + "\n")
    told = fit_sections(warm_boot_sections(rest, days), begin(facts.bot_name, paused), left, estimate_tokens)
    if told is None:
        return OpeningBlock(head, paused)
    return OpeningBlock("\n".join(filter(None, (head, clean(told.text)))), paused, told.sections)


def light(facts: OpeningFacts, words: CatalogueText, near: DayWords) -> OpeningBlock:
    """What small talk needs of it: who is here, how to address them, and how long they had not talked.

    After a pause of hours also what today is about and what is overdue, the last mood and the last talk, in at most
    LIGHT_TOKENS.
    """
    days = DayFormatter(facts.now, facts.tz, words, near)
    paused = pause_since(facts.last_at, facts.now, facts.tz, words)
    here = [*_here(facts, words), *_new(facts, words), *_user_light(facts.user, words)]
    if facts.last_at is not None and facts.now - facts.last_at <= LIGHT_PAUSE_MS:
        return OpeningBlock(clean("\n".join((*here, *_pause(paused, words)))))
    told = _pause(paused, words)
    chosen: dict[OpeningSectionName, tuple[OpeningLine, ...]] = {}
    for name, line, text in _matters(facts, days):
        if estimate_tokens("\n".join((*told, text))) <= LIGHT_TOKENS:
            told.append(text)
            chosen[name] = (*chosen.get(name, ()), line)
    kept = tuple(OpeningSection(name, 0.0, lines) for name, lines in chosen.items())
    return OpeningBlock(clean("\n".join((*here, *told))), sections=kept)


def _matters(facts: OpeningFacts, days: DayFormatter) -> list[tuple[OpeningSectionName, OpeningLine, str]]:
    """What matters now, what matters most first: a birthday of today, what today is about, what is overdue."""
    teller, words, today = LineBuilder(facts, days), days.words, days.today
    evening = local_hour(facts.now, facts.tz) >= EVENING
    found: list[tuple[OpeningSectionName, OpeningLine, str]] = []

    def add(name: OpeningSectionName, key: str, line: OpeningLine, when: str) -> None:
        text = as_data(excerpt(line.text, LIGHT_LINE_TOKENS))
        named = line.who if facts.chat.kind != "dm" else line.place
        who = words("light_who", who=as_data(named)) if named else ""
        tag = words("light_tag", tag=as_data(line.tag)) if line.tag else ""
        told = words("light_when", when=as_data(when)) if when else ""
        found.append((name, line, words(key, text=f"{who}{text}", tag=tag, when=told)))

    dated = [one for one in upcoming(facts, days) if one.day is not None and one.dated not in COARSE_DATES]
    coming = [one for one in dated if one.day is not None and (one.day - today).days <= evening]
    busy = {memory.id for one in coming for memory in one.memories}
    events = [memory for memory in facts.memories if memory.kind == "event" and memory.dated]
    for one in coming:
        if one.day == today:
            spoken = speaks_of_days(one.text, words) and days.day(one.said) != today
            told_before = days.said(one.said) if spoken else ""
            when = " · ".join(filter(None, (days.time(one.at) if one.dated == "time" else "", told_before)))
            add("ahead", "light_today", teller.due(one), when)
    for memory in events:
        if memory.id not in busy and days.day(memory.observed_at) == today:
            add("ahead", "light_today", teller.event(memory), "")
    for one in coming:
        if one.day != today:
            line = teller.due(one)
            add("ahead", "light_over" if line.over else "light_soon", line, line.when)
    for memory in moods(facts, LIGHT_MOOD_DAYS)[:1]:
        line = teller.event(memory)
        add("moods", "light_mood", line, line.when)
    for line in LineBuilder(replace(facts, dialogues=facts.dialogues[:1]), days).talks():
        add("talks", "light_talk", line, line.when)
    return found


def _head(facts: OpeningFacts, words: CatalogueText) -> list[str]:
    platform = words(label := f"platform_{facts.chat.platform}")
    platform = facts.chat.platform if platform == label else platform  # one that a plugin brings has no text
    key = "place_dm" if facts.chat.kind == "dm" else "place_group"
    lines = [words(key, platform=platform, title=_quoted(facts.chat.title), zone=facts.zone)]
    if facts.owner:
        lines[0] += words("owner", owner=as_data(facts.owner))
    if facts.chat.scene:
        lines.append(words("scene", scene=as_data(facts.chat.scene)))
    about = [topic_line(facts.topic, words)] if facts.topic is not None else []
    return lines + _here(facts, words) + _new(facts, words) + about


def _new(facts: OpeningFacts, words: CatalogueText) -> list[str]:
    """That somebody is new: nothing is known of them, and no talk with them has ended before."""
    known = facts.met or facts.memories or facts.dialogues or facts.commitments or facts.reminders
    return [words("new")] if facts.chat.kind == "dm" and not known else []


def _pause(paused: str, words: CatalogueText) -> list[str]:
    return [words("pause", since=paused)] if paused else []


def _user(text: str, words: CatalogueText, limit: int) -> str:
    """What the owner wrote of themselves, in whole lines of together at most so many tokens."""
    told: list[str] = []
    for row in text.splitlines():
        line = as_data(excerpt(row, USER_TOKENS // 2))
        if line and estimate_tokens("\n".join((words("user"), *told, line))) <= limit:
            told.append(line)
    return "\n".join((words("user"), *told)) if told else ""


def _user_light(text: str, words: CatalogueText) -> list[str]:
    """Its first lines."""
    rows = [as_data(row) for row in text.splitlines() if row.strip()][:LIGHT_USER_LINES]
    return [words("user"), *clip("\n".join(rows), LIGHT_USER_CHARS).split("\n")] if rows else []


def _here(facts: OpeningFacts, words: CatalogueText) -> list[str]:
    people = "; ".join(_person(person, facts.memories, words) for person in facts.present[:PEOPLE])
    return [words("here", people=people)] if people else []


def _person(person: Person, memories: tuple[Memory, ...], words: CatalogueText) -> str:
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
    return as_data(words.translate(LIST_MARKS | QUOTE_MARKS))


def _plain(name: str) -> str:
    """A display name without the marks that this list is written with: nobody may look like the owner."""
    return as_data(name.translate(LIST_MARKS)) or "?"


def boot_json(opened: OpeningBlock, chat: Chat, person: Person, now: int) -> str:
    """Who it is for, what each section tells with its instant, the text to the letter, and its estimated tokens."""
    kinds: dict[OpeningSectionName, list[dict[str, object]]] = {
        section.name: [_json_line(line) for line in section.lines] for section in opened.sections
    }
    told = {
        "chat": {"id": chat.id, "platform": chat.platform, "kind": chat.kind, "title": chat.title},
        "person": {"id": person.id, "name": person.name},
        "at": _instant(now),
        "since": opened.since,
        "tokens": estimate_tokens(opened.text),
        "sections": kinds,
        "text": opened.text,
    }
    return json.dumps(told, ensure_ascii=False, indent=2, allow_nan=False)


def _json_line(line: OpeningLine) -> dict[str, object]:
    """What there is of a line, with its instant; what it is not made from is left out."""
    known = {key: value for key, value in asdict(line).items() if value and key not in ("weight", "id")}
    return known | ({"at": _instant(line.at)} if line.at else {})


def _instant(ms: int) -> str:
    return local(ms, UTC).isoformat(timespec="seconds")
