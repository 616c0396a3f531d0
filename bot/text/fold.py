"""Folding (NFKC, Simplified, lower case), the form in which texts are compared, and detection of the writer's
script."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from bot.core.people import Script
from bot.text.catalogue import read_table
from bot.text.tables import read_table_file

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

_WORDS = read_table("bot.text", "stop_words")
ENGLISH_FUNCTION_WORDS = frozenset(_WORDS["en"].split())
"""English function words: they make a sentence English, and say nothing of what it is about."""
_TELLING_WORDS = frozenset(_WORDS["en_alone"].split())
"""English words that wish or answer something alone."""

_CHAR = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af]")
_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_ADDRESS = re.compile(r"https?://\S+")
_TRADITIONAL_TOO = "後於徵菸麽妳"
"""Traditional, though GB 2312 holds them or OpenCC leaves them alone."""
_SIMPLIFIED_TOO = "么听"
"""Simplified, though the frequent half of Big5 holds them (as rare words)."""
_COMMAND = re.compile(r"[\s,，:：]*\.ai\b")
_WORDS_PER_CHAR = 3
_BIG5_FREQUENT = range(0xA440, 0xC67F)


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
    spec = find_spec("opencc")
    if spec is None or spec.origin is None:
        raise ImportError("opencc is not installed")
    library = Path(spec.origin)
    sources = (library, *sorted(library.parent.rglob("TS*")), *library.parent.rglob("t2s.json"))
    before, after = bytes(read_table_file("simplified", sources, _simplified)).decode().split("\n")
    return dict(zip(map(ord, before), after, strict=True))


def _simplified() -> bytes:
    """The characters that OpenCC changes and what it makes of them, a line each."""
    import opencc

    convert = opencc.OpenCC("t2s").convert
    chars = [chr(point) for points in _HAN for point in points]
    # Line breaks keep OpenCC from matching phrases; twice, because 薴 becomes 苧, which becomes 苎.
    plain = convert(convert("\n".join(chars))).split("\n")
    changed = [(char, other) for char, other in zip(chars, plain, strict=True) if char != other]
    return "\n".join(map("".join, zip(*changed, strict=True))).encode()


@cache
def _plain() -> dict[int, str]:
    return {**simplified(), **_VARIANTS}


def _letter(sign: re.Match[str]) -> str:
    """The word that begins the phrase of a sign."""
    return "صلى" if sign[0] == "\ufdfa" else "جل"


_folded = lru_cache(maxsize=4096)(fold)


@lru_cache(maxsize=4096)
def _joins(char: str) -> bool:
    """Whether `char` is invisible or NFKC may compose it with what stands before it."""
    if _UNSEEN.match(char):
        return True
    first = unicodedata.normalize("NFKD", char)[0]
    return unicodedata.category(first)[0] == "M" or any(ord(first) in points for points in _JAMO)


def script_of(text: str, fallback: Script) -> Script:
    """The script of a message; `fallback` where nothing tells (emoji, figures), or 你好 from a reader of Chinese.

    A few Chinese characters in an English sentence (a name) leave it English; Latin names in Chinese leave it Chinese.
    """
    plain = unicodedata.normalize("NFKC", _ADDRESS.sub(" ", text))
    chars = _CHAR.findall(plain)
    words = _WORD.findall(plain)
    if not chars:
        return "en" if words else fallback
    common = sum(word.lower() in ENGLISH_FUNCTION_WORDS for word in words)
    if 1 < common >= len(chars) or len(words) > _WORDS_PER_CHAR * len(chars):
        return "en"
    only_traditional, only_simplified = _telling()
    lead = sum((char in only_traditional) - (char in only_simplified) for char in chars)
    if lead:
        return "zh-Hant" if lead > 0 else "zh-Hans"
    return "zh-Hans" if fallback == "en" else fallback


def script_next(text: str, names: tuple[str, ...], before: Script | None, default: Script) -> Script:
    """The script of a message of somebody who wrote `before` last; what calls nuan by one of `names` tells nothing.

    Nor does a command after the name: its words are English in every language.
    One Latin word (ok, stop, LRU) does not turn a writer of Chinese into one of English, but undo and forget #1 do; /forget #1 is chosen from a menu.
    """
    said = text
    for name in names:
        said = said.replace(name, " ")
    if _COMMAND.match(said):
        return before or default
    words = _WORD.findall(said)
    telling = not said.lstrip().startswith("/") and any(word.lower() in _TELLING_WORDS for word in words)
    if before not in (None, "en") and len(words) <= 1 and not _CHAR.search(said) and not telling:
        return before or default
    return script_of(said, before or default)


def usual_script(lines: Iterable[str], names: tuple[str, ...], before: Script | None, default: Script) -> Script:
    """The language that somebody mostly writes in these lines, their last ones; as often as not it is the one `before`.

    One Latin word (hi, ok) tells it of nobody who wrote more.
    """
    said = [line for line in lines if line.strip()]
    whole = [line for line in said if _CHAR.search(line) or len(_WORD.findall(line)) > 1]
    if before is not None and not whole:
        return before
    told = Counter(script_next(line, names, before, default) for line in whole or said)
    most = max(told, key=lambda script: (told[script], script == before), default=before or default)
    return most if before is None or told[most] > told[before] else before


@cache
def _telling() -> tuple[frozenset[str], frozenset[str]]:
    """Characters that only Traditional, and that only Simplified writing uses."""
    table = simplified()
    traditional = {chr(point) for point in table if not _encoded(chr(point), "gb2312")}
    plain = {char for char in table.values() if _encoded(char, "gb2312") and not _frequent(char)}
    return frozenset(traditional.union(_TRADITIONAL_TOO)), frozenset(plain.union(_SIMPLIFIED_TOO))


def _frequent(char: str) -> bool:
    """Whether Traditional writing uses it often (then it is no sign of Simplified: 后 里 台 吃)."""
    return int.from_bytes(_encoded(char, "big5"), "big") in _BIG5_FREQUENT


def _encoded(char: str, charset: str) -> bytes:
    return char.encode(charset, "ignore")
