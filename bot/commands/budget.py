"""`.ai budget`: what was spent and may be spent, shown, set and counted anew."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.commands.command import Invocation, command
from bot.commands.settings import (
    SETTING_WORDS,
    InvalidWords,
    apply_wish,
    day_minute,
    keys_of,
    parse_setting,
    setting_lines,
    wrong_words,
)
from bot.core.money import BUDGET_PERIODS, BudgetLimits, BudgetPeriod, BudgetPressure, Spend
from bot.core.ports import SettingChanges
from bot.money.budget import BudgetStep, limits, periods, shortage


@dataclass(frozen=True, slots=True)
class Spending:
    """What was used today and this month, in all, and today and this month here and for this person."""

    day: Spend
    month: Spend
    total: Spend
    chat: Spend
    person: Spend
    chat_month: Spend
    person_month: Spend


def budget_report(spent: Spending, limits: BudgetLimits, currency: str, text: Callable[..., str]) -> str:
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


def step_report(step: BudgetStep | Literal["silent"], pressure: BudgetPressure, text: Callable[..., str]) -> str:
    """What is done without now, and the limit that comes nearest."""
    limit = text(f"limit_{pressure.limit}") if pressure.limit else ""
    near = text("budget_now_limit", limit=limit, share=f"{pressure.share:.0%}") if limit else ""
    return text("budget_now", step=text(f"step_{step}"), limit=near)


COUNT_RESETS: dict[str, BudgetPeriod] = {f"reset{period}": period for period in BUDGET_PERIODS}
"""Words that have a limit count from now on."""


@command(
    "budget",
    "[show | currency CODE | pricein N | priceout N | day N | month N | total N | maxtokens N | notify on|off | "
    "resetday | resetmonth | resettotal | reset]",
    who="own", topic="house", private=True, example="day 5",
)  # fmt: skip
async def budget(call: Invocation) -> str:
    """Show, set and count anew; only owners may do more than look, and words that set nothing change nothing."""
    words = call.folded
    if words not in ((), ("show",)) and not call.person.is_owner:
        return call.text("not_allowed")
    if len(words) == 1 and words[0] in COUNT_RESETS:
        return await _count_anew(call, COUNT_RESETS[words[0]])
    wish = parse_setting("budget", call.words, call.services.written)
    if isinstance(wish, InvalidWords):
        return wrong_words(call, wish)
    if not wish:
        return await _shown(call)
    if problem := await apply_wish(call, wish):
        return _with_both_prices(call, problem, wish)
    lines = await setting_lines(call, [key for key in keys_of("budget", call.services.written) if key in wish])
    if "budget.currency" in wish:
        lines.append(call.text("set_currency_note"))
    return "\n".join(lines)


def _with_both_prices(call: Invocation, problem: str, wish: SettingChanges) -> str:
    """Why a wish was refused; who named one price alone, and may not, is told how to name both."""
    if sum("price" in key for key in wish) != 1:
        return problem
    return f"{problem}\n{call.text('set_both', example=SETTING_WORDS['budget']['pricein'].example)}"


async def _count_anew(call: Invocation, period: BudgetPeriod) -> str:
    await call.store.ledger.reset_budget(period, _begun(call)[period], call.person.id, call.now)
    return call.text(f"budget_anew_{period}")


def _begun(call: Invocation) -> dict[BudgetPeriod, int]:
    """When each period began, in milliseconds."""
    texts = call.services.texts
    day, month = periods(call.now, texts.default_tz)
    return {"day": day, "month": month, "total": 0}


async def _shown(call: Invocation) -> str:
    settings, ledger, failures = call.services.written, call.store.ledger, call.store.failures
    begun, chat, person = _begun(call), call.chat.id, call.person.id
    day, month = begun["day"], begun["month"]
    spent = Spending(
        await ledger.spend(day, period="day"), await ledger.spend(month, period="month"),
        await ledger.spend(0, period="total"),
        await ledger.spend(day, chat, period="day"), await ledger.spend(day, person_id=person, period="day"),
        await ledger.spend(month, chat, period="month"),
        await ledger.spend(month, person_id=person, period="month"),
    )  # fmt: skip
    anew = await ledger.budget_resets()
    step, pressure = await call.services.planner.step(chat, person, call.now)
    since = max(day, anew["day"].at if "day" in anew else 0)
    over = step == "over" or await failures.met_limit(chat, person, since)
    told = over and await failures.told_since(chat, person, since)
    now = step_report("silent" if told else "over" if over else step, pressure, call.text)
    refused = await failures.last_shortage(chat, person, since) if over else None
    if refused is not None and refused.used < 1:
        now += "\n" + call.text("budget_refused", limit=shortage(refused, call.text))
    report = budget_report(spent, limits(settings), settings.budget.currency, call.text)
    return "\n".join((now, report, *await _said_in_chats(call, begun)))


async def _said_in_chats(call: Invocation, begun: dict[BudgetPeriod, int]) -> list[str]:
    """What is set in chats, and which counts began anew; for owners alone, since it names who did."""
    if not call.person.is_owner:
        return []
    said = {one.key for one in await call.store.settings.all()}
    lines = await setting_lines(call, [key for key in keys_of("budget", call.services.written) if key in said])
    for period, anew in (await call.store.ledger.budget_resets()).items():
        if anew.at >= begun[period]:
            name = anew.name or call.text("set_somebody")
            lines.append(call.text(f"budget_since_{period}", name=name, at=day_minute(anew.at, call.tz)))
    return lines
