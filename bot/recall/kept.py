"""A place for what somebody asked to keep: however much talk fits a question better, it crowds that out never. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.recall.calling import DATED
from bot.text.echo import COMMON
from bot.text.stem import stem
from bot.text.terms import search_terms
from bot.text.tokens import STOP, query_terms, telling
from bot.types.recall import Matches, Scored

FITS = 0.2
"""The share of the best one's telling words from which on a kept memory has a place (measured: what matters had .28 and
more, what did not 0)."""

SINGLE = 0.3
"""A single character that tells less is part of a word or in any talk: 狗 .53, 茶 .33, but 花 .29 and 吃 .08."""

READ = 20
"""Documents other than lines that are looked at beside the best of all (kept ones are among them)."""


def unsaid(matches: Matches, sums: Mapping[int, float]) -> Sequence[int]:
    """Of the documents with these figures those that are no lines, the READ best: there are always more lines."""
    lines = {doc for talk in matches.talks for doc in talk.docs}
    if not lines:
        return ()
    return sorted((doc for doc in sums.keys() - lines), key=lambda doc: (-sums[doc], -doc))[:READ]


def with_kept(text: str, done: Sequence[Scored]) -> tuple[Scored, ...]:
    """The same with a place, the second, for the kept memory that fits best: the last one brought goes for it.

    What counts is how telling the words are in themselves: of what everybody just talked about the index thinks little.
    The first place stays with what fits best, also where it is the only one. It may load a dictionary: in a thread.
    """
    places = [place for place, one in enumerate(done) if not one.cut]
    kept = [place for place, one in enumerate(done) if _kept(one) and one.cut in ("", "limit")]
    if len(places) < 2 or all(not done[place].cut for place in kept):
        return tuple(done)
    words = {
        stem(term): telling(term)
        for term in query_terms(text)
        if term not in STOP and COMMON.isdisjoint(term) and not DATED.fullmatch(term)
    }
    words = {term: figure for term, figure in words.items() if len(term) > 1 or figure >= SINGLE}
    figures = {place: _told(words, done[place].finding.text) for place in dict.fromkeys((*places, *kept))}
    best = max(kept, key=lambda place: (figures[place], -place))
    if not done[best].cut or not figures[best] or figures[best] < FITS * max(figures.values()):
        return tuple(done)
    last, second = places[-1], places[1]
    rest = [replace(one, cut="limit") if place == last else one for place, one in enumerate(done) if place != best]
    return (*rest[:second], replace(done[best], cut=""), *rest[second:])


def _kept(one: Scored) -> bool:
    return one.finding.memory is not None and one.finding.memory.kept


def _told(words: Mapping[str, float], text: str) -> float:
    return sum(words[term] for term in words.keys() & set(search_terms(text)))
