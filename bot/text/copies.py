"""Whether a line is one that was said just now, delivered or told once more: what a double click and an echo look like."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

from bot.core.events import Incoming
from bot.text.fold import fold

COPY_MS = 250
"""The same person and text as close as this is one message: a double click (SEED_SYSTEMS 1.2)."""

ECHO_MS = 1_200
"""A line of the system that repeats a message this close is its echo (SEED_SYSTEMS 1.2)."""

FOLDED_CHARS = 8_000
"""How much of a text is compared folded, as folding takes long; behind that it must be the same to the letter."""

_SECOND_MS = 1_000
_ECHOING = ("", "chat")
"""Labels of an event that only tells what was said; any other event happened by itself, whatever its text is."""
_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class LinePrint:
    """A line as copies and echoes are told by: checksums of folded texts, since 忘记 empties a text at once.

    `said` is its text, `bare` that without marks, `named` the sender's name before it. `at` is the platform's time,
    0 for unknown, `arrived_at` ours, ms. `original` is the event that it copies, or itself.
    """

    original: int
    person_id: int | None
    said: int
    bare: int
    named: int
    at: int
    arrived_at: int
    target: str


def print_of(incoming: Incoming, person_id: int | None, at: int) -> LinePrint | None:
    """How a message, or a system line that may be an echo, is compared; None for what is never a copy.

    Pictures of one album and forwarded lines may share a text, and a platform waits for an answer to each command.
    """
    text = " ".join((fold(incoming.text[:FOLDED_CHARS]) + incoming.text[FOLDED_CHARS:]).split())
    bare = _MARKS.sub("", text)
    named = _MARKS.sub("", fold(incoming.sender.name)) + bare if incoming.sender else ""
    is_message = incoming.kind == "message" and person_id is not None
    is_system = incoming.kind == "server" or (incoming.kind == "event" and incoming.label in _ECHOING)
    apart = bool(incoming.attachments or incoming.forwarded or incoming.via)
    if not text or apart or not (is_message or is_system):
        return None
    return LinePrint(
        0, person_id if is_message else None, _sum(text), _sum(bare), _sum(named), incoming.at, at, incoming.target
    )


def copied_from(new: LinePrint, lately: Iterable[LinePrint]) -> int | None:
    """The number of the message that `new` copies or echoes; None when it says something of its own.

    `lately` is ordered newest first. Who wrote something else in between did not click twice.
    """
    for old in lately:
        late = abs(new.arrived_at - old.arrived_at)
        if new.person_id is None:
            found = bool(new.bare) and new.bare in (old.bare, old.named) and late <= ECHO_MS
        else:
            same = (new.person_id, new.said, new.target) == (old.person_id, old.said, old.target)
            found = same and late <= COPY_MS and _apart(new.at, old.at) <= COPY_MS
        if found:
            return old.original
        if new.person_id is not None and new.person_id == old.person_id:
            return None
    return None


def _apart(one: int, other: int) -> int:
    """How far apart two times are at least, ms: a clock of whole seconds cannot tell less than one."""
    if not one or not other:
        return 0
    whole = one % _SECOND_MS == 0 and other % _SECOND_MS == 0
    return max(abs(one - other) - (_SECOND_MS - 1 if whole else 0), 0)


def _sum(text: str) -> int:
    return crc32(text.encode(errors="surrogatepass")) if text else 0
