"""A wish to forget a matter that was talked of (把小凯的事都忘掉, don't remember that savings thing), and what tells of
it. It decides by patterns alone and stores nothing; a lament, a report and a question ask for nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.memory.match import core_of, features_of, holds
from bot.memory.shape import beginning, shaped
from bot.memory.wish_patterns import pattern, templates
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.script import ENGLISH
from bot.types.duration import DAY_MS, MINUTE_MS
from bot.types.memory import MemoryCommand, Scope

MOST_CHARS = 120
"""A wish is short."""

SHARE, NEAR_SHARE = 0.6, 0.5
"""Share of what is named that a line must hold: any line, and one of these days where the wish points at it."""

NEAR_MS = 2 * DAY_MS
"""Who says "that savings thing" means what they said these days."""

GOES_ON_MS, GOES_ON = 10 * MINUTE_MS, 3
"""So soon, and at most so many lines on, 他 is still who was named before."""

_LATIN = re.compile(r"[a-z0-9\u00c0-\u024f]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One of somebody's own lines: its number, when it was said (ms), and its text."""

    event_id: int
    at: int
    text: str


def matter_in(text: str, names: tuple[str, ...] = ()) -> MemoryCommand | None:
    """The wish that a whole message is, the matter verbatim: all that tells of it (scope "matter"), or what was said
    of it these days ("just"). Never raises."""
    if len(text) > MOST_CHARS or not pattern("hint").search(fold(text)):
        return None
    folded, origin = fold_mapped(text)
    shape = shaped(folded, names)
    if "?" in shape and not (pattern("asking").search(shape) or pattern("courtesy").search(shape)):
        return None
    place = beginning(shape)
    for template in templates("forget"):
        found = template.match(shape, place.at)
        if found and pattern("matter_over").fullmatch(shape, found.end()) and (span := _matter(shape, found)):
            content = unfold(text, origin, *span).strip()
            just = pattern("talked_thing").search(found[0]) and not pattern("all_told").search(found[0])
            forever = pattern("forever").search(shape) is not None
            return MemoryCommand("forget", content, forever=forever, scope="just" if just else "matter")
    return None


def _matter(shape: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Where a wish to forget names its matter; None for a report (昨天学的全忘了) and for what is no matter."""
    said, rest = found["c"], shape[found.end("c") : found.end()]
    marked = pattern("matter_marked").search(shape, found.start())
    named = pattern("matter_named").fullmatch(said)
    if named is None or marked is None or re.search("忘了(?!.*吧)", rest) or pattern("question").search(said):
        return None
    start, end = named.span(named.lastgroup or 0)
    body = said[start:end].strip()
    if not core_of(body) or pattern("nobody").fullmatch(body) or pattern("pointing").fullmatch(body):
        return None
    return found.start("c") + start, found.start("c") + end


def telling(content: str, scope: Scope, lines: Sequence[Line], now: int) -> tuple[Line, ...]:
    """Of somebody's own lines, oldest first, those that tell of the matter, and those that go on about whom one names.

    Of "that savings thing" these are lines of these days, which may only come near its words (saved).
    """
    just = scope == "just"
    found: list[Line] = []
    last, left = 0, 0
    for line in lines:
        near = just and line.at >= now - NEAR_MS
        if (near or not just) and tells_of(content, line.text, near):
            found.append(line)
            last, left = line.at, GOES_ON
        elif left and line.at - last <= GOES_ON_MS and pattern("of_whom").search(fold(line.text)):
            found.append(line)
            last, left = line.at, left - 1
        else:
            left = 0
    return tuple(found)


def tells_of(content: str, text: str, near: bool = False) -> bool:
    """Whether a text holds these words, or most of what they say; `near` also those that only begin alike."""
    said, wanted = fold(text), core_of(content)
    if len(wanted) > 1 and holds(said, wanted):
        return True
    features = features_of(wanted)
    if not features:
        return False
    there = features_of(said)
    if not near:
        return len(features & there) >= SHARE * len(features)
    words = [word for word in _LATIN.findall(said) if word not in ENGLISH]
    both = sum(one in there or (one.isascii() and any(_alike(one, word) for word in words)) for one in features)
    return both >= NEAR_SHARE * len(features)


def _alike(one: str, other: str) -> bool:
    """Whether two Latin words begin alike: weight and weigh, saving and saved; not: house and how."""
    shared = max(3, (max(len(one), len(other)) + 1) // 2)
    return len(one) >= shared and one[:shared] == other[:shared]
