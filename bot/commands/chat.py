"""Commands about one chat: `.ai info`, `new`, `clear`, `on`, `off`, `mode`, `why`, `persona` and `context`."""

import asyncio
import math
import re
from dataclasses import dataclass, replace

from bot import __version__
from bot.commands.command import Invocation, command, hint
from bot.core.people import ChatContextSettings
from bot.core.ports import Admins, implements
from bot.core.sessions import CloseReason
from bot.speaking.activation import explain_decision
from bot.text.clean import clean_name
from bot.text.dates import clock_label, day_start, time_label
from bot.text.fold import fold
from bot.text.length import clip

EVERYWHERE_WORDS = ("all", "全部")

ADMIN_ANSWER_S = 10.0
"""Seconds to wait until a platform says who looks after a group."""

NAME_CHARS = 32

_WHOLE_NUMBER = re.compile(r"[+]?[0-9]+")
_DIGITS = 12
"""A longer number is as good as the largest one."""


@command("info", who="anyone", topic="chat")
async def info(call: Invocation) -> str:
    """The chat as it stands, as everyone in it may know it."""
    text, chat, services = call.text, call.chat, call.services
    here = await call.store.inspector.state(chat.id, day_start(call.now, call.tz))
    mode = text("info_dm") if chat.kind == "dm" else text(f"mode_{chat.mode or services.settings.speak.mode}")
    lines = [
        text("info_who", version=__version__, persona=services.planner.personas.name(chat.persona)),
        text("info_on", mode=mode) if chat.enabled else text("info_off"),
        text("info_session", n=here.session, at=clock_label(here.opened_at, call.tz), turns=here.turns)
        if here.session
        else text("info_no_session"),
        text("info_today", n=here.said_today),
    ]
    if call.person.is_owner and services.settings.mcp.servers:
        states = await services.servers.states()
        listed = ", ".join(f"{each.name} ({text(f'mcp_standing_{each.standing}')})" for each in states)
        lines.append(text("info_mcp", list=listed))
    return "\n".join((*lines, text("info_help")))


@command("new", who="anyone", topic="chat")
async def new(call: Invocation) -> str:
    """End the session and have its digest made."""
    await call.services.notes.ended(call.event, call.chat, call.person)
    await _close(call, "new")
    return call.text("new_session")


@command("clear", who="own", topic="chat")
async def clear(call: Invocation) -> str:
    """End the session; nothing of it is kept."""
    there = await _close(call, "clear")
    return call.text("cleared" if there else "cleared_none")


async def _close(call: Invocation, reason: CloseReason) -> bool:
    """End the session that is open; whether there was one, or (clear) one that waits for its digest."""
    sessions, chat, event = call.store.sessions, call.chat.id, call.event.id
    session = await sessions.open_session(chat)
    there = session is not None
    if reason == "clear":
        there = await call.store.memories.clear_talk(chat, event, call.now)
    elif session is None and not await sessions.undigested(chat):
        await sessions.clear(chat, event)
    if session is not None:
        await sessions.close(session.id, reason, call.now, upto_event=event)
    await call.store.outbox.leave_off(chat, call.now)
    return there


@command("on", "[all]", who="admins", topic="chat", example="all")
async def switch_on(call: Invocation) -> str:
    """Speak here again, or everywhere."""
    return await _switch(call, on=True)


@command("off", "[all]", who="admins", topic="chat", example="all")
async def switch_off(call: Invocation) -> str:
    """Be quiet here, or everywhere: what is said is still read and commands work; nobody is answered.

    Reminders that people asked for still come, as they cost no call and somebody relies on them; nuan writes
    nothing by herself.
    """
    return await _switch(call, on=False)


async def _switch(call: Invocation, *, on: bool) -> str:
    """A chat by those who may, everything by owners."""
    words, now = fold(" ".join(call.words)), call.now
    if words in EVERYWHERE_WORDS:
        if not call.person.is_owner:
            return call.text("not_allowed")
        await call.store.people.switch_bot(on, call.person.id, now)
        return call.text("switched_on_all" if on else "switched_off_all")
    if words:
        return call.text("switch_words")
    if refused := await _switch_refused(call):
        return call.text(refused)
    await call.store.people.switch(call.chat.id, on, now)
    if on and await call.store.settings.is_bot_off():
        return call.text("switched_on_all_off")
    return call.text("switched_on" if on else "switched_off")


async def _switch_refused(call: Invocation) -> str:
    """Why this person may not switch this chat, as a key, "" when they may; in a group the platform says so."""
    if call.person.is_owner or call.chat.kind == "dm":
        return ""
    adapter = call.services.adapter(call.chat.platform)
    if adapter is None or not implements(adapter, Admins):
        return "not_allowed"
    _, account = await call.store.people.answer_to(call.event)
    try:
        async with asyncio.timeout(ADMIN_ANSWER_S):
            may = bool(account) and await adapter.is_admin(call.chat.external_id, account)
    except (OSError, TimeoutError):
        return "switch_unsure"
    return "" if may else "switch_not_allowed"


@command("mode", "[window | called | join | reset]", who="own", topic="chat", example="called")
async def mode(call: Invocation) -> str:
    """How nuan speaks in the group it is asked in; a mode is stored before it is confirmed."""
    chat, configured, stored = call.chat, call.services.settings.speak.mode, call.store.settings
    if chat.kind == "dm":
        return call.text("mode_dm")
    match call.folded:
        case () | ("show",):
            origin = call.text("context_own" if chat.mode else "context_configured")
            return call.text("mode_now", mode=call.text(f"mode_{chat.mode or configured}"), origin=origin)
        case ("reset",):
            await stored.set_mode(chat.id, None, drop=configured == "called")
            return call.text("mode_set", mode=call.text(f"mode_{configured}"))
        case ("window" | "called" | "join" as wanted,):
            await stored.set_mode(chat.id, wanted, drop=wanted == "called")
            return call.text("mode_set", mode=call.text(f"mode_{wanted}"))
        case _:
            return call.text("mode_words")


@command("why", who="anyone", topic="chat")
async def why(call: Invocation) -> str:
    """Why nuan last spoke, waits or stayed silent here.

    One line; it holds names of those who write here, and nothing else that anybody said or keeps.
    """
    known, now = await call.store.events.last_decisions(call.chat.id, call.event.id), call.now
    reason = explain_decision(known, now)
    told = call.text(
        reason.key,
        name=reason.name,
        seconds=math.ceil(max(reason.at - now, 0) / 100) / 10,
        at=time_label(reason.at, call.tz),
    )
    return call.text(f"why_frame_{reason.frame}", reason=told)


@command("persona", "[NAME | reset]", who="own", topic="chat", example="terse")
async def persona(call: Invocation) -> str:
    """The persona of a chat; a choice is stored before it is confirmed, and the next turn begins a new log on it."""
    personas, stored = call.services.planner.personas, call.store.settings
    match call.words:
        case ():
            return _persona_now(call)
        case (name,) if name in personas.known:
            await stored.set_persona(call.chat.id, name)
            return call.text("persona_set", name=name)
        case ("reset",):
            await stored.set_persona(call.chat.id, "")
            return call.text("persona_set", name=personas.default)
        case _:
            return _persona_unknown(call, " ".join(call.words))


def _persona_now(call: Invocation) -> str:
    personas, chosen = call.services.planner.personas, call.chat.persona
    name = personas.name(chosen)
    origin = call.text("context_own" if chosen == name else "context_configured")
    others = ", ".join(sorted(each for each in personas.known if each != name))
    return call.text("persona_now" if others else "persona_only", name=name, origin=origin, list=others)


def _persona_unknown(call: Invocation, wanted: str) -> str:
    personas = call.services.planner.personas
    name, near = clip(clean_name(wanted), NAME_CHARS), personas.near(wanted)
    listed = ", ".join(sorted(personas.known))
    told = call.text("persona_near" if near else "persona_unknown", name=name, near=near, list=listed)
    return told if near else told + hint(call, persona)


@dataclass(frozen=True, slots=True)
class ContextNumber:
    """One number of the command, its field, the least and the most it may be (seed AI Chat Pipeline: 1, 10 and 20)."""

    name: str
    field: str
    least: int
    most: int


CONTEXT_NUMBERS = (
    ContextNumber("recent", "recent", 1, 5_000),
    ContextNumber("window", "window_seconds", 10, 31_536_000),
    ContextNumber("recentmax", "recent_max", 20, 5_000),
)


def clamped(word: str, knob: ContextNumber) -> tuple[int, bool] | None:
    """The number that a word says, brought into bounds, and whether that changed it; None when it is none or below
    zero, which nobody means."""
    text = fold(word)
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+").lstrip("0") or "0"
    asked = knob.most + 1 if len(digits) > _DIGITS else int(digits)
    kept = min(max(asked, knob.least), knob.most)
    return kept, kept != asked


@command(
    "context", "[show | recent N | window SEC | recentmax N | reset]", who="own", topic="chat", example="recent 20"
)
async def context(call: Invocation) -> str:
    """How much of the chat a turn is told; a number is stored before it is confirmed."""
    match call.folded:
        case () | ("show",):
            return await _context_shown(call)
        case ("reset",):
            await call.store.settings.set_context(call.chat.id, ChatContextSettings())
            return f"{call.text('context_reset')}\n{await _context_shown(call)}"
        case (name, _) if knob := next((knob for knob in CONTEXT_NUMBERS if knob.name == name), None):
            return await _set_context(call, knob, call.words[1])
        case _:
            return call.text("context_words")


async def _set_context(call: Invocation, knob: ContextNumber, word: str) -> str:
    found = clamped(word, knob)
    if found is None:
        return call.text("context_number", name=knob.name, word=word[:32], least=knob.least, most=knob.most)
    number, changed = found
    before = await call.store.settings.context(call.chat.id)
    await call.store.settings.set_context(call.chat.id, replace(before, **{knob.field: number}))
    key = "context_clamped" if changed else "context_set"
    return call.text(key, name=knob.name, n=number, least=knob.least, most=knob.most)


async def _context_shown(call: Invocation) -> str:
    wish, usual = await call.store.settings.context(call.chat.id), call.services.settings.context
    rows = (
        ("context_recent", wish.recent, usual.recent),
        ("context_window", wish.window_seconds, usual.window_seconds),
        ("context_recentmax", wish.recent_max, usual.bus_max),
    )
    lines = [
        call.text(
            key,
            n=number if own is None else own,
            origin=call.text("context_configured" if own is None else "context_own"),
        )
        for key, own, number in rows
    ]
    digest = "context_digest_all" if wish.recent_max is None else "context_digest"
    return "\n".join((*lines, call.text(digest, n=wish.recent_max or 0), call.text("context_when")))
