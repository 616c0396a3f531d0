"""`.ai budget`, `model`, `base`, `key`, `max`, `reply`, `limit` and `reload`: what is set in a chat, checked, stored and
shown."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from bot.commands.command import Invocation, command, nearest_word
from bot.config.checks import configured_models, value_fits
from bot.config.models import ModelSettings, ModelUse
from bot.config.settings import Settings
from bot.config.speaking import DAY_S, MOST_ANSWERS, TalkLimits
from bot.core.models import BUDGET_PERIODS, BudgetPeriod, BudgetPressure, Spend
from bot.core.ports import ChatSetting, SettingChanges
from bot.money import BudgetStep, limits, periods, shortage
from bot.text.clean import clean_name
from bot.text.codes import KEY_NAMES
from bot.text.dates import local
from bot.text.fold import fold
from bot.text.length import clip

ValueKind = Literal["money", "price", "tokens", "chars", "switch", "currency"]

NO_LIMIT_WORDS = ("off", "none", "不限", "无限")
"""How a limit is taken away; folded, like all that is compared here."""

UNITS = {"$": ("USD",), "€": ("EUR",), "£": ("GBP",), "¥": ("CNY", "JPY"), "元": ("CNY", "TWD"), "块": ("CNY", "TWD")}
TOKEN_UNITS = ("tok", "token", "tokens")
CHAR_UNITS = ("字", "char", "chars")
MULTIPLIERS = {"k": 1_000, "m": 1_000_000, "万": 10_000}

_AMOUNT = re.compile(r"([$€£¥]?)([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(k|m|万)?(?: ?([a-z]{2,6}|[$€£¥元块字]))?")

SAID_CHARS = 40
"""How much of what somebody said wrongly is said again."""

MOST_PROBLEMS = 5

USE_KEY = "model.use"

MODEL_PRICES = ("price_input", "price_output")

MODEL_NAME_CHARS = 60

LIMIT_WORDS = {
    "cooldown": ("cooldown_seconds", DAY_S),
    "usermin": ("person_minute", MOST_ANSWERS),
    "userday": ("person_day", MOST_ANSWERS),
    "globalmin": ("global_minute", MOST_ANSWERS),
    "globalday": ("global_day", MOST_ANSWERS),
}
"""Words of the command: the key of the configuration, and the most it may be; 0 and FREE are no limit."""

LIMIT_OFF_WORDS = ("0", *NO_LIMIT_WORDS)

COUNT_RESETS: dict[str, BudgetPeriod] = {f"reset{period}": period for period in BUDGET_PERIODS}
"""Words that have a limit count from now on."""


@dataclass(frozen=True, slots=True)
class SettingWord:
    """One word of a command: the key it sets, what kind of value that is, and what one might say."""

    key: str
    kind: ValueKind
    example: str
    least: int = 0


@dataclass(frozen=True, slots=True)
class InvalidWords:
    """Words that set nothing: what was said, how it would be right, and the least that it may be."""

    said: str
    example: str
    least: int = 0


SETTING_WORDS: Mapping[str, Mapping[str, SettingWord]] = {
    "max": {"": SettingWord("model.max_output_tokens", "tokens", ".ai max 800", 20)},
    "reply": {"maxlen": SettingWord("speak.reply_chars", "chars", ".ai reply maxlen 200", 60)},
    "tools": {"": SettingWord("prompt.tools", "switch", ".ai tools off")},
    "budget": {
        "currency": SettingWord("budget.currency", "currency", ".ai budget currency USD"),
        "pricein": SettingWord("model.price_input", "price", ".ai budget pricein 0.5 priceout 2"),
        "priceout": SettingWord("model.price_output", "price", ".ai budget pricein 0.5 priceout 2"),
        "day": SettingWord("budget.day_money", "money", ".ai budget day 5, .ai budget day 200k tok"),
        "month": SettingWord("budget.month_money", "money", ".ai budget month 60, .ai budget month 5m tok"),
        "total": SettingWord("budget.total_money", "money", ".ai budget total 500, .ai budget total 50m tok"),
        "maxtokens": SettingWord("model.max_output_tokens", "tokens", ".ai budget maxtokens 800", 64),
        "notify": SettingWord("budget.notify", "switch", ".ai budget notify off"),
    },
}
"""By command and word; a command with the word "" sets one thing alone. Numbers: SEED_SYSTEMS 1.9."""


def key_of(knob: SettingWord, settings: Settings, *, tokens: bool = False) -> str:
    """The key that a knob sets now: prices are those of the model that answers, a limit may be one in tokens."""
    if knob.kind == "price":
        return f"{settings.model.use}.{knob.key.rpartition('.')[2]}"
    return knob.key.replace("_money", "_tokens") if tokens and knob.kind == "money" else knob.key


def keys_of(command: str, settings: Settings) -> tuple[str, ...]:
    """Every key that a command sets, in the order of its words."""
    found = [
        key_of(knob, settings, tokens=tokens) for knob in SETTING_WORDS[command].values() for tokens in (False, True)
    ]
    return tuple(dict.fromkeys(found))


def parse_setting(command: str, words: tuple[str, ...], settings: Settings) -> SettingChanges | InvalidWords:
    """What the words after a command's name set; empty: they only ask."""
    knobs, folded = SETTING_WORDS[command], tuple(fold(word) for word in words)
    if folded in ((), ("show",)):
        return {}
    if folded == ("reset",):
        return dict.fromkeys(keys_of(command, settings))
    wish: dict[str, str | None] = {}
    for start, end in _pairs(knobs, folded):
        word = "" if start < 0 else folded[start]
        knob = knobs.get(word)
        if knob is None:
            return InvalidWords(" ".join(words), next(iter(knobs.values())).example)
        found = _value_of(knob, " ".join(folded[start + 1 : end]), settings)
        if found is None:
            return InvalidWords(" ".join(words[start + 1 : end]) or word, knob.example, knob.least)
        wish |= found
    return wish


def _pairs(knobs: Mapping[str, SettingWord], words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the words stand that name what is set, and where its values end; -1 for a command's only knob."""
    if "" in knobs:
        yield -1, len(words)
        return
    starts = [place for place, word in enumerate(words) if word in knobs or not place]
    yield from zip(starts, (*starts[1:], len(words)), strict=True)


def _value_of(knob: SettingWord, value: str, settings: Settings) -> SettingChanges | None:
    """What one knob is set to; None when that is no value for it."""
    if value == "reset":
        return {key_of(knob, settings, tokens=tokens): None for tokens in (False, True)}
    match knob.kind:
        case "switch":
            said = {"on": "true", "off": "false"}.get(value)
        case "currency":
            said = value.upper()
        case _:
            return _amount(knob, value, settings)
    key = key_of(knob, settings)
    return {key: said} if said is not None and value_fits(key, said) else None


def _amount(knob: SettingWord, value: str, settings: Settings) -> SettingChanges | None:
    """A number with its unit. What is given in tokens sets the limit in tokens, and leaves the one in money."""
    free = value in NO_LIMIT_WORDS or value in tuple(f"{word} tok" for word in NO_LIMIT_WORDS)
    found = _AMOUNT.fullmatch(value)
    if free:
        key = key_of(knob, settings, tokens=value.endswith(" tok"))
        return {key: "none"} if knob.kind != "tokens" and value_fits(key, "none") else None
    if found is None:
        return None
    before, digits, times, after = found.groups()
    unit = before or after or ""
    if (before and after) or (unit and not _unit_fits(knob, unit, settings)):
        return None
    counted = unit in TOKEN_UNITS or knob.kind in ("tokens", "chars")
    if times and not counted:
        return None
    number = float(digits) * MULTIPLIERS.get(times or "", 1)
    if counted and (number != int(number) or number < knob.least):
        return None
    key, said = key_of(knob, settings, tokens=counted), str(int(number)) if counted else digits
    return {key: said} if value_fits(key, said) else None


def _unit_fits(knob: SettingWord, unit: str, settings: Settings) -> bool:
    """Whether that unit may stand behind a number of that kind; money is in the budget's currency alone."""
    if unit in TOKEN_UNITS:
        return knob.kind in ("money", "tokens")
    if unit in CHAR_UNITS:
        return knob.kind == "chars"
    return knob.kind in ("money", "price") and settings.budget.currency in UNITS.get(unit, (unit.upper(),))


async def apply_wish(call: Invocation, wish: SettingChanges) -> str:
    """Have the wish carried out; why it is not, "" when it is."""
    if call.services.apply is None:
        return call.text("reload_unable")
    problems = await call.services.apply(wish, call.person.id)
    return "\n".join((call.text("set_refused"), *problems[:MOST_PROBLEMS])) if problems else ""


def wrong_words(call: Invocation, wrong: InvalidWords) -> str:
    """One line about words that set nothing."""
    said, key = clip(clean_name(wrong.said), SAID_CHARS), "set_too_small" if wrong.least else "set_wrong"
    return call.text(key, said=said, example=wrong.example, least=wrong.least)


async def setting_lines(call: Invocation, keys: Sequence[str]) -> list[str]:
    """Each of these keys with its value, and where that comes from."""
    settings = call.services.written
    said = {one.key: one for one in await call.store.settings.all()}
    return [
        call.text(
            "limits_line",
            name=call.text(f"set_{_catalogue_key(key).replace('.', '_')}"),
            value=_value_text(call, settings, key),
            source=_source(call, said.get(key)),
        )
        for key in keys
    ]


def _source(call: Invocation, said: ChatSetting | None) -> str:
    """Where a value comes from: the configuration, or whoever set it in a chat, and when."""
    if said is None:
        return call.text("limits_configured")
    return call.text("set_by", name=said.name or call.text("set_somebody"), at=day_minute(said.at, call.tz))


def day_minute(ms: int, tz: tzinfo) -> str:
    """A moment by day and minute, "06-12 09:03"."""
    return f"{local(ms, tz):%m-%d %H:%M}"


def _value_text(call: Invocation, settings: Settings, key: str) -> str:
    section, _, name = key.partition(".")
    value = getattr(getattr(settings, section), name)
    currency = settings.budget.currency
    match value:
        case None:
            return call.text("set_public" if "price" in name else "budget_free")
        case bool():
            return call.text("limits_on" if value else "limits_off")
        case _ if name.endswith("_money"):
            return f"{value:.10g} {currency}"
        case _ if name.startswith("price"):
            return call.text("set_per_million", money=f"{value:.10g} {currency}")
        case _ if name.endswith("_chars"):
            return call.text("set_chars", n=value)
        case _:
            return call.text("set_tokens", n=value) if name.endswith("_tokens") else str(value)


def _catalogue_key(key: str) -> str:
    """The key by which the catalogue names it: prices are those of whichever model answers."""
    section, _, name = key.partition(".")
    return f"model.{name}" if name.startswith("price") and section != "model" else key


async def show_or_set(call: Invocation, name: str) -> str:
    """Do what the words after that command's name say, then show what holds; only owners may, and words that set
    nothing change nothing."""
    if not call.person.is_owner:
        return call.text("not_allowed")
    wish = parse_setting(name, call.words, call.services.written)
    if isinstance(wish, InvalidWords):
        return wrong_words(call, wish)
    problem = await apply_wish(call, wish) if wish else ""
    return problem or "\n".join(await setting_lines(call, keys_of(name, call.services.written)))


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
            key,
            money=_money(used.money, currency),
            limit=free if money is None else _money(money, currency),
            tokens=f"{used.tokens:,}",
            token_limit=free if tokens is None else f"{tokens:,}",
            calls=used.calls,
            **more,
        )

    lines = [
        line("budget_day", day, most.day_money, most.day_tokens),
        line("budget_month", month, most.month_money, most.month_tokens),
    ]
    for key, period, in_chat, of_person, money, tokens in further:
        if money is not None or tokens is not None:
            used = await spend(begun[period], in_chat, of_person, period=period)
            lines.append(line("budget_line", used, money, tokens, name=text(key)))
    reserved = text("budget_reserved", money=_money(day.reserved_money, currency), tokens=f"{day.reserved_tokens:,}")
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
    who="own",
    topic="admin",
    private=True,
    example="day 5",
)
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
    store, begun, chat, person = call.store, _begun(call), call.chat.id, call.person.id
    anew = await store.ledger.budget_resets()
    step, pressure = await call.services.planner.step(chat, person, call.now)
    since = max(begun["day"], anew["day"].at if "day" in anew else 0)
    refused = await store.ledger.last_shortage(chat, person, since)
    stands = refused is None or limits(call.services.written).still_met(refused)
    over = step == "over" or (stands and await store.events.met_limit(chat, person, since))
    told = over and await store.events.was_refused(chat, person, since)
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


@command("model", "[NAME | reset]", who="owner", topic="admin", private=True, example="small")
async def model(call: Invocation) -> str:
    """Show the models that are configured, or have another answer first; an unknown name changes nothing."""
    settings = call.services.written
    found = configured_models(settings)
    if not found:
        return call.text("model_offline")
    words = fold(" ".join(call.words))
    if words in ("", "show"):
        return "\n".join([*_models_listed(call, found), *await setting_lines(call, (USE_KEY,))])
    use = None if words == "reset" else _model_use(words, found)
    if words != "reset" and use is None:
        right = nearest_word(words, [*found, *(fold(each.name) for each in found.values())])
        said = clip(clean_name(" ".join(call.words)), MODEL_NAME_CHARS)
        line = call.text("model_near" if right else "model_unknown", name=said, near=right)
        return "\n".join((line, *_models_listed(call, found)))
    wish: dict[str, str | None] = {USE_KEY: use}
    if use is None and settings.model.use != "model":
        # prices that were said of the chosen one mean nothing where it is configured no more
        wish |= dict.fromkeys(f"{settings.model.use}.{name}" for name in MODEL_PRICES)
    if problem := await apply_wish(call, wish):
        return problem
    settings = call.services.written
    name = configured_models(settings)[settings.model.use].name
    return "\n".join((call.text("model_set", name=name), *await setting_lines(call, (USE_KEY,))))


def _models_listed(call: Invocation, found: Mapping[ModelUse, ModelSettings]) -> list[str]:
    now = call.services.written.model.use
    key = {True: "model_line_now", False: "model_line"}
    return [call.text(key[use == now], use=use, name=each.name) for use, each in found.items()]


def _model_use(words: str, found: Mapping[ModelUse, ModelSettings]) -> ModelUse | None:
    """The section that is called so, or whose model is."""
    return next((use for use, model in found.items() if words in (use, fold(model.name))), None)


@command("base", who="owner", topic="admin", private=True, shape="words")
async def base(call: Invocation) -> str:
    """Show the address that is asked; it is not set in a chat.

    Whoever is asked gets the key and all that people say: one mistyped letter, or one hijacked account of an owner,
    would hand both to a stranger. So the address stands in files that only the operator can write.
    """
    if call.words and fold(" ".join(call.words)) != "show":
        return call.text("base_fixed")
    settings = call.services.written
    found = configured_models(settings)
    if not found:
        return call.text("model_offline")
    return call.text("base_now", url=found[settings.model.use].base_url)


@command("key", who="anyone", topic="admin", private=True, shape="words", listed=False, aliases=KEY_NAMES[1:])
async def key(call: Invocation) -> str:
    """Say that a key has no place in a chat; what came with it was never stored (bot/text/codes.py).

    For anyone: whoever sent a key should hear of it.
    """
    return call.text("key_brought" if call.words else "key_where")


@command("max", "[N | reset]", who="owner", topic="admin", private=True, example="800")
async def max_tokens(call: Invocation) -> str:
    """How long an answer of the model may be."""
    return await show_or_set(call, "max")


@command("reply", "[show | maxlen N | reset]", who="owner", topic="admin", private=True, example="maxlen 200")
async def reply(call: Invocation) -> str:
    """How long a reply in a chat may be."""
    return await show_or_set(call, "reply")


@command(
    "limit",
    "[off | reset | usermin N | userday N | globalmin N | globalday N | cooldown SEC | notify on|off]",
    who="owner",
    topic="admin",
    private=True,
    example="userday 50",
)
async def limit(call: Invocation) -> str:
    """Do what the words say, then show what holds; words that nobody knows change nothing."""
    words = tuple(word.lower() for word in call.words)
    said = None if words == ("reset",) else parse_limit(words)
    if said is None and words != ("reset",):
        return wrong_words(call, InvalidWords(" ".join(call.words), ".ai limit userday 50"))
    wish = dict.fromkeys(TalkLimits.model_fields) if said is None else said
    problem = await apply_wish(call, {f"limits.{key}": value for key, value in wish.items()}) if wish else ""
    shown = problem or await _limits_shown(call)
    most = next((most for key, most in LIMIT_WORDS.values() if wish.get(key) == str(most)), None)
    above = most is not None and words[-1] != str(most)
    return f"{call.text('limits_most', n=most)}\n{shown}" if above and not problem else shown


async def _limits_shown(call: Invocation) -> str:
    rules, lines = call.services.written.limits, []
    said = {one.key for one in await call.store.settings.all()}
    for key in TalkLimits.model_fields:
        value: int | bool | None = getattr(rules, key)
        match value:
            case None:
                shown = call.text("budget_free")
            case bool():
                shown = call.text("limits_on" if value else "limits_off")
            case _:
                shown = call.text("limits_seconds" if key == "cooldown_seconds" else "limits_times", n=value)
        source = call.text("limits_owner" if f"limits.{key}" in said else "limits_configured")
        lines.append(call.text("limits_line", name=call.text(f"limits_{key}"), value=shown, source=source))
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


@command("reload", who="owner", topic="admin", private=True)
async def reload(call: Invocation) -> str:
    """Have configuration, persona and prompts read anew, and say what has changed."""
    if call.services.reload is None:
        return call.text("reload_unable")
    done = await call.services.reload()
    if done.problems:
        return "\n".join((call.text("reload_refused"), *done.problems))
    taken = [name for name in done.changed if name not in done.restart]
    said = call.text("reload_done", changed=", ".join(taken)) if taken else ""
    if not done.changed:
        said = call.text("reload_nothing")
    waits = call.text("reload_restart", keys=", ".join(done.restart)) if done.restart else ""
    return "\n".join(line for line in (said, waits) if line)
