"""Notes come into the index as their files change, and are read back for whoever may see them. It writes no note."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo

from bot.config.notes import NoteRules
from bot.flow.aside import Aside
from bot.ports import Alarm, Clock
from bot.store.notefiles import Listing, NoteFiles
from bot.store.notes import hash_of
from bot.store.store import Store
from bot.text.chunks import chunks
from bot.text.frontmatter import lines_of, read_front
from bot.types.log import Log
from bot.types.note import CURATED, Known, NotePart, NoteRefused, Taken
from bot.types.people import Audience

QUIET_MS = 1_500
"""How long a file must be left alone before it is read (M18: 1.5 s)."""

MADE = re.compile(r"(notes/\d{4}-\d\d-\d\d).*")
"""What of the path of a note that may be named after a message stands in a log."""


@dataclass(frozen=True, slots=True)
class NoteWay:
    """How notes are cut and dated; `covers` says of a line that it was forgotten."""

    rules: NoteRules
    tz: tzinfo
    covers: Callable[[str], bool]

    @property
    def cut(self) -> str:
        """Names the way of cutting: with another one all notes are cut anew."""
        return f"{self.rules.chunk_tokens}/{self.overlap}"

    @property
    def overlap(self) -> int:
        """What a chunk repeats at most: so that each brings something new, no more than half."""
        return min(self.rules.overlap_tokens, self.rules.chunk_tokens // 2)

    @property
    def most(self) -> int:
        """Bytes of the largest note."""
        return self.rules.max_kilobytes * 1024


@dataclass(slots=True)
class Watched:
    """What was seen of the files: since when one stands as it does (ms), and what of them is not to be read again."""

    waiting: dict[str, tuple[str, int]] = field(default_factory=dict)
    passed: dict[str, tuple[str, str]] = field(default_factory=dict)
    begun: bool = False


class NoteReading:
    """The work of the notes lane."""

    def __init__(
        self, store: Store, clock: Clock, way: NoteWay, aside: Aside, wake: Callable[[], None], log: Log
    ) -> None:  # fmt: skip
        """`wake` has `look` called once more."""
        self._store = store
        self._clock = clock
        self._way = way
        self._aside = aside
        self._wake = wake
        self._log = log
        self._watched = Watched()
        self._alarm: Alarm | None = None

    def retire(self) -> Watched:
        """Look no more; what was seen, for whoever goes on."""
        self.stop()
        return self._watched

    def succeed(self, watched: Watched) -> None:
        """Go on in the place of one that has retired."""
        self._watched = watched

    def stop(self) -> None:
        """No alarm is armed any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def look(self) -> int:
        """Take what has changed and is left alone; at a start everything at once. How many files were read.

        StoreError: look again later.
        """
        listing = await asyncio.to_thread(self._store.notes.files.listing)
        known = {note.path: note for note in await self._store.notes.known()}
        owners = await self._store.notes.owners()
        read = sum([await self._see(path, stamp, known.get(path), owners) for path, stamp in listing.found.items()])
        gone = [path for path in known if path not in listing.found and self._quiet(path, "")]
        for path in gone:
            await self._store.notes.leave(path)
        self._refused(listing)
        for seen in (self._watched.waiting, self._watched.passed):
            for path in seen.keys() - listing.found.keys() - listing.refused.keys() - known.keys():
                seen.pop(path)
        for number, path, lines, how in self._store.notes.told():
            self._log.warning("note_lines_forgotten", note=number, path=_shown(path), lines=lines, how=how)
        if read or gone:
            self._log.info("notes_read", files=read, gone=len(gone))
        self._watched.begun = True
        self.stop()
        if self._watched.waiting:
            self._alarm = self._clock.at(self._clock.now() + QUIET_MS, self._wake)
        return read

    async def read(self, audience: Audience, path: str, first: int = 1, lines: int = 40) -> NotePart | None:
        """Lines of a note, from `first` on; None for every path that this audience may not see, or that is none.

        What stands at the top of a note nuan wrote is left out, and what was forgotten is blank.
        """
        known = await self._store.notes.readable(audience, path)
        if known is None:
            return None
        return await self._aside.run(_part, self._store.notes.files, path, known, self._way, first, lines)

    async def _see(self, path: str, stamp: str, known: Known | None, owners: tuple[int, ...]) -> bool:
        """Read a file that has changed; whether the index has it anew."""
        watched, key = self._watched, f"{self._way.cut} {self._way.rules.max_kilobytes} {owners}"
        cut = self._way.cut if known is not None and known.made else f"{self._way.cut} {owners}"
        if (known is not None and (known.stamp, known.cut) == (stamp, cut)) or watched.passed.get(path) == (stamp, key):
            watched.waiting.pop(path, None)
            return False
        ours = known is not None and known.stamp in ("", stamp)
        if watched.begun and not ours and not self._quiet(path, stamp):
            return False
        watched.waiting.pop(path, None)
        try:
            taken = await self._aside.run(_taken, self._store.notes.files, path, self._way, owners, self._clock.now())
            if taken is None or not await self._store.notes.take(taken):
                watched.waiting[path] = "", self._clock.now()  # it changes just now
                return False
        except NoteRefused as refused:
            if known is not None:
                await self._store.notes.leave(path)
            watched.passed[path] = stamp, key
            self._log.warning("note_refused", path=_shown(path), why=refused.why)
            return False
        if taken.front is None and not owners:
            watched.passed[path] = stamp, key  # for nobody, until there is an owner
        return True

    def _quiet(self, path: str, stamp: str) -> bool:
        """Whether a file has stood like this for QUIET_MS, "" for not being there; else it is waited for."""
        now, (before, since) = self._clock.now(), self._watched.waiting.get(path, (None, 0))
        if before != stamp:
            self._watched.waiting[path] = stamp, now
            return False
        if now - since < QUIET_MS:
            return False
        del self._watched.waiting[path]
        return True

    def _refused(self, listing: Listing) -> None:
        """Tell the operator once of what cannot be a note."""
        for path, why in listing.refused.items():
            if self._watched.passed.get(path) != ("", why):
                self._watched.passed[path] = "", why
                self._log.warning("note_refused", path=_shown(path), why=why)


def _taken(files: NoteFiles, path: str, way: NoteWay, owners: tuple[int, ...], now: int) -> Taken | None:
    """A note as its file says it now; None when that is gone. NoteRefused when it is none."""
    try:
        data, stamp = files.read(path, way.most)
    except OSError:
        return None
    lines = _lines(data)
    front, top = (None, 0) if path == CURATED else read_front(lines)
    told = _told(lines, top, way)
    cut = way.cut if front is not None else f"{way.cut} {owners}"
    at = _day(path, way.tz) or min(int(stamp.split(":")[0]) // 1_000_000, now)
    return Taken(
        path, stamp, hash_of(data), cut, front, owners, at, chunks(told, way.rules.chunk_tokens, way.overlap, top)
    )


def _part(files: NoteFiles, path: str, known: str, way: NoteWay, first: int, count: int) -> NotePart | None:
    """Lines of the file, unless it has changed since it was last read: it may be somebody else's now."""
    try:
        data, _ = files.read(path, way.most)
        if hash_of(data) != known:
            return None
        lines = _lines(data)
        _, top = (None, 0) if path == CURATED else read_front(lines)
    except (NoteRefused, OSError):
        return None
    start = max(first, top + 1, 1)
    part = _told(lines, top, way)[start - 1 : start - 1 + max(count, 1)]
    return NotePart(path, start, start + len(part) - 1, len(lines), "\n".join(part)) if part else None


def _lines(data: bytes) -> list[str]:
    if b"\0" in data:
        raise NoteRefused("it is no text")
    try:
        return lines_of(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NoteRefused(f"it is not UTF-8 (byte {error.start})") from error


def _told(lines: list[str], top: int, way: NoteWay) -> list[str]:
    """The lines without what was forgotten, and without what stands at the top; none changes its number."""
    return ["" if number < top or (line and way.covers(line)) else line for number, line in enumerate(lines)]


def _day(path: str, tz: tzinfo) -> int | None:
    """Noon of the day that a note is named after, ms."""
    try:
        day = date.fromisoformat(path.rpartition("/")[2][:10])
        return int(datetime(day.year, day.month, day.day, 12, tzinfo=tz).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _shown(path: str) -> str:
    return MADE.sub(r"\1…", path)
