"""Where the words of links and of doubt stand until their readers are moved."""

from bot.memory.forging import INSTRUCTION, LINK
from bot.memory.plain import UNSURE

__all__ = ("INSTRUCTION", "LINK", "UNSURE")
