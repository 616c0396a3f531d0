"""Why a session ends, and how long and how large its log may grow under a provider's cache and prices."""

import math

from bot.core.models import Capabilities
from bot.core.sessions import CloseReason, Session

QUARTER_MS = 900_000
"""Every time zone is whole quarters of an hour from UTC."""

SHORTEST_IDLE_S, LONGEST_IDLE_S = 600, 21_600
"""A pause of ten minutes is the same talk, whatever the cache; after six hours it is another one."""

OPENING_TOKENS = 600
"""W: the opening block (context.opening_tokens)."""

TURN_TOKENS = 300
"""d: what a turn adds to the log: lines of people, the reply, tool results."""

EXTRA_CALLS = 0.25
"""tau: calls per turn beside the first, for tools."""

DIGEST_COST = 800
"""K: what closing costs, in tokens at the price of plain input."""

SMALLEST_RATIO = 0.001
"""Below it reading from the cache is as good as free, and the formula has no optimum."""

SMALLEST_LOG, LARGEST_LOG, STEP = 4_500, 12_000, 500
"""Below 4,500 tokens the opening and the lines taken over (context.carry_tokens) leave no room for a talk."""


def close_reason(session: Session, idle_ms: int) -> CloseReason:
    """idle: nobody spoke for a while; day: the early hour came first (a frozen 昨天 must not lie).

    `idle_ms` may have changed since the deadline was set: what was not cut short by it is told by the full hour.
    These are C11's expire, and its restart when a message comes before the alarm; its reset is /new and .ai clear.
    """
    silence = session.close_at - session.last_at
    return "day" if silence != idle_ms and session.close_at % QUARTER_MS == 0 else "idle"


def best_idle_seconds(can: Capabilities, unknown: int) -> int:
    """Silence that closes a session: as long as the provider keeps its prefix, ten minutes to six hours."""
    if can.cache_life_seconds is None:
        return unknown
    return min(max(can.cache_life_seconds, SHORTEST_IDLE_S), LONGEST_IDLE_S)


def best_log_tokens(can: Capabilities, unknown: int) -> int:
    """The log size of least cost: L* = W + n* d, n* = sqrt(2 ((w - r) W + K) / (r (1 + tau) d)).

    r and w are the prices of cached and of written input, parts of the plain one. The stable prefix counts as warm: all
    chats share it (tests.bench.prompt: with a cold one DeepSeek's log would be 11,000 tokens and cost 11 % more). The
    optimum is flat: rounded to 500, within 4,500 to 12,000 tokens.
    """
    if can.cached_ratio is None or can.cached_ratio < SMALLEST_RATIO:
        return unknown
    cached, written = can.cached_ratio, 1.0 if can.written_ratio is None else can.written_ratio
    opened = max(written - cached, 0.0) * OPENING_TOKENS + DIGEST_COST
    turns = math.sqrt(2 * opened / (cached * (1 + EXTRA_CALLS) * TURN_TOKENS))
    tokens = OPENING_TOKENS + turns * TURN_TOKENS
    return min(max(round(tokens / STEP) * STEP, SMALLEST_LOG), LARGEST_LOG)
