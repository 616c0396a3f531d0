"""Sums of what model calls used, by day, chat, person or cause. Pure; it formats nothing."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from typing import TypeVar

from bot.core.money import CallUse
from bot.text.dates import local_day, moment

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


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
        len(calls), sum(each.prompt_tokens for each in calls), sum(each.cached_tokens for each in calls),
        sum(each.output_tokens for each in calls), sum(each.money for each in calls),
    )  # fmt: skip


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
