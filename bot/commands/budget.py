"""`.ai budget` and `.ai limit`: what may be spent and how often people are answered, shown and set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.commands.command import Invocation
from bot.commands.settings import NO_LIMIT_WORDS, SETTING_WORDS, InvalidWords, SettingsEditor, keys_of, parse_setting
from bot.config.sources import LIVE_KEYS
from bot.config.speaking import DAY_S, MOST_ANSWERS, TalkLimits
from bot.core.money import BUDGET_PERIODS, BudgetLimits, BudgetPeriod, BudgetPressure, Spend
from bot.core.ports import Clock, SettingChanges
from bot.money import budget
from bot.money.budget import BudgetStep, shortage
from bot.pipeline.plan import Planner
from bot.pipeline.refusals import current_limits
from bot.store.settings import SettingRows, Switches
from bot.store.store import Store
from bot.text.fold import fold


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


class BudgetCommand:
    """Shows, sets and counts anew; only owners may do more than look."""

    def __init__(self, store: Store, planner: Planner, clock: Clock, setting: SettingsEditor) -> None:
        self._store = store
        self._planner = planner
        self._clock = clock
        self._setting = setting

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai budget …`; words that set nothing change nothing."""
        setting, words = self._setting, tuple(fold(word) for word in asked.words)
        if words not in ((), ("show",)) and not asked.person.is_owner:
            return setting.text(asked, "not_allowed")
        if len(words) == 1 and words[0] in COUNT_RESETS:
            return await self._anew(asked, COUNT_RESETS[words[0]])
        wish = parse_setting("budget", asked.words, setting.settings)
        if isinstance(wish, InvalidWords):
            return setting.wrong(asked, wish)
        if not wish:
            return await self._show(asked)
        problem, settings = await setting.change(asked, wish)
        if problem:
            return self._both(asked, problem, wish)
        shown = [key for key in keys_of("budget", settings) if key in wish]
        lines = await setting.lines(asked, settings, shown)
        if "budget.currency" in wish:
            lines.append(setting.text(asked, "set_currency_note"))
        return "\n".join(lines)

    def _both(self, asked: Invocation, problem: str, wish: SettingChanges) -> str:
        """Why a wish was refused; who named one price alone, and may not, is told how to name both."""
        if sum("price" in key for key in wish) != 1:
            return problem
        return f"{problem}\n{self._setting.text(asked, 'set_both', example=SETTING_WORDS['budget']['pricein'].example)}"

    async def _anew(self, asked: Invocation, period: BudgetPeriod) -> str:
        now = self._clock.now()
        await self._store.budget_resets.begin(period, self._since(period), asked.person.id, now)
        return self._setting.text(asked, f"budget_anew_{period}")

    def _since(self, period: BudgetPeriod) -> int:
        words = self._setting.words
        day, month = budget.periods(self._clock.now(), words.tz(words.zone))
        return {"day": day, "month": month, "total": 0}[period]

    async def _show(self, asked: Invocation) -> str:
        setting, ledger = self._setting, self._store.ledger
        day, month, chat, person = self._since("day"), self._since("month"), asked.chat.id, asked.person.id
        spent = Spending(
            await ledger.spend(day, period="day"), await ledger.spend(month, period="month"),
            await ledger.spend(0, period="total"),
            await ledger.spend(day, chat, period="day"), await ledger.spend(day, person_id=person, period="day"),
            await ledger.spend(month, chat, period="month"),
            await ledger.spend(month, person_id=person, period="month"),
        )  # fmt: skip

        def text(key: str, **values: object) -> str:
            return setting.text(asked, key, **values)

        anew = await self._store.budget_resets.last()
        step, pressure = await self._planner.step(chat, person, self._clock.now())
        since, refusals = max(day, anew["day"].at if "day" in anew else 0), self._store.refusals
        over = step == "over" or await refusals.met(chat, person, since)
        told = over and await refusals.told_since(chat, person, since)
        now = step_report("silent" if told else "over" if over else step, pressure, text)
        limits, currency = budget.limits(setting.settings), setting.settings.budget.currency
        refused = await refusals.last(chat, person, since) if over else None
        if refused is not None and refused.used < 1:
            now += "\n" + text("budget_refused", limit=shortage(refused, text))
        return "\n".join((now, budget_report(spent, limits, currency, text), *await self._said(asked)))

    async def _said(self, asked: Invocation) -> list[str]:
        """What is set in chats, and which counts began anew; for owners alone, since it names who did."""
        if not asked.person.is_owner:
            return []
        setting, since = self._setting, {period: self._since(period) for period in BUDGET_PERIODS}
        said = {one.key for one in await setting.said.all()}
        keys = [key for key in keys_of("budget", setting.settings) if key in said]
        lines = await setting.lines(asked, setting.settings, keys)
        for period, anew in (await self._store.budget_resets.last()).items():
            if anew.at >= since[period]:
                name = anew.name or setting.text(asked, "set_somebody")
                lines.append(setting.text(asked, f"budget_since_{period}", name=name, at=setting.when(asked, anew.at)))
        return lines


LIMIT_WORDS = {
    "cooldown": ("cooldown_seconds", DAY_S),
    "usermin": ("person_minute", MOST_ANSWERS),
    "userday": ("person_day", MOST_ANSWERS),
    "globalmin": ("global_minute", MOST_ANSWERS),
    "globalday": ("global_day", MOST_ANSWERS),
}
"""Words of the command: the key of the configuration, and the most it may be; 0 and FREE are no limit."""

LIMIT_OFF_WORDS = ("0", *NO_LIMIT_WORDS)


class LimitCommand:
    """Shows the limits and remembers the owner's word."""

    def __init__(
        self, switches: Switches, said: SettingRows, clock: Clock, rules: TalkLimits, text: Callable[..., str]
    ) -> None:  # fmt: skip
        self._switches = switches
        self._said = said
        self._clock = clock
        self._rules = rules
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """Do what the words say, then show what holds; words that nobody knows change nothing."""
        words = tuple(word.lower() for word in asked.words)
        said = None if words == ("reset",) else parse_limit(words)
        if said is None and words != ("reset",):
            return self._text(asked, "limits_words")
        if said != {}:
            wish = dict.fromkeys(TalkLimits.model_fields) if said is None else said
            keyed = {f"{LIVE_KEYS}{key}": value for key, value in wish.items()}
            await self._said.put(keyed, asked.person.id, self._clock.now())
        return await self._show(asked)

    async def _show(self, asked: Invocation) -> str:
        rules, said = await current_limits(self._switches, self._rules), await self._switches.limits()
        lines = []
        for key in TalkLimits.model_fields:
            value: int | bool | None = getattr(rules, key)
            match value:
                case None:
                    shown = self._text(asked, "budget_free")
                case bool():
                    shown = self._text(asked, "limits_on" if value else "limits_off")
                case _:
                    shown = self._text(
                        asked, "limits_seconds" if key == "cooldown_seconds" else "limits_times", n=value
                    )
            source = self._text(asked, "limits_owner" if key in said else "limits_configured")
            lines.append(self._text(asked, "limits_line", name=self._text(asked, f"limits_{key}"), value=shown,
                                    source=source))  # fmt: skip
        return "\n".join(lines)


def parse_limit(words: tuple[str, ...]) -> Mapping[str, str] | None:
    """What the words set, by key of the configuration; empty: they only ask; None: nobody knows them."""
    match words:
        case () | ("show",):
            return {}
        case ("off",):
            return {key: "none" for key, _ in LIMIT_WORDS.values()}
        case ("notify", "on" | "off" as value):
            return {"notify": value}
        case (name, value) if name in LIMIT_WORDS:
            key, most = LIMIT_WORDS[name]
            if fold(value) in LIMIT_OFF_WORDS:
                return {key: "none"}
            if not (value.isascii() and value.isdigit() and int(value[:20])):
                return None
            return {key: str(min(int(value[:20]), most))}
        case _:
            return None
