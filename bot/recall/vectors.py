"""Embedding vectors: packing, nearest neighbours by cosine, and the hash embedder that needs no server."""

import asyncio
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.core.models import Embeddings
from bot.core.recall import HIT_KINDS, RecallQuery
from bot.text.terms import STOP_WORDS, index_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Steps = NDArray[np.int8]
    Whole = NDArray[np.int64]

# Read when numpy is loaded. Threads of its library that wait for each other take 2 s of a busy machine for what one does
# in 60 ms (measured).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

BYTES = 4
"""Of one number of float32."""

STEPS = 127
"""A stored number is so many parts of the greatest one of its vector: a cosine changes by less than .005 (measured)."""

SPREAD, FAR, PRIOR = 0.05, 2.0, 10
"""The least that cosines are taken to be spread, where few are known; and how many such spreads above the usual one the
likest is taken to be at least, so that the best of what is all unlike counts little. So many documents of no likeness are counted in."""

SHARP = 1.3
"""What is half as like as the likest counts less than half, by this power (docs/recall.md)."""

COMMON, LEAST_COMMON = 64, 0.02
"""Directions in which the texts of an audience differ most (who speaks, a question or a statement) are no likeness: of so
many a part is taken away, half of it where their variance is so much (whitening, Su et al., 2021; docs/recall.md)."""

UNSEEN, SAMPLE = 20, 1_024
"""So many vectors without anything in common are counted in, so that few tell little; and they are taken from at most so
many."""

GROWN = 1.25
"""What is common is taken anew when there are so many times as many, or so many times fewer of those that it is of."""

TINY = 1e-6
"""The least square of a length: what has nothing but the common part is like nothing."""

MOST_MEANT = 300
"""Documents whose likeness counts, the likest: of five in a talk each next one counts half, so that the others change
hardly any order (measured)."""

TOGETHER = 1_024
"""Vectors that are compared at once: as many as stay in a processor's cache as float32."""


VectorRow = tuple[int, str, int, int, int, bytes]
"""A document's number, kind, number among its kind, chat, time in ms, and its vector: stored, or as float32."""

SEED_DIMENSIONS, SEED_TERMS = 64, 96
"""The vector of seed Recall, provider "hash": 64 numbers, at most 96 terms, each counted once or as often as it is."""

DIMENSIONS = 512
"""A line has about 40 parts: in 512 places one of them meets another of the same line about once in 13; a vector is
2 KB. Chosen by that count, not by a measurement."""

PART = 4
"""Letters of a part of a word: enough for "allergies" to share most of its parts with "allergic". Chosen by such pairs,
not by a measurement; beside an index that stems, these vectors order ties alone (HASH_WEIGHT)."""

MOST_TERMS = 400
"""Terms of a long text that enter its vector, half of them from each end."""

FNV_OFFSET, FNV_PRIME, BITS_32 = 0x811C9DC5, 0x01000193, 0xFFFFFFFF
"""FNV-1a of 32 bits, as its authors give it."""


@dataclass(frozen=True, slots=True, eq=False)
class CommonPart:
    """What the vectors of an audience have in common: their mean, and by row the directions in which they differ most, each
    as long as the root of the share of it that is no likeness; of the first `count` of them, up to the number `until`."""

    mean: "Floats"
    directions: "Floats"
    count: int
    until: int


@dataclass(frozen=True, slots=True, eq=False)
class VectorMatrix:
    """The vectors of documents in the order of their numbers, and beside each the facts that a question may limit.

    `lengths` are those of what is left of each without the `common` part, where that is taken away.
    """

    ids: "Whole"
    kinds: "NDArray[np.str_]"
    refs: "Whole"
    chats: "Whole"
    times: "Whole"
    rows: "Steps"
    sizes: "Floats"
    lengths: "Floats"
    common: CommonPart | None = None

    @property
    def size(self) -> int:
        """Bytes of memory."""
        common = self.common.directions.nbytes if self.common is not None else 0
        return sum(column.nbytes for column in _columns(self)) + common


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


def stored(vectors: Sequence[bytes]) -> tuple[bytes, ...]:
    """Vectors of float32 as they are kept: the size of a step, then a byte for each number."""
    import numpy as np

    values = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), -1)
    sizes = np.abs(values).max(axis=1, keepdims=True) / STEPS
    steps = np.rint(values / sizes).astype(np.int8)
    return tuple(size.astype("<f4").tobytes() + row.tobytes() for size, row in zip(sizes, steps, strict=True))


def matrix(found: Sequence[VectorRow], dimensions: int, *, whole: bool) -> VectorMatrix:
    """These vectors, `whole` or without what they have in common; what has not so many dimensions is left out. Those of
    float32 are of an earlier version."""
    read = _read(found, dimensions)
    return read if whole else _without_common(read)


def _read(found: Sequence[VectorRow], dimensions: int) -> VectorMatrix:
    import numpy as np

    floats = [row for row in found if len(row[5]) == dimensions * BYTES]
    brief = stored([row[5] for row in floats]) if floats else ()
    kept = [row for row in found if len(row[5]) == BYTES + dimensions]
    right = sorted([*kept, *((*row[:5], vector) for row, vector in zip(floats, brief, strict=True))])
    ids, kinds, refs, chats, times, vectors = zip(*right, strict=True) if right else ((),) * 6
    whole = [np.array(values, dtype=np.int64) for values in (ids, refs, chats, times)]
    raw = np.frombuffer(b"".join(vectors), dtype=np.int8).reshape(-1, BYTES + dimensions)
    sizes, rows = raw[:, :BYTES].copy().view("<f4")[:, 0], np.ascontiguousarray(raw[:, BYTES:])
    lengths = np.ones(len(rows), dtype=np.float32)
    return VectorMatrix(whole[0], np.array(kinds, dtype="U8"), whole[1], whole[2], whole[3], rows, sizes, lengths)


def _without_common(of: VectorMatrix) -> VectorMatrix:
    """The same with what its first vectors have in common and what is left of each without it."""
    import numpy as np

    count = _counted(of.ids.size)
    vectors = _floats(of, slice(0, count, -(-count // SAMPLE) or 1))
    sure = len(vectors) + UNSEEN
    mean = vectors.sum(axis=0) / sure
    rest = vectors - mean
    # Of as few rows as there are numbers in each: the sums of squares by rows have the same directions.
    few = len(rest) < rest.shape[1]
    variances, places = np.linalg.eigh(rest @ rest.T if few else rest.T @ rest)
    variances, places = variances[-COMMON:].clip(0), places[:, -COMMON:]
    shares = 1 / (variances + LEAST_COMMON * sure)
    scaled = (rest.T @ places).T * np.sqrt(shares)[:, None] if few else places.T * np.sqrt(variances * shares)[:, None]
    until = int(of.ids[count - 1]) if count else 0
    common = CommonPart(mean, np.ascontiguousarray(scaled, dtype=np.float32), count, until)
    return replace(of, common=common, lengths=_lengths(of, common))


def _counted(there: int) -> int:
    """Of so many vectors how many tell what is common: the same ones until there are GROWN times as many."""
    count = 1
    while (more := max(count + 1, int(count * GROWN))) <= there:
        count = more
    return min(count, there)


def _lengths(of: VectorMatrix, common: CommonPart) -> "Floats":
    import numpy as np

    found = np.empty(of.ids.size, dtype=np.float32)
    for start in range(0, of.ids.size, TOGETHER):
        rest = _floats(of, slice(start, start + TOGETHER)) - common.mean
        along = np.einsum("ij,kj->ik", rest, common.directions)
        squares = np.einsum("ij,ij->i", rest, rest) - np.einsum("ik,ik->i", along, along)
        found[start : start + TOGETHER] = np.sqrt(np.maximum(squares, TINY))
    return found


def _floats(of: VectorMatrix, places: slice) -> "Floats":
    import numpy as np

    return of.rows[places].astype(np.float32) * of.sizes[places, None]


def lacking(known: VectorMatrix, wanted: Sequence[int]) -> list[int]:
    """The numbers whose vectors are not known."""
    import numpy as np

    numbers = np.array(wanted, dtype=np.int64)
    missing: list[int] = numbers[~np.isin(numbers, known.ids)].tolist()
    return missing


def changed(
    known: VectorMatrix, since: int, wanted: Sequence[int], new: Sequence[VectorRow], most: int
) -> VectorMatrix:
    """Of what is known the vectors up to the number `since` and those of `wanted`, and the new ones; the newest `most`."""
    import numpy as np

    fresh, common = _read(new, known.rows.shape[1]), known.common
    if common is not None:
        fresh = replace(fresh, lengths=_lengths(fresh, common))
    stays = (known.ids <= since) | np.isin(known.ids, np.array(wanted, dtype=np.int64))
    left = known.ids[~stays]
    forgotten = left.size and (len(wanted) < most or left.max() > min(wanted))  # or older than the newest `most`
    if left.size:
        known = _picked(known, stays)
    if fresh.ids.size:
        pairs = zip(_columns(known), _columns(fresh), strict=True)
        known = _made((np.concatenate(pair) for pair in pairs), common)
    if (np.diff(known.ids) < 0).any():
        known = _picked(known, np.argsort(known.ids))
    if known.ids.size > most:
        known = _picked(known, slice(-most, None))
    if common is None or (not forgotten and _still_common(common, known)):
        return known
    return _without_common(known)


def _still_common(common: CommonPart, among: VectorMatrix) -> bool:
    """Whether that is of the first of these: nothing changes while only new ones come, but little when old ones come or go."""
    there = int(among.ids.searchsorted(common.until, "right"))
    few, many = common.count / GROWN, common.count * GROWN
    return common.count == _counted(among.ids.size) and few <= there <= many


Near = tuple[tuple[tuple[int, float], ...], dict[int, float]]
"""Numbers of documents with their cosines, the likest first; and what each has of the likest one's likeness."""


def nearest(asked: Sequence[bytes], among: VectorMatrix, asking: RecallQuery, least: float, most: int) -> Near:
    """The likest of what is asked for and at least so like a part of the question, and of the MOST_MEANT that are liker
    than usual their shares.

    Of equals the newer comes first. A part of another width than the matrix is like nothing.
    """
    import numpy as np

    cosines = _cosines(asked, among)
    if cosines is None:
        return (), {}
    fits = _asked_for(among, asking) & (cosines >= np.float32(least))
    like = np.flatnonzero(fits)
    if not like.size:
        return (), {}
    usual = (float(cosines.sum()) + PRIOR * least) / (cosines.size + PRIOR)
    spread = max(float(cosines.std()), SPREAD)
    whole = max(float(cosines[like].max()) - usual, FAR * spread)
    above = _likest(cosines, like[cosines[like] > usual], MOST_MEANT)
    shares = ((cosines[above] - usual) / whole) ** SHARP
    like = _likest(cosines, like, most)
    best = sorted(((float(cosines[place]), int(among.ids[place])) for place in like), reverse=True)
    return tuple((number, cosine) for cosine, number in best), dict(
        zip(among.ids[above].tolist(), shares.tolist(), strict=True)
    )


def standing(asked: Sequence[bytes], among: VectorMatrix, asking: RecallQuery) -> dict[int, float]:
    """How much liker the question than the mean each document that is asked for is, in standard deviations of all of them."""
    among = _picked(among, _asked_for(among, asking))
    cosines = _cosines(asked, among)
    if cosines is None:
        return {}
    above = (cosines - cosines.mean()) / max(float(cosines.std()), SPREAD)
    return dict(zip(among.ids.tolist(), above.tolist(), strict=True))


def _cosines(asked: Sequence[bytes], among: VectorMatrix) -> "Floats | None":
    """How like a part of the question each is, by the likest part; None where nothing can be compared."""
    import numpy as np

    # The parts have the rows' own type: with float64 the product would be 10 to 30 times slower.
    queries = [query for part in asked if (query := np.frombuffer(part, dtype="<f4")).size == among.rows.shape[1]]
    if not queries or not among.ids.size:
        return None
    parts = [_without(query, among.common) for query in queries]
    # Not `@`, which gives equal rows figures that differ in their last bits, by their places.
    cosines = np.empty(len(among.rows), dtype=np.float32)
    floats = np.empty((min(TOGETHER, len(among.rows)), among.rows.shape[1]), dtype=np.float32)
    for start in range(0, len(among.rows), TOGETHER):
        block, sizes = (column[start : start + TOGETHER] for column in (among.rows, among.sizes))
        np.copyto(floats[: len(block)], block)
        products = [np.einsum("ij,j->i", floats[: len(block)], part) * sizes - off for part, off in parts]
        cosines[start : start + len(block)] = np.max(products, axis=0)
    cosines /= among.lengths
    return cosines


def _without(query: "Floats", common: CommonPart | None) -> tuple["Floats", float]:
    """What a document's product with is how like it the question is, less the second number; times the document's length."""
    import numpy as np

    if common is None:
        return query, 0.0
    rest = query - common.mean
    left = rest - np.einsum("kj,k->j", common.directions, np.einsum("kj,j->k", common.directions, rest))
    left /= np.sqrt(max(float(np.einsum("j,j->", left, rest)), TINY))
    return left, float(np.einsum("j,j->", left, common.mean))


def _asked_for(among: VectorMatrix, asking: RecallQuery) -> "NDArray[np.bool_]":
    """Which of these the question asks for, by their kinds and times."""
    import numpy as np

    fits = np.ones(among.ids.size, dtype=np.bool_)
    if len(asking.kinds) < len(HIT_KINDS):
        fits &= np.isin(among.kinds, asking.kinds)
    if asking.since is not None:
        fits &= among.times >= asking.since
    if asking.until is not None:
        fits &= among.times < asking.until
    if asking.heard:
        fits &= ~((among.kinds == "line") & (among.chats == asking.audience.chat_id) & (among.refs >= asking.heard))
    return fits


def _likest(cosines: "Floats", places: "Whole", most: int) -> "Whole":
    """Of these places the ones with the highest cosines."""
    import numpy as np

    return places if places.size <= most else places[np.argpartition(-cosines[places], most - 1)[:most]]


def _picked(of: VectorMatrix, places: "Whole | NDArray[np.bool_] | slice") -> VectorMatrix:
    return _made((column[places] for column in _columns(of)), of.common)


def _made(columns: Iterable[Any], common: CommonPart | None) -> VectorMatrix:
    return replace(VectorMatrix(*columns), common=common)


def _columns(of: VectorMatrix) -> tuple["NDArray[Any]", ...]:
    return of.ids, of.kinds, of.refs, of.chats, of.times, of.rows, of.sizes, of.lengths


class HashEmbedder:
    """Counts the parts of words; with 64 dimensions exactly as the seed does. It costs nothing and knows no meaning."""

    calls = means = False
    least_cosine = 0.25

    def __init__(self, dimensions: int | None) -> None:
        self._dimensions = dimensions or DIMENSIONS
        self.name = f"hash-{self._dimensions}"

    async def load(self, wait_s: float, *, anew: bool = False) -> bool:
        """Nothing is loaded."""
        del wait_s, anew
        return True

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embeddings:
        """The vectors of these texts, made in a thread; it never fails."""
        del deadline_s
        return await asyncio.to_thread(self.vectors, texts)

    def vectors(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of these texts."""
        make = seed_sums if self._dimensions == SEED_DIMENSIONS else sums
        return Embeddings(pack([make(text, self._dimensions) for text in texts]), self._dimensions)

    async def close(self) -> None:
        """Nothing is open."""


def seed_sums(text: str, dimensions: int = SEED_DIMENSIONS) -> list[float]:
    """The seed's vector before it is given length 1.

    Of a long text both ends enter it: with the beginning alone a question's last word would be lost (measured in the
    reference, whose first terms left it out).
    """
    return _added(((term, 1.0) for term in _both_ends(_telling(text), SEED_TERMS)), dimensions)


def sums(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Words and, lighter, their parts of four letters, so that "allergies" is near "allergic"; repeats count less."""
    counted: Counter[str] = Counter()
    for term in _both_ends(_telling(text), MOST_TERMS):
        counted[term] += 1
        if term.isascii() and len(term) > PART:
            for part in _parts(term):
                counted[part] += 1
    weighted = ((term, (1 + math.log(n)) * (0.5 if term[0] == "#" else 1.0)) for term, n in counted.items())
    return _added(weighted, dimensions)


def _telling(text: str) -> list[str]:
    terms = index_terms(text)
    return [term for term in terms if term not in STOP_WORDS] or list(terms) or [text or " "]


def _both_ends(terms: list[str], most: int) -> list[str]:
    return terms if len(terms) <= most else terms[: most // 2] + terms[-most // 2 :]


def _parts(word: str) -> Iterator[str]:
    """The pieces of a word, marked so that they are no words."""
    return (f"#{word[place : place + PART]}" for place in range(len(word) - PART + 1))


def _added(terms: Iterator[tuple[str, float]], dimensions: int) -> list[float]:
    """Each term adds its weight to one place, or takes it away there; a text whose terms cancel out keeps the first."""
    found = [0.0] * dimensions
    first = 0
    for place, (term, weight) in enumerate(terms):
        number = _fnv1a(term)
        first = number if not place else first
        found[number % dimensions] += -weight if number >> 31 else weight
    if not any(found):
        found[first % dimensions] = 1.0
    return found


def _fnv1a(term: str) -> int:
    number = FNV_OFFSET
    for byte in term.encode("utf-8", "replace"):
        number = ((number ^ byte) * FNV_PRIME) & BITS_32
    return number
