"""The tool stop_listen: the model ends its part in a group's talk."""

import json

from pydantic import Field

from bot.core.models import Message, ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.text.clean import clean

TOOL_NAME = "stop_listen"

LINE_CHARS = 500
"""Characters of a last line."""


class ListenArguments(ToolArguments, tool="stop_listen"):
    """What the model may say last."""

    line: str = Field(default="", max_length=LINE_CHARS)


def listen_tool(spec: ToolSpec, done: str) -> Tool:
    """The tool; `done` is its answer, which no model reads before the next turn.

    All chats share one set of tools, so that it is there in a DM, too, and says that it does nothing there.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        read_arguments(ListenArguments, arguments or "{}")
        if context.audience.kind == "dm":
            raise ToolRefused("listen_dm")
        return ToolAnswer(done, quiet=True)

    return Tool(spec, run)


def last_line(messages: list[Message]) -> str:
    """The line that the newest call of the tool says, "" for none."""
    for message in reversed(messages):
        for call in message.tool_calls:
            line = json.loads(call.arguments).get("line") if call.name == TOOL_NAME else None
            if isinstance(line, str):
                return " ".join(clean(line).split())
    return ""


def called_stop_listen(messages: list[Message]) -> bool:
    """Whether a turn that logged these messages called the tool."""
    return any(call.name == TOOL_NAME for message in messages for call in message.tool_calls)
