"""What the fake Telegram server still has to tell the bot: kept until confirmed. It speaks no HTTP."""

import asyncio
from collections.abc import Sequence

from tests.fakes.telegram_shapes import Json, Refused, number

UNASKED = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""Sent only when asked for by name (documented at getUpdates.allowed_updates)."""
TERMINATED = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


class Updates:
    """Updates in order; `history` has every one, `confirmed` the ids that the bot may never ask for again."""

    def __init__(self) -> None:
        self.history: dict[int, Json] = {}
        self.confirmed: list[int] = []
        self.allowed: frozenset[str] = frozenset()
        self._pending: dict[int, Json] = {}
        self._late: dict[int, Json] = {}
        self._shown_late: tuple[int, frozenset[int]] = (0, frozenset())
        self._held: list[int] | None = None
        self._next = 700_000_001
        self._waiting: asyncio.Future[None] | None = None

    @property
    def pending(self) -> tuple[int, ...]:
        """The ids that are not confirmed yet, held ones included."""
        return (*self._late, *self._pending, *(self._held or ()))

    def add(self, kind: str, payload: Json) -> int | None:
        """Queue an update; None when the bot did not ask for this kind, and never hears of it."""
        if kind not in self.allowed if self.allowed else kind in UNASKED:
            return None
        number_ = self._next
        self._next += 1
        self.history[number_] = {"update_id": number_, kind: payload}
        if self._held is not None:
            self._held.append(number_)
        else:
            self._pending[number_] = self.history[number_]
            self._wake()
        return number_

    def redeliver(self, *ids: int) -> None:
        """Tell the bot again, in this order and whatever it confirmed, before anything newer."""
        self._late.update({one: self.history[one] for one in ids})
        self._wake()

    def hold(self) -> None:
        """Keep new updates back until `release`."""
        self._held = self._held or []

    def release(self, order: Sequence[int] | None = None) -> None:
        """Tell what was held back, in the given order of ids (otherwise as it came), also after newer ones."""
        held, self._held = self._held or [], None
        self.redeliver(*(held if order is None else order))

    def forget_all(self) -> None:
        """What `drop_pending_updates` does: nobody will ever hear of them."""
        self._pending.clear()
        self._late.clear()

    async def poll(self, offset: int, limit: int, wait: float, allowed: frozenset[str] | None) -> list[Json]:
        """The next updates, at most `limit`, waiting for up to `wait` seconds; an older poll ends with 409."""
        other, self._waiting = self._waiting, None
        if other is not None and not other.done():
            other.set_exception(Refused(409, TERMINATED))
        if allowed is not None:
            self.allowed = allowed
        self._confirm(offset)
        batch = self._batch(offset, limit)
        if batch or wait <= 0:
            return batch
        mine = self._waiting = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(wait):
                await mine
        except TimeoutError:
            return []
        finally:
            if self._waiting is mine:
                self._waiting = None
        return self._batch(offset, limit)

    def _confirm(self, offset: int) -> None:
        if offset < 0:
            offset = sorted(self._pending)[offset:][0] if self._pending else 0
        for one in [one for one in self._pending if one < offset]:
            del self._pending[one]
            self.confirmed.append(one)
        following, late = self._shown_late
        if offset == following:
            for one in sorted(late):
                self._pending.pop(one, None)
                if self._late.pop(one, None) and one not in self.confirmed:
                    self.confirmed.append(one)
        self._shown_late = (0, frozenset())

    def _batch(self, offset: int, limit: int) -> list[Json]:
        newer = [update for one, update in self._pending.items() if one >= offset and one not in self._late]
        batch = [*self._late.values(), *newer][:limit]
        ids = [number(update["update_id"]) for update in batch]
        if any(one in self._late for one in ids):
            self._shown_late = (ids[-1] + 1, frozenset(ids))
        return batch

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
