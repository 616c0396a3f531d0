"""`nuan usage`: what the model calls of some days used, as tables with bars or as JSON, beside a running nuan."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from rich.cells import cell_len, set_cell_size

from bot.cli.installation import Installation, make_words
from bot.cli.terminal import json_document
from bot.core.clock import SystemClock
from bot.core.models import CallUse
from bot.core.ports import Clock
from bot.core.sessions import ToldShare
from bot.money import DaySpan, UsageSum, daily_sums, largest_sums, sum_of
from bot.store.ledger import NO_CHAT
from bot.store.store import open_store

BAR_CELLS = 24
"""Cells of the longest bar."""

HIT_CELLS = 8
"""Cells of a bar of hits: full when all input came from the cache."""

FIGURE_CELLS = 10
"""Cells of a figure."""

NAME_CELLS = 24
"""Cells of a name."""

EIGHTHS = " ▏▎▍▌▋▊▉█"

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class UsageNames:
    """How chats and people are called, by their numbers."""

    chats: Mapping[int, str]
    people: Mapping[int, str]


async def show_usage(place: Installation, days: int, clock: Clock | None = None, *, as_json: bool = False) -> str:
    """What the model calls of the last `days` local days used."""
    words, language = make_words(place), place.settings.bot.language
    span = DaySpan.until((clock or SystemClock()).now(), days, words.default_tz)
    async with await open_store(place.data, frozenset(place.settings.bot.owners), read_only=True) as store:
        chats = {NO_CHAT: "nuan"} | {chat.id: chat.label for chat in await store.people.chats()}
        used, shares = await store.ledger.used(span.since), await store.feedback.told_shares(span.since)
        numbers = {each.person_id for each in used if each.person_id is not None}
        people = {number: (await store.people.person(number)).name for number in sorted(numbers)}
        currency = place.settings.budget.currency
        if as_json:
            return usage_json(used, shares, span, UsageNames(chats, people), currency)
        people = {number: f"#{number} {name}".strip() for number, name in people.items()}
        return usage_report(
            used, shares, span, UsageNames(chats, people), currency,
            lambda key, **values: words.messages.text(key, language, **values),
        )  # fmt: skip


def usage_report(
    used: tuple[CallUse, ...],
    shares: tuple[ToldShare, ...],
    span: DaySpan,
    names: UsageNames,
    currency: str,
    text: Callable[..., str],
) -> str:
    """Per day, then per chat, person and cause, the largest first; bars are tokens and hits.

    Last what memory put into the prompts, by the way it came.
    """
    whole, of_people = sum_of(used), tuple(each for each in used if each.person_id is not None)
    head = text(
        "usage_all", days=span.days, calls=whole.calls, tokens=whole.tokens, rate=f"{whole.hit_rate:.0%}",
        money=f"{whole.money:.4f} {currency}",
    )  # fmt: skip
    tables = (
        (text("usage_day"), {f"{day:%m-%d}": one for day, one in daily_sums(used, span).items()}),
        (text("usage_chat"), largest_sums(used, lambda each: names.chats.get(each.chat_id) or f"#{each.chat_id}")),
        (
            text("usage_person"),
            largest_sums(of_people, lambda each: names.people.get(each.person_id or 0) or f"#{each.person_id}"),
        ),
        (text("usage_cause"), largest_sums(used, lambda each: each.cause)),
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


def usage_json(
    used: tuple[CallUse, ...], shares: tuple[ToldShare, ...], span: DaySpan, names: UsageNames, currency: str
) -> str:
    """Sums in all, per day (every day of the span), chat, person and cause; what memory brought, by its way."""
    of_people = tuple(each for each in used if each.person_id is not None)
    chats, people = (
        largest_sums(used, lambda each: each.chat_id),
        largest_sums(of_people, lambda each: each.person_id or 0),
    )
    causes = largest_sums(used, lambda each: each.cause)
    return json_document({
        "first_day": f"{span.first}",
        "days": span.days,
        "currency": currency,
        "all": _sum_json(sum_of(used)),
        "by_day": [{"day": f"{day}"} | _sum_json(one) for day, one in daily_sums(used, span).items()],
        "by_chat": [{"chat": key, "name": names.chats.get(key)} | _sum_json(one) for key, one in chats.items()],
        "by_person": [{"person": key, "name": names.people.get(key)} | _sum_json(one) for key, one in people.items()],
        "by_cause": [{"cause": key} | _sum_json(one) for key, one in causes.items()],
        "brought": [asdict(share) for share in shares],
    })  # fmt: skip


def _sum_json(one: UsageSum) -> Json:
    return {
        "calls": one.calls, "input_tokens": one.prompt, "cached_tokens": one.cached, "output_tokens": one.output,
        "money": one.money,
    }  # fmt: skip
