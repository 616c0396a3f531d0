"""Files that hold what people told: written whole or not at all, for nobody else to read, never over another."""

import os
from collections.abc import Iterable
from pathlib import Path

from bot.errors import NuanError


def write_private(path: Path, pieces: Iterable[str], *, force: bool) -> None:
    """Write a file of mode 0600 that appears whole; NuanError when there is one and `force` is not given."""
    if not path.name:
        raise NuanError(f"{path} is no name of a file: give another")
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(descriptor)
        if force:
            new.replace(path)
        else:
            _link(new, path)
    finally:
        new.unlink(missing_ok=True)


def _link(new: Path, path: Path) -> None:
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise NuanError(f"{path} is there already: give another name, or --force to replace it") from None
    except OSError:  # a file system without links
        refuse_existing(path)
        new.rename(path)


def refuse_existing(path: Path) -> None:
    """NuanError when something is there."""
    if path.exists():
        raise NuanError(f"{path} is there already: give another name, or --force to replace it")


def read_text_file(path: Path, most: int = 256_000_000) -> str:
    """A file in UTF-8; NuanError, naming it, when it is none or longer than `most` bytes."""
    if not path.is_file():
        raise NuanError(f"{path} is no file")
    if path.stat().st_size > most:
        raise NuanError(f"{path} is larger than {most // 1_000_000} MB: divide it")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NuanError(f"{path} is not in UTF-8 (byte {error.start})") from None
