"""From when and until when something comes back: 从下周一开始, 到12月31日为止, for the next five days. Pure.

It reads before the languages do, and only beside a word for what comes back: what bounds a rule is no day of its own.
"""

from dataclasses import replace

from bot.text.lazy import LazyPattern
from bot.text.when import chinese, english
from bot.text.when.delays import delay_of
from bot.text.when.found import Day, Parts, Reading
from bot.text.when.numbers import EN, ZH, count_en, count_zh

EVERY = LazyPattern(
    r"每|逢(?=周|星期|礼拜)|工作日|上班日|平日|天天|(?a:\b(?:every|each|daily|weekly|monthly|weekdays|weekends)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b)"
)
LONGEST = 24
"""Characters in which a day is named."""

_UNTIL = LazyPattern(
    r"(?:(?<=[,，])[㐀-鿿]到|一?直到|持续到|截止到?|(?<![\d一二三四五六日天点半分号])到|到(?=[^,，。]{1,14}?(?:为止|结束|截止)))"
    r"|(?a:,? ?\b(?:up )?(?:until|till|til|through|thru|ending(?: on)?)\b )"
)
_UNTIL_END = LazyPattern(r"\s*(?:那天)?(?:为止|结束|截止|就行了?|就好了?|就可以了?|就不用了?|即可)")
_RANGE = LazyPattern(r"(?<=[\d号日])(?:到|至|-|~)|(?a: (?:to|through|thru) )")
_FOR = LazyPattern(
    rf"(?:接下来|未来|今后|往后|连续|持续|连着)的?(?P<zh>{ZH}个?(?:天|日|周|星期|礼拜|月|年))(?:里|内)?"
    rf"|(?a:\bfor (?:the )?(?:next |coming |following )?(?P<n>{EN}) (?P<unit>day|week|month)s?\b)"
)
_FROM = LazyPattern(r"从|自(?!己)|(?a:\b(?:starting|beginning|from|as of)(?: on| from)? )")
_FROM_END = LazyPattern(r"\s*(?:开始|起(?![床来身飞夜立]))|(?a: ?\b(?:on|onwards?)\b(?= |$))")
_BEGINS = LazyPattern(r"开始|起(?![床来身飞夜立])")
_NEXT = LazyPattern(
    r"\s*(?:下个?(?:月|(?P<zh>周|星期|礼拜))(?![一二三四五六日天\d])|(?a:next (?:month|(?P<week>week))\b))"
)
_PERIOD = LazyPattern(
    r"\s*(?:(?:今|本|这)?年(?:底|末)|(?a:(?:the )?end of (?:the|this) (?P<what>year|month)\b)"
    rf"|(?P<zh>{ZH})月(?:份)?(?:底|末)?(?![\d一二三四五六七八九十])|(?a:(?:the end of )?(?P<mon>{english.MONTH})(?! ?\d)\b))"
)


def read_bounds(reading: Reading) -> None:
    """Take what bounds a rule."""
    if not EVERY.search(reading.text):
        return
    for match in reading.take(_FOR):
        delay = delay_of(match["zh"]) if match["zh"] else None
        if match["n"]:
            delay = english.delay_of(f"{count_en(match['n']):g} {match['unit']}s")
        reading.parts = replace(reading.parts, span=delay)
    for match in _RANGE.finditer(reading.text):
        named = _named(reading.text, match.end())
        if named is not None and named[0].clock is None:
            _begin_at(reading, match.start(), match.start())
            if reading.parts.since is not None:
                _blank(reading, match.start(), named[1], _UNTIL_END)
                reading.parts = replace(reading.parts, until=named[0].day)
                return
    if (until := _UNTIL.search(reading.text)) is not None:
        period = _PERIOD.match(reading.text, until.end())
        named = None if period is not None else _named(reading.text, until.end())
        if period is not None:
            month = english.month_of(period["mon"]) if period["mon"] else count_zh(period["zh"] or "")
            last = Day("last", off=0) if period["what"] == "month" else Day("date", 0, month=month or 12)
            _blank(reading, until.start(), period.end(), _UNTIL_END)
            reading.parts = replace(reading.parts, until=last)
        elif named is not None and named[0].clock is None:
            _blank(reading, until.start(), named[1], _UNTIL_END)
            reading.parts = replace(reading.parts, until=named[0].day)
    first = _FROM.search(reading.text)
    if first is not None and (coming := _NEXT.match(reading.text, first.end())) is not None:
        week = coming["week"] or coming["zh"]
        _blank(reading, first.start(), coming.end(), _FROM_END)
        reading.parts = replace(reading.parts, since=Day("week", 1, 0) if week else Day("number", 1, off=1))
    elif first is not None and (named := _named(reading.text, first.end())) is not None:
        _begin(reading, named[0], first.start(), named[1])
    elif (ends := _BEGINS.search(reading.text)) is not None:
        _begin_at(reading, ends.start(), ends.end())


def _begin_at(reading: Reading, end: int, more: int) -> None:
    """Take the day that ends there as the first one, with what stands behind it up to `more`."""
    for begin in range(max(end - LONGEST // 2, 0), end):
        named = _named(reading.text[:end], begin)
        if named is not None and named[1] == end:
            _begin(reading, named[0], begin, more)
            return


def _begin(reading: Reading, parts: Parts, begin: int, end: int) -> None:
    _blank(reading, begin, end, _FROM_END)
    reading.parts = replace(reading.parts, since=parts.day)
    if parts.clock is not None:
        reading.name_clock(parts.clock, parts.half)
    elif parts.half:
        reading.halves.append(parts.half)


def _named(text: str, begin: int) -> tuple[Parts, int] | None:
    """The day that is named right there, and where its name ends."""
    rule = EVERY.search(text, begin)
    piece = Reading(text[begin : min(begin + LONGEST, rule.start() if rule else len(text))])
    chinese.read(piece)
    english.read(piece)
    end = 0
    for start, stop in sorted(piece.parts.spans):
        if start > end + (text[begin + end : begin + end + 1] == " "):
            break
        end = max(end, stop)
    alone = Reading(text[begin : begin + end])
    chinese.read(alone)
    english.read(alone)
    parts = alone.done()
    return (parts, begin + end) if end and parts.day is not None and parts.doubt is None and not parts.every else None


def _blank(reading: Reading, begin: int, end: int, more: LazyPattern) -> None:
    if (found := more.match(reading.text, end)) is not None:
        end = found.end()
    reading.blank(begin, end)
