"""The tool calls of a turn: carried out side by side for its audience, and whatever goes wrong is the tool's answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import takewhile

from bot.errors import StoreError
from bot.flow.plan import Planner
from bot.flow.toolcalls import is_repeated
from bot.flow.words import Words
from bot.memory.merging import merging
from bot.ports import Clock
from bot.store.turns import ToolOutcome
from bot.text.estimate import estimate_tokens
from bot.types.log import Log
from bot.types.people import Chat, Person
from bot.types.prompt import Message, ToolCall
from bot.types.speaking import UNASKED
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused
from bot.types.turn import Turn

MOST_CALLS = 4
"""Model calls in one turn (issue: at most 4)."""

MOST_TOOLS = 6
"""Tool calls in one turn (seed AI Chat Pipeline: 6)."""

TOOL_S = 30.0
"""How long one tool may take, in seconds; looking at a picture has a deadline of its own within it."""

MOST_TURN_MS = 180_000
"""After three minutes a turn gets no more tools: somebody is waiting."""

Sentence = Callable[..., str]
"""A sentence in the person's script, by its key and values."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Whose turn it is, what it has logged so far, how many tokens it has used, and what the person said in it."""

    turn: Turn
    chat: Chat
    person: Person
    logged: tuple[Message, ...]
    used: int = 0
    said: str = ""


FORGET = "forget"
"""Its calls are carried out together, with one receipt."""


class Tooling:
    """Carries out tool calls; it commits nothing."""

    def __init__(
        self, planner: Planner, tools: tuple[Tool, ...], clock: Clock, words: Words, log: Log, most_tokens: int | None,
        rest_ms: int,
    ) -> None:  # fmt: skip
        """A turn that has used `most_tokens` gets no more tools; a recall strengthens at most once in `rest_ms`."""
        self._planner = planner
        self._most_tokens = most_tokens
        self._rest_ms = rest_ms
        self._tools = tools
        self._clock = clock
        self._words = words
        self._log = log

    async def run(self, bench: Bench, calls: tuple[ToolCall, ...]) -> tuple[ToolOutcome, ...]:
        """The results of the first of these calls, in their order: of all that only read, or only forget, or of one."""
        results = sum(message.role == "tool" for message in bench.logged)
        together = tuple(takewhile(self._reads, calls)) or tuple(takewhile(_forgets, calls)) or calls[:1]
        return tuple(
            await asyncio.gather(*(self._one(bench, call, results + number) for number, call in enumerate(together)))
        )

    def _reads(self, call: ToolCall) -> bool:
        return any(tool.spec.name == call.name and tool.reads for tool in self._tools)

    async def _one(self, bench: Bench, call: ToolCall, results: int) -> ToolOutcome:
        """The result of one call when the turn has `results` of those before it."""
        text = self._words.opening(self._words.script_of(bench.said, bench.person.script))
        tool = next((tool for tool in self._tools if tool.spec.name == call.name), None)
        found, rounds = None, sum(message.role == "assistant" for message in bench.logged)
        # What comes to nothing when nuan has nothing to say first may not change anything.
        first = bench.turn.why in UNASKED and tool is not None and not tool.reads
        if first or rounds >= MOST_CALLS or results >= MOST_TOOLS or self._spent(bench):
            answer = text("tool_enough")
        else:
            if tool is None:
                answer = text("tool_unknown", problem=call.name[:64])
            elif is_repeated(bench.logged, call):
                answer = text("tool_again")
            else:
                found, answer = await self._carried_out(bench, tool, call, text)
            if rounds == MOST_CALLS - 1:
                answer = f"{answer}\n{text('tool_enough')}"
        tokens = estimate_tokens(answer, self._planner.vocabulary)
        outcome = ToolOutcome(f"{rounds}:{call.id}", call.id, answer, tokens)
        outcome = replace(outcome, name=tool.spec.name if tool is not None else "")
        if found is None:
            return outcome
        return replace(
            outcome, memory=found.memory, told=found.told, quiet=found.quiet, forget=found.forget, lines=found.lines,
            digests=found.digests, commitments=found.commitments, rest_ms=self._rest_ms,
            commitment=found.commitment, settled=found.settled, receipt=found.receipt, remind=found.remind,
            unremind=found.unremind, merging=merging({bench.person.id: bench.person.name}),
        )  # fmt: skip

    async def _carried_out(
        self, bench: Bench, tool: Tool, call: ToolCall, text: Sentence
    ) -> tuple[ToolAnswer | None, str]:  # fmt: skip
        """What the tool did, None when it did nothing, and what the model is told."""
        try:
            async with asyncio.timeout(TOOL_S):
                done = await tool.run(await self._context(bench), call.arguments)
        except ToolRefused as refused:
            return None, text(refused.key, problem=refused.problem)
        except (StoreError, TimeoutError) as error:
            self._log.error("tool_failed", tool=call.name, error=str(error))
            return None, text("tool_failed", problem=type(error).__name__)
        except Exception as error:  # noqa: BLE001 - a defect in one tool must end neither the others nor the turn
            self._log.error("tool_failed", tool=call.name, exc_info=error)
            return None, text("tool_failed", problem=type(error).__name__)
        return done, done.text

    def _spent(self, bench: Bench) -> bool:
        """Whether the turn has lasted, or cost, as much as it may."""
        late = self._clock.now() - bench.turn.asked_at > MOST_TURN_MS
        return late or (self._most_tokens is not None and bench.used > self._most_tokens)

    async def _context(self, bench: Bench) -> ToolContext:
        turn, person = bench.turn, bench.person
        return ToolContext(
            await self._planner.audience(bench.chat, person), person.id, turn.session_id, turn.event_ids,
            self._words.script(person), self._clock.now(),
        )  # fmt: skip


def _forgets(call: ToolCall) -> bool:
    return call.name == FORGET
