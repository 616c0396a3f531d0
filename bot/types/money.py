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
    """Limits in money and in tokens; None means no limit.

    Per local day and calendar month and for ever over everything, per local day for each chat and for each person.
    """

    day_money: float | None
    month_money: float | None
    day_tokens: int | None
    month_tokens: int | None
    total_money: float | None = None
    total_tokens: int | None = None
    chat_money: float | None = None
    chat_tokens: int | None = None
    person_money: float | None = None
    person_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """What one model call used: when (ms), for which chat and why, its tokens and its money."""

    at: int
    chat_id: int
    cause: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float


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
