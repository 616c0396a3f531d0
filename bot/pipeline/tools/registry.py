"""The tools that a turn may use, in the order in which they are sent. A tool's text is in prompts/tools."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path

from bot.config.settings import Settings
from bot.context.xml import scene_text
from bot.core.errors import ConfigError
from bot.core.models import Message, ToolSpec
from bot.core.recall import RecallQuery, SearchHit
from bot.core.tools import Tool, ToolContext
from bot.pipeline.concurrency import TextThread
from bot.pipeline.findings import ReadNote, findings_text, memory_get, timezone_of
from bot.pipeline.media import MediaReader, look_tool
from bot.pipeline.recall import Recall
from bot.pipeline.reminders import ReminderService
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import Consent
from bot.pipeline.tools.memories import experience_tool, memory_tools
from bot.pipeline.tools.tasks import promise_tool, remind_tools
from bot.prompt.persona import skill_tool
from bot.recall.query import own_lines
from bot.speaking.reminders import nudging_rules
from bot.store.store import Store
from bot.tools.recall import RecallRequest, recall_tool
from bot.tools.stop_listen import listen_tool

Search = Callable[[ToolContext, RecallRequest], Awaitable[tuple[SearchHit, ...]]]
"""What the tool that recalls searches with."""


@dataclass(frozen=True, slots=True)
class ToolServices:
    """What tools read of what is remembered: recalls, lines of notes; long work runs in `thread`."""

    recalling: Recall
    notes: ReadNote
    thread: TextThread


def make_tools(
    store: Store, words: Texts, find: Callable[[str], Path], known: ToolServices, settings: Settings,
    reminding: ReminderService, media: MediaReader | None = None,
    skills: Callable[[str], Mapping[str, str]] | None = None,
) -> tuple[Tool, ...]:  # fmt: skip
    """All tools in the order they are sent.

    `media` lets the model see pictures again, `skills` are texts by name that it may read as the persona chosen in its
    chat: without them the stable prefix stays smaller.
    """

    async def render(context: ToolContext, found: tuple[SearchHit, ...]) -> str:
        epoch = await store.sessions.epoch(context.session_id)
        said = "\n".join(entry.message.content for entry in epoch.entries) if epoch is not None else ""
        return await findings_text(store, words, context, found, said=said, bot=settings.bot.names[0])

    async def zone(context: ToolContext) -> tzinfo:
        return await timezone_of(store, words, context)

    async def texts(context: ToolContext) -> Mapping[str, str]:
        chat = await store.people.chat(context.audience.chat_id)
        return skills(chat.persona) if skills is not None else {}

    async def saved(context: ToolContext) -> int:
        session = await store.sessions.session(context.session_id)
        return await store.memories.experiences_since(session.chat_id, session.opened_at)

    async def shown(context: ToolContext) -> tuple[str, ...]:
        epoch = await store.sessions.epoch(context.session_id)
        messages = (entry.message for entry in epoch.entries) if epoch is not None else ()
        return tuple(row for message in messages for row in _recalled(message).splitlines())

    consent = Consent(store, words, settings.bot.names, known.thread)
    done = partial(consent.answer, key="experience_saved")
    recall, get, experience = recall_specs(find)
    recalls = (
        recall_tool(recall, searching(store, known.recalling, settings), render, zone),
        memory_get(store, words, get, known.notes, settings.bot.names[0]),
    )  # fmt: skip
    return (
        *(recalls if settings.memory.inject in ("tool", "both") else ()),
        experience_tool(experience, saved, store.tombstones.covers, done, shown),
        *memory_tools(store, words, asked_specs(find), settings.bot.names, known.thread, consent),
        promise_tool(
            store,
            words,
            read_spec(find("tools/add_commitment.json")),
            consent,
            nudging_rules(settings.remind),
            known.thread,
        ),
        *remind_tools(store, words, reminding, remind_specs(find), consent),
        listen_tool(listen_spec(find), words.openings.text("listen_stopped", words.language)),
        *((look_tool(look_spec(find), store, media, words),) if media is not None else ()),
        *((skill_tool(skill_spec(find), texts),) if skills else ()),
    )


def searching(store: Store, recalling: Recall, settings: Settings) -> Search:
    """What the tool that recalls searches with: the wish, and what was just said there."""
    scene = settings.context.scene

    async def search(context: ToolContext, wish: RecallRequest) -> tuple[SearchHit, ...]:
        chat_id = context.audience.chat_id
        heard, said = await store.finding.beside(context.session_id, chat_id, context.person_id)
        chat = await store.people.chat(chat_id)
        asking = RecallQuery(
            context.audience, context.person_id, wish.query, context.now, wish.most, kinds=wish.finding_kinds,
            memory_kinds=wish.memory_kinds, since=wish.since, until=wish.until, heard=heard,
            own=own_lines(said, (), context.now), said=said[-1].text if said else "",
            scene=scene_text(chat.scene, scene.max_chars) if scene.include else "",
        )  # fmt: skip
        return tuple(one.finding for one in (await recalling.recall(asking)).chosen)

    return search


def _recalled(message: Message) -> str:
    """What a message of a log brought back: a tool's result, or the memories that stand behind what is new."""
    return message.content if message.role == "tool" else message.content.partition("</ctx>")[2]


def tool_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ...]:
    """What the model reads of the tools of memory; ConfigError names a file that is broken."""
    return (*recall_specs(find), *asked_specs(find), read_spec(find("tools/add_commitment.json")))


def recall_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ToolSpec, ToolSpec]:
    """What the model reads of the tools that recall, get and save an experience; ConfigError when a file is broken."""
    recall, get = read_spec(find("tools/memory_recall.json")), read_spec(find("tools/memory_get.json"))
    return recall, get, read_spec(find("tools/save_experience.json"))


def asked_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ToolSpec, ToolSpec]:
    """What the model reads of the tools that do what a person asks; ConfigError when a file is broken."""
    remember, forget = read_spec(find("tools/remember.json")), read_spec(find("tools/forget.json"))
    return remember, forget, read_spec(find("tools/update_memory.json"))


def remind_specs(find: Callable[[str], Path]) -> tuple[ToolSpec, ToolSpec]:
    """What the model reads of the tools for reminders; ConfigError when a file is broken."""
    return read_spec(find("tools/remind.json")), read_spec(find("tools/cancel_reminder.json"))


def look_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that sees pictures again; ConfigError when its file is broken."""
    return read_spec(find("tools/look.json"))


def listen_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that ends a talk; ConfigError when its file is broken."""
    return read_spec(find("tools/stop_listen.json"))


def skill_spec(find: Callable[[str], Path]) -> ToolSpec:
    """What the model reads of the tool that reads a skill; ConfigError when its file is broken."""
    return read_spec(find("tools/skill.json"))


def read_spec(path: Path) -> ToolSpec:
    """What a model, or another agent, reads of a tool; ConfigError when the file is broken."""
    try:
        body = json.loads(path.read_text("utf-8"))
        schema = json.dumps(body["parameters"], ensure_ascii=False, separators=(",", ":"))
        return ToolSpec(body["name"], body["description"], schema)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError((f"prompts: {path.parent.name}/{path.name} cannot be used ({error})",)) from error
