"""The tables, as a numbered list of migrations. It creates; it never repairs or guesses."""

from bot.store.firsttables import FIRST
from bot.store.schema_later import LATER, MOVES, REQUESTS, REWRITES
from bot.store.schema_memory import MEMORY
from bot.store.schema_talk import TALK
from bot.store.schema_truth import OWN_GROUPS, TRUTH

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    *FIRST,
    *TALK,
    *MEMORY,
    *LATER,
    *TRUTH,
    *REWRITES,
    *REQUESTS,
    *OWN_GROUPS,
    *MOVES,
)
"""Migration n brings a database from user_version n to n + 1; each runs in one transaction."""

SCHEMA_VERSION = len(MIGRATIONS)
