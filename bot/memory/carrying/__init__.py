"""Memories on their way out of a house and into one, as text. Pure: it knows no file and no database."""
