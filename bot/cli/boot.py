"""`nuan boot`: the block that the next talk would open with, beside a running nuan."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Literal

from bot.cli.house import Place, make_parts
from bot.cli.look import View, find_view
from bot.cli.models import make_crew
from bot.cli.printing import document
from bot.errors import ConfigError
from bot.ops.silence import Silence
from bot.ports import Clock
from bot.rooms import make_planner
from bot.store.store import open_store
from bot.text.estimate import estimate_tokens
from bot.types.opening import Line, Opened, SectionName
from bot.types.people import Chat, Person

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
            return opened.text if form == "narrative" else _json(opened, chat, person, now)
        finally:
            await crew.close()


def _json(opened: Opened, chat: Chat, person: Person, now: int) -> str:
    kinds: dict[SectionName, list[dict[str, object]]] = {
        section.name: [_line(line) for line in section.lines] for section in opened.sections
    }
    told = {
        "chat": {"id": chat.id, "platform": chat.platform, "kind": chat.kind, "title": chat.title},
        "person": {"id": person.id, "name": person.name},
        "at": _instant(now),
        "since": opened.since,
        "tokens": estimate_tokens(opened.text),
        "sections": kinds,
        "text": opened.text,
    }
    return document(told)


def _line(line: Line) -> dict[str, object]:
    """What there is of a line, with its instant; what it is not made from is left out."""
    known = {key: value for key, value in asdict(line).items() if value and key not in ("weight", "id")}
    return known | ({"at": _instant(line.at)} if line.at else {})


def _instant(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
