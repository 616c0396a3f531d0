"""Limits of the fake Telegram server and the misbehaviour that a test orders. It knows no messages."""

import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.telegram_shapes import Refused

Misbehaviour = Literal[
    "stall",  # does it, then never answers: the client times out
    "drop_before",  # breaks the connection, nothing done
    "drop_after",  # does it, then breaks the connection
    "html502",  # nothing done, a proxy's error page
    "error",  # nothing done, answers `code` and `description`
    "flood",  # nothing done, 429 with `retry_after`
    "unauthorized",  # 401, also for every later call of any method
    "garbage",  # does it, then answers half a JSON text
    "silent",  # nothing done, never answers
    "gate",  # waits for `server.faults.open_gate()`, then does it and answers
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One misbehaviour; `retry_after` in s, for the chat or `everywhere`; `code`, `description` for kind error."""

    kind: Misbehaviour
    retry_after: int = 1
    everywhere: bool = False
    code: int = 500
    description: str = "Internal Server Error"


@dataclass(slots=True)
class _Ordered:
    method: str
    fault: Fault
    times: int
    after: int


class Faults:
    """What goes wrong next: first ordered, first met."""

    def __init__(self) -> None:
        self.met: list[tuple[str, Fault]] = []
        self.unauthorized = False
        self._ordered: list[_Ordered] = []
        self._opened: list[Callable[[], None]] = []

    def add(self, method: str, fault: Fault, *, times: int = 1, after: int = 0) -> None:
        """The next `times` calls of `method` (* for any) go wrong, after letting `after` calls pass well."""
        self._ordered.append(_Ordered(method, fault, times, after))

    def clear(self) -> None:
        """Nothing goes wrong any more; the token works again."""
        self._ordered.clear()
        self.unauthorized = False

    def take(self, method: str) -> Fault | None:
        """The misbehaviour for this call, counted."""
        for order in self._ordered:
            if order.method not in ("*", method):
                continue
            if order.after > 0:
                order.after -= 1
                continue
            order.times -= 1
            if order.times <= 0:
                self._ordered.remove(order)
            self.met.append((method, order.fault))
            self.unauthorized |= order.fault.kind == "unauthorized"
            return order.fault
        return None

    def on_open(self, call: Callable[[], None]) -> None:
        """Have `call` called at the next `open_gate`."""
        self._opened.append(call)

    def open_gate(self) -> None:
        """Let every call that waits at a gate go on."""
        waiting, self._opened = self._opened, []
        for call in waiting:
            call()


@dataclass(frozen=True, slots=True)
class Limits:
    """Sends that are tolerated: per second overall, per `minute` seconds and group, per second and private chat.

    30, 20 and 1 are from https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this; `burst` is
    how many a private chat takes at once, our guess of "short bursts".
    """

    overall: int = 30
    group: int = 20
    private: float = 1.0
    burst: int = 5
    minute: float = 60.0


UNLIMITED = Limits(overall=10**9, group=10**9, private=10.0**9, burst=10**9)


@dataclass(frozen=True, slots=True)
class Violation:
    """A call inside an announced wait, at `at` instead of from `until` on (loop time); chat None is every chat."""

    method: str
    chat: int | None
    at: float
    until: float


SLACK = 0.005
"""Seconds: two clocks that read the same time may round differently."""


@dataclass(slots=True)
class Floods:
    """Counts sends and announces waits; a call inside a wait is a violation and is refused again."""

    limits: Limits = field(default_factory=Limits)
    violations: list[Violation] = field(default_factory=list)
    _all: deque[float] = field(default_factory=deque)
    _groups: defaultdict[int, deque[float]] = field(default_factory=lambda: defaultdict(deque))
    _tokens: dict[int, tuple[float, float]] = field(default_factory=dict)
    _waits: dict[int | None, float] = field(default_factory=dict)

    def announce(self, chat: int | None, seconds: float, now: float) -> Refused:
        """The 429 after which nothing may be sent to this chat (None: to any) for `seconds`, rounded up."""
        wait = max(1, math.ceil(seconds))
        self._waits[chat] = max(self._waits.get(chat, 0.0), now + wait)
        return Refused(429, f"Too Many Requests: retry after {wait}", retry_after=wait)

    def check(self, method: str, chat: int, now: float) -> None:
        """429 for any call with a chat inside an announced wait."""
        for scope in (chat, None):
            until = self._waits.get(scope, 0.0)
            if now < until - SLACK:
                self.violations.append(Violation(method, scope, now, until))
                wait = math.ceil(until - now)
                raise Refused(429, f"Too Many Requests: retry after {wait}", retry_after=wait)

    def count_edit(self, now: float) -> None:
        """Count one edit, which uses up only the limit for all chats together."""
        self._window(self._all, 1.0, self.limits.overall, None, now)
        self._all.append(now)

    def count_send(self, chat: int, group: bool, now: float) -> None:
        """Count one send; 429 when it is one too many, which then does not count."""
        self._window(self._all, 1.0, self.limits.overall, None, now)
        if group:
            self._window(self._groups[chat], self.limits.minute, self.limits.group, chat, now)
            self._groups[chat].append(now)
        else:
            left, at = self._tokens.get(chat, (float(self.limits.burst), now))
            left = min(float(self.limits.burst), left + (now - at) * self.limits.private)
            if left < 1.0 - SLACK:
                raise self.announce(chat, (1.0 - left) / self.limits.private, now)
            self._tokens[chat] = (left - 1.0, now)
        self._all.append(now)

    def _window(self, times: deque[float], length: float, most: int, chat: int | None, now: float) -> None:
        while times and times[0] <= now - length + SLACK:
            times.popleft()
        if len(times) >= most:
            raise self.announce(chat, times[0] + length - now, now)
