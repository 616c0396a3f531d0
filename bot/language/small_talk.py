"""Whether a message is nothing but small talk, by vocabulary."""

import re
import unicodedata
from functools import cache, lru_cache

from bot.text.catalogue import read_table
from bot.text.fold import fold
from bot.text.length import CLAUSE_MARKS

LONGEST = 40
"""Characters; what is longer is about something (seed 一般聊天 vs 主題／記憶: 30 to 50)."""

BARE = 3
"""A clause without a word of small talk may be this long beside one that has some: 谢谢，你呢？"""

_SAID, _WARM, _ABOUT, _WISH, _WISHED, _THIRD, _GREETED, _WHEN, _ASKED = (1 << bit for bit in range(9))
_DATA: dict[str, str] = read_table("bot.language", "small_talk")
_WORDS = {name: text.split() for name, text in _DATA.items()}
_KINDS = dict.fromkeys((*_WORDS["around"], *_WORDS["called"]), 0)
for _name, _kind in (
    ("wished", _WISHED),
    ("about", _ABOUT),
    ("wish", _WISH),
    ("said", _SAID),
    ("warm", _SAID | _WARM),
    ("third", _THIRD),
    ("when", _WHEN),
    ("asked", _SAID | _ASKED),
):
    _KINDS |= dict.fromkeys(_WORDS[_name], _kind)
_KINDS |= {word: _KINDS.get(word, _SAID) | _GREETED for word in _WORDS["greeted"]}
_KINDS |= {
    word.removesuffix("了") + end: kind | _KINDS.get(word.removesuffix("了") + end, 0)
    for word, kind in _KINDS.items()
    if len(word) > 2 and word.endswith("了")
    for end in _WORDS["ends"]
}
_WIDEST = max(map(len, _KINDS))

_STICKER = re.compile(r"\[sticker[^\]]*\]|<a?:\w+:\d+>|:[a-z0-9_+-]+:|[ㄅ-ㄩ]+")
"""And what Taiwan writes for a sound: 早ㄤ, ㄏㄏ."""

_BREAKS = re.compile(CLAUSE_MARKS)
_PART = re.compile(r"[㐀-鿿]+|[a-z0-9']+(?:[ .!?~-]+[a-z0-9']+)*")
_ASKS = re.compile(r"(?:[?？]|[吗呢嘛么])[^\w]*\Z")
_GAP = re.compile(r"[ .!?~-]+")
_LONG_VOWEL = re.compile(r"([a-z])\1{2,}")
_MOST_WORDS = 8
"""Words of the longest phrase: thank you so much for being so kind."""


def is_casual(text: str, names: tuple[str, ...] = ()) -> bool:
    """Whether `text` is only greetings, thanks, consent, goodbyes, laughter, praise, particles, emoji and stickers.

    The bot's own names are peeled off as well. A word that is in no list is about something: the costly error is to
    take a request for small talk (seed 一般聊天 vs 主題／記憶, L1-L6). An empty text is small talk; a bare name is a call,
    and what for stands elsewhere.
    """
    if len(text) > 4 * LONGEST:
        return False
    said = fold(text).replace("’", "'").strip()
    called = any(fold(name) in said for name in names)
    for name in names:
        said = said.replace(fold(name), " ")
    said = _STICKER.sub(" ", said)
    if len(said) > LONGEST:
        return False
    verdicts = [_clause(clause) for clause in _BREAKS.split(said) if _letters(clause)]
    return None not in verdicts and True in verdicts if verdicts else not called


def asks_something(text: str) -> bool:
    """Whether the end of a text asks something of whoever reads it."""
    return bool(_ASKS.search(fold(text[-LONGEST:])))


def _clause(clause: str) -> bool | None:
    """Whether a clause has a word of small talk; None when it has anything else."""
    parts = _PART.findall(clause)
    if sum(map(len, map(_letters, parts))) != len(_letters(clause)):
        return None  # another script
    latin = [_phrases(_LONG_VOWEL.sub(r"\1\1", _GAP.sub(" ", part)).split()) for part in parts if part[0] < "㐀"]
    if None in latin:
        return None
    han = "".join(part for part in parts if part[0] >= "㐀")
    seen = _kinds(han)
    if any(_is_small_talk(kinds) for kinds in seen):
        return True
    if 0 not in seen or len(han) > BARE:
        return None
    return True in latin


def _phrases(words: list[str]) -> bool | None:
    """Whether one of the phrases that make up these words is small talk; None when they are no such phrases."""
    seen: list[set[bool]] = [{False}, *(set() for _ in words)]
    for start, before in enumerate(seen[:-1]):
        for end in range(start + 1, min(len(words), start + _MOST_WORDS) + 1 if before else 0):
            if (said := _phrase(" ".join(words[start:end]))) is not None:
                seen[end] |= {said or each for each in before}
    return max(seen[-1]) if seen[-1] else None


@lru_cache(maxsize=4096)
def _phrase(text: str) -> bool | None:
    """Whether a phrase is small talk by itself; None when it is neither that nor what may stand beside it."""
    if _english("english").fullmatch(text):
        return True
    return False if _english("english_around").fullmatch(text) else None


@cache
def _english(name: str) -> re.Pattern[str]:
    """A list of expressions, compiled at its first use: that takes longer than all else of this module."""
    return re.compile("".join(line.strip() for line in _DATA[name].splitlines()))


def _kinds(han: str) -> set[int]:
    """The kinds of words that a text can be read as, one number for each way to cut it; empty when there is none."""
    seen: list[set[int]] = [{0}, *(set() for _ in han)]
    for start, before in enumerate(seen[:-1]):
        for end in range(start + 1, min(len(han), start + _WIDEST) + 1 if before else 0):
            if (kind := _KINDS.get(han[start:end])) is not None:
                seen[end] |= {kinds | kind for kinds in before}
    return seen[-1]


def _is_small_talk(kinds: int) -> bool:
    needs = ((_ABOUT, _WARM), (_WISHED, _WISH), (_THIRD, _GREETED), (_WHEN, _WARM | _ASKED))
    return bool(kinds & _SAID) and all(kinds & other or not kinds & kind for kind, other in needs)


def _letters(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] in "LN")
