"""Codes and numbers that people type or see: pairing codes, #12, ⏰3 and ✓4, and API keys that must not be stored."""

import re
import secrets
from difflib import get_close_matches

from bot.core.memories import NumberedThing
from bot.text.fold import fold, fold_mapped

SIGNS: dict[NumberedThing, str] = {"memory": "#＃", "reminder": "⏰⏲🔔", "promise": "✓✔✅☑"}
"""The sign of each, and others that a keyboard makes of it."""

_ANY = "".join(SIGNS.values())
_NUMBER = re.compile(rf"(?P<sign>[{_ANY}])?\ufe0f? ?(?P<n>[0-9]{{1,9}})")

CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without 0 O 1 I L, which look alike."""

CODE_LENGTH = 8
"""31^8 is 8.5e11: with five guesses an hour nobody finds one."""

GREETINGS = ("/start", "/help")
"""What is answered to everyone."""

COMMAND_HEADS = (".ai", "。ai", "．ai", "/ai")
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


def number_mark(thing: NumberedThing, number: int) -> str:
    """The number as people see it."""
    return f"{SIGNS[thing][0]}{number}"


def number_of(text: str) -> tuple[NumberedThing | None, int] | None:
    """What a text that is a number says, with the thing its sign names, if it has one; None for any other text."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    return next((thing for thing, signs in SIGNS.items() if (found["sign"] or " ") in signs), None), int(found["n"])


def number_for(thing: NumberedThing, text: str) -> int | None:
    """The number of such a thing, its sign left out or not; None for the number of another thing and any other text."""
    found = number_of(text)
    return found[1] if found is not None and found[0] in (None, thing) else None


def new_code() -> str:
    """A random code of the right form."""
    while not code_form(code := "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))):
        pass
    return code


def code_form(text: str) -> str:
    """The code in upper case when the text is nothing else, "" otherwise.

    A code has a digit and a letter, so that a word of eight letters is none.
    """
    code = text.strip().upper()
    fits = len(code) == CODE_LENGTH and code.isascii() and all(sign in CODE_ALPHABET for sign in code)
    return code if fits and not code.isalpha() and not code.isdigit() else ""


def code_in(text: str, is_command: bool) -> str:
    """The code that a message brings, in upper case: alone, or as the last word of a short command; "" for none."""
    words = text.split(maxsplit=4)
    return code_form(words[-1]) if words and len(words) <= (4 if is_command else 1) else ""


def is_greeting(text: str) -> bool:
    """Whether a message is one of the commands that everyone is answered."""
    words = text.split(maxsplit=1)
    return bool(words) and words[0].lower() in GREETINGS


def without_keys(text: str) -> str:
    """The text as it is, or without the key that a command brings: `.ai key sk-…` is kept as `.ai key …`.

    However that command is written (`/ai_key@bot …`, full width, quoted, on the second line), what is kept is one.
    """
    parts = text.split(maxsplit=2)
    if len(parts) > 1 and parts[0].lower() in COMMAND_HEADS:
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
    handed = f"{COMMAND_HEADS[0]} {KEY_NAMES[0]} {LEFT_OUT}"
    return f"{before}\n{handed}" if before else handed


def names_key(name: str) -> bool:
    """Whether somebody who calls a command so wants to hand over a key; also when the name is mistyped."""
    return bool(get_close_matches(name, KEY_NAMES, n=1, cutoff=ALIKE))
