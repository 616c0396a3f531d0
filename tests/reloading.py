"""A World that is configured by files, as a real nuan is, and reads them anew by the code of the real one."""

import shutil
from dataclasses import replace
from pathlib import Path

from bot.app import App
from bot.cli.installation import RESTART_PLATFORM_KEYS, ConfigSource, make_dependencies
from bot.cli.reload import RESTART_LOG_KEYS, Reloader
from bot.config.settings import Settings
from bot.core.files import resource_dir
from bot.core.ports import ReloadResult
from bot.model.pool import ModelPool
from bot.store.store import open_store
from tests.blank import lay, unsynced
from tests.fakes.model import ScriptedModel
from tests.world import Talk, World

TOML = """\
prompts_dir = "{home}/prompts"
persona = "own"
[bot]
timezone = "Asia/Shanghai"
[prompt]
light = "off"
"""

SERVER = '[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "{name}"\n'


class Closable(ScriptedModel):
    """A model that says whether its connections are closed."""

    closed = 0

    async def close(self) -> None:
        """Count."""
        self.closed += 1


class Filed(World):
    """One nuan with nuan.toml, a persona and an own folder of prompts in `home`."""

    def __init__(self, home: Path, more: str = "", platforms: tuple[str, ...] = ()) -> None:
        super().__init__(home / "data", platforms=platforms)
        self.home = home
        shutil.copytree(resource_dir("data/persona") / "default", self.persona)
        (home / "prompts").mkdir()
        self.write(more)
        self.model: Closable = Closable()
        self.models = [self.model]
        self.reloader: Reloader

    @property
    def persona(self) -> Path:
        """The folder of the persona."""
        return self.home / "data" / "persona" / "own"

    def write(self, more: str, toml: str = TOML) -> None:
        """Save nuan.toml as an editor does: beside, then over it."""
        new = self.home / "nuan.toml.new"
        new.write_text(toml.replace("{home}", str(self.home)) + more, "utf-8")
        new.replace(self.home / "nuan.toml")

    def own(self, name: str, text: str) -> None:
        """Replace one of the shipped prompts."""
        file = self.home / "prompts" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")

    async def open(self, *, settle: bool = True) -> "Filed":
        """Start as the command line does."""
        source = ConfigSource(self.home / "nuan.toml", self.folder, {})
        place = source.read()
        self.settings = place.settings
        self.reloader = Reloader(
            source, place, (*RESTART_LOG_KEYS, *RESTART_PLATFORM_KEYS), lambda settings, _: self._hire(settings)
        )
        lay(self.folder)
        self.store = await open_store(self.folder, frozenset(self.settings.bot.owners), self.settings.allow_list)
        unsynced(self.store)
        parts = make_dependencies(place, self.store, self._make_pool(), self.log, self.clock)
        self.parts = replace(parts, reload=self.reloader.command, apply=self.reloader.apply)
        self.app = App(self.parts)
        self.reloader.serve(self.app, lambda _: None)
        await self.app.start([self.talk, *(Talk(platform, said=self.talk.said) for platform in self.platforms)])
        if settle:
            await self.app.settled()
        return self

    def _hire(self, settings: Settings) -> ModelPool:
        """Other settings of the model: another one answers from now on."""
        self.settings, self.model = settings, Closable()
        self.models.append(self.model)
        return self._make_pool()

    async def reload(self) -> ReloadResult:
        """As a signal does."""
        return await self.reloader.reload("signal")

    async def edit_persona(self, text: str) -> None:
        """The identity says one sentence more; nobody reads it yet."""
        file = self.persona / "IDENTITY.md"
        file.write_text(file.read_text("utf-8") + f"\n{text}\n", "utf-8")
