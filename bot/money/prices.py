"""From tokens to money and to what a call may cost at most. Pure."""

import math
from dataclasses import dataclass
from datetime import tzinfo

from bot.config.model import AnyModel
from bot.config.settings import Settings
from bot.text.dates import day_start, month_start
from bot.types.capabilities import Capabilities
from bot.types.money import Limits, Price, Rate
from bot.types.prompt import Usage

MARGIN = 1.25
"""An estimate may be this much too low before a reservation no longer covers it (PROMPT_ECONOMICS 6: p95 12-14 %)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The most a call may use: tokens, and money at the uncached price."""

    tokens: int
    cost: float


def rate_of(model: AnyModel, can: Capabilities, public: Rate | None = None) -> Rate:
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


def limits(settings: Settings) -> Limits:
    """The configured limits."""
    budget = settings.budget
    return Limits(
        budget.day_money, budget.month_money, budget.day_tokens, budget.month_tokens, budget.total_money,
        budget.total_tokens, budget.chat_day_money, budget.chat_day_tokens, budget.person_day_money,
        budget.person_day_tokens, budget.chat_month_money, budget.chat_month_tokens, budget.person_month_money,
        budget.person_month_tokens,
    )  # fmt: skip


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
