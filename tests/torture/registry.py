"""Every fault and attack by its number, in order, with its row; a number nobody has written a row for stays open."""

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.torture.row import Row

GROUPS = (("D", 27), ("S", 14), ("L", 14), ("X", 28), ("R", 9))
"""Delivery, storage, the language model, attacks, and what uses things up; how many of each."""
IDS = tuple(f"{letter}{number}" for letter, count in GROUPS for number in range(1, count + 1))
FUZZING = tuple(f"F{number}" for number in range(1, 9))
"""Beside the list: every parser of outside text, the memories and the house with crashes, on what comes at random."""
PACKAGE = "tests.torture"


def delivered() -> tuple[Row, ...]:
    """The rows of every module of this package whose name begins with rows_."""
    folder = str(Path(__file__).parent)
    names = sorted(found.name for found in pkgutil.iter_modules([folder]) if found.name.startswith("rows_"))
    return tuple(row for name in names for row in importlib.import_module(f"{PACKAGE}.{name}").ROWS)


def by_id(rows: Iterable[Row]) -> Mapping[str, Row]:
    """Each row under its number; ValueError when two claim one, or one is not in the list."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.id not in (*IDS, *FUZZING):
            raise ValueError(f"{row.id} is no number of the list")
        if found.setdefault(row.id, row) is not row:
            raise ValueError(f"{row.id} has two rows")
    return found


def all_rows() -> Mapping[str, Row]:
    """What is there, by number."""
    return by_id(delivered())
