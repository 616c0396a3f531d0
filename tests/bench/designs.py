"""Three ways to arrange one and the same day of turns as requests: nuan's own, and two that it is compared with.

ours: the requests as they were made, with marks where nuan sets them (bot/model/dialect.py).
(a) sliding window: a system message that begins with the clock and MEMORY tokens of memories, then the persona; tools;
the newest WINDOW events. (b) rebuilt tail: a stable system message and tools; one user message rebuilt each turn, of
clock, WARM tokens of warm boot, MEMORY tokens of memories and the newest TAIL entries.

Both get what nuan's requests get: the same persona text, the same tools, the same events in the same XML, the same
second call with the same tool call and result on the same turns, and a summary of the same form when a chat has been
silent for half an hour. Both get the best marks that such a design can use: `marked` holds every sensible choice, and
the cheapest over the whole day counts. WINDOW, TAIL, MEMORY and WARM are those of PROMPT_ECONOMICS section 4.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.context import CtxFrame, CtxLimits, render_delta
from bot.core.events import Event
from bot.core.models import Message, Prompt
from bot.language.small_talk import is_casual
from bot.memory.digest.request import NOTHING, needs_model, request_text
from bot.memory.transcript import DigestLine, TalkScope
from bot.model.dialect import CacheMark, cache_marks
from bot.pipeline.texts import read_instructions
from bot.text.length import estimate_tokens, message_tokens, tools_tokens
from tests.bench.day import DAY_MS, PROMPTS, Call, Day, Turn
from tests.bench.prices import Ask, Piece, chain, piece

WINDOW, TAIL, MEMORY, WARM = 60, 50, 350, 900
SILENCE_MS = 1_800_000
OPENS = "\n\n<ctx"
NONE: tuple[int, ...] = ()

Arranged = tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is fixed for all designs: tokens of all tool schemas (0: nuan's own), and how many of the bot's lines an XML
    shows (PROMPT_ECONOMICS counts 23 tokens for every event, whoever said it)."""

    tools: int = 1200
    bot_lines: int = 3


def ours(day: Day, sizes: Sizes) -> Arranged:
    """Nuan's own requests; a digest is read once and not marked."""
    return tuple(_own(call, sizes) for call in day.calls)


def _own(call: Call, sizes: Sizes) -> Ask:
    marks = frozenset(cache_marks(call.prompt)) if call.turn else frozenset()
    pieces, marked = [], []
    for number, message in enumerate(call.prompt.messages):
        pieces += list(_pieces(message, message.opening))
        if CacheMark(number, opening=True) in marks:
            marked.append(len(pieces) - 2)
        if number == 0 and call.prompt.tools:
            pieces.append(_tools(call.prompt, sizes))
        if CacheMark(number) in marks:
            marked.append(len(pieces) - 1)
    ends = chain(pieces)
    return Ask(call.at, call.cause, ends, tuple(marked), chain(_pieces(call.answer, 0), ends[-1])[-1])


@lru_cache(maxsize=65_536)
def _pieces(message: Message, cut: int) -> tuple[Piece, ...]:
    """A message as one piece, or two when a mark is inside."""
    whole = message_tokens(message)
    if not cut:
        return (piece(message.canonical(), whole),)
    first = estimate_tokens(message.content[:cut])
    return piece(message.content[:cut], first), piece(message.content[cut:], whole - first)


def _tools(prompt: Prompt, sizes: Sizes) -> Piece:
    return piece(str([tool.wire() for tool in prompt.tools]), sizes.tools or tools_tokens(prompt.tools))


def sliding(day: Day, sizes: Sizes, tools_first: bool) -> list[Arranged]:
    """(a): nothing is the same twice but the second call of a turn, and the tools where they stand first."""

    def arrange(turn: Turn, events: tuple[Event, ...]) -> list[Piece]:
        full = _full(day)
        text, tokens = _shown(day, turn, _newest(events, WINDOW, sizes), sizes)
        system = piece(f"{turn.id}", message_tokens(full.messages[0]) + MEMORY + _clock(day, turn.at))
        tools = _tools(full, sizes)
        return [*((tools, system) if tools_first else (system, tools)), piece(text, tokens)]

    choices = (NONE, (2, -1), *(((0,), (0, 2, -1)) if tools_first else ()))
    return _marked(_arranged(day, arrange), choices)


def tail(day: Day, sizes: Sizes) -> list[Arranged]:
    """(b): system message and tools are stable, all else is new in each turn."""

    def arrange(turn: Turn, events: tuple[Event, ...]) -> list[Piece]:
        full = _full(day)
        text, tokens = _shown(day, turn, _newest(events, TAIL, sizes), sizes)
        stable = piece(full.messages[0].canonical(), message_tokens(full.messages[0]))
        return [stable, _tools(full, sizes), piece(f"{turn.id} {text}", tokens + WARM + MEMORY)]

    return _marked(_arranged(day, arrange), ((1,), (1, 2), (1, 2, -1)))


def _marked(asks: Sequence[Ask], choices: Iterable[tuple[int, ...]]) -> list[Arranged]:
    """The same requests with each choice of marks: numbers of pieces of a prompt, -1 is its last."""
    return [tuple(_mark(ask, choice) for ask in asks) for choice in choices]


def _mark(ask: Ask, choice: tuple[int, ...]) -> Ask:
    if ask.cause == "digest":
        return ask
    return replace(ask, marks=tuple(dict.fromkeys(number % len(ask.ends) for number in choice)))


def _full(day: Day) -> Prompt:
    """A prompt with the whole bootstrap and all tools."""
    return next(call.prompt for call in day.calls if call.prompt.tools)


def _clock(day: Day, at: int) -> int:
    return estimate_tokens(_frame(day, at).now)


def _frame(day: Day, at: int) -> CtxFrame:
    """These designs tell the whole date each time, and explain nothing."""
    return replace(day.words.frame(at, day.words.zone, "zh-Hans", (), "x"), legend="")


def _arranged(day: Day, arrange: Callable[[Turn, tuple[Event, ...]], list[Piece]]) -> tuple[Ask, ...]:
    """Every call of every turn in another arrangement, then the summaries."""
    turns = {turn.id: turn for turn in day.turns}
    asks = []
    for call in day.calls:
        if call.turn not in turns:
            continue
        turn = turns[call.turn]
        pieces = arrange(turn, _before(day, turn))
        for message in _own_round(call.prompt):
            pieces += _pieces(message, 0)
        ends = chain(pieces)
        asks.append(Ask(call.at, call.cause, ends, (), chain(_pieces(call.answer, 0), ends[-1])[-1]))
    return tuple(sorted((*asks, *_summaries(day)), key=lambda ask: ask.at))


def _own_round(prompt: Prompt) -> tuple[Message, ...]:
    """The tool calls and results of this very turn."""
    last = max(number for number, message in enumerate(prompt.messages) if message.role == "user")
    return prompt.messages[last + 1 :]


def _before(day: Day, turn: Turn) -> tuple[Event, ...]:
    """What had happened in the chat within a day."""
    return tuple(e for e in day.events[turn.chat] if e.id <= turn.upto and e.at > turn.at - DAY_MS)


def _newest(events: tuple[Event, ...], most: int, sizes: Sizes) -> tuple[Event, ...]:
    """So many entries, of the bot's own lines only the last few (seed: its echoes are capped)."""
    said = [event.id for event in events if event.kind == "bot"]
    hidden = frozenset(said[: max(0, len(said) - sizes.bot_lines)])
    return tuple(event for event in events if event.id not in hidden)[-most:]


def _shown(day: Day, turn: Turn, events: tuple[Event, ...], sizes: Sizes) -> tuple[str, int]:
    """These events as one message of XML, and its tokens."""
    limits = CtxLimits(10**6, bot_lines=sizes.bot_lines)
    shown = render_delta(events, turn.events, _frame(day, turn.at), limits, estimate_tokens)
    message = Message("user", shown.text)
    return shown.text, message_tokens(message)


def _summaries(day: Day) -> Iterator[Ask]:
    """One for each talk of a chat, when it has been silent for half an hour; by nuan's rule of what is worth one."""
    told = read_instructions(PROMPTS.path, "digest")["zh-Hans"]
    for chat, events in day.events.items():
        turns = [turn for turn in day.turns if turn.chat == chat]
        begun = 0
        for number, turn in enumerate(turns):
            last = number + 1 == len(turns)
            if not last and turns[number + 1].at - turn.at <= SILENCE_MS:
                continue
            talk = [event for event in events if turns[begun].at <= event.at <= turn.at]
            lines = tuple(
                DigestLine(place, e.id, e.person_id, e.name or day.bot_name, e.text, e.at, e.kind == "bot")
                for place, e in enumerate((e for e in talk if e.kind in ("message", "bot")), 1)
            )
            begun = number + 1
            if needs_model(lines, is_casual):
                shown = request_text(lines, TalkScope(1, "dm", day.bot_name, None), NOTHING, turn.at)
                pieces = [*_pieces(Message("system", told), 0), *_pieces(Message("user", shown), 0)]
                yield Ask(turn.at + SILENCE_MS, "digest", chain(pieces))
