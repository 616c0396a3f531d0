"""`.ai budget`: what was used beside the limits; owners set limits, prices and currency, and have counts begin anew."""

from bot.commands.knobs import KNOBS, Wrong, keys_of, wanted
from bot.commands.report import Spent, budget_report, step_report
from bot.commands.sets import Setting
from bot.commands.table import Asked
from bot.flow.plan import Planner
from bot.money import prices
from bot.money.degrade import shortage
from bot.ports import Clock
from bot.store.store import Store
from bot.text.fold import fold
from bot.types.money import PERIODS, Period
from bot.types.said import Wish

ANEW: dict[str, Period] = {f"reset{period}": period for period in PERIODS}
"""Words that have a limit count from now on."""


class BudgetCommand:
    """Shows, sets and counts anew; only owners may do more than look."""

    def __init__(self, store: Store, planner: Planner, clock: Clock, setting: Setting) -> None:
        self._store = store
        self._planner = planner
        self._clock = clock
        self._setting = setting

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai budget …`; words that set nothing change nothing."""
        setting, words = self._setting, tuple(fold(word) for word in asked.words)
        if words not in ((), ("show",)) and not asked.person.is_owner:
            return setting.text(asked, "not_allowed")
        if len(words) == 1 and words[0] in ANEW:
            return await self._anew(asked, ANEW[words[0]])
        wish = wanted("budget", asked.words, setting.settings)
        if isinstance(wish, Wrong):
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

    def _both(self, asked: Asked, problem: str, wish: Wish) -> str:
        """Why a wish was refused; who named one price alone, and may not, is told how to name both."""
        if sum("price" in key for key in wish) != 1:
            return problem
        return f"{problem}\n{self._setting.text(asked, 'set_both', example=KNOBS['budget']['pricein'].example)}"

    async def _anew(self, asked: Asked, period: Period) -> str:
        now = self._clock.now()
        await self._store.recounts.begin(period, self._since(period), asked.person.id, now)
        return self._setting.text(asked, f"budget_anew_{period}")

    def _since(self, period: Period) -> int:
        words = self._setting.words
        day, month = prices.periods(self._clock.now(), words.tz(words.zone))
        return {"day": day, "month": month, "total": 0}[period]

    async def _show(self, asked: Asked) -> str:
        setting, ledger = self._setting, self._store.ledger
        day, month, chat, person = self._since("day"), self._since("month"), asked.chat.id, asked.person.id
        spent = Spent(
            await ledger.spend(day, period="day"), await ledger.spend(month, period="month"),
            await ledger.spend(0, period="total"),
            await ledger.spend(day, chat, period="day"), await ledger.spend(day, person_id=person, period="day"),
            await ledger.spend(month, chat, period="month"),
            await ledger.spend(month, person_id=person, period="month"),
        )  # fmt: skip

        def text(key: str, **values: object) -> str:
            return setting.text(asked, key, **values)

        anew = await self._store.recounts.last()
        step, pressure = await self._planner.step(chat, person, self._clock.now())
        since, refusals = max(day, anew["day"].at if "day" in anew else 0), self._store.refusals
        over = step == "over" or await refusals.met(chat, person, since)
        told = over and await refusals.told_since(chat, person, since)
        now = step_report("silent" if told else "over" if over else step, pressure, text)
        limits, currency = prices.limits(setting.settings), setting.settings.budget.currency
        refused = await refusals.last(chat, person, since) if over else None
        if refused is not None and refused.used < 1:
            now += "\n" + text("budget_refused", limit=shortage(refused, text))
        return "\n".join((now, budget_report(spent, limits, currency, text), *await self._said(asked)))

    async def _said(self, asked: Asked) -> list[str]:
        """What is set in chats, and which counts began anew; for owners alone, since it names who did."""
        if not asked.person.is_owner:
            return []
        setting, since = self._setting, {period: self._since(period) for period in PERIODS}
        said = {one.key for one in await setting.said.all()}
        keys = [key for key in keys_of("budget", setting.settings) if key in said]
        lines = await setting.lines(asked, setting.settings, keys)
        for period, anew in (await self._store.recounts.last()).items():
            if anew.at >= since[period]:
                name = anew.name or setting.text(asked, "set_somebody")
                lines.append(setting.text(asked, f"budget_since_{period}", name=name, at=setting.when(asked, anew.at)))
        return lines
