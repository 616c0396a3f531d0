"""When something that people tell happened: 我昨天拔了智齿 is of yesterday, whenever it is read. Pure."""

import re
from datetime import tzinfo

from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.spans import spans

DAY_MS = 25 * 3_600_000
"""The longest day of a zone: one on which its clocks go back."""

_AGAIN = re.compile(r"每|天天|总是|平时|通常|生日|纪念日|\b(?:every|each|always|usually|birthday|anniversary)\b")
"""What comes back is of no one day."""

_PAST = re.compile(
    r"昨|前[天日晚]|上+个?(?:周|星期|礼拜|月)|[去前]年|天(?:以|之)?前|(?:19|20)\d\d|[零〇一二三四五六七八九]{4}年"
    r"|\byesterday\b|\blast (?:night|mon|tue|wed|thu|fri|sat|sun)|\bdays? (?:ago|back|earlier)\b"
)
"""Names of days that cannot lie ahead; 周五 and 6月20日 can."""

_AHEAD = re.compile(
    r"要|会|将|打算|准备|计划|想|得去|截止|以前|之前"
    r"|'ll\b|\b(?:will|going to|gonna|shall|due|deadline|plan(?:s|ning)?|want|need|must|have to|until|by|before)\b"
)
_DONE = re.compile(
    r"[了过曾]|的时候|[那当]天|\b(?:was|were|did|had|went|got|saw|met|bought|made|took|came|left|lost|found|ate|began"
    r"|broke|gave|won|flew|drove|sold|felt|became|\w{2,}ed)\b"
)


def event_moment(text: str, at: int, tz: tzinfo) -> int:
    """The middle of the one past day, or part of it, that a statement is about; else `at`, when it was said. In ms.

    Several days, longer times, what comes back or lies ahead name no such day, and neither does a day that may be the
    next one of its name, unless the words say that it is over.
    """
    named = spans(text, at, tz)
    if len(named) != 1:
        return at
    (start, end), folded = named[0], fold(text)
    middle = (start + end) // 2
    if end - start > DAY_MS or local_day(middle, tz) >= local_day(at, tz) or _AGAIN.search(folded):
        return at
    over = _PAST.search(folded) or (_DONE.search(folded) and not _AHEAD.search(folded))
    return middle if over else at
