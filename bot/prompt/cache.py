"""What a perfect prompt cache could give: which items of a request repeat the call before it. Pure; counts no money."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from bot.types.prompt import Message, Role, ToolSpec
from bot.types.session import Epoch

DIFF_LINES, DIFF_CHARS = 24, 200
"""How much of a differing item is shown."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a request: the bytes that are compared, a readable form of them, and estimated tokens."""

    role: Role
    exact: str
    shown: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Step:
    """A request beside the call before it: leading items that are the same, and all that follow them.

    `before` counts the items of that call, its reply included.
    """

    kept: int
    kept_tokens: int
    added: int
    added_tokens: int
    before: int

    @property
    def whole(self) -> bool:
        """Whether the request goes on exactly where that call ended."""
        return self.kept == self.before

    @property
    def tokens(self) -> int:
        """The whole request."""
        return self.kept_tokens + self.added_tokens

    @property
    def rate(self) -> float:
        """The part of the request that a perfect cache has, 0 to 1."""
        return self.kept_tokens / self.tokens if self.tokens else 0.0


def prefix_item(message: Message, tools: tuple[ToolSpec, ...], signature: str, tokens: int) -> Item:
    """The stable prefix: one item, named by its signature."""
    shown = [json.dumps(tool.wire(), ensure_ascii=False) for tool in tools]
    return Item("system", f"{signature}\n{message.canonical()}", "\n".join((*shown, message.content)), tokens)


def message_item(message: Message, tokens: int) -> Item:
    """A message as an item; tool calls are shown as name(arguments)."""
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return Item(message.role, message.canonical(), " ".join((message.content, *calls)).strip(), tokens)


def log_items(prefix: Item, epoch: Epoch) -> tuple[Item, ...]:
    """A stored log: what its last call was sent, and the reply."""
    return (prefix, *(message_item(entry.message, entry.tokens) for entry in epoch.entries))


def step(before: Sequence[Item], request: Sequence[Item]) -> Step:
    """Item by item and byte by byte, from the front."""
    kept = 0
    while kept < min(len(before), len(request)) and before[kept].exact == request[kept].exact:
        kept += 1
    same, new = request[:kept], request[kept:]
    return Step(
        kept, sum(item.tokens for item in same), len(new), sum(item.tokens for item in new), len(before)
    )  # fmt: skip


def last_step(newest: Sequence[Item], older: Sequence[Item]) -> Step | None:
    """The last answered request beside the call before it, which may be the last one of an older log; None without."""
    replies = [place for place, item in enumerate(newest) if item.role == "assistant"]
    if not replies:
        return None
    before = newest[: replies[-2] + 1] if len(replies) > 1 else older
    return step(before, newest[: replies[-1]]) if before else None


def difference(before: Sequence[Item], request: Sequence[Item], at: int) -> tuple[str, ...]:
    """The item at that place before and now, as a short unified diff; () when nothing was there."""
    if at >= min(len(before), len(request)):
        return ()
    old, new = before[at].shown.splitlines(), request[at].shown.splitlines()
    lines = list(unified_diff(old, new, "before", "now", lineterm="", n=1))[:DIFF_LINES]
    return tuple(line[:DIFF_CHARS] for line in lines)
