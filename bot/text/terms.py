"""Terms of the search index and of queries: segmentation, stop words, English stems and term weights."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import Lock

from bot.text.catalogue import read_table
from bot.text.dictionary import Cutter, cutter
from bot.text.fold import ENGLISH_FUNCTION_WORDS, fold

QUERY_CHARS = 8_000
"""A longer question is read up to here: 0.05 s of work, 0.6 s for the worst text."""

STOP_WORDS = ENGLISH_FUNCTION_WORDS.union(read_table("bot.text", "stop_words")["zh"].split())
"""Words that say nothing of what a question is about, in folded form."""

LONG_WORD = 4
"""Letters of a Latin word that tells as much as one can."""

EVERYDAY, SELDOM, UNKNOWN = 7.0, 12.0, 0.3
"""ln(1/share) of everyday words (知道 7.2, 工作 6.8) and of seldom ones (过敏 11.7, 祝福 12.1) in jieba's list."""

NO_NAMES = frozenset(("东西", "城市", "平原"))
"""Words that the dictionary marks as names of places and that are none."""

_UNSPACED = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U000323af"
)
_RUNS = re.compile(f"([{_UNSPACED}]+)|([^\\W_{_UNSPACED}]+)")
_LOADING = Lock()

SHORTEST = 4
"""A word this short has no ending to lose."""

_VOWELS = frozenset("aeiouy")
_ENDINGS = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("ation", "ate"),
    ("ement", ""),
    ("ment", ""),
    ("ness", ""),
    ("ity", ""),
    ("ful", ""),
    ("ly", ""),
    ("er", ""),
    ("or", ""),
    ("ion", ""),
    ("al", ""),
    ("ive", ""),
    ("ous", ""),
)
"""Endings that make a word of another kind, longest first (after M. F. Porter, 1980, steps 2 to 4 taken together)."""

TERMS_VERSION = 2
"""Which terms an index holds: one that was written with others is written anew."""

CHARACTER_WEIGHT = 0.3
"""What a single character of a question tells beside a pair: 猫 finds 猫咪, and 花 alone says little (measured)."""

STOP_PAIR_WEIGHT = 0.5
"""What a pair tells that holds a stop word (我喜, 的猫): half a word (measured)."""

_FIGURES = re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)")


def runs(folded: str) -> list[tuple[str, str]]:
    """What a folded text consists of, in order: (run of a script without spaces, "") or ("", Latin word or figure)."""
    found: list[tuple[str, str]] = _RUNS.findall(folded)
    return found


def index_terms(text: str) -> tuple[str, ...]:
    """The terms to store for a text, in order and as often as they occur: Latin words and figures, and of scripts
    without spaces each character and each pair. A term is letters and figures only, without a lone surrogate."""
    terms: list[str] = []
    for run, word in _RUNS.findall(fold(text)):
        if word:
            terms.append(word)
            continue
        for index, char in enumerate(run):
            terms.append(char)
            terms.extend(_pairs(run[index : index + 2]))
    return tuple(terms)


def query_terms(text: str) -> tuple[str, ...]:
    """The terms of `index_terms` to look for, each once, the most telling first: Latin words and dictionary words as
    pairs, single characters that are words, pairs across words, so that a word no dictionary has is found too, and
    last all other characters.

    Stop words are left out unless nothing else is there. The first Chinese question loads a dictionary (call it in
    a thread). At most QUERY_CHARS are read.
    """
    runs = _RUNS.findall(fold(text[:QUERY_CHARS]))
    return _ranked(runs, STOP_WORDS) or _ranked(runs, frozenset())


def informative_count(text: str) -> int:
    """How many telling words or pairs of characters a text has."""
    return len({term for term in index_terms(text) if len(term) > 1 and term not in STOP_WORDS})


def informativeness(term: str) -> float:
    """How much a word says of what a text is about, 0 to 1: what everybody says all the time says little.

    A Latin word or number by its length, another by how seldom Chinese has it; what no dictionary has may be no word.
    It may load the dictionary (call it in a thread).
    """
    if term.isascii():
        return min(len(term) / LONG_WORD, 1.0)
    words = _dictionary().FREQ
    times = words.get(term, 0)
    if not times:
        return UNKNOWN
    rare = math.log(words.total / times)
    return min(max((rare - EVERYDAY) / (SELDOM - EVERYDAY), 0.02), 1.0)


def proper_names(folded: str) -> list[str]:
    """The names of places and organisations, also cut short, in a folded Chinese text, as the dictionary marks them.

    It may load the dictionary (call it in a thread).
    """
    dictionary = _dictionary()
    found = dictionary.cut(folded, HMM=False)
    return [word for word in found if len(word) > 1 and dictionary.FREQ.is_name(word) and word not in NO_NAMES]


def words(run: str) -> list[str]:
    """The dictionary's words that a run of Chinese consists of, in order. It may load the dictionary."""
    return list(_dictionary().cut(run, HMM=False))


def _ranked(runs: list[tuple[str, str]], stop: frozenset[str]) -> tuple[str, ...]:
    words: list[str] = []
    single: list[str] = []
    across: list[str] = []
    rest: list[str] = []
    for run, word in runs:
        parts = (word,) if word else _words(run)
        for part in parts:
            if part in stop:
                continue
            if len(part) > 1 and run:
                words.extend(_pairs(part))
            else:
                (words if word else single).append(part)
        across.extend(pair for pair in _pairs(run) if pair not in stop and stop.isdisjoint(pair))
        rest.extend(char for char in run if char not in stop)
    return tuple(dict.fromkeys([*words, *single, *across, *rest]))


def _pairs(run: str) -> Iterator[str]:
    return (run[index : index + 2] for index in range(len(run) - 1))


def _words(run: str) -> Iterable[str]:
    """The dictionary's words in a run, and the shorter words inside the long ones."""
    if len(run) == 1:
        return (run,)
    return _dictionary().cut_for_search(run)


def _dictionary() -> Cutter:
    with _LOADING:  # two threads would each load it
        return cutter()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word, folded before, without plural, tense and kind; never empty. Two words may share one by chance."""
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _tenseless(_singular(word))
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST - 1:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) >= SHORTEST and word.endswith("e"):
        word = word[:-1]
    if len(word) >= SHORTEST - 1 and word.endswith("y") and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > SHORTEST else word[:-1]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _tenseless(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if len(word) > SHORTEST else word
    if word.endswith("ied") and len(word) > SHORTEST:
        return word[:-3] + "y"
    for ending in ("ed", "ing"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= SHORTEST - 1 and not _VOWELS.isdisjoint(left):
            return left[:-1] if left[-1] == left[-2] and left[-1] not in "aeioulsz" else left
    return word


def search_terms(text: str) -> tuple[str, ...]:
    """The terms to store for a text, as often as they occur: stems of Latin words, figures with and without what is
    stuck to them (160cm), and of scripts without spaces each character and each pair. Letters and figures only."""
    terms: list[str] = []
    for run, word in runs(fold(text)):
        terms.extend(_word_terms(word) if word else _run_terms(run))
    return tuple(terms)


def weighted_query_terms(text: str) -> dict[str, float]:
    """The terms to look for, in order, each with what it tells, 0 to 1.

    Stop words are left out unless nothing else is there. At most QUERY_CHARS are read.
    """
    found = runs(fold(text[:QUERY_CHARS]))
    return _weighed(found, STOP_WORDS) or _weighed(found, frozenset())


def _weighed(found: list[tuple[str, str]], stop: frozenset[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for run, word in found:
        if word:
            weights.update(dict.fromkeys((term for term in _word_terms(word) if word not in stop), 1.0))
            continue
        for pair in _pairs(run):
            if pair not in stop:
                weights[pair] = 1.0 if stop.isdisjoint(pair) else max(STOP_PAIR_WEIGHT, weights.get(pair, 0.0))
        for char in run:
            if char not in stop:
                weights[char] = 1.0 if len(run) == 1 else max(CHARACTER_WEIGHT, weights.get(char, 0.0))
    return weights


def _word_terms(word: str) -> Iterator[str]:
    yield stem(word)
    if not (word.isalpha() or word.isdigit()) and word.isascii():
        yield from (stem(part) for part in _FIGURES.split(word) if part != word)


def _run_terms(run: str) -> Iterator[str]:
    yield from run
    yield from _pairs(run)
