"""The tool save_experience: a conclusion the model wants to keep, at most one a session (seed 长记忆, M1)."""

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict, Field

from bot.memory.screening import harmless
from bot.text.clean import clean_line
from bot.text.echo import echoes
from bot.types.memory import NewMemory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments


class ExperienceArguments(BaseModel):
    """What the model may save."""

    model_config = ConfigDict(extra="forbid", strict=True)

    summary: str = Field(max_length=500)


def experience_tool(
    spec: ToolSpec, saved: Callable[[ToolContext], Awaitable[int]], forgotten: Callable[[str], bool],
    done: Callable[[ToolContext], Awaitable[str]],
    shown: Callable[[ToolContext], Awaitable[tuple[str, ...]]],
) -> Tool:  # fmt: skip
    """The tool; `saved` counts what this session saved before, `forgotten` knows what must not come back.

    What repeats a line that was recalled in this session, `shown`, is no conclusion and kept already: a memory that
    tells the model to save something gets nothing saved (FAULTS X8). `done` is the answer,
    with {id} for the number of what was stored.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(ExperienceArguments, arguments)
        text = clean_line(asked.summary)
        if not text:
            raise ToolRefused("experience_empty")
        if not harmless(text):
            raise ToolRefused("experience_unfit")
        if await saved(context):
            raise ToolRefused("experience_once")
        if forgotten(text):
            raise ToolRefused("experience_forgotten")
        if any(echoes(text, line) for line in await shown(context)):
            raise ToolRefused("experience_kept")
        alone = context.audience.kind == "dm"
        memory = NewMemory(
            owner_id=context.person_id if alone else None, chat_id=context.audience.chat_id,
            visibility="private" if alone else "chat", kind="experience", text=text, observed_at=context.now,
            source="tool", event_ids=context.event_ids,
        )  # fmt: skip
        return ToolAnswer(await done(context), memory)

    return Tool(spec, run)
