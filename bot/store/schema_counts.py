"""What rows that only count become when they are old."""

COUNTS: tuple[tuple[str, ...], ...] = (("ALTER TABLE call ADD COLUMN calls INTEGER NOT NULL DEFAULT 1",),)
"""After those of settings: of how many calls a row is the sum."""
