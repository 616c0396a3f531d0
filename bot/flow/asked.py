"""The tools remember, forget and update_memory over the store: what a turn's person wrote, kept, and owns."""

from datetime import tzinfo

from bot.flow.aside import Aside
from bot.flow.getting import calendar
from bot.flow.words import Words
from bot.memory.asking import forget_tool, remember_tool, update_tool
from bot.memory.grounding import stands
from bot.memory.matter import Line, telling
from bot.memory.minutes import Scope
from bot.memory.own_words import Own, own
from bot.store.store import Store
from bot.types.memory import Memory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext


def asked_tools(
    store: Store, words: Words, specs: tuple[ToolSpec, ToolSpec, ToolSpec], names: tuple[str, ...], aside: Aside
) -> tuple[Tool, Tool, Tool]:  # fmt: skip
    """The tools; `names` are those the bot is called by. What takes long or loads a dictionary goes `aside`."""

    async def said(context: ToolContext) -> tuple[Own, ...]:
        events = await store.asked.own(context.event_ids, context.person_id, context.now)
        return tuple(own(event.id, event.text, names) for event in events)

    async def kept(context: ToolContext) -> tuple[tuple[int, str], ...]:
        return await store.asked.kept(context.event_ids, context.person_id)

    async def owned(context: ToolContext) -> tuple[Memory, ...]:
        return await store.memories.owned(context.person_id, context.audience)

    async def told(context: ToolContext, matter: str, before: int) -> tuple[Line, ...]:
        chat = await store.people.chat(context.audience.chat_id)
        rows = await store.unsaying.told(context.person_id, chat)
        lines = [Line(*row) for row in rows if row[0] < before]
        return await aside.run(telling, matter, "just", lines, context.now)

    async def zone(context: ToolContext) -> tzinfo:
        return await calendar(store, words, context)

    async def grounded(context: ToolContext, text: str, known: str) -> int | None:
        events = await store.asked.own(context.event_ids, context.person_id, context.now)
        scope = Scope(context.audience.chat_id, context.audience.kind, names[0], context.person_id, await zone(context))
        at = await aside.run(stands, text, [(event.text, event.at) for event in events], scope, known)
        return events[at].id if at is not None else None

    remember, forget, update = specs
    done, changed = (words.openings.text(key, words.language, id="{id}", new="{new}", old="{old}")
                     for key in ("remember_done", "update_done"))  # fmt: skip
    return (
        remember_tool(remember, said, kept, store.tombstones.lift, done, zone, grounded),
        forget_tool(forget, said, owned, told),
        update_tool(update, owned, grounded, changed, zone),
    )
