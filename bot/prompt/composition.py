"""Composes a turn's request: light or full, its size in tokens, and which items repeat the call before."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import lru_cache

from bot.config.settings import Settings
from bot.core.models import Message, Prompt, Role, ToolSpec, Usage
from bot.core.sessions import BootstrapMode, Epoch, LightPolicy
from bot.text.length import TokenVocabulary, message_tokens, tools_tokens

WILDEST = 10
"""A prompt of more windows is an error of the server; a smaller excess is a window that is set too small."""

DIFF_LINES, DIFF_CHARS = 24, 200
"""How much of a differing item is shown."""

_LINE_ALONE = re.compile(r"<ctx>(<p>[^<]*</p>)</ctx>")
"""People's own < is escaped."""


@dataclass(frozen=True, slots=True)
class BootstrapChoice:
    """What a turn brings, and why: off, topic, casual, stays, warm, cold or budget."""

    mode: BootstrapMode
    why: str


def choose_bootstrap(
    policy: LightPolicy,
    *,
    casual: bool,
    log: BootstrapMode | None,
    warm: bool,
    full_log: bool = False,
    poor: bool = False,
) -> BootstrapChoice:
    """The bootstrap of the next turn; `log` is that of the log that may go on, `warm`: the full one is cached.

    `full_log` says that it is a full one of which a new log could not take everything over, `poor` that the budget
    runs low: a log that is there goes on, since to begin another costs more, and new ones are light.

    auto is the rule of least cost (PROMPT_ECONOMICS, policy f): full while the full prefix is warm, as it then costs a
    tenth and nothing is written anew; light only when it is cold, the message is small talk and no talk is lost.
    per_message and sticky are the seed's schemes B and C (一般聊天 vs 主題／記憶, L10).
    """
    if poor:
        return BootstrapChoice(log or "light", "budget")
    if policy == "off":
        return BootstrapChoice("full", "off")
    if not casual:
        return BootstrapChoice("full", "topic")
    if policy == "per_message":
        return BootstrapChoice("light", "casual")
    if policy == "sticky":
        return BootstrapChoice("full", "stays") if log == "full" else BootstrapChoice("light", "casual")
    if full_log:
        return BootstrapChoice("full", "stays")
    return BootstrapChoice("full", "warm") if warm else BootstrapChoice("light", "cold")


@lru_cache(maxsize=8)
def prefix_tokens(prefix: Message, tools: tuple[ToolSpec, ...], vocabulary: TokenVocabulary = "o200k") -> int:
    """Estimated tokens of the stable prefix."""
    return message_tokens(prefix, vocabulary) + tools_tokens(tools, vocabulary)


def log_tokens(epoch: Epoch) -> int:
    """Estimated tokens of the log after the stable prefix: what the log budget counts."""
    return sum([entry.tokens for entry in epoch.entries])


def window_room(settings: Settings) -> int:
    """Tokens of the model's window that are left beside its answer and what is kept free."""
    return settings.model.window_tokens - settings.model.max_output_tokens - settings.session.reserve_tokens


def log_budget(settings: Settings) -> int:
    """How large a log may grow before its session closes: as configured, or what the model's window leaves for it."""
    return max(0, min(settings.session.log_tokens, window_room(settings)))


def prompt_sizes(epoch: Epoch | None, prefix: int, added: int, ratio: float, model: str) -> tuple[int, int]:
    """Tokens of the next prompt, and as a bare estimate makes them: `prefix` and `added` are estimates, what `model`
    itself counted before is exact.

    `ratio` is how many tokens the model counts for each estimated one.
    """
    bare = prefix + (log_tokens(epoch) if epoch is not None else 0) + added
    counted = epoch is not None and epoch.counted_by in ("", model)
    if epoch is not None and counted and epoch.prompt_tokens and epoch.prompt_entries <= len(epoch.entries):
        new = sum(entry.tokens for entry in epoch.entries[epoch.prompt_entries :]) + added
        return epoch.prompt_tokens + math.ceil(ratio * new), bare
    return math.ceil(ratio * bare), bare


def credible(usage: Usage, window: int) -> bool:
    """Whether a server's count can be: no prompt has no tokens, or many times its model's window of tokens."""
    return 0 < usage.prompt_tokens <= WILDEST * window


@dataclass(frozen=True, slots=True)
class Composed:
    """The user message to append, its estimated tokens, and its parts for whoever wants to look."""

    message: Message
    tokens: int
    opening: str
    ctx: str
    recalled: str = ""


def compose(opening: str, ctx: str, recalled: str = "", vocabulary: TokenVocabulary = "o200k") -> Composed:
    """Opening block first (only in the first message of a log), then what is new, and what it brings to mind.

    One line of somebody alone with nuan of which there is nothing else to say stands without the <ctx> around it.
    """
    if not opening and not recalled and (line := _LINE_ALONE.fullmatch(ctx)):
        ctx = line[1]
    head = f"{opening}\n\n" if opening else ""
    message = Message("user", head + "\n".join(filter(None, (ctx, recalled))), opening=len(head))
    return Composed(message, message_tokens(message, vocabulary), opening, ctx, recalled)


def whole_prompt(
    prefix: Message, tools: tuple[ToolSpec, ...], epoch: Epoch | None, added: tuple[Message, ...]
) -> Prompt:
    """Prefix, log and what this turn appends, in the order they are sent."""
    log = tuple(entry.message for entry in epoch.entries) if epoch is not None else ()
    return Prompt(tools, (prefix, *log, *added))


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One item of a request: the bytes that are compared, a readable form of them, and estimated tokens."""

    role: Role
    exact: str
    shown: str
    tokens: int


@dataclass(frozen=True, slots=True)
class CacheStep:
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


def prefix_item(message: Message, tools: tuple[ToolSpec, ...], signature: str, tokens: int) -> RequestItem:
    """The stable prefix: one item, named by its signature."""
    shown = [json.dumps(tool.wire(), ensure_ascii=False) for tool in tools]
    return RequestItem("system", f"{signature}\n{message.canonical()}", "\n".join((*shown, message.content)), tokens)


def message_item(message: Message, tokens: int) -> RequestItem:
    """A message as an item; tool calls are shown as name(arguments)."""
    calls = [f"{call.name}({call.arguments})" for call in message.tool_calls]
    return RequestItem(message.role, message.canonical(), " ".join((message.content, *calls)).strip(), tokens)


def log_items(prefix: RequestItem, epoch: Epoch) -> tuple[RequestItem, ...]:
    """A stored log: what its last call was sent, and the reply."""
    return (prefix, *(message_item(entry.message, entry.tokens) for entry in epoch.entries))


def cache_step(before: Sequence[RequestItem], request: Sequence[RequestItem]) -> CacheStep:
    """Item by item and byte by byte, from the front."""
    kept = 0
    while kept < min(len(before), len(request)) and before[kept].exact == request[kept].exact:
        kept += 1
    same, new = request[:kept], request[kept:]
    return CacheStep(kept, sum(item.tokens for item in same), len(new), sum(item.tokens for item in new), len(before))


def last_cache_step(newest: Sequence[RequestItem], older: Sequence[RequestItem]) -> CacheStep | None:
    """The last answered request beside the call before it, which may be the last one of an older log; None without."""
    replies = [place for place, item in enumerate(newest) if item.role == "assistant"]
    if not replies:
        return None
    before = newest[: replies[-2] + 1] if len(replies) > 1 else older
    return cache_step(before, newest[: replies[-1]]) if before else None


def difference(before: Sequence[RequestItem], request: Sequence[RequestItem], at: int) -> tuple[str, ...]:
    """The item at that place before and now, as a short unified diff; () when nothing was there."""
    if at >= min(len(before), len(request)):
        return ()
    old, new = before[at].shown.splitlines(), request[at].shown.splitlines()
    lines = list(unified_diff(old, new, "before", "now", lineterm="", n=1))[:DIFF_LINES]
    return tuple(line[:DIFF_CHARS] for line in lines)
