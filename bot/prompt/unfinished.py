"""What somebody still has to do, found in what happened: 待办, 明天要…, need to; with its day, if it has one. Pure."""

import re
from dataclasses import dataclass
from datetime import tzinfo

from bot.text.dates import local_day
from bot.text.due import due_in
from bot.text.fold import fold
from bot.types.duration import DAY_MS

STALE_DAYS = 14
"""A task without a day is told for so long (seed Warm Boot: 待办 is stale after 14 days)."""

OVER_DAYS = 7
"""One whose day is over is told as such for so long."""

READ_CHARS = 400
"""What a text is about stands at its beginning."""

_DO = "(?:去|做|写|交|买|完|办|弄|回|还|寄|订|付|打|改|修|处理|提交|准备|联系|预约|报名)"
_MUST = "(?:(?<![重主只])要(?![是不么了])|(?<![觉获值记懂取显晓])得(?![了到])|必须|该(?!死))"
_AHEAD = (
    "(?:今[天晚早]|明[天晚早儿]|大?后天|下个?(?:周|星期|礼拜|月)[一二三四五六日天末]?|周[一二三四五六日天末]|[号日])"
)
_OPEN = re.compile(
    rf"待办|未完成|\bto-?do\b|{_AHEAD}[^，。！？；\n]{{0,6}}?{_MUST}|(?<!不)需要[^，。！？；\n]{{0,3}}?{_DO}|必须{_DO}|还[得要]{_DO}"
    rf"|得(?:赶紧|尽快|记得)|(?:别|不要)忘(?:了|记)|(?<![还都你])记得(?:要|把|给|带|{_DO})|(?:打算|准备)(?:要|{_DO})"
    rf"|还没有?[^，。！？；\n]{{0,8}}?{_DO}|截止|到期"
    r"|\b(?:needs?|ha(?:ve|s)|got|still have) to\b|\bmust\b|\b(?:don'?t|do not) forget\b|\bremember to\b"
    r"|\bdue (?:on|by|to)\b|\bdeadline\b|\b(?:not (?:yet )?(?:done|finished))\b"
    r"|(?:\b(?:will|going to|gonna)\b|'ll\b)(?=[^.!?\n]*\b(?:tomorrow|tonight|next|on (?:mon|tue|wed|thu|fri|sat|sun)))"
)
_CLOSED = re.compile(
    rf"(?:已经?|都)[^，。！？；\n]{{0,6}}(?:{_DO}[完好]?了|完成|取消|结束)|(?:做|写|办|弄|搞|交|买)[完好定]了|取消了|搞定"
    r"|[不没无](?:再)?(?:需要|必要|用再|用去)|不用(?:再|去|做|交|写)|[吗么嘛?？]\s*$"
    r"|\b(?:don'?t|didn'?t|doesn'?t|do not|no longer|no) (?:need|have)\b|\bno need\b|\bcancell?ed\b|\bcalled off\b"
    r"|\b(?:already|finally) (?:did|done|finished|bought|sent|paid|handed|submitted)\b|\b(?:used|had|needed) to\b"
)


@dataclass(frozen=True, slots=True)
class Task:
    """A thing to do; `due` is a moment, ms, of the last day on which it is to be done, None without a day."""

    due: int | None


def unfinished(text: str, at: int, created: int, tz: tzinfo) -> Task | None:
    """The task that a text tells, None for none; `at` is when it happened or will happen, `created` when it was stored.

    Both are ms. Days in it count from when it was said; one day is its day, or none.
    """
    folded = fold(text[:READ_CHARS])
    if not _OPEN.search(folded) or _CLOSED.search(folded):
        return None
    if local_day(at, tz) > local_day(created, tz):
        return Task(at)  # whoever stored it knew its day
    due = due_in(text[:READ_CHARS], at, tz)
    return Task(due.at if due else None)


def still(task: Task, at: int, now: int, tz: tzinfo) -> bool:
    """Whether it is told still: till its day, and for some days as one whose day is over."""
    if task.due is None:
        return now - at <= STALE_DAYS * DAY_MS
    return (local_day(now, tz) - local_day(task.due, tz)).days <= OVER_DAYS


def is_over(due: int, now: int, tz: tzinfo) -> bool:
    """Whether the local day of that moment has passed."""
    return local_day(due, tz) < local_day(now, tz)
