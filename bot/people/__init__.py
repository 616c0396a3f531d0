"""Who: what people promised, and what became of it."""
