"""`.ai dialog`: the past talks of dialogue memory as this chat may be told them, and clearing them."""

from bot.commands.chat import clear
from bot.commands.command import Invocation, command, hint
from bot.core.people import Audience
from bot.core.sessions import TIERS, Dialogue
from bot.pipeline.opening import past_talks
from bot.prompt.days import DayFormatter
from bot.prompt.past_talks import PastTalk, past_talk_lines
from bot.text.clean import clean_name
from bot.text.length import clip

NAME_CHARS = 32

TALKS_SHOWN = 10
"""Lines of the short view."""


@command("dialog", "[full | clear | NAME]", who="anyone", topic="memory", private=True, example="full")
async def dialog(call: Invocation) -> str:
    """Nothing is shown or cleared that this audience is not told anyway."""
    audience = await call.audience()
    match call.folded:
        case ():
            return await _short(call, audience)
        case ("full",):
            return await _full(call, audience)
        case ("clear",):
            return await _clear(call, audience)
        case ("person",):
            return call.text("dialog_words")
        case ("full" | "clear", *_):
            return call.text("dialog_words")
        case ("person", *_):
            return await _with(call, audience, " ".join(call.words[1:]))
        case _:
            return await _with(call, audience, " ".join(call.words))


async def _short(call: Invocation, audience: Audience) -> str:
    found = await past_talks(call.store, audience, call.person.id, call.now)
    lines = _lines(call, found)
    more = len(lines) - TALKS_SHOWN
    told = _numbered(lines[:TALKS_SHOWN])
    if more > 0:
        told = f"{told}\n{call.text('dialog_more', n=more)}"
    return told or call.text("dialog_none")


async def _full(call: Invocation, audience: Audience) -> str:
    found = await call.store.digests.told(audience, call.person.id, 0)
    most = call.services.settings.memory.raw_dialogues
    parts: list[str] = []
    for tier in TIERS:
        rows = [talk for talk in found if talk.tier == tier]
        if rows:
            key = "dialog_full_raw" if tier == "raw" else "dialog_full_tier"
            parts.append(call.text(key, tier=call.text(f"dialog_tier_{tier}"), n=len(rows), most=most))
            parts.append(_numbered([line for talk in rows for line in _lines(call, (talk,))]))
    return "\n".join(parts) or call.text("dialog_none")


async def _clear(call: Invocation, audience: Audience) -> str:
    # In a group it takes what everybody there is told: who may end its conversation may do that, too.
    if not clear.allows(call):
        return call.text("not_allowed")
    count = await call.store.rollups.clear(audience, call.now)
    return call.text("dialog_cleared", n=count)


async def _with(call: Invocation, audience: Audience, name: str) -> str:
    person = await call.store.people.person_named(name)
    talks = await call.store.digests.told(audience, person.id if person is not None else 0, 0)
    found = tuple(talk for talk in talks if talk.own or name in talk.names)
    if found:
        return _numbered(_lines(call, found))
    return call.text("dialog_none_with", name=clip(clean_name(name), NAME_CHARS)) + hint(call, dialog)


def _lines(call: Invocation, talks: tuple[Dialogue, ...]) -> tuple[PastTalk, ...]:
    texts = call.services.texts
    days = DayFormatter(call.now, call.tz, texts.opening(call.script), texts.days(call.script))
    return past_talk_lines(talks, days)


def _numbered(lines: tuple[PastTalk, ...] | list[PastTalk]) -> str:
    return "\n".join(f"{number}. {line.head} {line.text}" for number, line in enumerate(lines, 1))
