"""Prices of models (configured, or from genai-prices at first use), costs and limits of calls, what is left out as a limit
comes nearer, and sums of what calls used."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Literal, TypeVar

from bot.config.models import ModelSettings
from bot.config.settings import Settings
from bot.core.errors import OverBudget
from bot.core.models import BudgetLimits, CallUse, Capabilities, Price, PriceAt, Usage
from bot.text.dates import day_start, local_day, moment, month_start

PricesAt = Callable[[datetime], object]

UNKNOWN_CAPABILITIES = Capabilities()

MARGIN = 1.25
"""An estimate may be this much too low before a reservation no longer covers it (PROMPT_ECONOMICS 6: p95 12-14 %)."""

BudgetStep = Literal["full", "small", "light", "over"]
"""As always; the smaller model; new logs on the light bootstrap as well; one polite line, then silence."""

BUDGET_STEPS: tuple[BudgetStep, ...] = ("full", "small", "light", "over")

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def public_rate(
    base_url: str,
    name: str,
    worth: float,
    now: int,
    can: Capabilities = UNKNOWN_CAPABILITIES,
    *,
    output: float | None = None,
) -> PriceAt | None:
    """What that model costs on that server by the public table, in a currency of which a dollar is `worth` so many.

    None where the table does not know server, model, or (`now`) the prices of input and output. Prices that grow with
    the prompt are taken at their first step: a companion's prompts are small. Where the table is silent about cached or
    written input they cost the provider's part of plain input. `output` is what output costs where it has no price.
    """
    prices_at = _find(base_url, name)
    if prices_at is None or _price(prices_at(_instant(now)), worth, can, output) is None:
        return None

    def rate(now: int) -> Price:
        return _price(prices_at(_instant(now)), worth, can, output) or Price(0.0, 0.0, 0.0, 0.0)

    return rate


def _instant(now: int) -> datetime:
    return datetime.fromtimestamp(now / 1000, UTC)


@lru_cache(maxsize=16)
def _find(base_url: str, name: str) -> PricesAt | None:
    """The table's entry for that model on that server; about .2 s and 30 MB at the first call."""
    try:
        from genai_prices import data_snapshot

        _, model = data_snapshot.get_snapshot().find_provider_model(name, None, None, base_url)
    except (LookupError, ImportError):
        return None
    return model.get_prices


def _price(found: object, worth: float, can: Capabilities, free: float | None = None) -> Price | None:
    plain, output = _amount(found, "input_mtok"), _amount(found, "output_mtok")
    output = free if output is None else output
    if plain is None or output is None:
        return None
    cached, written = _amount(found, "cache_read_mtok"), _amount(found, "cache_write_mtok")
    cached = plain * (1.0 if can.cached_ratio is None else can.cached_ratio) if cached is None else cached
    written = plain * (1.0 if can.written_ratio is None else can.written_ratio) if written is None else written
    parts = (plain, cached, output, written)
    return Price(*(part * worth for part in parts))


def _amount(found: object, name: str) -> float | None:
    """Dollars per million tokens; of steps the first."""
    value = getattr(found, name, None)
    value = getattr(value, "base", value)
    return None if value is None else float(value)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most a call may use: tokens, and money at the uncached price."""

    tokens: int
    cost: float


def rate_of(model: ModelSettings, can: Capabilities, public: PriceAt | None = None) -> PriceAt:
    """What that model's tokens cost at an instant: as configured, else by the public table, else nothing.

    Cached and written input without a price of their own cost the provider's part of the price of uncached input.
    """

    def rate(now: int) -> Price:
        table = public(now) if public is not None else None
        plain = _first(model.price_input, table.input if table else None)
        # The table's further prices go with its own price of plain input, not with the operator's.
        same = table if model.price_input is None else None
        cached = _first(model.price_cached, same.cached if same else _part(plain, can.cached_ratio))
        written = _first(model.price_written, same.written if same else _part(plain, can.written_ratio))
        return Price(plain, cached, _first(model.price_output, table.output if table else None), written)

    return rate


def _first(*values: float | None) -> float:
    return next((value for value in values if value is not None), 0.0)


def _part(plain: float, ratio: float | None) -> float:
    return plain if ratio is None else plain * ratio


def limits(settings: Settings) -> BudgetLimits:
    """The configured limits."""
    budget = settings.budget
    return BudgetLimits(
        budget.day_money,
        budget.month_money,
        budget.day_tokens,
        budget.month_tokens,
        budget.total_money,
        budget.total_tokens,
        budget.chat_day_money,
        budget.chat_day_tokens,
        budget.person_day_money,
        budget.person_day_tokens,
        budget.chat_month_money,
        budget.chat_month_tokens,
        budget.person_month_money,
        budget.person_month_tokens,
    )


def cost(usage: Usage, rate: Price) -> float:
    """What a call cost, in the configured currency."""
    plain = usage.prompt_tokens - usage.cached_tokens - usage.written_tokens
    prompt = plain * rate.input + usage.cached_tokens * rate.cached + usage.written_tokens * rate.written
    return (prompt + usage.output_tokens * rate.output) / 1_000_000


def estimate(prompt_tokens: int, max_output: int, rate: Price) -> Estimate:
    """What to reserve for a call: the prompt with a margin, at its dearest price, and the longest answer."""
    prompt, dearest = math.ceil(prompt_tokens * MARGIN), max(rate.input, rate.written)
    return Estimate(prompt + max_output, (prompt * dearest + max_output * rate.output) / 1_000_000)


def periods(now: int, tz: tzinfo) -> tuple[int, int]:
    """When the local day and the calendar month began, ms."""
    return day_start(now, tz), month_start(now, tz)


def later_step(one: BudgetStep, other: BudgetStep) -> BudgetStep:
    """Of two steps the one that does without more."""
    return max(one, other, key=BUDGET_STEPS.index)


def cheaper(step: BudgetStep, *, has_small: bool) -> BudgetStep | None:
    """What may still be tried where a call at that step does not fit into a limit; None: nothing."""
    if step == "full" and has_small:
        return "small"
    return "light" if step in ("full", "small") else None


def step_of(share: float, small_at: float, light_at: float, *, has_small: bool) -> BudgetStep:
    """The step that belongs to a limit of which `share` is used; without a smaller model its step is left out."""
    if share >= 1.0:
        return "over"
    if share >= light_at:
        return "light"
    return "small" if share >= small_at and has_small else "full"


def shortage(error: OverBudget, text: Callable[..., str]) -> str:
    """The limit, and where it is not used up what is used, what calls under way hold and what one more would take."""
    limit = text(f"limit_{error.limit}")
    if error.used >= 1:
        return limit
    parts = {"used": error.used, "held": error.held}
    shown = {name: f"{math.floor(part * 100)}%" for name, part in parts.items()}
    return text("limit_short", limit=limit, needed=f"{math.ceil(error.needed * 100)}%", **shown)


@dataclass(frozen=True, slots=True)
class DaySpan:
    """So many local days from the first."""

    first: date
    days: int
    tz: tzinfo

    @classmethod
    def until(cls, now: int, days: int, tz: tzinfo) -> "DaySpan":
        """The last `days` days, today included; `now` in ms."""
        return cls(local_day(now, tz) - timedelta(days=days - 1), days, tz)

    @property
    def dates(self) -> tuple[date, ...]:
        """Each of them."""
        return tuple(self.first + timedelta(days=number) for number in range(self.days))

    @property
    def since(self) -> int:
        """When the first begins, ms."""
        return moment(self.first, 0, self.tz)


@dataclass(frozen=True, slots=True)
class UsageSum:
    """Calls, tokens and money of a day, a chat or a cause."""

    calls: int
    prompt: int
    cached: int
    output: int
    money: float

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.prompt + self.output

    @property
    def hit_rate(self) -> float:
        """The part of the input that came from the provider's cache, 0 to 1."""
        return self.cached / self.prompt if self.prompt else 0.0


def sum_of(used: Iterable[CallUse]) -> UsageSum:
    """The sum of these calls."""
    calls = tuple(used)
    return UsageSum(
        len(calls),
        sum(each.prompt_tokens for each in calls),
        sum(each.cached_tokens for each in calls),
        sum(each.output_tokens for each in calls),
        sum(each.money for each in calls),
    )


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, in the order in which keys come."""
    groups: dict[K, list[T]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return groups


def daily_sums(used: Iterable[CallUse], span: DaySpan) -> dict[date, UsageSum]:
    """The sum of each day, also of days without a call."""
    by_day: Mapping[date, list[CallUse]] = grouped(used, lambda each: local_day(each.at, span.tz))
    return {day: sum_of(by_day.get(day, ())) for day in sorted({*span.dates, *by_day})}


def largest_sums(used: Iterable[CallUse], key: Callable[[CallUse], K]) -> dict[K, UsageSum]:
    """The sum of each group, most tokens first."""
    sums = {group: sum_of(calls) for group, calls in grouped(used, key).items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1].tokens, f"{item[0]}")))
