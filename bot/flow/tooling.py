"""One tool call of a turn: carried out with its audience, and whatever goes wrong is the tool's answer."""

from dataclasses import dataclass

from bot.errors import StoreError
from bot.flow.plan import Planner
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.turns import ToolOutcome
from bot.text.estimate import estimate_tokens
from bot.types.log import Log
from bot.types.people import Chat, Person
from bot.types.prompt import Message, ToolCall
from bot.types.tool import Tool, ToolContext, ToolRefused
from bot.types.turn import Turn

MOST_TOOLS = 6
"""Tool calls in one turn (seed AI Chat Pipeline: 6)."""

NOTHING: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Bench:
    """Whose turn it is, and what it has logged so far."""

    turn: Turn
    chat: Chat
    person: Person
    logged: tuple[Message, ...]


class Tooling:
    """Carries out tool calls; it commits nothing."""

    def __init__(self, planner: Planner, tools: tuple[Tool, ...], clock: Clock, words: Words, log: Log) -> None:
        self._planner = planner
        self._tools = tools
        self._clock = clock
        self._words = words
        self._log = log

    async def run(self, bench: Bench, call: ToolCall) -> ToolOutcome:
        """The result of a call, or why there is none."""
        text = self._words.opening(self._words.script(bench.person))
        roles = [message.role for message in bench.logged]
        tool = next((tool for tool in self._tools if tool.spec.name == call.name), None)
        memory, told, quiet = None, NOTHING, False
        if roles.count("tool") >= MOST_TOOLS:
            answer = text("tool_enough")
        elif tool is None:
            answer = text("tool_unknown", problem=call.name[:64])
        else:
            try:
                result = await tool.run(await self._context(bench), call.arguments)
                answer, memory, told, quiet = result.text, result.memory, result.told, result.quiet
            except ToolRefused as refused:
                answer = text(refused.key, problem=refused.problem)
            except StoreError as error:
                self._log.error("tool_failed", turn=bench.turn.id, tool=call.name, error=str(error))
                answer = text("tool_failed", problem=type(error).__name__)
        tokens = estimate_tokens(answer, self._planner.vocabulary)
        return ToolOutcome(f"{roles.count('assistant')}:{call.id}", call.id, answer, tokens, memory, told, quiet)

    async def _context(self, bench: Bench) -> ToolContext:
        turn, person = bench.turn, bench.person
        return ToolContext(
            await self._planner.audience(bench.chat, person), person.id, turn.session_id, turn.event_ids,
            self._words.script(person), self._clock.now(),
        )  # fmt: skip
