"""What becomes of talks as time passes: of an hour, a day and a week one each. It stores nothing."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import tzinfo

from bot.memory.minutes import DigestLine
from bot.memory.screening import harmless, sums_up
from bot.text.clauses import one_row
from bot.text.estimate import estimate_tokens
from bot.text.stretches import end_of
from bot.types.dialogue import TIERS, Roll, RollPlan, Standing, Tier
from bot.types.duration import DAY_MS

WEEK_RESTS_MS = 7 * DAY_MS
"""So long after its end a week becomes one row: what is told as a week is older than seven days."""


WRITTEN_TOKENS = 90
"""Longest summary that is taken from a model; it is asked for less."""


def plan_rolls(rows: Sequence[Standing], now: int, tz: tzinfo, most_raw: int) -> RollPlan:
    """What to do with all rows of a chat that are told now; done once, there is nothing left to do till the next end.

    What is over is rolled up as far as it goes, after a long sleep at once into weeks. Of more than `most_raw` talks
    the oldest go into their hour before it is over.
    """
    raw = sorted((row for row in rows if row.tier == "raw"), key=lambda row: (-row.ended_at, -row.id))
    crowded = {row.id for row in raw[most_raw:]}
    groups: defaultdict[tuple[int | None, Tier, int], list[Standing]] = defaultdict(list)
    waits: list[tuple[int, int | None]] = []
    for row in sorted(rows, key=lambda row: (row.ended_at, row.id)):
        tier = _due(row.ended_at, now, tz)
        if tier == "raw" and row.id in crowded:
            tier = "hour"
        if TIERS.index(tier) > TIERS.index(row.tier):
            groups[row.owner_id, tier, end_of(tier, row.ended_at, tz)].append(row)
        else:
            waits.append((row.id, _next(row.tier, row.ended_at, tz)))
    rolls = (
        Roll(owner, tier, until, tuple(row.id for row in members), _next(tier, members[-1].ended_at, tz))
        for (owner, tier, until), members in groups.items()
    )
    return RollPlan(tuple(rolls), tuple(waits))


def _over(tier: Tier, at: int, tz: tzinfo) -> int:
    """When talks around `at` go into one row of that tier, ms; a week first rests, so that its days are told apart."""
    return end_of(tier, at, tz) + (WEEK_RESTS_MS if tier == "week" else 0)


def _due(at: int, now: int, tz: tzinfo) -> Tier:
    """The longest stretch around `at` that is over."""
    return next((tier for tier in reversed(TIERS) if _over(tier, at, tz) <= now), "raw")


def _next(tier: Tier, at: int, tz: tzinfo) -> int | None:
    """When what lies around `at` goes on to the next tier; a week stays one."""
    after = TIERS.index(tier) + 1
    return _over(TIERS[after], at, tz) if after < len(TIERS) else None


def written(answer: str, told: Sequence[str]) -> str:
    """A model's summary of these summaries on one line; "" when it is too long or says what none of them says."""
    text = one_row(answer).strip()
    lines = tuple((DigestLine(0, 0, None, "", each, 0, False), each) for each in told)
    fits = 0 < estimate_tokens(text) <= WRITTEN_TOKENS
    return text if fits and harmless(text) and sums_up(text, lines, "") else ""
