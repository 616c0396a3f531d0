"""When a model that has reached its rate limit is spared: others answer, and one call in a while asks again. Pure."""

from dataclasses import dataclass, replace

from bot.types.duration import HOUR_MS

SPARED_MS = 30_000
"""While it is spared one call goes to it in so long (FAULTS L2: 1 in 30 s)."""

LONGEST_MS = HOUR_MS
"""A server may ask for a day of rest; that it is well again is found out after an hour."""


@dataclass(frozen=True, slots=True)
class Sparing:
    """What is known of one model's rate limit, all in ms.

    It was reached at `since` (-1: never), the server wants no call before `asks_from`, others come first till `until`.
    """

    since: int = -1
    asks_from: int = 0
    until: int = 0

    def limited(self, now: int, wait_s: float | None) -> "Sparing":
        """The limit was reached; the server wants that wait, in seconds, or named none."""
        wait = min(round((wait_s or 0) * 1000), LONGEST_MS)
        return Sparing(now, max(now + wait, self.asks_from), max(now + max(wait, SPARED_MS), self.until))

    def begun(self, now: int) -> "Sparing":
        """A call goes out: until it is answered no other one follows for a while."""
        return self if self.since < 0 else replace(self, until=max(now + SPARED_MS, self.until))

    def worked(self, begun_at: int) -> "Sparing":
        """A call was answered; one that went out before the limit was reached says nothing about it."""
        return Sparing() if begun_at > self.since else self
