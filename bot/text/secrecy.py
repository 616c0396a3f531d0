"""Keys that somebody sends to a chat by mistake: what of such a message may be kept. Pure."""

import re
from difflib import get_close_matches

from bot.text.fold import fold

HEADS = (".ai", "。ai", "．ai", "/ai")
"""How a command begins; the full-width forms are what a Chinese keyboard gives."""

KEY_NAMES = ("key", "keys", "apikey", "api_key", "api-key", "token", "密钥")
"""What people call the command that nuan does not have; folded."""

LEFT_OUT = "…"

ALIKE = 0.65
"""How alike a word is, by difflib, that is probably one of them mistyped."""

_GLUED = re.compile("[=:]")

_KEY = re.compile(r"\b(?:sk|pk|rk|xai|gsk|hf)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+\S{12,}", re.IGNORECASE)
"""Keys as providers make them, wherever they stand in a command."""


def without_keys(text: str) -> str:
    """The text as it is, or without the key that a command brings: `.ai key sk-…` is kept as `.ai key …`."""
    parts = text.split(maxsplit=2)
    if len(parts) < 2 or parts[0].lower() not in HEADS:
        return text
    name = _GLUED.split(fold(parts[1]), maxsplit=1)[0]
    brings = len(parts) == 3 or name != fold(parts[1])
    return f"{parts[0]} {name} {LEFT_OUT}" if brings and names_key(name) else _KEY.sub(LEFT_OUT, text)


def names_key(name: str) -> bool:
    """Whether somebody who calls a command so wants to hand over a key; also when the name is mistyped."""
    return bool(get_close_matches(name, KEY_NAMES, n=1, cutoff=ALIKE))
