"""Cleaning: what may enter the house, a name or a log line. Escapes no markup."""

import re
import unicodedata

from bot.text.clip import clip

NAME_CHARS = 64
"""Longest display name, in characters."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_LINE_END = re.compile("\r\n?")
_BLANK = re.compile("[\\s\u115f\u1160\u2800\u3164\uffa0]+")
_NAME_INPUT = 16 * NAME_CHARS


def clean(text: str) -> str:
    """The text without what XML 1.0 or UTF-8 cannot hold; line ends are \\n, halves of a surrogate pair are joined."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _ILLEGAL.sub("", _LINE_END.sub("\n", text))


def clean_name(text: str) -> str:
    """A display name on one line, without invisible characters, at most NAME_CHARS characters, "?" if none is left."""
    spaced = _BLANK.sub(" ", clean(text[:_NAME_INPUT]))
    seen = "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf"))
    return clip(" ".join(seen.split()), NAME_CHARS).rstrip() or "?"


def clean_line(text: str) -> str:
    """The text cleaned and on one line, each run of white space one space."""
    return " ".join(clean(text).split())


def as_data(text: str) -> str:
    """Outside text on one line of a prompt: cleaned, white space folded, markup escaped so that it can open no tag."""
    flat = clean_line(text)
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
