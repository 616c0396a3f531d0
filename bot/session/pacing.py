"""A reply as several messages, with pauses and typing time between them (C19). Pure: it sends and stores nothing."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

STEPS = 24
"""Most steps of one reply, messages and pauses together; what is more is in the last message (SEED_SYSTEMS 1.2)."""

TOTAL_MS = 45_000
"""The longest that all waits of one reply take together; what is over it is shortened from the end (the same)."""

GAP_MS = 300
"""Between two messages where the model wrote no pause (the same)."""

PAUSE_MS = 800
"""A pause whose length the model left out."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_WORD = r"(?:pause|wait|delay|sleep|typing|停顿|停頓|暂停|暫停|等待|停|等)"
_LONG = r"[ \t]*[:：=]?[ \t]*(\d{1,6}(?:\.\d{1,3})?)[ \t]*(ms|毫秒|seconds?|sec|s|秒)?"
_MARK = re.compile(
    rf"(?:\[\[|［［|【【)[ \t]*(?:{_WORD})?{_LONG}[ \t]*(?:\]\]?(?![\](])|］］?|】】?|\Z)"
    rf"|(?:\[\[?|［［?|【【?|<)[ \t]*{_WORD}(?:{_LONG})?[ \t]*(?:/?>|\]\]?|］］?|】】?)",
    re.IGNORECASE,
)
"""[[800]] as the model is told to write it, and what it makes of that: [[1.5s]], [pause 800], 【【停 800】】, <pause>."""

_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SECONDS = ("s", "sec", "second", "seconds", "秒")
_BARE_SECONDS = 60
"""A number without a unit below this means seconds; models forget that it is milliseconds."""


@dataclass(frozen=True, slots=True)
class Part:
    """One message: it goes `wait_ms` after the one before it, the last `typed_ms` of which it is being typed."""

    text: str
    wait_ms: int = 0
    typed_ms: int = 0


def script(reply: str, seed: int) -> tuple[Part, ...]:
    """The messages that a reply consists of: blank lines and pauses divide it, but never code; () when nothing is left.

    The first one goes at once, unless the reply begins with a pause: whoever waits for it has waited for the model.
    `seed` decides the typing time's chance part, so that the same turn is said the same way.
    """
    found: list[tuple[int, str]] = []
    pause = 0
    for count, step in enumerate(_steps(reply), 1):
        match step:
            case int():
                pause += step if count < STEPS else 0
            case str() if count > STEPS and found:
                found[-1] = (found[-1][0], f"{found[-1][1]}\n\n{step}")
            case str():
                found.append((pause, step))
                pause = 0
    left, parts = TOTAL_MS, []
    for number, (pause, text) in enumerate(found):
        typed = typing_ms(text, seed, number) if number else 0
        wait = min(left, (pause or (GAP_MS if number else 0)) + typed)
        left -= wait
        parts.append(Part(text, wait, min(typed, wait)))
    return tuple(parts)


def typing_ms(text: str, seed: int, number: int) -> int:
    """How long a message takes to type: 220 ms and a second for 12 characters, ± 120 ms, 120 to 1,500 (the same)."""
    chance = int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:4], "big") % 241 - 120
    return max(120, min(1_500, 220 + len(text) * 1_000 // 12 + chance))


def _steps(reply: str) -> Iterator[str | int]:
    """Messages and pauses (ms) in order."""
    text, start, at = reply.replace("\r\n", "\n"), 0, 0
    while (cut := _next(text, at)) is not None:
        if (code := _CODE.search(text, at)) is not None and code.start() < cut.end() and code.end() > cut.start():
            at = max(code.end(), at + 1)
            continue
        if said := text[start : cut.start()].strip():
            yield said
        if (pause := _pause(cut)) is not None:
            yield pause
        start = at = cut.end()
    if said := text[start:].strip():
        yield said


def _next(text: str, at: int) -> re.Match[str] | None:
    """The next blank line or pause."""
    found = [match for match in (_BLANK.search(text, at), _MARK.search(text, at)) if match is not None]
    return min(found, key=lambda match: match.start(), default=None)


def _pause(cut: re.Match[str]) -> int | None:
    """The length of a pause, ms; None for a blank line."""
    if not cut[0].strip():
        return None
    long, unit = (cut[1], cut[2]) if cut[1] else (cut[3], cut[4])
    if not long:
        return PAUSE_MS
    in_seconds = unit.lower() in _SECONDS if unit else float(long) < _BARE_SECONDS
    return min(round(float(long) * (1_000 if in_seconds else 1)), TOTAL_MS)
