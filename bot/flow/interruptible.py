"""A model whose call can be ended from outside, when what it answers is not wanted any more. It shows no drafts."""

import asyncio

from bot.errors import ModelError
from bot.ports import Model
from bot.types.prompt import Completion, Request


class Interruptible:
    """That model, until `stop` is set."""

    def __init__(self, model: Model, stop: asyncio.Event) -> None:
        self.name, self.dialect, self.digests = model.name, model.dialect, model.digests
        self._model = model
        self._stop = stop

    async def complete(self, request: Request) -> Completion:
        """As the model does; ModelError when it was stopped, which costs nothing before the call began."""
        if self._stop.is_set():
            raise ModelError("busy", "not asked: somebody wrote meanwhile", final=True)
        asking = asyncio.ensure_future(self._model.complete(request))
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            raise ModelError("cut", "stopped: somebody wrote meanwhile", final=True)
        finally:
            asking.cancel()
            stopping.cancel()
            await asyncio.gather(asking, stopping, return_exceptions=True)

    async def body(self, request: Request) -> bytes:
        """As the model does."""
        return await self._model.body(request)

    async def close(self) -> None:
        """The model is closed by its owner."""
