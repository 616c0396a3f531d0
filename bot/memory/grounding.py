"""Whether what a model says that people said stands in the lines it cites. Pure: by words, never by meaning.

The speaker's own words count and nothing else: no quotation, no question, no doubt, no play, no word of the bot.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from bot.memory import statements as s
from bot.memory.forging import forged, holds_link
from bot.memory.minutes import DigestLine, Told
from bot.memory.telling import SENTENCE, TEXT_CHARS, clauses_of, one_row
from bot.text.fold import fold
from bot.text.lazy import LazyPattern
from bot.text.spans import spans
from bot.text.tokens import STOP, index_terms

GROUNDED = 0.6
"""Share of a clause's terms that the cited lines must hold; a paraphrase keeps most of them."""
FOREIGN_RUN = 4
"""So many Chinese characters on end that nobody said are a claim of their own."""
SUMMED = 0.5
"""Share of the terms of a summary or a note that people's own words must hold."""

DAYS_CHARS = 600
"""Characters of a message in which its days are looked for."""
DAY_CHARS = 24
"""Longest word or date for a day."""

MARKUP = re.compile(r"<[^<>]{0,200}>|[<>]")
_STEM = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""
_QUOTED = re.compile('“[^”]*”|「[^」]*」|『[^』]*』|"[^"]*"|`[^`]*`|《[^》]*》|【[^】]*】')
_SET_APART = LazyPattern(r"^\s*[>#$|]|```")
_FICTION = LazyPattern(
    r"如果|假如|假设|要是|倘若|万一|的话|除非|梦[见到里]|开玩笑|骗你|逗你|才怪|听说|据说|差点|(?:说|问|喊|讲|道|写|告诉[我他她你]) ?[,:]"
    r"|翻译|造句|\b(?:if|unless|suppose|imagine|pretend|dream(?:t|ed)?|says?|said|told|asked|quote|translate|lyrics"
    r"|kidding|joking|jk|lol|almost|wish)\b"
)
_OTHERS = (
    "(?:我的?|俺|my )?(?:爸爸?|妈妈?|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公|外婆|老公|老婆|丈夫|妻子|儿子|女儿|孩子|男朋友"
    "|女朋友|同事|同学|朋友|老板|老师|邻居|室友|[他她它]们?|mom|mum|mother|dad|father|brother|sister|son|daughter|wife|husband"
    "|boyfriend|girlfriend|friend|boss|neighbou?r|roommate|cousin|uncle|aunt|he|she|they)"
)
_SUBJECT = LazyPattern(
    rf"[\W_]*(?:其实|不过|因为|所以|但是?|昨天|今天|明天|and |but |so )*(?P<who>{_OTHERS})(?![a-z])"
    "(?!和我|跟我)"
)
_TO_YOU = LazyPattern(r"[\W_]*(?:[你您](?!知道|看|说)|you\b|your\b)")
_NO_DENIAL = LazyPattern(
    "不错|^不过|差不多|不久|不[仅但光]|不管|不断|不少|不得不|没错|没事|没关系|没问题|not only|no problem|no worries"
)
_DENIAL = LazyPattern(
    r"不|没|无|未|别|拒绝|讨厌|\b(?:not|never|no|without|cannot|hate|hates|dislikes?|refuse[sd]?)\b|n['’]t\b"
)
_FIGURE = re.compile(r"\d+|[一二三四五六七八九十百千万亿两]+(?=[个只岁点号月年日天次元块万亿斤口条套辆])")
_REPORTS = LazyPattern(
    "(?:聊|谈|说|提|讲|讨论|问|抱怨|分享|倾诉)(?:了|到|起|过)"
    r"|\b(?:talked|spoke|chatted|asked|told|complained|shared|discussed|mentioned)\b"
)
"""Says of a talk what it was about, where other words may stand than were said."""
_ABOUT = LazyPattern(r"\b(?:talked|spoke|chatted|complained|asked|told \w+) about\b|\b(?:discussed|mentioned|shared)\b")
_CLAIMS = LazyPattern(
    r"\b(?:is|was|are|were|has|had|will|lives?|lived|works?|worked|owes?|wants?|owns?|killed|stole)\b(?! (?:stress"
    r"|plans))"
)
"""An English report may name what it was about in words that nobody said, but tell nothing of it."""
_PROPER = re.compile(r"\b[A-Z]\w*")
_LATIN = re.compile(r"[a-z]{3,}")
_SCAFFOLD = LazyPattern(
    "聊了|聊到|聊|谈到|谈了|谈|提到|说了|说到|讨论了?|用户|大家|关于|以及|还有|和|最近|今天|分享了?|表示|计划|打算|有点|有些"
    r"|\b(?:talk(?:ed|s|ing)?|chat(?:ted|s)?|discuss(?:ed|es)?|mention(?:ed|s)?"
    r"|about|users?|sai?ys?|said|shared?|plans?)\b"
)


@dataclass(frozen=True, slots=True)
class Part:
    """One clause of somebody's own words, folded, and the sentence it is from, verbatim."""

    folded: str
    sentence: str
    terms: frozenset[str]


def harmless(text: str, screened: bool = True) -> bool:
    """Neither empty nor a link nor markup nor, `screened`, a forged sign or an order to a model."""
    return bool(text) and not (holds_link(text) or MARKUP.search(fold(text)) or (screened and forged(text)))


def parts(told: Told) -> tuple[Part, ...]:
    """What speakers plainly say of themselves in the own words of these lines, clause by clause."""
    return tuple(part for _, words in told for part in _parts(words))


def _parts(words: str) -> Iterator[Part]:
    for row in words.split("\n"):
        if _SET_APART.search(row) or holds_link(row):
            continue
        for match in SENTENCE.finditer(_QUOTED.sub(" ", row)):
            sentence, asked = match[1], "?" in fold(match[2])
            clauses = clauses_of(sentence)
            if len(sentence) > 2 * TEXT_CHARS or _FICTION.search(fold(sentence)) or (asked and len(clauses) == 1):
                continue
            for number, clause in enumerate(clauses):
                folded = fold(clause).strip(" ,")
                if not folded or (asked and number == len(clauses) - 1) or s.UNSURE.search(folded):
                    continue
                yield Part(folded, one_row(sentence).strip(" ,，;；"), terms(folded))


def grounded(text: str, said: tuple[Part, ...], name: str) -> bool:
    """Whether each clause of a statement stands in those words: its terms, figures, denial and who it is about."""
    here = frozenset(term for part in said for term in part.terms)
    heard = " ".join(part.folded for part in said)
    own = terms(name) - here
    claims = [clause for clause in (fold(one).strip(" ,") for one in clauses_of(text)) if terms(clause) - own]
    return bool(claims) and all(_stands(claim, said, here, heard, own) for claim in claims)


def carried(text: str, cited: tuple[DigestLine, ...]) -> bool:
    """Whether at least half of a note's terms, the first speaker's name apart, stand in the lines it cites."""
    there = terms(" ".join(line.text for line in cited))
    said = terms(text) - (terms(cited[0].name) - there)
    return bool(said) and len(said & there) >= SUMMED * len(said)


def _stands(claim: str, said: tuple[Part, ...], here: frozenset[str], heard: str, own: frozenset[str]) -> bool:
    about = terms(claim) - own
    if len(about & here) < GROUNDED * len(about) or any(figure not in heard for figure in _FIGURE.findall(claim)):
        return False
    if any(len(run) >= FOREIGN_RUN for run in _foreign(claim, here | own)):
        return False
    best = nearest(about, said)
    if best is None or _TO_YOU.match(best.folded) or denied(best.folded) != denied(claim):
        return False
    other = _SUBJECT.match(best.folded)
    return other is None or other["who"].removeprefix("我").removeprefix("my ")[:2] in claim


def nearest(about: frozenset[str], said: tuple[Part, ...]) -> Part | None:
    """The clause that shares most with what is looked for."""
    best = max(said, key=lambda part: (len(about & part.terms), -len(part.terms)), default=None)
    return best if best is not None and about & best.terms else None


def denied(folded: str) -> bool:
    """Whether a clause says that something is not."""
    return len(list(_DENIAL.finditer(_NO_DENIAL.sub(" ", folded)))) % 2 == 1


def _foreign(claim: str, known: frozenset[str]) -> list[str]:
    """The runs of Chinese characters that are in none of the words."""
    return re.findall("[一-鿿]+", "".join(" " if char in known or char in STOP else char for char in claim))


def sums_up(summary: str, told: Told, names: str) -> bool:
    """Whether a summary tells of what people themselves said, links and quotations apart.

    One that says what somebody who was there talked about may paraphrase, but names no figure and no foreign word that
    nobody said.
    """
    rows = (row for _, words in told for row in words.split("\n") if not _SET_APART.search(row))
    words = "\n".join(rows)
    heard = fold(_QUOTED.sub(" ", s.LINK.sub(" ", words)))
    there = terms(heard)
    said = terms(_SCAFFOLD.sub(" ", fold(summary))) - (terms(names) - there)
    figures = all(figure in heard for figure in _FIGURE.findall(fold(summary)))
    return figures and (len(said & there) >= SUMMED * len(said) or _reports(summary, heard, fold(names)))


def _reports(written: str, heard: str, names: str) -> bool:
    summary = fold(written)
    strange = {word for word in _LATIN.findall(_SCAFFOLD.sub(" ", summary)) if word not in heard + names}
    if strange and (_CLAIMS.search(summary) or not _ABOUT.search(summary)):
        return False
    named = any(name in summary for name in names.split())
    return (
        named and bool(_REPORTS.search(summary)) and not any(fold(word) in strange for word in _PROPER.findall(written))
    )


def named_days(text: str, told: Told, tz: tzinfo) -> bool:
    """Whether every time that a text names is one that the own words of the cited lines name."""
    named = spans(text, told[0][0].at, tz)
    there = [span for line, words in told for span in spans(words[:DAYS_CHARS], line.at, tz)] if named else []
    return all(any(a < end and start < b for start, end in there) for a, b in named)


def checked_day(day: str, told: Told, tz: tzinfo) -> str:
    """A model's word or date for a day, if it names one that the cited lines name; else ""."""
    day = one_row(day[:DAY_CHARS])
    one = len(spans(day, told[0][0].at, tz)) == 1
    return day if one and harmless(day) and named_days(day, told, tz) else ""


def terms(text: str) -> frozenset[str]:
    """The telling terms of a text; Latin words by their beginnings."""
    return frozenset(term[:_STEM] if term.isascii() else term for term in index_terms(text) if term not in STOP)
