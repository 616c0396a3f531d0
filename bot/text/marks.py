"""Marks that a model writes in a reply for what is no text: [[react:❤️]] and [[sticker:抱抱]]. What people write is never
read for them."""

import re
import unicodedata
from dataclasses import dataclass

from bot.text.catalogue import LazyPattern

LONGEST_MARK = 64
"""Characters of a mark's content; what is longer is hidden as well, and means nothing."""

EMOJI_CHARS = 12
"""Code points of one emoji: a family of four has seven."""

STICKER_MARK = "[[sticker:"
"""How the log begins a mark for a sticker."""

_BEGINS = r"\[\[[ \t]*(?:react|sticker)[ \t]*[:：]"
_MARK = LazyPattern(r"\[\[[ \t]*(?P<kind>react|sticker)[ \t]*[:：](?P<content>[^\[\]\n]*)\]\]", re.IGNORECASE)
_ALONE = LazyPattern(rf"^[ \t]*(?:{_BEGINS}[^\[\]\n]*\]{{0,2}}[ \t]*)+(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_HIDDEN = LazyPattern(rf"[ \t]*{_BEGINS}[^\[\]\n]*\]{{0,2}}", re.IGNORECASE)
_STARTS = ("[[react:", "[[sticker:")
_JOINER, _SELECTORS = "\u200d", "\ufe0e\ufe0f"
_TONES = ("\U0001f3fb", "\U0001f3ff")


@dataclass(frozen=True, slots=True)
class ReplyMarks:
    """A reply without its marks, and what the first of each kind says: an emoji, the label of a sticker; "" for none."""

    text: str
    reaction: str = ""
    sticker: str = ""


def read_marks(text: str) -> ReplyMarks:
    """What a whole reply says in words and in marks. One that is broken, or no emoji, is hidden and means nothing."""
    if "[[" not in text:
        return ReplyMarks(text)
    said = [(found["kind"].lower(), found["content"].strip()) for found in _MARK.finditer(text)]
    reactions = [content for kind, content in said if kind == "react" and is_emoji(content)]
    stickers = [content for kind, content in said if kind == "sticker" and content and len(content) <= LONGEST_MARK]
    return ReplyMarks(without_marks(text), (reactions or [""])[0], (stickers or [""])[0])


def without_marks(text: str) -> str:
    """The words of a reply; a line that was marks alone is gone with them."""
    if "[[" not in text:
        return text
    return _HIDDEN.sub("", _ALONE.sub("", text))


def marks_so_far(text: str) -> str:
    """The words of a half-written reply, without what may become a mark."""
    words = without_marks(text)
    at = words.rfind("[", 0, -1) if words.endswith("[[") else words.rfind("[[")
    at = len(words) - 1 if at < 0 and words.endswith("[") else at
    tail = "".join(words[at:].split()).lower().replace("：", ":") if at >= 0 else ""
    return words[:at].rstrip(" \t") if tail and any(start.startswith(tail) for start in _STARTS) else words


def told_marks(reaction: str, sticker: str) -> str:
    """The marks that the log keeps of a reply."""
    return (f"[[react:{reaction}]]" if reaction else "") + (f"{STICKER_MARK}{sticker}]]" if sticker else "")


def is_emoji(text: str) -> bool:
    """Whether it is one emoji: signs that are joined, with what says how they are drawn."""
    if not 0 < len(text) <= EMOJI_CHARS:
        return False
    signs, joined = 0, True
    for char in text:
        kind = unicodedata.category(char)
        if kind == "So":
            signs += not joined or not signs
            joined = False
        elif char == _JOINER:
            joined = True
        elif char not in _SELECTORS and not _TONES[0] <= char <= _TONES[1]:
            return False
    return signs == 1 and not joined
