"""The models that may answer, who of them is asked next, who rests, and who makes vectors. It asks nobody itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.errors import ModelError, ModelFault
from bot.model.breaker import Breaker
from bot.model.sparing import Sparing
from bot.ports import Embedder, Model
from bot.types.money import Rate

FIRST_WAIT_MS, LONGEST_WAIT_MS = 500, 5_000
"""Before the same model is asked again: .5 s, doubled; a server that wants a longer wait is not waited for."""

OTHERS_SHARE = 1 / 3
"""Part of a call's time that is kept for the next model."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One model, what its tokens cost at an instant, and from how many tokens on a prompt is cached."""

    model: Model
    rate: Rate
    least_cached: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingMember:
    """Who makes vectors, and what its tokens cost at an instant."""

    embedder: Embedder
    rate: Rate


@dataclass(frozen=True, slots=True)
class Failure:
    """How one model failed within one call: the last error and when, ms, how often, and whether it was asked at all."""

    error: ModelError
    at: int
    times: int
    asked: bool = True


@dataclass(frozen=True, slots=True)
class Next:
    """Who is asked next, and after how long, ms."""

    member: Member
    wait_ms: int


class Crew:
    """The first model, those that answer in its place, and the small one for a budget that runs low."""

    def __init__(
        self, first: Member, fallbacks: tuple[Member, ...] = (), small: Member | None = None, tries: int = 3,
        embedding: EmbeddingMember | None = None,
    ) -> None:  # fmt: skip
        self.first = first
        self.embedding = embedding
        self._fallbacks = fallbacks
        self._small = small
        self._tries = tries
        self._breakers: dict[Member, Breaker] = {}
        self._sparings: dict[Member, Sparing] = {}

    @property
    def has_small(self) -> bool:
        """Whether there is a smaller model."""
        return self._small is not None

    @property
    def members(self) -> tuple[Member, ...]:
        """Every model, the first one first."""
        return (self.first, *self._fallbacks, *((self._small,) if self._small is not None else ()))

    @property
    def ailing(self) -> ModelFault | None:
        """What every model that answers people failed for when it was asked last; None while one of them answers."""
        answering = [self._breaker(member) for member in self._order(False)]
        return answering[0].fault if all(breaker.failures for breaker in answering) else None

    def provider(self, name: str) -> str:
        """Whose the model of that name is, "" when nobody here has it."""
        return next((member.model.dialect for member in self.members if member.model.name == name), "")

    def pick(self, now: int, *, small: bool = False) -> Member:
        """Whom to ask first, of those that are spared only if nobody else can; `begin` refuses when all rest."""
        order = self._order(small)
        return min(
            (member for member in order if self._may(member, now)),
            key=lambda member: self._spared(member, now), default=order[0],
        )  # fmt: skip

    def begin(self, member: Member, now: int) -> bool:
        """A call to this model goes out, as a probe (True) or not; ModelError while it rests, with what ailed it."""
        breaker = self._breaker(member)
        if not breaker.allows(now):
            rest = max(breaker.rests_until - now, 0) / 1000
            detail = f"{member.model.name} is left alone for {rest:.0f} s after {breaker.failures} failures"
            fault = breaker.fault if breaker.fault in ("unreachable", "refused") else "busy"
            raise ModelError(fault, detail, limited=True)
        sparing = self._sparing(member)
        if now < sparing.asks_from:
            rest_s = (sparing.asks_from - now) / 1000
            raise ModelError(
                "busy", f"{member.model.name} wants no call for {rest_s:.0f} s", limited=True, wait_s=rest_s
            )
        self._breakers[member] = breaker.begun()
        self._sparings[member] = sparing.begun(now)
        return not breaker.closed

    def worked(self, member: Member, begun_at: int) -> None:
        """The request that was begun at that time was answered."""
        self._breakers[member] = self._breaker(member).worked()
        self._sparings[member] = self._sparing(member).worked(begun_at)

    def failed(self, member: Member, now: int, error: ModelError | None, *, probe: bool, again: bool) -> None:
        """The request failed, or (None: cancelled) ended without telling anything.

        What fails `again` in the same call tells no more of the server, but for how long it wants to be left alone.
        """
        breaker = self._breaker(member)
        ended = breaker.ended(probe=probe) if error is None or again else breaker.failed(error, now, probe=probe)
        self._breakers[member] = ended
        if error is not None and error.limited:
            self._sparings[member] = self._sparing(member).limited(now, error.wait_s)

    def after(self, member: Member, failures: Mapping[Member, Failure], tried: int, now: int) -> Next | None:
        """Whom to ask when `member`, of all who failed in this call, failed last; None when that was the last word."""
        error = failures[member].error
        # A log too long for the first model closes its session; another one's window may only be smaller.
        if error.final or tried >= self._tries or (error.fault == "overflow" and member is self.first):
            return None
        ready = [other for other in self._order(False) if other is not member and self._breaker(other).allows(now)]
        fresh = min(
            (other for other in ready if other not in failures and self._may(other, now)),
            key=lambda other: self._spared(other, now), default=None,
        )  # fmt: skip
        if fresh is not None:
            return Next(fresh, 0)
        again = [*ready, member] if self._breaker(member).allows(now) else ready
        waits = [Next(one, wait) for one in again if (wait := _wait(failures[one], now)) is not None]
        following = min(waits, key=lambda one: one.wait_ms, default=None)
        return following if following is not None and following.wait_ms <= LONGEST_WAIT_MS else None

    def followed(self, member: Member, failures: Mapping[Member, Failure], tried: int, now: int) -> bool:
        """Whether another model could come after that one in this call."""
        others = [other for other in self._order(False) if other is not member and self._may(other, now)]
        may = any(other not in failures or _wait(failures[other], now) is not None for other in others)
        return may and tried < self._tries

    async def close(self) -> None:
        """Close every model's connections."""
        for member in self.members:
            await member.model.close()
        if self.embedding is not None:
            await self.embedding.embedder.close()

    def _order(self, small: bool) -> tuple[Member, ...]:
        if small and self._small is not None:
            return (self._small, self.first, *self._fallbacks)
        return (self.first, *self._fallbacks)

    def _may(self, member: Member, now: int) -> bool:
        """Whether it may be asked now."""
        return self._breaker(member).allows(now) and now >= self._sparing(member).asks_from

    def _spared(self, member: Member, now: int) -> bool:
        """Whether others are asked before it."""
        return now < self._sparing(member).until

    def _sparing(self, member: Member) -> Sparing:
        return self._sparings.get(member, Sparing())

    def _breaker(self, member: Member) -> Breaker:
        return self._breakers.get(member, Breaker())


def _wait(failure: Failure, now: int) -> int | None:
    """How long, ms, before the same model is asked again; None when it would take as long or say the same."""
    error = failure.error
    if error.fault in ("refused", "overflow") or (error.billed and error.fault != "cut"):
        return None
    wait = FIRST_WAIT_MS << max(failure.times - 1, 0)
    wait = wait if error.wait_s is None else max(wait, round(error.wait_s * 1000))
    return max(failure.at + wait - now, 0)
