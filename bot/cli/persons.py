"""`nuan export` and `nuan erase`: everything of one person, to take along or to take away."""

from collections.abc import Callable
from pathlib import Path

from bot.cli.carry import find_person
from bot.cli.house import Place, must_be_begun
from bot.cli.printing import bar, document
from bot.clock import SystemClock
from bot.config.settings import Settings
from bot.errors import NuanError
from bot.flow.belongings import Belongings, pack
from bot.ops.scrub import scrub_logs
from bot.ops.silence import Silence
from bot.store.exporting import write_bytes
from bot.store.keptcopies import folder_of, kept_in
from bot.store.store import Store, open_store
from bot.text.stamps import stamp

COPIES = "nuan*.before-*.db"
"""Copies that other commands and migrations leave beside the database."""


async def export_person(place: Place, person: str, path: Path | None, *, force: bool, as_json: bool) -> str:
    """Write the archive; where it is and how much it holds. Works beside a running nuan."""
    now, owners = SystemClock().now(), frozenset(place.settings.bot.owners)
    async with await open_store(place.data, owners, read_only=True) as store:
        number = await find_person(store, person)
        with bar("reading", quiet=as_json):
            packed = await pack(store, number, now)
    target = path or Path(f"nuan-export-{number}-{stamp(now)}.zip")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(target, packed.data, force=force)
    except FileExistsError:
        raise NuanError(f"{target} is there already: give another name, or --force to replace it") from None
    if as_json:
        return document({"file": str(target), "person": number, **packed.counts})
    return f"{target}: {_listed(packed.counts)}"


async def erase_person(
    place: Place, person: str, ask: Callable[[str], bool], *, yes: bool, as_json: bool
) -> str:  # fmt: skip
    """Say what would go, ask, and take it away; NuanError with nothing changed when that is not wanted."""
    settings = place.settings
    must_be_begun(place)
    async with await open_store(place.data, frozenset(settings.bot.owners)) as store:
        number = await find_person(store, person)
        if not await store.erasing.known(number):
            raise NuanError(f"there is nobody {person!r} any more")
        counts = await store.erasing.counts(number)
        if not yes and not ask(f"Erase person {number} for good ({_listed(counts)})?"):
            raise NuanError("nothing was changed")
        named = await _named(store, number, settings)
        work = Belongings(store, SystemClock(), Silence(), lambda erased: scrub_logs(place.data / "logs", erased))
        with bar("erasing", quiet=as_json):
            erased = await work.erase(number)
    copies = len(kept_in(folder_of(place.data, settings.backup.folder))) + len(list(place.data.glob(COPIES)))
    if as_json:
        return document({"person": number, **erased.counts, "backups": copies, "still_in_configuration": named})
    lines = [f"person {number} is erased: {_listed(dict(erased.counts))}"]
    if copies:
        lines.append(f"{copies} backups made before still hold them: restoring one erases them again; or delete these")
    lines += [f"the configuration still names them: {key}" for key in named]
    return "\n".join(lines)


async def _named(store: Store, number: int, settings: Settings) -> list[str]:
    """The keys of the configuration that name an account of that person."""
    lists = {
        "bot.owners": tuple(settings.bot.owners),
        "telegram.allow": tuple(f"telegram:{each}" for each in settings.telegram.allow),
        "discord.allow": tuple(f"discord:{each}" for each in settings.discord.allow),
    }
    own = await store.exporting.own(number)
    accounts = own.person["accounts"]
    known = set(accounts) if isinstance(accounts, list) else set()
    return [key for key, names in lists.items() if known & set(names)]


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
