"""Vectors as they are kept and compared: float32, length 1, so that a cosine is one product. It loads numpy late."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.types.recall import Asking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Whole = NDArray[np.int64]

BYTES = 4
"""Of one number."""


Row = tuple[int, str, int, int, int, bytes]
"""A document's number, kind, number among its kind, chat, time in ms, and its vector."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """The vectors of documents in the order of their numbers, and beside each the facts that a question may limit."""

    ids: "Whole"
    kinds: "NDArray[np.str_]"
    refs: "Whole"
    chats: "Whole"
    times: "Whole"
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


def matrix(found: Sequence[Row], dimensions: int) -> Matrix:
    """These vectors; what has not so many dimensions is left out."""
    import numpy as np

    right = sorted(row for row in found if len(row[5]) == dimensions * BYTES)
    ids, kinds, refs, chats, times, vectors = zip(*right, strict=True) if right else ((),) * 6
    whole = [np.array(values, dtype=np.int64) for values in (ids, refs, chats, times)]
    rows = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, dimensions)
    return Matrix(whole[0], np.array(kinds, dtype="U8"), whole[1], whole[2], whole[3], rows)


def lacking(known: Matrix, wanted: Sequence[int]) -> list[int]:
    """The numbers whose vectors are not known."""
    import numpy as np

    numbers = np.array(wanted, dtype=np.int64)
    missing: list[int] = numbers[~np.isin(numbers, known.ids)].tolist()
    return missing


def changed(known: Matrix, wanted: Sequence[int], new: Sequence[Row]) -> Matrix:
    """The vectors of `wanted`, from what is known and what is new."""
    import numpy as np

    fresh = matrix(new, known.rows.shape[1])
    pairs = zip(_columns(known), _columns(fresh), strict=True)
    both = [np.concatenate(pair) for pair in pairs]
    ids, places = np.unique(both[0], return_index=True)
    keep = places[np.isin(ids, np.array(wanted, dtype=np.int64))]
    return Matrix(*(column[keep] for column in both))


def nearest(asked: bytes, among: Matrix, asking: Asking, least: float, most: int) -> tuple[tuple[int, float], ...]:
    """The numbers of what is asked for and at least so like the question, with their cosines, the likest first.

    Of equals the newer comes first. A query of another width than the matrix is like nothing.
    """
    import numpy as np

    # The query has the matrix's own type: with float64 the product would be 10 to 30 times slower.
    query = np.frombuffer(asked, dtype="<f4")
    if query.shape[0] != among.rows.shape[1]:
        return ()
    # Not `@`: the threads of its library stay awake for 10 ms of CPU time after each product (measured).
    cosines = np.einsum("ij,j->i", among.rows, query)
    fits = (cosines >= np.float32(least)) & np.isin(among.kinds, asking.kinds)
    if asking.since is not None:
        fits &= among.times >= asking.since
    if asking.until is not None:
        fits &= among.times < asking.until
    if asking.heard:
        fits &= ~((among.kinds == "line") & (among.chats == asking.audience.chat_id) & (among.refs >= asking.heard))
    like = np.flatnonzero(fits)
    if like.size > most:
        like = like[np.argpartition(-cosines[like], most - 1)[:most]]
    best = sorted(((float(cosines[place]), int(among.ids[place])) for place in like), reverse=True)
    return tuple((number, cosine) for cosine, number in best)


def _columns(of: Matrix) -> tuple["NDArray[Any]", ...]:
    return of.ids, of.kinds, of.refs, of.chats, of.times, of.rows
