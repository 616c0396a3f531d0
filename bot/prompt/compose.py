"""One turn's user message from its parts. Pure; decides nothing about what is in them."""

from dataclasses import dataclass

from bot.prompt.tokens import message_tokens
from bot.text.estimate import Vocabulary
from bot.types.prompt import Message, Prompt, ToolSpec
from bot.types.session import Epoch


@dataclass(frozen=True, slots=True)
class Composed:
    """The user message to append, its estimated tokens, and its parts for whoever wants to look."""

    message: Message
    tokens: int
    opening: str
    ctx: str
    recalled: str = ""


def compose(opening: str, ctx: str, recalled: str = "", vocabulary: Vocabulary = "o200k") -> Composed:
    """Opening block first (only in the first message of a log), then what is new, and what it brings to mind."""
    head = f"{opening}\n\n" if opening else ""
    message = Message("user", head + "\n".join(filter(None, (ctx, recalled))), opening=len(head))
    return Composed(message, message_tokens(message, vocabulary), opening, ctx, recalled)


def whole_prompt(
    prefix: Message, tools: tuple[ToolSpec, ...], epoch: Epoch | None, added: tuple[Message, ...]
) -> Prompt:
    """Prefix, log and what this turn appends, in the order they are sent."""
    log = tuple(entry.message for entry in epoch.entries) if epoch is not None else ()
    return Prompt(tools, (prefix, *log, *added))
