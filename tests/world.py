"""The World: the whole bot with simulated time, a scripted model and a talking adapter; SQLite is real."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from bot.app import App
from bot.config.settings import Settings
from bot.container import Dependencies
from bot.core.events import Incoming, Outgoing, Place, Sender
from bot.core.files import PromptFiles
from bot.core.models import Capabilities, Message
from bot.core.parts import PartKind
from bot.core.people import ErasedPerson
from bot.core.ports import ReloadResult, Role, SettingChanges
from bot.model.pool import DrawingEndpoint, Endpoint, ModelPool, SpeechEndpoint
from bot.money import rate_of
from bot.peer import Peer
from bot.pipeline.concurrency import WorkQueue
from bot.pipeline.endpoints import make_embedding
from bot.pipeline.texts import Texts
from bot.plugins import Plugins
from bot.store.settings import settings_in
from bot.store.store import DATABASE, Store, open_store
from bot.text.catalogue import Catalogue, catalogue
from tests.blank import lay, unsynced
from tests.configured import configured
from tests.fakes.clock import SimClock, let_others_run
from tests.fakes.model import ScriptedModel, ScriptedPainter, ScriptedSpeaker
from tests.peek import Peek
from tests.servers import URLS, read
from tests.sizes import PATIENCE_S

NINE = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai (01:00 UTC): an ordinary morning."""

MACHINE_ZONE = "Asia/Shanghai"
"""Where the machine of a World stands, whose zone counts when none is configured."""


@dataclass
class Talk:
    """The adapter of the World: everything that was said, in order."""

    platform: str = "console"
    resends: bool = True
    sends: dict[PartKind, int] = field(default_factory=dict)
    said: list[Outgoing] = field(default_factory=list)
    broken: bool = False
    check: Callable[[str], bool] = lambda text: True

    async def run(self, sink: object) -> None:
        """Nothing comes by itself."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Take it, or fail as a platform does."""
        if self.broken:
            raise OSError("the platform is away")
        assert self.check(outgoing.text), outgoing.text
        self.said.append(outgoing)
        return (str(outgoing.outbox_id),)


@dataclass
class Lines:
    """A log that a test can read."""

    lines: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)

    def debug(self, event: str, **fields: object) -> None:
        """Keep it."""
        self.lines.append(("debug", event, fields))

    def info(self, event: str, **fields: object) -> None:
        """Keep it."""
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: object) -> None:
        """Keep it."""
        self.lines.append(("warning", event, fields))

    def error(self, event: str, **fields: object) -> None:
        """Keep it."""
        self.lines.append(("error", event, fields))

    def named(self, event: str) -> list[dict[str, object]]:
        """The fields of all lines of one event."""
        return [fields for _, name, fields in self.lines if name == event]


class Seen:
    """What a test may look at: what nuan said, what the model was sent, what the files hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peek = Peek(folder / "nuan.db")
        self.model = ScriptedModel()
        self.talk = Talk()
        self.log = Lines()

    @property
    def replies(self) -> list[str]:
        """Everything nuan said."""
        return [outgoing.text for outgoing in self.talk.said]

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        """What the database file holds, read beside the running bot; for what `peek` cannot say."""
        return read(self.folder / DATABASE, sql, values)

    @property
    def turns(self) -> list[tuple[Message, ...]]:
        """The messages of every request for a reply; the requests for digests bring no tools and are left out."""
        return [request.prompt.messages for request in self.model.requests if request.prompt.tools]

    @property
    def sent(self) -> str:
        """Every byte the model was ever sent."""
        return "\n".join(message.canonical() for prompt in self.prompts for message in prompt)

    @property
    def prompts(self) -> list[tuple[Message, ...]]:
        """The messages of every request the model got."""
        return [request.prompt.messages for request in self.model.requests]

    @property
    def last_user(self) -> str:
        """The last user message the model got."""
        return [message.content for message in self.prompts[-1] if message.role == "user"][-1]


def full_only(settings: Settings) -> Settings:
    """The settings with every request on the full bootstrap, unless they say more: what most tests look at is there."""
    if "prompt" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"prompt": settings.prompt.model_copy(update={"light": "off"})})


def by_words(settings: Settings) -> Settings:
    """The settings with recall by words alone, unless they say more: no test but its own starts the local encoder."""
    if {"mode", "embedding"} & settings.memory.model_fields_set:
        return settings
    return settings.model_copy(update={"memory": settings.memory.model_copy(update={"mode": "v2"})})


@cache
def usual() -> Settings:
    """The settings of a World that asks for none."""
    return by_words(full_only(Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}})))


def with_said(settings: Settings, said: SettingChanges) -> Settings:
    """The settings with what was set in chats."""
    for key, value in said.items():
        table, _, name = key.partition(".")
        if name and value is not None:
            section = getattr(settings, table)
            told = {**section.model_dump(exclude_unset=True), name: value}
            settings = settings.model_copy(update={table: type(section).model_validate(told)})
    return settings


@cache
def catalogues(folder: str) -> tuple[Catalogue, Catalogue]:
    """The sentences of messages and openings; read once for all Worlds, as nothing writes them while one runs."""
    prompts = PromptFiles(Path(folder) if folder else None)
    return catalogue(prompts.path, "messages"), catalogue(prompts.path, "opening")


class World(Seen):
    """One nuan, its people and its time."""

    def __init__(self, folder: Path, settings: Settings | None = None, platforms: tuple[str, ...] = ()) -> None:
        super().__init__(folder)
        self.platforms = platforms
        self.settings = by_words(full_only(settings)) if settings else usual()
        self.clock = SimClock(NINE)
        self._typed: dict[tuple[str, str, str, object], int] = {}
        self.fallbacks: tuple[ScriptedModel, ...] = ()
        self.small: ScriptedModel | None = None
        self.speaker: ScriptedSpeaker | None = None
        self.painter: ScriptedPainter | None = None
        self.scrub: Callable[[ErasedPerson], int] | None = None
        self.said: dict[str, str | None] = {}
        self.plugins = Plugins()
        self.personas: dict[str, Path] | None = None
        self.roles: tuple[Role, ...] = ()
        self.wakes = False
        self.app: App
        self.store: Store

    async def open(self, *, settle: bool = True) -> "World":
        """Start nuan on this folder; without `settle` return while it still takes up what was left."""
        messages, openings = catalogues(self.settings.prompts_dir)
        words = Texts(
            messages,
            openings,
            self.settings.bot.language,
            self.settings.bot.timezone or MACHINE_ZONE,
            self.settings.bot.holidays,
            self.settings.bot.names,
        )
        allow = self.settings.allow_list
        url = URLS.get(self.folder, "")
        new = not url and lay(self.folder)
        owners = frozenset(self.settings.bot.owners)
        self.store = await open_store(self.folder, owners, allow, url=url, roles=self.roles, wakes=self.wakes)
        unsynced(self.store)
        self.said = {} if new else {one.key: one.value for one in settings_in(self.folder / DATABASE, url)}
        current = configured(
            with_said(self.settings, self.said),
            words,
            self._make_pool(),
            self.log,
            folders=self.personas,
            plugins=self.plugins,
        )
        self.parts = Dependencies(
            self.store,
            self.clock,
            self.log,
            current,
            reload=self._reload if self.roles else None,
            apply=self._apply,
            scrub=self.scrub,
            plugins=self.plugins,
        )
        self.app = Peer(self.parts, roles=self.roles) if self.roles else App(self.parts)
        # What is said anywhere is said to one list, in order.
        await self.app.start([self.talk, *(Talk(platform, said=self.talk.said) for platform in self.platforms)])
        if settle:
            await self.settled()
        return self

    async def _apply(self, wish: SettingChanges, person_id: int) -> tuple[str, ...]:
        """Something is set in a chat; where it contradicts itself is looked for with files (`tests/reloading.py`)."""
        await self.store.settings.put(wish, person_id, self.clock.now())
        await self._take({**self.said, **wish})
        if self.store.wakeups is not None:
            self.store.wakeups.tell("settings", 0)
        return ()

    async def _reload(self) -> ReloadResult:
        """Another process set something in a chat."""
        await self._take({one.key: one.value for one in await self.store.settings.all()})
        return ReloadResult()

    async def _take(self, said: SettingChanges) -> None:
        self.said = dict(said)
        current, settings = self.parts.current, with_said(self.settings, self.said)
        await current.replace(replace(current.newest, settings=settings, written=settings))

    def _make_pool(self) -> ModelPool:
        """The models; alone the first one is asked once, unless the settings say more: trying again takes time."""
        settings, can = self.settings, Capabilities()
        tries = settings.model.tries if self.fallbacks or "tries" in settings.model.model_fields_set else 1
        fallbacks = tuple(Endpoint(model, rate_of(settings.fallback, can)) for model in self.fallbacks)
        small = Endpoint(self.small, rate_of(settings.small, can)) if self.small is not None else None
        first = Endpoint(self.model, rate_of(settings.model, can))
        speech = SpeechEndpoint(self.speaker, settings.voice.price or 0.0) if self.speaker is not None else None
        drawing = DrawingEndpoint(self.painter, settings.image.price or 0.0) if self.painter is not None else None
        return ModelPool(first, fallbacks, small, tries, make_embedding(by_words(settings)), speech, drawing)

    async def close(self) -> None:
        """Stop as an operator does: nothing is closed, everything is parked."""
        await self.app.stop()
        await self.store.close()

    async def restart(self) -> None:
        """Stop and start again on the same folder."""
        await self.close()
        await self.open()

    async def crash(self, *, shut: bool = False) -> None:
        """Die as by kill -9 and start again.

        With `shut` the model lets the calls of the new start wait as well.
        """
        await self.kill()
        self.model.gate = asyncio.Event() if shut else None
        await self.open(settle=not shut)

    async def kill(self) -> None:
        """Die as by kill -9: running work is cut off, alarms are gone, only the files are left."""
        app = self.app
        app._alarms.stop()
        app._services.vector_maker.end()
        await asyncio.gather(*(queue.close(0) for queue in self._work_queues(app)))
        await asyncio.to_thread(app._thread.close)  # no thread outlives its process
        await app._services.servers.close()  # nor does a program that it started, whose pipes are gone
        await self.store.close()
        self.away(0)
        self.model.gate = None

    def _work_queues(self, app: App) -> tuple[WorkQueue, ...]:
        return (
            app._alarm_queue,
            app._chats,
            app._digests,
            app._sends,
            app._notes,
            app._vectors,
            app._lives,
            app._rewrites,
            app._rolls,
            app._backups,
        )

    def away(self, seconds: float) -> None:
        """Time passes while no process runs: no alarm of the last one is left."""
        self.clock = SimClock(self.clock.now() + round(seconds * 1000))

    async def say(self, text: str, who: str = "小王", group: str = "", **facts: object) -> None:
        """Somebody writes; returns when everything it caused has settled.

        Nobody types the same twice in a quarter of a second, so for that time passes; a test of copies brings ids.
        """
        line = (text, who, group, facts.get("platform"))
        since = self.clock.now() - self._typed.get(line, 0)
        if since <= 250 and not facts.keys() & {"external_id", "delivery_key"}:
            await self.wait(0.251 - since / 1000)
        self._typed[line] = self.clock.now()
        await self.app.ingest.accept(self.message(text, who, group, **facts))  # type: ignore[arg-type]
        await self.settled()

    async def settled(self) -> None:
        """Return when nothing is in flight; TimeoutError when that never comes."""
        async with asyncio.timeout(PATIENCE_S):
            await self.app.settled()

    def message(
        self, text: str, who: str = "小王", group: str = "", platform: str = "console", **facts: object
    ) -> Incoming:
        """What an adapter would bring: a DM from 小王 (the owner), or a group's line; elsewhere nobody is known."""
        if platform != "console":
            where = Place(platform, f"group:{group}" if group else f"dm:{who}", "group" if group else "dm", group)
            parent = str(facts.pop("parent", ""))
            sender = Sender(platform, f"{platform[0]}-{who}", who, bool(facts.pop("is_bot", False)))
            return Incoming(replace(where, parent=parent), sender, "message", text, **facts)  # type: ignore[arg-type]
        place = Place("console", f"group:{group}", "group", group) if group else Place("console", "local", "dm")
        sender = Sender("console", "local" if who == "小王" else f"person:{who}", who)
        if not group and who != "小王":
            place = Place("console", f"dm:{who}", "dm")
        return Incoming(place, sender, "message", text, **facts)  # type: ignore[arg-type]

    async def held(self, calls: int = 1) -> None:
        """Return when nothing moves any more but `calls` model calls, which wait at the shut gate."""
        async with asyncio.timeout(PATIENCE_S):
            while self.model.held < calls or self.app._activity._count > self.model.held:
                await let_others_run()

    def shut(self) -> None:
        """From now on the model lets every request wait."""
        self.model.gate = asyncio.Event()

    async def let_answer(self) -> None:
        """The model answers what waits; returns when everything has settled."""
        if self.model.gate is not None:
            self.model.gate.set()
        self.model.gate = None
        await self.settled()

    async def answer_one(self) -> None:
        """The model answers what waits, and lets the next request wait again."""
        gate, count = self.model.gate, len(self.model.requests)
        self.shut()
        if gate is not None:
            gate.set()
        async with asyncio.timeout(PATIENCE_S):
            while len(self.model.requests) == count:
                await let_others_run()
        await self.held()

    async def wait(self, seconds: float) -> None:
        """Time passes, deadline by deadline; calls that are held at the shut gate stay there."""
        held = getattr(self.model, "held", 0)  # a test may put a real client in the place of the script
        settled = (lambda: self.held(held)) if held else self.settled
        await self.clock.advance(round(seconds * 1000), settled)


def open_files() -> int:
    """How many descriptors this process holds."""
    return len(list(Path("/proc/self/fd").iterdir()))
