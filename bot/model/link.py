"""The way to one server: its library and connections, loaded at the first use, in a thread."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from bot.errors import ModelError

if TYPE_CHECKING:
    from bot.model.wire import Wire

T = TypeVar("T")


class Link:
    """Holds what `load` makes till it is closed; `load` blocks (about 1 s, the library is imported in it)."""

    def __init__(self, load: "Callable[[], Wire]") -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self._wire: Wire | None = None

    async def wire(self) -> "Wire":
        """The connections, loaded once however many ask for them."""
        async with self._loading:
            if self._wire is None:
                self._wire = await asyncio.to_thread(self._load)
            return self._wire

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.close()


async def within(deadline_s: float, call: Awaitable[T], late: str = "no end") -> T:
    """What a call gives within `deadline_s` seconds, else ModelError, which says what is `late`."""
    try:
        async with asyncio.timeout(deadline_s):
            return await call
    except TimeoutError:
        raise ModelError("timeout", f"{late} after {deadline_s:g} s") from None
