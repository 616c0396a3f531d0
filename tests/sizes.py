"""How much random tests and floods do: a part of it, or all with TEST_SIZES=full in the environment; and how long any
test waits for what must come.
"""

import os

FULL = "full"
SHARE = 3
"""In `make test` such a test does one in so many of its examples, lines or rounds."""


PATIENCE_S = 120.0
"""How long a test waits for what must come before it fails: far above what a slow and busy machine needs, and what never
comes is not waited for without end.
"""


def is_full() -> bool:
    """Whether everything runs at its full size."""
    return os.environ.get("TEST_SIZES") == FULL


def sized(full: int) -> int:
    """What a test does now whose full size is this."""
    return full if is_full() else max(full // SHARE, 1)
