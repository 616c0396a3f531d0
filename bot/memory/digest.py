"""Where the rule's digest stands until its readers are moved."""

from bot.memory.fallback import COMMITMENTS, MEMORIES, new_commitment, new_memory, rule_digest

__all__ = ("COMMITMENTS", "MEMORIES", "new_commitment", "new_memory", "rule_digest")
