"""What people let on about a reply: a reaction to it, or plain words right after it."""

from collections.abc import Mapping
from typing import Literal

Signal = Literal["thanks", "affection", "laughter", "agreement", "frustration", "correction", "confusion"]

REACTIONS: dict[str, float] = {"👍": 0.8, "❤": 1.5, "👎": -1.0}
"""The reactions that count, without skin tone and variation selector, weighed as agreement, affection, correction."""

WEIGHTS: dict[Signal, float] = {
    "thanks": 2.0, "affection": 1.5, "laughter": 1.0, "agreement": 0.8, "frustration": -2.0, "correction": -1.0,
    "confusion": -0.5,
}  # fmt: skip
"""What each of them weighs (seed Feedback, C33). A task given next says nothing about what was remembered."""

SIGNS: Mapping[str, float] = REACTIONS | {str(signal): weight for signal, weight in WEIGHTS.items()}

CLEAR = 0.3
"""The average of somebody's signals to one reply counts beyond this, for or against (seed Feedback)."""

WINDOW_MS = 30_000
"""Words count for a reply that was said so short a time ago (seed Feedback: 30 s)."""

LATE: frozenset[Signal] = frozenset(("thanks", "correction"))
LATE_MS = 600_000
"""These count some minutes later, too, while nuan has said nothing else: they are about what she said last."""

MOST_CREDITED, MOST_PER_DAY = 3, 3
"""Memories that one reply's signs count for, and replies of a day that count for one (seed Warm Boot, W14)."""
