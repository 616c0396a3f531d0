"""The tools remember and forget over the store: what the person of a turn wrote in it, kept, and owns."""

from datetime import tzinfo

from bot.flow.getting import calendar
from bot.flow.words import Words
from bot.memory.asking import forget_tool, remember_tool
from bot.memory.matter import Line
from bot.memory.wishes import Own, own
from bot.store.store import Store
from bot.types.memory import Memory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext


def asked_tools(
    store: Store, words: Words, specs: tuple[ToolSpec, ToolSpec], names: tuple[str, ...]
) -> tuple[Tool, Tool]:  # fmt: skip
    """Both tools; `names` are those the bot is called by."""

    async def said(context: ToolContext) -> tuple[Own, ...]:
        events = await store.asked.own(context.event_ids, context.person_id)
        return tuple(own(event.id, event.text, names) for event in events)

    async def kept(context: ToolContext) -> tuple[tuple[int, str], ...]:
        return await store.asked.kept(context.event_ids, context.person_id)

    async def owned(context: ToolContext) -> tuple[Memory, ...]:
        return await store.memories.owned(context.person_id, context.audience)

    async def told(context: ToolContext) -> tuple[Line, ...]:
        chat = await store.people.chat(context.audience.chat_id)
        return tuple(Line(*row) for row in await store.unsaying.told(context.person_id, chat))

    async def zone(context: ToolContext) -> tzinfo:
        return await calendar(store, words, context)

    remember, forget = specs
    done = words.openings.text("remember_done", words.language, id="{id}")
    return (
        remember_tool(remember, said, kept, store.tombstones.lift, done, zone),
        forget_tool(forget, said, owned, told),
    )
