"""The tools remember, forget and update_memory over the store: what a turn's person wrote, kept, and owns."""

from datetime import tzinfo
from functools import partial

from bot.flow.aside import Aside
from bot.flow.consent import Consent
from bot.flow.getting import calendar
from bot.flow.words import Words
from bot.memory.asking import forget_tool, remember_tool, update_tool
from bot.memory.matter import Line, telling
from bot.memory.own_words import Own, own
from bot.store.store import Store
from bot.types.memory import Memory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext


def asked_tools(
    store: Store, words: Words, specs: tuple[ToolSpec, ToolSpec, ToolSpec], names: tuple[str, ...], aside: Aside,
    consent: Consent,
) -> tuple[Tool, Tool, Tool]:  # fmt: skip
    """The tools; `names` are those the bot is called by. What takes long goes `aside`."""

    async def said(context: ToolContext) -> tuple[Own, ...]:
        return tuple(own(line.id, line.text, names) for line in await consent.lines(context))

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

    remember, forget, update = specs
    done, changed = (partial(consent.answer, key=key) for key in ("remember_done", "update_done"))
    return (
        remember_tool(remember, said, kept, store.tombstones.lift, done, zone, consent.carrier),
        forget_tool(forget, said, owned, told),
        update_tool(update, owned, consent.carrier, changed, zone),
    )
