"""How long and how large a log may grow under a provider's cache and prices (PROMPT_ECONOMICS, section 5). Pure."""

import math

from bot.types.capabilities import Capabilities

SHORTEST_IDLE_S, LONGEST_IDLE_S = 1_800, 21_600
"""A pause within half an hour is the same talk, whatever the cache; after six hours it is another one."""

PREFIX_TOKENS = 3_000
"""S: the stable prefix of a persona of ordinary size."""

OPENING_TOKENS = 600
"""W: the opening block (context.opening_tokens)."""

TURN_TOKENS = 300
"""d: what a turn adds to the log: lines of people, the reply, tool results."""

EXTRA_CALLS = 0.25
"""tau: calls per turn beside the first, for tools."""

DIGEST_COST = 800
"""K: what closing costs, in tokens at the price of plain input."""

SMALLEST_LOG, LARGEST_LOG, STEP = 3_000, 12_000, 500


def idle_seconds(can: Capabilities, unknown: int) -> int:
    """Silence that closes a session: as long as the provider keeps its prefix, half an hour to six hours."""
    if can.cache_life_seconds is None:
        return unknown
    return min(max(can.cache_life_seconds, SHORTEST_IDLE_S), LONGEST_IDLE_S)


def log_tokens(can: Capabilities, unknown: int) -> int:
    """The log size of least cost: L* = W + n* d, n* = sqrt(2 ((w - r)(S + W) + K) / (r (1 + tau) d)).

    r and w are the prices of cached and of written input, parts of the plain one; the prefix counts as cold, since the
    first session of a day pays for it. The optimum is flat: rounded to 500, within 3,000 to 12,000 tokens.
    """
    if can.cached_ratio is None or can.cached_ratio <= 0:
        return unknown
    cached, written = can.cached_ratio, 1.0 if can.written_ratio is None else can.written_ratio
    opened = max(written - cached, 0.0) * (PREFIX_TOKENS + OPENING_TOKENS) + DIGEST_COST
    turns = math.sqrt(2 * opened / (cached * (1 + EXTRA_CALLS) * TURN_TOKENS))
    tokens = OPENING_TOKENS + turns * TURN_TOKENS
    return min(max(round(tokens / STEP) * STEP, SMALLEST_LOG), LARGEST_LOG)
