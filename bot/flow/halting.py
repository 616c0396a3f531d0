"""Turns that can be ended from outside: what the store has voided is not computed any further.

It decides nothing and stores nothing: the command to stop was carried out in the commit that stored it.
"""

import asyncio
from collections.abc import Callable, Coroutine

from bot.store.arrival import Accepted
from bot.types.log import Log
from bot.types.speaking import HALTS


class Halting:
    """The turns under way, one a chat."""

    def __init__(self, send: Callable[[int], None], log: Log) -> None:
        """`send` has a chat's messages sent."""
        self._send = send
        self._log = log
        self._running: dict[int, asyncio.Task[None]] = {}

    async def run(self, chat_id: int, work: Coroutine[None, None, None]) -> bool:
        """Do the work of that chat's turn; False when it was halted. Whatever it raises comes through."""
        task = asyncio.get_running_loop().create_task(work, name=f"turn-{chat_id}")
        self._running[chat_id] = task
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        finally:
            del self._running[chat_id]
        if task.cancelled():
            return False
        task.result()
        return True

    def halt(self, accepted: Accepted) -> None:
        """A command to stop, or a message that interrupts, is stored: end the call of what it voided, send the rest."""
        if accepted.superseded:
            self._log.info("superseded", chat=accepted.chat.id, turns=list(accepted.superseded))
        halted, decision, event = accepted.halted, accepted.decision, accepted.event
        if halted is None or decision is None or event is None:
            return
        chat_id = accepted.chat.id
        if chat_id in self._running and not halted.others:
            self._running[chat_id].cancel()
        what = "stopped" if decision.why in HALTS else "interrupted"
        self._log.info(
            what, chat=chat_id, person=event.person_id, why=decision.why, turns=list(halted.turns),
            dropped=halted.dropped,
        )  # fmt: skip
        self._send(chat_id)
