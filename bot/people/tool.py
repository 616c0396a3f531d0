"""The tool add_commitment: what the person promises in this turn's own words, or says became of a promise of theirs.

The model only points: what is kept stands in those words, and a number, or words in its place, must be that of one of
that person's open promises.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.text.alike import meant
from bot.text.clean import as_data, clean_line
from bot.text.clip import clip
from bot.text.dated import due_in, nudged
from bot.text.signs import SIGNS
from bot.types.commitment import Commitment, NewCommitment, Nudging, Settled
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments

NUMBER_CHARS = 20


class CommitmentArguments(BaseModel):
    """What the model may want to be noted; with a number, what became of that promise."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=300)
    id: int | str | None = None
    state: Literal["ongoing", "done", "failed"] | None = None


@dataclass(frozen=True, slots=True)
class Carrier:
    """The message that says something, and the words of it that do."""

    event_id: int
    words: str


Ending = Callable[[ToolContext, Settled, str, Mapping[int, str]], Awaitable[str]]
"""The receipt for a promise that somebody's words end, of these by number; ToolRefused where they do not."""


def commitment_tool(
    spec: ToolSpec, carrier: Callable[[ToolContext, str, bool], Awaitable[Carrier | None]],
    mine: Callable[[ToolContext], Awaitable[tuple[Commitment, ...]]], covers: Callable[[str], bool],
    zone: Callable[[ToolContext], Awaitable[tzinfo]], done: tuple[str, str], ending: Ending,
    nudging: Nudging | None = None,
) -> Tool:  # fmt: skip
    """The tool; `carrier` is the message of the turn in which its person says that, if they do: promises it
    (True), or says what became of one.

    `mine` are that person's open promises that the audience may see, `covers` tells what was forgotten; `done` are the
    answers for a promise ({id} becomes its number) and for what became of one. `ending` is asked whether their words
    may end one, and for the receipt that says so. `nudging` is how they are reminded.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(CommitmentArguments, arguments)
        text = clean_line(asked.text)
        if not text:
            raise ToolRefused("commitment_empty")
        said = await carrier(context, text, asked.state is None)
        if said is None:
            raise ToolRefused("commitment_words")
        if asked.id is not None and asked.state is None:
            raise ToolRefused("tool_bad_arguments", "id + state")
        if asked.state is not None:
            which = str(asked.id or "").strip().lstrip(f"#{SIGNS['promise']}")
            texts = {each.id: each.text for each in await mine(context)}
            number = int(which[:NUMBER_CHARS]) if which.isdecimal() else meant(which or text, texts.items())
            if number not in texts:
                raise ToolRefused("commitment_unknown", as_data(clip(which or text, NUMBER_CHARS)))
            receipt = await ending(context, Settled(number, asked.state, (said.event_id,)), text, texts)
            return ToolAnswer(
                done[1].replace("{id}", str(number)), settled=Settled(number, asked.state, (said.event_id,)),
                receipt=receipt,
            )  # fmt: skip
        if covers(text):
            raise ToolRefused("experience_forgotten")
        tz = await zone(context)
        due = due_in(text, context.now, tz) or due_in(said.words, context.now, tz)
        new = NewCommitment(
            context.person_id, context.audience.chat_id, "private" if context.audience.kind == "dm" else "chat", text,
            context.now, "tool", (said.event_id,), due.at if due else None, nudged(due, nudging, tz),
        )  # fmt: skip
        return ToolAnswer(done[0], commitment=new)

    return Tool(spec, run)
