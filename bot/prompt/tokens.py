"""How large a prompt is: the server's last count plus an estimate of what came after it."""

import math
from functools import lru_cache

from bot.text.estimate import Vocabulary, estimate_tokens
from bot.types.prompt import Message, ToolSpec, Usage
from bot.types.session import Epoch

WILDEST = 10
"""A prompt of more windows is an error of the server; a smaller excess is a window that is set too small."""

PER_MESSAGE = 4
"""Tokens a chat message costs beside its text (role and separators, OpenAI's chat format)."""


def message_tokens(message: Message, vocabulary: Vocabulary = "o200k") -> int:
    """Estimated tokens of one message, its tool calls included."""
    calls = sum(
        estimate_tokens(call.name, vocabulary) + estimate_tokens(call.arguments, vocabulary) + PER_MESSAGE
        for call in message.tool_calls
    )
    return PER_MESSAGE + estimate_tokens(message.content, vocabulary) + calls


def tools_tokens(tools: tuple[ToolSpec, ...], vocabulary: Vocabulary = "o200k") -> int:
    """Estimated tokens of the tool schemas."""
    texts = (text for tool in tools for text in (tool.name, tool.description, tool.parameters))
    return sum(estimate_tokens(text, vocabulary) for text in texts)


@lru_cache(maxsize=8)
def prefix_tokens(prefix: Message, tools: tuple[ToolSpec, ...], vocabulary: Vocabulary = "o200k") -> int:
    """Estimated tokens of the stable prefix."""
    return message_tokens(prefix, vocabulary) + tools_tokens(tools, vocabulary)


def log_tokens(epoch: Epoch) -> int:
    """Estimated tokens of the log after the stable prefix: what the log budget counts."""
    return sum([entry.tokens for entry in epoch.entries])


def log_budget(most: int, window: int, output: int, reserve: int) -> int:
    """How large a log may grow before its session closes: `most`, or what the model's window leaves for it."""
    return max(0, min(most, window - output - reserve))


def prompt_tokens(epoch: Epoch | None, prefix: int, added: int, ratio: float = 1.0, model: str = "") -> int:
    """Tokens of the next prompt: `prefix` and `added` are estimates, what `model` itself counted before is exact.

    `ratio` is how many tokens the model counts for each estimated one.
    """
    counted = epoch is not None and epoch.counted_by in ("", model)
    if epoch is not None and counted and epoch.prompt_tokens and epoch.prompt_entries <= len(epoch.entries):
        new = sum(entry.tokens for entry in epoch.entries[epoch.prompt_entries :]) + added
        return epoch.prompt_tokens + math.ceil(ratio * new)
    return math.ceil(ratio * (prefix + (log_tokens(epoch) if epoch is not None else 0) + added))


def sizes(epoch: Epoch | None, prefix: int, added: int, ratio: float, model: str) -> tuple[int, int]:
    """Tokens of the next prompt as `prompt_tokens` says, and as a bare estimate makes them."""
    bare = prefix + (log_tokens(epoch) if epoch is not None else 0) + added
    return prompt_tokens(epoch, prefix, added, ratio, model), bare


def credible(usage: Usage, window: int) -> bool:
    """Whether a server's count can be: no prompt has no tokens, or many times its model's window of tokens."""
    return 0 < usage.prompt_tokens <= WILDEST * window
