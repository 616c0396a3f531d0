"""Instants in file names: of one length, so that their order is that of time. It knows no file."""

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STAMP = re.compile(r"\d{8}T\d{9}Z")


def stamp(ms: int) -> str:
    """Milliseconds since 1970 UTC as 20260612T010000000Z."""
    at = _EPOCH + timedelta(milliseconds=ms)
    return f"{at:%Y%m%dT%H%M%S}{at.microsecond // 1000:03}Z"


def stamp_in(name: str) -> str:
    """The last stamp in a file's name, "" for none."""
    return str((_STAMP.findall(name) or [""])[-1])


def told(text: str) -> str:
    """A stamp as people read it: 2026-06-12 01:00 UTC; "" for none."""
    return f"{text[:4]}-{text[4:6]}-{text[6:8]} {text[9:11]}:{text[11:13]} UTC" if _STAMP.fullmatch(text) else ""
