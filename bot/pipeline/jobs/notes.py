"""Notes: files are read into the index as they change; /new and a log that is nearly full write one, of the lines of a
talk or of what a model found worth keeping."""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from functools import partial

from bot.config.memory import NoteRules
from bot.core.archive import (
    CURATED_NOTE,
    FrontMatter,
    IndexedNote,
    NewNote,
    NoteLine,
    NotePart,
    NoteRefused,
    ReadNoteFile,
)
from bot.core.errors import ModelError, OverBudget, StoreError
from bot.core.events import Event
from bot.core.people import Audience, Chat, Person
from bot.core.ports import Alarm, Clock, Log
from bot.core.speaking import HEARTBEAT
from bot.language.wishes.reader import menu_command, understand
from bot.memory.screening import carried, harmless
from bot.memory.transcript import DigestLine, numbered_lines
from bot.pipeline.calls import BackgroundGate, BackgroundWriter, WritingTask
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.jobs.digests import read_talk
from bot.pipeline.plan import Planner
from bot.prompt.composition import log_budget
from bot.store.files import Listing, NoteFiles
from bot.store.notes import FullLog, hash_of
from bot.store.store import Store
from bot.text.clean import clean, clean_name, one_row
from bot.text.dates import clock_label, local_day, time_label
from bot.text.files import chunks, lines_of, read_front
from bot.text.fold import fold, script_of
from bot.text.length import clip, estimate_tokens

QUIET_MS = 1_500
"""How long a file must be left alone before it is read (M18: 1.5 s)."""

MADE = re.compile(r"(notes/\d{4}-\d\d-\d\d).*")
"""What of the path of a note that may be named after a message stands in a log."""

OUTPUT_TOKENS = 400
"""Longest answer: eight lines."""

ROWS, ROW_CHARS, SHOWN_CHARS = 200, 300, 12_000
"""What a model is shown: about what a log of the default size, 6,000 tokens, tells."""

MESSAGES = 15
"""The newest messages of a session that `/new` writes down (M15)."""
SLUG_CHARS = 30
"""Longest slug (M15: 30)."""
READ_CHARS = 8_000
"""Characters in which a wish is looked for, as when it arrived."""
LINE_CHARS = 1_000
"""Characters of one message in a note."""
KEPT_LINES, KEPT_CHARS = 8, 200
"""Most and longest lines that a flush may keep."""

_TELLING = 4
"""Characters from which on a first message names a talk."""
_APART = re.compile(r"[^\w]+|_+")
_KEPT = re.compile(r"[-*] +(.+?) *\[([0-9]{1,6}(?: *, *[0-9]{1,6})*)\]")


@dataclass(frozen=True, slots=True)
class NoteIndexing:
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
class WatchedFiles:
    """What was seen of the files: since when one stands as it does (ms), and what of them is not to be read again."""

    waiting: dict[str, tuple[str, int]] = field(default_factory=dict)
    passed: dict[str, tuple[str, str]] = field(default_factory=dict)
    begun: bool = False


class NoteReader:
    """The work of the notes queue."""

    def __init__(
        self, store: Store, clock: Clock, current: Current, thread: TextThread, wake: Callable[[], None], log: Log
    ) -> None:
        """`wake` has `look` called once more."""
        self._store = store
        self._clock = clock
        self._current = current
        self._thread = thread
        self._wake = wake
        self._log = log
        self._watched = WatchedFiles()
        self._alarm: Alarm | None = None

    @property
    def _way(self) -> NoteIndexing:
        words = self._current.words
        return NoteIndexing(self._current.settings.notes, words.default_tz, self._store.tombstones.covers)

    def stop(self) -> None:
        """No alarm is armed any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def look(self) -> int:
        """Take what has changed and is left alone; at a start everything at once. How many files were read.

        StoreError: look again later.
        """
        listing = await asyncio.to_thread(self._store.files.notes.watched)
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
        return await self._thread.run(_part, self._store.files.notes, path, known, self._way, first, lines)

    async def _see(self, path: str, stamp: str, known: IndexedNote | None, owners: tuple[int, ...]) -> bool:
        """Read a file that has changed; whether the index has it anew."""
        watched, way = self._watched, self._way
        key = f"{way.cut} {way.rules.max_kilobytes} {owners}"
        cut = way.cut if known is not None and known.made else f"{way.cut} {owners}"
        if (known is not None and (known.stamp, known.cut) == (stamp, cut)) or watched.passed.get(path) == (stamp, key):
            watched.waiting.pop(path, None)
            return False
        ours = known is not None and known.stamp in ("", stamp)
        if watched.begun and not ours and not self._quiet(path, stamp):
            return False
        watched.waiting.pop(path, None)
        try:
            taken = await self._thread.run(_taken, self._store.files.notes, path, way, owners, self._clock.now())
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


def _taken(files: NoteFiles, path: str, way: NoteIndexing, owners: tuple[int, ...], now: int) -> ReadNoteFile | None:
    """A note as its file says it now; None when that is gone. NoteRefused when it is none."""
    try:
        data, stamp = files.read(path, way.most)
    except OSError:
        return None
    lines = _lines(data)
    front, top = (None, 0) if path == CURATED_NOTE else read_front(lines)
    told = _told(lines, top, way)
    cut = way.cut if front is not None else f"{way.cut} {owners}"
    at = _day(path, way.tz) or min(int(stamp.split(":")[0]) // 1_000_000, now)
    return ReadNoteFile(
        path, stamp, hash_of(data), cut, front, owners, at, chunks(told, way.rules.chunk_tokens, way.overlap, top)
    )


def _part(files: NoteFiles, path: str, known: str, way: NoteIndexing, first: int, count: int) -> NotePart | None:
    """Lines of the file, unless it has changed since it was last read: it may be somebody else's now."""
    try:
        data, _ = files.read(path, way.most)
        if hash_of(data) != known:
            return None
        lines = _lines(data)
        _, top = (None, 0) if path == CURATED_NOTE else read_front(lines)
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


def _told(lines: list[str], top: int, way: NoteIndexing) -> list[str]:
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


class NoteWriter:
    """Writes talks down."""

    def __init__(
        self, store: Store, current: Current, thread: TextThread, log: Log, written: Callable[[], None]
    ) -> None:
        """`written` is told of every note, so that it is read."""
        self._told = written
        self._store = store
        self._current = current
        self._thread = thread
        self._log = log

    async def ended(self, event: Event, chat: Chat, person: Person) -> None:
        """That person ends the talk of a chat with that command: its last messages become a note of this chat."""
        session = await self._store.sessions.open_session(chat.id)
        if not self._current.settings.notes.on_new or session is None:
            return
        told = await read_talk(self._store, self._current.settings, chat.id, session.from_event, event.id)
        lines = await self._thread.run(unwished, told, self._current.settings.bot.names)
        said = [line for line in lines if not line.is_bot]
        if not said:
            return
        tz = self._current.words.tz_of(chat, person)
        name, number = note_name([line.text for line in said], self._current.settings.bot.names)
        new = NewNote(
            FrontMatter(chat.id, "private" if chat.kind == "dm" else "chat"),
            f"{local_day(event.at, tz)}-{name or time_label(event.at, tz)[:5].replace(':', '')}",
            f"# {clock_label(said[0].at, tz)}",
            talk_lines(lines, [time_label(line.at, tz)[:5] for line in lines]),
            (said[number].event_id,) if name else (),
        )
        try:
            path = await self._store.notes.write(new, self._current.settings.notes.max_kilobytes * 1024)
        except StoreError as error:
            self._log.error("note_failed", chat=chat.id, error=str(error))
            return
        if path is not None:
            self._log.info("note_written", chat=chat.id, session=session.number, lines=len(new.lines))
            self._told()


class LogFlusher:
    """Flushes logs, each once."""

    def __init__(
        self, store: Store, writer: BackgroundWriter, planner: Planner, clock: Clock, current: Current, log: Log
    ) -> None:
        self._store = store
        self._writer = writer
        self._planner = planner
        self._clock = clock
        self._current = current
        self._gate = BackgroundGate(store.settings, current)
        self._log = log

    async def due(self, chat_id: int) -> int | None:
        """The open session of a chat when its log is to be flushed."""
        if not self._current.settings.memory.flush:
            return None
        log = await self._store.notes.open_log(chat_id)
        return log.session_id if log is not None and self._wants(log) else None

    async def work(self, session_id: int) -> bool:
        """Flush the log of a session if it is to be; whether a note came of it."""
        if not self._current.settings.memory.flush:
            return False
        try:
            log = await self._store.notes.full_log(session_id)
            return log is not None and self._wants(log) and await self._flush(log)
        except OverBudget as error:
            self._log.warning("flush_skipped", **await self._place(session_id), why=error.limit)
        except Exception as error:  # noqa: BLE001 - a note that fails must not keep a session from its digest
            fault = error.fault if isinstance(error, ModelError) else type(error).__name__
            self._log.warning("flush_failed", **await self._place(session_id), fault=fault)
        return False

    async def _place(self, session_id: int) -> dict[str, int]:
        session = await self._store.sessions.session(session_id)
        return {"chat": session.chat_id, "session": session.number}

    def _wants(self, log: FullLog) -> bool:
        """Whether it is full enough, for the first time, and by somebody's words."""
        return (
            not log.flushed
            and log.last_why != HEARTBEAT
            and log.tokens >= self._part(self._current.settings.memory.flush_at)
        )

    def _part(self, share: float) -> float:
        """So much of the log budget, in tokens."""
        return share * log_budget(self._current.settings)

    async def _flush(self, log: FullLog) -> bool:
        session = await self._store.sessions.session(log.session_id)
        chat = await self._store.people.chat(session.chat_id)
        after, upto = max(session.from_event, log.before), session.upto_event
        lines = await read_talk(self._store, self._current.settings, chat.id, after, upto)
        said = sum(estimate_tokens(line.text) for line in lines if not line.is_bot)
        step, _ = await self._planner.step(chat.id, None, self._clock.now())
        able = self._writer.able and await self._gate.allows("flush")
        if not said or said < self._part(self._current.settings.memory.flush_least) or step != "full" or not able:
            return False
        if not await self._store.notes.begin_flush(log.epoch_id, upto):
            return False
        reserve = partial(self._store.ledger.reserve, log.session_id)
        script = script_of(" ".join(line.text for line in lines if not line.is_bot), self._current.words.language)
        shown = numbered_lines(lines, ROWS, ROW_CHARS, SHOWN_CHARS)
        task = WritingTask("flush", chat.id, script, shown, OUTPUT_TOKENS, small=False)
        async with self._writer.written(task, reserve) as written:
            kept = self._kept(written.text, lines)
            # What somebody edited while the model wrote is not kept as it was.
            now = await read_talk(self._store, self._current.settings, chat.id, after, upto)
            same = {(line.event_id, line.text) for line in now}
            there = {line.event_id for line in lines if (line.event_id, line.text) in same}
            kept = tuple(line for line in kept if there.issuperset(line.event_ids))
            new = await self._note(chat, lines, kept) if kept else None
            most = self._current.settings.notes.max_kilobytes * 1024
            path = await self._store.notes.store_flush(written.settlement, new, most, self._clock.now())
        self._log.info("flushed", chat=chat.id, session=session.number, lines=len(kept) if path else 0)
        return path is not None

    def _kept(self, answer: str, lines: tuple[DigestLine, ...]) -> tuple[NoteLine, ...]:
        """What the model wants in the note, without what was forgotten."""
        covers = self._store.tombstones.covers
        return tuple(line for line in kept_lines(answer, lines) if not covers(line.text.removeprefix("- ")))

    async def _note(self, chat: Chat, lines: tuple[DigestLine, ...], kept: tuple[NoteLine, ...]) -> NewNote:
        """The part of the day's note that these lines become, by the calendar of whoever the chat belongs to."""
        newest = next(line for line in reversed(lines) if not line.is_bot)
        person = await self._store.people.person(newest.person_id or 0)
        tz = self._current.words.tz_of(chat, person)
        front = FrontMatter(chat.id, "private" if chat.kind == "dm" else "chat")
        label = clock_label(newest.at, tz)
        return NewNote(front, f"{local_day(newest.at, tz)}", f"## {label}", kept, appends=True)


def note_name(texts: Sequence[str], names: Sequence[str]) -> tuple[str, int]:
    """A name for a talk by its first telling message, without the bot's own names, and which message that is.

    Letters, figures and "-" only, at most SLUG_CHARS characters, whole words where there are any; "" when no message
    has a letter.
    """
    made = [(found, number) for number, found in enumerate(_slug(text, names) for text in texts) if found]
    return next((one for one in made if len(one[0]) >= _TELLING), made[0] if made else ("", 0))


def _slug(text: str, names: Sequence[str]) -> str:
    plain = unicodedata.normalize("NFKC", one_row(text[:LINE_CHARS])).lower()
    for name in names:
        plain = plain.removeprefix("@").removeprefix(unicodedata.normalize("NFKC", name).lower()).strip()
    words = _APART.sub("-", plain).strip("-")
    if len(words) <= SLUG_CHARS:
        return words
    head, _, cut = words[: SLUG_CHARS + 1].rpartition("-")
    whole = head and cut.isascii() and len(head) >= _TELLING
    return (head if whole else words[:SLUG_CHARS]).strip("-")


def unwished(lines: Sequence[DigestLine], names: tuple[str, ...]) -> tuple[DigestLine, ...]:
    """The newest MESSAGES lines of a talk; of a wish to remember or forget only what else its message says, if that."""
    found: list[DigestLine] = []
    for line in reversed(lines):
        if len(found) == MESSAGES:
            break
        text = line.text[:READ_CHARS]
        if line.is_bot or (
            not (wish := menu_command(text) is not None) and not (read := understand(text, names)).commands
        ):
            found.append(line)
        elif not wish and (read.rest.strip() or line.marks):
            found.append(replace(line, text=read.rest))
    return tuple(reversed(found))


def talk_lines(lines: Sequence[DigestLine], times: Sequence[str]) -> tuple[NoteLine, ...]:
    """Each message as `- 09:00 name: text`, on one line whatever it holds; `times` are their local times."""
    return tuple(
        NoteLine(f"- {time} {clean_name(line.name)}: {clip(told, LINE_CHARS)}", (line.event_id,))
        for line, time in zip(lines, times, strict=True)
        if (told := one_row(f"{line.text} {line.marks}".strip()))
    )


def kept_lines(answer: str, lines: Sequence[DigestLine]) -> tuple[NoteLine, ...]:
    """What a model keeps of a talk: its lines of the form `- text [3, 5]`; whatever else it says is left out.

    So is a line that cites none of a person, is not grounded in what it cites, or speaks to a model.
    """
    known = {line.number: line for line in lines}
    found: dict[str, NoteLine] = {}
    for row in clean(answer).splitlines():
        read = _KEPT.fullmatch(row.strip())
        cited = [known.get(int(number)) for number in read[2].split(",")] if read is not None else []
        told = [line for line in cited if line is not None]
        if read is None or len(told) < len(cited) or all(line.is_bot for line in told):
            continue
        text = clip(one_row(read[1]), KEPT_CHARS)
        if harmless(text) and carried(text, tuple(line for line in told if not line.is_bot)):
            found.setdefault(fold(text), NoteLine(f"- {text}", tuple(sorted({line.event_id for line in told}))))
    return tuple(found.values())[:KEPT_LINES]
