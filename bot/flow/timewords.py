"""Times ahead in the house's words: 周一（11月23日）早上8:00, 每月最后一天下午5:00, 2 小时. It decides nothing."""

from datetime import date, datetime, tzinfo

from bot.flow.words import Words
from bot.text.script import Script
from bot.text.when.rules import SEVERAL, local, step_of, until_of
from bot.types.duration import DAY_MS, HOUR_MS, MINUTE_MS

_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORKDAYS = ",".join(_NAMES[:5])


def when_label(words: Words, at: int, now: int, tz: tzinfo, script: Script) -> str:
    """A moment, ms, with its weekday and date; the year only when it is another one."""
    there, here = local(at, tz), local(now, tz)
    text = words.messages.text
    return text(
        "when_far" if there.year != here.year else "when", script, year=there.year, month=_month(words, there, script),
        day=there.day, weekday=words.messages.words("when_weekdays", script)[there.weekday()],
        time=clock_words(words, there.hour, there.minute, script),
    )  # fmt: skip


def clock_words(words: Words, hour: int, minute: int, script: Script) -> str:
    """早上8:00, 下午3:30, 8:00 AM."""
    part = words.messages.words("when_parts", script)[hour]
    return words.messages.text("when_clock", script, part=part, hour=hour % 12 or 12, minute=f"{minute:02d}")


def rule_label(words: Words, rule: str, script: Script) -> str:
    """What comes back, and until when, in words."""
    said, last = _rule_words(words, rule, script), until_of(rule)
    if not last:
        return said
    day = date.fromisoformat(last)
    return words.messages.text("rule_until", script, rule=said, month=_month(words, day, script), day=day.day)


def _rule_words(words: Words, rule: str, script: Script) -> str:
    minute, hour, day, month, weekdays = rule.split(SEVERAL, maxsplit=1)[0].split(" ")[:5]
    step, since = step_of(rule)
    text = words.messages.text
    if hour == "*":
        return text("rule_hourly", script, minute=f"{int(minute):02d}")
    times = (each.split(" ")[:2] for each in rule.split(SEVERAL))
    time = text("when_and", script).join(clock_words(words, int(at[1]), int(at[0]), script) for at in times)
    if step > 1 and weekdays != "*":
        name = words.messages.words("when_weekdays", script)[since.weekday()]
        return text("rule_weeks", script, n=step // 7, days=name, time=time)
    if step > 1:
        return text("rule_days", script, n=step, time=time)
    if month != "*":
        there = datetime(2000, int(month), 1)  # noqa: DTZ001 - only its month is named
        return text("rule_yearly", script, month=_month(words, there, script), day=day, time=time)
    if day != "*":
        return text("rule_last" if day == "last" else "rule_monthly", script, day=day, time=time)
    if weekdays == "*":
        return text("rule_daily", script, time=time)
    if weekdays == _WORKDAYS:
        return text("rule_workdays", script, time=time)
    names = words.messages.words("when_weekdays", script)
    listed = text("when_and", script).join(names[_NAMES.index(each)] for each in weekdays.split(","))
    return text("rule_weekly", script, days=listed, time=time)


def late_label(words: Words, ms: int, script: Script) -> str:
    """How late something is: 2 小时, 3 days."""
    for key, unit in (("late_days", DAY_MS), ("late_hours", HOUR_MS)):
        if ms >= unit:
            return words.messages.text(key if ms >= 2 * unit else f"{key}_one", script, n=ms // unit)
    return words.messages.text("late_minutes", script, n=max(ms // MINUTE_MS, 1))


def _month(words: Words, there: date, script: Script) -> str:
    return words.messages.words("when_months", script)[there.month - 1]
