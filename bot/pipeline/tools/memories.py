"""The tools remember, forget, update_memory and save_experience over the store, by the person's own words."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.core.memories import Memory, NameSlot, NewMemory
from bot.core.models import ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolContext, ToolRefused, UnlearnRequest, read_arguments
from bot.language.wishes.forget import OwnLine, is_about, lines_about, matching
from bot.language.wishes.own_words import OwnWords, memories_named, read_own_words
from bot.memory.lifecycle import with_day
from bot.memory.screening import harmless
from bot.pipeline.concurrency import TextThread
from bot.pipeline.findings import timezone_of
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import Consent
from bot.store.store import Store
from bot.text.clean import as_data, clean_line
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import echoes


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


NAMES: dict[str, NameSlot] = {"call": "address", "not": "no_address"}
"""What the tool's `name` says of a text."""

SHOWN, SHOWN_CHARS = 5, 80
"""How many memories a refusal names, and characters of each."""

ReadOwnWords = Callable[[ToolContext], Awaitable[tuple[OwnWords, ...]]]
"""The messages of the turn that its person wrote, read for wishes, in order."""


OwnedMemories = Callable[[ToolContext], Awaitable[tuple[Memory, ...]]]
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
    spec: ToolSpec, words: ReadOwnWords, kept: Callable[[ToolContext], Awaitable[tuple[tuple[int, str], ...]]],
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
        return ToolAnswer(await done(context), with_day(memory, context.now, await zone(context)))

    return Tool(spec, run)


def update_tool(
    spec: ToolSpec, owned: OwnedMemories, carrier: Carrier, done: Done, zone: Callable[[ToolContext], Awaitable[tzinfo]]
) -> Tool:
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
        new = with_day(new, context.now, await zone(context), besides=old.observed_at)
        told = (
            (await done(context))
            .replace("{new}", as_data(clip(text, SHOWN_CHARS)))
            .replace("{old}", as_data(clip(old.text, SHOWN_CHARS)))
        )
        return ToolAnswer(told, new)

    return Tool(spec, run)


def forget_tool(
    spec: ToolSpec, words: ReadOwnWords, owned: OwnedMemories,
    told: Callable[[ToolContext, str, int], Awaitable[tuple[OwnLine, ...]]],
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
        pointed = tuple(m for m in mine if m.id == int(number[:18])) if number else matching(wanted, mine)
        found = memories_named(said, ((memory.id, memory.text) for memory in mine))
        both = tuple(memory for memory in pointed if memory.id in found.numbers)
        if len(both) == 1 and (number or found.named or len(found.numbers) == 1):
            return ToolAnswer("", forget=UnlearnRequest(both, said.event_id, said.without(said.drops), said.forever))
        unsure = both or pointed or tuple(memory for memory in mine if memory.id in found.numbers)
        if not unsure:
            asks = is_about(wanted, said.text, near=True)
            lines = await told(context, wanted, said.event_id) if asks else ()
            if not lines:
                raise ToolRefused("forget_none")
            named = Memory(
                0, context.person_id, context.audience.chat_id,
                "chat" if context.audience.kind == "group" else "private", "knowledge", wanted, context.now,
                context.now, "command",
            )  # fmt: skip
            gone = tuple((line.event_id, line.text) for line in lines)
            return ToolAnswer(
                "", forget=UnlearnRequest((named,), said.event_id, said.without(said.drops), said.forever, gone)
            )
        raise ToolRefused("forget_unsure", _named(unsure))

    return Tool(spec, run)


def _named(memories: tuple[Memory, ...]) -> str:
    return "; ".join(f"#{memory.id} {as_data(clip(memory.text, SHOWN_CHARS))}" for memory in memories[:SHOWN])


def memory_tools(
    store: Store, words: Texts, specs: Mapping[str, ToolSpec], names: tuple[str, ...], thread: TextThread,
    consent: Consent,
) -> tuple[Tool, ...]:  # fmt: skip
    """The tools; `names` are those the bot is called by. What takes long runs in `thread`."""

    async def said(context: ToolContext) -> tuple[OwnWords, ...]:
        return tuple(read_own_words(line.id, line.text, names) for line in await consent.lines(context))

    async def kept(context: ToolContext) -> tuple[tuple[int, str], ...]:
        return await store.asked.kept(context.event_ids, context.person_id)

    async def owned(context: ToolContext) -> tuple[Memory, ...]:
        return await store.memories.owned(context.person_id, context.audience)

    async def told(context: ToolContext, matter: str, before: int) -> tuple[OwnLine, ...]:
        chat = await store.people.chat(context.audience.chat_id)
        rows = await store.taken_back_lines.told(context.person_id, chat)
        lines = [OwnLine(*row) for row in rows if row[0] < before]
        return await thread.run(lines_about, matter, "just", lines, context.now)

    async def zone(context: ToolContext) -> tzinfo:
        return await timezone_of(store, words, context)

    done, changed = (partial(consent.answer, key=key) for key in ("remember_done", "update_done"))
    return (
        remember_tool(specs["remember"], said, kept, store.tombstones.remove_tombstone, done, zone, consent.carrier),
        forget_tool(specs["forget"], said, owned, told),
        update_tool(specs["update_memory"], owned, consent.carrier, changed, zone),
    )
