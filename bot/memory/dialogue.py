"""Dialogue memory: which past talks an opening tells, and what becomes of them by hour, day and week. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from bot.core.clock import DAY_MS
from bot.core.sessions import TIERS, Dialogue, DialogueRow, Rollup, RollupPlan, Tier
from bot.memory.screening import harmless, sums_up
from bot.memory.transcript import DigestLine
from bot.text.clean import one_row
from bot.text.dates import period_end
from bot.text.length import estimate_tokens

CAPS = ((3 * DAY_MS, 4), (7 * DAY_MS, 10), (15 * DAY_MS, 18), (30 * DAY_MS, 28))
"""At most so many that are not older than that, ms: 4, 6 more, 8 more, 10 more (C37). One window lies in the next, so
places that the last days leave free go to what is older."""

OLDEST_MS = CAPS[-1][0]

WEEK_RESTS_MS = 7 * DAY_MS
"""So long after its end a week becomes one row: what is told as a week is older than seven days."""

WRITTEN_TOKENS = 90
"""Longest summary that is taken from a model; it is asked for less."""


def select_talks(talks: Iterable[Dialogue], now: int) -> tuple[Dialogue, ...]:
    """As many as the caps allow, one's own first, the newest of each first; exactly as old as a window is in it."""
    free = list(CAPS)
    chosen: list[Dialogue] = []
    for talk in sorted(talks, key=lambda talk: (not talk.own, -talk.ended_at, -talk.id)):
        within = [age >= now - talk.ended_at for age, _ in free]
        if any(within) and all(left for (_, left), inside in zip(free, within, strict=True) if inside):
            free = [(age, left - inside) for (age, left), inside in zip(free, within, strict=True)]
            chosen.append(talk)
    return tuple(chosen)


def plan_rolls(rows: Sequence[DialogueRow], now: int, tz: tzinfo, most_raw: int) -> RollupPlan:
    """What to do with all rows of a chat that are told now; done once, there is nothing left to do till the next end.

    What is over is rolled up as far as it goes, after a long sleep at once into weeks. Of more than `most_raw` talks
    the oldest go into their hour before it is over.
    """
    raw = sorted((row for row in rows if row.tier == "raw"), key=lambda row: (-row.ended_at, -row.id))
    crowded = {row.id for row in raw[most_raw:]}
    groups: defaultdict[tuple[int | None, Tier, int], list[DialogueRow]] = defaultdict(list)
    waits: list[tuple[int, int | None]] = []
    for row in sorted(rows, key=lambda row: (row.ended_at, row.id)):
        tier = _due(row.ended_at, now, tz)
        if tier == "raw" and row.id in crowded:
            tier = "hour"
        if TIERS.index(tier) > TIERS.index(row.tier):
            groups[row.owner_id, tier, period_end(tier, row.ended_at, tz)].append(row)
        else:
            waits.append((row.id, _next(row.tier, row.ended_at, tz)))
    rolls = (
        Rollup(owner, tier, until, tuple(row.id for row in members), _next(tier, members[-1].ended_at, tz))
        for (owner, tier, until), members in groups.items()
    )
    return RollupPlan(tuple(rolls), tuple(waits))


def _over(tier: Tier, at: int, tz: tzinfo) -> int:
    """When talks around `at` go into one row of that tier, ms; a week first rests, so that its days are told apart."""
    return period_end(tier, at, tz) + (WEEK_RESTS_MS if tier == "week" else 0)


def _due(at: int, now: int, tz: tzinfo) -> Tier:
    """The longest stretch around `at` that is over."""
    return next((tier for tier in reversed(TIERS) if _over(tier, at, tz) <= now), "raw")


def _next(tier: Tier, at: int, tz: tzinfo) -> int | None:
    """When what lies around `at` goes on to the next tier; a week stays one."""
    after = TIERS.index(tier) + 1
    return _over(TIERS[after], at, tz) if after < len(TIERS) else None


def rollup_text(answer: str, told: Sequence[str]) -> str:
    """A model's summary of these summaries on one line; "" when it is too long or says what none of them says."""
    text = one_row(answer).strip()
    lines = tuple((DigestLine(0, 0, None, "", each, 0, False), each) for each in told)
    fits = 0 < estimate_tokens(text) <= WRITTEN_TOKENS
    return text if fits and harmless(text) and sums_up(text, lines, "") else ""
