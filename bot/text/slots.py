"""What a slot says of its value without a model: whether that does not fade (bot/text/slots.toml). Pure."""

import tomllib
from importlib.resources import files

from bot.text.fold import fold

_LASTING = frozenset(map(fold, tomllib.loads(files("bot.text").joinpath("slots.toml").read_text("utf-8"))["lasting"]))


def lasts(slot: str) -> bool:
    """Whether it is of health, death, birth, relations, home, work, names, birthdays or allergies."""
    return fold(slot) in _LASTING
