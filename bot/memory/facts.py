"""What a person tells: whether words tell a fact to keep, and how one wish parts into several facts. Doubt means no,
and one. It asks for nothing and finds no wish."""

import re
from typing import Literal

from bot.memory.shape import shaped
from bot.memory.wish_patterns import QUOTED, pattern
from bot.text.fold import fold, fold_mapped, unfold

Kind = Literal["strong", "weak", "fact"]
"""How clearly keeping was asked: noted for me, remember (or advice), do not forget (mostly an errand)."""

MOST = 9
"""More facts than that are a document, and stay one memory."""
_LEAST, _REACH, _THIN_CHARS = 3, 600, 24
"""Characters of the shortest fact (我属兔), of the longest text that is parted, and of the longest that says nothing."""
_ORDER = "一二三四五六七八九"
_EDGES = " ,;、。\n"


def worth(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    """Whether `body`, shaped text, can be a fact to keep.

    `after_comma`: a break stands between verb and body, as in discourse; `firmly`: it was put as a request.
    """
    if kind == "strong":
        errand = body.startswith(("to ", "方便", "you ", "your ", "it ", "this "))
        return len(body) > 1 and not errand and not pattern("no_content").fullmatch(body)
    if not _chinese(body):
        return _worth_en(body, kind, after_comma, firmly)
    if kind == "fact":
        return plain(body)
    mine = pattern("mine").search(body)
    if pattern("standing").match(body):
        return mine is not None
    if pattern("advice").match(body) or pattern("tender").search(body):
        return False
    if mine:
        told = mine.start() == 0 or tells(body) or not pattern("cjk").match(body)
        return told and not pattern("bare_noun").fullmatch(body) and not body.startswith(("你", "您"))
    if after_comma and not pattern("data").search(body):
        return False
    told = pattern("predicate").search(body) is not None or QUOTED in body
    return len(body) > 3 and told and not pattern("maxim").search(body)


def plain(part: str) -> bool:
    """Whether a statement is a plain fact about its speaker."""
    if not _chinese(part):
        return bool(pattern("statement_en").match(part)) and not pattern("not_fact_en").search(part)
    other = pattern("reminiscence").search(part) or pattern("tender").search(part) or "你" in part
    return bool(pattern("fact_zh").match(part)) and not other


def tells(part: str) -> bool:
    """Whether it says something of anything: a predicate, a number, a time."""
    return bool(pattern("predicate").search(part) or (not _chinese(part) and pattern("concrete_en").search(part)))


def states(text: str) -> bool:
    """Whether a line tells something of its writer, so that a bare wish to keep right after it means it."""
    shape = shaped(fold(text.strip()), ())
    if "?" in shape or pattern("question").search(shape) or not pattern("mine").search(shape):
        return False
    return plain(shape) or tells(shape)


def thin(text: str) -> bool:
    """Whether a text says nothing that could be kept: 好的, 嗯, ok, signs alone (seed: low-signal texts are rejected)."""
    said = fold(text).strip()
    return len(said) <= _THIN_CHARS and pattern("nothing_said").fullmatch(said) is not None


def told_in(text: str) -> tuple[str, ...]:
    """The facts of a text that is all to be kept, verbatim, in order."""
    folded, origin = fold_mapped(text)
    spans = facts(shaped(folded, ()), 0, len(folded))
    return tuple(unfold(text, origin, a, b).strip() for a, b in spans) if len(spans) > 1 else (text,)


def facts(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the facts in `shape[a:b]` in order, or that one span when it tells one, or too many."""
    listed = _items(shape, a, b)
    if len(listed) > 1 or b - a > _REACH or re.search(r"[。?\n]", shape[a:b]) or pattern("fact_whole").match(shape, a):
        return listed
    cuts = list(pattern("fact_cut").finditer(shape[:b], a))
    spans = [(a, b)]
    for index, cut in enumerate(cuts):
        lead = pattern("fact_join").match(shape, cut.end())
        start = lead.end() if lead else cut.end()
        clause = shape[start : cuts[index + 1].start() if index + 1 < len(cuts) else b].strip()
        told = shape[spans[-1][0] : cut.start()].strip()
        if _stands(clause, told) and len(told) >= _LEAST and (tells(told) or plain(told)) and not _goes_on(told):
            spans[-1] = (spans[-1][0], cut.start())
            spans.append((start, b))
    return spans if len(spans) <= MOST else listed


def list_end(shape: str, at: int) -> int:
    """Where the lines of a list end whose first item begins at `at`; `at` when there are not two."""
    end, count = at, 0
    for line in shape[at:].split("\n"):
        if not pattern("list_item").match(line):
            break
        end, count = end + len(line) + (count > 0), count + 1
    return end if count > 1 else at


def _worth_en(body: str, kind: Kind, after_comma: bool, firmly: bool) -> bool:
    if pattern("not_fact_en").search(body):
        return False
    if pattern("statement_en").match(body):
        return True
    third = pattern("third_en").match(body) and (pattern("concrete_en").search(body) or pattern("mine").search(body))
    return bool(third) and (firmly or not after_comma) and not pattern("generic_en").search(body)


def _chinese(text: str) -> bool:
    return pattern("cjk").search(text) is not None


def _goes_on(told: str) -> bool:
    return pattern("fact_open").search(told) is not None


def _stands(clause: str, told: str) -> bool:
    """Whether a clause tells a fact of its own, and neither leans on the one before nor speaks of what it named."""
    if len(clause) < _LEAST or pattern("fact_leans").match(clause) or pattern("fact_refers").search(clause):
        return False
    if pattern("fact_first").match(clause):
        return plain(clause) or tells(clause)
    return bool(pattern("fact_datum").match(clause) and pattern("fact_speaker").match(told))


def _items(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the items of an enumeration in order, or that one span when it is none from its start."""
    marks = list(pattern("list_mark").finditer(shape[a:b]))
    first = marks[0] if marks else None
    if first is None or not 2 <= len(marks) <= MOST or shape[a : a + first.start()].strip(_EDGES):
        return [(a, b)]
    counted = first.lastgroup == "dash" or [_number(mark) for mark in marks] == list(range(1, len(marks) + 1))
    if not counted or len({mark.lastgroup for mark in marks}) > 1:
        return [(a, b)]
    spans = []
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), b - a], strict=True):
        start = mark.start() if mark.lastgroup == "word" else mark.end()  # 第一 is part of what was said, 1. is not
        part = shape[a + start : a + end]
        spans.append((a + start + len(part) - len(part.lstrip(_EDGES)), a + start + len(part.rstrip(_EDGES))))
    return spans if all(end - start > 1 for start, end in spans) else [(a, b)]


def _number(mark: re.Match[str]) -> int:
    sign = mark[mark.lastgroup or 0]
    return int(sign) if sign.isdigit() else _ORDER.find(sign[1:2] or sign) + 1
