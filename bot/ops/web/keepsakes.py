"""Memories: browsed, searched, and changed by the verbs of 忘记, 撤销 and `.ai mem`."""

from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from bot.memory.vitality import vitality
from bot.ops.web.house import Ask
from bot.ops.web.rendering import page
from bot.store.browsing import STATES, Browsed, Wanted
from bot.text.clean import clean
from bot.types.duration import DAY_MS
from bot.types.memory import STABILITY_DAYS

SHOWN = 50
MOST_CHARS = 2_000
"""Longest wording that can be given to a memory, in characters."""


async def listed(ask: Ask) -> Response:
    """The memories that fit; for a search while it is typed only their rows."""
    store = ask.house.store
    state = ask.word("state") or "active"
    wanted = Wanted(
        ask.word("q"), ask.number("owner") or None, ask.word("kind", 20), state if state in STATES else "active",
        ask.number("below"), SHOWN,
    )  # fmt: skip
    found = await store.browsing.memories(wanted)
    now = ask.house.clock.now()
    query = {"q": wanted.text, "owner": wanted.owner_id or "", "kind": wanted.kind, "state": wanted.state}
    more = urlencode({**query, "below": found[-1].memory.id}) if len(found) == SHOWN else ""
    values: dict[str, object] = {
        "rows": [(each, f"{vitality(each.memory, now):.2f}", _marks(ask, each)) for each in found], "more": more,
        "wanted": wanted,
    }  # fmt: skip
    if "hx-request" in ask.request.headers:
        return page(ask, "memory_rows.html", values)
    values |= {
        "people": await store.residents.all(), "kinds": tuple(STABILITY_DAYS), "states": await store.browsing.counts(),
    }  # fmt: skip
    return page(ask, "memories.html", values)


async def one(ask: Ask) -> Response:
    """One memory with where it comes from and what may be done to it."""
    store = ask.house.store
    found = await _found(ask)
    memory = found.memory
    merges = () if found.forgotten else await store.merges.of(memory)
    values = {
        "found": found, "memory": memory, "origins": await store.browsing.origins(memory.id), "merges": merges,
        "vitality": f"{vitality(memory, ask.house.clock.now()):.2f}", "marks": _marks(ask, found),
        "days": ask.house.settings.memory.undo_days, "archive_days": ask.house.settings.memory.life.archive_days,
        "most": MOST_CHARS,
    }  # fmt: skip
    return page(ask, "memory.html", values)


async def do(ask: Ask) -> Response:
    """Carry a deed out, then show the memory with what became of it."""
    if ask.house.box is None:
        raise HTTPException(409)
    found = await _found(ask)
    number = found.memory.id
    deed = str(ask.request.path_params["deed"])
    done = await (_reword(ask, found) if deed == "edit" else _do(ask, found, deed))
    return RedirectResponse(f"/memories/{number}?done={done}", 303)


async def _reword(ask: Ask, found: Browsed) -> str:
    text = " ".join(clean(ask.form.get("text", "")).split())
    if not 0 < len(text) <= MOST_CHARS:
        return "length"
    if text == found.memory.text:
        return "same"
    done = await ask.house.store.handling.reword(found.memory.id, text, ask.house.clock.now())
    return {"done": "edited", "gone": "over", "named": "named", "known": "known", "buried": "buried"}[done]


async def _do(ask: Ask, found: Browsed, deed: str) -> str:
    store, now, memory = ask.house.store, ask.house.clock.now(), found.memory
    rules = ask.house.settings.memory
    match deed:
        case "forget":
            purge_at = now + rules.undo_days * DAY_MS if rules.undo_days else None
            return "forgot" if await store.handling.forget(memory.id, purge_at, now) else "over"
        case "purge":
            return "purged" if await store.handling.forget(memory.id, None, now) else "over"
        case "restore" if found.ended == "archived":
            return "restored" if await store.lives.restore(memory, now) else "over"
        case "restore" if found.forgotten:
            return "restored" if await store.handling.bring_back(memory.id, now) else "over"
        case _ if found.ended or deed == "restore":
            return "over"
        case "archive":
            await store.lives.archive(memory, now + rules.life.archive_days * DAY_MS, now)
            return "archived"
        case "protect" | "unprotect":
            await store.lives.protect(memory, on=deed == "protect")
            return f"{deed}ed"
        case "unmerge":
            return "unmerged" if await store.merges.undo(memory, now) is not None else "over"
        case _:
            raise HTTPException(404)


async def _found(ask: Ask) -> Browsed:
    found = await ask.house.store.browsing.memory(ask.path_number())
    if found is None:
        raise HTTPException(404)
    return found


def _marks(ask: Ask, found: Browsed) -> list[str]:
    memory = found.memory
    states = {
        "asked": memory.asked,
        "protected": memory.protected,
        "former": memory.former_at is not None,
        found.ended: bool(found.ended),
    }
    return [ask.t(f"mark_{name}") for name, holds in states.items() if holds]


PAGES = {"/memories": listed, "/memories/{number}": one}
DEEDS = {"/memories/{number}/{deed}": do}
