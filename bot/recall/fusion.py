"""One order from several: reciprocal rank fusion, in which every list's places count. Pure."""

from collections.abc import Iterable, Mapping, Sequence

RRF_K = 60
"""A place counts 1/(60+place) (Cormack et al. 2009; seed Recall, hybrid)."""


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
