"""What was used, beside the limits, shown to people. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.money.degrade import Step
from bot.types.money import Limits, Pressure, Spend


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used today and this month, in all, and today and this month here and for this person."""

    day: Spend
    month: Spend
    total: Spend
    chat: Spend
    person: Spend
    chat_month: Spend
    person_month: Spend


def budget_report(spent: Spent, limits: Limits, currency: str, text: Callable[..., str]) -> str:
    """What was spent, beside the limits; of chat, person and total only where there is a limit."""
    day, month = spent.day, spent.month

    def money(value: float | None) -> str:
        return text("budget_free") if value is None else f"{value:.4f} {currency}"

    def tokens(value: int | None) -> str:
        return text("budget_free") if value is None else str(value)

    further = (
        ("budget_total", spent.total, limits.total_money, limits.total_tokens),
        ("budget_chat", spent.chat, limits.chat_money, limits.chat_tokens),
        ("budget_person", spent.person, limits.person_money, limits.person_tokens),
        ("budget_chat_month", spent.chat_month, limits.chat_month_money, limits.chat_month_tokens),
        ("budget_person_month", spent.person_month, limits.person_month_money, limits.person_month_tokens),
    )
    return "\n".join(
        (
            text("budget_day", money=money(day.money), limit=money(limits.day_money), tokens=day.tokens,
                 token_limit=tokens(limits.day_tokens), calls=day.calls),
            text("budget_month", money=money(month.money), limit=money(limits.month_money), tokens=month.tokens,
                 token_limit=tokens(limits.month_tokens), calls=month.calls),
            *(
                text("budget_line", name=text(key), money=money(used.money), limit=money(most), tokens=used.tokens,
                     token_limit=tokens(count), calls=used.calls)
                for key, used, most, count in further if most is not None or count is not None
            ),
            text("budget_reserved", money=money(day.reserved_money), tokens=day.reserved_tokens),
        )
    )  # fmt: skip


def step_report(step: Step | Literal["silent"], pressure: Pressure, text: Callable[..., str]) -> str:
    """What is done without now, and the limit that comes nearest."""
    limit = text(f"limit_{pressure.limit}") if pressure.limit else ""
    near = text("budget_now_limit", limit=limit, share=f"{pressure.share:.0%}") if limit else ""
    return text("budget_now", step=text(f"step_{step}"), limit=near)
