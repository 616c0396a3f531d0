"""How well documents fit a query by their words, BM25 with feedback terms, and by what is like it; and by the lines
around."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

from bot.core.recall import Candidate, Matches, Posting, TimeSpan
from bot.recall.query import SearchQuery
from bot.recall.selection import best_besides_lines
from bot.recall.talks import message_share, rarity, talk_sums

K1, B = 1.2, 0.6
"""BM25: how soon a term that repeats tells no more, and how much a long text is held back (Robertson: 1.2, .75;
lines of a talk differ less for being long than articles do)."""

PRIOR = 100
"""Documents that hold none of the terms, counted in: among three memories a word that stands in one is still rare."""

TERMS = 64
"""Terms that score, the rarest; the others change no order (measured: 40 are nearly as good)."""

LEAST = 0.01
"""Terms that tell less than this share of the one that tells most change no order, and cost the most (a character that
stands in nine of ten documents)."""

POOL, LIFTING = (60, 160), (15, 30)
"""Documents that are looked at closely, and lines whose neighbours are as well: for a question of a few words, and for
a message that goes on with a talk, of which many lines tell a little (measured)."""

LIKELY = 3
"""Of so many times as many documents, the ones with the most weight, length is looked at as well."""

CLAUSE = 0.5
"""What each question of several adds to the documents that answer it, as a share of the best fit."""

LIKE_BEST, NEW_TERMS, FEEDBACK = 5, 12, 0.3
"""The best documents give so many new terms, the first of which counts this much (RM3 of Abdul-Jaleel, 2004)."""

SUPPORT = ((1, 0.3), (2, 0.15), (-1, 0.2), (-2, 0.1))
"""What of its fit a line gives to those after it (an answer follows its question) and before it, by their place."""

MEANT, FALL, LEAST_WORDS = 2.0, 3, 4.0
ALONE, ALONE_FALL = 6.0, 16
"""What the likest document has for its meaning, as a share of what the best one's words tell, or of about one rare word;
the more of what the question's words tell that one document holds, the less, by this power. So much more where next to
nothing of them is held (docs/recall.md)."""

FIRM_FALL = 8
"""The more of what the question's words tell that one document holds, the more what is found by meaning supports the lines
around it, by this power: a likeness beside no shared word is a guess (docs/recall.md)."""

LIKE_LIFTING = 10
"""Lines that are found by meaning, the likest, whose neighbours are looked at as well."""

SUBSTANCE = 6
"""Terms that a line needs to be brought for those around it alone: 好的 answers nothing."""

OTHER_TALK = 0.4
"""The share of that between lines of two talks."""

NOWHERE = (0, 0, False)
"""Stands for a line that is not among those that are looked at."""

BESIDE = 0.5
"""The most that words around the question add to a document, as a share of what the question's own give it."""

NAMED = 0.5
"""How much more a line counts whose speaker the question names."""

IN_TALK, TALK_DECAY = 0.5, 0.8
"""How much more a line of the best talk counts; of a talk's lines the best counts whole, each next this share less."""

DATED, DATED_ALONE = 1.0, 0.3
"""How much more a document counts that happened when the question asks about, and what it has of the best fit without
a word in common."""


@dataclass(frozen=True, slots=True)
class LexicalFit:
    """The terms that count with their weights, the rarest first, and the words' figure of each candidate by number.

    `shares` is what each term gives each candidate by itself, `counts` how often each term of the question is in it,
    `meant` the share of a candidate's own figure that its meaning gave, 0 to 1, where it is not 0.
    """

    weights: Mapping[str, float]
    figures: Mapping[int, float]
    best: float
    shares: Mapping[int, Mapping[str, float]]
    counts: Mapping[int, Mapping[str, int]]
    meant: Mapping[int, float] = field(default_factory=dict)


def without_common(question: SearchQuery, matches: Matches) -> Matches:
    """The same without the postings of terms that nearly everything holds, where a term tells LEAST times more."""
    figures = {posting.term: _weight(question, matches, posting) for posting in matches.postings}
    least = LEAST * max(figures.values(), default=0.0)
    return replace(matches, postings=tuple(each for each in matches.postings if figures[each.term] >= least))


def weighed(question: SearchQuery, matches: Matches) -> dict[str, float]:
    """The question's terms with what each tells among what the audience sees; the rarest TERMS, the rarest first."""
    figures = {each.term: _weight(question, matches, each) for each in matches.postings if each.holding}
    best = sorted(figures, key=lambda term: -figures[term])[:TERMS]
    return {term: figures[term] for term in best}


def _weight(question: SearchQuery, matches: Matches, posting: Posting) -> float:
    return question.weights[posting.term] * rarity(posting.holding, matches.count + PRIOR) if posting.holding else 0.0


def candidate_pool(
    question: SearchQuery, matches: Matches, like: Sequence[int] = ()
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The documents to look at closely, and those of them whose neighbours too; without their texts.

    As `fitting` would order them by their words if every term stood in a document once; what a message goes on with
    is told in long lines too.
    """
    matches = without_common(question, matches)
    weights = weighed(question, matches)
    sums: dict[int, float] = {}
    for posting in sorted(matches.postings, key=lambda posting: posting.term in question.beside):
        weight = weights.get(posting.term)
        if weight is not None:
            beside = posting.term in question.beside
            for doc in filter(sums.__contains__, posting.docs) if beside else posting.docs:
                if doc in sums:
                    sums[doc] += weight
                else:
                    sums[doc] = weight
    much = message_share(question)
    most, lifting = (round(few + (many - few) * much) for few, many in (POOL, LIFTING))
    average = max(1.0, matches.length / max(1, matches.count))
    likely = _largest(LIKELY * most, sums)
    long, held = matches.length_of, B * (1 - much)
    found = [(figure / (1 + K1 * (1 - held + held * long.get(doc, average) / average)), doc) for figure, doc in likely]
    best = [doc for _, doc in sorted(found, reverse=True)[:most]]
    lifted = (*best[:lifting], *like[:LIKE_LIFTING])
    return tuple(dict.fromkeys((*best, *best_besides_lines(matches, sums), *matches.dated, *like))), tuple(
        dict.fromkeys(lifted)
    )


def _largest(most: int, sums: Mapping[int, float]) -> list[tuple[float, int]]:
    """The highest of these figures with their documents: to order figures alone first is the quickest way."""
    if not sums:
        return []
    least = sorted(sums.values())[-most:][0]
    return sorted([(figure, doc) for doc, figure in sums.items() if figure >= least], reverse=True)[:most]


def telling(question: SearchQuery, matches: Matches) -> float:
    """What all the question's own words tell among what the audience sees, found or not."""
    count = matches.count + PRIOR
    own = (each for each in matches.postings if each.term not in question.beside)
    return sum(question.weights[each.term] * rarity(each.holding, count) for each in own)


def lexical_fit(
    question: SearchQuery,
    matches: Matches,
    candidates: Sequence[Candidate],
    meant: Mapping[int, float] | None = None,
    whole: float = 0.0,
) -> LexicalFit:
    """The figures of all candidates; 0 for what has nothing in common with the question and its times.

    `meant` is how like the question documents are, 0 to 1, and counts the less the more of `whole`, what its words tell
    (`telling`), one document holds.
    """
    weights = weighed(question, matches)
    average = max(1.0, matches.length / max(1, matches.count))
    terms = {each.finding.doc: each.terms for each in candidates}
    counts = {number: term_counts(found, question.weights) for number, found in terms.items()}
    shares = {number: _shares(weights, counts[number], len(found), average) for number, found in terms.items()}
    figures = {number: _figure(found, question.beside) for number, found in shares.items()}
    first = max(figures, key=figures.__getitem__, default=0)
    best = figures.get(first, 0.0)
    for clause in question.clauses:
        answers = {n: sum(figure for term, figure in found.items() if term in clause) for n, found in shares.items()}
        _add(figures, answers, CLAUSE * best)
    more, holding = _feedback(weights, figures, terms, matches.count + PRIOR)
    for number in holding:
        if figures[number]:  # a new term alone brings nothing: it may be anybody's
            found = terms[number]
            figures[number] += sum(_shares(more, term_counts(found, more), len(found), average).values())
    by_meaning: dict[int, float] = {}
    guessed: dict[int, float] = {}
    if meant and figures:
        held = sum(weights[term] for term in shares[first] if term not in question.beside)
        untold = 1 - min(held / whole, 1.0) if whole else 1.0
        weight = (MEANT * untold**FALL + ALONE * untold**ALONE_FALL) * max(*figures.values(), LEAST_WORDS)
        for number in figures.keys() & meant.keys():
            given = weight * meant[number]
            figures[number] += given
            by_meaning[number] = given / figures[number] if given else 0.0
        guessed = {number: share * untold**FIRM_FALL for number, share in by_meaning.items()}
        best = max(best, *figures.values())
    figures = _around(figures, candidates, guessed)
    top = max(figures.values(), default=0.0)
    for each in candidates:
        number = each.finding.doc
        if question.named and each.finding.person_id in question.named:
            figures[number] *= 1 + NAMED
        if question.spans and in_spans(each.finding.at, question.spans):
            figures[number] = figures[number] * (1 + DATED) + DATED_ALONE * (top or 1.0)
    best = best or float(bool(top or question.spans))
    return LexicalFit(weights, _in_talks(figures, candidates, guessed), best, shares, counts, by_meaning)


def in_spans(at: int, spans: Iterable[TimeSpan]) -> bool:
    """Whether a moment, ms, is in one of these times."""
    return any(start <= at < end for start, end in spans)


def term_counts(terms: Iterable[str], among: Container[str]) -> dict[str, int]:
    """How often each of these is there, in the order of their first places."""
    there = list(filter(among.__contains__, terms))
    counted = dict.fromkeys(there, 1)
    if len(counted) < len(there):
        counted = {term: there.count(term) for term in counted}
    return counted


def _shares(weights: Mapping[str, float], counts: Mapping[str, int], length: int, average: float) -> dict[str, float]:
    """What each of these terms gives a document of so many (BM25)."""
    held = K1 * (1 - B + B * length / average)
    return {
        term: weights[term] * times * (K1 + 1) / (times + held) for term, times in counts.items() if term in weights
    }


def _figure(found: Mapping[str, float], beside: Set[str]) -> float:
    """What the terms give a document together; those around the question at most BESIDE of what its own give."""
    if not beside:
        return sum(found.values())
    own = sum(figure for term, figure in found.items() if term not in beside)
    return own + min(sum(found.values()) - own, BESIDE * own)


def _add(figures: dict[int, float], more: Mapping[int, float], share: float) -> None:
    """Add figures of another kind, their best as `share`."""
    top = max(more.values(), default=0.0)
    if top:
        for number, figure in more.items():
            figures[number] += share * figure / top


def _feedback(
    weights: Mapping[str, float], figures: Mapping[int, float], terms: Mapping[int, Sequence[str]], count: int
) -> tuple[dict[str, float], list[int]]:
    """Terms that the best documents share and the question lacks: who is asked about, by their name; and the documents
    that hold any.

    A term that every tenth document holds is no name; one that only one document holds leads nowhere.
    """
    best = [number for number in sorted(figures, key=figures.__getitem__, reverse=True)[:LIKE_BEST] if figures[number]]
    if not best:
        return {}, []
    told = {term for number in best for term in terms[number] if len(term) > 1} - weights.keys()
    there = {number: told.intersection(found) for number, found in terms.items()}
    holding = Counter(chain.from_iterable(there.values()))
    most = max(2, len(terms) // 10)
    rare = {term: rarity(times, count) for term, times in holding.items() if 1 < times <= most}
    sums: dict[str, float] = {}
    for number in best:
        share = figures[number] / figures[best[0]]
        for term in rare.keys() & there[number]:
            sums[term] = sums.get(term, 0.0) + share * rare[term]
    new = sorted(sums, key=lambda term: (-sums[term], term))[:NEW_TERMS]
    more = {term: FEEDBACK * sums[term] / sums[new[0]] * rare[term] for term in new}
    return more, [number for number, found in there.items() if not found.isdisjoint(new)]


def _around(
    figures: Mapping[int, float], candidates: Sequence[Candidate], guessed: Mapping[int, float]
) -> dict[int, float]:
    """Lines support those around them in the chat, by what of their figures is not `guessed`."""
    chats: dict[int, dict[int, tuple[int, int, bool]]] = defaultdict(dict)
    for each in candidates:
        line, number = each.finding.line, each.finding.doc
        if line is not None:
            says = figures[number] > 0 or len(each.terms) >= SUBSTANCE
            chats[line.chat_id][line.place] = number, line.talk, says
    lifted = dict(figures)
    for places in chats.values():
        for place, (number, talk, _) in places.items():
            figure = figures[number] * (1 - guessed.get(number, 0.0))
            for step, share in SUPPORT if figure else ():
                other, its_talk, says = places.get(place + step, NOWHERE)
                if says:
                    lifted[other] += share * (1.0 if its_talk == talk else OTHER_TALK) * figure
    return lifted


def _in_talks(
    figures: dict[int, float], candidates: Sequence[Candidate], guessed: Mapping[int, float]
) -> dict[int, float]:
    """Lines of a talk that is about the question count more."""
    lines = {each.finding.doc: (line.chat_id, line.talk) for each in candidates if (line := each.finding.line)}
    firm = ((talk, figures[number] * (1 - guessed.get(number, 0.0))) for number, talk in lines.items())
    sums = talk_sums(firm, TALK_DECAY)
    if not sums:
        return figures
    return figures | {number: figures[number] * (1 + IN_TALK * sums[talk]) for number, talk in lines.items()}
