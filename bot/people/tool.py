"""The tool add_commitment: what the person promises in this turn's own words, or says became of a promise of theirs.

The model only points: what is kept stands in those words, and a number, or words in its place, must be that of one of
that person's open promises.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import tzinfo
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.text.alike import meant
from bot.text.clean import as_data, clean_line
from bot.text.clip import clip
from bot.text.dated import due_in, nudged
from bot.text.signs import SIGNS, marked
from bot.types.commitment import Commitment, CommitmentState, NewCommitment, Nudging, Settled
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, read_arguments

NUMBER_CHARS, TEXT_CHARS, LIST_CHARS = 20, 40, 400
"""Characters of a number, and of open promises that a refusal names."""


class CommitmentArguments(BaseModel):
    """What the model may want to be noted; with a number, what became of that promise."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=300)
    id: int | str | None = None
    state: Literal["ongoing", "done", "failed"] | None = None


Ending = Callable[[ToolContext, int, CommitmentState, Mapping[int, str]], Awaitable[tuple[int, str]]]
"""The message that says so of a promise, of these by number, and the receipt; ToolRefused where none does."""

Carrier = Callable[..., Awaitable[tuple[int, str] | None]]
"""The message that a promise rests on, and its words; None for none."""


Done = Callable[[ToolContext, str], Awaitable[str]]
"""What is answered, by the key of the sentence, in the person's language."""


def commitment_tool(
    spec: ToolSpec, carrier: Carrier,
    mine: Callable[[ToolContext], Awaitable[tuple[Commitment, ...]]], covers: Callable[[str], bool],
    zone: Callable[[ToolContext], Awaitable[tzinfo]], done: Done, ending: Ending,
    nudging: Nudging | None = None,
) -> Tool:  # fmt: skip
    """The tool; `carrier` finds the message of these minutes in which its person promises that, `ending` the one that
    says what became of one.

    `mine` are that person's open promises that the audience may see, `covers` tells what was forgotten; `done` gives
    the answers for a promise ({id} becomes its number) and for what became of one. `nudging` is how they are reminded.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(CommitmentArguments, arguments)
        text = clean_line(asked.text)
        if not text:
            raise ToolRefused("commitment_empty")
        if asked.id is not None and asked.state is None:
            raise ToolRefused("tool_bad_arguments", "id + state")
        if asked.state is not None:
            which = str(asked.id or "").strip().lstrip(f"#{SIGNS['promise']}")
            texts = {each.id: each.text for each in await mine(context)}
            number = int(which[:NUMBER_CHARS]) if which.isdecimal() else _meant(which or text, texts)
            if number not in texts:
                listed = "; ".join(
                    f"{marked('promise', each)} {as_data(clip(said, TEXT_CHARS))}" for each, said in texts.items()
                )
                raise ToolRefused("commitment_unknown", clip(listed, LIST_CHARS) or "-")
            event, receipt = await ending(context, number, asked.state, texts)
            return ToolAnswer(
                (await done(context, "commitment_settled")).replace("{id}", str(number)),
                settled=Settled(number, asked.state, (event,)), receipt=receipt,
            )  # fmt: skip
        said = await carrier(context, text)
        if said is None:
            raise ToolRefused("commitment_words")
        event, words = said
        if covers(text):
            raise ToolRefused("experience_forgotten")
        tz = await zone(context)
        due = due_in(text, context.now, tz) or due_in(words, context.now, tz)
        new = NewCommitment(
            context.person_id, context.audience.chat_id, "private" if context.audience.kind == "dm" else "chat", text,
            context.now, "tool", (event,), due.at if due else None, nudged(due, nudging, tz),
        )  # fmt: skip
        return ToolAnswer(await done(context, "commitment_saved"), commitment=new)

    return Tool(spec, run)


def _meant(about: str, texts: Mapping[int, str]) -> int | None:
    """The one promise that these words are about: most of them are in it, or most of it is in them."""
    number = meant(about, texts.items())
    told = [each for each, text in texts.items() if meant(text, ((each, about),))]
    return number if number is not None or len(told) != 1 else told[0]
