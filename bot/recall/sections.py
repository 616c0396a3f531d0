"""Which sections a turn searches first, and what a talk stays with (seed 記憶索引比例分配). Pure.

A narrowed search that finds its own section again proves nothing: it is held, and after HELD of them all is searched.
So a topic lives by what was found without its help, or by being named, and never by itself.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from bot.types.duration import DAY_MS
from bot.types.sections import Advice, Proportion, Round, Standing, Topic

HELD = 2
"""Narrowed rounds in a row that may prove nothing; the next one searches everything."""

FRESH_MS = 7 * DAY_MS
"""Older rounds belong to another talk: neither do they narrow, nor make a topic."""


def counted(rounds: Iterable[Round]) -> tuple[Round, ...]:
    """The rounds that prove something, in their order."""
    return tuple(each for each in rounds if not each.held)


def shares(rounds: Sequence[Round], window: int) -> dict[str, float]:
    """Each section's part of all hits in the last `window` rounds that count, the largest first; {} without a hit."""
    found = _hits(rounds, window)
    total = sum(found.values())
    return {key: count / total for key, count in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))}


def dominant(rounds: Sequence[Round], rules: Proportion) -> str:
    """The section that the window is about, "" for none: by its share, and by enough hits to say so."""
    found = _hits(rounds, rules.window)
    for key, share in shares(rounds, rules.window).items():
        if share >= rules.dominant and found[key] >= rules.least:
            return key
    return ""


def chosen(rounds: Sequence[Round], matched: Collection[str], rules: Proportion) -> tuple[str, ...]:
    """The sections that a message is searched in first: what dominates and what it names; () means all."""
    leading = dominant(rounds, rules)
    unproved = sum(1 for _ in takewhile(lambda each: each.held, reversed(rounds)))
    if not leading or unproved >= HELD:
        return ()
    return tuple(sorted({leading, *matched}))


def round_of(
    found: Iterable[tuple[str, int, bool]], searched: tuple[str, ...], matched: Collection[str]
) -> Round:  # fmt: skip
    """What a search proved; `found` are section, memory and whether it would be found however narrow the search.

    Of a narrowed search only what the message names, or what was found without its help, counts.
    """
    hits: dict[str, int] = {}
    unproved = False
    for key, memory, always in found:
        if searched and key in searched and key not in matched and not always:
            unproved = True
        elif key:
            hits.setdefault(key, memory)
    return Round(hits, searched, held=unproved and not hits)


def misses(rounds: Sequence[Round], keys: Iterable[str]) -> dict[str, int]:
    """For each section the rounds since it was hit last in which anything was: small talk is about no section."""
    newest = [each for each in counted(rounds)[::-1] if each.hits]
    return {key: next((place for place, each in enumerate(newest) if key in each.hits), len(newest)) for key in keys}


def topic(rounds: Sequence[Round], rules: Proportion) -> Topic | None:
    """What dominated each of the last windows, with the memory that was found in it last."""
    done = counted(rounds)
    leading = dominant(done, rules)
    before = (dominant(done[: len(done) - back], rules) for back in range(1, rules.stable))
    if not leading or any(each != leading for each in before):
        return None
    last = next(each for each in reversed(done) if leading in each.hits)
    return Topic(leading, last.hits[leading], last.turn_id, last.at)


def advice(rounds: Sequence[Round], sizes: Mapping[str, int], rules: Proportion) -> tuple[Advice, ...]:
    """What there is to say of each section that holds something (seed: suggestions only), the largest share first."""
    parts, leading = shares(rounds, rules.window), dominant(rounds, rules)
    since = misses(rounds, sizes)
    found = (
        Advice(key, share := parts.get(key, 0.0), count, since[key], _standing(key, share, leading, rules),
               since[key] >= rules.misses)
        for key, count in sizes.items() if count
    )  # fmt: skip
    return tuple(sorted(found, key=lambda each: (-each.share, each.misses, each.key)))


def _standing(key: str, share: float, leading: str, rules: Proportion) -> Standing:
    if key == leading:
        return "dominant"
    return "none" if not share else "low" if share < rules.low else "also"


def _hits(rounds: Sequence[Round], window: int) -> Counter[str]:
    return Counter(key for each in counted(rounds)[-window:] for key in each.hits)
