"""Private files (mode 0600): written whole or not at all, appended to, locked; and the files shipped with nuan."""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import sys
from collections.abc import AsyncIterable, Iterable, Iterator
from functools import cache
from pathlib import Path

from bot.core.errors import SendError, StoreError

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700


@contextlib.contextmanager
def disk_errors(what: str, advice: str = "", other: type[Exception] = OSError) -> Iterator[None]:
    """StoreError that tells what cannot be done and why, when the disk refuses or the `other` error is raised."""
    try:
        yield
    except (OSError, other) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error  # a path may tell who it is of
        raise StoreError(f"{what} ({why}){advice}") from error


def make_private_folder(path: Path) -> None:
    """The folder is there and for this user alone, as far as its disk knows of that; OSError when it cannot be made."""
    path.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & ~PRIVATE_FOLDER:
        with contextlib.suppress(OSError):
            path.chmod(mode & PRIVATE_FOLDER)  # who may only read it gets no more by this


def create_file(path: Path) -> None:
    """An empty private file, in the place of what was there."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE))


@contextlib.contextmanager
def file_beside(path: Path, content: Iterable[bytes], mode: int = PRIVATE) -> Iterator[Path]:
    """A hidden file beside `path` with this content, on the disk; it is gone afterwards unless it was renamed."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(content)
            file.flush()
            os.fsync(descriptor)
        yield new
    finally:
        new.unlink(missing_ok=True)


def write_file(path: Path, content: bytes | Iterable[bytes], *, force: bool = True) -> None:
    """Write a private file that appears whole; FileExistsError when there is one and `force` is not given."""
    with file_beside(path, (content,) if isinstance(content, bytes) else content) as new:
        if force:
            new.replace(path)
        else:
            give_name(new, path)


def give_name(file: Path, path: Path) -> None:
    """A file has this name, too, or only this one where a disk knows no links; FileExistsError when it is taken."""
    try:
        path.hardlink_to(file)
    except FileExistsError:
        raise
    except OSError as error:
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        file.rename(path)


async def read_at_most(pieces: AsyncIterable[bytes], most: int) -> bytes:
    """All of a download; SendError("never") as soon as it is more than `most` bytes, whatever was promised."""
    taken = bytearray()
    async for piece in pieces:
        taken += piece
        if len(taken) > most:
            raise SendError("never", f"more than {most} bytes")
    return bytes(taken)


def append_to_file(path: Path, data: bytes) -> None:
    """Add this at the end of a private file, which need not be there; it is on the disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE)
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError("the disk is full")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_file(path: Path) -> int | None:
    """Keep every other process out until the descriptor is closed; None when one is in already."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def sync_to_disk(path: Path) -> None:
    """Return when a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@cache
def resource_dir(name: str) -> Path:
    """The folder or file `name` ("prompts", "data/persona", "data/nuan.example.toml"), installed or in a checkout.

    Raises FileNotFoundError when the installation is incomplete.
    """
    package = Path(__file__).resolve().parents[1]
    for root in (package / "_resources", package.parent):
        found = root / name
        if found.exists():
            return found
    raise FileNotFoundError(f"{name!r} is not part of this installation of nuan; please install it again")


def install_command(extra: str) -> str:
    """The command that installs what an extra brings: of the checkout that this is, where no index has the package."""
    root = Path(__file__).resolve().parents[2]
    if not (root / "pyproject.toml").exists():
        return f"pip install 'nuan[{extra}]'"
    return f"cd {root} && {sys.executable} -m pip install -c constraints.txt -e '.[{extra}]'"


def program_name() -> str:
    """How nuan is started in this folder: by its name where the shell finds it, else from the environment it lies in."""
    beside = Path(sys.executable).with_name("nuan")
    if shutil.which("nuan") or not beside.exists():
        return "nuan"
    return str(beside.relative_to(Path.cwd())) if beside.is_relative_to(Path.cwd()) else str(beside)


class PromptFiles:
    """Finds prompt files: the operator's own first, then the shipped one of the same name."""

    def __init__(self, own: Path | None) -> None:
        self._own = own
        self._shipped = resource_dir("prompts")

    def path(self, name: str) -> Path:
        """The file called `name`, for example "digest/en.txt"."""
        if self._own is not None and (self._own / name).exists():
            return self._own / name
        return self._shipped / name
