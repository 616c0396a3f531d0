"""Prices, budget limits and what was spent; how often people may be answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

BudgetPeriod = Literal["day", "month", "total"]
"""What a limit counts over: a local day, a calendar month, or for ever."""

BUDGET_PERIODS: tuple[BudgetPeriod, ...] = ("day", "month", "total")


@dataclass(frozen=True, slots=True)
class BudgetReset:
    """Who had the limits of a period count anew ("": nobody known any more), and when, ms."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Price:
    """Money per million tokens in the configured currency: input uncached and cached, output, input cached anew."""

    input: float
    cached: float
    output: float
    written: float


PriceAt = Callable[[int], Price]
"""The prices at an instant, ms: some providers ask more at certain hours."""


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """Limits in money and in tokens; None means no limit.

    Per local day and calendar month and for ever over everything, per local day and calendar month for each chat and
    for each person.
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
    chat_month_money: float | None = None
    chat_month_tokens: int | None = None
    person_month_money: float | None = None
    person_month_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallUse:
    """What one model call used: when (ms), for which chat and why, tokens, money, and for whom (digests: nobody)."""

    at: int
    chat_id: int
    cause: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float
    person_id: int | None = None


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


@dataclass(frozen=True, slots=True)
class BudgetPressure:
    """The fullest limit that a call would count for: its name, and the part of it that is used, from 0."""

    share: float = 0.0
    limit: str = ""


@dataclass(frozen=True, slots=True)
class RecentCall:
    """One call as it is listed: when (ms), why, which model, tokens, money, how long it took (ms), how it ended.

    `written_tokens` of the prompt were cached anew, `reasoning_tokens` of the output were thoughts. `counted` is who
    counted.
    """

    at: int
    cause: str
    model: str
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    money: float
    ms: int
    state: str
    written_tokens: int = 0
    reasoning_tokens: int = 0
    counted: str = ""


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The limits for one occasion to answer; None is no limit.

    `occasion` is the number of the first message being answered: all calls made for it count once. The local day
    goes from `day_since` to `day_until`, ms.
    """

    occasion: int
    day_since: int
    day_until: int
    cooldown_ms: int | None = None
    person_minute: int | None = None
    person_day: int | None = None
    global_minute: int | None = None
    global_day: int | None = None
