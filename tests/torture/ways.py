"""More ways for a secret to get out: archives, an agent at the table, lists, reasons, boxes, pages, the log."""

import re
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from bot.ops.log_files import TEXT_FIELDS
from tests.agenting import Agent, reading
from tests.torture.spots import OWNERS
from tests.webbed import LISTS, webbed

if TYPE_CHECKING:
    from tests.torture.canaries import Field
    from tests.torture.spots import Spot

NAMED = re.compile(r"c[lmdnrop]\d{4}x")
NUMBERED = re.compile(r"c[lmdrp](\d{4})x")
"""Secrets that one person told: the number is that of the spot."""


async def export(field: "Field", spot: "Spot") -> None:
    """`.ai export me`: nothing of anybody else may be in the archive."""
    own = f"dm {spot.who}"
    await field.say(spot, ".ai export me")
    archive = max((field.world.folder / "exports").glob("*.zip"), key=lambda path: path.stat().st_mtime_ns)
    with zipfile.ZipFile(archive) as file:
        text = "".join(file.read(name).decode() for name in file.namelist())
    field.at_home({one for one in NAMED.findall(text) if one in field.told[spot.chat]})
    at_home = field.told.get((spot.platform, own), set())
    for found in NUMBERED.finditer(text):
        teller = field.spots[int(found[1])]
        if (teller.who, teller.platform) != (spot.who, spot.platform) and found[0] not in at_home:
            field.count.foreign.append(f"{found[0]} in the archive of {spot.who} on {spot.platform}")


async def agent(field: "Field", spot: "Spot") -> None:
    """An agent over MCP looks for all secrets, as that person and in a group."""
    async with reading(field.world, _person(field, spot)) as agent:
        field.seen_by(spot, "agent", await _asked(agent))
    group = field.chosen.choice([each for each in field.spots if each.who == spot.who and each.group])
    sql = "SELECT chat_id FROM place WHERE platform = ? AND external_id = ?"
    [(chat,)] = field.world.rows(sql, group.platform, f"group:{group.group}")
    async with reading(field.world, _person(field, group), str(chat)) as agent:
        field.seen_at(group.chat, "agent", await _asked(agent))


def _person(field: "Field", spot: "Spot") -> str:
    """The number of whoever stands there."""
    sql = "SELECT person_id FROM account WHERE platform = ? AND external_id = ?"
    [(person,)] = field.world.rows(sql, spot.platform, f"{spot.platform[0]}-{spot.who}")
    return str(person)


async def _asked(agent: Agent) -> str:
    """All that its tools show."""
    return "".join(
        [
            await agent.ask("recall", query="大家的暗号", top_k=20),
            await agent.ask("boot"),
            await agent.ask("dialog", limit=30),
        ]
    )


async def box(field: "Field", spot: "Spot") -> None:
    """The owner asks at the terminal, as in the chat box of the web page: a private chat where nobody told anything."""
    said = len(field.world.model.requests)
    field.wanted = [("memory_recall", {"query": f"{spot.who}的暗号", "top_k": 20})]
    await field.world.say(f"小暖，{spot.who}的暗号是什么")
    for request in field.world.model.requests[said:]:
        if request.prompt.tools:
            field.seen_at(OWNERS, "box", "".join(each.content for each in request.prompt.messages))


async def web(field: "Field", spot: "Spot") -> None:
    """Somebody without the token opens every page, and those of a turn and of a memory of that spot's time."""
    number = field.chosen.randrange(1, 60)
    async with webbed(field.world) as page:
        for path in (*LISTS, f"/turns/{number}", f"/memories/{number}", "/chat/stream", "/login"):
            answer = await page.stranger.get(path)
            found = NAMED.findall(f"{answer.text}{answer.headers}")
            field.count.foreign += [f"{one} on the page {path} without the token" for one in found]


def asking(text: str) -> Callable[["Field", "Spot"], Awaitable[None]]:
    """A dot-command."""

    async def ask(field: "Field", spot: "Spot") -> None:
        await field.say(spot, text)

    return ask


def of_somebody(form: str) -> Callable[["Field", "Spot"], Awaitable[None]]:
    """A dot-command with anybody's account or number."""

    async def ask(field: "Field", spot: "Spot") -> None:
        other = field.chosen.choice(field.spots)
        account = f"{other.platform}:{other.platform[0]}-{other.who}"
        await field.say(spot, form.format(who=account, number=field.chosen.randrange(60)))

    return ask


async def followed(field: "Field", spot: "Spot") -> None:
    """Whoever was answered goes on without calling, and the follow-up's time comes."""
    await field.say(spot, "小暖，在吗")
    await field.say(spot, "大家的暗号是什么来着")
    await field.wait(30)


async def fired(field: "Field", spot: "Spot") -> None:
    """A reminder's time comes; its words are a secret of that chat."""
    await field.say(spot, f"小暖，两分钟后提醒我说cr{field.spots.index(spot):04}x")
    await field.wait(180)


async def first(field: "Field", spot: "Spot") -> None:
    """Nobody says anything for so long that nuan writes first."""
    await field.wait(2 * 3_600 + 60)


WAYS: Mapping[str, Callable[["Field", "Spot"], Awaitable[None]]] = {
    "why": asking(".ai why"),
    "remind": asking(".ai remind list"),
    "promise": asking(".ai promise all"),
    "refs": asking(".ai refs recent"),
    "full": asking(".ai dialog full"),
    "named": of_somebody(".ai dialog {who}"),
    "person": of_somebody(".ai ctx full {who} 大家的暗号"),
    "cancel": of_somebody(".ai remind cancel {number}"),
    "export": export,
    "agent": agent,
    "box": box,
    "web": web,
    "followed": followed,
    "fired": fired,
    "first": first,
}


MAY_BRING_NONE = ("web", "why", "number", "forget")
"""Ways that show nothing of what was told, or only where a number is met by chance."""


def logged(lines: list[tuple[str, str, dict[str, object]]]) -> str:
    """What of these lines gets into the file, texts being off."""
    return " ".join(repr(value) for _, _, fields in lines for name, value in fields.items() if name not in TEXT_FIELDS)
