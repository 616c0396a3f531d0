"""The tool calls of a turn: which wait for a result, and carrying them out; an error is the tool's answer. And the tool
stop_listen, by which the model ends its part in a group's talk."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import cast

from pydantic import Field

from bot.core.clock import HOUR_MS
from bot.core.errors import StoreError
from bot.core.models import Message, ToolCall, ToolSpec
from bot.core.people import Chat, Person
from bot.core.ports import Clock, Log
from bot.core.sessions import CallCause, Epoch, Turn
from bot.core.speaking import UNASKED
from bot.core.tools import (
    Tool,
    ToolAnswer,
    ToolArguments,
    ToolContext,
    ToolOutcome,
    ToolRefused,
    read_arguments,
)
from bot.memory.supersession import merge_rule
from bot.pipeline.configuration import Current
from bot.pipeline.plan import Planner
from bot.text.clean import clean
from bot.text.length import estimate_tokens

LONGEST_NAME = 64
"""Characters of a tool's name that the log keeps: what servers take back."""

LONGEST_ARGUMENTS = 8_000
"""Characters of one call's arguments that the log keeps."""

UNREADABLE = '{"unreadable":true}'
"""What the log keeps of arguments that cannot be used. Every tool refuses names that it does not know: {} would be
taken by one that needs none.
"""

MOST_CALLS = 4
"""Model calls in one turn (issue: at most 4)."""

MOST_TOOLS = 6
"""Tool calls in one turn (seed AI Chat Pipeline: 6)."""

MOST_TURN_MS = 180_000
"""After three minutes a turn gets no more tools: somebody is waiting."""

Sentence = Callable[..., str]
"""A sentence in the person's script, by its key and values."""

FORGET = "forget"
"""Its calls are carried out together, with one receipt."""


STOP_LISTEN = "stop_listen"

LINE_CHARS = 500
"""Characters of a last line."""


def messages_of(epoch: Epoch, turn: Turn) -> list[Message]:
    """What a turn has logged so far."""
    return [entry.message for entry in epoch.entries if entry.turn_id == turn.id]


def unanswered(epoch: Epoch, turn: Turn) -> tuple[ToolCall, ...]:
    """The tool calls of this turn's last completion that have no result yet; ids may repeat from call to call."""
    answered: set[str] = set()
    for message in reversed(messages_of(epoch, turn)):
        if message.role == "tool":
            answered.add(message.tool_call_id)
        else:
            return tuple(call for call in message.tool_calls if call.id not in answered)
    return ()


def cause_of(epoch: Epoch, turn: Turn) -> CallCause:
    """Why a turn that is under way makes another call."""
    if turn.why in UNASKED:
        return cast("CallCause", turn.why)
    return "tool" if any(message.role == "tool" for message in messages_of(epoch, turn)) else "reply"


def is_repeated(logged: Sequence[Message], call: ToolCall) -> bool:
    """Whether this turn made a call with the same name and arguments before; its result is in the log, or will be."""
    *earlier, last = [message.tool_calls for message in logged if message.role == "assistant"]
    before = takewhile(lambda other: other.id != call.id, last)
    return any(_is_same(other, call) for calls in (*earlier, before) for other in calls)


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    """Whether two calls ask for the same."""
    return _meaning(one) == _meaning(other)


def _meaning(call: ToolCall) -> tuple[str, str]:
    """Name and arguments, whatever the order and the spaces of the JSON."""
    try:
        return call.name, json.dumps(json.loads(call.arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return call.name, call.arguments


def without_broken_calls(message: Message) -> Message:
    """The completion without arguments that are no JSON object, or too long: servers refuse broken ones."""
    return replace(message, tool_calls=tuple(_sound_call(call) for call in message.tool_calls))


def _sound_call(call: ToolCall) -> ToolCall:
    arguments = call.arguments if call.arguments.strip() else "{}"
    try:
        whole = len(arguments) <= LONGEST_ARGUMENTS and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        whole = False
    return replace(call, name=call.name[:LONGEST_NAME], arguments=arguments if whole else UNREADABLE)


@dataclass(frozen=True, slots=True)
class ToolRound:
    """Whose turn it is, what it has logged so far, how many tokens it has used, and what the person said in it."""

    turn: Turn
    chat: Chat
    person: Person
    logged: tuple[Message, ...]
    used: int = 0
    said: str = ""


class ToolRunner:
    """Carries out tool calls; it commits nothing."""

    def __init__(
        self, planner: Planner, tools: Callable[[], tuple[Tool, ...]], clock: Clock, current: Current, log: Log
    ) -> None:
        self._planner = planner
        self._tools = tools
        self._clock = clock
        self._current = current
        self._log = log

    async def run(self, bench: ToolRound, calls: tuple[ToolCall, ...]) -> tuple[ToolOutcome, ...]:
        """The results of the first of these calls, in their order: of all that only read, or only forget, or of one."""
        results = sum(message.role == "tool" for message in bench.logged)
        together = tuple(takewhile(self._reads, calls)) or tuple(takewhile(_forgets, calls)) or calls[:1]
        return tuple(
            await asyncio.gather(*(self._one(bench, call, results + number) for number, call in enumerate(together)))
        )

    def _reads(self, call: ToolCall) -> bool:
        return any(tool.spec.name == call.name and tool.reads for tool in self._tools())

    async def _one(self, bench: ToolRound, call: ToolCall, results: int) -> ToolOutcome:
        """The result of one call when the turn has `results` of those before it."""
        text = self._current.words.opening(self._current.words.script_of(bench.said, bench.person.script))
        tool = next((tool for tool in self._tools() if tool.spec.name == call.name), None)
        rounds = sum(message.role == "assistant" for message in bench.logged)
        # What comes to nothing when nuan has nothing to say first may not change anything.
        first = bench.turn.why in UNASKED and tool is not None and not tool.reads
        if first or rounds >= MOST_CALLS or results >= MOST_TOOLS or self._spent(bench):
            answer = ToolAnswer(text("tool_enough"))
        else:
            if tool is None:
                answer = ToolAnswer(text("tool_unknown", problem=call.name[:64]))
            elif is_repeated(bench.logged, call):
                answer = ToolAnswer(text("tool_again"))
            else:
                answer = await self._carried_out(bench, tool, call, f"turn:{bench.turn.id}:{rounds}:{call.id}", text)
            if rounds == MOST_CALLS - 1:
                answer = replace(answer, text=f"{answer.text}\n{text('tool_enough')}")
        return ToolOutcome(
            f"{rounds}:{call.id}",
            call.id,
            answer,
            estimate_tokens(answer.text, self._planner.vocabulary),
            tool.spec.name if tool is not None else "",
            self._current.settings.memory.life.interval_hours * HOUR_MS,
            merge_rule({bench.person.id: bench.person.name}),
        )

    async def _carried_out(self, bench: ToolRound, tool: Tool, call: ToolCall, key: str, text: Sentence) -> ToolAnswer:
        """What the tool did; where it did nothing, why."""
        try:
            async with asyncio.timeout(tool.seconds):
                return await tool.run(await self._context(bench, key), call.arguments)
        except ToolRefused as refused:
            return ToolAnswer(text(refused.key, problem=refused.problem))
        except (StoreError, TimeoutError) as error:
            self._log.error("tool_failed", tool=call.name, error=str(error))
            return ToolAnswer(text("tool_failed", problem=type(error).__name__))
        except Exception as error:  # noqa: BLE001 - a defect in one tool must end neither the others nor the turn
            self._log.error("tool_failed", tool=call.name, exc_info=error)
            return ToolAnswer(text("tool_failed", problem=type(error).__name__))

    def _spent(self, bench: ToolRound) -> bool:
        """Whether the turn has lasted, or cost, as much as it may."""
        most = self._current.settings.budget.turn_tokens
        return self._clock.now() - bench.turn.asked_at > MOST_TURN_MS or (most is not None and bench.used > most)

    async def _context(self, bench: ToolRound, key: str) -> ToolContext:
        turn, person = bench.turn, bench.person
        return ToolContext(
            await self._planner.audience(bench.chat, person),
            person.id,
            turn.session_id,
            turn.event_ids,
            self._current.words.script(person),
            self._clock.now(),
            key,
        )


def _forgets(call: ToolCall) -> bool:
    return call.name == FORGET


class ListenArguments(ToolArguments, tool="stop_listen"):
    """What the model may say last."""

    line: str = Field(default="", max_length=LINE_CHARS)


def listen_tool(spec: ToolSpec, done: str) -> Tool:
    """The tool; `done` is its answer, which no model reads before the next turn.

    All chats share one set of tools, so that it is there in a DM, too, and says that it does nothing there.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        read_arguments(ListenArguments, arguments or "{}")
        if context.audience.kind == "dm":
            raise ToolRefused("listen_dm")
        return ToolAnswer(done, quiet=True)

    return Tool(spec, run)


def last_line(messages: list[Message]) -> str:
    """The line that the newest call of the tool says, "" for none."""
    for message in reversed(messages):
        for call in message.tool_calls:
            line = json.loads(call.arguments).get("line") if call.name == STOP_LISTEN else None
            if isinstance(line, str):
                return " ".join(clean(line).split())
    return ""


def called_stop_listen(messages: list[Message]) -> bool:
    """Whether a turn that logged these messages called the tool."""
    return any(call.name == STOP_LISTEN for message in messages for call in message.tool_calls)
