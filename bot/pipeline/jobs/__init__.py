"""Work in the background: closing sessions, notes, vectors, upkeep."""
