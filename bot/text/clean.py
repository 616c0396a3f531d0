"""Cleans and escapes outside text: control characters, names, single lines, data inside prompts; secrets in log lines."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from urllib.parse import quote

from bot.text.fold import fold
from bot.text.length import clip

NAME_CHARS = 64
"""Longest display name, in characters."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENTITY = re.compile(r"&(?=#?\w{1,12};)")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")
_BLANK = re.compile("[\\s\u115f\u1160\u2800\u3164\uffa0]+")
_ID_SIGNS = re.compile("[:：﹕︰∶꞉ː׃()（）﹙﹚⦅⦆｟｠]+")
_NAME_INPUT = 16 * NAME_CHARS
_ENDING_CHARS = 16
_FORMATS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
_BESIDE = f"[^\\s\x00-\x7f\u3000-\u9fff\uff00-\uffef\U00020000-\U0003ffff\u200c\u200d{_FORMATS}]"
_VARIANTS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_UNSHOWN = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    f"|[{_FORMATS}]|(?<!{_BESIDE})[\u200c\u200d]|[\u200c\u200d](?!{_BESIDE})|(?<={_VARIANTS}){_VARIANTS}+"
)
"""What shows nothing and turns, hides or carries text (FAULTS X18). Joiners of emoji and of scripts that need them, one
between two signs, are no such thing, nor is the flag of a region, which is spelt in tags.
"""

REDACTED = "[redacted]"
SHORTEST_SECRET = 6
"""Characters; a shorter "key" (a local server's `none`) would blot out ordinary words."""

_SECRETS = re.compile(
    r"""
      (?i:\b(?P<head>(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:[a-z]+\s+)?|\b(?:bearer|bot)\s+(?=[\w.~+/=-]{16}))
          [\w.~+/=-]+)
    | (?i:(?P<name>\b(?:api[-_]?key|token|secret|password)["']?\s*[:=]\s*["']?)[^\s"',;&]{6,})
    | (?<![\w-])(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|xox[a-z])[-_][\w-]{16,}    # keys of model servers and code hosts
    | (?<!\w)AIza[\w-]{30,}                                              # Google
    | (?<!\d)\d{6,}:[\w-]{30,}                                           # Telegram bot token
    | (?<![\w.-])[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,}                      # Discord bot token
    | (?<![\w.-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                         # JSON web token
    | (?<=://)[^\s/@:]*:[^\s/@]+(?=@)                                    # user:password in a URL
    """,
    re.VERBOSE | re.ASCII,
)


CALL_EDGE = " \t\n,，、:："
"""What stands between a call of the bot and what is said."""


def clean(text: str) -> str:
    """The text without what XML 1.0 or UTF-8 cannot hold; line ends are \\n, halves of a surrogate pair are joined."""
    if _SURROGATE.search(text):
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        text = _SURROGATE.sub("\ufffd", joined)
    return _ILLEGAL.sub("", _LINE_END.sub("\n", text))


def shown(text: str) -> str:
    """The text as people shall see it: without signs that turn or hide it; emoji and line ends stay. Never longer."""
    return text if text.isascii() and text.isprintable() else _UNSHOWN.sub(lambda match: match[1] or "", text)


def clean_name(text: str) -> str:
    """A display name on one line, without invisible characters, at most NAME_CHARS characters, "?" if none is left."""
    spaced = _BLANK.sub(" ", clean(text[:_NAME_INPUT]))
    seen = "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf"))
    return clip(" ".join(seen.split()), NAME_CHARS).rstrip() or "?"


def beside_id(name: str) -> str:
    """A display name that stands before an id, "阿明 (telegram:1)": nothing in it passes for one."""
    return " ".join(_ID_SIGNS.sub(" ", name).split()) or "?"


def clean_file(name: str) -> str:
    """A file's name as `clean_name` makes it, but with its ending, and "" for none."""
    seen = " ".join(_BLANK.sub(" ", shown(clean(name[:_NAME_INPUT]))).split())
    if len(seen) <= NAME_CHARS:
        return seen
    return f"{seen[: NAME_CHARS - _ENDING_CHARS]}…{seen[1 - _ENDING_CHARS :]}"


def clean_line(text: str) -> str:
    """The text cleaned and on one line, each run of white space one space."""
    return " ".join(clean(text).split())


def one_row(text: str) -> str:
    """The text on one line, without anything invisible."""
    spaced = clean_line(text)
    return "".join(char for char in spaced if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))


def named_once(who: str, text: str) -> tuple[str, str]:
    """Whose words a text is and the text, as they are told together: a name that the text begins with comes once.

    慧敏：慧敏：住杭州 and 慧敏：住杭州 are 慧敏 and 住杭州; Jordan: Jordan works is nobody's name before Jordan works.
    """
    if not who:
        return who, text
    text = re.sub(rf"^(?:\s*{re.escape(who)}\s*[:：])+\s*", "", text, flags=re.IGNORECASE)
    there = re.match(rf"\s*{re.escape(who)}" + (r"(?!\w)" if who[-1].isascii() else ""), text, re.ASCII | re.IGNORECASE)
    return ("" if there else who), text


def is_named(about: str, text: str) -> bool:
    """Whether a text names whom it is about by itself: 汤圆归她 names 猫汤圆, and "Biscuit gets carsick" dog Biscuit."""
    folded = fold(text)
    parts = fold(about).split()
    pairs = (part[at : at + 2] for part in parts if not part.isascii() for at in range(len(part) - 1))
    return fold(about) in folded or any(len(part) > 1 and part in folded for part in (*parts, *pairs))


def as_data(text: str) -> str:
    """Outside text on one line of a prompt: cleaned, white space folded, markup escaped so that it can open no tag."""
    return escaped(clean_line(text))


def escaped(text: str) -> str:
    """The text, in which nothing opens, closes or forges a tag; an & that begins no entity stays."""
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


class Redactor:
    """Takes the secrets it was given, and whatever looks like one, out of a text."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        self._long: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self.hide(secrets)

    def hide(self, secrets: Sequence[str]) -> None:
        """Take these out, too, from now on."""
        self._long |= {
            form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in (secret, quote(secret, "")) if form
        }
        if self._long:
            self._known = re.compile("|".join(map(re.escape, sorted(self._long, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """The text with every secret replaced by [redacted]."""
        if self._known:
            text = self._known.sub(REDACTED, text)
        return _SECRETS.sub(lambda found: (found["head"] or found["name"] or "") + REDACTED, text)

    def plain(self, value: object) -> object:
        """A value of JSON's own kinds without secrets, whatever was passed in; never raises."""
        match value:
            case None | bool() | int():
                return value
            case float():
                return value if isfinite(value) else str(value)
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(key)): self.plain(item) for key, item in value.items()}
            case list() | tuple() | set() | frozenset():
                return [self.plain(item) for item in value]
        try:
            return self.text(str(value))
        except Exception:  # noqa: BLE001 - a log line must not break the work it tells about
            return type(value).__name__


def without_call(content: str, marks: Collection[str]) -> str:
    """What is said without the marks that call the bot, at either end; a call that is all of it stays as it is."""
    left, before = content, ""
    while left != before:
        before = left
        for mark in marks:
            if left.lstrip(CALL_EDGE).startswith(mark):
                left = left.lstrip(CALL_EDGE).removeprefix(mark).lstrip(CALL_EDGE)
            if left.rstrip(CALL_EDGE).endswith(mark):
                left = left.rstrip(CALL_EDGE).removesuffix(mark).rstrip(CALL_EDGE)
    return left or content
