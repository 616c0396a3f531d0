"""Long text work beside the event loop, so that no chat waits for another's segmenting or digest."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Aside:
    """One thread, first come first served: a pool would win no time under one interpreter lock, and lose the order."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nuan-aside")

    async def run(self, work: Callable[..., T], *given: object) -> T:
        """What `work(*given)` returns or raises."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)

    def close(self) -> None:
        """Begin nothing new, finish what runs, end the thread. It blocks meanwhile."""
        self._pool.shutdown(wait=True, cancel_futures=True)
