"""What other agents keep, as a column: the name of the one that did."""

AGENTS: tuple[tuple[str, ...], ...] = (("ALTER TABLE memory ADD COLUMN agent TEXT NOT NULL DEFAULT ''",),)
"""After those of personas."""
