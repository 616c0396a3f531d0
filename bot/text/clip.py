"""Clipping: a text cut to a number of characters (code points). Knows nothing of words or tokens."""

import unicodedata

ELLIPSIS = "…"
_JOINER = "\u200d"
_LONGEST_CLUSTER = 32
"""No real cluster is longer; a letter under thousands of marks is cut all the same."""


def clip(text: str, max_chars: int) -> str:
    """The text, or its beginning and "…", together at most `max_chars` characters."""
    if len(text) <= max_chars:
        return text
    if max_chars < 1:
        return ""
    return text[: _boundary(text, max_chars - 1)] + ELLIPSIS


def clip_whole(text: str, max_chars: int) -> tuple[str, int]:
    """The beginning of the text, at most `max_chars` characters, and how many were cut (0: nothing)."""
    if len(text) <= max_chars:
        return text, 0
    kept = text[: _boundary(text, max(max_chars, 0))]
    return kept, len(text) - len(kept)


def _boundary(text: str, at: int) -> int:
    """The last place up to `at` where a cut divides no visible character."""
    cut = at
    while cut > max(0, at - _LONGEST_CLUSTER):
        if not _inside(text, cut):
            return cut
        cut -= 1
    return cut if cut == 0 else at


def _inside(text: str, cut: int) -> bool:
    before, after = text[cut - 1], text[cut]
    return (
        _JOINER in (before, after)
        or before + after == "\r\n"
        or unicodedata.category(after)[0] == "M"
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= after <= "\U000e007f"  # tags of regional flags
        or "\u1160" <= after <= "\u11ff"  # Hangul vowels and finals
        or (_is_low(after) and "\ud800" <= before <= "\udbff")
        or (_is_flag(after) and _flags_before(text, cut) % 2 == 1)
    )


def _is_low(char: str) -> bool:
    return "\udc00" <= char <= "\udfff"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, cut: int) -> int:
    """How many regional letters stand directly before `cut`; two of them make a flag."""
    start = cut
    while start > 0 and _is_flag(text[start - 1]):
        start -= 1
    return cut - start
