"""The models that may answer, who of them is asked next, and who rests. It asks nobody itself."""

from dataclasses import dataclass

from bot.errors import ModelError
from bot.model.breaker import Breaker
from bot.ports import Model
from bot.types.money import Rate

FIRST_WAIT_MS, LONGEST_WAIT_MS = 500, 5_000
"""Before the same model is asked again: .5 s, doubled; a server that wants a longer wait is not waited for."""

OTHERS_SHARE = 1 / 3
"""Part of a call's time that is kept for the next model."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One model, and what its tokens cost at an instant."""

    model: Model
    rate: Rate


@dataclass(frozen=True, slots=True)
class Next:
    """Who is asked next, and after how long, ms."""

    member: Member
    wait_ms: int


class Crew:
    """The first model, those that answer in its place, and the small one for a budget that runs low."""

    def __init__(
        self, first: Member, fallbacks: tuple[Member, ...] = (), small: Member | None = None, tries: int = 3
    ) -> None:  # fmt: skip
        self.first = first
        self._fallbacks = fallbacks
        self._small = small
        self._tries = tries
        self._breakers: dict[Member, Breaker] = {}

    @property
    def has_small(self) -> bool:
        """Whether there is a smaller model."""
        return self._small is not None

    @property
    def members(self) -> tuple[Member, ...]:
        """Every model, the first one first."""
        return (self.first, *self._fallbacks, *((self._small,) if self._small is not None else ()))

    def pick(self, now: int, *, small: bool = False) -> Member:
        """Whom to ask first; when all rest, the one that `begin` will refuse."""
        order = self._order(small)
        return next((member for member in order if self._breaker(member).allows(now)), order[0])

    def begin(self, member: Member, now: int) -> None:
        """A call to this model goes out; ModelError while it rests, with what ailed it last."""
        breaker = self._breaker(member)
        if not breaker.allows(now):
            rest = max(breaker.rests_until - now, 0) / 1000
            detail = f"{member.model.name} is left alone for {rest:.0f} s after {breaker.failures} failures"
            fault = breaker.fault if breaker.fault in ("unreachable", "refused") else "busy"
            raise ModelError(fault, detail, limited=True)
        self._breakers[member] = breaker.begun()

    def end(self, member: Member, now: int, error: ModelError | None = None, *, worked: bool = False) -> None:
        """The request ended: it worked, it failed, or (cancelled, failed again in the same call) neither."""
        breaker = self._breaker(member)
        if worked:
            self._breakers[member] = breaker.worked()
        else:
            self._breakers[member] = breaker.failed(error, now) if error is not None else breaker.ended()

    def after(self, member: Member, error: ModelError, tried: int, now: int) -> Next | None:
        """Whom to ask after `tried` requests of one call; None when that was the last word."""
        if error.final or tried >= self._tries:
            return None
        others = [other for other in self._order(False) if other is not member and self._breaker(other).allows(now)]
        if others:
            return Next(others[0] if tried == 1 else others[-1], 0)
        if error.billed and error.fault != "cut":
            return None  # the same model would take as long, or say the same
        if error.fault == "refused" or not self._breaker(member).allows(now):
            return None
        wait = FIRST_WAIT_MS * 2 ** (tried - 1)
        wait = wait if error.wait_s is None else max(wait, round(error.wait_s * 1000))
        return Next(member, wait) if wait <= LONGEST_WAIT_MS else None

    def share(self, left_s: float, tried: int, now: int) -> float:
        """How many of the seconds left one request may take: all of them, unless another model could come after it."""
        ready = sum(self._breaker(member).allows(now) for member in self._order(False))
        return left_s * (1 - OTHERS_SHARE) if ready > 1 and tried < self._tries else left_s

    async def close(self) -> None:
        """Close every model's connections."""
        for member in self.members:
            await member.model.close()

    def _order(self, small: bool) -> tuple[Member, ...]:
        if small and self._small is not None:
            return (self._small, self.first, *self._fallbacks)
        return (self.first, *self._fallbacks)

    def _breaker(self, member: Member) -> Breaker:
        return self._breakers.get(member, Breaker())
