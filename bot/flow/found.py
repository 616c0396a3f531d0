"""Tells findings to a model: whose words, where, and of which day, as memory_get takes them."""

from bot.flow.getting import calendar
from bot.flow.looking import RESULT_TOKENS
from bot.flow.words import Words
from bot.prompt.days import Days, said_at
from bot.store.store import Store
from bot.text.clean import as_data, is_named, named_once
from bot.text.clip import clip
from bot.text.dates import next_yearly
from bot.text.estimate import estimate_tokens
from bot.types.memory import Memory
from bot.types.recall import Finding
from bot.types.tool import ToolContext

LINE_CHARS, ABOVE_CHARS = 300, 24
"""Characters of one memory in a result, and of one that the model has before it anyway."""

TELLING_CHARS = 80
"""By so much of its beginning a memory is known again: all that tell one cut it later."""


async def findings_text(
    store: Store, words: Words, context: ToolContext, found: tuple[Finding, ...], room: int = RESULT_TOKENS,
    said: str = "", bot: str = "nuan",
) -> str:  # fmt: skip
    """These findings, attributed and dated, as many as fit into `room` tokens, the first in any case.

    What `said`, all that the model has before it, tells already is named by its number and first words. `bot` is
    nuan's name.
    """
    script = words.script_named(context.script)
    text = words.opening(script)
    if not found:
        return text("recall_none")
    days = Days(context.now, await calendar(store, words, context), text, words.days(script))
    alone = context.audience.kind == "dm"
    lines: list[str] = []
    left = room
    for one in found:
        if _told(said, one):
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


def memory_line(days: Days, one: Finding, memory: Memory, *, alone: bool, most: int = LINE_CHARS) -> str:
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
        when = text("found_until", day=days.told(memory.former_at))
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


def _place(days: Days, one: Finding) -> str:
    """The group that it was said in, if that is not here: 在群「家」里."""
    return "" if one.group is None else days.words("found_in", chat=as_data(one.group))


def tells(said: str, told: str) -> bool:
    """Whether a text tells this already: an opening, a result, or the person's own words."""
    return bool(said) and as_data(told[:TELLING_CHARS]) in said


def _told(said: str, one: Finding) -> bool:
    """Whether a text tells a finding already: a memory with its number, a line as a whole or with its number."""
    if one.kind == "line" and f">{as_data(one.text)}<" in said:
        return True
    return _number(one) in said and tells(said, one.text)


def _above(days: Days, one: Finding, bot: str) -> str:
    """The short form of what the model has before it; what is former is marked here as well."""
    text, said = days.words, as_data(clip(one.text, ABOVE_CHARS))
    if one.memory is not None and one.memory.former_at is not None:
        said = text("found_former", text=said)
    elif one.kind == "line":
        said = text("around_line", who=as_data(one.who) or bot, text=said)
    return text("found_above", number=_number(one), text=said)


def _number(one: Finding) -> str:
    return {"memory": f"#{one.ref} ", "line": f"@{one.ref} "}.get(one.kind, "")


def _other(days: Days, one: Finding, bot: str) -> str:
    """A line with whose words it is and those around it; a summary or a note as it is."""
    text, said, who = days.words, as_data(clip(one.text, LINE_CHARS)), as_data(one.who)
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
