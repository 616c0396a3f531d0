"""What a slot says of its value without a model: whether that does not fade, and which slots are one
(bot/text/slots.toml). Pure."""

import tomllib
from importlib.resources import files

from bot.text.fold import fold

_WORDS = tomllib.loads(files("bot.text").joinpath("slots.toml").read_text("utf-8"))
_LASTING = frozenset(map(fold, _WORDS["lasting"]))
ASKED: dict[str, str] = _WORDS["asked"]
"""Words by which people ask for what a slot of a memory holds."""

_ONE: dict[str, str] = {fold(other): slot for slot, others in _WORDS["same"].items() for other in others.split()}


def lasts(slot: str) -> bool:
    """Whether it is of health, death, birth, relations, home, work, names, birthdays or allergies."""
    return fold(slot) in _LASTING


def slot_named(slot: str) -> str:
    """The usual name of a slot, which models call by several."""
    return _ONE.get(fold(slot).strip(), slot)
