"""The opening block: where we are, who is here, and the warm boot; for small talk little of it. Pure; frozen once it is
logged."""

from collections.abc import Callable
from dataclasses import replace

from bot.prompt.ahead import ahead
from bot.prompt.days import SPANS, Days, Words, speaks_of_days
from bot.prompt.fitting import Render, fit
from bot.prompt.people import people
from bot.prompt.since import since
from bot.prompt.topic import topic_line
from bot.prompt.warmboot import LIGHT_MOOD_DAYS, MARKS, QUOTES, Teller, moods, sections
from bot.text.clean import as_data, clean
from bot.text.clip import clip
from bot.text.dates import DayWords, local_hour
from bot.text.estimate import estimate_tokens
from bot.text.sentences import excerpt
from bot.types.duration import HOUR_MS
from bot.types.memory import Memory
from bot.types.opening import Line, Opened, OpeningFacts, Section, SectionName
from bot.types.people import Person

Begin = Callable[[str, str], Render]
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


def opening(facts: OpeningFacts, words: Words, near: DayWords, begin: Begin, limit: int) -> Opened:
    """The whole block in at most about `limit` tokens; place and people always, memories as many as fit."""
    days = Days(facts.now, facts.tz, words, near)
    head = clean("\n".join(_head(facts, words)))
    paused = since(facts.last_at, facts.now, facts.tz, words)
    known = people(facts, _plain, limit, estimate_tokens)
    user = _user(facts.user, words, min(USER_TOKENS, limit - estimate_tokens(head)))
    head = "\n".join(filter(None, (head, user, clean(known.text))))
    rest = replace(facts, memories=tuple(each for each in facts.memories if each.id not in known.told))
    left = limit - estimate_tokens(head + "\n")
    told = fit(sections(rest, days), begin(facts.bot_name, paused), left, estimate_tokens)
    if told is None:
        return Opened(head, paused)
    return Opened(f"{head}\n{clean(told.text)}", paused, told.sections)


def light(facts: OpeningFacts, words: Words, near: DayWords) -> Opened:
    """What small talk needs of it: who is here, how to address them, and how long they had not talked.

    After a pause of hours also what today is about and what is overdue, the last mood and the last talk, in at most
    LIGHT_TOKENS.
    """
    days = Days(facts.now, facts.tz, words, near)
    paused = since(facts.last_at, facts.now, facts.tz, words)
    here = [*_here(facts, words), *_new(facts, words), *_user_light(facts.user, words)]
    if facts.last_at is not None and facts.now - facts.last_at <= LIGHT_PAUSE_MS:
        return Opened(clean("\n".join((*here, *_pause(paused, words)))))
    told = _pause(paused, words)
    chosen: dict[SectionName, tuple[Line, ...]] = {}
    for name, line, text in _matters(facts, days):
        if estimate_tokens("\n".join((*told, text))) <= LIGHT_TOKENS:
            told.append(text)
            chosen[name] = (*chosen.get(name, ()), line)
    kept = tuple(Section(name, 0.0, lines) for name, lines in chosen.items())
    return Opened(clean("\n".join((*here, *told))), sections=kept)


def _matters(facts: OpeningFacts, days: Days) -> list[tuple[SectionName, Line, str]]:
    """What matters now, what matters most first: a birthday of today, what today is about, what is overdue."""
    teller, words, today = Teller(facts, days), days.words, days.today
    evening = local_hour(facts.now, facts.tz) >= EVENING
    found: list[tuple[SectionName, Line, str]] = []

    def add(name: SectionName, key: str, line: Line, when: str) -> None:
        text = as_data(excerpt(line.text, LIGHT_LINE_TOKENS))
        named = line.who if facts.chat.kind != "dm" else line.place
        who = words("light_who", who=as_data(named)) if named else ""
        tag = words("light_tag", tag=as_data(line.tag)) if line.tag else ""
        told = words("light_when", when=as_data(when)) if when else ""
        found.append((name, line, words(key, text=f"{who}{text}", tag=tag, when=told)))

    dated = [one for one in ahead(facts, days) if one.day is not None and one.dated not in SPANS]
    coming = [one for one in dated if one.day is not None and (one.day - today).days <= evening]
    busy = {memory.id for one in coming for memory in one.memories}
    events = [memory for memory in facts.memories if memory.kind == "event" and memory.dated]
    for one in coming:
        if one.day == today:
            spoken = speaks_of_days(one.text, words) and days.day(one.said) != today
            told_before = days.said(one.said) if spoken else ""
            when = " · ".join(filter(None, (days.time(one.at) if one.dated == "time" else "", told_before)))
            add("ahead", "light_today", teller.due(one, 0), when)
    for memory in events:
        if memory.id not in busy and days.day(memory.observed_at) == today:
            add("ahead", "light_today", teller.event(memory), "")
    for one in coming:
        if one.day != today:
            line = teller.due(one, 0)
            add("ahead", "light_over" if line.over else "light_soon", line, line.when)
    for memory in moods(facts, LIGHT_MOOD_DAYS)[:1]:
        line = teller.event(memory)
        add("moods", "light_mood", line, line.when)
    for line in Teller(replace(facts, dialogues=facts.dialogues[:1]), days).talks():
        add("talks", "light_talk", line, line.when)
    return found


def _head(facts: OpeningFacts, words: Words) -> list[str]:
    platform = words(f"platform_{facts.chat.platform}")
    key = "place_dm" if facts.chat.kind == "dm" else "place_group"
    lines = [words(key, platform=platform, title=_quoted(facts.chat.title), zone=facts.zone)]
    if facts.owner:
        lines[0] += words("owner", owner=as_data(facts.owner))
    if facts.chat.scene:
        lines.append(words("scene", scene=as_data(facts.chat.scene)))
    about = [topic_line(facts.topic, words)] if facts.topic is not None else []
    return lines + _here(facts, words) + _new(facts, words) + about


def _new(facts: OpeningFacts, words: Words) -> list[str]:
    """That somebody is new: nothing is known of them, and no talk with them has ended before."""
    known = facts.met or facts.memories or facts.dialogues or facts.commitments or facts.reminders
    return [words("new")] if facts.chat.kind == "dm" and not known else []


def _pause(paused: str, words: Words) -> list[str]:
    return [words("pause", since=paused)] if paused else []


def _user(text: str, words: Words, limit: int) -> str:
    """What the owner wrote of themselves, in whole lines of together at most so many tokens."""
    told: list[str] = []
    for row in text.splitlines():
        line = as_data(excerpt(row, USER_TOKENS // 2))
        if line and estimate_tokens("\n".join((words("user"), *told, line))) <= limit:
            told.append(line)
    return "\n".join((words("user"), *told)) if told else ""


def _user_light(text: str, words: Words) -> list[str]:
    """Its first lines."""
    rows = [as_data(row) for row in text.splitlines() if row.strip()][:LIGHT_USER_LINES]
    return [words("user"), *clip("\n".join(rows), LIGHT_USER_CHARS).split("\n")] if rows else []


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
