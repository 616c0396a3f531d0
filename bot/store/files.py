"""What lies beside the database: notes, tombstones, who was erased, and what waits to be sent or fetched."""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from errno import ENOTDIR
from pathlib import Path
from typing import Any, Protocol

from bot.core.archive import CURATED_NOTE, NOTES_FOLDER, NoteRefused
from bot.core.errors import StoreError
from bot.core.files import append_to_file, disk_errors, file_beside, give_name, write_file
from bot.store.waiting import FilesInFolder, PartFiles, WaitingArchives, WaitingFiles
from bot.text.fold import fold

MOST_FILES = 5_000
"""Notes that are looked at; a folder with more is no folder of notes."""
PATH_BYTES = 400
"""Longest path of a note."""
SCRATCH = "nuan"
"""Names the file that is written before it becomes a note; a note's own name may be as long as a disk allows."""


@dataclass(slots=True)
class Listing:
    """The notes there are with how each file stands, and what is refused, with the reason."""

    found: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class NoteFiles:
    """The notes of one data folder. Paths are like notes/2026-05-02.md; every method blocks."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def listing(self) -> Listing:
        """All notes as they stand now."""
        listing = Listing()
        for path in self._paths(listing.refused):
            try:
                with self._open(path) as descriptor:
                    listing.found[path] = stamp_of(os.fstat(descriptor))
            except NoteRefused as refused:
                listing.refused[path] = refused.why
            except FileNotFoundError:
                continue
        return listing

    def watched(self) -> Listing:
        """As `listing`, for who looks after the folder from now on."""
        return self.listing()

    def stamp(self, path: str) -> str:
        """How a file stands now; "" when there is none."""
        try:
            with self._open(path) as descriptor:
                return stamp_of(os.fstat(descriptor))
        except (NoteRefused, OSError):
            return ""

    def read(self, path: str, most: int) -> tuple[bytes, str]:
        """What a note holds and how it stood; NoteRefused with more than `most` bytes, OSError when it is gone."""
        with self._open(path) as descriptor:
            before = os.fstat(descriptor)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                data = file.read(most + 1)
            if len(data) > most:
                raise too_large(most)
            return data, stamp_of(before)

    def create(self, path: str, data: bytes) -> bool:
        """Write a new note, whole or not at all; False when there is a file of that name. StoreError when it fails."""
        file = self._data / path
        with disk_errors("no note can be written", ": check the folder notes"):
            self._folder(Path(path).parent)
            with file_beside(file.parent / SCRATCH, (data,)) as new:
                try:
                    give_name(new, file)
                except FileExistsError:
                    return False
            return True

    def replace(self, path: str, data: bytes) -> None:
        """Put other content in the place of a note, whole or not at all; StoreError when the disk refuses."""
        file = self._data / path
        with disk_errors("a note cannot be written", ": nothing was changed", NoteRefused):
            with self._open(path) as descriptor:
                mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            with file_beside(file.parent / SCRATCH, (data,), mode) as new:
                new.replace(file)

    def rename(self, path: str, other: str) -> bool:
        """Give a note another name; False when that is taken. StoreError when the disk refuses."""
        try:
            give_name(self._data / path, self._data / other)
            (self._data / path).unlink(missing_ok=True)
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(f"a note cannot be renamed ({error.strerror}): nothing was changed") from error
        return True

    def remove(self, path: str) -> None:
        """The note is gone; StoreError when the disk refuses."""
        with disk_errors("a note cannot be removed", ": nothing was changed"):
            (self._data / path).unlink(missing_ok=True)

    def close(self) -> None:
        """Free what they hold."""

    def _folder(self, where: Path) -> None:
        """Make the folders of a note; OSError for one below the folder of notes that is a link."""
        for part in (*reversed(where.parents[:-1]), where):
            (self._data / part).mkdir(mode=0o700, exist_ok=True)
            if part.parts[1:] and (self._data / part).is_symlink():
                raise NotADirectoryError(ENOTDIR, "a folder is a link")

    def _paths(self, refused: dict[str, str]) -> Iterator[str]:
        """The names of what may be a note."""
        if os.path.lexists(self._data / CURATED_NOTE):
            yield CURATED_NOTE
        root, count = self._data / NOTES_FOLDER, 0
        for folder, inside, names in os.walk(root):
            where = Path(folder).relative_to(self._data)
            inside[:] = sorted(name for name in inside if not name.startswith("."))
            links = (name for name in inside if (Path(folder) / name).is_symlink())  # which walk does not enter
            refused.update((_shown(where / name), "it is a link") for name in links)
            for name in sorted(names):
                if name.startswith(".") or not name.lower().endswith(".md"):
                    continue
                path = str(where / name)
                if not _sound(path):
                    refused[_shown(where / name)] = "its name is too long or no text"
                    continue
                count += 1
                if count > MOST_FILES:
                    refused[NOTES_FOLDER] = f"it holds more than {MOST_FILES} notes"
                    return
                yield path

    @contextlib.contextmanager
    def _open(self, path: str) -> Iterator[int]:
        """A regular file below the data folder, opened step by step so that no link is followed."""
        *folders, name = path.split("/")
        if (folders[:1] != [NOTES_FOLDER] and path != CURATED_NOTE) or {"", ".", ".."} & {*folders, name}:
            raise NoteRefused("it is outside of the folder of notes")
        with contextlib.ExitStack() as opened:
            at = os.open(self._data, os.O_RDONLY | os.O_DIRECTORY)
            opened.callback(os.close, at)
            for number, folder in enumerate(folders):
                # The folder itself may be a link: whoever runs nuan chose where the notes lie.
                follow = os.O_NOFOLLOW if number else 0
                at = _step(folder, os.O_DIRECTORY | follow, at)
                opened.callback(os.close, at)
            descriptor = _step(name, os.O_NOFOLLOW | os.O_NONBLOCK, at)
            opened.callback(os.close, descriptor)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoteRefused("it is no ordinary file")
            yield descriptor


def too_large(most: int) -> NoteRefused:
    """Why what has more than `most` bytes is no note."""
    return NoteRefused(f"it has more than {most // 1024} kilobytes (notes.max_kilobytes)")


def stamp_of(found: os.stat_result) -> str:
    """When a file was changed, ns, its size and its number: a new file of the same name has another."""
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"


def _step(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoteRefused("it is a link, or cannot be read") from error


def _sound(path: str) -> bool:
    try:
        return len(path.encode()) <= PATH_BYTES and path.isprintable()
    except UnicodeEncodeError:
        return False


def _shown(path: Path) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(path))[:PATH_BYTES]


def content_of(lines: list[str]) -> bytes:
    """Lines as the bytes of a file."""
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


TOMBSTONES_FILE, KEY_FILE, ERASURES_FILE = "tombstones.jsonl", "tombstones.key", "erased.jsonl"

KEPT_LINES, KEPT_VALUES = (TOMBSTONES_FILE, ERASURES_FILE), (KEY_FILE,)
"""What is kept beside the database, in no backup of it: files of JSON Lines, and files of one value."""


class KeptBeside(Protocol):
    """Where that is kept; every method blocks, and raises StoreError when it cannot be done."""

    def lines(self, name: str) -> tuple[str | bytes, ...]:
        """What was written under that name, in order; none for nothing."""

    def news(self, name: str, after: int) -> tuple[int, tuple[str | bytes, ...]]:
        """What was written under that name after a number, and the number of the last line of any name, 0 where nobody
        else writes."""

    def append(self, name: str, lines: Sequence[str], done: str) -> None:
        """Write lines behind the others, durable when it returns; else nothing was `done`."""

    def value(self, name: str) -> bytes | None:
        """The value of that name."""

    def settle(self, name: str, value: bytes) -> bytes:
        """Keep this value unless there is one already; which it is."""

    def replace(self, name: str, lines: Sequence[str | bytes]) -> None:
        """These lines stand under that name, and no others."""

    def put(self, name: str, value: bytes) -> None:
        """This value has that name, whatever had it before."""


class KeptInFolder:
    """In files of the data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def lines(self, name: str) -> tuple[str | bytes, ...]:
        """As `KeptBeside.lines`."""
        try:
            return tuple((self._folder / name).read_bytes().splitlines())
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreError(f"{name} cannot be read ({error}): check the data folder's rights") from error

    def news(self, name: str, after: int) -> tuple[int, tuple[str | bytes, ...]]:
        """As `KeptBeside.news`."""
        return 0, self.lines(name)

    def append(self, name: str, lines: Sequence[str], done: str) -> None:
        """As `KeptBeside.append`."""
        # The first line end closes half a line before it.
        text = "".join(("\n", *(f"{line}\n" for line in lines)))
        with disk_errors(f"{name} cannot be written", f": nothing was {done}"):
            append_to_file(self._folder / name, text.encode())

    def value(self, name: str) -> bytes | None:
        """As `KeptBeside.value`."""
        with disk_errors(f"{name} cannot be read", ": check the data folder's rights"):
            path = self._folder / name
            return path.read_bytes() if path.exists() else None

    def settle(self, name: str, value: bytes) -> bytes:
        """As `KeptBeside.settle`."""
        if (there := self.value(name)) is not None:
            return there
        self.put(name, value)
        return value

    def replace(self, name: str, lines: Sequence[str | bytes]) -> None:
        """As `KeptBeside.replace`."""
        self.put(name, b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))

    def put(self, name: str, value: bytes) -> None:
        """As `KeptBeside.put`."""
        with disk_errors(f"{name} cannot be written", ": nothing was changed"):
            write_file(self._folder / name, value)


def carry_kept(source: KeptBeside, target: KeptBeside) -> int:
    """The target keeps what the source does, and nothing else; how many lines."""
    count = 0
    for name in KEPT_VALUES:
        if (value := source.value(name)) is not None:
            target.put(name, value)
    for name in KEPT_LINES:
        if (lines := source.lines(name)) != target.lines(name):
            target.replace(name, lines)
        count += len(lines)
    return count


class Tombstones:
    """A set of forgotten texts that cannot be read back. A fresh 记住 lifts one."""

    def __init__(self, kept: KeptBeside) -> None:
        """Read the tombstones; StoreError when they or their key cannot be read."""
        self._kept = kept
        self._key = b""
        self._macs: set[str] = set()
        self._numbers: dict[int, str] = {}
        self._lock = threading.Lock()
        self._followed = -1
        self.added_at = 0
        """When one was last added since this process began, ms; 0 for never."""
        self.follow(0)
        self.added_at = 0

    def follow(self, number: int) -> None:
        """What other processes forgot, up to the line of that number, is forgotten here, too; StoreError as a start."""
        with self._lock:
            if number <= self._followed:
                return
            last, lines = self._kept.news(TOMBSTONES_FILE, max(self._followed, 0))
            lifted: dict[str, bool] = {}
            for row in _objects(lines):
                if not isinstance(mac := row.get("mac"), str):
                    continue
                lifted[mac] = bool(row.get("lifted"))
                if not lifted[mac] and isinstance(at := row.get("at"), int):
                    self.added_at = max(self.added_at, at)
                if isinstance(row.get("id"), int):
                    self._numbers[row["id"]] = mac
            if lifted and not self._key:
                self._key = self._kept.value(KEY_FILE) or b""
            self._macs.update(mac for mac, gone in lifted.items() if not gone)
            self._macs.difference_update(mac for mac, gone in lifted.items() if gone)
            if self._macs and not self._key:
                raise StoreError("tombstones.key is gone: put it back from a backup, or what was forgotten may return")
            self._followed = last

    def add_tombstones(self, texts: Iterable[tuple[int, str]], at: int) -> None:
        """Write down that these texts (with the number of their memory) were forgotten; durable when it returns.

        The disk is waited for once, however many they are. StoreError when it refuses.
        """
        if not (texts := list(texts)):
            return
        if not self._key:
            self._key = _new_key(self._kept)
        macs = [(number, self._mac(text)) for number, text in texts]
        with self._lock:
            self._append([{"id": number, "mac": mac, "at": at} for number, mac in macs])
            self._macs.update(mac for _, mac in macs)
            self.added_at = max(self.added_at, at)
            self._numbers.update(macs)

    def remove_tombstone(self, text: str, at: int) -> None:
        """It was said anew on purpose: no longer forgotten. StoreError when the disk refuses."""
        self.remove_tombstones([text], at)

    def remove_tombstones(self, texts: Iterable[str], at: int) -> None:
        """As `remove_tombstone`; the disk is waited for once."""
        macs = [self._mac(text) for text in texts if self.covers(text)]
        if macs:
            with self._lock:
                self._append([{"mac": mac, "lifted": True, "at": at} for mac in macs])
                self._macs.difference_update(macs)

    def covers(self, text: str) -> bool:
        """True when exactly this text (folded) was forgotten and not told anew."""
        return bool(self._macs) and self._mac(text) in self._macs

    def covers_number(self, memory_id: int) -> bool:
        """True when the memory of that number was forgotten and its text not told anew."""
        return self._numbers.get(memory_id) in self._macs

    def sign(self, text: str) -> str:
        """By what a text is known to this installation and to nobody else; StoreError when there can be no key."""
        if not self._key:
            self._key = _new_key(self._kept)
        return self._mac(text)

    @property
    def last(self) -> int:
        """The highest number among what was forgotten, 0 for nothing."""
        return max(self._numbers, default=0)

    def _mac(self, text: str) -> str:
        return hmac.new(self._key, fold(text).strip().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _append(self, rows: list[dict[str, object]]) -> None:
        _append(self._kept, TOMBSTONES_FILE, rows, "forgotten")


def _objects(lines: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """The objects in lines."""
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue  # half a line, from a power cut: its command was never confirmed
        if isinstance(row, dict):
            yield row


def _append(kept: KeptBeside, name: str, rows: list[dict[str, object]], done: str) -> None:
    kept.append(name, [json.dumps(row) for row in rows], done)


def _new_key(kept: KeptBeside) -> bytes:
    """A fresh key, kept before anything is signed with it."""
    return kept.settle(KEY_FILE, secrets.token_bytes(32))


@dataclass(frozen=True, slots=True)
class Erasure:
    """One erasure: its name, and by what the accounts of the person are known."""

    name: str
    accounts: frozenset[str]


class Erasures:
    """Who was erased; every method blocks."""

    def __init__(self, kept: KeptBeside, tombstones: Tombstones) -> None:
        self._kept = kept
        self._tombstones = tombstones

    def begin(self, accounts: Iterable[str], at: int) -> str:
        """Write down that whoever has these accounts ("platform:id") is erased; its name. Durable when it returns."""
        name, known = secrets.token_hex(8), sorted(self._sign(account) for account in accounts)
        _append(self._kept, ERASURES_FILE, [{"erasure": name, "at": at, "accounts": known}], "erased")
        return name

    def give_up(self, name: str) -> None:
        """The database refused: nothing of it was done, nor will be."""
        _append(self._kept, ERASURES_FILE, [{"erasure": name, "void": True}], "erased")

    def all(self) -> tuple[Erasure, ...]:
        """Every erasure, oldest first; StoreError when they cannot be read."""
        found: dict[str, Erasure] = {}
        for row in _objects(self._kept.lines(ERASURES_FILE)):
            name, accounts = row.get("erasure"), row.get("accounts")
            if row.get("void"):
                found.pop(str(name), None)
            elif isinstance(name, str) and isinstance(accounts, list):
                found[name] = Erasure(name, frozenset(map(str, accounts)))
        return tuple(found.values())

    def due(
        self, seen: Callable[[str], bool], accounts: Callable[[], Iterable[tuple[int, str]]]
    ) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Which erasures a database has not `seen`, each with the numbers of the people it means.

        `accounts` are all of that database ("platform:id"), with whose they are.
        """
        due = [each for each in self.all() if not seen(each.name)]
        if not due:
            return ()
        if self._kept.value(KEY_FILE) is None:
            raise StoreError(f"{KEY_FILE} is gone: put it back from a backup, or who was erased may return")
        known = [(person, self._sign(account)) for person, account in accounts()]
        return tuple(
            (each.name, tuple(sorted({person for person, mac in known if mac in each.accounts}))) for each in due
        )

    def _sign(self, account: str) -> str:
        return self._tombstones.sign(f"account {account}")


class DataFiles:
    """All of them, of one data folder.

    `told` are lines for the operator's log: the number of a note, its path, how many lines, and what was done.
    """

    def __init__(
        self,
        folder: Path,
        kept: KeptBeside | None = None,
        notes: NoteFiles | None = None,
        waiting: WaitingFiles | None = None,
    ) -> None:
        """What is `kept` beside the database, `notes` and what is `waiting` are in the folder unless they lie elsewhere.

        StoreError when the tombstones cannot be read.
        """
        self.kept = kept = kept or KeptInFolder(folder)
        waiting = waiting or FilesInFolder(folder)
        self.folder = folder
        self.notes = notes or NoteFiles(folder)
        self.tombstones = Tombstones(kept)
        self.erasures = Erasures(kept, self.tombstones)
        self.archives = WaitingArchives(waiting)
        self.parts = PartFiles(waiting)
        self.told: list[tuple[int, str, int, str]] = []

    def close(self) -> None:
        """Free what they hold."""
        self.notes.close()
