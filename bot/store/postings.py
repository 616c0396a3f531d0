"""Which documents hold a term, for each scope, as short lists of their numbers.

A list is a row of its own for each scope and term, so that one document more or less costs what its own terms cost.
"""

import json
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import sub

from bot.store.schema import GIVEN, POSTED, padded, placeholders
from bot.store.transactions import Tx

MOST_LISTED = 32
"""Documents of one row: few enough to be written anew for one of them, many enough to need few rows."""

WIDTHS = {1: "B", 2: "H", 4: "I"}
"""Bytes of a step from one number to the next, and how struct calls them; the widest step decides for its row."""

EVERYBODY = "all"
"""The scope of what anybody may find."""

_NEAREST = f"""SELECT given.value, first, steps FROM {GIVEN} CROSS JOIN posting
    ON scope = ? AND term = given.value AND first = (SELECT max(near.first) FROM posting AS near
    WHERE near.scope = ? AND near.term = given.value AND near.first <= ?)"""
"""Of each term the row in which a document stands, or would."""

_PUT = """INSERT INTO posting (scope, term, first, steps) VALUES (?, ?, ?, ?)
    ON CONFLICT (scope, term, first) DO UPDATE SET steps = excluded.steps"""
_DROP = "DELETE FROM posting WHERE scope = ? AND term = ? AND first = ?"

_LISTED = f"SELECT coalesce(sum({POSTED}), 0) FROM posting"
"""How many documents all rows list, by the bytes of their steps (`steps_of`)."""

_ListRow = tuple[str, int, int, bytes]
"""A row of the index: scope, term, the first document and the steps to the others."""


def term_number(term: str) -> int:
    """What stands for a term in the index, 32 bits; two terms that share one only bring more documents to look at."""
    return zlib.crc32(term.encode()) - (1 << 31)


def steps_of(numbers: Sequence[int]) -> bytes:
    """Ascending numbers as the steps between them, after the first one."""
    if len(numbers) == 1:
        return b""
    steps = tuple(map(sub, numbers[1:], numbers))
    widest = max(steps)
    width = 1 if widest < 1 << 8 else 2 if widest < 1 << 16 else 4
    return bytes((width,)) + struct.pack(f"<{len(steps)}{WIDTHS[width]}", *steps)


def numbers_of(first: int, steps: bytes) -> Iterable[int]:
    """The numbers of a row of the index, ascending."""
    if not steps:
        return (first,)
    width = steps[0]
    if width == 1:
        return accumulate(steps[1:], initial=first)
    count = (len(steps) - 1) // width
    return accumulate(struct.unpack(f"<{count}{WIDTHS[width]}", steps[1:]), initial=first)


def add_postings(tx: Tx, doc: int, scopes: Iterable[str], terms: Iterable[str]) -> None:
    """From now on this document is found by these terms by those who see one of the scopes."""
    rows: list[_ListRow] = []
    scopes = _held(tx, scopes)
    for scope, term, row in _nearest(tx, doc, scopes, terms):
        if row is None:
            rows.append((scope, term, doc, b""))
            continue
        first, steps = row
        numbers = list(numbers_of(first, steps))
        step = doc - numbers[-1]
        # Nearly every document is newer than all others: the row gets one step more, as wide as the others.
        if steps and 0 < step < 1 << 8 * steps[0] and len(numbers) < MOST_LISTED:
            rows.append((scope, term, first, steps + step.to_bytes(steps[0], "little")))
        else:
            rows += _rows(scope, term, sorted({*numbers, doc}))
    tx.executemany(_PUT, rows)


def drop_postings(tx: Tx, doc: int, scopes: Iterable[str], terms: Iterable[str]) -> None:
    """This document is found by these terms no more; nothing of that is left in the index."""
    gone: list[tuple[str, int, int]] = []
    rows: list[_ListRow] = []
    scopes = _held(tx, scopes)
    for scope, term, row in _nearest(tx, doc, scopes, terms):
        numbers = [] if row is None else list(numbers_of(*row))
        if doc not in numbers:
            continue
        if doc == numbers[0]:
            gone.append((scope, term, doc))
        numbers.remove(doc)
        rows += _rows(scope, term, numbers)
    tx.executemany(_DROP, gone)
    tx.executemany(_PUT, rows)


def _held(tx: Tx, scopes: Iterable[str]) -> tuple[str, ...]:
    """Scopes whose lists nobody else writes now: those of a chat are its own, of a person there is one for all chats."""
    found = tuple(scopes)
    for scope in found:
        if not scope.startswith("c"):
            tx.hold_person(None if scope == EVERYBODY else int(scope[1:]))
    return found


def _rows(scope: str, term: int, numbers: Sequence[int]) -> list[_ListRow]:
    return [
        (scope, term, numbers[start], steps_of(numbers[start : start + MOST_LISTED]))
        for start in range(0, len(numbers), MOST_LISTED)
    ]


def _nearest(
    tx: Tx, doc: int, scopes: Iterable[str], terms: Iterable[str]
) -> Iterator[tuple[str, int, tuple[int, bytes] | None]]:
    """For each scope and term the row in which that document stands, or would; None where none is."""
    wanted = sorted(set(map(term_number, terms)))
    for scope in scopes:
        found: dict[int, tuple[int, bytes]] = {
            term: (first, steps) for term, first, steps in tx.all(_NEAREST, json.dumps(wanted), scope, scope, doc)
        }
        for term in wanted:
            yield scope, term, found.get(term)


def postings_of(tx: Tx, scopes: Sequence[str], terms: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The documents of each of these terms, ascending, that those who see one of the scopes may find."""
    numbers = {term: term_number(term) for term in terms}
    asked = padded(tuple(numbers.values()))
    found: dict[int, list[int]] = defaultdict(list)
    holding: dict[int, set[str]] = defaultdict(set)
    sql = (
        f"SELECT scope, term, first, steps FROM posting WHERE scope IN ({placeholders(scopes)}) "
        f"AND term IN ({placeholders(asked)})"
    )
    for scope, term, first, steps in tx.all(sql, *scopes, *asked):
        found[term] += numbers_of(first, steps)
        holding[term].add(scope)
    # What a person keeps for one chat alone stands under that chat and under the person.
    return {
        term: tuple(sorted(set(found[number]) if len(holding[number]) > 1 else found[number]))
        for term, number in numbers.items()
    }


def fill_postings(tx: Tx) -> None:
    """The index is written anew, of all documents with their terms."""
    tx.run("DELETE FROM posting")
    listed: dict[str, list[int]] = defaultdict(list)
    for doc, scopes in tx.all("SELECT doc_id, scope FROM doc_text ORDER BY doc_id"):
        for scope in scopes.split():
            listed[scope].append(doc)
    for scope in sorted(listed):  # one at a time, in the order of the rows: as little in memory as goes, no page twice
        found: dict[int, list[int]] = defaultdict(list)
        for doc in listed[scope]:
            for number in set(map(term_number, tx.value("SELECT terms FROM doc_text WHERE doc_id = ?", doc).split())):
                found[number].append(doc)
        for number in sorted(found):
            tx.executemany(_PUT, _rows(scope, number, found[number]))


def posting_counts(tx: Tx) -> Counter[int]:
    """How often each document stands in the index."""
    counts: Counter[int] = Counter()
    for first, steps in tx.execute("SELECT first, steps FROM posting"):
        counts.update(numbers_of(first, steps))
    return counts


def wrong_postings(tx: Tx) -> set[int]:
    """The documents that stand in the index more or less often than their scopes and terms say."""
    rows = "SELECT doc_id, scope, terms FROM doc_text"
    spelled = sum(len(scope.split()) * len(set(terms.split())) for _, scope, terms in tx.execute(rows))
    if tx.value(_LISTED) == spelled:  # one by one it takes six times as long
        return set()
    listed, wrong = posting_counts(tx), set[int]()
    for doc, scope, text in tx.execute(rows):
        found, scopes, terms = listed.pop(doc, 0), len(scope.split()), set(text.split())
        if found != scopes * len(set(map(term_number, terms))):
            wrong.add(doc)
    return wrong.union(listed)
