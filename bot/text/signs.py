"""Numbers that people see and say: #12 a memory, ⏰3 a reminder, ✓4 a promise. It knows none of the things."""

import re

from bot.types.memory import Thing

SIGNS: dict[Thing, str] = {"memory": "#＃", "reminder": "⏰⏲🔔", "promise": "✓✔✅☑"}
"""The sign of each, and others that a keyboard makes of it."""

_ANY = "".join(SIGNS.values())
_NUMBER = re.compile(rf"(?P<sign>[{_ANY}])?\ufe0f? ?(?P<n>[0-9]{{1,9}})")


def marked(thing: Thing, number: int) -> str:
    """The number as people see it."""
    return f"{SIGNS[thing][0]}{number}"


def number_of(text: str) -> tuple[Thing | None, int] | None:
    """What a text that is a number says, with the thing its sign names, if it has one; None for any other text."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    return next((thing for thing, signs in SIGNS.items() if (found["sign"] or " ") in signs), None), int(found["n"])


def of(thing: Thing, text: str) -> int | None:
    """The number of such a thing, its sign left out or not; None for the number of another thing and any other text."""
    found = number_of(text)
    return found[1] if found is not None and found[0] in (None, thing) else None
