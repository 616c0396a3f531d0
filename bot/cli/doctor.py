"""`nuan doctor`: whether everything that is configured works from here, with one small paid call of the model."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tzlocal import get_localzone_name

from bot.cli.installation import Installation, library_missing, make_adapter
from bot.cli.model_checks import call_findings, embedding_findings, model_findings
from bot.cli.reload import chat_setting_findings
from bot.cli.terminal import json_document
from bot.cli.workers import LONG_MS, process_findings
from bot.config.mcp import OutsideServer
from bot.config.settings import Settings, keys
from bot.core.clock import DAY_MS, SystemClock
from bot.core.errors import PlatformError, StoreError
from bot.core.inspection import CheckResult, failed, passed, warned
from bot.core.ports import Checks
from bot.ops.log_files import NullLog
from bot.plugins import counts, load_plugins, make_plugin_adapter, spec_of
from bot.store.backups import DUMP, folder_of, server_backups
from bot.store.engine import postgres_part
from bot.store.outside import StoredServer
from bot.store.sqlite.connection import SQLITE_VERSION
from bot.store.store import DATABASE, Store, open_store
from bot.text.dates import local, stamp
from bot.text.length import tools_tokens
from bot.tools.outside import offers_from

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
    """The zone, the disk, SQLite or the server, the last backup and what restores left; `now` in ms."""
    yield _zone(settings, now)
    yield _disk(data)
    backups, url = folder_of(data, settings.backup.folder), settings.store.url
    if url is None:
        yield sqlite_finding(SQLITE_VERSION)
        yield from _backup(data, backups, now, server=False)
        return
    yield from server_findings(url.get_secret_value())
    yield from _backup(data, backups, now, server=True)
    for finding in (kept_finding(backups), restored_finding(url.get_secret_value(), settings.backup.days, now)):
        if finding is not None:
            yield finding


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


def postgres_finding(url: str) -> CheckResult:
    """The server's version and what a failure of it could lose, or why it cannot be asked."""
    try:
        version, loses = postgres_part("opening").server_state(url)
    except StoreError as error:
        return failed("postgresql", str(error))
    told = f"{version}, can be reached"
    return warned("postgresql", f"{told}; {loses}") if loses else passed("postgresql", told)


def server_findings(url: str) -> Iterator[CheckResult]:
    """As `postgres_finding`, and what is wrong with the programs that copy it."""
    yield postgres_finding(url)
    try:
        (version, _), programs = postgres_part("opening").server_state(url), postgres_part("backups").dump_version()
    except StoreError:
        return  # the server is told above, and a program that cannot be run when it is needed
    if (told := programs_lack(version, programs)) is not None:
        yield told


def programs_lack(server: str, program: str) -> CheckResult | None:
    """What to do where pg_dump, by what it says of its version, is not there or too old for a server of that version."""
    needed, there = int(re.findall(r"\d+", server)[0]), re.search(r"\) (\d+)", program)
    if there is not None and int(there[1]) >= needed:
        return None
    why = "is not there" if there is None else f"is of PostgreSQL {there[1]} and refuses a server of {needed}"
    told = f"pg_dump {why}: install postgresql-client {needed} or newer, or there is no backup and no copy before an update"
    return warned("postgresql", told)


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


def _backup(data: Path, folder: Path, now: int, *, server: bool) -> Iterator[CheckResult]:
    if not server and not (data / DATABASE).exists():
        return
    found = [*folder.glob(f"nuan-*{DUMP}" if server else "nuan-*.db"), *data.glob(COPY_PATTERN)]
    stamps = [path.stat().st_mtime for path in found if path.is_file()]
    if not stamps:
        yield warned("backup", "there is none: make one with `nuan backup`")
        return
    last = round(max(stamps) * 1000)
    at = local(last, UTC)
    old = now - last > OLD_BACKUP_MS
    advice = ": make a new one with `nuan backup`" if old else ""
    yield CheckResult(True, "backup", f"the last is of {at:%Y-%m-%d %H:%M} UTC{advice}", warn=old)


def kept_finding(folder: Path) -> CheckResult | None:
    """The newest backup of a server's database holds what must outlive a restore, which none of nuan does."""
    newest = max(folder.glob(f"nuan-*{DUMP}"), default=None)
    try:
        if newest is None or not server_backups().holds_kept(newest):
            return None
    except StoreError as error:
        return warned("backup", str(error))
    told = f"{newest.name} holds the tombstones (schema nuan_kept): nuan leaves them where they are when it is restored"
    return warned("backup", told)


def restored_finding(url: str, days: int, now: int) -> CheckResult | None:
    """The databases whose place a restore took are older than backups become: nobody but the operator drops one."""
    try:
        left = server_backups().left_by_restores(url, stamp(now - days * DAY_MS))
    except StoreError:
        return None  # told where the server is looked at
    told = f"a restore took the place of {', '.join(left)} more than {days} days ago (backup.days)"
    return warned("backup", f"{told}, and what was forgotten since is in there: drop it") if left else None


async def store_findings(data: Path, now: int, url: str = "") -> tuple[CheckResult, ...]:
    """Beside a running nuan, too; `now` in ms."""
    nothing = None if url else _nothing_to_read(data)
    if nothing is not None:
        return (nothing,)
    try:
        # Each of the two looks takes seconds in a large database: beside each other, on a connection of its own.
        async with (
            await open_store(data, read_only=True, url=url) as store,
            await open_store(data, read_only=True, url=url) as beside,
        ):
            wrong, index = await asyncio.gather(store.inspector.damage(), _index(beside), return_exceptions=True)
            if isinstance(wrong, BaseException):
                raise wrong
            if wrong:
                return (_damaged("; ".join(wrong[:MOST_TOLD])),)
            found = [
                passed("data", f"{'the database of store.url' if url else DATABASE} can be read, all of it is whole")
            ]
            if dangling := await store.inspector.dangling():
                told = f"{dangling} rows refer to what is not there: nuan works; a backup from before may be better"
                found.append(warned("data", told))
            if isinstance(index, BaseException):
                raise index
            found += [index, *await _deliveries(store, now)]
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
        if os.access(data / DATABASE, os.R_OK | os.W_OK):
            return None
        return failed("data", f"{data / DATABASE} cannot be written: give this user the right to, or give --data DIR")
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
    waiting, late = await store.reminders.overdue(now - LONG_MS)
    if late:
        text = "should have been said more than a minute ago: a nuan that runs says them, of several the janitor"
        lines.append(warned("reminders", f"{waiting} wait, {late} of them {text}"))
    elif waiting:
        lines.append(passed("reminders", f"{waiting} wait, none of them is late"))
    stuck = await store.inspector.stuck_digests()
    if stuck:
        text = f"{stuck} talks could not be summed up after many tries: look at `nuan logs` for digest_postponed"
        lines.append(warned("digests", text))
    return lines


def report(found: Sequence[CheckResult], *, as_json: bool) -> str:
    """A line for each finding, or one JSON object: `good` says that nothing failed."""
    if not as_json:
        return "\n".join(finding.line for finding in found)
    told = [{"state": each.state, "about": each.about, "text": each.text} for each in found]
    return json_document({"good": all(each.good for each in found), "findings": told})


async def examine(place: Installation, *, call: bool = True) -> tuple[CheckResult, ...]:
    """Configuration, machine, models, every platform with a token, and the data folder; with `call` one tiny call."""
    settings, now = place.settings, SystemClock().now()
    found = [passed("configuration", f"is good, the persona is {settings.persona}"), proxy_finding(settings)]
    found += await model_findings(place)
    store = await store_findings(place.data, now, place.url)
    if call and settings.model.base_url and all(finding.good for finding in (*found, *store)):
        found += await call_findings(place)
    found += [each async for each in _platforms(settings, place.data)]
    found += await embedding_findings(settings, place.data, place.url)
    found += await outside_findings(settings, place.data, place.url)
    found += plugin_findings(place.data)
    store = (*store, *await process_findings(place, SystemClock()))
    return (*found, *chat_setting_findings(place.data, place.url), *store, *machine_findings(settings, place.data, now))


async def connections(place: Installation) -> tuple[CheckResult, ...]:
    """Whether the model, by one tiny call, and the platforms of a configuration answer."""
    found = await model_findings(place)
    if place.settings.model.base_url and all(finding.good for finding in found):
        found += await call_findings(place)
    return (*found, *[each async for each in _platforms(place.settings, place.data)])


async def outside_findings(settings: Settings, data: Path, url: str = "") -> list[CheckResult]:
    """Whether each server of outside tools is there, and what the owner approved of it; none is started."""
    stored: Mapping[str, StoredServer] = {}
    if settings.mcp.servers and (url or (data / DATABASE).exists()):
        try:
            async with await open_store(data, read_only=True, url=url) as store:
                stored = await store.outside.servers()
        except StoreError:
            pass  # told where the data folder is looked at, as is a database of an older nuan
    return [_outside(name, rules, stored.get(name)) for name, rules in settings.mcp.servers.items()]


def _outside(name: str, rules: OutsideServer, known: StoredServer | None) -> CheckResult:
    path = f"mcp.servers.{name}"
    if rules.command and shutil.which(rules.command) is None:
        return failed(path, f"there is no program {rules.command!r}: install it, or give its whole path")
    if known is None:
        return warned(path, f"was never started: look at it and approve it in a chat: .ai mcp {name}")
    if known.waiting or not known.approved:
        what = "offers something else than was approved" if known.approved else "is not approved"
        return warned(path, f"{what}, so it is not used: .ai mcp {name}")
    return passed(path, f"approved, {len(offers_from(known.approved))} things, at most {rules.day_calls} calls a day")


def plugin_findings(data: Path) -> Iterator[CheckResult]:
    """Whether each plugin is good, and what it brings."""
    for each in load_plugins(data).found:
        path = f"plugins.{each.name}"
        if each.plugin is None:
            yield failed(path, f"it is left out: {each.problem}")
            continue
        brings = ", ".join(f"{number} {kind}" for kind, number in counts(each.plugin).items()) or "nothing"
        tokens = tools_tokens(tuple(map(spec_of, each.plugin.tools)))
        yield passed(path, f"brings {brings}; {tokens} tokens more in each full request")


async def _platforms(settings: Settings, data: Path) -> AsyncIterator[CheckResult]:
    """What each platform that is configured says of its token and its rights."""
    for name, platform in settings.platforms.items():
        if platform.configured:
            try:
                adapter = make_adapter(platform, (), SystemClock(), NullLog())
            except ImportError:
                yield failed(name, library_missing(name))
                continue
            for found in await adapter.check() if isinstance(adapter, Checks) else ():
                yield found
    for plugin, each in (plugins := load_plugins(data)).platforms:
        try:
            adapter = make_plugin_adapter(plugin, each, (), SystemClock(), NullLog())
        except PlatformError as error:
            yield failed(each.name, f"it is left out: {error}")
            continue
        for found in await adapter.check() if isinstance(adapter, Checks) else ():
            yield found
    if not (plugins.platforms or any(platform.configured for platform in settings.platforms.values())):
        yield passed("platforms", "no token is set: only `nuan chat` works")
