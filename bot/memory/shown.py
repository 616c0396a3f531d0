"""A memory as a person reads it. Pure."""

from collections.abc import Callable

from bot.types.memory import Memory


def shown(memory: Memory, text: Callable[..., str]) -> str:
    """Its text on one line; a way to address somebody says so: 小王 alone tells nobody what was kept.

    `text` is (key, **values) in the reader's script.
    """
    said = " ".join(memory.text.split())
    return text(f"mem_slot_{memory.slot}", text=said) if memory.is_name else said
