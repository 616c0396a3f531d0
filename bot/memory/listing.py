"""Splits an enumeration into its facts: 1. … 2. …, 第一…第二…, lines with dashes. It judges none of them."""

import re

from bot.text.lazy import LazyPattern

MOST = 9
"""More items than that are a document, and stay one memory."""

_MARK = LazyPattern(
    r"(?:(?<=[\n :,;。])|(?<=[^\x00-\x7f])|^)(?:\(?(?P<n>[1-9])[.):、](?!\d) ?|(?P<dash>(?<=\n)[-*•·] |\A[-*•·] )"
    r"|(?P<word>第[一二三四五六七八九](?![天次个名年章节条款季届级周种件位层楼])[,:、]?)|(?P<zh>[一二三四五六七八九])、)"
)
_ITEM = LazyPattern(r" *(?:\(?[0-9]{1,2}[.):、](?!\d)|[-*•·] |第[一二三四五六七八九十]|[一二三四五六七八九十]、)")
_ORDER = "一二三四五六七八九"
_EDGES = " ,;、。\n"


def items(shape: str, a: int, b: int) -> list[tuple[int, int]]:
    """The spans of the items of `shape[a:b]` in order, or that one span when it is no enumeration from its start."""
    marks = list(_MARK.finditer(shape[a:b]))
    first = marks[0] if marks else None
    if first is None or not 2 <= len(marks) <= MOST or shape[a : a + first.start()].strip(_EDGES):
        return [(a, b)]
    if first.lastgroup != "dash" and [_number(mark) for mark in marks] != list(range(1, len(marks) + 1)):
        return [(a, b)]
    if len({mark.lastgroup for mark in marks}) > 1:
        return [(a, b)]
    ends = [mark.start() for mark in marks[1:]] + [b - a]
    spans = [_trimmed(shape, a + _begin(mark), a + end) for mark, end in zip(marks, ends, strict=True)]
    return spans if all(end - start > 1 for start, end in spans) else [(a, b)]


def list_end(shape: str, at: int) -> int:
    """Where the lines of a list end whose first item begins at `at`; `at` when there are not two."""
    end, count = at, 0
    for line in shape[at:].split("\n"):
        if not _ITEM.match(line):
            break
        end, count = end + len(line) + (count > 0), count + 1
    return end if count > 1 else at


def _begin(mark: re.Match[str]) -> int:
    """An ordinal in words is part of what was said; a digit or a dash is none."""
    return mark.start() if mark.lastgroup == "word" else mark.end()


def _number(mark: re.Match[str]) -> int:
    sign = mark[mark.lastgroup or 0]
    return int(sign) if sign.isdigit() else _ORDER.find(sign[1:2] or sign) + 1


def _trimmed(shape: str, start: int, end: int) -> tuple[int, int]:
    part = shape[start:end]
    return start + len(part) - len(part.lstrip(_EDGES)), start + len(part.rstrip(_EDGES))
