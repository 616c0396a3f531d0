"""When a model is left alone: after failures in a row it rests, then one probe decides. Pure."""

from dataclasses import dataclass, replace

from bot.errors import ModelError, ModelFault

FAILURES = 3
"""Failures in a row after which a model rests."""

FIRST_REST_MS, LONGEST_REST_MS = 15_000, 300_000
"""How long it rests: 15 s, doubled with every probe that fails, at most five minutes."""

MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class Breaker:
    """What is known of one model: failures in a row, until when it rests (ms), whether a probe is on its way."""

    failures: int = 0
    rests_until: int = 0
    probing: bool = False
    fault: ModelFault = "busy"

    @property
    def closed(self) -> bool:
        """Whether calls go through as always."""
        return self.failures < FAILURES

    def allows(self, now: int) -> bool:
        """Whether a call may be made now; of a model that rested, one alone."""
        return self.closed or (now >= self.rests_until and not self.probing)

    def begun(self) -> "Breaker":
        """A call goes out."""
        return self if self.closed else replace(self, probing=True)

    def worked(self) -> "Breaker":
        """It was answered."""
        return Breaker()

    def ended(self, *, probe: bool) -> "Breaker":
        """It ended without a word about the server: cancelled, rate limit, a question that no model takes."""
        return replace(self, probing=False) if probe else self

    def failed(self, error: ModelError, now: int, *, probe: bool) -> "Breaker":
        """It failed. Rate limits and questions that no model takes say nothing about the server.

        Nor do calls that went out before it rested and were no `probe`: they fail for the same reason.
        """
        if error.limited or error.final or error.fault == "overflow" or not (self.closed or probe):
            return self.ended(probe=probe)
        failures = self.failures + 1
        rest = min(FIRST_REST_MS * 2 ** min(max(failures - FAILURES, 0), MOST_DOUBLINGS), LONGEST_REST_MS)
        return Breaker(failures, now + rest, False, error.fault)
