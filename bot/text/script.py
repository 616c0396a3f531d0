"""Which script a person writes, so that an answer can use the same. Detects no other languages."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Literal

from bot.text.fold import simplified

Script = Literal["zh-Hans", "zh-Hant", "en"]
SCRIPTS: tuple[Script, ...] = ("zh-Hans", "zh-Hant", "en")

_ENGLISH = (
    "a an the i me my mine you your yours he she him her his it its we us our they them their this that these those "
    "is am are was were be been do does did have has had will would can could should shall may might must "
    "what which who whom whose when where why how of to in on at for from with about and or but if so as by than "
    "not no there here just then too s t m re ve ll d"
)
ENGLISH = frozenset(_ENGLISH.split())
"""English function words: they make a sentence English, and say nothing of what it is about."""

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


def script_of(text: str, fallback: Script) -> Script:
    """The script of a message; `fallback` where nothing tells (emoji, figures), or 你好 from a reader of Chinese.

    A few Chinese characters in an English sentence (a name) leave it English; Latin names in Chinese leave it Chinese.
    """
    plain = unicodedata.normalize("NFKC", _ADDRESS.sub(" ", text))
    chars = _CHAR.findall(plain)
    words = _WORD.findall(plain)
    if not chars:
        return "en" if words else fallback
    common = sum(word.lower() in ENGLISH for word in words)
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
    One Latin word (ok, stop, LRU) does not turn a writer of Chinese into one of English.
    """
    said = text
    for name in names:
        said = said.replace(name, " ")
    if _COMMAND.match(said):
        return before or default
    if before not in (None, "en") and not _CHAR.search(said) and len(_WORD.findall(said)) <= 1:
        return before or default
    return script_of(said, before or default)


def usual_script(lines: Iterable[str], names: tuple[str, ...], before: Script | None, default: Script) -> Script:
    """The language that somebody mostly writes in these lines, their last ones; as often as not it is the one `before`.

    One Latin word (hi, ok) tells it of nobody who wrote more.
    """
    said = [line for line in lines if line.strip()]
    whole = [line for line in said if _CHAR.search(line) or len(_WORD.findall(line)) > 1]
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
