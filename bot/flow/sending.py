"""The outbox on its way out: one message at a time per chat, in order. What is sent was stored before."""

from collections.abc import Callable

from bot.ports import Adapter, Clock, Typing
from bot.store.store import Store
from bot.types.log import Log
from bot.types.outgoing import Outgoing
from bot.types.people import Chat

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 180_000
"""Back-off of a message that did not go out (FAULTS D5: 1 s, at most 3 min)."""


class Sending:
    """The work of the sending lanes."""

    def __init__(
        self, store: Store, clock: Clock, wake: Callable[[int], None], look: Callable[[], None], log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._wake = wake
        self._look = look
        self._log = log
        self._handed: dict[int, Outgoing] = {}
        self._adapters: dict[str, Adapter] = {}
        self._waits: dict[int, int] = {}

    def connect(self, adapter: Adapter) -> None:
        """A platform can be sent to from now on."""
        self._adapters[adapter.platform] = adapter

    @property
    def platforms(self) -> frozenset[str]:
        """Where one can send to."""
        return frozenset(self._adapters)

    def hand(self, chat_id: int, outgoing: Outgoing | None) -> None:
        """Something is stored for this chat; `outgoing`, if any, is marked as being sent already and goes first."""
        if outgoing is not None:
            self._handed[chat_id] = outgoing
        self._wake(chat_id)

    def typing(self, chat: Chat, on: bool) -> None:
        """Show or hide that nuan is thinking, where the platform can."""
        adapter = self._adapters.get(chat.platform)
        if isinstance(adapter, Typing):
            adapter.typing(chat.external_id, on)

    async def work(self, chat_id: int) -> None:
        """Send what waits in this chat."""
        while await self._one(chat_id):
            pass

    async def _one(self, chat_id: int) -> bool:
        outgoing = self._handed.pop(chat_id, None)
        outgoing = outgoing or await self._store.outbox.take(chat_id, self._clock.now(), self.platforms)
        if outgoing is None:
            return False
        try:
            sent = await self._adapters[outgoing.platform].send(outgoing)
        except OSError as error:
            wait = min(self._waits.get(chat_id, FIRST_WAIT_MS), LONGEST_WAIT_MS)
            self._waits[chat_id] = wait * 2
            await self._store.outbox.not_sent(outgoing.outbox_id, str(error), self._clock.now() + wait)
            self._look()
            self._log.warning("send_failed", chat=chat_id, outbox=outgoing.outbox_id, error=str(error), wait_ms=wait)
            return False
        except Exception as error:  # noqa: BLE001 - a message that an adapter cannot send must not block its chat
            self._log.error("send_failed", chat=chat_id, outbox=outgoing.outbox_id, exc_info=error)
            await self._store.outbox.not_sent(outgoing.outbox_id, type(error).__name__, None)
            return True
        self._waits.pop(chat_id, None)
        await self._store.outbox.sent(outgoing.outbox_id, sent, self._clock.now())
        return True
