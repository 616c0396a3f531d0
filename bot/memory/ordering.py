"""The menu's /remember and /forget: what follows is taken as it is, in any language. It carries nothing out."""

import re

from bot.memory.numbers import SEVERAL, listed
from bot.text.fold import fold
from bot.types.memory import MemoryCommand

ORDERS = ("/remember", "/forget")
"""How they are written; nothing that people say begins so by chance."""

_NUMBER = re.compile(r"#\s*([0-9]{1,9})")
_SEVERAL = re.compile(SEVERAL)


def ordered(text: str) -> MemoryCommand | None:
    """The command of a message that begins with one of them; None for every other message.

    `/forget #12` names a memory, `/forget #3 #4` two, `/forget` alone none. The content of `/remember` alone is empty.
    """
    head, *rest = text.strip().split(maxsplit=1)[:2] or ("",)
    content = rest[0].strip() if rest else ""
    match head.lower():
        case "/remember":
            return MemoryCommand("remember", content)
        case "/forget":
            number = _NUMBER.fullmatch(content)
            if "#" in content and _SEVERAL.fullmatch(fold(content)) and (chosen := listed(fold(content))):
                return MemoryCommand("forget", None, chosen=chosen)
            return MemoryCommand("forget", None, int(number[1])) if number else MemoryCommand("forget", content or None)
        case _:
            return None
