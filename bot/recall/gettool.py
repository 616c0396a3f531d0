"""The tool memory_get: one thing whole, with where it comes from. What may be seen is decided by its readers."""

import re
from collections.abc import Awaitable, Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments

MOST_LINES = 100
"""Lines of a note that one call reads; the result itself has a bound in tokens."""

LINES = 40
"""Lines that are read when the model does not say."""

One = Callable[[ToolContext, int], Awaitable[ToolAnswer | None]]
"""Tells the thing of that number, None when this audience may not see it or there is none."""
Part = Callable[[ToolContext, str, int, int], Awaitable[ToolAnswer | None]]
"""The same of a note by its path: from that line on, at most so many."""

_ID = re.compile(r"(?P<kind>[#@]?)(?P<number>[0-9]{1,18})")
_CITED = re.compile(r"(?P<path>.+?)#L(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")


class GetArguments(BaseModel):
    """What the model may ask for: a number, or a path with lines."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | int | None = None
    path: str | None = Field(default=None, max_length=300)
    first: int | None = Field(default=None, alias="from", ge=1, le=10**9)
    lines: int | None = Field(default=None, ge=1, le=MOST_LINES)


def get_tool(spec: ToolSpec, memory: One, line: One, note: Part) -> Tool:
    """The tool over a reader of memories (#12), one of lines with their neighbourhood (@345), and one of notes.

    What a recall cites (notes/2026-05-02.md#L3-9) is taken as `id`, too.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(GetArguments, arguments)
        given, path = str(asked.id if asked.id is not None else "").strip(), (asked.path or "").strip()
        if not path and _CITED.fullmatch(given):
            given, path = "", given
        if bool(given) == bool(path):
            raise ToolRefused("tool_bad_arguments", "id | path")
        found = await _noted(context, path, asked) if path else await _numbered(context, given)
        if found is None:
            raise ToolRefused("get_none", (given or path)[:MOST_SHOWN])
        return found

    async def _numbered(context: ToolContext, given: str) -> ToolAnswer | None:
        named = _ID.fullmatch(given)
        if named is None:
            raise ToolRefused("tool_bad_arguments", "id: #12 | @345")
        kind: Literal["#", "@"] = "@" if named["kind"] == "@" else "#"
        return await (line if kind == "@" else memory)(context, int(named["number"]))

    async def _noted(context: ToolContext, path: str, asked: GetArguments) -> ToolAnswer | None:
        cited = _CITED.fullmatch(path)
        if cited is None:
            return await note(context, path, asked.first or 1, asked.lines or LINES)
        first, last = int(cited["first"]), int(cited["last"] or cited["first"])
        count = asked.lines or min(max(last - first + 1, 1), MOST_LINES)
        return await note(context, cited["path"], asked.first or max(first, 1), count)

    return Tool(spec, run, reads=True)


MOST_SHOWN = 60
"""Characters of an unknown number or path that a refusal repeats."""
