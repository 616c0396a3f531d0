"""How much random tests and floods do: a part of it, or all with NUAN_SIZES=full in the environment."""

import os

FULL = "full"
SHARE = 3
"""In `make test` such a test does one in so many of its examples, lines or rounds."""


def sized(full: int) -> int:
    """What a test does now whose full size is this."""
    return full if os.environ.get("NUAN_SIZES") == FULL else max(full // SHARE, 1)
