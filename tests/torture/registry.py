"""Every fault and attack by its number, in order, with its row; a number nobody has written a row for stays open."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.torture.row import Row

GROUPS = (("D", 27), ("S", 14), ("L", 14), ("X", 29), ("R", 10))
"""Delivery, storage, the language model, attacks, and what uses things up; how many of each."""
IDS = tuple(f"{letter}{number}" for letter, count in GROUPS for number in range(1, count + 1))
FUZZING = tuple(f"F{number}" for number in range(1, 9))
"""Beside the list: every parser of outside text, the memories and the installation with crashes, on what comes at
random.
"""
SERVER = tuple(f"P{number}" for number in range(1, 4))
"""And what a PostgreSQL server, and the line to it, can do to who is on it."""
ALL = (*IDS, *FUZZING, *SERVER)
PACKAGE = "tests.torture"


def at_home() -> tuple[tuple[Row, str], ...]:
    """The rows of every module of this package whose name begins with rows_, each with that module's full name."""
    folder = str(Path(__file__).parent)
    found = sorted(each.name for each in pkgutil.iter_modules([folder]) if each.name.startswith("rows_"))
    homes = [f"{PACKAGE}.{name}" for name in found]
    return tuple((row, home) for home in homes for row in importlib.import_module(home).ROWS)


def delivered() -> tuple[Row, ...]:
    """The rows alone."""
    return tuple(row for row, _ in at_home())


def by_id(rows: Iterable[Row]) -> Mapping[str, Row]:
    """Each row under its number; ValueError when two claim one, or one is not in the list."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.id not in ALL:
            raise ValueError(f"{row.id} is no number of the list")
        if found.setdefault(row.id, row) is not row:
            raise ValueError(f"{row.id} has two rows")
    return found
