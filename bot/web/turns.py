"""Live events, the list of turns, and for one turn what the model saw, part by part."""

import json
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response

from bot.core.errors import ConfigError
from bot.prompt.persona import NAME_MARK
from bot.store.inspector import LogRow, TurnRequest, TurnRow
from bot.text.length import estimate_tokens
from bot.web.requests import PageRequest, render

SHOWN = 100
"""Events and turns on one page."""

CTX_END = "</ctx>"
"""What follows it in a message of ours was recalled; what people write cannot hold it, it is escaped."""


@dataclass(frozen=True, slots=True)
class PromptPiece:
    """One part of what the model saw: its name (part_<name> titles it), of which turn (0: the prefix), estimated
    tokens, and whether the request before this turn had it, so that the provider's cache could."""

    name: str
    turn: int
    text: str
    tokens: int
    before: bool


async def live(ask: PageRequest) -> Response:
    """What happened last, growing."""
    return render(ask, "live.html", await _events(ask, 0))


async def live_rows(ask: PageRequest) -> Response:
    """What happened since."""
    return render(ask, "live_rows.html", await _events(ask, ask.number("after")))


async def _events(ask: PageRequest, after: int) -> dict[str, object]:
    found = await ask.site.store.inspector.events(after, SHOWN)
    rows = [(event, why_text(ask, event.why, event.who)) for event in found]
    return {"rows": rows, "last": found[0].id if found else after}


async def listed(ask: PageRequest) -> Response:
    """The newest turns, of one chat or all."""
    store, below, chat = ask.site.store, ask.number("below"), ask.number("chat")
    found = await store.inspector.turns(below, SHOWN, chat or None)
    rows = [(turn, why_text(ask, turn.why, turn.who)) for turn in found]
    more = found[-1].id if len(found) == SHOWN else 0
    values = {"rows": rows, "more": more, "chat": chat, "chats": await store.people.chats()}
    return render(ask, "turns.html", values)


async def one(ask: PageRequest) -> Response:
    """Everything of one turn."""
    sent = await ask.site.store.inspector.request(ask.path_number())
    if sent is None:
        raise HTTPException(404)
    turn = sent.turn
    values = {
        "turn": turn, "sent": sent, "pieces": pieces_of(sent, _system(ask)), "why": why_text(ask, turn.why, turn.who),
        "hit": _rate(turn), "money": ask.site.settings.budget.currency,
        "opened": ask.say(f"ctx_why_{turn.epoch_reason}") or turn.epoch_reason,
    }  # fmt: skip
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


def _system(ask: PageRequest) -> str:
    """The system text as it would be sent now; "" when it cannot be read."""
    try:
        text = ask.site.find("ai-system.txt").read_text("utf-8")
    except (OSError, UnicodeDecodeError, ConfigError):
        return ""
    return text.strip().replace(NAME_MARK, ask.site.settings.bot.names[0])


def _rate(turn: TurnRow) -> str:
    return f"{turn.cached_tokens / turn.prompt_tokens:.0%}" if turn.prompt_tokens else "–"


def why_text(ask: PageRequest, why: str, who: str) -> str:
    """Why something was answered or not, in words; the bare reason where there are none."""
    return (ask.say(f"why_{why}", name=who or "?") if why else "") or why


PAGES = {"/live": live, "/live/rows": live_rows, "/turns": listed, "/turns/{number}": one}
