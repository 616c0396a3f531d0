"""Keys that somebody sends to a chat by mistake: what of such a message may be kept. Pure."""

import re

from bot.text.fold import fold

HEADS = (".ai", "。ai", "．ai", "/ai")
"""How a command begins; the full-width forms are what a Chinese keyboard gives."""

KEY_NAMES = ("key", "keys", "apikey", "api_key", "api-key", "token", "密钥")
"""What people call the command that nuan does not have; folded."""

LEFT_OUT = "…"

_KEY = re.compile(r"\b(?:sk|pk|rk|xai|gsk|hf)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+\S{12,}", re.IGNORECASE)
"""Keys as providers make them, wherever they stand in a command."""


def without_keys(text: str) -> str:
    """The text as it is, or without the key that a command brings: `.ai key sk-…` is kept as `.ai key …`."""
    parts = text.split(maxsplit=2)
    if len(parts) < 2 or parts[0].lower() not in HEADS:
        return text
    name = fold(parts[1])
    if len(parts) == 3 and name in KEY_NAMES:
        return f"{parts[0]} {parts[1]} {LEFT_OUT}"
    glued = next((each for each in KEY_NAMES if name.startswith((f"{each}=", f"{each}:"))), "")
    return f"{parts[0]} {glued} {LEFT_OUT}" if glued else _KEY.sub(LEFT_OUT, text)
