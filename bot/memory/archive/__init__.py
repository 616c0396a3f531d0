"""Memories as text, exported and imported: JSON Lines, Markdown, foreign notes, a person's archive. Pure."""
