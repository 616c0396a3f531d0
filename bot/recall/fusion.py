"""One order from several: reciprocal rank fusion, in which every list's places count. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

RRF_K = 60
"""A place counts 1/(60+place) (Cormack et al. 2009; seed Recall, hybrid)."""


HASH_WEIGHT = 0.01
"""What a place counts in a list of vectors that know no meaning: they break ties and find what words did not.

They count the words that a search knows better, with its rare ones first. Measured beside v2 on 380 English and 313
Chinese questions for lines and 96 English ones for sessions, recall at 5: 0.01 lost nothing on any, 0.03 lost 1.1, 0
and 1.0 points; before the search looked at the talk around, 1 lost 12.
"""

Missing = Literal["", "off", "none", "down", "budget", "unpaid"]
"""Nothing is missing; no embedder is set; nothing has a vector yet; the server fails or rests; a limit is reached; who
only looks may not call."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Documents that are like a question: place, from 1, and cosine, by number; `missing` says why there are none.

    A place counts `weight` times as much as one among those found by words.
    """

    found: Mapping[int, tuple[int, float]] = field(default_factory=dict)
    missing: Missing = ""
    weight: float = 1.0


def places(best_first: Iterable[int]) -> dict[int, int]:
    """The places of these, from 1; of one that comes twice the first."""
    found: dict[int, int] = {}
    for number in best_first:
        found.setdefault(number, len(found) + 1)
    return found


def fuse(lists: Sequence[tuple[float, Mapping[int, int]]]) -> dict[int, float]:
    """What each number has from all lists, of which each weighs as much as its first part says.

    In the reference the fused figure only broke ties, so a text that one list alone had found could never win.
    """
    sums: dict[int, float] = {}
    for weight, found in lists:
        for number, place in found.items():
            sums[number] = sums.get(number, 0.0) + weight / (RRF_K + place)
    return sums
