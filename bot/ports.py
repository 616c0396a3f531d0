"""What the house needs from outside: time, a model, platforms. The store's nouns are in bot/store/store.py."""

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from bot.types.event import Incoming, Place
from bot.types.outgoing import Outgoing
from bot.types.prompt import Completion, Prompt, Request


class Alarm(Protocol):
    """A pending call; cancelling twice, or after it fired, does nothing."""

    def cancel(self) -> None:
        """Keep it from firing."""
        ...


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        ...

    def at(self, when: int, call: Callable[[], None]) -> Alarm:
        """Call `call` on the event loop when `now()` has reached `when` (at once if it has)."""
        ...


class Model(Protocol):
    """Whoever answers. One request, one completion or a ModelError; never a partial answer.

    `dialect` enters the prefix signature; `digests` says whether it can summarise a session.
    """

    name: str
    dialect: str
    digests: bool

    async def complete(self, request: Request) -> Completion:
        """Answer, or raise ModelError; cancelling it aborts the call."""
        ...

    def body(self, prompt: Prompt, max_tokens: int, temperature: float) -> Awaitable[bytes]:
        """The exact bytes that `complete` would send for this."""
        ...

    async def close(self) -> None:
        """Free what it holds."""
        ...


class Door(Protocol):
    """Where adapters bring what they saw."""

    async def accept(self, incoming: Incoming) -> bool:
        """Commit it; True when it is stored (also if it was stored before). Only then tell the platform."""
        ...


class Adapter(Protocol):
    """One platform: brings events through a door, sends messages out."""

    platform: str

    async def run(self, door: Door) -> None:
        """Work until the platform ends (end of input) or the task is cancelled."""
        ...

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Send one message; the platform's ids of what was sent."""
        ...


@runtime_checkable
class Typing(Protocol):
    """An adapter that can show that nuan is thinking."""

    def typing(self, external_chat_id: str, on: bool) -> None:
        """Show or hide it."""
        ...


class SceneSource(Protocol):
    """A plug-in that describes a place: a game host its snapshot, a server its topic."""

    def scene(self, place: Place) -> str | None:
        """One short text, or None when it knows nothing of that place."""
        ...
