"""Does one text say what another said? Decided by the words they share, not by meaning."""

from bot.text.fold import fold
from bot.text.tokens import index_terms

SHARE = 0.5
"""Share of a statement's word pairs that a line must hold to be its echo; a paraphrase keeps most of them."""

LONG_WORD = 5
"""A Latin word or number this long (a code, a name) gives a statement away by itself."""


def echoes(statement: str, line: str) -> bool:
    """True when `line` repeats `statement` in whole or in large part, in either script."""
    said, told = fold(line), fold(statement).strip()
    if not told:
        return False
    if told in said:
        return True
    there = set(index_terms(line))
    pairs = {term for term in index_terms(statement) if len(term) > 1}
    if any(len(term) >= LONG_WORD and any(c.isdigit() for c in term) for term in pairs & there):
        return True
    return len(pairs) > 1 and len(pairs & there) >= SHARE * len(pairs)
