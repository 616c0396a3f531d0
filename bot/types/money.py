"""Prices, limits and what was spent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens in the configured currency: input uncached and cached, output, input cached anew."""

    input: float
    cached: float
    output: float
    written: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per local day and calendar month, in money and in tokens; None means no limit."""

    day_money: float | None
    month_money: float | None
    day_tokens: int | None
    month_tokens: int | None


@dataclass(frozen=True, slots=True)
class Spend:
    """What was used since `since`, ms, reservations in flight included."""

    since: int
    money: float
    tokens: int
    calls: int
    prompt_tokens: int
    cached_tokens: int
    reserved_money: float
    reserved_tokens: int
