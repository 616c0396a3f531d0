"""Findings told to a model: whose words, where and of which day; and what memory_recall tells of one that is cited."""

import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import tzinfo

from bot.core.archive import NotePart
from bot.core.events import Event
from bot.core.memories import Memory
from bot.core.people import Audience
from bot.core.recall import SearchHit
from bot.core.tools import ToolAnswer, ToolContext, ToolRefused
from bot.pipeline.media import RESULT_TOKENS
from bot.pipeline.texts import Texts
from bot.prompt.days import CatalogueText, DayFormatter, said_at
from bot.prompt.opening_facts import OpeningLine
from bot.prompt.templates import thing_numbers
from bot.store.store import Store
from bot.text.clean import as_data, is_named, named_once
from bot.text.dates import clock_label, local_day, next_yearly, relative_day
from bot.text.length import clip, estimate_tokens
from bot.tools.recall import CitedReader

REACH = 3
"""Lines before and after the one that is asked for."""

NEIGHBOUR_CHARS = 200
"""Characters of a neighbour or a source; what is asked for comes whole, as far as a result goes."""

ReadNote = Callable[[Audience, str, int, int], Awaitable[NotePart | None]]
"""Lines of a note for an audience: from that one on, so many."""

FINDING_CHARS, ABOVE_CHARS = 300, 24
"""Characters of one memory in a result, and of one that the model has before it anyway."""

TELLING_CHARS = 80
"""By so much of its beginning a memory is known again: all that tell one cut it later."""

MOST_LINES = 100
"""Lines of a note that one call reads; the result itself has a bound in tokens."""

LINES = 40
"""Lines that are read of a note where none are cited."""

MOST_SHOWN = 60
"""Characters of an unknown number or path that a refusal repeats."""

_ID = re.compile(r"(?P<kind>[#＃@＠])(?P<number>[0-9]{1,18})")
_NOTE = re.compile(r"(?P<path>\S+\.md)(?:#L(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?)?")


def cited_reader(store: Store, words: Texts, notes: ReadNote, bot: str) -> CitedReader:
    """What reads what a recall cites: memories (#12), lines with their neighbourhood (@345), and notes from a line on.

    Every reader filters by the audience of the turn. `bot` is nuan's name.
    """

    async def memory(context: ToolContext, number: int) -> ToolAnswer | None:
        found = await store.search.memory(context.audience, number)
        if found is None:
            return None
        script = words.script_named(context.script)
        text, tz = words.opening(script), await timezone_of(store, words, context)
        who = as_data((await store.people.person(found.teller_id)).name) if found.teller_id else as_data(bot)
        if found.visibility == "chat" and found.chat_id != context.audience.chat_id:
            who += text("found_in", chat=as_data((await store.people.chat(found.chat_id)).title))
        day = relative_day(local_day(found.observed_at, tz), local_day(context.now, tz), words.days(script))
        source = text("get_asked" if found.asked else f"get_{found.source}", agent=as_data(found.agent))
        told, said = await store.search.sources(context.audience, number), as_data(found.text)
        said = said if found.former_at is None else text("found_former", text=said)
        whole = text("get_memory", id=number, who=who, text=said, kind=found.kind, day=day, source=source)
        sources = (line(context, tz, event) for event in told)
        return ToolAnswer(_fitting((text("get_head"), whole, *sources)), told=(number,), lines=_ids(told))

    def line(context: ToolContext, tz: tzinfo, event: Event, chars: int = NEIGHBOUR_CHARS) -> str:
        text = words.opening(words.script_named(context.script))
        who = as_data(event.name) if event.kind == "message" else as_data(bot)
        return text(
            "get_line", id=event.id, at=clock_label(event.at, tz), who=who, text=as_data(clip(event.text, chars))
        )

    async def lines(context: ToolContext, number: int) -> ToolAnswer | None:
        found = await store.search.around(context.audience, number, REACH)
        if not found:
            return None
        tz = await timezone_of(store, words, context)
        told = [line(context, tz, event, NEIGHBOUR_CHARS * (4 if event.id == number else 1)) for event in found]
        head = words.opening(words.script_named(context.script))("get_head")
        return ToolAnswer(_fitting((head, *told)), lines=_ids(found))

    async def note(context: ToolContext, path: str, first: int, count: int) -> ToolAnswer | None:
        part = await notes(context.audience, path, first, count)
        if part is None:
            return None
        text = words.opening(words.script_named(context.script))
        rows = [as_data(row) for row in part.text.splitlines()]
        return ToolAnswer(_fitting((text("get_head"), f"{as_data(part.citation)} / {part.total}", *rows)))

    async def read(context: ToolContext, given: str) -> ToolAnswer | None:
        if numbered := _ID.fullmatch(given):
            found = await (lines if numbered["kind"] in "@＠" else memory)(context, int(numbered["number"]))
        elif cited := _NOTE.fullmatch(given):
            first = max(int(cited["first"] or 1), 1)
            last = int(cited["last"] or cited["first"] or LINES)
            found = await note(context, cited["path"], first, min(max(last - first + 1, 1), MOST_LINES))
        else:
            return None
        if found is None:
            raise ToolRefused("get_none", given[:MOST_SHOWN])
        return found

    return read


async def timezone_of(store: Store, words: Texts, context: ToolContext) -> tzinfo:
    """The calendar that counts for the person of a turn where they talk."""
    chat, person = await store.people.chat(context.audience.chat_id), await store.people.person(context.person_id)
    return words.tz_of(chat, person)


def _ids(events: Iterable[Event]) -> tuple[int, ...]:
    return tuple(event.id for event in events)


def _fitting(lines: Iterable[str]) -> str:
    """As many lines as fit into a result, the last one cut."""
    kept: list[str] = []
    left = RESULT_TOKENS
    for row in lines:
        shown = row
        while estimate_tokens(shown) > left and len(shown) > 1:
            shown = clip(shown, len(shown) * 9 // 10)
        left -= estimate_tokens(shown)
        kept.append(shown)
        if shown != row or left <= 0:
            break
    return "\n".join(kept)


async def findings_text(
    store: Store,
    words: Texts,
    context: ToolContext,
    found: tuple[SearchHit, ...],
    room: int = RESULT_TOKENS,
    said: str = "",
    bot: str = "nuan",
) -> str:
    """These findings, attributed and dated, as many as fit into `room` tokens, the first in any case.

    What `said`, all that the model has before it, tells already is named by its number and first words. `bot` is
    nuan's name.
    """
    script = words.script_named(context.script)
    text = words.opening(script)
    if not found:
        return text("recall_none")
    days = DayFormatter(context.now, await timezone_of(store, words, context), text, words.days(script))
    alone = context.audience.kind == "dm"
    lines: list[str] = []
    left = room
    for one in found:
        if _told(said, one) and not (one.memory is not None and one.memory.former_at is not None):
            line = _above(days, one, bot)
        elif one.memory is not None:
            line = memory_line(days, one, one.memory, alone=alone)
        else:
            line = _other(days, one, bot)
        left -= estimate_tokens(line)
        if left < 0 and lines:
            break
        lines.append(line)
    return "\n".join((text("recall_found"), *lines))


def memory_line(days: DayFormatter, one: SearchHit, memory: Memory, *, alone: bool, most: int = FINDING_CHARS) -> str:
    """A memory: whose it is and of whom, the day it is about and the day it was said; `most` characters of it."""
    text = days.words
    who = as_data(one.who) if memory.teller_id else ""
    about = "" if is_named(memory.subject, memory.text) else memory.subject
    if about:
        who = as_data(about) if alone or not who else text("subject", who=who, subject=as_data(about))
    who, words = named_once(who, as_data(clip(memory.text, most)))
    who += _place(days, one)
    if memory.former_at is not None:
        words = text("found_former", text=words)
        until = text("found_until", day=days.told(memory.former_at))
        when = text("and_said", when=until, said=days.said(said_at(memory)))
    elif memory.dated or memory.kind == "anniversary" or days.day(said_at(memory)) != days.day(memory.observed_at):
        when = days.about(memory.observed_at, memory.dated)
        if memory.kind == "anniversary":
            when = days.on(next_yearly(days.day(memory.observed_at), days.today))
        if days.day(said_at(memory)) != days.day(memory.observed_at):
            when = text("and_said", when=when, said=days.said(said_at(memory)))
    else:
        when = days.said(said_at(memory))
    line = text("known_line" if who else "own_line", id=memory.id, who=who, text=words)
    return line + text("found_day", day=when)


def ahead_line(line: OpeningLine, text: CatalogueText) -> str:
    """What lies ahead, as an opening tells it: by which number, whose it is, and on which day."""
    who = text("light_who", who=as_data(line.who)) if line.who else ""
    number = f"{numbers} " if (numbers := thing_numbers(line)) else ""
    return f"- {number}{who}{as_data(line.text)}" + text("found_day", day=as_data(line.when))


def _place(days: DayFormatter, one: SearchHit) -> str:
    """The group that it was said in, if that is not here: 在群「家」里."""
    return "" if one.group is None else days.words("found_in", chat=as_data(one.group))


def already_told(said: str, told: str) -> bool:
    """Whether a text tells this already: an opening, a result, or the person's own words."""
    return bool(said) and as_data(told[:TELLING_CHARS]) in said


def _told(said: str, one: SearchHit) -> bool:
    """Whether a text tells a finding already: a memory with its number, a line as a whole or with its number."""
    if one.kind == "line" and f">{as_data(one.text)}<" in said:
        return True
    return _number(one) in said and already_told(said, one.text)


def _above(days: DayFormatter, one: SearchHit, bot: str) -> str:
    """The short form of what the model has before it."""
    text, said = days.words, as_data(clip(one.text, ABOVE_CHARS))
    if one.kind == "line":
        said = text("around_line", who=as_data(one.who) or bot, text=said)
    return text("found_above", number=_number(one), text=said)


def _number(one: SearchHit) -> str:
    return {"memory": f"#{one.ref} ", "line": f"@{one.ref} "}.get(one.kind, "")


def _other(days: DayFormatter, one: SearchHit, bot: str) -> str:
    """A line with whose words it is and those around it; a summary or a note as it is."""
    text, said, who = days.words, as_data(clip(one.text, FINDING_CHARS)), as_data(one.who)
    if one.kind != "line":
        return text(f"found_{one.kind}", text=said) + text("found_day", day=days.told(one.at))
    line = text(
        "found_forwarded" if one.forwarded else "found_line",
        id=one.ref,
        who=(who or bot) + _place(days, one),
        text=said,
    )
    around = " / ".join(
        text("around_line", who=as_data(teller) or bot, text=as_data(words)) for teller, words in one.around
    )
    told = line + text("found_around", text=around) if around else line
    return told + text("found_day", day=days.told(one.at))
