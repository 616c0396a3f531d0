"""The levels of a full-text index: SQLite 3.40 adds one or two at each 'optimize', and reads no index with 2,001."""

import sqlite3
from typing import cast

INDEXES = ("memory_text", "doc_text")
"""Full-text tables, of older schemas too."""

MANY_LEVELS = 100
"""An index with so many is built anew; a newer SQLite stops at 64 by itself."""

MOST_LEVELS = 2_000
"""With more than these SQLite calls an index malformed (FTS5_MAX_SEGMENT)."""

STRUCTURE = 10
"""The row of an index that begins with four bytes and how many levels it has (FTS5_STRUCTURE_ROWID)."""

AVERAGES = 1
"""The row of an index with its sums, which may be empty (FTS5_AVERAGES_ROWID)."""


def merge_terms(db: sqlite3.Connection, index: str) -> None:
    """Verb part: an index keeps nothing of rows that were deleted or written anew, and stays readable over years."""
    db.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
    if levels(db, index) >= MANY_LEVELS:  # counted after the merge, which may have added two
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")


def check_indexes(db: sqlite3.Connection) -> None:
    """Verb: an index with too many levels is built anew from its rows; any other fault is a sqlite3.Error."""
    for index in INDEXES:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (index,)).fetchone():
            continue
        found = levels(db, index)
        if found > MOST_LEVELS:
            _empty(db, index)
        if found >= MANY_LEVELS:
            db.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
        db.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")


def levels(db: sqlite3.Connection, index: str) -> int:
    """How many levels an index has, 0 when that cannot be told."""
    row = db.execute(f"SELECT block FROM {index}_data WHERE id = ?", (STRUCTURE,)).fetchone()
    count = 0
    for byte in cast("bytes", row[0])[4:7] if row is not None else b"":
        count = count << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return count


def _empty(db: sqlite3.Connection, index: str) -> None:
    """No statement on the index itself works any more: its tables become those of a new one; its rows stay."""
    db.execute(f"DELETE FROM {index}_data")
    db.execute(f"DELETE FROM {index}_idx")
    db.execute(f"INSERT INTO {index}_data (id, block) VALUES (?, ?), (?, ?)", (AVERAGES, b"", STRUCTURE, bytes(7)))
