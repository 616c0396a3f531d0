"""A query as it is searched with: its terms and weights, without the names of those who talk."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.core.events import Event
from bot.core.recall import TimeSpan
from bot.text.catalogue import LazyPattern
from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, weighted_query_terms

SHORTEST_NAME = 2
"""A name of one character is a word as well (猫): it stays."""

MOST_TERMS = 200
"""Terms that are looked up of a very long text: those of its questions first, then its last ones."""

FEW = 12
"""With more pairs than this a question needs no single characters: they are in half of all texts, and cost the most."""

STATEMENT_WEIGHT = 0.8
"""What a term tells that stands in a statement beside a question: people chat before they ask (measured)."""

AROUND_WEIGHT = 0.2
"""What a term tells that the person only said before, or that stands in the scene (seed Recall: part of the query)."""

NAME_WEIGHT = 0.25
"""What the name of somebody present tells: it stands in few of their own lines (measured)."""

OWN, OWN_MS = 3, 1_800_000
"""So many own lines count beside a message, while the talk goes on (the idle time of a session)."""

BRIEF, ASKING = 3, 3
"""A message of no more sentences is compared as a whole alone; of a longer one the last so many sentences that ask are, too."""

_SENTENCE = LazyPattern(r"[^。！!？?；;\n.…]+[。！!？?；;\n.…]*")
_LISTS = LazyPattern(
    "(?:几|多少)[个条次位家种样件天人]|哪些|所有|全部|一共|总共|列出"
    r"|\bhow many\b|\blist\b|\ball (?:of )?the\b|\bwhich \w+s\b|\bwhat (?:kinds?|types?)\b"
)
BOT = "<bot>"
"""Stands for nuan's names in the words of a question."""

_ASKS = LazyPattern(r"[？?][\s)）」』”\"]*$|[吗呢嗎][\s～~。]*$")


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for: its text, its terms with what each tells (0 to 1), and those of each question in it.

    `named` are the persons present whom it names; `spans` the times that it asks about. `beside` are
    the terms that only stand around it: they order what the question finds and find nothing themselves, unless it has
    no term of its own (那个呢). `lists`: it asks for all of a kind (有几个…), whose lines are much alike. `wording` is
    the text folded, with BOT for nuan's names; where it is only called by one, that is left out. `past`: whoever asks
    speaks of what was so before, whatever words are searched for; `then` are the times that are over and that they name.
    """

    text: str
    weights: Mapping[str, float]
    clauses: tuple[frozenset[str], ...] = ()
    named: frozenset[int] = frozenset()
    spans: tuple[TimeSpan, ...] = ()
    beside: frozenset[str] = frozenset()
    lists: bool = False
    wording: str = ""
    past: bool = False
    then: tuple[TimeSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Talker:
    """Somebody in the talk by a name; `asker`: it is nuan or who asks, and the name says nothing then."""

    person_id: int | None
    name: str
    asker: bool


def search_query(
    text: str,
    talkers: Sequence[Talker] = (),
    own: Sequence[str] = (),
    scene: str = "",
    spans: tuple[TimeSpan, ...] = (),
) -> SearchQuery:
    """The question, without the names of nuan and the asker unless nothing else is in it.

    "小暖，我的猫叫什么" would otherwise find whatever mentions 小暖.
    """
    folded = fold(text)
    named = [each for each in talkers if len(each.name) >= SHORTEST_NAME and re.search(_pattern(each.name), folded)]
    rest = _without(folded, (each.name for each in named if each.asker))
    sentences = [part for part in _SENTENCE.findall(rest) if part.strip()] or [rest]
    asks = [bool(_ASKS.search(part)) for part in sentences]
    weights: dict[str, float] = {}
    clauses: list[frozenset[str]] = []
    for part, asked in zip(sentences, asks, strict=True):
        terms = weighted_query_terms(part)
        share = 1.0 if asked or not any(asks) else STATEMENT_WEIGHT
        for term, weight in terms.items():
            weights[term] = max(weights.get(term, 0.0), share * weight)
        if asked and sum(asks) > 1:
            clauses.append(frozenset(terms))
    if not weights:
        weights = weighted_query_terms(text)
    for each in named:
        if not each.asker:
            weights |= {
                term: min(weight, NAME_WEIGHT)
                for term in weighted_query_terms(each.name)
                if (weight := weights.get(term, 0))
            }
    weights = _telling(weights)
    itself = frozenset(weights)
    for beside in (*own, scene):
        for term, weight in weighted_query_terms(beside).items():
            if len(term) > 1 or weight >= 1:
                weights.setdefault(term, AROUND_WEIGHT * weight)
    people = frozenset(each.person_id for each in named if each.person_id is not None)
    says = any(term not in STOP_WORDS and (term.isascii() or not STOP_WORDS.issuperset(term)) for term in itself)
    around = frozenset(weights) - itself if says else frozenset()
    wording = _called(folded, [each.name for each in talkers if each.person_id is None])
    return SearchQuery(text, _most(weights), tuple(clauses), people, spans, around, bool(_LISTS.search(rest)), wording)


def own_lines(said: Iterable[Event], without: Collection[int], now: int) -> tuple[str, ...]:
    """Of what a person wrote, oldest first, the newest lines that go with a message of `now`, without these events."""
    near = [each.text for each in said if each.id not in without and now - each.at <= OWN_MS and each.text.strip()]
    return tuple(near[-OWN:])


def asking_part(text: str) -> str:
    """The sentences that ask, or the whole when none does: the yesterday of small talk is not what is asked about."""
    return "".join(part for part in _SENTENCE.findall(text) if _ASKS.search(part)) or text


def meant_parts(text: str) -> tuple[str, ...]:
    """What a text is compared by: the whole, and each question of a long one, which what stands around it would drown."""
    sentences = [part for part in _SENTENCE.findall(text) if part.strip()]
    asking = [part for part in sentences if _ASKS.search(part)] if len(sentences) > BRIEF else []
    return (text, *asking[-ASKING:])


def _telling(weights: dict[str, float]) -> dict[str, float]:
    """The same without single characters where there are more than FEW pairs."""
    if sum(len(term) > 1 for term in weights) <= FEW:
        return weights
    return {term: weight for term, weight in weights.items() if len(term) > 1 or weight >= 1}


def _most(weights: Mapping[str, float]) -> dict[str, float]:
    """The most telling terms, at most MOST_TERMS; of equals the last, where people come to the point."""
    if len(weights) <= MOST_TERMS:
        return dict(weights)
    places = {term: place for place, term in enumerate(weights)}
    best = sorted(weights, key=lambda term: (-weights[term], -places[term]))[:MOST_TERMS]
    return {term: weights[term] for term in sorted(best, key=places.__getitem__)}


def _without(folded: str, names: Iterable[str], stands: str = " ", after: str = "") -> str:
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        folded = re.sub(_pattern(name) + after, stands, folded)
    return folded


def _called(folded: str, names: Collection[str]) -> str:
    return _without(_without(folded, names, after=r"\s*[,.:!~、。]"), names, BOT)


def _pattern(name: str) -> str:
    pattern = re.escape(fold(name).strip())
    return rf"(?<![a-z0-9]){pattern}(?![a-z0-9])" if name.isascii() else pattern
