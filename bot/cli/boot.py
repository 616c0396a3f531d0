"""`nuan boot`: the block that the next talk would open with, beside a running nuan."""

from typing import Literal

from bot.cli.house import Place, make_parts
from bot.cli.look import View, find_view
from bot.cli.models import make_crew
from bot.errors import ConfigError
from bot.ops.silence import Silence
from bot.ports import Clock
from bot.prompt.bootjson import boot_json
from bot.rooms import make_planner
from bot.store.store import open_store

Format = Literal["narrative", "json"]


def format_of(name: str) -> Format:
    """The format of that name; ConfigError says which there are."""
    match name:
        case "narrative" | "json":
            return name
        case _:
            raise ConfigError((f"--format: there is no {name!r}; use narrative or json",))


async def show_boot(place: Place, view: View, form: Format = "narrative", clock: Clock | None = None) -> str:
    """The block that a talk would open with, to the letter, or what it tells as JSON."""
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        crew = make_crew(place.settings, place.prompts.path)
        try:
            parts = make_parts(place, store, crew, Silence(), clock)
            planner, _ = make_planner(parts)
            chat, person = await find_view(store, view)
            now = parts.clock.now()
            opened = await planner.boot(chat, person, now)
            return opened.text if form == "narrative" else boot_json(opened, chat, person, now)
        finally:
            await crew.close()
