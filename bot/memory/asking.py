"""The tools remember and forget: they do what the person asks in this turn's own words, and nothing else.

The model only points. Whatever it read elsewhere (a memory, a quote, a picture, another person's line) cannot make
them write: what is kept stands in those words, and so does the wish.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import tzinfo
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.memory.match import match
from bot.memory.matter import Line, tells_of
from bot.memory.own_words import Own, meant
from bot.memory.rereading import of_its_day
from bot.text.clean import as_data, clean_line
from bot.text.clip import clip
from bot.text.fold import fold
from bot.types.memory import Memory, NameSlot, NewMemory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext, ToolRefused, Unlearn, read_arguments

NAMES: dict[str, NameSlot] = {"call": "address", "not": "no_address"}
"""What the tool's `name` says of a text."""

SHOWN, SHOWN_CHARS = 5, 80
"""How many memories a refusal names, and characters of each."""

Words = Callable[[ToolContext], Awaitable[tuple[Own, ...]]]
"""The messages of the turn that its person wrote, read for wishes, in order."""


Owned = Callable[[ToolContext], Awaitable[tuple[Memory, ...]]]
"""The memories of the person that the audience may see, newest first."""
Done = Callable[[ToolContext], Awaitable[str]]
"""What a tool answers, in the person's language."""
Carrier = Callable[..., Awaitable[int | None]]
"""The line of the person's own recent ones in which a text stands, cleaned; a second one is of texts that are known."""


class UpdateArguments(BaseModel):
    """What the model may want to say otherwise: the number of a memory, and the whole new sentence."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: int | str
    text: str = Field(max_length=500)


class RememberArguments(BaseModel):
    """What the model may want to be kept: a fact, or with `name` how they are called, or not."""

    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(max_length=500)
    name: Literal["", "call", "not"] = ""


class ForgetArguments(BaseModel):
    """What the model may want to be forgotten: a number, or words."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: int | str | None = None
    text: str | None = Field(default=None, max_length=500)


def remember_tool(
    spec: ToolSpec, words: Words, kept: Callable[[ToolContext], Awaitable[tuple[tuple[int, str], ...]]],
    lift: Callable[[str, int], None], done: Done, zone: Callable[[ToolContext], Awaitable[tzinfo]], carrier: Carrier,
) -> Tool:  # fmt: skip
    """The tool; `kept` is what was asked to be kept in these messages before, `lift` ends a ban on a text.

    `done` is the answer, with {id} for the number of what was stored; `zone` is the person's calendar, by which a day
    in their words is meant.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(RememberArguments, arguments)
        text = clean_line(asked.text)
        if not text:
            raise ToolRefused("remember_empty")
        said = await words(context)
        if not any(own.keeps or own.calls for own in said):
            raise ToolRefused("remember_unasked")
        event = await carrier(context, text)
        if event is None and asked.name == "not":  # 不要再喊我學姊了: the name alone says no
            event = next((own.event_id for own in said if own.refuses(text)), None)
        if event is None:
            raise ToolRefused("remember_words")
        for number, known in await kept(context):
            if fold(known) in fold(text) or fold(text) in fold(known):
                raise ToolRefused("remember_known", str(number))
        lift(text, context.now)
        memory = NewMemory(
            owner_id=context.person_id, chat_id=context.audience.chat_id,
            visibility="private" if context.audience.kind == "dm" else "chat", kind="knowledge", text=text,
            observed_at=context.now, source="tool", event_ids=(event,), asked=True,
        )  # fmt: skip
        if asked.name:
            return ToolAnswer(await done(context), replace(memory, kind="identity", slot=NAMES[asked.name]))
        return ToolAnswer(await done(context), of_its_day(memory, context.now, await zone(context)))

    return Tool(spec, run)


def update_tool(
    spec: ToolSpec, owned: Owned, carrier: Carrier, done: Done, zone: Callable[[ToolContext], Awaitable[tzinfo]]
) -> Tool:  # fmt: skip
    """The tool: a memory of the person's becomes former, and what they now say of it takes its place.

    What they said in a group is changed in their own chat for themselves alone. To correct is to ask: what is new in
    the text must stand in their own words. `done` is the answer, with {id} for
    the new number, {new} and {old}.
    """

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(UpdateArguments, arguments)
        number, text = str(asked.id).strip().lstrip("#"), clean_line(asked.text)
        if not (number.isascii() and number.isdigit()) or not text:
            raise ToolRefused("tool_bad_arguments", "id, text")
        old = next((memory for memory in await owned(context) if memory.id == int(number[:18])), None)
        if old is None or old.is_name or old.former_at is not None:
            raise ToolRefused("forget_none")
        event = await carrier(context, text, (old.text,))
        if event is None or fold(text) == fold(old.text):
            raise ToolRefused("update_words")
        away = old.visibility == "chat" and old.chat_id != context.audience.chat_id
        new = NewMemory(
            context.person_id, context.audience.chat_id if away else old.chat_id,
            "private" if away else old.visibility, old.kind, text,
            context.now, "tool", (event,), old.slot, asked=True,
            subject=old.subject, lasting=old.lasting, said_at=context.now, replaces=(old.id,),
        )  # fmt: skip
        new = of_its_day(new, context.now, await zone(context), besides=old.observed_at)
        told = (
            (await done(context))
            .replace("{new}", as_data(clip(text, SHOWN_CHARS)))
            .replace("{old}", as_data(clip(old.text, SHOWN_CHARS)))
        )
        return ToolAnswer(told, new)

    return Tool(spec, run)


def forget_tool(
    spec: ToolSpec, words: Words, owned: Owned,
    told: Callable[[ToolContext, str, int], Awaitable[tuple[Line, ...]]],
) -> Tool:  # fmt: skip
    """The tool; `owned` are the memories of the person that the audience may see, newest first, `told` what they said
    there, oldest first: a matter that no memory tells of goes with what was said of it."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(ForgetArguments, arguments)
        number = str(asked.id if asked.id is not None else "").strip().lstrip("#")
        wanted = (asked.text or "").strip()
        if bool(number) == bool(wanted) or (number and not (number.isascii() and number.isdigit())):
            raise ToolRefused("tool_bad_arguments", "id | text")
        said = next((own for own in await words(context) if own.drops), None)
        if said is None:
            raise ToolRefused("forget_unasked")
        mine = await owned(context)
        pointed = tuple(m for m in mine if m.id == int(number[:18])) if number else match(wanted, mine)
        found = meant(said, ((memory.id, memory.text) for memory in mine))
        both = tuple(memory for memory in pointed if memory.id in found.numbers)
        if len(both) == 1 and (number or found.named or len(found.numbers) == 1):
            return ToolAnswer("", forget=Unlearn(both, said.event_id, said.without(said.drops), said.forever))
        unsure = both or pointed or tuple(memory for memory in mine if memory.id in found.numbers)
        if not unsure:
            asks = tells_of(wanted, said.text, near=True)
            lines = await told(context, wanted, said.event_id) if asks else ()
            if not lines:
                raise ToolRefused("forget_none")
            named = Memory(
                0, context.person_id, context.audience.chat_id,
                "chat" if context.audience.kind == "group" else "private", "knowledge", wanted, context.now,
                context.now, "command",
            )  # fmt: skip
            gone = tuple((line.event_id, line.text) for line in lines)
            return ToolAnswer("", forget=Unlearn((named,), said.event_id, said.without(said.drops), said.forever, gone))
        raise ToolRefused("forget_unsure", _named(unsure))

    return Tool(spec, run)


def _named(memories: tuple[Memory, ...]) -> str:
    return "; ".join(f"#{memory.id} {as_data(clip(memory.text, SHOWN_CHARS))}" for memory in memories[:SHOWN])
