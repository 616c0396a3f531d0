"""The pages of figures: the overview (who talked, what is due, what it cost), and usage day by day as plots."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.responses import JSONResponse, Response

from bot.core.models import CallUse
from bot.money import DaySpan, grouped
from bot.text.dates import local_day
from bot.web.requests import PageRequest, render

DAYS, MOST_DAYS = 30, 366
SERIES = 6
"""Lines of one plot; what is less is one line together."""

Plot = dict[str, object]

OVERVIEW_DAYS, OVERVIEW_ROWS = 14, 8
"""Days of the overview's plots, and rows of each of its lists."""


@dataclass(frozen=True, slots=True)
class PeriodCost:
    """What the calls of the last `days` local days came to; `hit` is the share of the input that was cached, 0 to 1."""

    days: int
    tokens: int
    money: float
    hit: float


async def show_overview(ask: PageRequest) -> Response:
    """Who talked, what it cost, what is due."""
    site, inspector = ask.site, ask.site.store.inspector
    now, lease = site.clock.now(), site.settings.store.lease_seconds
    spans = [DaySpan.until(now, days, site.tz) for days in (1, 7, 30)]
    used = await site.store.ledger.used_by_cause(spans[-1].since)
    reminders, promises = await inspector.reminders(OVERVIEW_ROWS), await inspector.promises(OVERVIEW_ROWS)
    dated = [plan for plan in promises if plan.due_at is not None and plan.state in ("pending", "ongoing")]
    values = {
        "talkers": await inspector.talkers(OVERVIEW_ROWS),
        "costs": await asyncio.to_thread(lambda: [_cost(used, span) for span in spans]),
        "due": sorted((*reminders, *dated), key=lambda plan: plan.due_at or 0)[:OVERVIEW_ROWS],
        "now": now,
        "plot_days": OVERVIEW_DAYS,
        "money": site.settings.budget.currency,
        "processes": [(each, each.silent_ms(lease) // 1000) for each in await site.store.processes.all()],
        "shared": bool(site.store.url),
    }
    return render(ask, "overview.html", values)


def _cost(used: tuple[CallUse, ...], span: DaySpan) -> PeriodCost:
    mine = [each for each in used if each.at >= span.since]
    prompt = sum(each.prompt_tokens for each in mine)
    cached = sum(each.cached_tokens for each in mine)
    tokens = prompt + sum(each.output_tokens for each in mine)
    return PeriodCost(span.days, tokens, sum(each.money for each in mine), cached / prompt if prompt else 0)


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


async def show_usage(ask: PageRequest) -> Response:
    """The page: plots drawn from the figures, and the same in tables."""
    plots = await _plots(ask)
    values = {"days": _days(ask), "plots": plots, "money": ask.site.settings.budget.currency}
    return render(ask, "usage.html", values)


async def show_usage_figures(ask: PageRequest) -> Response:
    """The figures of the plots."""
    return JSONResponse(await _plots(ask))


async def _plots(ask: PageRequest) -> dict[str, Plot]:
    site = ask.site
    span, ledger = DaySpan.until(site.clock.now(), _days(ask), site.tz), site.store.ledger
    largest = await ledger.largest_chats(span.since, SERIES + 1)
    shown = largest if len(largest) <= SERIES else largest[: SERIES - 1]
    used, own = await ledger.used_by_cause(span.since), await ledger.used(span.since, shown)
    chats = await site.store.inspector.chat_labels(shown)
    # A year of a busy installation is a while of counting, in which people are answered.
    return await asyncio.to_thread(_count, ask, used, (own, chats, len(largest) > len(shown)), span)


def _by_day(used: tuple[CallUse, ...], span: DaySpan) -> UsageByDay:
    place = {day: number for number, day in enumerate(span.dates)}
    dated = [(place.get(local_day(each.at, span.tz), -1), each) for each in used]
    return UsageByDay(tuple(pair for pair in dated if pair[0] >= 0), span.days)


def _count(
    ask: PageRequest,
    used: tuple[CallUse, ...],
    largest: tuple[tuple[CallUse, ...], Mapping[int, str], bool],
    span: DaySpan,
) -> dict[str, Plot]:
    """The plots; `largest` are the calls of the chats that are shown, their names, and whether there are others."""
    currency, rest = ask.site.settings.budget.currency, ask.t("usage_rest")
    own, names, more = largest
    spread = _by_day(used, span)
    chats = _by_day(own, span).groups(lambda each: names.get(each.chat_id, f"#{each.chat_id}"), rest)
    if more:
        told = [sum(lines[day] for lines in chats.values()) for day in range(span.days)]
        chats[rest] = [round(tokens - told[day], 6) for day, tokens in enumerate(spread.sums(_tokens))]
    parts: Mapping[str, Callable[[CallUse], float]] = {
        ask.t("usage_fresh"): lambda each: each.prompt_tokens - each.cached_tokens,
        ask.t("usage_cached"): lambda each: each.cached_tokens,
        ask.t("usage_output"): lambda each: each.output_tokens,
    }
    series = {
        "day": {name: spread.sums(count) for name, count in parts.items()},
        "money": {currency: spread.sums(lambda each: each.money)},
        "cache": {ask.t("usage_hit"): _hits(spread)},
        "chat": chats,
        "cause": spread.groups(lambda each: ask.named("cause", each.cause), rest),
    }
    labels = [f"{day:%m-%d}" for day in span.dates]
    return {name: {"labels": labels, "series": lines} for name, lines in series.items()}


def _hits(spread: UsageByDay) -> list[float]:
    """How much of each day's input was cached, in percent."""
    pairs = zip(spread.sums(lambda each: each.cached_tokens), spread.sums(lambda each: each.prompt_tokens), strict=True)
    return [round(100 * cached / prompt, 1) if prompt else 0.0 for cached, prompt in pairs]


def _tokens(used: CallUse) -> float:
    return used.prompt_tokens + used.output_tokens


def _days(ask: PageRequest) -> int:
    return max(1, ask.number("days", DAYS, MOST_DAYS))
