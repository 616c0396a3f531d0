"""How alike two texts are without a model: a vector of hashed terms. The same text has the same vector for ever."""

import math

from bot.text.tokens import STOP, index_terms

DIMENSIONS = 64
"""Numbers of a vector (seed Recall, provider "hash")."""

MOST_TERMS = 96
"""Terms that enter a vector (seed Recall, provider "hash")."""

FNV_OFFSET, FNV_PRIME, BITS_32 = 0x811C9DC5, 0x01000193, 0xFFFFFFFF
"""FNV-1a of 32 bits, as its authors give it."""

Vector = tuple[float, ...]


def embed(text: str) -> Vector:
    """The text as a vector of length 1, or of zeros when no term is telling.

    Of a long text both ends enter it: with the beginning alone a question's last word would be lost (measured in the
    reference, whose first 24 terms left it out).
    """
    terms = [term for term in index_terms(text) if term not in STOP]
    if len(terms) > MOST_TERMS:
        terms = terms[: MOST_TERMS // 2] + terms[-MOST_TERMS // 2 :]
    sums = [0.0] * DIMENSIONS
    for term in terms:
        number = _fnv1a(term)
        sums[number % DIMENSIONS] += -1.0 if number >> 31 else 1.0
    length = math.sqrt(sum(value * value for value in sums))
    return tuple(value / length for value in sums) if length else tuple(sums)


def cosine(one: Vector, other: Vector) -> float:
    """How alike two vectors are, -1 to 1; 0 when either has no length."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def _fnv1a(term: str) -> int:
    number = FNV_OFFSET
    for byte in term.encode("utf-8", "replace"):
        number = ((number ^ byte) * FNV_PRIME) & BITS_32
    return number
