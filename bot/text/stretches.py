"""The stretches of a calendar that talks are told by: clock hours, days from 04:00 on, weeks from Monday 04:00 on."""

from datetime import tzinfo

from bot.text.dates import local_day, next_full_hour, next_local_time
from bot.types.dialogue import Tier

DAY_BEGINS, WEEK_BEGINS = 4, 0
"""At 04:00, when people have gone to bed, and on Monday (C36)."""


def end_of(tier: Tier, at: int, tz: tzinfo) -> int:
    """When the clock hour, day or week ends, ms, in which `at` lies; a talk ends when it does itself."""
    match tier:
        case "raw":
            return at
        case "hour":
            return next_full_hour(at, tz)
        case "day":
            return next_local_time(at, DAY_BEGINS, tz)
        case "week":
            end = next_local_time(at, DAY_BEGINS, tz)
            while local_day(end, tz).weekday() != WEEK_BEGINS:
                end = next_local_time(end, DAY_BEGINS, tz)
            return end
