"""The folder of backups: one more is put there, and those go that have had their time. It restores none."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from bot.errors import StoreError
from bot.store.backups import copy_to
from bot.store.wholecopy import QUIET, Progress
from bot.text.stamps import stamp, stamp_in

FOLDER = "backups"
"""Where they are in the data folder, unless the configuration names another place."""

BESIDE = ("nuan*.before-*.db*", ".nuan*.before-*.db.new*", f"{FOLDER}/.nuan-*.db.new*")
"""What migrations and restores leave beside the database, and what a crash left of such a copy or of a backup."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One backup: its file, when it was made (a stamp) and its size in bytes."""

    path: Path
    made: str
    size: int


@dataclass(frozen=True, slots=True)
class Keeping:
    """How many of the newest are kept, and how old one may become, ms."""

    most: int
    age_ms: int


def folder_of(data: Path, named: str) -> Path:
    """Where backups are kept: the named folder, or the one in the data folder."""
    return Path(named).expanduser() if named else data / FOLDER


def name_at(at: int) -> str:
    """The name of a backup made at that instant, ms."""
    return f"nuan-{stamp(at)}.db"


def kept_in(folder: Path) -> tuple[Kept, ...]:
    """The backups in a folder, oldest first; StoreError when it cannot be read. Other files are none of ours."""
    try:
        found = [path for path in folder.glob("nuan-*.db") if path.name == f"nuan-{stamp_in(path.name)}.db"]
        return tuple(
            Kept(path, stamp_in(path.name), path.stat().st_size) for path in sorted(found, key=lambda path: path.name)
        )
    except OSError as error:
        raise StoreError(f"the backups cannot be read ({error})") from error


def over(kept: tuple[Kept, ...], most: int, before: int) -> tuple[Kept, ...]:
    """Which have had their time: all but the `most` newest, and those made before that instant, ms.

    The newest stays whatever its age.
    """
    old = {each.path for each in (*kept[:-most], *(each for each in kept if each.made < stamp(before)))}
    return tuple(each for each in kept[:-1] if each.path in old)


def tidy_beside(data: Path, before: int) -> int:
    """Copies beside the database that were made before that instant, ms, go; how many. StoreError when one cannot."""
    gone = 0
    try:
        for path in {path for pattern in BESIDE for path in data.glob(pattern)}:
            found = path.stat()
            # A restore only gives the old file another name, which its last change does not tell.
            if max(found.st_mtime, found.st_ctime) * 1000 < before:
                path.unlink(missing_ok=True)
                gone += 1
    except OSError as error:
        raise StoreError(f"an old copy of the database cannot be removed ({error})") from error
    return gone


def keep(data: Path, folder: Path, at: int, rules: Keeping, tell: Progress = QUIET) -> tuple[Path, int]:
    """Make a backup of this instant (ms), looked over, and remove those that have had their time; how many went.

    Works beside a running nuan. StoreError when it fails, another one is under way or its name is taken.
    """
    lock = _lock(folder)
    try:
        for half in folder.glob(".nuan-*.db.new*"):  # of a backup that a crash cut off
            half.unlink()
        path = copy_to(data, folder / name_at(at), tell)
        gone = over(kept_in(folder), rules.most, at - rules.age_ms)
        for each in gone:
            each.path.unlink(missing_ok=True)
        return path, len(gone)
    except OSError as error:
        raise StoreError(f"the backups cannot be written ({error})") from error
    finally:
        os.close(lock)


def _lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"the backups cannot be written ({error})") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        raise StoreError("another backup is being made: wait for it") from error
    return lock
