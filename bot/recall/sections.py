"""Which memory sections a turn searches first, the topic of a talk, and that state in the seed's file form."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from bot.config.memory import SectionRules
from bot.core.clock import DAY_MS
from bot.core.recall import ConversationTopic, RecallRound, SectionAdvice, SectionStanding

HELD = 2
"""Narrowed rounds in a row that may prove nothing; the next one searches everything."""

FRESH_MS = 7 * DAY_MS
"""Older rounds belong to another talk: neither do they narrow, nor make a topic."""

SectionLabel = Callable[[str], str]
"""What a section is called."""
StateFormat = tuple[SectionLabel, Callable[[int], str]]
"""How a section and a moment, ms, are written."""


def counted_rounds(rounds: Iterable[RecallRound]) -> tuple[RecallRound, ...]:
    """The rounds that prove something, in their order."""
    return tuple(each for each in rounds if not each.held)


def shares(rounds: Sequence[RecallRound], window: int) -> dict[str, float]:
    """Each section's part of all hits in the last `window` rounds that count, the largest first; {} without a hit."""
    found = _hits(rounds, window)
    total = sum(found.values())
    return {key: count / total for key, count in sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))}


def dominant(rounds: Sequence[RecallRound], rules: SectionRules) -> str:
    """The section that the window is about, "" for none: by its share, and by enough hits to say so."""
    found = _hits(rounds, rules.window)
    for key, share in shares(rounds, rules.window).items():
        if share >= rules.dominant and found[key] >= rules.least_hits:
            return key
    return ""


def sections_to_search(rounds: Sequence[RecallRound], matched: Collection[str], rules: SectionRules) -> tuple[str, ...]:
    """The sections that a message is searched in first: what dominates and what it names; () means all."""
    leading = dominant(rounds, rules)
    unproved = sum(1 for _ in takewhile(lambda each: each.held, reversed(rounds)))
    if not leading or unproved >= HELD:
        return ()
    return tuple(sorted({leading, *matched}))


def round_of(
    found: Iterable[tuple[str, int, bool]], searched: tuple[str, ...], matched: Collection[str]
) -> RecallRound:
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
    return RecallRound(hits, searched, held=unproved and not hits)


def misses(rounds: Sequence[RecallRound], keys: Iterable[str]) -> dict[str, int]:
    """For each section the rounds since it was hit last in which anything was: small talk is about no section."""
    newest = [each for each in counted_rounds(rounds)[::-1] if each.hits]
    return {key: next((place for place, each in enumerate(newest) if key in each.hits), len(newest)) for key in keys}


def current_topic(rounds: Sequence[RecallRound], rules: SectionRules) -> ConversationTopic | None:
    """What dominated each of the last windows, with the memory that was found in it last."""
    done = counted_rounds(rounds)
    leading = dominant(done, rules)
    before = (dominant(done[: len(done) - back], rules) for back in range(1, rules.stable_turns))
    if not leading or any(each != leading for each in before):
        return None
    last = next(each for each in reversed(done) if leading in each.hits)
    return ConversationTopic(leading, last.hits[leading], last.turn_id, last.at)


def advice(rounds: Sequence[RecallRound], sizes: Mapping[str, int], rules: SectionRules) -> tuple[SectionAdvice, ...]:
    """What there is to say of each section that holds something (seed: suggestions only), the largest share first."""
    parts, leading = shares(rounds, rules.window), dominant(rounds, rules)
    since = misses(rounds, sizes)
    found = (
        SectionAdvice(
            key,
            share := parts.get(key, 0.0),
            count,
            since[key],
            _standing(key, share, leading, rules),
            since[key] >= rules.misses,
        )
        for key, count in sizes.items()
        if count
    )
    return tuple(sorted(found, key=lambda each: (-each.share, each.misses, each.key)))


def _standing(key: str, share: float, leading: str, rules: SectionRules) -> SectionStanding:
    if key == leading:
        return "dominant"
    return "none" if not share else "low" if share < rules.low else "also"


def _hits(rounds: Sequence[RecallRound], window: int) -> Counter[str]:
    return Counter(key for each in counted_rounds(rounds)[-window:] for key in each.hits)


def index_state(
    rounds: Sequence[RecallRound],
    sizes: Mapping[str, int],
    rules: SectionRules,
    topic: tuple[str, str],
    form: StateFormat,
) -> dict[str, object]:
    """The seed's fields; `topic` is the topic's name and its sentence, both "" for none. Shares have three places."""
    name, when = form
    turns = counted_rounds(rounds)[-rules.window :]
    return {
        "window_size": rules.window,
        "dominant_threshold": rules.dominant,
        "turns": [
            {"turn_id": each.turn_id, "ts": when(each.at), "sections_hit": [name(key) for key in each.hits]}
            for each in turns
        ],
        "proportions": {name(key): round(share, 3) for key, share in shares(rounds, rules.window).items()},
        "current_topic": topic[0],
        "topic_summary": topic[1],
        "last_updated": when(turns[-1].at) if turns else "",
        "miss_count": {name(key): count for key, count in misses(rounds, sizes).items()},
    }


def topic_file(name: str, sentence: str) -> str:
    """MEMORY_TOPIC.md."""
    return f"# {name}\n\n{sentence}\n"
