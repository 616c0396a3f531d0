"""The tables, as a numbered list of migrations. It creates; it never repairs or guesses."""

from bot.store.firsttables import FIRST
from bot.store.schema_agents import AGENTS
from bot.store.schema_counts import COUNTS
from bot.store.schema_dialogue import DIALOGUE
from bot.store.schema_memory import MEMORY
from bot.store.schema_nudges import NUDGES
from bot.store.schema_opening import OPENING
from bot.store.schema_outbox import OUTBOX
from bot.store.schema_people import PEOPLE
from bot.store.schema_persona import PERSONA
from bot.store.schema_queue import QUEUE
from bot.store.schema_reminders import REMINDERS
from bot.store.schema_sections import SECTIONS
from bot.store.schema_settings import SETTINGS
from bot.store.schema_talk import TALK
from bot.store.schema_truth import TRUTH

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    *FIRST, *TALK, *MEMORY, *PEOPLE, *PERSONA, *AGENTS, *DIALOGUE, *OPENING, *REMINDERS,
    *SECTIONS, *NUDGES, *SETTINGS, *QUEUE, *COUNTS, *OUTBOX, *TRUTH,
)  # fmt: skip
"""Migration n brings a database from user_version n to n + 1; each runs in one transaction."""

SCHEMA_VERSION = len(MIGRATIONS)
