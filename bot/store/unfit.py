"""What SQLite's refusals mean: that nothing can be stored now, or that this one thing cannot."""

import sqlite3

from bot.errors import StoreError, UnfitError

WHOLE = frozenset(
    (
        sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOTADB,
    )
)  # fmt: skip
"""Primary result codes that say something of the disk or of other programs, and nothing of what was to be done."""


def refusal(text: str, error: sqlite3.Error) -> StoreError:
    """The error with that text: UnfitError where the database is well."""
    code = getattr(error, "sqlite_errorcode", None)
    return StoreError(text) if code is None or code & 0xFF in WHOLE else UnfitError(text)
