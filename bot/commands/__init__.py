"""`.ai` and its twins: one table says what there is, who may, and what it does."""
