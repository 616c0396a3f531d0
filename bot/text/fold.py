"""Folding: one form in which texts are compared and searched (NFKC, Simplified, case). Never what people are shown.

Each character folds alone, whatever stands around it, so a part of a text folds to a part of the folded text.
"""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise

_HAN = (range(0x3400, 0xA000), range(0x20000, 0x323B0))
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
_LONG = re.compile("[\ufdfa\ufdfb]")
"""Signs for a whole phrase, which NFKC spells out in 18 and 8 letters: a message of them would grow to a book."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_VARIANTS = dict(zip(map(ord, "著覆瞭藉甚妳"), "着复了借什你", strict=True))
"""Pairs that Simplified writing merges only in some words (看著 看着, 回覆 回复, 瞭解 了解, 憑藉 凭借, 甚麼 什么)."""
_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))


def fold(text: str) -> str:
    """The form in which two spellings of the same text are equal; invisible characters are gone. Never raises."""
    if text.isascii():
        return text.lower()
    seen = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    if _LONG.search(seen):
        seen = _LONG.sub(_letter, seen)
    return unicodedata.normalize("NFKC", seen).translate(_plain()).casefold()


def fold_mapped(text: str) -> tuple[str, tuple[int, ...]]:
    """`fold(text)`, and for each of its characters the index in `text` where it comes from, never decreasing."""
    if text.isascii():
        return text.lower(), tuple(range(len(text)))
    starts = [index for index, char in enumerate(text) if not _joins(char)]
    parts: list[str] = []
    origin: list[int] = []
    for start, end in pairwise(sorted({0, *starts, len(text)})):
        part = _folded(text[start]) if end == start + 1 else fold(text[start:end])
        parts.append(part)
        origin.extend([start] * len(part))
    return "".join(parts), tuple(origin)


def unfold(text: str, origin: tuple[int, ...], start: int, end: int) -> str:
    """The part of `text` whose folded form is `[start:end]`; `origin` is the map of `fold_mapped`."""
    if start >= end:
        return ""
    last = origin[end - 1]
    stop = next((index for index in origin[end:] if index > last), len(text))
    return text[origin[start] : stop]


@cache
def simplified() -> dict[int, str]:
    """Traditional code point → Simplified character, for every character that OpenCC changes when it stands alone."""
    import opencc

    convert = opencc.OpenCC("t2s").convert
    chars = [chr(point) for points in _HAN for point in points]
    # Line breaks keep OpenCC from matching phrases; twice, because 薴 becomes 苧, which becomes 苎.
    plain = convert(convert("\n".join(chars))).split("\n")
    return {ord(char): other for char, other in zip(chars, plain, strict=True) if char != other}


@cache
def _plain() -> dict[int, str]:
    return {**simplified(), **_VARIANTS}


def _letter(sign: re.Match[str]) -> str:
    """The word that begins the phrase of a sign."""
    return "صلى" if sign[0] == "\ufdfa" else "جل"


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    return fold(char)


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    """Whether `char` is invisible or NFKC may compose it with what stands before it."""
    if _UNSEEN.match(char):
        return True
    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.category(first)[0] == "M" or any(ord(first) in points for points in _JAMO)
