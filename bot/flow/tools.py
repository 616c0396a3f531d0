"""The tools a turn may use, made from their rooms and the store. A tool's text is in prompts/tools."""

import json
from collections.abc import Callable, Mapping
from datetime import tzinfo
from pathlib import Path

from bot.config.settings import Settings
from bot.errors import ConfigError
from bot.flow.asked import asked_tools
from bot.flow.getting import Notes, calendar, getting
from bot.flow.looking import RESULT_TOKENS, look_tool
from bot.flow.media import Media
from bot.flow.recalling import CANDIDATES, Recalling
from bot.flow.words import Words
from bot.memory.experience import experience_tool
from bot.prompt.skills import skill_tool
from bot.recall.tool import Wish, recall_tool
from bot.session.listening import listen_tool
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.clip import clip
from bot.text.dates import local_day, relative_day
from bot.text.estimate import estimate_tokens
from bot.types.memory import Memory
from bot.types.prompt import ToolSpec
from bot.types.tool import Tool, ToolContext

LINE_CHARS = 300
"""Characters of one memory in a result."""


def make_tools(
    store: Store, words: Words, find: Callable[[str], Path], recalling: Recalling, settings: Settings,
    notes: Notes, media: Media | None = None, skills: Mapping[str, str] | None = None,
) -> tuple[Tool, ...]:  # fmt: skip
    """All tools in the order they are sent.

    `media` lets the model see pictures again, `skills` are texts by name that it may read: without them the stable
    prefix stays smaller.
    """

    async def render(context: ToolContext, found: tuple[Memory, ...]) -> str:
        return await _findings(store, words, context, found)

    async def search(context: ToolContext, wish: Wish) -> tuple[Memory, ...]:
        narrow = wish.kinds or wish.since is not None or wish.until is not None
        found = await recalling.recall(
            context.audience, context.person_id, wish.query, context.now, CANDIDATES if narrow else wish.most
        )  # fmt: skip
        fit = tuple(one.memory for one in found.chosen if _fits(one.memory, wish))
        return fit[: wish.most or recalling.most]

    async def zone(context: ToolContext) -> tzinfo:
        return await calendar(store, words, context)

    async def saved(context: ToolContext) -> int:
        session = await store.sessions.session(context.session_id)
        return await store.memories.experiences_since(session.chat_id, session.opened_at)

    done = words.openings.text("experience_saved", words.language, id="{id}")
    recall, get, experience = recall_specs(find)
    recalls = (recall_tool(recall, search, render, zone), getting(store, words, get, notes))
    quiet = words.openings.text("listen_stopped", words.language)
    return (
        *(recalls if settings.memory.inject in ("tool", "both") else ()),
        experience_tool(experience, saved, store.tombstones.covers, done),
        *asked_tools(store, words, asked_specs(find), settings.bot.names),
        listen_tool(listen_spec(find), quiet),
        *((look_tool(look_spec(find), store, media, words),) if media is not None else ()),
        *((skill_tool(skill_spec(find), skills),) if skills else ()),
    )


def tool_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ...]:
    """What the model reads of the tools of memory; ConfigError names a file that is broken."""
    return (*recall_specs(find), *asked_specs(find))


def recall_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ToolSpec, ToolSpec]:
    """What the model reads of the tools that recall, get and save an experience; ConfigError when a file is broken."""
    recall, get = _spec(find("tools/memory_recall.json")), _spec(find("tools/memory_get.json"))
    return recall, get, _spec(find("tools/save_experience.json"))


def asked_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ToolSpec]:
    """What the model reads of the tools that do what a person asks; ConfigError when a file is broken."""
    return _spec(find("tools/remember.json")), _spec(find("tools/forget.json"))


def look_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that sees pictures again; ConfigError when its file is broken."""
    return _spec(find("tools/look.json"))


def listen_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that ends a talk; ConfigError when its file is broken."""
    return _spec(find("tools/stop_listen.json"))


def skill_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that reads a skill; ConfigError when its file is broken."""
    return _spec(find("tools/skill.json"))


def _fits(memory: Memory, wish: Wish) -> bool:
    """Whether it is of a kind that is asked for, and of that time."""
    kind = not wish.kinds or memory.kind in wish.kinds
    return kind and (wish.since or 0) <= memory.observed_at < (wish.until or memory.observed_at + 1)


async def _findings(store: Store, words: Words, context: ToolContext, found: tuple[Memory, ...]) -> str:
    text = words.opening(words.script_named(context.script))
    if not found:
        return text("recall_none")
    days, tz = words.days(words.script_named(context.script)), words.tz(words.zone)
    today = local_day(context.now, tz)
    owners = sorted({memory.owner_id for memory in found if memory.owner_id})
    names = {number: as_data((await store.people.person(number)).name) for number in owners}
    lines: list[str] = []
    left = RESULT_TOKENS
    for memory in found:
        line = text(
            "known_line" if memory.owner_id else "own_line", id=memory.id, who=names.get(memory.owner_id or 0, ""),
            text=as_data(clip(memory.text, LINE_CHARS)),
        ) + text("found_day", day=relative_day(local_day(memory.observed_at, tz), today, days))  # fmt: skip
        left -= estimate_tokens(line)
        if left < 0 and lines:
            break
        lines.append(line)
    return "\n".join((text("recall_found"), *lines))


def _spec(path: Path) -> ToolSpec:
    try:
        body = json.loads(path.read_text("utf-8"))
        schema = json.dumps(body["parameters"], ensure_ascii=False, separators=(",", ":"))
        return ToolSpec(body["name"], body["description"], schema)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError((f"prompts: tools/{path.name} cannot be used ({error})",)) from error
