"""What `nuan doctor` finds on the machine: time zone, clock, disk, SQLite, backups. It changes nothing."""

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from bot.config.settings import Settings
from bot.store.keptcopies import folder_of
from bot.store.store import DATABASE
from bot.types.duration import DAY_MS
from bot.types.finding import Finding

LEAST_FREE, ENOUGH_FREE = 100_000_000, 1_000_000_000
"""Bytes: below the first the next writes may fail, below the second a copy of the database may not fit for long."""

OLD_BACKUP_MS = 7 * DAY_MS

FIXED = (3, 51, 3)
BACKPORTS = {(3, 44): 6, (3, 50): 7}
"""Where SQLite's WAL-reset fault is mended (FAULTS S5; sqlite.org/wal.html#the_wal_reset_bug)."""

COPIES = "nuan.before-*.db"
"""What changed the database left these beside it."""


def machine_findings(settings: Settings, data: Path, now: int) -> Iterator[Finding]:
    """The zone, the disk, SQLite and the last backup; `now` in ms."""
    yield _zone(settings, now)
    yield _disk(data)
    yield sqlite_finding(sqlite3.sqlite_version_info)
    yield from _backup(data, folder_of(data, settings.backup.folder), now)


def proxies(settings: Settings) -> Finding:
    """Which keys send their requests through a proxy; its address is nobody's business."""
    proxied = {
        "model": settings.model.proxy, "fallback": settings.fallback.proxy,
        "second_fallback": settings.second_fallback.proxy, "small": settings.small.proxy,
        "telegram": settings.telegram.proxy, "discord": settings.discord.proxy,
    }  # fmt: skip
    used = [f"{name}.proxy" for name, address in proxied.items() if address]
    return Finding(True, "proxies", f"set: {', '.join(used)}" if used else "none is set")


def _zone(settings: Settings, now: int) -> Finding:
    name, key = settings.bot.timezone or get_localzone_name(), "bot.timezone"
    if not name:
        told = f"the machine names no time zone, so UTC counts: set {key}, or reminders come at the wrong hour"
        return Finding(True, "clock", told, warn=True)
    try:
        at = datetime.fromtimestamp(now / 1000, ZoneInfo(name))
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return Finding(False, "clock", f"the machine names its time zone {name!r}, which nobody knows: set {key}")
    return Finding(True, "clock", f"it is {at:%Y-%m-%d %H:%M} in {name}; when that is wrong set the clock, or {key}")


def clock_finding(now: int, newest: int) -> Finding | None:
    """A clock that stands before what was stored last; both in ms."""
    if newest <= now + 60_000:
        return None
    at = datetime.fromtimestamp(newest / 1000, UTC)
    told = f"the last line was stored at {at:%Y-%m-%d %H:%M} UTC, which is yet to come: set the machine's clock"
    return Finding(False, "clock", told)


def _disk(data: Path) -> Finding:
    there = next((folder for folder in (data, *data.absolute().parents) if folder.is_dir()), Path("/"))
    try:
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Finding(True, "disk", f"how much is free cannot be told ({error.strerror})", warn=True)
    told = f"{free / 1e9:.1f} GB are free for the data folder"
    if free < LEAST_FREE:
        return Finding(False, "disk", f"{told}: free some, or what people say cannot be stored")
    return Finding(True, "disk", f"{told}: free some soon", warn=True) if free < ENOUGH_FREE else Finding(
        True, "disk", told
    )  # fmt: skip


def sqlite_finding(version: tuple[int, ...]) -> Finding:
    """SQLite's version, and whether it has the fault that loses commits when two programs write at once."""
    name = ".".join(map(str, version))
    if version >= FIXED or version[2] >= BACKPORTS.get((version[0], version[1]), version[2] + 1):
        return Finding(True, "sqlite", f"{name}, without known faults")
    told = (
        f"{name} can lose what was written when two programs write at once: nuan alone never does, so let no other "
        "program (a replicator, a shell) write to the database, or update SQLite to 3.51.3"
    )
    return Finding(True, "sqlite", told, warn=True)


def _backup(data: Path, folder: Path, now: int) -> Iterator[Finding]:
    if not (data / DATABASE).exists():
        return
    found = [*folder.glob("nuan-*.db"), *data.glob(COPIES)]
    stamps = [path.stat().st_mtime for path in found if path.is_file()]
    if not stamps:
        yield Finding(True, "backup", "there is none: make one with `nuan backup`", warn=True)
        return
    last = round(max(stamps) * 1000)
    at = datetime.fromtimestamp(last / 1000, UTC)
    old = now - last > OLD_BACKUP_MS
    advice = ": make a new one with `nuan backup`" if old else ""
    yield Finding(True, "backup", f"the last is of {at:%Y-%m-%d %H:%M} UTC{advice}", warn=old)
