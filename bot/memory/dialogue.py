"""Which of many past talks an opening tells. Pure: what may be told at all was decided in the query."""

from collections.abc import Iterable

from bot.types.dialogue import Dialogue
from bot.types.duration import DAY_MS

CAPS = ((3 * DAY_MS, 4), (7 * DAY_MS, 10), (15 * DAY_MS, 18), (30 * DAY_MS, 28))
"""At most so many that are not older than that, ms: 4, 6 more, 8 more, 10 more (C37). One window lies in the next, so
places that the last days leave free go to what is older."""

OLDEST_MS = CAPS[-1][0]


def select(talks: Iterable[Dialogue], now: int) -> tuple[Dialogue, ...]:
    """As many as the caps allow, one's own first, the newest of each first; exactly as old as a window is in it."""
    free = list(CAPS)
    chosen: list[Dialogue] = []
    for talk in sorted(talks, key=lambda talk: (not talk.own, -talk.ended_at, -talk.id)):
        within = [age >= now - talk.ended_at for age, _ in free]
        if any(within) and all(left for (_, left), inside in zip(free, within, strict=True) if inside):
            free = [(age, left - inside) for (age, left), inside in zip(free, within, strict=True)]
            chosen.append(talk)
    return tuple(chosen)
