"""Where it lies: one SQLite file. Writes are verbs on one thread, reads go beside them; nothing is decided here."""
