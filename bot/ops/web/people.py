"""People, what they promised and are to be reminded of, and what was talked about as a time line."""

from itertools import groupby

from starlette.responses import Response

from bot.ops.web.house import Ask
from bot.ops.web.rendering import page
from bot.store.residents import Told

SHOWN = 100


async def everybody(ask: Ask) -> Response:
    """Everybody nuan knows."""
    return page(ask, "people.html", {"people": await ask.house.store.residents.all()})


async def promises(ask: Ask) -> Response:
    """What is open and what ended last; what somebody is to be reminded of."""
    residents = ask.house.store.residents
    values = {"promises": await residents.promises(SHOWN), "reminders": await residents.reminders(SHOWN)}
    return page(ask, "promises.html", values)


async def dialogue(ask: Ask) -> Response:
    """Summaries by day, the newest first, of one chat or all."""
    store, chat = ask.house.store, ask.number("chat")
    found = await store.residents.told(chat or None, ask.number("before"), SHOWN)

    def day(told: Told) -> str:
        return ask.when(told.ended_at)[:10]

    values = {
        "days": [(name, tuple(each)) for name, each in groupby(found, key=day)], "chat": chat,
        "more": found[-1].ended_at if len(found) == SHOWN else 0, "chats": await store.people.chats(),
    }  # fmt: skip
    return page(ask, "dialogue.html", values)


PAGES = {"/people": everybody, "/promises": promises, "/dialogue": dialogue}
