"""What lasts? The life of a memory, what replaces what, digests, notes, exports. It stores nothing and calls no model."""
