"""What the model calls used, by day, chat and cause, as figures for plots and tables."""

from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta

from starlette.responses import JSONResponse, Response

from bot.ops.web.house import Ask
from bot.ops.web.rendering import page
from bot.text.dates import local_day
from bot.types.money import Used

DAYS, MOST_DAYS = 30, 366
SERIES = 6
"""Lines of one plot; what is less is one line together."""

Plot = dict[str, object]


async def shown(ask: Ask) -> Response:
    """The page: plots drawn from the figures, and the same in tables."""
    plots = await _plots(ask)
    values = {"days": _days(ask), "plots": plots, "money": ask.house.settings.budget.currency}
    return page(ask, "usage.html", values)


async def figures(ask: Ask) -> Response:
    """The figures of the plots."""
    return JSONResponse(await _plots(ask))


async def _plots(ask: Ask) -> dict[str, Plot]:
    house, days = ask.house, _days(ask)
    today = local_day(house.clock.now(), house.tz)
    first = today - timedelta(days=days - 1)
    used = await house.store.ledger.used(round(datetime.combine(first, time(), house.tz).timestamp() * 1000))
    chats = {chat.id: f"{chat.platform} {chat.title or chat.external_id}" for chat in await house.store.people.chats()}
    labels = [f"{first + timedelta(days=number):%m-%d}" for number in range(days)]
    place = {first + timedelta(days=number): number for number in range(days)}

    def at(each: Used) -> int:
        return place.get(local_day(each.at, house.tz), -1)

    rest = ask.t("usage_rest")
    parts: Mapping[str, Callable[[Used], float]] = {
        ask.t("usage_fresh"): lambda each: each.prompt_tokens - each.cached_tokens,
        ask.t("usage_cached"): lambda each: each.cached_tokens,
        ask.t("usage_output"): lambda each: each.output_tokens,
    }
    by_part = {name: _sum(used, at, days, count) for name, count in parts.items()}
    return {
        "day": {"labels": labels, "series": by_part},
        "money": {
            "labels": labels, "series": {house.settings.budget.currency: _sum(used, at, days, lambda u: u.money)}
        },
        "chat": {
            "labels": labels, "series": _grouped(used, at, days, lambda u: chats.get(u.chat_id, f"#{u.chat_id}"), rest)
        },
        "cause": {"labels": labels, "series": _grouped(used, at, days, lambda u: u.cause, rest)},
    }  # fmt: skip


def _sum(
    used: tuple[Used, ...], at: Callable[[Used], int], days: int, count: Callable[[Used], float]
) -> list[float]:  # fmt: skip
    sums = [0.0] * days
    for each in used:
        if (number := at(each)) >= 0:
            sums[number] += count(each)
    return [round(value, 6) for value in sums]


def _grouped(
    used: tuple[Used, ...], at: Callable[[Used], int], days: int, name: Callable[[Used], str], rest: str
) -> dict[str, list[float]]:  # fmt: skip
    """Tokens of each group by day, the largest first; what does not fit is one group."""
    totals: dict[str, int] = {}
    for each in used:
        totals[name(each)] = totals.get(name(each), 0) + each.prompt_tokens + each.output_tokens
    ordered = sorted(totals, key=lambda group: (-totals[group], group))
    kept = ordered if len(ordered) <= SERIES else ordered[: SERIES - 1]
    groups: dict[str, list[Used]] = {group: [] for group in kept}
    for each in used:
        groups.setdefault(name(each) if name(each) in kept else rest, []).append(each)
    return {
        group: _sum(tuple(calls), at, days, lambda u: u.prompt_tokens + u.output_tokens)
        for group, calls in groups.items()
    }


def _days(ask: Ask) -> int:
    return max(1, ask.number("days", DAYS, MOST_DAYS))


PAGES = {"/usage": shown, "/usage.json": figures}
