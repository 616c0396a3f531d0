"""Cutting a reply that is longer than it may be. Pure."""

from bot.text.clip import ELLIPSIS
from bot.text.split import split


def shorten(text: str, most: int | None) -> str:
    """The text, or its beginning up to the best border and "…", together at most `most` characters (None: any)."""
    if most is None or len(text) <= most:
        return text
    first = split(text, most - 2)[0].rstrip()
    return f"{first}\n{ELLIPSIS}" if first.endswith("```") else f"{first}{ELLIPSIS}"
