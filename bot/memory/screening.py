"""Whether a text that a model wrote may be kept as a whole: harmless, a note of its lines, a summary of its talk. Pure.

Statements and tasks are checked clause by clause (grounding.py).
"""

import re

from bot.memory.evidence import LINK, VOCABULARY, folded_plain, novelty, numbers
from bot.memory.forging import forged, holds_link
from bot.memory.minutes import DigestLine, Told
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.text.tokens import STOP, index_terms

SUMMED = 0.5
"""Share of the terms of a summary or a note that people's own words must hold."""

MARKUP = re.compile(r"<[^<>]{0,200}>|[<>]")
_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""
_QUOTED = re.compile('“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|`[^`]*`|《[^》]*》|【[^】]*】')
_SET_APART = LazyPattern(r"^\s*[>#$|]|```")
_PROPER = re.compile(r"\b[A-Z]\w*")
_WHO = re.compile("([^聊说谈\\W\\da-z_]{2,3}?)(?:聊|说|谈|提到|讨论|表示|分享)")
"""Whom a summary begins with, names of those who talk apart."""
_SCAFFOLD = LazyPattern(
    "聊了|聊到|聊|谈到|谈了|谈|提到|说了|说到|讨论了?|用户|大家|关于|以及|还有|和|最近|今天|分享了?|表示|计划|打算|有点|有些"
    r"|\b(?:talk(?:ed|s|ing)?|chat(?:ted|s)?|discuss(?:ed|es)?|mention(?:ed|s)?"
    r"|about|users?|sai?ys?|said|shared?|plans?)\b"
)


def harmless(text: str, screened: bool = True) -> bool:
    """Neither empty nor a link nor markup nor, `screened`, a forged sign or an order to a model."""
    return bool(text) and not (holds_link(text) or MARKUP.search(fold(text)) or (screened and forged(text)))


def carried(text: str, cited: tuple[DigestLine, ...]) -> bool:
    """Whether at least half of a note's terms, the first speaker's name apart, stand in the lines it cites."""
    there = terms(" ".join(line.text for line in cited))
    said = terms(text) - (terms(cited[0].name) - there)
    return bool(said) and len(said & there) >= SUMMED * len(said)


def sums_up(summary: str, told: Told, names: str) -> bool:
    """Whether a summary tells of what people themselves said, links and quotations apart: at least half of its terms,
    every figure, and every Latin name; `names` are those of who was there."""
    rows = (row for _, words in told for row in words.split("\n") if not _SET_APART.search(row))
    heard = folded_plain(_QUOTED.sub(" ", LINK.sub(" ", "\n".join(rows))))
    told_of = folded_plain(summary)
    for name in sorted(filter(None, fold(names).split()), key=len, reverse=True):
        told_of = told_of.replace(name, " ")
    who = _WHO.match(told_of)
    if who is not None and who[1] not in heard and who[1] not in ("用户", "大家", "他们", "两人", "双方"):
        return False
    told_of = _SCAFFOLD.sub(" ", told_of)
    share, _ = novelty(told_of, heard)
    if numbers(folded_plain(summary), all_of_them=False) - numbers(heard, all_of_them=True):
        return False
    named = (fold(word) for word in _PROPER.findall(summary) if word.lower() not in VOCABULARY.plain)
    if any(word not in heard and word not in fold(names) for word in named):
        return False
    return share <= 1 - SUMMED


def terms(text: str) -> frozenset[str]:
    """The telling terms of a text; Latin words by their beginnings."""
    return frozenset(term[:_STEM] if term.isascii() else term for term in index_terms(text) if term not in STOP)
