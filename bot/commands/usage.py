"""What the model calls of some days used, as tables with bars for the terminal. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from rich.cells import cell_len, set_cell_size

from bot.text.dates import local_day
from bot.types.brought import Share
from bot.types.money import Used

BAR = 24
"""Cells of the longest bar."""

HITS = 8
"""Cells of a bar of hits: full when all input came from the cache."""

CELL = 10
"""Cells of a figure."""

NAME = 24
"""Cells of a name."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Sum:
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
class Names:
    """How chats and people are called, by their numbers."""

    chats: Mapping[int, str]
    people: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Span:
    """So many local days from the first."""

    first: date
    days: int
    tz: tzinfo


def add(used: Iterable[Used]) -> Sum:
    """The sum of these calls."""
    calls = tuple(used)
    return Sum(
        len(calls), sum(each.prompt_tokens for each in calls), sum(each.cached_tokens for each in calls),
        sum(each.output_tokens for each in calls), sum(each.money for each in calls),
    )  # fmt: skip


def usage_report(
    used: tuple[Used, ...], shares: tuple[Share, ...], span: Span, names: Names, currency: str, text: Callable[..., str]
) -> str:
    """Per day, then per chat, person and cause, the largest first; bars are tokens and hits.

    Last what memory put into the prompts, by the way it came.
    """
    first, days, tz = span.first, span.days, span.tz
    by_day = {first + timedelta(days=number): list[Used]() for number in range(days)}
    by_chat: dict[str, list[Used]] = {}
    by_person: dict[str, list[Used]] = {}
    by_cause: dict[str, list[Used]] = {}
    for each in used:
        by_day.setdefault(local_day(each.at, tz), []).append(each)
        by_chat.setdefault(names.chats.get(each.chat_id) or f"#{each.chat_id}", []).append(each)
        if each.person_id is not None:
            by_person.setdefault(names.people.get(each.person_id) or f"#{each.person_id}", []).append(each)
        by_cause.setdefault(each.cause, []).append(each)
    whole = add(used)
    head = text(
        "usage_all", days=days, calls=whole.calls, tokens=whole.tokens, rate=f"{whole.hit_rate:.0%}",
        money=f"{whole.money:.4f} {currency}",
    )  # fmt: skip
    tables = (
        (text("usage_day"), {f"{day:%m-%d}": add(calls) for day, calls in sorted(by_day.items())}),
        (text("usage_chat"), _largest(by_chat)),
        (text("usage_person"), _largest(by_person)),
        (text("usage_cause"), _largest(by_cause)),
    )
    return "\n".join(
        (
            head,
            *(line for title, sums in tables if sums for line in ("", *_table(title, sums, text))),
            *(("", *brought_report(shares, text)) if shares else ()),
        )
    )


def brought_report(shares: tuple[Share, ...], text: Callable[..., str]) -> list[str]:
    """What memory put into prompts, by the way it came: tokens, turns and pieces; each counts once, where it entered
    a log."""
    most, width = max(share.tokens for share in shares), max(cell_len(share.way) for share in shares)
    width = min(NAME, max(width, cell_len(text("usage_brought"))))
    heads = (text("usage_tokens"), text("usage_turns"), text("usage_pieces"))
    return [
        f"{set_cell_size(text('usage_brought'), width)}  {' ' * BAR}  {_row(*heads)}",
        *(
            f"{set_cell_size(share.way, width)}  {bar(share.tokens, most)}  "
            + _row(f"{share.tokens}", f"{share.turns}", f"{share.pieces}")
            for share in shares
        ),
    ]


def _largest(groups: Mapping[str, list[Used]]) -> dict[str, Sum]:
    sums = {name: add(calls) for name, calls in groups.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1].tokens, item[0])))


def _table(title: str, sums: Mapping[str, Sum], text: Callable[..., str]) -> list[str]:
    most = max(one.tokens for one in sums.values())
    width = min(NAME, max(cell_len(name) for name in (title, *sums)))
    heads = (text("usage_tokens"), text("usage_calls"), text("usage_hits"), text("usage_money"))
    lines = [f"{set_cell_size(title, width)}  {' ' * BAR}  " + _row(*heads[:3]) + f"  {' ' * HITS}" + _row(heads[3])]
    for name, one in sums.items():
        cells = (f"{one.tokens}", f"{one.calls}", f"{one.hit_rate:.0%}")
        hits = bar(one.cached, one.prompt, HITS)
        row = f"{bar(one.tokens, most)}  {_row(*cells)}  {hits}{_row(f'{one.money:.4f}')}"
        lines.append(f"{set_cell_size(name, width)}  {row}")
    return lines


def _row(*cells: str) -> str:
    return "".join(" " * max(0, CELL - cell_len(cell)) + cell for cell in cells)


def bar(part: int, whole: int, width: int = BAR) -> str:
    """A bar of `width` cells, filled to an eighth of a cell; what is not nothing shows at least that eighth."""
    eighths = max(round(8 * width * part / whole), 1) if part and whole else 0
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(width)
