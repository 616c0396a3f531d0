"""Whether a text that a model wrote may be kept: harmless, a note of its lines, a summary of its talk. Pure."""

import re
from datetime import UTC, date

from bot.language import assertions
from bot.language.assertions import LINK, VOCABULARY, folded_plain, novelty, numbers
from bot.language.statements import holds_link, is_injection
from bot.language.time.dates import named_times
from bot.language.time.parts import FULL_WEEKDAY_EN, MONTH_LIKE_EN
from bot.memory.transcript import DigestLine, LineWords
from bot.text.catalogue import LazyPattern
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, index_terms

SUMMED = 0.5
"""Share of the terms of a note that people's own words must hold."""
STRANGE, OWN_WORDS = 0.34, 0.95
"""Most of a summary that only others' words hold, and most of it that may be in words of the model's own."""

MARKUP = re.compile(r"<[^<>]{0,200}>|[<>]")
"""What looks like markup."""

_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""
_QUOTED = re.compile('“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|`[^`]*`|《[^》]*》|【[^】]*】')
_SET_APART = LazyPattern(r"^\s*[>#$|]|```")
_PROPER = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Za-z\u00c0-\u024f0-9]*")
_WHO = re.compile("([^聊说谈\\W\\da-z_]{2,3}?)(?:聊|说|谈|提到|讨论|表示|分享)")
"""Whom a summary begins with, names of those who talk apart."""
_BEGINS = re.compile(r"(?:^|[.!?;:。！？；：])[\s\"'(]*$")
_ACTS = re.compile(r"(?:'s|,? (?:is|was|are|were|has|had|have|will|would|wants?|\w+(?:ed|s)))\b")
SCAFFOLD = VOCABULARY.patterns["scaffold"]
_CALENDAR = re.compile(f"{MONTH_LIKE_EN}|{FULL_WEEKDAY_EN}s?")


def harmless(text: str, screened: bool = True) -> bool:
    """Neither empty nor a link nor markup nor, `screened`, a forged sign or an order to a model."""
    return bool(text) and not (holds_link(text) or MARKUP.search(fold(text)) or (screened and is_injection(text)))


def carried(text: str, cited: tuple[DigestLine, ...]) -> bool:
    """Whether at least half of a note's terms, the first speaker's name apart, stand in the lines it cites."""
    there = stems(" ".join(line.text for line in cited))
    said = stems(text) - (stems(cited[0].name) - there)
    return bool(said) and len(said & there) >= SUMMED * len(said)


def sums_up(summary: str, told: LineWords, names: str) -> bool:
    """Whether a summary may stand: its words may be the model's own, its figures, days and names were said.

    Something of it was said by people themselves, links and quotations apart, and no third of it stands only in what
    somebody quoted or handed on; `names` are those of who was there.
    """
    heard = folded_plain("\n".join(_own(words) for _, words in told))
    there = assertions.terms(heard)
    strange = assertions.terms(folded_plain("\n".join(line.text for line, _ in told))) - there
    told_of = folded_plain(summary)
    for name in sorted(filter(None, fold(names).split()), key=len, reverse=True):
        told_of = told_of.replace(name, " ")
    who = _WHO.match(told_of)
    if who is not None and who[1] not in heard and who[1] not in VOCABULARY.who["everybody"]:
        return False
    if _number_or_day(summary, told, heard) or _unknown_name(summary, heard, fold(names)):
        return False
    said = assertions.terms(SCAFFOLD.sub(" ", told_of))
    share, _ = novelty(SCAFFOLD.sub(" ", told_of), heard)
    return len(said & strange) <= STRANGE * len(said) and (share <= OWN_WORDS or bool(said & there))


def _own(words: str) -> str:
    """A person's words without the rows that are set apart, quotations and links."""
    rows = (row for row in words.split("\n") if not _SET_APART.search(row))
    return _QUOTED.sub(" ", LINK.sub(" ", "\n".join(rows)))


def _number_or_day(summary: str, told: LineWords, heard: str) -> bool:
    """Whether it names a number or a single day that no line names; the days of the talk are named by all."""
    text, days = folded_plain(summary), set[tuple[date, date]]()
    for line, words in told:
        today = local_day(line.at, UTC)
        days.add((today, today))
        days.update((one.first, one.last) for time in named_times(folded_plain(words), today) for one in time.choices)
    rest, cut = "", 0
    for time in named_times(text, local_day(told[-1][0].at, UTC)) if told else ():
        if any(first <= one.first and one.last <= last for one in time.choices for first, last in days):
            rest, cut = rest + text[cut : time.start] + " ", time.end
    return bool(numbers(rest + text[cut:], all_of_them=False) - numbers(heard, all_of_them=True))


def _unknown_name(summary: str, heard: str, names: str) -> bool:
    """Whether it names somebody in Latin letters who was neither there nor named; a sentence begins with a capital."""
    for word in _PROPER.finditer(summary):
        known = fold(word[0])
        if known in heard or known in names or known in VOCABULARY.plain or _CALENDAR.fullmatch(known):
            continue
        first = _BEGINS.search(summary[: word.start()]) is not None
        if not first or (_ACTS.match(summary, word.end()) and not known.endswith(("ed", "ing", "ly"))):
            return True
    return False


def stems(text: str) -> frozenset[str]:
    """The telling terms of a text; Latin words by their beginnings."""
    return frozenset(term[:_STEM] if term.isascii() else term for term in index_terms(text) if term not in STOP_WORDS)
