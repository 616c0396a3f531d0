"""`nuan backup`, `restore`, `export` and `erase`: copies of the database, and everything of one person."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from bot.cli.installation import Installation, make_words, require_database
from bot.cli.lookup import find_person
from bot.cli.terminal import json_document, progress_bar, write_private
from bot.config.settings import Settings
from bot.core.clock import SystemClock
from bot.core.errors import NuanError
from bot.ops.log_files import NullLog, scrub_logs
from bot.pipeline.jobs.archives import PersonData, pack_person
from bot.store.backups import (
    backups_in,
    copy_to,
    count_newer,
    folder_of,
    roll_back,
    server_backups,
    verify_forward,
    write_backup,
)
from bot.store.schema import SCHEMA_VERSION
from bot.store.store import DATABASE, Store, open_store
from bot.text.dates import stamp, stamp_label

OTHER_COPIES = "nuan*.before-*.db"
"""Copies that other commands and migrations leave beside the database."""


async def make_backup(place: Installation, path: Path | None, *, as_json: bool) -> str:
    """Make one; where it is. StoreError when there is no database, or the copy is not whole."""
    require_database(place)
    rules, now, gone = place.settings.backup, SystemClock().now(), 0
    with progress_bar("backup", quiet=as_json) as tell:
        if path is not None:
            made = await asyncio.to_thread(copy_to, place.data, path, tell, place.url)
        else:
            folder = folder_of(place.data, rules.folder)
            made, gone = await asyncio.to_thread(write_backup, place.data, folder, now, rules, tell, place.url)
    size = made.stat().st_size
    if as_json:
        return json_document({"file": str(made), "bytes": size, "schema": SCHEMA_VERSION, "removed": gone})
    removed = f"; {gone} old ones were removed" if gone else ""
    return (
        f"{made} is whole ({_size(size)}){removed}\nbackups hold what is forgotten after they were made: restoring one "
        "forgets it again"
    )


async def list_backups(place: Installation, *, as_json: bool) -> str:
    """The backups in their folder, oldest first."""
    kept = backups_in(folder_of(place.data, place.settings.backup.folder))
    if as_json:
        rows = [{"file": str(each.path), "made": stamp_label(each.made), "bytes": each.size} for each in kept]
        return json_document(rows)
    return (
        "\n".join(f"{stamp_label(each.made)}  {_size(each.size):>9}  {each.path}" for each in kept) or "no backups yet"
    )


async def check_backup(place: Installation, path: Path, *, as_json: bool) -> str:
    """Look one over; StoreError with what is wrong."""
    found = _find_backup(place, path)
    if place.url:
        await asyncio.to_thread(server_backups().check, found)
        return json_document({"file": str(found), "good": True}) if as_json else f"{found} can be restored"
    schema = await asyncio.to_thread(verify_forward, found, 0)
    if as_json:
        return json_document({"file": str(found), "schema": schema, "good": True})
    older = f"; its schema {schema} would be brought to {SCHEMA_VERSION}" if schema < SCHEMA_VERSION else ""
    return f"{found} is whole and can be restored{older}"


async def restore_backup(place: Installation, path: Path, *, as_json: bool) -> str:
    """Put it in the database's place; what became of the present one. Refused: nothing was changed."""
    found, now = _find_backup(place, path), SystemClock().now()
    if place.url:
        return await restore_on_server(place, found, now, as_json=as_json)
    newer = await asyncio.to_thread(count_newer, place.data, found)
    with progress_bar("restore", quiet=as_json) as tell:
        previous, count = await roll_back(place.data, found, stamp(now), now, label="restore", tell=tell)
    if as_json:
        lost = dict(zip(("newer_lines", "newer_memories"), newer or (None, None), strict=True))
        return json_document(restore_report(found, previous, count) | lost)
    lines = [f"{found.name} is the database again"]
    if count:
        lines[0] += f"; {count} memories that were forgotten since stay forgotten"
    if previous is not None:
        lines.append(
            f"{newer[0]} lines and {newer[1]} memories are newer than it and only in the one before it"
            if newer
            else "how much is newer than it cannot be told: the database before it cannot be read"
        )
        lines.append(
            f"the one before it is {previous}: delete it when you need it no more; it goes by itself after "
            f"{place.settings.backup.days} days"
        )
    return "\n".join(lines)


async def restore_on_server(place: Installation, copy: Path, now: int, *, as_json: bool) -> str:
    """As `restore_backup`, for a database of a server."""
    done = await server_backups().restore(place.url, place.data, copy, stamp(now), now)
    if as_json:
        told = {"restored": str(copy), "before": done.before, "forgotten_again": done.forgotten}
        return json_document(told | dict(zip(("newer_lines", "newer_memories"), done.newer, strict=True)))
    again = f"; {done.forgotten} memories that were forgotten since stay forgotten" if done.forgotten else ""
    return (
        f"{copy.name} is the database again{again}\n{done.newer[0]} lines and {done.newer[1]} memories are newer than it "
        f"and only in the one before it\nthe one before it is the database {done.before}: drop it when you need it no more, nuan never does"
    )


def restore_report(copy: Path, previous: Path | None, count: int) -> dict[str, object]:
    """What a program is told of a copy that is the database again: where the one before it lies, how many memories
    were forgotten again.
    """
    return {"restored": str(copy), "before": str(previous) if previous else None, "forgotten_again": count}


def _find_backup(place: Installation, path: Path) -> Path:
    folder = folder_of(place.data, place.settings.backup.folder)
    found = next((each for each in (path, folder / path, place.data / path) if each.is_file()), None)
    if found is None:
        raise NuanError(f"{path} is no file, nor a backup in {folder}")
    return refuse_itself(place, found)


def refuse_itself(place: Installation, copy: Path) -> Path:
    """The copy; NuanError when it is the database whose place it would take."""
    if copy.resolve() == (place.data / DATABASE).resolve():
        raise NuanError(f"{copy} is the database itself: give a backup")
    return copy


def _size(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


async def export_person(place: Installation, person: str, path: Path | None, *, force: bool, as_json: bool) -> str:
    """Write the archive; where it is and how much it holds. Works beside a running nuan."""
    now, owners = SystemClock().now(), frozenset(place.settings.bot.owners)
    async with await open_store(place.data, owners, read_only=True, url=place.url) as store:
        number = await find_person(store, person)
        with progress_bar("reading", quiet=as_json):
            packed = await pack_person(store, number, now, make_words(place).zone)
    target = path or Path(f"nuan-export-{number}-{stamp(now)}.zip")
    if target.suffix != ".zip" and target.resolve().is_relative_to(place.data.resolve()):
        raise NuanError(f"{target} is a place of nuan's own files: give another, or one that ends in .zip")
    write_private(target, packed.data, force=force)
    if as_json:
        return json_document({"file": str(target), "person": number, **packed.counts})
    return f"{target}: {_listed(packed.counts)}"


async def erase_person(
    place: Installation, person: str, ask: Callable[[str], bool], *, yes: bool, as_json: bool
) -> str:
    """Say what would go, ask, and take it away; NuanError with nothing changed when that is not wanted."""
    settings = place.settings
    require_database(place)
    async with await open_store(place.data, frozenset(settings.bot.owners), url=place.url) as store:
        number = await find_person(store, person)
        if not await store.people.is_known(number):
            raise NuanError(f"there is nobody {person!r} any more")
        counts = await store.people.personal_counts(number)
        who = await store.people.labelled(number)
        if not yes and not ask(f"Erase person {number}, {who}, for good ({_listed(counts)})?"):
            raise NuanError("nothing was changed")
        named = await _keys_naming(store, number, settings)
        work = PersonData(store, SystemClock(), NullLog(), lambda erased: scrub_logs(place.data / "logs", erased))
        with progress_bar("erasing", quiet=as_json):
            erased = await work.erase(number)
    copies = len(backups_in(folder_of(place.data, settings.backup.folder))) + len(list(place.data.glob(OTHER_COPIES)))
    if as_json:
        return json_document({"person": number, **erased.counts, "backups": copies, "still_in_configuration": named})
    lines = [f"person {number} is erased: {_listed(dict(erased.counts))}"]
    if copies:
        lines.append(f"{copies} backups made before still hold them: restoring one erases them again; or delete these")
    lines += [f"the configuration still names them: {key}" for key in named]
    return "\n".join(lines)


async def _keys_naming(store: Store, number: int, settings: Settings) -> list[str]:
    """The keys of the configuration that name an account of that person."""
    lists = {
        "bot.owners": settings.bot.owners,
        **{
            f"{name}.allow": tuple(f"{name}:{each}" for each in platform.allow)
            for name, platform in settings.platforms.items()
        },
    }
    own = await store.people.personal_records(number)
    accounts = own.person["accounts"]
    known = set(accounts) if isinstance(accounts, list) else set()
    return [key for key, names in lists.items() if known & set(names)]


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
