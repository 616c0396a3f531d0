"""The tools that a turn may use, in the order in which they are sent. A tool's text is in prompts/tools."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import tzinfo
from itertools import product
from pathlib import Path

from bot.config.settings import Settings
from bot.context import scene_text
from bot.core.errors import ConfigError
from bot.core.files import resource_dir
from bot.core.models import ToolSpec
from bot.core.people import SCRIPTS, Script
from bot.core.recall import SearchHit
from bot.core.tools import Tool, ToolArguments, ToolContext
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Configuration, Current
from bot.pipeline.findings import ReadNote, cited_reader, findings_text, timezone_of
from bot.pipeline.media import MediaReader, look_tool
from bot.pipeline.pictures import PictureMaker
from bot.pipeline.recall import Recall
from bot.pipeline.reminders import ReminderService
from bot.pipeline.tools.calls import listen_tool
from bot.pipeline.tools.consent import Consent
from bot.pipeline.tools.memories import MemoryTools
from bot.pipeline.tools.promises import PromiseTools
from bot.pipeline.tools.reminders import remind_tool
from bot.prompt.persona import NAME_MARK, ToolSpecs, in_language, skill_tool
from bot.recall.query import own_lines
from bot.speaking.reminders import nudging_rules
from bot.store.store import Store
from bot.text.clean import as_data
from bot.tools.recall import RecallRequest, SearchFunction, recall_tool

TOOLS = (
    "memory_recall",
    "remember",
    "forget",
    "remind",
    "stop_listen",
    "look",
    "image",
    "skill",
    "tool_find",
    "tool_use",
)
"""The files of prompts/tools, in the order in which the tools are sent; what is not named here comes after them."""


class ToolRegistry:
    """The tools of each configuration, made once for it."""

    def __init__(
        self,
        store: Store,
        current: Current,
        recalling: Recall,
        notes: ReadNote,
        reminders: ReminderService,
        media: MediaReader,
        pictures: PictureMaker,
        thread: TextThread,
        outside: Callable[[Mapping[str, ToolSpec]], tuple[Tool, ...]] = lambda _: (),
    ) -> None:
        """`notes` reads lines of notes; long work runs in `thread`; `outside` makes the tools of outside servers and plugins."""
        self._store = store
        self._current = current
        self._recalling = recalling
        self._notes = notes
        self._reminders = reminders
        self._media = media
        self._pictures = pictures
        self._thread = thread
        self._outside = outside
        self._made: tuple[Configuration, tuple[Tool, ...]] | None = None

    def tools(self) -> tuple[Tool, ...]:
        """Those that a turn brings now."""
        configuration = self._current.value
        if self._made is None or self._made[0] is not configuration:
            self._made = configuration, self._make(configuration)
        return self._made[1]

    def _make(self, configuration: Configuration) -> tuple[Tool, ...]:
        store, thread, settings, prompts = self._store, self._thread, configuration.settings, configuration.texts
        words, specs, names = prompts.words, prompts.tools, settings.bot.names
        if not specs:
            return ()

        async def render(context: ToolContext, found: tuple[SearchHit, ...]) -> str:
            epoch = await store.sessions.epoch(context.session_id)
            said = "\n".join(entry.message.content for entry in epoch.entries) if epoch is not None else ""
            return await findings_text(store, words, context, found, said=said, bot=names[0])

        async def zone(context: ToolContext) -> tzinfo:
            return await timezone_of(store, words, context)

        async def skills(context: ToolContext) -> Mapping[str, str]:
            chat = await store.people.chat(context.audience.chat_id)
            known = prompts.skills[prompts.personas.name(chat.persona)]
            language = words.script_named(context.script)
            return {skill.name: skill.told_in(language).text.replace(NAME_MARK, names[0]) for skill in known}

        consent = Consent(store, words, names, thread)
        promises = PromiseTools(store, words, consent, nudging_rules(settings.remind), thread)
        tools = [
            *MemoryTools(store, words, names, thread, consent, promises).tools(specs),
            remind_tool(store, words, self._reminders, specs["remind"], consent, thread),
            listen_tool(specs["stop_listen"], words.openings.text("listen_stopped", words.language)),
        ]
        if "memory_recall" in specs:
            search, cited = (
                searching(store, self._recalling, settings),
                cited_reader(store, words, self._notes, names[0]),
            )
            tools.append(recall_tool(specs["memory_recall"], search, render, zone, cited))
        if "look" in specs:
            tools.append(look_tool(specs["look"], store, self._media, words))
        if "image" in specs:
            tools.append(self._pictures.tool(specs["image"], consent))
        if "skill" in specs:
            tools.append(skill_tool(specs["skill"], skills))
        return (*tools, *self._outside(specs))


def searching(store: Store, recalling: Recall, settings: Settings) -> SearchFunction:
    """What the tool that recalls searches with: the wish, and what was just said there."""
    scene = settings.context.scene

    async def search(context: ToolContext, wish: RecallRequest) -> tuple[SearchHit, ...]:
        chat_id = context.audience.chat_id
        heard, said = await store.search.beside(context.session_id, chat_id, context.person_id)
        chat = await store.people.chat(chat_id)
        asking = replace(
            wish.within(context),
            heard=heard,
            own=own_lines(said, (), context.now),
            said=said[-1].text if said else "",
            scene=scene_text(chat.scene, scene.max_chars) if scene.include else "",
        )
        return tuple(one.finding for one in (await recalling.recall(asking)).chosen)

    return search


def sent_specs(settings: Settings, find: Callable[[str], Path], more: tuple[ToolSpec, ...] = ()) -> ToolSpecs:
    """What the model reads of the tools that a turn brings, `more` last; ConfigError as `read_specs`.

    Whether there are skills to read is not known here.
    """
    if not settings.prompt.tools:
        return {}
    recalls, looks = settings.memory.inject in ("tool", "both"), bool(settings.media.images)
    draws = bool(settings.image.model)
    servers = settings.mcp.servers
    wanted = {
        "memory_recall": recalls,
        "look": looks,
        "image": draws,
        "tool_find": bool(servers),
        "tool_use": bool(servers),
    }
    found = {
        language: {name: spec for name, spec in specs.items() if wanted.get(name, True)}
        for language, specs in read_specs(find).items()
    }
    for specs in found.values() if servers else ():
        listed = "\n".join(f"{name}: {as_data(rules.about)}".rstrip(": ") for name, rules in servers.items())
        specs["tool_find"] = replace(specs["tool_find"], description=f"{specs['tool_find'].description}\n{listed}")
    return {language: specs | {spec.name: spec for spec in more} for language, specs in found.items()}


def read_specs(find: Callable[[str], Path]) -> ToolSpecs:
    """What the model reads of each tool; ConfigError names all files that are broken."""
    specs: dict[Script, dict[str, ToolSpec]] = {language: {} for language in SCRIPTS}
    problems: list[str] = []
    ours = (
        each for each in ToolArguments.__subclasses__() if each.__module__.startswith("bot.")
    )  # plugins have others
    taken = {arguments.tool: arguments for arguments in ours}
    shipped = {path.stem: path for path in resource_dir("prompts/tools").glob("*.json") if "." not in path.stem}
    order = sorted(shipped, key=lambda name: (TOOLS.index(name) if name in TOOLS else len(TOOLS), name))
    for name, language in product(order, SCRIPTS):
        file = in_language(shipped[name], language).name
        try:
            specs[language][name] = read_spec(find(f"tools/{file}"), taken.get(name))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(tuple(dict.fromkeys(problems)))
    return specs


def read_spec(path: Path, arguments: type[ToolArguments] | None = None) -> ToolSpec:
    """What a model, or another agent, reads of a tool; ConfigError when the file is broken.

    Its schema is that of the `arguments`, with what the file says `about` them, where the file has none of its own.
    """
    try:
        body = json.loads(path.read_text("utf-8"))
        if arguments is None or "parameters" in body:
            schema = body["parameters"]
        else:
            schema = arguments.schema_told(body.get("about", {}))
        return ToolSpec(
            body["name"], body["description"], json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError((f"prompts: {path.parent.name}/{path.name} cannot be used ({error})",)) from error
