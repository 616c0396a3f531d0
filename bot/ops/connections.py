"""Who waits at a socket of ours: so many at once, and for so long. It reads and answers nothing itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

MOST_WAITING, PATIENCE_S = 128, 5.0
"""Connections whose request is not there yet; seconds that each has for it."""


class WaitingConnections:
    """At most so many: the oldest makes room for the next, so that none who says nothing keeps others out."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.StreamWriter, None] = {}

    @asynccontextmanager
    async def waited_for(self, writer: asyncio.StreamWriter) -> AsyncIterator[None]:
        """While inside it is one of them. TimeoutError when its time is over; one that made room reads its end."""
        if len(self._waiting) >= MOST_WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()  # to close it would wait for one who reads nothing
        self._waiting[writer] = None
        try:
            async with asyncio.timeout(PATIENCE_S):
                yield
        finally:
            self._waiting.pop(writer, None)

    def close(self) -> None:
        """Wait for nobody any more."""
        for writer in self._waiting:
            writer.close()
