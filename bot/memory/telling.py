"""Where the reading of sentences stands until its readers are moved."""

from bot.memory.plain import Statement, feeling, statements_in
from bot.text.clauses import SENTENCE, clauses_of, one_row

TEXT_CHARS = 120
"""Longest statement of a model."""

__all__ = ("SENTENCE", "TEXT_CHARS", "Statement", "clauses_of", "feeling", "one_row", "statements_in")
