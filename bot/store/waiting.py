"""Files that wait for some days at most: archives until they are fetched, pictures and other parts until they are sent."""

import secrets
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Protocol

from bot.core.clock import HOUR_MS
from bot.core.errors import SendError
from bot.core.files import disk_errors, make_private_folder, write_file
from bot.text.dates import stamp, stamp_in

EXPORTS_FOLDER, PARTS_FOLDER = "exports", "parts"
"""The first half of the path of an archive, and of the bytes of images, files and voice messages."""

UNSTORED_MS = HOUR_MS
"""How long bytes may lie there before a row names them: a tool writes them before its result is stored."""


class WaitingFiles(Protocol):
    """Where they lie, by paths like parts/NAME; every method blocks, and raises OSError or StoreError."""

    def write(self, path: str, data: bytes) -> None:
        """There is such a file, for nuan alone, with these bytes; durable when it returns."""

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of a file, at most `most`, -1: all of them; FileNotFoundError."""

    def names(self, folder: str) -> tuple[str, ...]:
        """The paths of all files of a folder, with what a crash left of one that was being written."""

    def remove(self, paths: Iterable[str]) -> None:
        """There is no such file any more."""


class FilesInFolder:
    """In the data folder."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def write(self, path: str, data: bytes) -> None:
        """As `WaitingFiles.write`."""
        make_private_folder((self._data / path).parent)
        write_file(self._data / path, data)

    def read(self, path: str, most: int) -> bytes:
        """As `WaitingFiles.read`."""
        with (self._data / path).open("rb") as file:
            return file.read(most)

    def names(self, folder: str) -> tuple[str, ...]:
        """As `WaitingFiles.names`."""
        return tuple(f"{folder}/{path.name}" for path in (self._data / folder).glob("*"))

    def remove(self, paths: Iterable[str]) -> None:
        """As `WaitingFiles.remove`."""
        for path in paths:
            (self._data / path).unlink(missing_ok=True)


class WaitingArchives:
    """The archives that wait for their owners for some days; every method blocks."""

    def __init__(self, files: WaitingFiles) -> None:
        self._files = files

    def write(self, person_id: int, data: bytes, at: int) -> str:
        """Keep an archive, in the place of the one before; where it lies, as a part names it. StoreError."""
        path = f"{EXPORTS_FOLDER}/nuan-export-{person_id}-{stamp(at)}.zip"
        with disk_errors("the archive cannot be written"):
            self._files.write(path, data)
        self._remove(other for other in self._of((person_id,)) if other != path)
        return path

    def remove(self, people: Collection[int | None]) -> None:
        """No archive of these people waits any more, of nobody when one is None; StoreError when one stays."""
        self._remove(self._of(people))

    def tidy(self, before: int) -> None:
        """Archives made before that instant, ms, are gone; StoreError when one cannot be removed."""
        self._remove(path for path in self._of((None,)) if stamp_in(path) < stamp(before))

    def _of(self, people: Collection[int | None]) -> list[str]:
        """The archives of these people, None: of all."""
        begins = tuple(f"{EXPORTS_FOLDER}/nuan-export-{'' if one is None else f'{one}-'}" for one in people)
        with disk_errors("archives cannot be looked for"):
            # What a crash left of one that was being written begins with a point.
            return [path for path in self._files.names(EXPORTS_FOLDER) if path.replace("/.", "/").startswith(begins)]

    def _remove(self, paths: Iterable[str]) -> None:
        with disk_errors("an archive cannot be removed"):
            self._files.remove(paths)


class PartFiles:
    """The bytes of what is to be sent, of archives, too; every method blocks."""

    def __init__(self, files: WaitingFiles) -> None:
        self._files = files

    def write(self, data: bytes, ending: str, at: int) -> str:
        """Keep these bytes until what names them is sent; where they lie, as a part names it. StoreError."""
        path = f"{PARTS_FOLDER}/{stamp(at)}-{secrets.token_hex(8)}{ending}"
        with disk_errors("what is to be sent cannot be written"):
            self._files.write(path, data)
        return path

    def read(self, path: str, most: int) -> bytes:
        """The bytes of a part; SendError("never") when they are gone or more than `most`, StoreError while a server is."""
        try:
            data = self._files.read(path, most + 1)
        except OSError as error:
            raise SendError("never", f"its file cannot be read ({error.strerror})") from error
        if len(data) > most:
            raise SendError("never", f"more than {most} bytes")
        return data

    def remove(self, path: str) -> None:
        """The bytes of a part that is not to be sent any more are gone; an archive stays. OSError, StoreError."""
        if path.startswith(f"{PARTS_FOLDER}/"):
            self._files.remove((path,))

    def tidy(self, kept: Collection[str], before: int) -> None:
        """Of what was written before that instant, ms, only the `kept` are left; StoreError when one cannot be removed."""
        with disk_errors("what was sent cannot be removed"):
            self._files.remove(
                path for path in self._files.names(PARTS_FOLDER) if path not in kept and stamp_in(path) < stamp(before)
            )


def carry_files(source: WaitingFiles, target: WaitingFiles) -> tuple[str, ...]:
    """The target has what waits in the source, too; their paths. OSError, StoreError."""
    paths = (*source.names(EXPORTS_FOLDER), *source.names(PARTS_FOLDER))
    for path in paths:
        target.write(path, source.read(path, -1))
    return paths
