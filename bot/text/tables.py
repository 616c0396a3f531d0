"""Tables worked out once of what a library brings, and kept as files that are mapped into memory instead of loaded.

It knows no table: whoever needs one says how it is made."""

import hashlib
import mmap
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from bot.core.files import write_file

BEGINS = (0x6E75_616E_0000_0001).to_bytes(8, "little")
"""The form of the files; a table is numbers as this machine writes them."""

HEAD = len(BEGINS) + hashlib.sha256().digest_size

_FOLDERS: list[Path] = []


def keep_tables_in(folder: Path) -> None:
    """From now on tables are kept in this folder, where that which it lies in is there; without one they are made anew
    by each process."""
    _FOLDERS[:] = [folder]


def table_folder(name: str) -> Path | None:
    """Where the table of that name is to be kept, while there is none; None where nothing can be kept."""
    folder = cache_folder()
    return None if folder is None or (folder / f"{name}.bin").is_file() else folder


def cache_folder() -> Path | None:
    """Where files lie that can be made again; None where nothing can be kept."""
    if not _FOLDERS or not _FOLDERS[0].parent.is_dir():
        return None
    try:
        _FOLDERS[0].mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return None
    return _FOLDERS[0] if os.access(_FOLDERS[0], os.W_OK) else None


def read_table_file(name: str, sources: Iterable[Path], make: Callable[[], bytes]) -> memoryview:
    """The table of that name, mapped; made where none is kept that was made of these very sources and is whole."""
    stamp = hashlib.sha256(BEGINS)
    for source in sources:
        with source.open("rb") as file:
            stamp.update(hashlib.file_digest(file, "sha256").digest())
    path = _FOLDERS[0] / f"{name}.bin" if _FOLDERS else None
    kept = _mapped(path, stamp.digest()) if path is not None else None
    if kept is not None:
        return kept
    made = make()
    if path is None or not path.parent.parent.is_dir():
        return memoryview(made)
    with suppress(OSError):  # a folder that only can be read, or a full disk
        path.parent.mkdir(mode=0o700, exist_ok=True)
        write_file(path, (BEGINS, _sum(stamp.digest(), made), made))
    kept = _mapped(path, stamp.digest())
    return memoryview(made) if kept is None else kept


def _mapped(path: Path, stamp: bytes) -> memoryview | None:
    """None where there is no such file, or one that is damaged or made of something else."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
            # Read, not looked at where it is mapped: what is mapped stays in memory once it was looked at.
            found = hashlib.sha256(stamp)
            while piece := file.read(1 << 18):
                found.update(piece)
            if head != BEGINS + found.digest():
                return None
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[HEAD:]
    except (OSError, ValueError):
        return None


def _sum(stamp: bytes, content: bytes) -> bytes:
    return hashlib.sha256(stamp + content).digest()
