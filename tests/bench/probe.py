"""What measures a replay without taking part: a clock, a model, an adapter and a log that note what passes them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from bot.core.events import Outgoing
from bot.core.models import Completion, ModelRequest, Prompt
from bot.core.ports import Log, Model
from bot.text.length import message_tokens, tools_tokens
from tests.bench.logs import PLATFORM
from tests.fakes.clock import SimAlarm, SimClock


@dataclass(slots=True)
class Stopwatch:
    """Real time since something became due, and how much of it the model had (seconds)."""

    begun: float = 0.0
    thinking: float = 0.0

    def start(self) -> None:
        """Something is accepted or due from now on."""
        self.begun, self.thinking = perf_counter(), 0.0

    def own(self) -> float:
        """Seconds since then that were not the model's."""
        return perf_counter() - self.begun - self.thinking


class WatchedClock(SimClock):
    """A simulated clock that starts the stopwatch whenever a deadline comes."""

    def __init__(self, now: int, watch: Stopwatch) -> None:
        super().__init__(now)
        self._watch = watch

    def at(self, when: int, call: Callable[[], None]) -> SimAlarm:
        """Call `call` at `when`, ms, and start the stopwatch just before."""

        def due() -> None:
            self._watch.start()
            call()

        return super().at(when, due)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its estimated tokens, those behind what the request before began with, and whether that one's
    whole prompt and reply, item by item, are what this one begins with."""

    tokens: int
    new: int
    extends: bool


@dataclass(slots=True)
class WatchedModel:
    """A model whose requests are compared with the one before; its time is taken off the stopwatch."""

    model: Model
    watch: Stopwatch
    asked: list[Asked] = field(default_factory=list)
    seconds: float = 0.0
    name: str = field(init=False)
    dialect: str = field(init=False)
    digests: bool = field(init=False)
    _before: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name, self.dialect, self.digests = self.model.name, self.model.dialect, self.model.digests

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer as the model does."""
        begun = perf_counter()
        completion = await self.model.complete(request)
        self._note(request.prompt, completion)
        taken = perf_counter() - begun
        self.seconds += taken
        self.watch.thinking += taken
        return completion

    async def body(self, request: ModelRequest) -> bytes:
        """The model's own."""
        return await self.model.body(request)

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    def _note(self, prompt: Prompt, completion: Completion) -> None:
        tools, messages = prompt.tools, prompt.messages
        items = [str(tool.wire()) for tool in tools] + [message.canonical() for message in messages]
        sizes = [tools_tokens((tool,)) for tool in tools] + [message_tokens(message) for message in messages]
        shared = 0
        while shared < min(len(items), len(self._before)) and items[shared] == self._before[shared]:
            shared += 1
        extends = bool(self._before) and shared == len(self._before)
        self.asked.append(Asked(sum(sizes), sum(sizes[shared:]), extends))
        self._before = [*items, completion.message().canonical()]


@dataclass(slots=True)
class WatchedAdapter:
    """A platform that takes every message at once; `own` holds the stopwatch's seconds at each reply."""

    watch: Stopwatch
    own: list[float] = field(default_factory=list)
    platform: str = PLATFORM
    resends: bool = True

    async def run(self, sink: object) -> None:
        """Nothing comes by itself."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it."""
        if outgoing.kind == "reply":
            self.own.append(self.watch.own())
        return (str(outgoing.outbox_id),)


@dataclass(slots=True)
class CountedLog:
    """The real log behind a count of its lines."""

    log: Log
    lines: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def debug(self, event: str, **fields: object) -> None:
        """Write it; nobody counts it."""
        self.log.debug(event, **fields)

    def info(self, event: str, **fields: object) -> None:
        """Count and write it."""
        self.lines[f"info {event}"] += 1
        self.log.info(event, **fields)

    def warning(self, event: str, **fields: object) -> None:
        """Count and write it."""
        self.lines[f"warning {event}"] += 1
        self.log.warning(event, **fields)

    def error(self, event: str, **fields: object) -> None:
        """Count, keep and write it."""
        self.lines[f"error {event}"] += 1
        self.errors.append(f"{event} {fields!r}")
        self.log.error(event, **fields)
