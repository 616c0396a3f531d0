"""`.ai max`, `reply`, `tools` and `reload`: which words set which key to what, checked, stored and shown."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.commands.command import Invocation
from bot.config.checks import ApplyWish, value_fits
from bot.config.settings import Settings
from bot.core.ports import ChatSetting, Reload, SettingChanges
from bot.pipeline.texts import Texts
from bot.store.settings import SettingRows
from bot.text.clean import clean_name
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


@dataclass(frozen=True, slots=True)
class SettingWord:
    """One word of a command: the key it sets, what kind of value that is, and what one might say."""

    key: str
    kind: ValueKind
    example: str
    least: int = 0


@dataclass(frozen=True, slots=True)
class InvalidWords:
    """Words that set nothing: what was said, and how it would be right."""

    said: str
    example: str


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
            return InvalidWords(" ".join(words[start + 1 : end]) or word, knob.example)
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


SAID_CHARS = 40
"""How much of what somebody said wrongly is said again."""

MOST_PROBLEMS = 5

Text = Callable[..., str]


@dataclass(frozen=True, slots=True)
class SettingsEditor:
    """What every command that sets something needs; `text` is (asked, key, **values) in the person's script.

    `settings` are as they were written and said. Without `settle` there is nobody who could take anything up.
    """

    said: SettingRows
    settle: ApplyWish | None
    settings: Settings
    words: Texts
    text: Text

    async def change(self, asked: Invocation, wish: SettingChanges) -> tuple[str, Settings]:
        """Have the wish carried out; why it is not ("" when it is), and the settings of afterwards."""
        if self.settle is None:
            return self.text(asked, "reload_unable"), self.settings
        done = await self.settle(wish, asked.person.id)
        if not done.problems:
            return "", done.settings
        return "\n".join((self.text(asked, "set_refused"), *done.problems[:MOST_PROBLEMS])), self.settings

    def wrong(self, asked: Invocation, wrong: InvalidWords) -> str:
        """One line about words that set nothing."""
        return self.text(asked, "set_wrong", said=clip(clean_name(wrong.said), SAID_CHARS), example=wrong.example)

    async def lines(self, asked: Invocation, settings: Settings, keys: Sequence[str]) -> list[str]:
        """Each of these keys with its value, and where that comes from."""
        said = {one.key: one for one in await self.said.all()}
        return [
            self.text(
                asked, "limits_line", name=self.text(asked, f"set_{_catalogue_key(key).replace('.', '_')}"),
                value=self._value(asked, settings, key), source=self.source(asked, said.get(key)),
            )
            for key in keys
        ]  # fmt: skip

    def source(self, asked: Invocation, said: ChatSetting | None) -> str:
        """Where a value comes from: the configuration, or whoever set it in a chat, and when."""
        if said is None:
            return self.text(asked, "limits_configured")
        return self.text(
            asked, "set_by", name=said.name or self.text(asked, "set_somebody"), at=self.when(asked, said.at)
        )  # fmt: skip

    def when(self, asked: Invocation, at: int) -> str:
        """A moment in the zone of whoever asks, by day and minute."""
        tz = self.words.tz(self.words.zone_of(asked.chat, asked.person))
        return f"{datetime.fromtimestamp(at / 1000, tz):%m-%d %H:%M}"

    def _value(self, asked: Invocation, settings: Settings, key: str) -> str:
        section, _, name = key.partition(".")
        value = getattr(getattr(settings, section), name)
        currency = settings.budget.currency
        match value:
            case None:
                return self.text(asked, "set_public" if "price" in name else "budget_free")
            case bool():
                return self.text(asked, "limits_on" if value else "limits_off")
            case _ if name.endswith("_money"):
                return f"{value:.10g} {currency}"
            case _ if name.startswith("price"):
                return self.text(asked, "set_per_million", money=f"{value:.10g} {currency}")
            case _ if name.endswith("_chars"):
                return self.text(asked, "set_chars", n=value)
            case _:
                return f"{value} tok" if name.endswith("_tokens") else str(value)


class SetCommand:
    """`.ai max`, `.ai reply`, `.ai tools`: shows what holds, sets it, takes it back."""

    def __init__(
        self, name: str, setting: SettingsEditor, look: Callable[[Invocation], Awaitable[str]] | None = None
    ) -> None:
        """`look` answers who only asks, whoever that is; only owners set."""
        self._name = name
        self._setting = setting
        self._look = look

    async def run(self, asked: Invocation) -> str:
        """Do what the words say, then show what holds; words that set nothing change nothing."""
        setting = self._setting
        if self._look is not None and not asked.words:
            return await self._look(asked)
        if not asked.person.is_owner:
            return setting.text(asked, "not_allowed")
        wish = parse_setting(self._name, asked.words, setting.settings)
        if isinstance(wish, InvalidWords):
            return setting.wrong(asked, wish)
        problem, settings = await setting.change(asked, wish) if wish else ("", setting.settings)
        return problem or "\n".join(await setting.lines(asked, settings, keys_of(self._name, settings)))


def _catalogue_key(key: str) -> str:
    """The key by which the catalogue names it: prices are those of whichever model answers."""
    section, _, name = key.partition(".")
    return f"model.{name}" if name.startswith("price") and section != "model" else key


class ReloadCommand:
    """Has configuration, persona and prompts read anew."""

    def __init__(self, reload: Reload | None, text: Callable[..., str]) -> None:
        self._reload = reload
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """Do it and say what has changed."""
        if self._reload is None:
            return self._text(asked, "reload_unable")
        done = await self._reload()
        if done.problems:
            return "\n".join((self._text(asked, "reload_refused"), *done.problems))
        taken = [name for name in done.changed if name not in done.restart]
        said = self._text(asked, "reload_done", changed=", ".join(taken)) if taken else ""
        if not done.changed:
            said = self._text(asked, "reload_nothing")
        waits = self._text(asked, "reload_restart", keys=", ".join(done.restart)) if done.restart else ""
        return "\n".join(line for line in (said, waits) if line)
