"""Answers in another form than text: whether a message asks to hear its answer or for a picture, and how an answer reads
aloud. By rule, pure."""

import unicodedata

from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold
from bot.text.links import addresses
from bot.text.markdown import entities

MOST_CHARS = 120
"""Who asks for a form writes no more; a longer message tells something in which such words may stand."""

_WORDS = read_table("bot.language", "media")
_ALOUD, _NOT_ALOUD = (LazyPattern("|".join(_WORDS["aloud"][name])) for name in ("asks", "not"))
_PICTURE, _NO_PICTURE = (LazyPattern("|".join(_WORDS["picture"][name])) for name in ("asks", "not"))

_UNSPOKEN = frozenset(("So", "Sk", "Cf", "Cs", "Co"))
"""Categories of signs that are seen and not said: emoji and what joins them."""

_SELECTORS = "\ufe0e\ufe0f"
_CODE = "```"
_BULLET = "•"


def asks_aloud(text: str) -> bool:
    """Whether somebody asks to be answered by voice: 说给我听, say it out loud."""
    if len(text) > MOST_CHARS:
        return False
    folded = fold(text)
    asked = _ALOUD.search(folded)
    return asked is not None and _NOT_ALOUD.search(folded[: asked.start()]) is None


def asks_picture(text: str) -> bool:
    """Whether a message has words for a picture that is wanted, so that a model may have judged that it is."""
    folded = fold(text)
    return any(not _NO_PICTURE.search(folded[: found.start()]) for found in _PICTURE.finditer(folded))


def spoken_form(text: str) -> str:
    """What is said of an answer: its words without marks and emoji; "" where it has to be seen: code, links, lists."""
    plain = entities(text).text
    if _CODE in text or _BULLET in plain or addresses(plain):
        return ""
    said = "".join(" " if char.isspace() else char for char in plain if not _is_unspoken(char))
    said = " ".join(said.split())
    return said if any(char.isalnum() for char in said) else ""


def _is_unspoken(char: str) -> bool:
    return not char.isascii() and (unicodedata.category(char) in _UNSPOKEN or char in _SELECTORS)
