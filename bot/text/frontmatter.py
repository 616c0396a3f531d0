"""The lines at the top of a note that say whose it is: read strictly, written back byte for byte. Opens no file."""

import re
from typing import cast

from bot.types.memory import Visibility
from bot.types.note import Front, NoteRefused

FENCE = "---"
MOST_LINES = 40
"""Lines that are searched for the end of it."""
MOST_EVENTS = 20_000
"""Events that one note may be made from."""

_KEYS = ("chat", "visibility", "events")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(.*)")
_NUMBER = re.compile(r"[1-9][0-9]{0,15}")
_RANGE = re.compile(r"([1-9][0-9]{0,15})(?:-([1-9][0-9]{0,15}))?")


def lines_of(text: str) -> list[str]:
    """The lines of a file, which end with \\n or \\r\\n alone; what counts lines elsewhere counts as editors do."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def read_front(lines: list[str]) -> tuple[Front | None, int]:
    """What stands at the top, and how many lines it takes; None, 0 where nothing of ours does.

    NoteRefused when it names one of our keys and is not whole and right: such a note belongs to nobody.
    """
    if not lines or lines[0].rstrip() != FENCE:
        return None, 0
    end = next((number for number, line in enumerate(lines[1:MOST_LINES], 1) if line.rstrip() == FENCE), None)
    fields: dict[str, str] = {}
    for line in lines[1 : end or MOST_LINES]:
        found = _FIELD.fullmatch(line)
        name = found[1].lower() if found is not None else ""
        if found is None or name not in _KEYS:
            continue
        if name in fields:
            raise NoteRefused(f"its front matter says {name} twice")
        fields[name] = found[2].strip()
    if not fields:
        return None, 0
    if end is None:
        raise NoteRefused("its front matter has no end")
    return _front(fields), end + 1


def write_front(front: Front) -> list[str]:
    """The lines of it."""
    return [
        FENCE, f"chat: {front.chat_id}", f"visibility: {front.visibility}", events_line(front.events), FENCE,
    ]  # fmt: skip


def events_line(events: tuple[int, ...]) -> str:
    """The line that names the events."""
    return f"events: {events_text(events)}"


def events_text(events: tuple[int, ...]) -> str:
    """The numbers of events, neighbours as a range: 12-15, 20."""
    runs: list[list[int]] = []
    for number in sorted(set(events)):
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def with_events(lines: list[str], events: tuple[int, ...]) -> list[str]:
    """The lines of a note with other events at its top; whatever else stands there stays."""
    _, end = read_front(lines)
    said = [_is_events(line) for line in lines[:end]]
    return [events_line(events) if number < end and said[number] else line for number, line in enumerate(lines)]


def _is_events(line: str) -> bool:
    found = _FIELD.fullmatch(line)
    return found is not None and found[1].lower() == "events"


def _front(fields: dict[str, str]) -> Front:
    missing = [name for name in _KEYS[:2] if name not in fields]
    if missing:
        raise NoteRefused(f"its front matter has no {missing[0]}")
    if not _NUMBER.fullmatch(fields["chat"]):
        raise NoteRefused("its front matter names no chat by number")
    if fields["visibility"] not in ("private", "chat", "public"):
        raise NoteRefused("its visibility is none of private, chat and public")
    return Front(int(fields["chat"]), cast("Visibility", fields["visibility"]), events_of(fields.get("events", "")))


def events_of(text: str) -> tuple[int, ...]:
    """The numbers that such a text names, "" for none; NoteRefused for anything else."""
    found: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        read = _RANGE.fullmatch(part)
        first, last = (int(read[1]), int(read[2] or read[1])) if read is not None else (0, -1)
        if first > last or len(found) + last - first >= MOST_EVENTS:
            raise NoteRefused("its events are no list of numbers like 12-15, 20")
        found.extend(range(first, last + 1))
    return tuple(sorted(set(found)))
