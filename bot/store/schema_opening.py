"""What finding the memories of an opening needs, as tables."""

LAYER = "(CASE WHEN slot <> '' THEN 'slot' WHEN asked OR protected THEN 'kept' ELSE kind END)"
"""Which layer of a warm boot a memory belongs to; the queries say it in the same words, or no index serves them."""

OPENING: tuple[tuple[str, ...], ...] = (
    (
        f"CREATE INDEX memory_layer ON memory (owner_id, visibility, {LAYER}, observed_at) WHERE disabled_at IS NULL",
        f"CREATE INDEX memory_here ON memory (chat_id, {LAYER}, observed_at) "
        "WHERE disabled_at IS NULL AND visibility = 'chat'",
    ),
)
"""After those of people."""
