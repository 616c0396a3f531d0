"""A reply as several messages with pauses and typing time between them."""

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

_WORD = r"(?:pause|wait|delay|sleep|typing|停顿|停頓|暂停|暫停|等待|停|等)"
_GAP = r"[ \t]{0,3}"
_LONG = rf"{_GAP}[:：=]?{_GAP}(\d{{1,6}}(?:\.\d{{1,3}})?){_GAP}(ms|毫秒|seconds?|sec|s|秒)?"
_CUT = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
    r"|(?P<blank>\n[ \t]*(?:\n[ \t]*)+)"
    rf"|(?P<bare>(?:\[\[|［［|【【){_GAP}(?:{_WORD})?{_LONG}{_GAP}(?:\]\]?(?![\](])|］］?|】】?|\Z))"
    rf"|(?P<named>(?:\[\[?|［［?|【【?|<){_GAP}{_WORD}(?:{_LONG})?{_GAP}(?:/?>|\]\]?|］］?|】】?))",
    re.IGNORECASE | re.DOTALL,
)
"""Code, which stays whole; blank lines; and [[800]] as the model is told to write it, with what it makes of that:
[[1.5s]], [pause 800], 【【停 800】】, <pause>."""

_SECONDS = ("s", "sec", "second", "seconds", "秒")
_BARE_SECONDS = 60
"""A number without a unit below this means seconds; models forget that it is milliseconds."""


@dataclass(frozen=True, slots=True)
class PacedMessage:
    """One message: it goes `wait_ms` after the one before it, the last `typed_ms` of which it is being typed."""

    text: str
    wait_ms: int = 0
    typed_ms: int = 0


def paced_messages(reply: str, seed: int) -> tuple[PacedMessage, ...]:
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
        parts.append(PacedMessage(text, wait, min(typed, wait)))
    return tuple(parts)


def typing_ms(text: str, seed: int, number: int) -> int:
    """How long a message takes to type: 220 ms and a second for 12 characters, ± 120 ms, 120 to 1,500 (the same)."""
    chance = int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:4], "big") % 241 - 120
    return max(120, min(1_500, 220 + len(text) * 1_000 // 12 + chance))


def _steps(reply: str) -> Iterator[str | int]:
    """Messages and pauses (ms) in order."""
    text, start = reply.replace("\r\n", "\n"), 0
    for cut in _CUT.finditer(text):
        if cut["code"]:
            continue
        if said := text[start : cut.start()].strip():
            yield said
        if not cut["blank"]:
            yield _pause(*(cut.group(4, 5) if cut["bare"] else cut.group(7, 8)))
        start = cut.end()
    if said := text[start:].strip():
        yield said


def _pause(long: str | None, unit: str | None) -> int:
    """The length of a pause, ms."""
    if not long:
        return PAUSE_MS
    in_seconds = unit.lower() in _SECONDS if unit else float(long) < _BARE_SECONDS
    return min(round(float(long) * (1_000 if in_seconds else 1)), TOTAL_MS)
