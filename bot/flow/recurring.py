"""When a reminder that comes back is said next, whatever its row or the machine's clock has been through."""

from bot.flow.words import Words
from bot.ports import Clock
from bot.store.deadlines import Deadlines
from bot.text.when.rules import next_of
from bot.types.duration import DAY_MS
from bot.types.log import Log
from bot.types.reminder import Reminder


def next_time(reminder: Reminder, zone: str, after: int, words: Words, log: Log) -> int | None:
    """The first moment, ms, after that one, by its person's zone ("" the house's); None: never again."""
    try:
        return next_of(reminder.rule, after, words.tz(zone or words.zone))
    except ValueError:  # a damaged row must not keep everybody else's from being said
        log.warning("reminder_damaged", reminder=reminder.id)
        return None


async def bring_back(deadlines: Deadlines, clock: Clock, words: Words, log: Log) -> None:
    """At a start: what was said while the clock was ahead does not wait until it is as late again.

    A day counts as ahead: after less it is due soon enough, and said twice it would be.
    """
    now = clock.now()
    changed = await deadlines.recurring_back(lambda one, zone: next_time(one, zone, now, words, log), now + DAY_MS)
    if changed:
        log.warning("clock_was_ahead", reminders=changed)
