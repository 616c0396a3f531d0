"""The pages: live events, turns, memories, people, promises, past talks, the chat box, personas and settings."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response, StreamingResponse

from bot.config.sources import ShownSetting
from bot.core.clock import DAY_MS
from bot.core.errors import ConfigError
from bot.core.memories import STABILITY_DAYS
from bot.core.people import SCRIPTS
from bot.core.ports import pause
from bot.memory.lifecycle import vitality
from bot.pipeline.reminder_texts import rule_label
from bot.prompt.opening import section_name
from bot.prompt.persona import NAME_MARK
from bot.store.inspector import (
    MEMORY_STATES,
    EventRow,
    LogRow,
    MemoryFilter,
    MemoryRow,
    SummaryRow,
    TurnRequest,
    TurnRow,
)
from bot.text.clean import Redactor, clean
from bot.text.length import estimate_tokens
from bot.web.figures import show_overview, show_usage, show_usage_figures
from bot.web.requests import ChatBox, PageRequest, render

ROWS_SHOWN = 100
"""Events, turns, people, promises, summaries and lines of the transcript on one page."""

CTX_END = "</ctx>"
"""What follows it in a message of ours was recalled; what people write cannot hold it, it is escaped."""

MOST_PERSONA_CHARS = 100_000
"""Of a persona file so much is shown."""

MEMORIES_SHOWN = 50
PERSON_MEMORIES = 200
"""Memories on the page of one person."""
MOST_WORDING_CHARS = 2_000
"""Longest wording that can be given to a memory, in characters."""

ALIVE_MS = 15_000
"""How often a stream says that it is there, so that a browser that went away is noticed."""


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """One part of what the model saw: its name (part_<name> titles it), of which turn (0: the prefix), estimated
    tokens, and whether the request before this turn had it, so that the provider's cache could."""

    name: str
    turn: int
    text: str
    tokens: int
    before: bool


async def show_live(ask: PageRequest) -> Response:
    """What happened last, growing."""
    return render(ask, "live.html", await _events(ask, 0))


async def show_live_rows(ask: PageRequest) -> Response:
    """What happened since."""
    return render(ask, "live_rows.html", await _events(ask, ask.number("after")))


async def _events(ask: PageRequest, after: int) -> dict[str, object]:
    found = await ask.site.store.inspector.events(after, ROWS_SHOWN)
    rows = [(event, why_text(ask, event.why, event.who)) for event in found]
    return {"rows": rows, "last": found[0].id if found else after}


async def show_turns(ask: PageRequest) -> Response:
    """The newest turns, of one chat or all."""
    store, below, chat = ask.site.store, ask.number("below"), ask.number("chat")
    found = await store.inspector.turns(below, ROWS_SHOWN, chat or None)
    rows = [(turn, why_text(ask, turn.why, turn.who)) for turn in found]
    more = found[-1].id if len(found) == ROWS_SHOWN else 0
    values = {"rows": rows, "more": more, "chat": chat, "chats": await store.inspector.chat_labels()}
    return render(ask, "turns.html", values)


async def show_turn(ask: PageRequest) -> Response:
    """Everything of one turn."""
    sent = await ask.site.store.inspector.request(ask.path_number())
    if sent is None:
        raise HTTPException(404)
    turn = sent.turn
    values = {
        "turn": turn,
        "sent": sent,
        "pieces": pieces_of(sent, _system(ask, sent.prefix.content)),
        "why": why_text(ask, turn.why, turn.who),
        "hit": _rate(turn),
        "brought": [(each, ask.say(f"tool_{each.way}") or ask.named("way", each.way)) for each in sent.brought],
        "money": ask.site.settings.budget.currency,
        "opened": ask.say(f"ctx_why_{turn.epoch_reason}") or turn.epoch_reason,
    }
    return render(ask, "turn.html", values)


def pieces_of(sent: TurnRequest, system: str) -> tuple[PromptPiece, ...]:
    """What the model saw, in order, byte for byte; `system` is the present system text, to tell it from the persona.

    Empty parts are left out. What the turn's last call answered is the last part.
    """
    content = sent.prefix.content
    known = system and content.startswith(f"{system}\n\n")
    first = not any(not entry.own for entry in sent.log)
    prefix = [("system", system), ("bootstrap", content[len(system) + 2 :])] if known else [("prefix", content)]
    tools = "\n".join(json.dumps(tool.wire(), ensure_ascii=False) for tool in sent.tools)
    pieces = [
        PromptPiece(name, 0, text, estimate_tokens(text), not first) for name, text in (*prefix, ("tools", tools))
    ]
    for entry in sent.log:
        pieces += [
            PromptPiece(name, entry.turn, text, estimate_tokens(text), not entry.own) for name, text in _parts(entry)
        ]
    return tuple(piece for piece in pieces if piece.text.strip())


def _parts(entry: LogRow) -> list[tuple[str, str]]:
    message = entry.message
    if message.role == "user":
        opening, rest = message.content[: message.opening], message.content[message.opening :]
        delta, end, recalled = rest.rpartition(CTX_END)
        return [("opening", opening), ("delta", delta + end), ("recalled", recalled if end else "")] + (
            [] if end else [("delta", rest)]
        )
    called = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    name = "tool" if message.role == "tool" else "answer"
    return [("thought", message.reasoning), (name, "\n".join(filter(None, (message.content, *called))))]


def _system(ask: PageRequest, content: str) -> str:
    """The system text as it would be sent now, in the language of `content`; "" when it cannot be read."""
    for language in ("", *(f".{script}" for script in SCRIPTS)):
        try:
            text = ask.site.find(f"ai-system{language}.txt").read_text("utf-8")
        except (OSError, UnicodeDecodeError, ConfigError):
            continue
        if content.startswith(known := text.strip().replace(NAME_MARK, ask.site.settings.bot.names[0])):
            return known
    return ""


def _rate(turn: TurnRow) -> str:
    return f"{turn.cached_tokens / turn.prompt_tokens:.0%}" if turn.prompt_tokens else "–"


def why_text(ask: PageRequest, why: str, who: str) -> str:
    """Why something was answered or not, in words; the bare reason where there are none."""
    return (ask.say(f"why_{why}", name=who or "?") if why else "") or why


async def show_personas(ask: PageRequest) -> Response:
    """The files of each persona with their folder, the configured one first."""
    folders = ask.site.personas.items()
    found = [(name, folder.absolute(), await asyncio.to_thread(_files, folder)) for name, folder in folders]
    return render(ask, "persona.html", {"personas": found})


async def show_settings(ask: PageRequest) -> Response:
    """Every key with its value and where that comes from."""
    shown = await asyncio.to_thread(ask.site.shown)
    redactor = Redactor()

    def table(setting: ShownSetting) -> str:
        return setting.key.rpartition(".")[0]

    rows = [(setting, redactor.text(setting.value)) for setting in sorted(shown, key=table)]
    tables = [(name, tuple(each)) for name, each in groupby(rows, key=lambda row: table(row[0]))]
    return render(ask, "settings.html", {"tables": tables, "set": sum(each.origin != "default" for each in shown)})


def _files(folder: Path) -> list[tuple[str, str]]:
    paths = sorted(path for path in folder.rglob("*.md") if not path.name.startswith("."))
    return [
        (path.relative_to(folder).as_posix(), path.read_text("utf-8", errors="replace")[:MOST_PERSONA_CHARS])
        for path in paths
    ]


async def show_memories(ask: PageRequest) -> Response:
    """The memories that fit; for a search while it is typed only their rows."""
    store = ask.site.store
    state = ask.word("state") or "active"
    wanted = MemoryFilter(
        ask.word("q"),
        ask.number("owner") or None,
        ask.word("kind", 20),
        state if state in MEMORY_STATES else "active",
        ask.number("below"),
        MEMORIES_SHOWN,
    )
    found = await store.inspector.memories(wanted)
    now = ask.site.clock.now()
    query = {"q": wanted.text, "owner": wanted.owner_id or "", "kind": wanted.kind, "state": wanted.state}
    more = urlencode({**query, "below": found[-1].memory.id}) if len(found) == MEMORIES_SHOWN else ""
    values: dict[str, object] = {
        "rows": [(each, f"{vitality(each.memory, now):.0%}", _marks(ask, each)) for each in found],
        "more": more,
        "wanted": wanted,
    }
    if "hx-request" in ask.request.headers:
        return render(ask, "memory_rows.html", values)
    values |= {
        "people": await store.inspector.names(),
        "kinds": tuple(STABILITY_DAYS),
        "states": await store.inspector.memory_counts(),
    }
    return render(ask, "memories.html", values)


async def show_memory(ask: PageRequest) -> Response:
    """One memory with where it comes from and what may be done to it."""
    store = ask.site.store
    found = await _found(ask)
    memory = found.memory
    merges = () if found.forgotten else await store.memories.merges(memory)
    values = {
        "found": found,
        "memory": memory,
        "former": await store.inspector.former(memory.id),
        "origins": await store.inspector.origins(memory.id),
        "merges": merges,
        "vitality": f"{vitality(memory, ask.site.clock.now()):.0%}",
        "section": section_name(memory.section, ask.opening) if memory.section else "",
        "marks": _marks(ask, found),
        "days": ask.site.settings.memory.undo_days,
        "archive_days": ask.site.settings.memory.life.archive_days,
        "most": MOST_WORDING_CHARS,
    }
    return render(ask, "memory.html", values)


async def change_memory(ask: PageRequest) -> Response:
    """Carry an action out, then show the memory with what became of it."""
    if ask.site.box is None:
        raise HTTPException(409)
    found = await _found(ask)
    number = found.memory.id
    action = str(ask.request.path_params["action"])
    done = await (_reword(ask, found) if action == "edit" else _do(ask, found, action))
    return RedirectResponse(f"/memories/{number}?done={done}", 303)


async def _reword(ask: PageRequest, found: MemoryRow) -> str:
    text = " ".join(clean(ask.form.get("text", "")).split())
    if not 0 < len(text) <= MOST_WORDING_CHARS:
        return "length"
    if text == found.memory.text:
        return "same"
    done = await ask.site.store.memories.reword(found.memory.id, text, ask.site.clock.now())
    return {"done": "edited", "gone": "over", "named": "named", "known": "known", "forgotten": "buried"}[done]


async def _do(ask: PageRequest, found: MemoryRow, action: str) -> str:
    store, now, memory = ask.site.store, ask.site.clock.now(), found.memory
    rules = ask.site.settings.memory
    match action:
        case "forget":
            purge_at = now + rules.undo_days * DAY_MS if rules.undo_days else None
            return "forgot" if await store.memories.forget_number(memory.id, purge_at, now) else "over"
        case "purge":
            return "purged" if await store.memories.forget_number(memory.id, None, now) else "over"
        case "restore" if found.ended == "archived":
            return "restored" if await store.memories.restore(memory.id, now) else "over"
        case "restore" if found.forgotten:
            return "restored" if await store.memories.bring_back(memory.id, now) else "over"
        case _ if found.ended or action == "restore":
            return "over"
        case "archive":
            await store.memories.archive(memory.id, now + rules.life.archive_days * DAY_MS, now)
            return "archived"
        case "protect" | "unprotect":
            await store.memories.protect(memory, on=action == "protect")
            return f"{action}ed"
        case "unmerge":
            return "unmerged" if await store.memories.unmerge(memory, now) is not None else "over"
        case _:
            raise HTTPException(404)


async def _found(ask: PageRequest) -> MemoryRow:
    found = await ask.site.store.inspector.memory(ask.path_number())
    if found is None:
        raise HTTPException(404)
    return found


def _marks(ask: PageRequest, found: MemoryRow) -> list[str]:
    memory = found.memory
    states = {
        "asked": memory.asked,
        "protected": memory.protected,
        "former": memory.former_at is not None,
        found.ended: bool(found.ended),
    }
    return [ask.t(f"mark_{name}") for name, holds in states.items() if holds]


async def show_people(ask: PageRequest) -> Response:
    """Everybody nuan knows, whoever was seen last first."""
    after = ask.number("after")
    found = await ask.site.store.inspector.people(ROWS_SHOWN + 1, after)
    more = after + ROWS_SHOWN if len(found) > ROWS_SHOWN else 0
    return render(ask, "people.html", {"people": found[:ROWS_SHOWN], "more": more})


@dataclass(frozen=True, slots=True)
class KnownThing:
    """A memory that is current, what it took the place of (newest first), and the line that each of them is from."""

    now: MemoryRow
    former: tuple[MemoryRow, ...]
    lines: Mapping[int, EventRow]


async def show_person(ask: PageRequest) -> Response:
    """What nuan knows of one person: what holds, below it what held before, and where each came from."""
    number, inspector = ask.path_number(), ask.site.store.inspector
    people = await inspector.people(only=number)
    if not people:
        raise HTTPException(404)
    found = await inspector.memories(MemoryFilter(owner_id=number, limit=PERSON_MEMORIES + 1))
    shown = found[:PERSON_MEMORIES]
    here = {row.memory.id for row in shown}
    replaced: dict[int, list[MemoryRow]] = {}
    for row in shown:
        if row.memory.replaced_by in here and row.memory.former_at is not None:
            replaced.setdefault(row.memory.replaced_by or 0, []).append(row)
    below = {row.memory.id for rows in replaced.values() for row in rows}
    lines = await inspector.first_lines(sorted(here)) if here else {}
    known = [
        KnownThing(row, tuple(replaced.get(row.memory.id, ())), lines) for row in shown if row.memory.id not in below
    ]
    return render(ask, "person.html", {"one": people[0], "known": known, "more": len(found) > len(shown)})


async def show_promises(ask: PageRequest) -> Response:
    """What is open and what ended last; what somebody is to be reminded of."""
    residents = ask.site.store.inspector
    reminders = [
        (one, rule_label(ask.site.words, one.rule, ask.script) if one.rule else ask.t("once"))
        for one in await residents.reminders(ROWS_SHOWN)
    ]
    values = {"promises": await residents.promises(ROWS_SHOWN), "reminders": reminders}
    return render(ask, "promises.html", values)


async def show_dialogue(ask: PageRequest) -> Response:
    """Summaries by day, the newest first, of one chat or all."""
    store, chat = ask.site.store, ask.number("chat")
    found = await store.inspector.summaries(chat or None, ask.number("before"), ROWS_SHOWN)

    def day(told: SummaryRow) -> str:
        return ask.when(told.ended_at)[:10]

    values = {
        "days": [(name, tuple(each)) for name, each in groupby(found, key=day)],
        "chat": chat,
        "more": found[-1].ended_at if len(found) == ROWS_SHOWN else 0,
        "chats": await store.inspector.chat_labels(),
    }
    return render(ask, "dialogue.html", values)


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One line: whether nuan said it, when (ms), and what. An aside is no part of the transcript."""

    own: bool
    at: int
    text: str
    aside: bool = False


async def show_chat(ask: PageRequest) -> Response:
    """The page."""
    values = {"bubbles": await _chat_lines(ask), "most": ask.site.settings.input.max_chars}
    return render(ask, "chat.html", values)


async def show_chat_lines(ask: PageRequest) -> Response:
    """The lines alone."""
    return render(ask, "chat_lines.html", {"bubbles": await _chat_lines(ask)})


async def say_in_chat(ask: PageRequest) -> Response:
    """Somebody writes."""
    text = ask.form.get("text", "")
    if not text.strip():
        raise HTTPException(400)
    await _box(ask).hear(text)
    if "hx-request" in ask.request.headers:
        return await show_chat_lines(ask)
    return RedirectResponse("/chat", 303)


async def stream_chat(ask: PageRequest) -> Response:
    """Signs for the page while it is open and the login holds."""
    return StreamingResponse(_stream(ask, _box(ask)), media_type="text/event-stream")


async def _stream(ask: PageRequest, box: ChatBox) -> AsyncIterator[str]:
    signs = box.listen()
    next_sign = asyncio.ensure_future(_next(signs))  # before the browser knows that it is connected
    try:
        yield ": here\n\n"
        while ask.holds():
            alive = asyncio.ensure_future(pause(ask.site.clock, ALIVE_MS))
            await asyncio.wait((next_sign, alive), return_when=asyncio.FIRST_COMPLETED)
            alive.cancel()
            if not next_sign.done():
                yield ": here\n\n"
                continue
            sign = next_sign.result()
            if sign is None:
                return
            next_sign = asyncio.ensure_future(_next(signs))
            yield f"event: {sign[0]}\ndata: {json.dumps({'text': sign[1]}, ensure_ascii=False)}\n\n"
    finally:
        next_sign.cancel()
        await asyncio.wait((next_sign,))


async def _next(signs: AsyncIterator[tuple[str, str]]) -> tuple[str, str] | None:
    return await anext(signs, None)


async def _chat_lines(ask: PageRequest) -> list[ChatLine]:
    """The transcript of the box's chat with the answers to commands in their places, oldest first."""
    box, store = _box(ask), ask.site.store
    here = await store.people.first_chat(box.platform)
    events = await store.inspector.events(0, ROWS_SHOWN, here.id) if here is not None else ()
    said = [
        ChatLine(each.kind == "bot", each.at, each.text)
        for each in reversed(events)
        if each.kind in ("message", "bot") and each.text
    ]
    since, forgot = said[0].at if said else 0, store.tombstones.added_at
    # An answer to a command may name what was forgotten after it.
    asides = [ChatLine(True, at, text, aside=True) for at, text in box.asides() if at >= since and at > forgot]
    return sorted((*said, *asides), key=lambda bubble: bubble.at)


def _box(ask: PageRequest) -> ChatBox:
    if ask.site.box is None:
        raise HTTPException(409)
    return ask.site.box


PAGES = {
    "/overview": show_overview,
    "/live": show_live,
    "/live/rows": show_live_rows,
    "/turns": show_turns,
    "/turns/{number}": show_turn,
    "/usage": show_usage,
    "/usage.json": show_usage_figures,
    "/memories": show_memories,
    "/memories/{number}": show_memory,
    "/people": show_people,
    "/people/{number}": show_person,
    "/promises": show_promises,
    "/dialogue": show_dialogue,
    "/persona": show_personas,
    "/settings": show_settings,
    "/chat": show_chat,
    "/chat/lines": show_chat_lines,
    "/chat/stream": stream_chat,
}
ACTIONS = {"/memories/{number}/{action}": change_memory, "/chat": say_in_chat}
