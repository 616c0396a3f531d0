"""What becomes of a time that somebody named: when nuan speaks, and which of several reminders is meant. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from bot.config.remind import RemindRules
from bot.people.asking import ALL
from bot.text.dates import local_hour, next_local_time
from bot.text.fold import fold
from bot.text.when.found import Clock
from bot.text.when.meaning import meaning, parts_of
from bot.types.reminder import Reminder
from bot.types.when import Instant, Unclear

_NUMBER = re.compile(r"#? ?(\d{1,9})(?!\d|[点时日号月年:])")
_NOISE = re.compile(r"\b(?:the|my|a|an|about|to|for|of|that)\b|[的了那个这]|\W")


def spoken_at(found: Instant, rules: RemindRules, tz: tzinfo) -> int:
    """When an instant is said, ms: what has no time of day waits for the end of the quiet hours."""
    quiet = is_quiet(local_hour(found.at, tz), rules)
    return next_local_time(found.at, rules.quiet_until, tz) if quiet and not found.timed else found.at


def is_quiet(hour: int, rules: RemindRules) -> bool:
    """Whether that local hour, 0-23, is one of the quiet ones; they may cross midnight."""
    start, end = rules.quiet_from, rules.quiet_until
    return start <= hour < end if start <= end else hour >= start or hour < end


def due_of(text: str, now: datetime, hour: int) -> int | None:
    """When what a statement names is due, ms; a day without a time of day at `hour`. None where that is not certain.

    `now` is aware, in the person's zone; what comes back has no one due time.
    """
    parts = parts_of(text)
    found = meaning(parts, now)
    if isinstance(found, Unclear) and found.what == "time" and not parts.half:
        found = meaning(replace(parts, clock=Clock(hour, whole=True)), now)
    return found.at if isinstance(found, Instant) else None


def meant(words: str, reminders: Sequence[Reminder], task: str) -> tuple[Reminder, ...]:
    """Those that words of a wish name: a number, all, or what they are about (`task` is that without its time).

    Without words it is the only one, else the one that was set last.
    """
    if words == ALL:
        return tuple(reminders)
    if number := _NUMBER.fullmatch(words.strip().removeprefix("第")) or re.search(r"#(\d{1,9})", words):
        return tuple(each for each in reminders if each.id == int(number[1]))
    for said in (words, task):
        wanted = _NOISE.sub("", fold(said))
        if wanted:
            found = tuple(
                each for each in reminders if each.text and (wanted in _core(each) or _core(each) in wanted)
            )  # fmt: skip
            if found:
                return found
    if _NOISE.sub("", fold(words)):
        return ()
    return (max(reminders, key=lambda each: (each.made_at, each.id)),) if reminders else ()


def _core(reminder: Reminder) -> str:
    return _NOISE.sub("", fold(reminder.text))
