"""Makes anything fit for a log line: no secret, no control character, plain values. Pure."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from urllib.parse import quote

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
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


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


def one_line(text: str) -> str:
    r"""The text with control, direction and surrogate characters written as \uXXXX, as JSON writes them."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
