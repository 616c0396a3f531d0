"""`nuan workers`, and what the doctor says of the same: which processes work on the database, and what each of them does."""

import asyncio
from collections.abc import Iterator
from datetime import UTC

from bot.cli.installation import Installation, require_database
from bot.cli.terminal import json_document
from bot.core.clock import MINUTE_MS, SystemClock
from bot.core.errors import StoreError
from bot.core.inspection import CheckResult, passed, warned
from bot.core.ports import ROLES, Clock
from bot.memory.archive.records import time_text
from bot.store.engine import PooledUrl, postgres_part
from bot.store.processes import CLOCKS_MS, Process, different_settings, missing_roles, shard_faults
from bot.store.store import DATABASE, open_store
from bot.text.dates import local

NOBODY = "none works on the database of store.url now"
OF_FILE = f"one process at a time answers from {DATABASE} and does everything; none is registered there"

LAGS = {
    "event": "the oldest message that waits for an answer",
    "outbox": "the oldest message that waits to be sent",
    "reminder": "the oldest reminder that is to be said",
}

LONG_MS = MINUTE_MS
"""So long something may have been due before the doctor warns of it."""

ENOUGH = 0.8
"""Of the server's connections: what the processes keep should be no more, as others need some, too."""


async def show_workers(place: Installation, *, as_json: bool) -> str:
    """Each process with what it does; works beside them."""
    require_database(place)
    found, lags, _ = await _processes(place, SystemClock())
    lease = place.settings.store.lease_seconds
    if as_json:
        differ = {each.id: keys for each, _, keys in different_settings(found)}
        shared, told = (
            any(each.roles for each in found),
            [_record(each, lease, differ.get(each.id, [])) for each in found],
        )
        return json_document({"shared": shared, "registered": bool(place.url), "processes": told, "lag_ms": lags})
    late = [*_late(lags)] or ["nothing is late"]
    if not place.url:
        return "\n".join((OF_FILE, *late))
    rows = [
        (
            each.name,
            ", ".join(each.roles or ROLES),
            f"since {local(each.started_at, UTC):%Y-%m-%d %H:%M} UTC",
            f"heard of {each.silent_ms(lease) // 1000} s ago{' (late)' if each.is_late else ''}",
            _chats(each.chats) if each.roles else "all chats",
            ", ".join(each.leases),
        )
        for each in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join((*(lines or (NOBODY,)), *_wrong(found), *late))


async def process_findings(place: Installation, clock: Clock) -> list[CheckResult]:
    """Who does what on a server's database, who is late, what nobody does, and whether this machine's clock is right."""
    if not place.url:
        return []  # one at a time, which needs no word
    try:
        found, lags, ahead = await _processes(place, clock)
        crowd = await asyncio.to_thread(_crowd, place, found)
    except StoreError:
        return []  # told where the database is looked at
    waiting = [(warned if max(lags.values()) >= LONG_MS else passed)("queues", line) for line in _late(lags)]
    waiting += [warned("clock", line) for line in _clock(ahead)]
    if not found:
        return [passed("processes", NOBODY), *waiting]
    lease = place.settings.store.lease_seconds
    late = [
        warned(
            "processes", f"{each.name} was last heard of {each.silent_ms(lease) // 1000} s ago: it is cut off, or dead"
        )
        for each in found
        if each.is_late
    ]
    told = "; ".join(map(_told, found))
    wrong = (*_wrong(found), *crowd)
    return [passed("processes", told), *late, *(warned("processes", line) for line in wrong), *waiting]


async def _processes(place: Installation, clock: Clock) -> tuple[tuple[Process, ...], dict[str, int], int]:
    """Who works on the database, for how long each queue has waited, and how far that clock is ahead of the database's."""
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        found, lags = await store.processes.all(), await store.processes.lags(clock.now())
        return found, lags, await store.processes.clock_ahead(clock.now) if place.url else 0


def _clock(ahead: int) -> Iterator[str]:
    """A line where this machine's clock and that of the server's machine are too far from each other."""
    if abs(ahead) > CLOCKS_MS:
        where = "ahead of" if ahead > 0 else "behind"
        yield (
            f"this machine's is {abs(ahead) // 1000} s {where} that of the server of store.url: where several processes share "
            "the work answers come that much later, so have the clocks of all machines set (NTP)"
        )


def _late(lags: dict[str, int]) -> Iterator[str]:
    """A line for each queue in which something is due."""
    for queue, ms in lags.items():
        if ms >= 1000:
            yield f"{LAGS[queue]} has been due for {ms // 1000} s"


def _crowd(place: Installation, found: tuple[Process, ...]) -> list[str]:
    """A line where the processes may want more connections than the server has; StoreError when it cannot be asked."""
    opening = postgres_part("opening")
    most = 0 if isinstance(place.url, PooledUrl) else opening.most_connections(place.url)
    each = opening.connections_of(place.settings.store.writers, shared=any(process.roles for process in found))
    if not most or len(found) * each <= most * ENOUGH:
        return []
    return [
        f"{len(found)} keep up to {len(found) * each} connections ({each} each), and the server takes {most} of all its "
        "users: raise its max_connections, lower store.writers, or put a pooler between (store.pooler)"
    ]


def _chats(count: int) -> str:
    return f"{count} chat{'' if count == 1 else 's'}"


def _told(process: Process) -> str:
    if not process.roles:
        return f"{process.name} does everything"
    chats = f", {_chats(process.chats)}" if "worker" in process.roles else ""
    holds = f", holds {', '.join(process.leases)}" if process.leases else ""
    return f"{process.name} is {', '.join(process.roles)}{chats}{holds}"


def _unmanned(found: tuple[Process, ...]) -> Iterator[str]:
    """A line for each thing that nobody does."""
    does = {"gateway": "receives and sends messages", "worker": "answers", "janitor": "tidies, reminds and backs up"}
    for role in missing_roles(found) if found else ():
        yield f"nobody {does[role]}: start `nuan run --role {role}`"


def _wrong(found: tuple[Process, ...]) -> Iterator[str]:
    """What nobody does, which shards are nowhere, or in two places, and who works by other settings."""
    yield from _unmanned(found)
    yield from shard_faults(found)
    for other, first, keys in different_settings(found):
        yield f"{other.name} works by other settings than {first.name}: {', '.join(keys)}: give all the same"


def _record(process: Process, lease_seconds: float, differs_in: list[str]) -> dict[str, object]:
    return {
        "name": process.name,
        "roles": list(process.roles or ROLES),
        "alone": not process.roles,
        "since": time_text(process.started_at),
        "silent_ms": process.silent_ms(lease_seconds),
        "late": process.is_late,
        "chats": process.chats,
        "leases": list(process.leases),
        "differs_in": differs_in,
    }
