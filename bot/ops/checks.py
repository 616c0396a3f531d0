"""What `nuan doctor` finds on the machine and in the data folder. It changes nothing."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from bot.config.settings import Settings, keys
from bot.core.clock import DAY_MS
from bot.core.errors import StoreError
from bot.core.inspection import CheckResult, failed, passed, warned
from bot.store.backups import folder_of
from bot.store.sqlite import SQLITE_VERSION
from bot.store.store import DATABASE, Store, open_store
from bot.text.dates import local

LEAST_FREE, ENOUGH_FREE = 100_000_000, 1_000_000_000
"""Bytes: below the first the next writes may fail, below the second a copy of the database may not fit for long."""

OLD_BACKUP_MS = 7 * DAY_MS

SQLITE_FIXED = (3, 51, 3)
SQLITE_BACKPORTS = {(3, 44): 6, (3, 50): 7}
"""Where SQLite's WAL-reset fault is mended (FAULTS S5; sqlite.org/wal.html#the_wal_reset_bug)."""

COPY_PATTERN = "nuan.before-*.db"
"""What changed the database left these beside it."""

MOST_TOLD = 3


def machine_findings(settings: Settings, data: Path, now: int) -> Iterator[CheckResult]:
    """The zone, the disk, SQLite and the last backup; `now` in ms."""
    yield _zone(settings, now)
    yield _disk(data)
    yield sqlite_finding(SQLITE_VERSION)
    yield from _backup(data, folder_of(data, settings.backup.folder), now)


def proxy_finding(settings: Settings) -> CheckResult:
    """Which keys send their requests through a proxy; its address is nobody's business."""
    used = [key.dotted for key in keys() if key.path[-1] == "proxy" and key.value(settings)]
    return passed("proxies", f"set: {', '.join(used)}" if used else "none is set")


def _zone(settings: Settings, now: int) -> CheckResult:
    name, key = settings.bot.timezone or get_localzone_name(), "bot.timezone"
    if not name:
        told = f"the machine names no time zone, so UTC counts: set {key}, or reminders come at the wrong hour"
        return warned("clock", told)
    try:
        at = local(now, ZoneInfo(name))
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return failed("clock", f"the machine names its time zone {name!r}, which nobody knows: set {key}")
    return passed("clock", f"it is {at:%Y-%m-%d %H:%M} in {name}; when that is wrong set the clock, or {key}")


def clock_finding(now: int, newest: int) -> CheckResult | None:
    """A clock that stands before what was stored last; both in ms."""
    if newest <= now + 60_000:
        return None
    at = local(newest, UTC)
    told = f"the last line was stored at {at:%Y-%m-%d %H:%M} UTC, which is yet to come: set the machine's clock"
    return failed("clock", told)


def _disk(data: Path) -> CheckResult:
    there = next((folder for folder in (data, *data.absolute().parents) if folder.is_dir()), Path("/"))
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return warned("disk", f"how much is free cannot be told ({error.strerror})")
    told = f"{free / 1e9:.1f} GB are free for the data folder"
    if free < LEAST_FREE:
        return failed("disk", f"{told}: free some, or what people say cannot be stored")
    return warned("disk", f"{told}: free some soon") if free < ENOUGH_FREE else passed("disk", told)


def sqlite_finding(version: tuple[int, ...]) -> CheckResult:
    """SQLite's version, and whether it has the fault that loses commits when two programs write at once."""
    name = ".".join(map(str, version))
    if version >= SQLITE_FIXED or version[2] >= SQLITE_BACKPORTS.get((version[0], version[1]), version[2] + 1):
        return passed("sqlite", f"{name}, without known faults")
    told = (
        f"{name} can lose what was written when two programs write at once: nuan alone never does, so let no other "
        "program (a replicator, a shell) write to the database, or update SQLite to 3.51.3"
    )
    return warned("sqlite", told)


def _backup(data: Path, folder: Path, now: int) -> Iterator[CheckResult]:
    if not (data / DATABASE).exists():
        return
    found = [*folder.glob("nuan-*.db"), *data.glob(COPY_PATTERN)]
    stamps = [path.stat().st_mtime for path in found if path.is_file()]
    if not stamps:
        yield warned("backup", "there is none: make one with `nuan backup`")
        return
    last = round(max(stamps) * 1000)
    at = local(last, UTC)
    old = now - last > OLD_BACKUP_MS
    advice = ": make a new one with `nuan backup`" if old else ""
    yield CheckResult(True, "backup", f"the last is of {at:%Y-%m-%d %H:%M} UTC{advice}", warn=old)


async def store_findings(data: Path, now: int) -> tuple[CheckResult, ...]:
    """Beside a running nuan, too; `now` in ms."""
    nothing = _nothing_to_read(data)
    if nothing is not None:
        return (nothing,)
    try:
        async with await open_store(data, read_only=True) as store:
            wrong = await store.inspector.damage()
            if wrong:
                return (_damaged("; ".join(wrong[:MOST_TOLD])),)
            found = [passed("data", f"{DATABASE} can be read, all of it is whole")]
            if dangling := await store.inspector.dangling():
                told = f"{dangling} rows refer to what is not there: nuan works; a backup from before may be better"
                found.append(warned("data", told))
            found += [await _index(store), *await _deliveries(store, now)]
            newest = await store.inspector.newest_line()
    except StoreError as error:
        return (failed("data", str(error)),)
    late = clock_finding(now, newest)
    return (*found, *((late,) if late is not None else ()))


def _nothing_to_read(data: Path) -> CheckResult | None:
    """Why there is no database to look into; None when there is one."""
    if data.exists() and not (data.is_dir() and os.access(data, os.R_OK | os.W_OK | os.X_OK)):
        return failed("data", f"{data} is no folder that can be written: give --data DIR")
    if (data / DATABASE).exists():
        return None
    if (data / f"{DATABASE}-wal").exists():
        told = f"{DATABASE} is gone but {DATABASE}-wal is there: put the database or a backup back beside it"
        return failed("data", told)
    return passed("data", "there is no database yet: the first start makes it")


def _damaged(what: str) -> CheckResult:
    return failed("data", f"{DATABASE} is damaged ({what}): stop nuan and put a backup in its place")


async def _index(store: Store) -> CheckResult:
    """Whether the index holds what can be searched."""
    faults = await store.inspector.unindexed()
    if faults:
        text = f"{faults} rows are not as they should be: `nuan memory backfill --text-index --apply`"
        return warned("full-text index", text)
    return passed("full-text index", "it holds what can be searched")


async def _deliveries(store: Store, now: int) -> list[CheckResult]:
    """What waits, what may not have arrived, what never will, and which digests do not come about."""
    states = await store.outbox.states()
    told = {
        "pending": ("wait to be sent", False),
        "unknown": (
            "may or may not have arrived (a crash or a timeout cut them off) and are not sent again: look there, and "
            "ask nuan again for what is missing",
            True,
        ),
        "failed": ("were refused by their platform and are not sent again: `nuan logs` says why at send_failed", True),
    }
    lines = [
        CheckResult(True, "outbox", f"{states[state]} messages {text}", warn=warn)
        for state, (text, warn) in told.items()
        if states.get(state)
    ]
    if dead := await store.events.dead():
        causes = ", ".join(f"{error} {count}" for error, count in sorted(dead.items()))
        text = (
            f"{sum(dead.values())} could not be handled in many tries and were given up ({causes}): look at `nuan logs`"
        )
        lines.append(warned("messages", f"{text} for retries_exhausted"))
    waiting, late = await store.reminders.overdue(now)
    if waiting:
        lines.append(passed("reminders", f"{waiting} wait, {late} of them are late: the next start says them"))
    stuck = await store.inspector.stuck_digests()
    if stuck:
        text = f"{stuck} talks could not be summed up after many tries: look at `nuan logs` for digest_postponed"
        lines.append(warned("digests", text))
    return lines
