"""The expressions of wishes.toml, each compiled when it is first asked for. It reads no message."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from bot.memory.numbers import SEVERAL

CALLED, QUOTED = "\ue001", "\ue000"
"""The signs of shaped text (shape.py) for a name that the bot is called by, and for what is quoted."""

_MACRO = re.compile(r"\{([a-z_]+)\}")
_BREAK = re.compile(r"\n *")


@cache
def pattern(name: str) -> re.Pattern[str]:
    """The expression of that name, in [sign] or a macro. KeyError when there is none."""
    text = _data()["sign"].get(name) or _macro(name)
    return re.compile(_expanded(text), re.MULTILINE if name == "override" else 0)


@cache
def templates(name: str) -> tuple[re.Pattern[str], ...]:
    """The expressions of that list in [list], in order; the first that fits decides. KeyError when there is none."""
    return tuple(re.compile(_expanded(each)) for each in _data()["list"][name])


@cache
def _data() -> dict[str, Any]:
    found = tomllib.loads((Path(__file__).parent / "wishes.toml").read_text("utf-8"))
    found["macro"] |= {"called": CALLED, "quoted": QUOTED, "several_numbers": SEVERAL}
    return found


@cache
def _macro(name: str) -> str:
    value = _data()["macro"][name]
    text = _expanded("|".join(value) if isinstance(value, list) else value)
    if name.endswith("_en"):
        return f"(?:{text})(?![a-z])"
    return f"(?:{text})" if "|" in text else text


def _expanded(text: str) -> str:
    return _MACRO.sub(lambda match: _macro(match[1]), _BREAK.sub("", text))
