"""`nuan workers`, and what the doctor says of the same: which processes work on the database, and what each of them does."""

from collections.abc import Iterator
from datetime import UTC

from bot.cli.installation import Installation, require_database
from bot.cli.terminal import json_document
from bot.core.errors import StoreError
from bot.core.inspection import CheckResult, passed, warned
from bot.core.ports import ROLES
from bot.memory.archive.records import time_text
from bot.store.processes import Process, missing_roles
from bot.store.store import DATABASE, open_store
from bot.text.dates import local

OF_FILE = f"one process at a time answers from {DATABASE}, and does everything"


async def show_workers(place: Installation, *, as_json: bool) -> str:
    """Each process with what it does; works beside them."""
    require_database(place)
    found, lease = await _processes(place), place.settings.store.lease_seconds
    if as_json:
        shared = any(each.roles for each in found)
        return json_document({"shared": shared, "processes": [_record(each, lease) for each in found]})
    if not place.url:
        return OF_FILE
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
    return "\n".join((*lines, *_unmanned(found))) or "no process works on the database of store.url"


async def process_findings(place: Installation) -> list[CheckResult]:
    """Who does what on a server's database, who is late, and what nobody does."""
    if not place.url:
        return []  # one at a time, which needs no word
    try:
        found = await _processes(place)
    except StoreError:
        return []  # told where the database is looked at
    if not found:
        return [passed("processes", "none works on the database of store.url now")]
    lease = place.settings.store.lease_seconds
    late = [
        warned(
            "processes", f"{each.name} was last heard of {each.silent_ms(lease) // 1000} s ago: it is cut off, or dead"
        )
        for each in found
        if each.is_late
    ]
    told = "; ".join(map(_told, found))
    return [passed("processes", told), *late, *(warned("processes", line) for line in _unmanned(found))]


async def _processes(place: Installation) -> tuple[Process, ...]:
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        return await store.processes.all()


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


def _record(process: Process, lease_seconds: float) -> dict[str, object]:
    return {
        "name": process.name,
        "roles": list(process.roles or ROLES),
        "alone": not process.roles,
        "since": time_text(process.started_at),
        "silent_ms": process.silent_ms(lease_seconds),
        "late": process.is_late,
        "chats": process.chats,
        "leases": list(process.leases),
    }
