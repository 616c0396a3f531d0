"""Which persona a chat talks with, as a column."""

PERSONA: tuple[tuple[str, ...], ...] = (("ALTER TABLE chat ADD COLUMN persona TEXT NOT NULL DEFAULT ''",),)
"""After those of people."""
