"""Parts what one wish says into the facts that it tells. It does not judge whether they are to be kept.

A clause is a fact of its own when it has a subject of its own or tells something of the speaker; what explains, limits
or follows from the clause before stays with it. Doubt means one.
"""

from bot.memory import patterns as p
from bot.memory.reading import shaped
from bot.memory.wording import several as of
from bot.memory.worth import plain, tells
from bot.text.fold import fold_mapped, unfold
from bot.text.lazy import LazyPattern

MOST = 9
"""More facts than that are a document, and stay one memory."""
_LEAST = 3
"""Characters of the shortest fact (我属兔)."""

_REACH = 600
"""Characters; what is longer is a document as well."""

_CUT = LazyPattern(
    "(?:(?<![0-9]),|,(?![0-9]{3}))+|、(?=我|(?:生日|电话|血型|住在)) ?|(?<=[一-鿿0-9]) +(?=我|(?:生日|电话|血型|住在))"
    rf"|(?P<bare> and )(?=(?:that )?{of.SUBJECT_EN}|(?:that )?{of.DATUM_EN})"
)
_HARD = LazyPattern(r"[。?\n]")
_JOIN = LazyPattern(f"[ ]*(?:{of.JOIN_ZH}|{of.JOIN_EN})?")
_LEANS_ZH, _REFERS_ZH, _OPEN_ZH, _WHOLE_ZH = (
    LazyPattern(words) for words in (of.LEANS_ZH, of.REFERS_ZH, of.OPEN_ZH, of.WHOLE_ZH)
)
_OF_SPEAKER_ZH = LazyPattern(f"(?:{of.DATUM_ZH}|{of.PREDICATE_ZH})")
_SPEAKER_ZH, _INTRODUCES_ZH = LazyPattern(of.SPEAKER_ZH), LazyPattern(of.INTRODUCES_ZH)
_SUBJECT_EN, _DATUM_EN, _LEANS_EN = LazyPattern(of.SUBJECT_EN), LazyPattern(of.DATUM_EN), LazyPattern(of.LEANS_EN)
_REFERS_EN, _WHOLE_EN, _OPEN_EN = LazyPattern(of.REFERS_EN), LazyPattern(of.WHOLE_EN), LazyPattern(of.OPEN_EN)
_POSSESSED_EN = LazyPattern(of.POSSESSED_EN)


def facts(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the facts in `shape[a:b]` in order, or that one span when it tells one, or too many."""
    whole = [(a, b)]
    if b - a > _REACH or _HARD.search(shape[a:b]) or _WHOLE_ZH.match(shape, a) or _WHOLE_EN.match(shape, a):
        return whole
    cuts = list(_CUT.finditer(shape[:b], a))
    spans, latest = [(a, b)], a
    for index, cut in enumerate(cuts):
        lead = _JOIN.match(shape, cut.end())
        start = lead.end() if lead else cut.end()
        end = cuts[index + 1].start() if index + 1 < len(cuts) else b
        clause, told = shape[start:end].strip(), shape[spans[-1][0] : cut.start()].strip()
        if len(clause) < _LEAST or not _ended(told, shape[latest : cut.start()].strip(), cut["bare"] is not None):
            continue
        if _stands(clause, told):
            spans[-1] = (spans[-1][0], cut.start())
            spans.append((start, b))
            latest = start
    return spans if len(spans) <= MOST else whole


def _ended(told: str, latest: str, bare: bool) -> bool:
    """Whether what stands before tells something as it is, and does not go on in the next clause."""
    if len(told) < _LEAST or _OPEN_ZH.search(told) or _OPEN_EN.search(told):
        return False
    if p.CJK.search(told):
        return tells(told) or plain(told)
    return plain(latest) and not (bare and _POSSESSED_EN.search(told))


def _stands(clause: str, told: str) -> bool:
    if not p.CJK.search(clause):
        return _stands_en(clause, told)
    if _LEANS_ZH.match(clause) or _REFERS_ZH.search(clause):
        return False
    if plain(clause):
        return True
    first = told.split(",", 1)[0]
    of_speaker = _SPEAKER_ZH.match(first) is not None and not _INTRODUCES_ZH.search(told)
    return of_speaker and _OF_SPEAKER_ZH.match(clause) is not None


def _stands_en(clause: str, told: str) -> bool:
    if _LEANS_EN.match(clause) or _REFERS_EN.search(clause):
        return False
    if _SUBJECT_EN.match(clause):
        return plain(clause)
    return _DATUM_EN.match(clause) is not None and told.startswith(("i", "we"))


def told_in(text: str) -> tuple[str, ...]:
    """The facts of a text that is all to be kept, verbatim, in order."""
    folded, origin = fold_mapped(text)
    spans = facts(shaped(folded, ()), 0, len(folded))
    return tuple(unfold(text, origin, a, b).strip() for a, b in spans) if len(spans) > 1 else (text,)
