"""Vectors as they are kept and compared: float32, length 1, so that a cosine is one product. It loads numpy late."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

BYTES = 4
"""Of one number."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """Vectors with the numbers of what they are of, in the order of those."""

    ids: tuple[int, ...]
    rows: "Floats"

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return int(self.rows.nbytes)


def pack(rows: Sequence[Sequence[float]]) -> tuple[bytes, ...]:
    """Each row as a vector of length 1; ValueError when they differ in length, hold no number, or only zeros."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        values = np.asarray(rows, dtype="<f4")
        if values.ndim != 2 or not values.size:
            raise ValueError("these are no rows of numbers of one length")
        wide = values.astype(np.float64)
        lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise ValueError("a vector holds no number, or only zeros")
        return tuple(row.tobytes() for row in (wide / lengths).astype("<f4"))


def matrix(vectors: Sequence[tuple[int, bytes]], dimensions: int) -> Matrix:
    """These vectors, by their numbers; what has not so many dimensions is left out."""
    import numpy as np

    right = [(number, vector) for number, vector in sorted(vectors) if len(vector) == dimensions * BYTES]
    joined = np.frombuffer(b"".join(vector for _, vector in right), dtype="<f4")
    return Matrix(tuple(number for number, _ in right), joined.reshape(-1, dimensions))


def changed(known: Matrix, wanted: Sequence[int], new: Sequence[tuple[int, bytes]]) -> Matrix:
    """The vectors of `wanted`, from what is known and what is new, by their numbers."""
    import numpy as np

    dimensions = known.rows.shape[1]
    keep, fresh = set(wanted), matrix(new, dimensions)
    both = np.concatenate((known.rows, fresh.rows))
    last = {number: place for place, number in enumerate((*known.ids, *fresh.ids)) if number in keep}
    ids = tuple(sorted(last))
    return Matrix(ids, both[[last[number] for number in ids]])


def nearest(
    asked: bytes, among: Matrix, fit: Sequence[bool], least: float, most: int
) -> tuple[tuple[int, float], ...]:  # fmt: skip
    """The numbers of the fitting vectors that are at least so like the asked one, with cosines, the likest first.

    `fit` says it of each, in order. Of equals the newer comes first. A query of another width is like
    nothing.
    """
    import numpy as np

    # The query has the matrix's own type: with float64 the product would be 10 to 30 times slower (LIBRARIES, 5).
    query = np.frombuffer(asked, dtype="<f4")
    if not among.ids or query.shape[0] != among.rows.shape[1]:
        return ()
    cosines = among.rows @ query
    like = np.flatnonzero((cosines >= np.float32(least)) & np.asarray(fit, dtype=bool))
    if like.size > most:
        like = like[np.argpartition(-cosines[like], most - 1)[:most]]
    best = sorted(((float(cosines[place]), among.ids[place]) for place in like), reverse=True)
    return tuple((number, cosine) for cosine, number in best)
