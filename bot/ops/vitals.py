"""Whether the house is well: its platforms, its model, its store. It reads what stands and mends nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

from bot.errors import StoreError
from bot.flow.crew import Crew
from bot.ops.supervise import State
from bot.store.store import Store
from bot.types.vitals import Ailment, Part, Snapshot

SILENT_MS = 90_000
"""A platform that has not answered for so long is not there (as the watch over Telegram's polling, FAULTS D26)."""

STORE_S = 2.0
"""Seconds in which the store must answer."""

PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True)
class Sight:
    """Where to look: `states` and `silent` tell of each platform, `crew` is that of now, `queues` what is under way."""

    store: Store
    crew: Callable[[], Crew]
    states: Callable[[], Mapping[str, State]]
    silent: Callable[[], Mapping[str, int | None]]
    queues: Callable[[], Mapping[str, int]]

    async def look(self) -> Snapshot:
        """What stands now; a store that cannot be read is an ailment, not an error."""
        silent, vitals = self.silent(), self.store.vitals
        queues, deliveries, trouble = dict(self.queues()), dict[str, int](), vitals.refusing
        try:
            async with asyncio.timeout(STORE_S):
                dead = sum((await self.store.failing.dead()).values())
                queues |= {"unanswered": await vitals.queued(), "dead": dead, "writes": vitals.unwritten}
                deliveries = await self.store.outbox.states()
        except (StoreError, TimeoutError) as error:
            trouble = str(error) or f"no answer within {STORE_S:g} s"
        ailments = [*platforms(self.states(), silent), *models(self.crew())]
        if trouble:
            ailments.append(Ailment("store", "nuan.db", trouble))
        return Snapshot(tuple(ailments), silent, queues, deliveries)


def platforms(states: Mapping[str, State], silent: Mapping[str, int | None]) -> tuple[Ailment, ...]:
    """The platforms that nobody hears nuan on."""
    return tuple(
        Ailment("platform", name, why) for name, state in states.items() if (why := _ails(name, state, silent))
    )  # fmt: skip


def _ails(name: str, state: State, silent: Mapping[str, int | None]) -> str:
    if state != "running":
        told = {"broken": "the connection broke, it is tried again", "ended": "it cannot go on, the log says why"}
        return told[state]
    if name not in silent:
        return ""
    age = silent[name]
    if age is None:
        return "not connected"
    return f"silent for {age // 1000} s" if age > SILENT_MS else ""


def models(crew: Crew) -> tuple[Ailment, ...]:
    """The first model, when neither it nor another in its place answers."""
    fault = crew.ailing
    return () if fault is None else (Ailment("model", crew.first.model.name, fault),)
