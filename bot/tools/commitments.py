"""The tool add_commitment: what a person promises in this turn, what became of a promise, or what it is now."""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import tzinfo
from typing import Literal

from pydantic import Field

from bot.core.clock import Instant
from bot.core.memories import Commitment, CommitmentState, NewCommitment, NudgeRules, SettledCommitment
from bot.core.models import ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.time.dates import due_in, nudge_for
from bot.text.clean import as_data, clean_line
from bot.text.codes import SIGNS, number_mark
from bot.text.dates import local
from bot.text.length import clip
from bot.text.similarity import promise_meant

NUMBER_CHARS, TEXT_CHARS, LIST_CHARS = 20, 40, 400
"""Characters of a number, and of open promises that a refusal names."""


class CommitmentArguments(ToolArguments, tool="add_commitment"):
    """What the model may want to be noted; with a number what that promise is now, with a state what became of it."""

    text: str = Field(max_length=300)
    id: int | str | None = None
    state: Literal["ongoing", "done", "failed"] | None = None


OutcomeFinder = Callable[[ToolContext, int, CommitmentState, str, Mapping[int, str]], Awaitable[tuple[int, str]]]
"""The message that says so in these words of a promise, of these by number, and the receipt; ToolRefused where none
does."""

PromiseFinder = Callable[[ToolContext, str, Commitment | None], Awaitable[tuple[int, str]]]
"""The message that a promise, or what another one is now, rests on, and its words; ToolRefused for none."""

_ASIDE = re.compile(r"[(（][^()（）]*[)）]")
"""下星期二（3/16）: the same day once more."""

ChangePromise = Callable[[ToolContext, str, str], Awaitable[ToolAnswer]]
"""Changes the promise of that number to these words; ToolRefused where its person did not say so."""

Done = Callable[[ToolContext, str], Awaitable[str]]
"""What is answered, by the key of the sentence, in the person's language."""


def commitment_tool(
    spec: ToolSpec,
    carrier: PromiseFinder,
    mine: Callable[[ToolContext], Awaitable[tuple[Commitment, ...]]],
    covers: Callable[[str], bool],
    zone: Callable[[ToolContext], Awaitable[tzinfo]],
    done: Done,
    ending: OutcomeFinder,
    change: ChangePromise,
    nudging: NudgeRules | None = None,
) -> Tool:
    """The tool; `carrier` finds the message of these minutes in which its person promises that, `ending` the one that
    says what became of one.

    `mine` are that person's open promises that the audience may see, `covers` tells what was forgotten; `done` gives
    the answers for a promise ({id} becomes its number) and for what became of one. `change` changes one of them, `nudging` is how they are reminded.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(CommitmentArguments, arguments)
        text, which = clean_line(asked.text), str(asked.id if asked.id is not None else "")
        if not text:
            raise ToolRefused("commitment_empty")
        if which and asked.state is None:
            return await change(context, which, text)
        if asked.state is not None:
            known = {each.id: each for each in await mine(context)}
            texts = {number: each.text for number, each in known.items()}
            number = _pointed(which, text, known).id
            event, receipt = await ending(context, number, asked.state, text, texts)
            return ToolAnswer(
                (await done(context, "commitment_settled")).replace("{id}", str(number)),
                settled=SettledCommitment(number, asked.state, (event,)),
                receipt=receipt,
            )
        event, words = await carrier(context, text, None)
        if covers(text):
            raise ToolRefused("experience_forgotten")
        tz = await zone(context)
        due = _due(text, words, context.now, tz)
        new = NewCommitment(
            context.person_id,
            context.audience.chat_id,
            "private" if context.audience.kind == "dm" else "chat",
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else None,
            nudge_for(due, context.now, nudging, tz),
        )
        return ToolAnswer(await done(context, "commitment_saved"), commitment=new)

    return Tool(spec, run)


def promise_changer(
    carrier: PromiseFinder,
    mine: Callable[[ToolContext], Awaitable[tuple[Commitment, ...]]],
    covers: Callable[[str], bool],
    zone: Callable[[ToolContext], Awaitable[tzinfo]],
    done: Done,
    nudging: NudgeRules | None,
) -> ChangePromise:
    """What changes a promise, for each tool that may; its arguments as of `commitment_tool`."""

    async def change(context: ToolContext, which: str, text: str) -> ToolAnswer:
        old = _pointed(which, text, {each.id: each for each in await mine(context)})
        event, words = await carrier(context, text, old)
        if covers(text):
            raise ToolRefused("experience_forgotten")
        tz = await zone(context)
        due = _due(text, words, context.now, tz)
        new = NewCommitment(
            old.owner_id,
            old.chat_id,
            old.visibility,
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else old.due_at,
            nudge_for(due, context.now, nudging, tz),
            old.toward,
            "" if due else old.dated,
            old.id,
        )
        told = (await done(context, "commitment_changed")).replace("{new}", as_data(clip(text, TEXT_CHARS)))
        day = local(new.due_at, tz).strftime("%Y-%m-%d %H:%M") if new.due_at is not None else "-"
        told = told.replace("{due}", day)
        return ToolAnswer(told.replace("{old}", as_data(clip(old.text, TEXT_CHARS))), commitment=new)

    return change


def _due(text: str, words: str, at: int, tz: tzinfo) -> Instant | None:
    """When a promise is due, by its text, else by the message."""
    return next((due for each in (text, _ASIDE.sub("", text), words) if (due := due_in(each, at, tz))), None)


def _pointed(which: str, text: str, known: Mapping[int, Commitment]) -> Commitment:
    """The promise of that number, or without one the one that the words are about; ToolRefused that lists them."""
    number = which.strip().lstrip(f"#{SIGNS['promise']}")
    texts = {each.id: each.text for each in known.values()}
    found = int(number[:NUMBER_CHARS]) if number.isdecimal() else _meant(number or text, texts)
    if found is None or found not in known:
        listed = (f"{number_mark('promise', each)} {as_data(clip(said, TEXT_CHARS))}" for each, said in texts.items())
        raise ToolRefused("commitment_unknown", clip("; ".join(listed), LIST_CHARS) or "-")
    return known[found]


def _meant(about: str, texts: Mapping[int, str]) -> int | None:
    """The one promise that these words are about: most of them are in it, or most of it is in them."""
    number = promise_meant(about, texts.items())
    told = [each for each, text in texts.items() if promise_meant(text, ((each, about),))]
    return number if number is not None or len(told) != 1 else told[0]
