"""What is remembered: memories browsed, searched and changed; people, their promises, past talks as a time line."""

from itertools import groupby
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from bot.core.clock import DAY_MS
from bot.core.memories import STABILITY_DAYS
from bot.memory.lifecycle import vitality
from bot.store.inspector import MEMORY_STATES, MemoryFilter, MemoryRow, SummaryRow
from bot.text.clean import clean
from bot.web.requests import PageRequest, render

SHOWN = 50
MOST_CHARS = 2_000
"""Longest wording that can be given to a memory, in characters."""

ROWS_SHOWN = 100


async def listed(ask: PageRequest) -> Response:
    """The memories that fit; for a search while it is typed only their rows."""
    store = ask.site.store
    state = ask.word("state") or "active"
    wanted = MemoryFilter(
        ask.word("q"), ask.number("owner") or None, ask.word("kind", 20), state if state in MEMORY_STATES else "active",
        ask.number("below"), SHOWN,
    )  # fmt: skip
    found = await store.inspector.memories(wanted)
    now = ask.site.clock.now()
    query = {"q": wanted.text, "owner": wanted.owner_id or "", "kind": wanted.kind, "state": wanted.state}
    more = urlencode({**query, "below": found[-1].memory.id}) if len(found) == SHOWN else ""
    values: dict[str, object] = {
        "rows": [(each, f"{vitality(each.memory, now):.2f}", _marks(ask, each)) for each in found], "more": more,
        "wanted": wanted,
    }  # fmt: skip
    if "hx-request" in ask.request.headers:
        return render(ask, "memory_rows.html", values)
    values |= {
        "people": await store.inspector.people(), "kinds": tuple(STABILITY_DAYS),
        "states": await store.inspector.memory_counts(),
    }  # fmt: skip
    return render(ask, "memories.html", values)


async def one(ask: PageRequest) -> Response:
    """One memory with where it comes from and what may be done to it."""
    store = ask.site.store
    found = await _found(ask)
    memory = found.memory
    merges = () if found.forgotten else await store.lives.merges(memory)
    values = {
        "found": found, "memory": memory, "origins": await store.inspector.origins(memory.id), "merges": merges,
        "vitality": f"{vitality(memory, ask.site.clock.now()):.2f}", "marks": _marks(ask, found),
        "days": ask.site.settings.memory.undo_days, "archive_days": ask.site.settings.memory.life.archive_days,
        "most": MOST_CHARS,
    }  # fmt: skip
    return render(ask, "memory.html", values)


async def do(ask: PageRequest) -> Response:
    """Carry a deed out, then show the memory with what became of it."""
    if ask.site.box is None:
        raise HTTPException(409)
    found = await _found(ask)
    number = found.memory.id
    deed = str(ask.request.path_params["deed"])
    done = await (_reword(ask, found) if deed == "edit" else _do(ask, found, deed))
    return RedirectResponse(f"/memories/{number}?done={done}", 303)


async def _reword(ask: PageRequest, found: MemoryRow) -> str:
    text = " ".join(clean(ask.form.get("text", "")).split())
    if not 0 < len(text) <= MOST_CHARS:
        return "length"
    if text == found.memory.text:
        return "same"
    done = await ask.site.store.lives.reword(found.memory.id, text, ask.site.clock.now())
    return {"done": "edited", "gone": "over", "named": "named", "known": "known", "buried": "buried"}[done]


async def _do(ask: PageRequest, found: MemoryRow, deed: str) -> str:
    store, now, memory = ask.site.store, ask.site.clock.now(), found.memory
    rules = ask.site.settings.memory
    match deed:
        case "forget":
            purge_at = now + rules.undo_days * DAY_MS if rules.undo_days else None
            return "forgot" if await store.lives.forget(memory.id, purge_at, now) else "over"
        case "purge":
            return "purged" if await store.lives.forget(memory.id, None, now) else "over"
        case "restore" if found.ended == "archived":
            return "restored" if await store.lives.restore(memory.id, now) else "over"
        case "restore" if found.forgotten:
            return "restored" if await store.lives.bring_back(memory.id, now) else "over"
        case _ if found.ended or deed == "restore":
            return "over"
        case "archive":
            await store.lives.archive(memory.id, now + rules.life.archive_days * DAY_MS, now)
            return "archived"
        case "protect" | "unprotect":
            await store.lives.protect(memory, on=deed == "protect")
            return f"{deed}ed"
        case "unmerge":
            return "unmerged" if await store.lives.unmerge(memory, now) is not None else "over"
        case _:
            raise HTTPException(404)


async def _found(ask: PageRequest) -> MemoryRow:
    found = await ask.site.store.inspector.memory(ask.path_number())
    if found is None:
        raise HTTPException(404)
    return found


def _marks(ask: PageRequest, found: MemoryRow) -> list[str]:
    memory = found.memory
    states = {
        "asked": memory.asked,
        "protected": memory.protected,
        "former": memory.former_at is not None,
        found.ended: bool(found.ended),
    }
    return [ask.t(f"mark_{name}") for name, holds in states.items() if holds]


PAGES = {"/memories": listed, "/memories/{number}": one}
ACTIONS = {"/memories/{number}/{deed}": do}


async def everybody(ask: PageRequest) -> Response:
    """Everybody nuan knows."""
    return render(ask, "people.html", {"people": await ask.site.store.inspector.people()})


async def promises(ask: PageRequest) -> Response:
    """What is open and what ended last; what somebody is to be reminded of."""
    residents = ask.site.store.inspector
    values = {"promises": await residents.promises(ROWS_SHOWN), "reminders": await residents.reminders(ROWS_SHOWN)}
    return render(ask, "promises.html", values)


async def dialogue(ask: PageRequest) -> Response:
    """Summaries by day, the newest first, of one chat or all."""
    store, chat = ask.site.store, ask.number("chat")
    found = await store.inspector.summaries(chat or None, ask.number("before"), ROWS_SHOWN)

    def day(told: SummaryRow) -> str:
        return ask.when(told.ended_at)[:10]

    values = {
        "days": [(name, tuple(each)) for name, each in groupby(found, key=day)], "chat": chat,
        "more": found[-1].ended_at if len(found) == ROWS_SHOWN else 0, "chats": await store.people.chats(),
    }  # fmt: skip
    return render(ask, "dialogue.html", values)


PEOPLE_PAGES = {"/people": everybody, "/promises": promises, "/dialogue": dialogue}
