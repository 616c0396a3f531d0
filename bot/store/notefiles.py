"""The files of notes: found, read, written. Nothing outside the folder is opened, and no link is followed.

What they say is read elsewhere; nothing here knows who may see it.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from errno import ENOTDIR
from pathlib import Path

from bot.errors import StoreError
from bot.types.note import CURATED, FOLDER, NoteRefused

MOST_FILES = 5_000
"""Notes that are looked at; a folder with more is no folder of notes."""
PATH_BYTES = 400
"""Longest path of a note."""


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
                raise NoteRefused(f"it has more than {most // 1024} kilobytes (notes.max_kilobytes)")
            return data, stamp_of(before)

    def create(self, path: str, data: bytes) -> bool:
        """Write a new note, whole or not at all; False when there is a file of that name. StoreError when it fails."""
        folder, name = (self._data / path).parent, Path(path).name
        try:
            self._folder(Path(path).parent)
            with _beside(folder, data, 0o600) as new:
                try:
                    os.link(new, folder / name)
                except FileExistsError:
                    return False
            return True
        except OSError as error:
            raise StoreError(f"no note can be written ({error.strerror}): check the folder notes") from error

    def replace(self, path: str, data: bytes) -> None:
        """Put other content in the place of a note, whole or not at all; StoreError when the disk refuses."""
        file = self._data / path
        try:
            with self._open(path) as descriptor:
                mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            with _beside(file.parent, data, mode) as new:
                new.replace(file)
        except (OSError, NoteRefused) as error:
            raise StoreError(f"a note cannot be written ({error}): nothing was changed") from error

    def rename(self, path: str, other: str) -> bool:
        """Give a note another name; False when that is taken. StoreError when the disk refuses."""
        try:
            os.link(self._data / path, self._data / other)
            (self._data / path).unlink()
        except FileExistsError:
            return False
        except OSError as error:
            raise StoreError(f"a note cannot be renamed ({error.strerror}): nothing was changed") from error
        return True

    def remove(self, path: str) -> None:
        """The note is gone; StoreError when the disk refuses."""
        try:
            (self._data / path).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"a note cannot be removed ({error.strerror}): nothing was changed") from error

    def _folder(self, where: Path) -> None:
        """Make the folders of a note; OSError for one below the folder of notes that is a link."""
        for part in (*reversed(where.parents[:-1]), where):
            (self._data / part).mkdir(mode=0o700, exist_ok=True)
            if part.parts[1:] and (self._data / part).is_symlink():
                raise NotADirectoryError(ENOTDIR, "a folder is a link")

    def _paths(self, refused: dict[str, str]) -> Iterator[str]:
        """The names of what may be a note."""
        if os.path.lexists(self._data / CURATED):
            yield CURATED
        root, count = self._data / FOLDER, 0
        for folder, inside, names in os.walk(root):
            where = Path(folder).relative_to(self._data)
            inside[:] = sorted(name for name in inside if not name.startswith("."))
            for name in [name for name in inside if (Path(folder) / name).is_symlink()]:
                inside.remove(name)
                refused[_shown(where / name)] = "it is a link"
            for name in sorted(names):
                if name.startswith(".") or not name.lower().endswith(".md"):
                    continue
                path = str(where / name)
                if not _sound(path):
                    refused[_shown(where / name)] = "its name is too long or no text"
                    continue
                count += 1
                if count > MOST_FILES:
                    refused[FOLDER] = f"it holds more than {MOST_FILES} notes"
                    return
                yield path

    @contextlib.contextmanager
    def _open(self, path: str) -> Iterator[int]:
        """A regular file below the data folder, opened step by step so that no link is followed."""
        *folders, name = path.split("/")
        if (folders[:1] != [FOLDER] and path != CURATED) or {"", ".", ".."} & {*folders, name}:
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


@contextlib.contextmanager
def _beside(folder: Path, data: bytes, mode: int) -> Iterator[Path]:
    """A new file with that content, whole on disk, which is gone afterwards unless it was renamed."""
    new = folder / ".nuan.new"
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield new
    finally:
        new.unlink(missing_ok=True)


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
