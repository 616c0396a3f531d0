"""How nuan runs: what model calls used, as plots and tables; persona and settings with the place of each value."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from starlette.responses import JSONResponse, Response

from bot.config.sources import ShownSetting
from bot.core.models import CallUse
from bot.money import DaySpan, grouped
from bot.text.clean import Redactor
from bot.text.dates import local_day
from bot.web.requests import PageRequest, render

DAYS, MOST_DAYS = 30, 366
SERIES = 6
"""Lines of one plot; what is less is one line together."""

Plot = dict[str, object]

MOST_CHARS = 100_000
"""Of a persona file so much is shown."""


@dataclass(frozen=True, slots=True)
class UsageByDay:
    """Calls, each with the number of its day."""

    used: tuple[tuple[int, CallUse], ...]
    days: int

    def sums(self, count: Callable[[CallUse], float]) -> list[float]:
        """What they come to on each day."""
        sums = [0.0] * self.days
        for day, each in self.used:
            sums[day] += count(each)
        return [round(value, 6) for value in sums]

    def groups(self, name: Callable[[CallUse], str], rest: str) -> dict[str, list[float]]:
        """Tokens of each group by day, the largest first; what does not fit is one group."""
        groups = grouped(self.used, lambda pair: name(pair[1]))
        ordered = sorted(groups, key=lambda group: (-sum(_tokens(each) for _, each in groups[group]), group))
        kept = ordered if len(ordered) <= SERIES else ordered[: SERIES - 1]
        shown = {group: groups[group] for group in kept}
        if others := [pair for group in ordered[len(kept) :] for pair in groups[group]]:
            shown[rest] = others
        return {group: UsageByDay(tuple(pairs), self.days).sums(_tokens) for group, pairs in shown.items()}


async def shown(ask: PageRequest) -> Response:
    """The page: plots drawn from the figures, and the same in tables."""
    plots = await _plots(ask)
    values = {"days": _days(ask), "plots": plots, "money": ask.site.settings.budget.currency}
    return render(ask, "usage.html", values)


async def figures(ask: PageRequest) -> Response:
    """The figures of the plots."""
    return JSONResponse(await _plots(ask))


async def _plots(ask: PageRequest) -> dict[str, Plot]:
    site = ask.site
    span = DaySpan.until(site.clock.now(), _days(ask), site.tz)
    used = await site.store.ledger.used(span.since)
    chats = {chat.id: chat.label for chat in await site.store.people.chats()}
    # A year of a busy installation is a second of counting, in which people are answered.
    return await asyncio.to_thread(_count, ask, used, chats, span)


def _count(ask: PageRequest, used: tuple[CallUse, ...], chats: Mapping[int, str], span: DaySpan) -> dict[str, Plot]:
    place = {day: number for number, day in enumerate(span.dates)}
    currency, rest = ask.site.settings.budget.currency, ask.t("usage_rest")
    dated = [(place.get(local_day(each.at, span.tz), -1), each) for each in used]
    spread = UsageByDay(tuple(pair for pair in dated if pair[0] >= 0), span.days)
    parts: Mapping[str, Callable[[CallUse], float]] = {
        ask.t("usage_fresh"): lambda each: each.prompt_tokens - each.cached_tokens,
        ask.t("usage_cached"): lambda each: each.cached_tokens,
        ask.t("usage_output"): lambda each: each.output_tokens,
    }
    series = {
        "day": {name: spread.sums(count) for name, count in parts.items()},
        "money": {currency: spread.sums(lambda each: each.money)},
        "chat": spread.groups(lambda each: chats.get(each.chat_id, f"#{each.chat_id}"), rest),
        "cause": spread.groups(lambda each: ask.named("cause", each.cause), rest),
    }
    labels = [f"{day:%m-%d}" for day in span.dates]
    return {name: {"labels": labels, "series": lines} for name, lines in series.items()}


def _tokens(used: CallUse) -> float:
    return used.prompt_tokens + used.output_tokens


def _days(ask: PageRequest) -> int:
    return max(1, ask.number("days", DAYS, MOST_DAYS))


PAGES = {"/usage": shown, "/usage.json": figures}


async def persona(ask: PageRequest) -> Response:
    """The files of each persona with their folder, the configured one first."""
    folders = ask.site.personas.items()
    found = [(name, folder.absolute(), await asyncio.to_thread(_files, folder)) for name, folder in folders]
    return render(ask, "persona.html", {"personas": found})


async def settings(ask: PageRequest) -> Response:
    """Every key with its value and where that comes from."""
    shown = await asyncio.to_thread(ask.site.shown)
    redactor = Redactor()

    def table(setting: ShownSetting) -> str:
        return setting.key.rpartition(".")[0]

    rows = [(setting, redactor.text(setting.value)) for setting in sorted(shown, key=table)]
    tables = [(name, tuple(each)) for name, each in groupby(rows, key=lambda row: table(row[0]))]
    return render(ask, "settings.html", {"tables": tables, "set": sum(each.origin != "default" for each in shown)})


def _files(folder: Path) -> list[tuple[str, str]]:
    paths = sorted(path for path in folder.rglob("*.md") if not path.name.startswith("."))
    return [
        (path.relative_to(folder).as_posix(), path.read_text("utf-8", errors="replace")[:MOST_CHARS]) for path in paths
    ]


SETTINGS_PAGES = {"/persona": persona, "/settings": settings}
