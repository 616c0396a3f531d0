"""What the model calls of some days used, as tables with bars for the terminal or as JSON. Pure."""

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta, tzinfo
from typing import TypeVar

from rich.cells import cell_len, set_cell_size

from bot.core.money import CallUse
from bot.core.sessions import ToldShare
from bot.text.dates import local_day

BAR_CELLS = 24
"""Cells of the longest bar."""

HIT_CELLS = 8
"""Cells of a bar of hits: full when all input came from the cache."""

FIGURE_CELLS = 10
"""Cells of a figure."""

NAME_CELLS = 24
"""Cells of a name."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


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


@dataclass(frozen=True, slots=True)
class UsageNames:
    """How chats and people are called, by their numbers."""

    chats: Mapping[int, str]
    people: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class UsageDays:
    """So many local days from the first."""

    first: date
    days: int
    tz: tzinfo


def sum_of(used: Iterable[CallUse]) -> UsageSum:
    """The sum of these calls."""
    calls = tuple(used)
    return UsageSum(
        len(calls), sum(each.prompt_tokens for each in calls), sum(each.cached_tokens for each in calls),
        sum(each.output_tokens for each in calls), sum(each.money for each in calls),
    )  # fmt: skip


def usage_report(
    used: tuple[CallUse, ...],
    shares: tuple[ToldShare, ...],
    span: UsageDays,
    names: UsageNames,
    currency: str,
    text: Callable[..., str],
) -> str:
    """Per day, then per chat, person and cause, the largest first; bars are tokens and hits.

    Last what memory put into the prompts, by the way it came.
    """
    first, days, tz = span.first, span.days, span.tz
    by_day = {first + timedelta(days=number): list[CallUse]() for number in range(days)}
    by_chat: dict[str, list[CallUse]] = {}
    by_person: dict[str, list[CallUse]] = {}
    by_cause: dict[str, list[CallUse]] = {}
    for each in used:
        by_day.setdefault(local_day(each.at, tz), []).append(each)
        by_chat.setdefault(names.chats.get(each.chat_id) or f"#{each.chat_id}", []).append(each)
        if each.person_id is not None:
            by_person.setdefault(names.people.get(each.person_id) or f"#{each.person_id}", []).append(each)
        by_cause.setdefault(each.cause, []).append(each)
    whole = sum_of(used)
    head = text(
        "usage_all", days=days, calls=whole.calls, tokens=whole.tokens, rate=f"{whole.hit_rate:.0%}",
        money=f"{whole.money:.4f} {currency}",
    )  # fmt: skip
    tables = (
        (text("usage_day"), {f"{day:%m-%d}": sum_of(calls) for day, calls in sorted(by_day.items())}),
        (text("usage_chat"), _largest_sums(by_chat)),
        (text("usage_person"), _largest_sums(by_person)),
        (text("usage_cause"), _largest_sums(by_cause)),
    )
    return "\n".join(
        (
            head,
            *(line for title, sums in tables if sums for line in ("", *_table(title, sums, text))),
            *(("", *brought_report(shares, text)) if shares else ()),
        )
    )


def brought_report(shares: tuple[ToldShare, ...], text: Callable[..., str]) -> list[str]:
    """What memory put into prompts, by the way it came: tokens, turns and pieces; each counts once, where it entered
    a log."""
    most, width = max(share.tokens for share in shares), max(cell_len(share.way) for share in shares)
    width = min(NAME_CELLS, max(width, cell_len(text("usage_brought"))))
    heads = (text("usage_tokens"), text("usage_turns"), text("usage_pieces"))
    return [
        f"{set_cell_size(text('usage_brought'), width)}  {' ' * BAR_CELLS}  {_row(*heads)}",
        *(
            f"{set_cell_size(share.way, width)}  {bar(share.tokens, most)}  "
            + _row(f"{share.tokens}", f"{share.turns}", f"{share.pieces}")
            for share in shares
        ),
    ]


def _largest_sums(groups: Mapping[str, list[CallUse]]) -> dict[str, UsageSum]:
    sums = {name: sum_of(calls) for name, calls in groups.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1].tokens, item[0])))


def _table(title: str, sums: Mapping[str, UsageSum], text: Callable[..., str]) -> list[str]:
    most = max(one.tokens for one in sums.values())
    width = min(NAME_CELLS, max(cell_len(name) for name in (title, *sums)))
    heads = (text("usage_tokens"), text("usage_calls"), text("usage_hits"), text("usage_money"))
    lines = [
        f"{set_cell_size(title, width)}  {' ' * BAR_CELLS}  "
        + _row(*heads[:3])
        + f"  {' ' * HIT_CELLS}"
        + _row(heads[3])
    ]
    for name, one in sums.items():
        cells = (f"{one.tokens}", f"{one.calls}", f"{one.hit_rate:.0%}")
        hits = bar(one.cached, one.prompt, HIT_CELLS)
        row = f"{bar(one.tokens, most)}  {_row(*cells)}  {hits}{_row(f'{one.money:.4f}')}"
        lines.append(f"{set_cell_size(name, width)}  {row}")
    return lines


def _row(*cells: str) -> str:
    return "".join(" " * max(0, FIGURE_CELLS - cell_len(cell)) + cell for cell in cells)


def bar(part: int, whole: int, width: int = BAR_CELLS) -> str:
    """A bar of `width` cells, filled to an eighth of a cell; what is not nothing shows at least that eighth."""
    eighths = max(round(8 * width * part / whole), 1) if part and whole else 0
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(width)


K = TypeVar("K", bound=Hashable)

Json = dict[str, object]


def usage_json(
    used: tuple[CallUse, ...], shares: tuple[ToldShare, ...], span: UsageDays, names: UsageNames, currency: str
) -> str:
    """Sums in all, per day (every day of the span), chat, person and cause; what memory brought, by its way."""
    first, days, tz = span.first, span.days, span.tz
    by_day = {first + timedelta(days=number): list[CallUse]() for number in range(days)}
    by_day |= _grouped(used, lambda each: local_day(each.at, tz))
    chats = _grouped(used, lambda each: each.chat_id)
    people = _grouped(tuple(each for each in used if each.person_id is not None), lambda each: each.person_id or 0)
    told: Json = {
        "first_day": f"{first}",
        "days": days,
        "currency": currency,
        "all": _sum_json(used),
        "by_day": [{"day": f"{day}"} | _sum_json(calls) for day, calls in sorted(by_day.items())],
        "by_chat": [
            {"chat": key, "name": names.chats.get(key)} | _sum_json(calls) for key, calls in _largest_groups(chats)
        ],
        "by_person": [
            {"person": key, "name": names.people.get(key)} | _sum_json(calls) for key, calls in _largest_groups(people)
        ],
        "by_cause": [
            {"cause": key} | _sum_json(calls) for key, calls in _largest_groups(_grouped(used, lambda each: each.cause))
        ],
        "brought": [asdict(share) for share in shares],
    }
    return json.dumps(told, ensure_ascii=False, indent=2)


def _grouped(used: tuple[CallUse, ...], key: Callable[[CallUse], K]) -> dict[K, list[CallUse]]:
    groups: dict[K, list[CallUse]] = {}
    for each in used:
        groups.setdefault(key(each), []).append(each)
    return groups


def _largest_groups(groups: dict[K, list[CallUse]]) -> list[tuple[K, list[CallUse]]]:
    return sorted(groups.items(), key=lambda item: (-sum_of(item[1]).tokens, f"{item[0]}"))


def _sum_json(calls: tuple[CallUse, ...] | list[CallUse]) -> Json:
    one = sum_of(calls)
    return {
        "calls": one.calls, "input_tokens": one.prompt, "cached_tokens": one.cached, "output_tokens": one.output,
        "money": one.money,
    }  # fmt: skip
