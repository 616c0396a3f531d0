"""Signs that a message is made to work on a model: tags, roles, JSON, orders to a memory. Pure."""

import re

from bot.language.wishes.patterns import pattern as wish_pattern
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold

_TEXTS = {name: "|".join(texts) for name, texts in read_table("bot.language", "injection").items()}
LINK = LazyPattern(f"(?i){_TEXTS.pop('link')}")
INSTRUCTION = LazyPattern(_TEXTS.pop("instruction"))
"""Words that speak to a model instead of telling something."""

_POWER = f"(?:{_TEXTS.pop('power')})"
_OTHERS = tuple(LazyPattern(text.replace("{power}", _POWER)) for text in _TEXTS.values())
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0001-\U000e007f]")
"""Signs that turn or hide text; no keyboard makes them."""
_SPELT = re.compile(r"(?<![a-z0-9])(?:[a-z][ ._*-]){3,}[a-z](?![a-z0-9])")
"""i g n o r e, s.y.s.t.e.m"""


def is_injection(text: str) -> bool:
    """Whether a message speaks to a program instead of to people; of its words nothing is to be kept."""
    if _HIDDEN.search(text):
        return True
    folded = fold(text)
    plain = _SPELT.sub(lambda spelt: re.sub("[ ._*-]", "", spelt[0]), folded)
    overrides = wish_pattern("override").search(plain) is not None
    return overrides or any(pattern.search(plain) for pattern in (INSTRUCTION, *_OTHERS))


def holds_link(text: str) -> bool:
    """Whether something in it can be opened."""
    return bool(LINK.search(fold(text)))
