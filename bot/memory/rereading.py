"""Of which day a memory is by its words; what the rows of an older nuan are by the rules of today. Pure."""

from dataclasses import replace
from datetime import tzinfo

from bot.memory.plain import statements_in
from bot.text.dated import event_moment, when_in
from bot.text.dates import local_day
from bot.text.fold import fold_mapped, unfold
from bot.text.slots import lasts
from bot.text.spans import named
from bot.types.duration import DAY_MS
from bot.types.memory import NewMemory, Older, Reread
from bot.types.when import When

HALF_YEAR = 183
"""A day that was read so many days before it was said may be nearer in another year."""


def of_its_day(memory: NewMemory, said_at: int, tz: tzinfo, besides: int = 0) -> NewMemory:
    """The memory with the day that its words name, said at that moment, ms: what is to come is an event, what comes
    every year an anniversary. `besides` is a moment of the day that it had, which they may name, too."""
    when = _when(memory.text, said_at, tz, besides) if memory.kind not in ("emotion", "experience") else None
    if when is None:
        return replace(memory, observed_at=event_moment(memory.text, said_at, tz))
    at = when.at if when.precision == "time" else when.at + DAY_MS // 2
    ahead = memory.kind == "knowledge" and at > said_at
    kind = "anniversary" if when.yearly else "event" if ahead else memory.kind
    return replace(memory, kind=kind, observed_at=at, dated=when.precision, said_at=said_at)


def _when(text: str, said_at: int, tz: tzinfo, besides: int) -> When | None:
    folded, origin = fold_mapped(text)
    times = named(folded, local_day(said_at, tz))
    old = [one for one in times if any(days.first == local_day(besides, tz) == days.last for days in one.choices)]
    if besides and 0 < len(old) < len(times):
        text = unfold(text, origin, old[-1].end, len(folded)) or text
    return when_in(text, said_at, tz)


def reread(older: Older, tz: tzinfo) -> Reread | None:
    """What an older memory is by the rules of today; None when that changes nothing.

    A year is put right where nothing was recalled yet, a line that says it still stands, and what was read names the
    same month and day of another year.
    """
    memory = older.memory
    lasting = memory.lasting or (
        memory.kind in ("knowledge", "event")
        and (lasts(memory.slot) or any(one.lasting for one in statements_in(memory.text)))
    )
    observed = _moment(older, tz)
    if (lasting, observed) == (memory.lasting, memory.observed_at):
        return None
    return Reread(memory.id, lasting, observed)


def _moment(older: Older, tz: tzinfo) -> int:
    """The moment that it is about, in the year that its words mean."""
    memory = older.memory
    said = memory.said_at or memory.created_at
    if memory.access_count or not older.said or said - memory.observed_at <= HALF_YEAR * DAY_MS:
        return memory.observed_at
    held = local_day(memory.observed_at, tz)
    for text, at in ((memory.text, said), *older.said):
        when = when_in(text, at, tz)
        if when is None or when.precision not in ("day", "time"):
            continue
        day = local_day(when.at, tz)
        if (day.month, day.day) == (held.month, held.day) and day.year != held.year:
            return when.at if when.precision == "time" else when.at + DAY_MS // 2
    return memory.observed_at
