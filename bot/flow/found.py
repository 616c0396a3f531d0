"""Tells findings to a model: whose words, where, and of which day, as memory_get takes them."""

from collections.abc import Collection

from bot.flow.getting import calendar
from bot.flow.looking import RESULT_TOKENS
from bot.flow.words import Words
from bot.prompt.days import Days, said_at
from bot.store.store import Store
from bot.text.clean import as_data, named_once
from bot.text.clip import clip
from bot.text.dates import next_yearly
from bot.text.estimate import estimate_tokens
from bot.text.fold import fold
from bot.types.memory import Memory
from bot.types.recall import Finding
from bot.types.tool import ToolContext

LINE_CHARS, ABOVE_CHARS = 300, 24
"""Characters of one memory in a result, and of one that the model has before it anyway."""


async def findings_text(
    store: Store, words: Words, context: ToolContext, found: tuple[Finding, ...], room: int = RESULT_TOKENS,
    above: Collection[int] = (), bot: str = "nuan",
) -> str:  # fmt: skip
    """These findings, attributed and dated, as many as fit into `room` tokens, the first in any case.

    Memories of the numbers `above`, which the model has before it, are named by their number and first
    words. `bot` is nuan's name.
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
        place = ""
        if one.line is not None and one.line.chat_id != context.audience.chat_id:
            chat = await store.people.chat(one.line.chat_id)
            place = text("found_in", chat=as_data(chat.title)) if chat.kind == "group" else ""
        if one.memory is not None and one.memory.id in above:
            line = text("found_above", id=one.memory.id, text=as_data(clip(one.text, ABOVE_CHARS)))
        elif one.memory is not None:
            line = _memory(days, one, one.memory, alone=alone)
        else:
            line = _other(days, one, place, bot)
        left -= estimate_tokens(line)
        if left < 0 and lines:
            break
        lines.append(line)
    return "\n".join((text("recall_found"), *lines))


def _memory(days: Days, one: Finding, memory: Memory, *, alone: bool) -> str:
    """A memory: whose it is and of whom, the day it is about and the day it was said."""
    text = days.words
    who = as_data(one.who) if memory.teller_id else ""
    about = memory.subject if fold(memory.subject) not in fold(memory.text) else ""
    if about:
        who = as_data(about) if alone or not who else text("subject", who=who, subject=as_data(about))
    who, words = named_once(who, as_data(clip(memory.text, LINE_CHARS)))
    if memory.former_at is not None:
        words = text("found_former", text=words)
        when = text("found_until", day=days.told(memory.former_at))
    elif memory.dated or memory.kind in ("event", "anniversary"):
        when = days.about(memory.observed_at, memory.dated)
        if memory.kind == "anniversary":
            when = days.on(next_yearly(days.day(memory.observed_at), days.today))
        if days.day(said_at(memory)) != days.day(memory.observed_at):
            when = text("and_said", when=when, said=days.said(said_at(memory)))
    else:
        when = days.said(said_at(memory))
    line = text("known_line" if who else "own_line", id=memory.id, who=who, text=words)
    return line + text("found_day", day=when)


def _other(days: Days, one: Finding, place: str, bot: str) -> str:
    """A line with whose words it is and those around it; a summary or a note as it is."""
    text, said, who = days.words, as_data(clip(one.text, LINE_CHARS)), as_data(one.who)
    if one.kind != "line":
        return text(f"found_{one.kind}", text=said) + text("found_day", day=days.told(one.at))
    line = text("found_forwarded" if one.forwarded else "found_line", id=one.ref, who=(who or bot) + place, text=said)
    around = " / ".join(
        text("around_line", who=as_data(teller) or bot, text=as_data(words)) for teller, words in one.around
    )
    told = line + text("found_around", text=around) if around else line
    return told + text("found_day", day=days.told(one.at))
