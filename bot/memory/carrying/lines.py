"""One line of an export's Markdown: `- #12 2026-06-12 text <!-- {the rest} -->`. It knows no headings."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.memory.carrying.values import BadValue, object_of, time_of, time_text

_COMMENT = r"<!-- (?P<more>\{[^<>\n]*\}) -->"
_ITEM = re.compile(
    rf"[-*+] (?:#(?P<number>\d{{1,15}}) (?P<day>\d{{4}}-\d\d-\d\d) )?(?P<text>.*?)(?: {_COMMENT})?[ \t\r]*"
)
_NOTE = re.compile(rf"(?P<text>.*?) *{_COMMENT}[ \t\r]*")
_ESCAPED = re.compile(r"\\([nr\\<])")
_RANGE = re.compile(r"(\d{1,15})(?:-(\d{1,15}))?")

MOST_NUMBERS = 10_000_000
"""How many numbers a header may name: a wrong range must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line as read: number 0 and day "" for one that somebody wrote; `more` is what its comment holds."""

    number: int
    day: str
    text: str
    more: Mapping[str, object]


def comment(values: Mapping[str, object]) -> str:
    """A comment that no value can end."""
    told = json.dumps(values, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {told} -->"


def bullet(number: int, at: int, text: str, more: Mapping[str, object]) -> str:
    """The line of a record, with its line end; `at` gives the day, UTC."""
    shown = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("<!--", "\\<!--")
    return f"- #{number} {time_text(at)[:10]} {shown} {comment(more)}\n"


def bullet_of(line: str) -> Bullet | None:
    """A line read back; None when it is no list item. BadValue when its comment is none of ours."""
    found = _ITEM.fullmatch(line)
    if found is None:
        return None
    text = _ESCAPED.sub(lambda match: {"n": "\n", "r": "\r"}.get(match[1], match[1]), found["text"])
    more = object_of(found["more"]) if found["more"] else {}
    return Bullet(int(found["number"] or 0), found["day"] or "", text, more)


def noted(line: str) -> tuple[str, dict[str, object]]:
    """The text of a heading or a line, and the values of the comment at its end."""
    found = _NOTE.fullmatch(line)
    return (line.strip(), {}) if found is None else (found["text"].strip(), object_of(found["more"]))


def moved(day: str, at: int) -> int:
    """The time of a record whose day may have been edited: as it was, or noon of the other day, UTC."""
    return at if not day or time_text(at).startswith(day) else time_of(f"{day}T12:00:00Z")


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as 1-40,42."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def numbers_of(text: object) -> frozenset[int]:
    """The numbers of such ranges; BadValue when it is none."""
    found: set[int] = set()
    for part in text.split(",") if isinstance(text, str) and text else ():
        match = _RANGE.fullmatch(part)
        if match is None:
            raise BadValue("numbers should be like 1-40,42")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first + len(found) > MOST_NUMBERS:
            raise BadValue("numbers should be like 1-40,42")
        found.update(range(first, last + 1))
    return frozenset(found)
