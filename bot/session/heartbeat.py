"""When nuan may write first, and whether what the model said is worth sending. Pure."""

import re
from datetime import timedelta, tzinfo

from bot.config.heartbeat import HeartbeatRules
from bot.config.joining import JoinRules
from bot.text.dates import between_hours, local_day, local_hour, moment, next_local_time, next_yearly
from bot.text.fold import fold
from bot.types.duration import HOUR_MS
from bot.types.heartbeat import Silence

LONGEST_HOURS = 168
"""After a skip nuan waits twice as long as before, up to a week."""

DECENT_HOUR = 10
"""When nuan looks at a day that matters: after the reminders of the morning, which are said at nine."""

_SKIP = re.compile(
    r"(?:<[^<>]*>|[\W_])*(?:s[ .]?k[ .]?i[ .]?p|跳过)(?:\s*(?:[^\w\s]|_).*|\s+skip.*|\s*)"
    r"|(?:我|i)\W*(?:选择|choose to|'ll|will)?\W*skip\W*"
)
"""The word alone, also with why after a sign; models write it in many ways."""


def due_at(silence: Silence, rules: HeartbeatRules, tz: tzinfo, not_before: int = 0) -> int | None:
    """The first moment, ms, from `not_before` on at which nuan may write; None when she waits for the person.

    Never in the quiet hours of the zone, never more than `rules.per_day` on one of its days. Each try, whatever came
    of it, and each line begins the silence anew; a skip doubles it. A day that something is dated to is not waited
    past, unless they talked on it, or nuan was asked already.
    """
    if not rules.on or silence.ignored >= rules.most_ignored:
        return None
    hours = max(rules.silence_hours, min(rules.silence_hours << min(silence.skips, 10), LONGEST_HOURS))
    usual = _free(
        max(max(silence.heard_at or silence.last_at, silence.tried_at) + hours * HOUR_MS, not_before),
        silence,
        rules,
        tz,
    )
    over = local_day(max(silence.heard_at, silence.tried_at), tz)
    days = {local_day(at, tz) for at in silence.matters}
    days |= {next_yearly(local_day(at, tz), over + timedelta(days=1)) for at in silence.yearly}
    looks = (
        (day, _free(max(moment(day, DECENT_HOUR, tz), not_before), silence, rules, tz)) for day in days if day > over
    )
    return min((usual, *(at for day, at in looks if local_day(at, tz) == day)))


def is_quiet(hour: int, rules: HeartbeatRules | JoinRules) -> bool:
    """Whether that local hour, 0-23, is one of the quiet ones; they may cross midnight."""
    return between_hours(hour, rules.quiet_from, rules.quiet_until)


def skips(text: str) -> bool:
    """Whether the model has nothing to say first: no text, or a line that begins with skip; models explain it.

    To skip wrongly costs nothing, to send the word does.
    """
    return not text.strip() or any(_SKIP.fullmatch(line) for line in fold(text).splitlines())


def _free(at: int, silence: Silence, rules: HeartbeatRules, tz: tzinfo) -> int:
    """The first moment from `at` on at which nuan may write."""
    while (later := _not_yet(at, silence, rules, tz)) is not None:
        at = later
    return at


def _not_yet(at: int, silence: Silence, rules: HeartbeatRules, tz: tzinfo) -> int | None:
    """The next moment to look at when nuan may not write at this one."""
    if is_quiet(local_hour(at, tz), rules):
        return next_local_time(at, rules.quiet_until, tz)
    day = local_day(at, tz)
    if sum(local_day(said, tz) == day for said in silence.said) >= rules.per_day:
        return next_local_time(at, 0, tz)
    return None
