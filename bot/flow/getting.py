"""What memory_get tells: a memory whole with its provenance, a line with its neighbours, lines of a note."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import tzinfo

from bot.flow.looking import RESULT_TOKENS
from bot.flow.words import Words
from bot.recall.gettool import get_tool
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.clip import clip
from bot.text.dates import clock_label, local_day, relative_day
from bot.text.estimate import estimate_tokens
from bot.types.event import Event
from bot.types.note import NotePart
from bot.types.people import Audience
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolAnswer, ToolContext

REACH = 3
"""Lines before and after the one that is asked for."""

LINE_CHARS = 200
"""Characters of a neighbour or a source; what is asked for comes whole, as far as a result goes."""

Notes = Callable[[Audience, str, int, int], Awaitable[NotePart | None]]
"""Lines of a note for an audience: from that one on, so many."""


def getting(store: Store, words: Words, spec: ToolSpec, notes: Notes, bot: str) -> Tool:
    """The tool over the store; every reader filters by the audience of the turn. `bot` is nuan's name."""

    async def memory(context: ToolContext, number: int) -> ToolAnswer | None:
        found = await store.lookup.memory(context.audience, number)
        if found is None:
            return None
        script = words.script_named(context.script)
        text, tz = words.opening(script), await calendar(store, words, context)
        who = as_data((await store.people.person(found.teller_id)).name) if found.teller_id else as_data(bot)
        if found.visibility == "chat" and found.chat_id != context.audience.chat_id:
            who += text("found_in", chat=as_data((await store.people.chat(found.chat_id)).title))
        day = relative_day(local_day(found.observed_at, tz), local_day(context.now, tz), words.days(script))
        source = text("get_asked" if found.asked else f"get_{found.source}", agent=as_data(found.agent))
        told, said = await store.lookup.sources(context.audience, number), as_data(found.text)
        said = said if found.former_at is None else text("found_former", text=said)
        whole = text("get_memory", id=number, who=who, text=said, kind=found.kind, day=day, source=source)
        sources = (line(context, tz, event) for event in told)
        return ToolAnswer(_fitting((text("get_head"), whole, *sources)), told=(number,), lines=_ids(told))

    def line(context: ToolContext, tz: tzinfo, event: Event, chars: int = LINE_CHARS) -> str:
        text = words.opening(words.script_named(context.script))
        who = as_data(event.name) if event.kind == "message" else as_data(bot)
        return text(
            "get_line", id=event.id, at=clock_label(event.at, tz), who=who, text=as_data(clip(event.text, chars))
        )

    async def lines(context: ToolContext, number: int) -> ToolAnswer | None:
        found = await store.lookup.around(context.audience, number, REACH)
        if not found:
            return None
        tz = await calendar(store, words, context)
        told = [line(context, tz, event, LINE_CHARS * (4 if event.id == number else 1)) for event in found]
        head = words.opening(words.script_named(context.script))("get_head")
        return ToolAnswer(_fitting((head, *told)), lines=_ids(found))

    async def note(context: ToolContext, path: str, first: int, count: int) -> ToolAnswer | None:
        part = await notes(context.audience, path, first, count)
        if part is None:
            return None
        text = words.opening(words.script_named(context.script))
        rows = [as_data(row) for row in part.text.splitlines()]
        return ToolAnswer(_fitting((text("get_head"), f"{as_data(part.citation)} / {part.total}", *rows)))

    return get_tool(spec, memory, lines, note)


async def calendar(store: Store, words: Words, context: ToolContext) -> tzinfo:
    """The calendar that counts for the person of a turn where they talk."""
    chat, person = await store.people.chat(context.audience.chat_id), await store.people.person(context.person_id)
    return words.tz(words.zone_of(chat, person))


def _ids(events: Iterable[Event]) -> tuple[int, ...]:
    return tuple(event.id for event in events)


def _fitting(lines: Iterable[str]) -> str:
    """As many lines as fit into a result, the last one cut."""
    kept: list[str] = []
    left = RESULT_TOKENS
    for row in lines:
        shown = row
        while estimate_tokens(shown) > left and len(shown) > 1:
            shown = clip(shown, len(shown) * 9 // 10)
        left -= estimate_tokens(shown)
        kept.append(shown)
        if shown != row or left <= 0:
            break
    return "\n".join(kept)
