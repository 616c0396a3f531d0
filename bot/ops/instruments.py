"""What the pages /metrics and /health show. It counts what the ledger has paid since the start, each call once."""

import asyncio
import json
from dataclasses import asdict
from http import HTTPStatus
from typing import TYPE_CHECKING

from bot.errors import StoreError
from bot.ops.page import Page
from bot.ops.vitals import Sight
from bot.types.vitals import Snapshot

if TYPE_CHECKING:
    from bot.ops.meters import Meters

JSON = "application/json"
MISSING = "the figures need a library: pip install 'nuan[metrics]', then start nuan again; /health works without\n"


def make_meters(currency: str) -> "Meters | None":
    """The figures; None where their library is not installed."""
    try:
        from bot.ops.meters import Meters
    except ImportError:
        return None
    return Meters(currency)


class Instruments:
    """One for each running house."""

    def __init__(self, sight: Sight, meters: "Meters | None") -> None:
        self._sight = sight
        self._meters = meters
        self._after: int | None = None
        self._open: set[int] = set()
        self._reading = asyncio.Lock()

    async def begin(self) -> None:
        """Count what is reserved from now on."""
        self._after = await self._sight.store.vitals.newest_call()

    async def show(self, path: str) -> Page | None:
        """The page of that path."""
        if path == "/health":
            return health(await self._sight.look())
        if path != "/metrics":
            return None
        if self._meters is None:
            return Page(MISSING.encode(), status=HTTPStatus.NOT_IMPLEMENTED)
        return Page(*await self._figures(self._meters))

    async def _figures(self, meters: "Meters") -> tuple[bytes, str]:
        now = await self._sight.look()
        async with self._reading:
            try:
                await self._count(meters)
            except StoreError:
                pass  # the page says that the store is ill; what was not counted is counted the next time
            return meters.page(now)

    async def _count(self, meters: "Meters") -> None:
        if self._after is None:
            await self.begin()
        calls = await self._sight.store.vitals.calls(self._after or 0, self._open)
        self._after = max((self._after or 0, *(call.id for call in calls)))
        self._open = {call.id for call in calls if call.state == "reserved"}
        crew = self._sight.crew()
        providers = {member.model.name: member.model.dialect for member in crew.members}
        meters.paid((call for call in calls if call.state != "reserved"), providers)


def health(now: Snapshot) -> Page:
    """Green, or red with every cause."""
    red = bool(now.ailments)
    told = {"status": "red" if red else "green", "causes": [asdict(each) for each in now.ailments]}
    body = json.dumps(told, ensure_ascii=False).encode() + b"\n"
    return Page(body, JSON, HTTPStatus.SERVICE_UNAVAILABLE if red else HTTPStatus.OK)
