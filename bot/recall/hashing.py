"""The embedder that needs no server: a text's parts are hashed into a vector, the same one for ever."""

import asyncio
import math
from collections import Counter
from collections.abc import Iterator, Sequence

from bot.recall.vectors import pack
from bot.text.tokens import STOP, index_terms
from bot.types.embedding import Embedded

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


class HashEmbedder:
    """Counts the parts of words; with 64 dimensions exactly as the seed does. It costs nothing and knows no meaning."""

    calls = False

    def __init__(self, dimensions: int | None) -> None:
        self._dimensions = dimensions or DIMENSIONS
        self.name = f"hash-{self._dimensions}"

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embedded:
        """The vectors of these texts, made in a thread; it never fails."""
        del deadline_s
        return await asyncio.to_thread(self.vectors, texts)

    def vectors(self, texts: Sequence[str]) -> Embedded:
        """The vectors of these texts."""
        make = seed_sums if self._dimensions == SEED_DIMENSIONS else sums
        return Embedded(pack([make(text, self._dimensions) for text in texts]), self._dimensions)

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
    return [term for term in terms if term not in STOP] or list(terms) or [text or " "]


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
