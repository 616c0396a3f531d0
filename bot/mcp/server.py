"""The library `mcp`: our tools as its values, a connection over standard input and output."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bot import __version__
from bot.core.people import AgentReply
from bot.mcp.agents import NAMES, AgentTools

READING_TOOLS = ("boot", "recall", "dialog")


def make_server(agents: AgentTools) -> Server[dict[str, Any]]:
    """The server that answers by these tools; it sees the arguments as JSON text only."""
    texts = agents.texts

    async def offered(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(agents, name) for name in NAMES])

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        client = context.session.client_params
        agent = client.client_info.name if client is not None else ""
        try:
            arguments = json.dumps(params.arguments or {}, ensure_ascii=False)
        except (ValueError, RecursionError):
            arguments = "null"
        return _result(await agents.call(params.name, arguments, agent))

    return Server(
        "nuan", version=__version__, instructions=texts.instructions, on_list_tools=offered, on_call_tool=called
    )


async def serve_client(agents: AgentTools, lines: AsyncGenerator[str, None]) -> None:
    """Answer the client on standard output until it says no more; stray prints go to standard error meanwhile."""
    server = make_server(agents)
    try:
        async with aclosing(lines), stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (heard, said):
            await server.run(heard, said, server.create_initialization_options())
    except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client is gone in the middle of an answer: nobody is left to be told


def _tool(agents: AgentTools, name: str) -> types.Tool:
    spec = agents.texts.specs[name]
    reads = name in READING_TOOLS
    hints = types.ToolAnnotations(read_only_hint=reads, destructive_hint=name == "forget", open_world_hint=False)
    return types.Tool(
        name=name, description=spec.description, input_schema=json.loads(spec.parameters), annotations=hints
    )


def _result(reply: AgentReply) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=reply.text)], is_error=reply.wrong)
