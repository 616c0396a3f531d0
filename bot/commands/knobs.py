"""What can be set in a chat: which words of which command set which key, and to what. Pure; it stores nothing."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.config.said import fits
from bot.config.settings import Settings
from bot.text.fold import fold
from bot.types.said import Wish

Kind = Literal["money", "price", "tokens", "chars", "switch", "currency"]

FREE = ("off", "none", "不限", "无限")
"""How a limit is taken away; folded, like all that is compared here."""

UNITS = {"$": ("USD",), "€": ("EUR",), "£": ("GBP",), "¥": ("CNY", "JPY"), "元": ("CNY", "TWD"), "块": ("CNY", "TWD")}
TOKENS = ("tok", "token", "tokens")
CHARS = ("字", "char", "chars")
TIMES = {"k": 1_000, "m": 1_000_000, "万": 10_000}

_NUMBER = re.compile(r"([$€£¥]?)([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(k|m|万)?(?: ?([a-z]{2,6}|[$€£¥元块字]))?")


@dataclass(frozen=True, slots=True)
class Knob:
    """One word of a command: the key it sets, what kind of value that is, and what one might say."""

    key: str
    kind: Kind
    example: str
    least: int = 0


@dataclass(frozen=True, slots=True)
class Wrong:
    """Words that set nothing: what was said, and how it would be right."""

    said: str
    example: str


KNOBS: Mapping[str, Mapping[str, Knob]] = {
    "max": {"": Knob("model.max_output_tokens", "tokens", ".ai max 800", 20)},
    "reply": {"maxlen": Knob("speak.reply_chars", "chars", ".ai reply maxlen 200", 60)},
    "tools": {"": Knob("prompt.tools", "switch", ".ai tools off")},
    "budget": {
        "currency": Knob("budget.currency", "currency", ".ai budget currency USD"),
        "pricein": Knob("model.price_input", "price", ".ai budget pricein 0.5 priceout 2"),
        "priceout": Knob("model.price_output", "price", ".ai budget pricein 0.5 priceout 2"),
        "day": Knob("budget.day_money", "money", ".ai budget day 5, .ai budget day 200k tok"),
        "month": Knob("budget.month_money", "money", ".ai budget month 60, .ai budget month 5m tok"),
        "total": Knob("budget.total_money", "money", ".ai budget total 500, .ai budget total 50m tok"),
        "maxtokens": Knob("model.max_output_tokens", "tokens", ".ai budget maxtokens 800", 64),
        "notify": Knob("budget.notify", "switch", ".ai budget notify off"),
    },
}
"""By command and word; a command with the word "" sets one thing alone. Numbers: SEED_SYSTEMS 1.9."""


def key_of(knob: Knob, settings: Settings, *, tokens: bool = False) -> str:
    """The key that a knob sets now: prices are those of the model that answers, a limit may be one in tokens."""
    if knob.kind == "price":
        return f"{settings.model.use}.{knob.key.rpartition('.')[2]}"
    return knob.key.replace("_money", "_tokens") if tokens and knob.kind == "money" else knob.key


def keys_of(command: str, settings: Settings) -> tuple[str, ...]:
    """Every key that a command sets, in the order of its words."""
    found = [key_of(knob, settings, tokens=tokens) for knob in KNOBS[command].values() for tokens in (False, True)]
    return tuple(dict.fromkeys(found))


def wanted(command: str, words: tuple[str, ...], settings: Settings) -> Wish | Wrong:
    """What the words after a command's name set; empty: they only ask."""
    knobs, folded = KNOBS[command], tuple(fold(word) for word in words)
    if folded in ((), ("show",)):
        return {}
    if folded == ("reset",):
        return dict.fromkeys(keys_of(command, settings))
    wish: dict[str, str | None] = {}
    for start, end in _pairs(knobs, folded):
        word = "" if start < 0 else folded[start]
        knob = knobs.get(word)
        if knob is None:
            return Wrong(" ".join(words), next(iter(knobs.values())).example)
        found = _one(knob, " ".join(folded[start + 1 : end]), settings)
        if found is None:
            return Wrong(" ".join(words[start + 1 : end]) or word, knob.example)
        wish |= found
    return wish


def _pairs(knobs: Mapping[str, Knob], words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the words stand that name what is set, and where its values end; -1 for a command's only knob."""
    if "" in knobs:
        yield -1, len(words)
        return
    starts = [place for place, word in enumerate(words) if word in knobs or not place]
    yield from zip(starts, (*starts[1:], len(words)), strict=True)


def _one(knob: Knob, value: str, settings: Settings) -> Wish | None:
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
    return {key: said} if said is not None and fits(key, said) else None


def _amount(knob: Knob, value: str, settings: Settings) -> Wish | None:
    """A number with its unit. What is given in tokens sets the limit in tokens, and leaves the one in money."""
    free = value in FREE or value in tuple(f"{word} tok" for word in FREE)
    found = _NUMBER.fullmatch(value)
    if free:
        key = key_of(knob, settings, tokens=value.endswith(" tok"))
        return {key: "none"} if knob.kind != "tokens" and fits(key, "none") else None
    if found is None:
        return None
    before, digits, times, after = found.groups()
    unit = before or after or ""
    if (before and after) or (unit and not _unit_fits(knob, unit, settings)):
        return None
    counted = unit in TOKENS or knob.kind in ("tokens", "chars")
    if times and not counted:
        return None
    number = float(digits) * TIMES.get(times or "", 1)
    if counted and (number != int(number) or number < knob.least):
        return None
    key, said = key_of(knob, settings, tokens=counted), str(int(number)) if counted else digits
    return {key: said} if fits(key, said) else None


def _unit_fits(knob: Knob, unit: str, settings: Settings) -> bool:
    """Whether that unit may stand behind a number of that kind; money is in the budget's currency alone."""
    if unit in TOKENS:
        return knob.kind in ("money", "tokens")
    if unit in CHARS:
        return knob.kind == "chars"
    return knob.kind in ("money", "price") and settings.budget.currency in UNITS.get(unit, (unit.upper(),))
