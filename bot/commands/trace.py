"""`.ai trace`: the last turn of a chat in numbers, and whether an owner is told of every turn from now on."""

from collections.abc import Awaitable, Callable

from bot.commands.table import Asked
from bot.ports import Clock
from bot.store.traces import Traces
from bot.text.fold import fold


class TraceCommand:
    """Shows the last turn, and switches the line about each turn in an owner's own direct chat."""

    def __init__(
        self, traces: Traces, clock: Clock, text: Callable[..., str], look: Callable[[Asked], Awaitable[str]]
    ) -> None:  # fmt: skip
        """`look` shows the last turn."""
        self._traces = traces
        self._clock = clock
        self._text = text
        self._look = look

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai trace …`; a switch is stored before it is confirmed."""
        words = fold(" ".join(asked.words))
        if words not in ("on", "off"):
            return self._text(asked, "trace_words") if words else await self._look(asked)
        if not asked.person.is_owner:
            return self._text(asked, "not_allowed")
        if asked.chat.kind != "dm":
            return self._text(asked, "trace_private")
        await self._traces.switch(asked.chat.id, asked.person.id, words == "on", self._clock.now())
        return self._text(asked, f"trace_{words}")
