"""The files of the operator's log: read while they are rotated and written, and rid of people who were erased."""

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from bot.core.files import write_file
from bot.core.people import ErasedPerson

TEXT_FIELDS = ("text", "reply", "query", "name")
"""Fields that hold what people wrote or are called; left out unless log.text is on."""
QUOTING_FIELDS = (*TEXT_FIELDS, "message", "said")
"""Fields that may hold a part of it."""

LOG_NAME = "nuan.jsonl"

SHORTEST_NAME = 2
"""A name of fewer characters is no word to look for; the numbers of the person find those lines."""

PIECE_BYTES = 65_536
"""Bytes read at a time."""

LONGEST_LINE_BYTES = 1_000_000
"""Bytes; a longer line is no line of nuan's."""

Record = dict[str, object]

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Characters that steer a terminal or end a line."""


class NullLog:
    """Logs nothing."""

    def info(self, event: str, **fields: object) -> None:
        """Say nothing."""

    debug = warning = error = info


def scrub_logs(folder: Path, erased: ErasedPerson) -> int:
    """Lines about that person and their direct chats go, in groups of theirs what was said; how many lines changed.

    Nobody may write into these files meanwhile. OSError when one cannot be written; it is then as it was.
    """
    keeps = _keeper(erased)
    for name in (f"{LOG_NAME}*.new", f".{LOG_NAME}*.new"):
        for left in folder.glob(name):  # of a scrubbing that a crash cut off, whoever that was about
            left.unlink()
    return sum(_scrub(path, keeps) for path in sorted(folder.glob(f"{LOG_NAME}*")))


def _scrub(path: Path, keeps: Callable[[str], str]) -> int:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    kept = [keeps(line) for line in lines]
    changed = sum(before != after for before, after in zip(lines, kept, strict=True))
    if changed:
        write_file(path, (f"{line}\n".encode() for line in kept if line))
    return changed


def _keeper(erased: ErasedPerson) -> Callable[[str], str]:
    words = [json.dumps(word, ensure_ascii=False)[1:-1] for word in (*erased.ids, *erased.names)]
    # An id or a name in letters stands alone; Chinese has no spaces.
    parts = [f"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])" for word in words if len(word) >= SHORTEST_NAME]
    needles = re.compile("|".join(parts)) if parts else None

    def keep(line: str) -> str:
        """The line as it stays, "" for nothing."""
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return ""  # half a line of a power cut
        if not isinstance(fields, dict) or not isinstance(chat := fields.get("chat"), int | str | None):
            return ""  # nor is this a line of ours
        if fields.get("person") == erased.person_id or chat in erased.dms:
            return ""
        if needles is not None and needles.search(line):
            return ""
        texts = [name for name in QUOTING_FIELDS if isinstance(fields.get(name), str)]
        if texts and chat in erased.chats:
            return json.dumps(fields | dict.fromkeys(texts, ""), ensure_ascii=False, separators=(",", ":"))
        return line

    return keep


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines: of that chat and that turn, None for all."""

    chat: int | None = None
    turn: int | None = None

    def takes(self, record: Record) -> bool:
        """Whether it is one of them."""
        return (self.chat is None or record.get("chat") == self.chat) and (
            self.turn is None or record.get("turn") == self.turn
        )


@dataclass(slots=True)
class LineSplitter:
    """Cuts bytes into lines and keeps half a line until the rest comes; `damaged` counts what is no line of nuan's."""

    damaged: int = 0
    _rest: bytearray = field(default_factory=bytearray)
    _skipping: bool = False

    def feed(self, piece: bytes) -> Iterator[Record]:
        """The records that this piece completes."""
        *whole, rest = piece.split(b"\n")
        for line in whole:
            self._rest += line
            yield from self._take()
        self._rest += rest
        if len(self._rest) > LONGEST_LINE_BYTES:
            self._rest.clear()
            self._skipping = True

    def end(self) -> Iterator[Record]:
        """The file has ended: half a line is the whole one, or damaged."""
        if self._rest or self._skipping:
            yield from self._take()

    def _take(self) -> Iterator[Record]:
        line, skipped = bytes(self._rest), self._skipping
        self._rest.clear()
        self._skipping = False
        record = None if skipped else parse_record(line)
        if record is not None:
            yield record
        elif skipped or line.strip():
            self.damaged += 1


def parse_record(line: bytes) -> Record | None:
    """One line as the log wrote it; None for anything else."""
    try:
        record = json.loads(line, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("event"), str) else None


def _finite(said: str) -> float | str:
    """JSON has no infinity: what is too large for a number stays as it was written."""
    number = float(said)
    return number if math.isfinite(number) else said


def log_files(folder: Path) -> tuple[Path, ...]:
    """The files of the log, the oldest first; those that have been rotated have a number, the oldest the highest."""
    found = {
        int(end): path for path in folder.glob(f"{LOG_NAME}.*") if (end := path.name[len(LOG_NAME) + 1 :]).isdecimal()
    }
    here = folder / LOG_NAME
    return (*(found[number] for number in sorted(found, reverse=True)), *((here,) if here.exists() else ()))


class LogReader:
    """Goes through the log once, and then on as it grows, also while it is rotated under its hands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._cutter = LineSplitter()

    @property
    def damaged(self) -> int:
        """How many lines could not be read."""
        return self._cutter.damaged

    def all(self) -> Iterator[Record]:
        """Every record there is; the newest file stays open for `more`."""
        # Opened together: a rotation between two of them would show one twice and hide another.
        files = [file for path in log_files(self._folder) if (file := _open(path)) is not None]
        for file in files[:-1]:
            with file:
                yield from self._rest_of(file)
                yield from self._cutter.end()
        if files:
            self._file = files[-1]
            yield from self._rest_of(self._file)

    def more(self) -> Iterator[Record]:
        """What was written since; when the file was rotated, the rest of it, then the files after it."""
        if self._file is None:
            yield from self.all()
            return
        newer = self._newer(self._file)
        yield from self._rest_of(self._file)
        for file in newer:
            yield from self._cutter.end()
            self._file.close()
            self._file = file
            yield from self._rest_of(file)

    def finish(self) -> Iterator[Record]:
        """What stands at the end without a newline, if it is a record; the file is closed."""
        yield from self._cutter.end()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _newer(self, file: BinaryIO) -> list[BinaryIO]:
        """The files after this one, opened; the log may have been rotated more than once since."""
        paths = log_files(self._folder)
        known = _key(file)
        for place in range(len(paths) - 1, -1, -1):
            opened = _open(paths[place])
            if opened is None:
                continue
            same = _key(opened) == known
            opened.close()
            if same:
                return [newer for path in paths[place + 1 :] if (newer := _open(path)) is not None]
        return [newer for path in paths if (newer := _open(path)) is not None]

    def _rest_of(self, file: BinaryIO) -> Iterator[Record]:
        while piece := file.read(PIECE_BYTES):
            yield from self._cutter.feed(piece)


def _open(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None  # rotated away just now


def _key(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def one_line(text: str) -> str:
    r"""The text with control, direction and surrogate characters written as \uXXXX, as JSON writes them."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
