"""`.ai budget`: what was spent and may be spent, shown, set and counted anew."""

from collections.abc import Callable, Mapping
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
from bot.core.models import BUDGET_PERIODS, BudgetPeriod, BudgetPressure, Spend
from bot.core.ports import SettingChanges
from bot.money import BudgetStep, limits, periods, shortage

COUNT_RESETS: dict[str, BudgetPeriod] = {f"reset{period}": period for period in BUDGET_PERIODS}
"""Words that have a limit count from now on."""


async def budget_report(call: Invocation, begun: Mapping[BudgetPeriod, int]) -> str:
    """What was spent since each period began, beside the limits; of chat, person and total only where there is one."""
    settings, spend, text = call.services.written, call.store.ledger.spend, call.text
    most, currency, chat, person = limits(settings), settings.budget.currency, call.chat.id, call.person.id
    day, month = await spend(begun["day"], period="day"), await spend(begun["month"], period="month")
    further: tuple[tuple[str, BudgetPeriod, int | None, int | None, float | None, int | None], ...] = (
        ("budget_total", "total", None, None, most.total_money, most.total_tokens),
        ("budget_chat", "day", chat, None, most.chat_money, most.chat_tokens),
        ("budget_person", "day", None, person, most.person_money, most.person_tokens),
        ("budget_chat_month", "month", chat, None, most.chat_month_money, most.chat_month_tokens),
        ("budget_person_month", "month", None, person, most.person_month_money, most.person_month_tokens),
    )

    def line(key: str, used: Spend, money: float | None, tokens: int | None, **more: object) -> str:
        free = text("budget_free")
        return text(
            key, money=_money(used.money, currency), limit=free if money is None else _money(money, currency),
            tokens=used.tokens, token_limit=free if tokens is None else tokens, calls=used.calls, **more,
        )  # fmt: skip

    lines = [
        line("budget_day", day, most.day_money, most.day_tokens),
        line("budget_month", month, most.month_money, most.month_tokens),
    ]
    for key, period, in_chat, of_person, money, tokens in further:
        if money is not None or tokens is not None:
            used = await spend(begun[period], in_chat, of_person, period=period)
            lines.append(line("budget_line", used, money, tokens, name=text(key)))
    reserved = text("budget_reserved", money=_money(day.reserved_money, currency), tokens=day.reserved_tokens)
    return "\n".join((*lines, reserved))


def _money(value: float, currency: str) -> str:
    return f"{value:.4f} {currency}"


def step_report(step: BudgetStep | Literal["silent"], pressure: BudgetPressure, text: Callable[..., str]) -> str:
    """What is done without now, and the limit that comes nearest."""
    limit = text(f"limit_{pressure.limit}") if pressure.limit else ""
    near = text("budget_now_limit", limit=limit, share=f"{pressure.share:.0%}") if limit else ""
    return text("budget_now", step=text(f"step_{step}"), limit=near)


@command(
    "budget",
    "[show | currency CODE | pricein N | priceout N | day N | month N | total N | maxtokens N | notify on|off | "
    "resetday | resetmonth | resettotal | reset]",
    who="own", topic="admin", private=True, example="day 5",
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
    failures, begun, chat, person = call.store.failures, _begun(call), call.chat.id, call.person.id
    anew = await call.store.ledger.budget_resets()
    step, pressure = await call.services.planner.step(chat, person, call.now)
    since = max(begun["day"], anew["day"].at if "day" in anew else 0)
    refused = await failures.last_shortage(chat, person, since)
    stands = refused is None or limits(call.services.written).still_met(refused)
    over = step == "over" or (stands and await failures.met_limit(chat, person, since))
    told = over and await failures.told_since(chat, person, since)
    now = step_report("silent" if told else "over" if over else step, pressure, call.text)
    if over and refused is not None and refused.used < 1:
        now += "\n" + call.text("budget_refused", limit=shortage(refused, call.text))
    return "\n".join((now, await budget_report(call, begun), *await _said_in_chats(call, begun)))


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
