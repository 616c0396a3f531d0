"""The table [mcp]: agents that use this memory, and the servers whose tools nuan uses."""

from fnmatch import fnmatchcase
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, model_validator

from bot.config.base import Count, SettingsTable, value_error

AskRule = Literal["changes", "always", "never"]

EVERYWHERE = ("owner", "dm", "group")
"""The kinds of chats that a server may be used in: direct ones of an owner, all direct ones, all groups."""

ServerName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,31}$")]


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise value_error("must begin with http:// or https:// and name a server")
    if urlsplit(url).password is not None:
        raise value_error("must not hold a password; it belongs into headers")
    return url


def _places(chats: tuple[str, ...]) -> tuple[str, ...]:
    if wrong := next((each for each in chats if each not in EVERYWHERE and ":" not in each), None):
        raise value_error(f"must each be owner, dm, group or platform:id, not {wrong!r}")
    return chats


class OutsideServer(SettingsTable):
    """One server whose tools nuan may use, as [mcp.servers.NAME]: `command` starts it, or `url` is where it is."""

    command: str = ""
    """Program that is started and spoken to over its standard input and output."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, SecretStr] = Field(default={})
    """Variables it gets, beside PATH, HOME, LANG and the like; it sees none of nuan's own."""
    url: Annotated[str, AfterValidator(_address)] = ""
    """Address of a server that runs elsewhere (Streamable HTTP), in place of command."""
    headers: dict[str, SecretStr] = Field(default={})
    """Headers that every request to url brings, for example Authorization."""
    about: str = Field(default="", max_length=60)
    """What it is for, in a few words that the model reads; never taken from the server itself."""
    tools: tuple[str, ...] = ()
    """What may be used of it, by name, also with *: read_*; resources are resource.NAME, prompts prompt.NAME. Empty:
    all."""
    chats: Annotated[tuple[str, ...], AfterValidator(_places)] = ("owner",)
    """Where: owner (an owner's direct chats), dm, group, or one chat as platform:id."""
    ask: AskRule = "changes"
    """Whether the person is asked before a call: changes (once in a chat, for what may change something), always (before
    each call) or never."""
    timeout_seconds: int = Field(default=20, ge=1, le=120)
    """How long one call may take, and the start of the server before it, in seconds."""
    day_calls: Count = 200
    """Most calls of it in a day."""

    @model_validator(mode="after")
    def _one_way(self) -> "OutsideServer":
        if bool(self.command) == bool(self.url):
            raise value_error("must have either command or url")
        return self

    def offers(self, name: str) -> bool:
        """Whether what goes by that name may be used."""
        return not self.tools or any(fnmatchcase(name, pattern) for pattern in self.tools)

    def offers_any(self, beginning: str) -> bool:
        """Whether something may be used whose name begins so."""
        return not self.tools or any(pattern.startswith((beginning, "*")) for pattern in self.tools)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be in a log."""
        return tuple(value.get_secret_value() for value in (*self.env.values(), *self.headers.values()))


class AgentRules(SettingsTable):
    """Other agents that use this memory (`nuan mcp`), and servers whose tools nuan uses, each [mcp.servers.NAME]."""

    remember_per_day: int = Field(default=50, ge=0, le=10_000)
    """Most memories that other agents may add for a person in 24 hours."""
    forget_per_day: int = Field(default=20, ge=0, le=10_000)
    """Other agents forget nothing more for a person of whom so many memories were forgotten within 24 hours."""
    servers: dict[ServerName, OutsideServer] = Field(default={})
    """Servers whose tools the model may use; each is a table [mcp.servers.NAME] with the keys below."""
