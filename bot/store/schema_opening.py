"""What finding the memories of an opening needs, as tables."""

LAYER = "(CASE WHEN slot <> '' THEN 'slot' WHEN asked OR protected THEN 'kept' ELSE kind END)"
"""Which layer of a warm boot a memory belongs to; the queries say it in the same words, or no index serves them."""

LIFE = "accessed_at, stability_days, faded, kind, slot, asked, protected, disabled_at"

OPENING: tuple[tuple[str, ...], ...] = (
    (
        f"CREATE INDEX memory_layer ON memory (owner_id, visibility, {LAYER}, observed_at) WHERE disabled_at IS NULL",
        f"CREATE INDEX memory_here ON memory (chat_id, {LAYER}, observed_at) "
        "WHERE disabled_at IS NULL AND visibility = 'chat'",
        # All that tells how alive a fact is stands in the index: no row of the others is read.
        f"CREATE INDEX memory_living ON memory (owner_id, visibility, {LIFE}) "
        "WHERE disabled_at IS NULL AND kind IN ('knowledge', 'experience')",
        f"CREATE INDEX memory_living_here ON memory (chat_id, visibility, {LIFE}) "
        "WHERE disabled_at IS NULL AND visibility = 'chat' AND kind IN ('knowledge', 'experience')",
    ),
)
"""After those of dialogue memory."""
