"""Where the time of a turn goes: how long each phase took, ms, kept for the newest turns. It is in memory alone."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeVar, get_args

from bot.core.ports import Clock

Phase = Literal["ingest", "wake", "plan", "recall", "compose", "commit", "client", "model", "say"]
"""Storing the message; until its turn has come; reading; recalling; composing; the commit of the request; until that
goes out; until the answer is whole, tools included; the commit of the reply."""

T = TypeVar("T")

PHASES: tuple[Phase, ...] = get_args(Phase)

REMEMBERED = 256
"""Messages and turns whose times are remembered; the oldest are forgotten first."""


class PhaseTimer:
    """The time of one turn, phase by phase: each phase lasts from the end of the one before it."""

    def __init__(self, clock: Clock, begun: int, taken: Mapping[Phase, int] | None = None) -> None:
        self._clock = clock
        self._last = begun
        self._taken: dict[Phase, int] = dict(taken or {})

    @property
    def taken(self) -> Mapping[str, int]:
        """How long each phase took so far, ms; what did not come to pass took nothing."""
        return MappingProxyType({phase: self._taken.get(phase, 0) for phase in PHASES})

    def end(self, phase: Phase) -> None:
        """That phase is over, once more where it came before."""
        now = self._clock.now()
        self._taken[phase] = self._taken.get(phase, 0) + now - self._last
        self._last = now

    def sent(self) -> None:
        """A request goes out; of later ones, after tools or failures, the time belongs to the model."""
        self.end("model" if "client" in self._taken else "client")


class TurnTimings:
    """The times of the newest messages and turns."""

    def __init__(self) -> None:
        self._stored: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._turns: OrderedDict[int, Mapping[str, int]] = OrderedDict()

    def stored(self, event_id: int, came: int, now: int) -> None:
        """A message that `came` at that time, ms, is stored now."""
        _keep(self._stored, event_id, (came, now))

    def begin(self, clock: Clock, events: Iterable[int]) -> PhaseTimer:
        """The work on these messages begins: of the newest it is known how long it took until now."""
        now = clock.now()
        came, stored = self._stored.get(max(events, default=0), (now, now))
        return PhaseTimer(clock, now, {"ingest": stored - came, "wake": now - stored})

    def keep(self, turn_id: int, timer: PhaseTimer) -> None:
        """That turn is over."""
        _keep(self._turns, turn_id, timer.taken)

    def of(self, turn_id: int) -> Mapping[str, int] | None:
        """How long each phase of a turn took; None when that is not known any more."""
        return self._turns.get(turn_id)


def _keep(kept: OrderedDict[int, T], key: int, value: T) -> None:
    kept[key] = value
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)
