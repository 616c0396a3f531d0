"""A plugin as plain values: what a package of somebody else (entry-point group `nuan.plugins`), or a file in the folder
plugins of the data folder, adds to nuan. `docs/plugins.md` tells how one is written."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import ConfigDict, Field, StringConstraints

from bot.core.events import CommandSpec, Place
from bot.core.people import Audience
from bot.core.ports import Adapter, Clock, Log
from bot.core.tools import ToolArguments

PLUGIN_API = 1
"""The version of these values; it rises when a plugin that was written for an earlier one would not work any more."""

_CHECKED = ConfigDict(strict=True, revalidate_instances="always", arbitrary_types_allowed=True)
"""A plugin is checked when it is found: its fields are of these types, and within these limits."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
About = Annotated[str, StringConstraints(min_length=1, max_length=300)]
PluginSeconds = Annotated[float, Field(gt=0, le=60, strict=False)]


class PluginValues(Protocol):
    """Texts that one plugin keeps of one chat: at most 100 keys of 64 characters, each with 4000 characters."""

    async def get(self, key: str) -> str:
        """What was put there in this chat, "" for nothing."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Keep it until the person whose call this is, or the chat, is erased; "" takes it away. ValueError past a
        limit."""
        ...


@dataclass(frozen=True, slots=True)
class PluginCall:
    """On whose behalf a tool or a command runs, and who can read what it answers; `words` follow a command's name.

    `options` are what the operator wrote for the plugin, into NAME.toml in the folder plugins of the data folder.
    """

    audience: Audience
    person_id: int
    script: str
    now: int
    values: PluginValues
    options: Mapping[str, Any]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginTool:
    """A tool for the model, which reads `about` and the fields of `arguments` with their descriptions.

    `run` answers with a text, of which the model reads the first 300 tokens. One that only `reads` may run beside
    others, and is called again after a crash. It may take so many `seconds`, and be called `day_calls` times a day.
    """

    __pydantic_config__: ClassVar = _CHECKED

    name: Name
    about: About
    arguments: type[ToolArguments]
    run: Callable[[PluginCall, Any], Awaitable[str]]
    reads: bool = True
    seconds: PluginSeconds = 10
    day_calls: Annotated[int, Field(ge=1, le=100_000)] = 500


@dataclass(frozen=True, slots=True)
class PluginCommand:
    """`.ai NAME`: `run` gets the words after the name and answers with a text, "" for nothing.

    `arguments` is how help shows them ("[NUMBER]"). The answer of a `private` one is for its sender, also in a group;
    one that is `owners` is for owners alone.
    """

    __pydantic_config__: ClassVar = _CHECKED

    name: Name
    about: About
    run: Callable[[PluginCall], Awaitable[str]]
    arguments: Annotated[str, StringConstraints(max_length=80)] = ""
    private: bool = False
    owners: bool = False
    seconds: PluginSeconds = 10


@dataclass(frozen=True, slots=True)
class PluginSkill:
    """A skill for every persona that has none of this name: its first line says what it is for."""

    __pydantic_config__: ClassVar = _CHECKED

    name: Name
    text: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


@dataclass(frozen=True, slots=True)
class PluginAdapter:
    """A platform of this name: `make` gets the plugin's options, the commands for a menu, the clock and the log, and
    returns what `docs/adapter.md` says an adapter is. It is made only where the operator wrote options."""

    __pydantic_config__: ClassVar = _CHECKED

    name: Name
    make: Callable[[Mapping[str, Any], tuple[CommandSpec, ...], Clock, Log], Adapter]


@dataclass(frozen=True, slots=True)
class Plugin:
    """What one plugin adds. `scenes` are asked at each message and must answer at once: a short text about its place,
    or None."""

    __pydantic_config__: ClassVar = _CHECKED

    name: Name
    tools: tuple[PluginTool, ...] = ()
    commands: tuple[PluginCommand, ...] = ()
    skills: tuple[PluginSkill, ...] = ()
    scenes: tuple[Callable[[Place], str | None], ...] = ()
    adapters: tuple[PluginAdapter, ...] = ()
    api: int = PLUGIN_API
