"""Keys that somebody sends to a chat by mistake: what of such a message may be kept. Pure."""

import re
from difflib import get_close_matches

from bot.text.fold import fold, fold_mapped

HEADS = (".ai", "。ai", "．ai", "/ai")
"""How a command begins; the full-width forms are what a Chinese keyboard gives."""

KEY_NAMES = (
    "key",
    "keys",
    "apikey",
    "api_key",
    "api-key",
    "token",
    "secret",
    "password",
    "密钥",
    "金钥",
    "钥匙",
    "密码",
)
"""What people call the command that nuan does not have; folded."""

LEFT_OUT = "…"

ALIKE = 0.65
"""How alike a word is, by difflib, that is probably one of them mistyped."""

_GLUED = re.compile("[=:]")

READ_CHARS = 4_000
"""How much of a message is searched for a command that hands over a key."""

_NAME = r"(?:[a-z]{1,16}[._-])?(?:api[_ -]?)?(?:keys?|token|secret|password|密钥|金钥|钥匙|密码)"

_HANDED = re.compile(
    rf"(?:^|\n)[ \t\u3000>`*\"'“「]*(?:@\S{{1,40}}\s+)?"
    rf"(?:[./。]ai(?:@\w{{1,40}})?[\s_`*\"'<-]*(?:(?:set|use|model|base|budget|设置)\s+)?|/(?=[a-z_-]+[\s=:])){_NAME}"
    rf"[\s=:`*\"'>-]*[^\s`*\"'>=:-]"
)
"""A command that hands over a key, at the beginning of a line, however it is written; folded."""

_IN_PASSING = re.compile(rf"[./。]ai\s*(?:@\w{{1,40}}\s*)?{_NAME}[\s=:]+[\x21-\x7e]{{12,}}")
"""The same in the middle of one, with something that can only be a key; folded."""

_KEY = re.compile(r"\b(?:sk|pk|rk|xai|gsk|hf)[-_][\w-]{12,}|\bAIza[\w-]{20,}|\bBearer\s+\S{12,}", re.IGNORECASE)
"""Keys as providers make them, wherever they stand in a command."""


def without_keys(text: str) -> str:
    """The text as it is, or without the key that a command brings: `.ai key sk-…` is kept as `.ai key …`.

    However that command is written (`/ai_key@bot …`, full width, quoted, on the second line), what is kept is one.
    """
    parts = text.split(maxsplit=2)
    if len(parts) > 1 and parts[0].lower() in HEADS:
        name = _GLUED.split(fold(parts[1]), maxsplit=1)[0]
        brings = len(parts) == 3 or name != fold(parts[1])
        if brings and names_key(name):
            return f"{parts[0]} {name} {LEFT_OUT}"
        text = _KEY.sub(LEFT_OUT, text)
    read = text[:READ_CHARS]
    folded = fold(read)
    if _HANDED.search(folded) is None and _IN_PASSING.search(folded) is None:
        return text
    folded, origin = fold_mapped(read)
    found = _HANDED.search(folded) or _IN_PASSING.search(folded)
    before = text[: origin[found.start()]].rstrip() if found is not None else ""
    handed = f"{HEADS[0]} {KEY_NAMES[0]} {LEFT_OUT}"
    return f"{before}\n{handed}" if before else handed


def names_key(name: str) -> bool:
    """Whether somebody who calls a command so wants to hand over a key; also when the name is mistyped."""
    return bool(get_close_matches(name, KEY_NAMES, n=1, cutoff=ALIKE))
