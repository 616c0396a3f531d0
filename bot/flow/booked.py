"""Reservations of calls beside a turn, whose caller may be stopped while one is being stored."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from bot.errors import OverBudget, OverLimit, StoreError
from bot.ports import Clock
from bot.store.store import Store
from bot.types.turn import Call


async def booked(booking: Awaitable[Call], store: Store, clock: Clock) -> int:
    """The number of the call that is reserved; whoever is cancelled meanwhile gives it back.

    The store finishes what it has begun although nobody waits for it. Raises what the store raises.
    """
    reserving = asyncio.ensure_future(booking)
    try:
        return (await asyncio.shield(reserving)).id
    except asyncio.CancelledError:
        with suppress(OverBudget, OverLimit, StoreError):  # nothing was asked: it costs nothing
            await store.ledger.release((await reserving).id, clock.now())
        raise
