"""The tool memory_recall: the model asks, the audience of its turn decides what may be found."""

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.types.prompt import ToolSpec
from bot.types.recall import Finding, FindingKind
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, argument_problem

MOST = 20
"""Most results of one call (seed 长记忆: topK 1..20)."""

Search = Callable[[ToolContext, str, int | None], Awaitable[tuple[Finding, ...]]]
Render = Callable[[ToolContext, tuple[Finding, ...]], Awaitable[str]]


class RecallArguments(BaseModel):
    """What the model may ask."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(max_length=2000)
    top_k: int | None = Field(default=None, ge=1, le=MOST)


def recall_tool(spec: ToolSpec, search: Search, render: Render) -> Tool:
    """The tool over a search that filters by audience, and the words it answers in.

    `search` gets how many the model wants, None when it does not say.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        try:
            asked = RecallArguments.model_validate_json(arguments)
        except ValidationError as error:
            raise ToolRefused("tool_bad_arguments", argument_problem(error)) from error
        if not asked.query.strip():
            raise ToolRefused("recall_empty")
        found = await search(context, asked.query, asked.top_k)
        return ToolAnswer(
            await render(context, found), told=_refs(found, "memory"), lines=_refs(found, "line"),
            digests=_refs(found, "digest"),
        )  # fmt: skip

    return Tool(spec, run, reads=True)


def _refs(found: tuple[Finding, ...], kind: FindingKind) -> tuple[int, ...]:
    return tuple(one.ref for one in found if one.kind == kind)
