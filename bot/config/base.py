"""The base class of all configuration tables, and validators of single values (addresses, zones, regions, lists)."""

import ast
import inspect
import ipaddress
import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from textwrap import dedent
from types import NoneType
from typing import Annotated, ClassVar, get_args, get_origin
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

ModelName = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]
Money = Annotated[float | None, Field(ge=0)]
Tokens = Annotated[int | None, Field(ge=0, le=10**15)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=100_000)]
Seconds = Annotated[int, Field(ge=1, le=86_400)]
Hour = Annotated[int, Field(ge=0, le=23)]
Days = Annotated[int, Field(ge=1, le=36_500)]


def is_loopback(url: str) -> bool:
    """Whether the server of this URL runs on this machine (localhost, 127.0.0.0/8, ::1); False for anything unclear."""
    try:
        return is_loopback_host(urlsplit(url).hostname or "")
    except ValueError:
        return False


LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
"""The names by which a browser on this machine asks for what only this machine reaches."""


def is_loopback_host(host: str) -> bool:
    """Whether only this machine can reach that host."""
    try:
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def value_error(text: str) -> PydanticCustomError:
    """An error with our own words."""
    return PydanticCustomError("nuan", "{text}", {"text": text})


def server_url(url: str) -> str:
    """The address as it is, or an error that says what is wrong with it."""
    wanted = "must begin with http:// or https:// and name a server, for example http://localhost:11434/v1"
    parts = urlsplit(_address(url, ("http", "https"), wanted))
    if parts.username is not None or parts.password is not None:
        raise value_error("must not hold a user name or password; the key belongs into model.api_key")
    return url


def proxy_url(url: str) -> str:
    """The proxy as it is, or an error that says what is wrong with it."""
    return _address(url, ("http", "https", "socks5"), "must be like http://host:port or socks5://host:port")


def gateway(url: str) -> str:
    """The gateway as it is, or an error that says what is wrong with it."""
    return _address(url, ("ws", "wss"), "must begin with ws:// or wss:// and name a server")


def _address(url: str, schemes: tuple[str, ...], wanted: str) -> str:
    try:
        parts = urlsplit(url)
        usable = not url or (parts.scheme in schemes and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        raise value_error(wanted)
    return url


def zone(name: str) -> str:
    """The name as it is, if it is a time zone's."""
    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        wanted = "is no time zone name; write one like Asia/Shanghai, or nothing for the machine's"
        raise value_error(wanted) from error
    return name


def region(code: str) -> str:
    """The code as it is, if it has a holiday calendar."""
    if code in ("", "CN"):
        return code
    from holidays import list_supported_countries  # heavy, and needed for other regions only

    if code not in list_supported_countries():
        raise value_error("has no holiday calendar; write a two-letter country code like CN, TW or US, or nothing")
    return code


def json_list(text: str) -> object:
    """The list that a text in brackets holds."""
    try:
        return json.loads(text)
    except ValueError:
        raise value_error('must be a list, like ["a", "b"], or texts with commas between them') from None


ServerUrl = Annotated[str, AfterValidator(server_url)]
ProxyUrl = Annotated[str, AfterValidator(proxy_url)]


class SettingsTable(BaseModel):
    """One table of the configuration: frozen, and no key but its own. The text under a key is its help."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        allow_inf_nan=False,
        validate_default=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _written(cls, value: object, info: ValidationInfo) -> object:
        """Read the forms a file or a variable can hold: "none" for no value, commas for a list; true is no number."""
        kind = cls.model_fields[info.field_name or ""].annotation
        if isinstance(value, bool) and kind is not bool and bool not in get_args(kind):
            raise value_error("must not be true or false")
        if not isinstance(value, str):
            return value
        if NoneType in get_args(kind) and value.strip().lower() in ("", "none"):
            return None
        listed = tuple in (get_origin(each) for each in (kind, *get_args(kind)))
        if listed and value.lstrip().startswith("["):
            return json_list(value)
        if listed:
            return tuple(part for part in re.split(r"\s*[,，]\s*", value.strip()) if part)
        return value


@cache
def help_of(table: type[BaseModel]) -> Mapping[str, str]:
    """The text under each key of a table and of those it inherits from, on one line. It is read from the source when
    somebody asks: 40 tables are made at each start."""
    found: dict[str, str] = {}
    for each in reversed(table.__mro__):
        if issubclass(each, BaseModel) and each.__module__.startswith(("bot.", "adapters.")):
            (made,) = ast.parse(dedent(inspect.getsource(each))).body
            for key, text in pairwise(made.body if isinstance(made, ast.ClassDef) else ()):
                match key, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                        found[name] = " ".join(said.split())
    return found


class PlatformSettings(SettingsTable):
    """The table of one platform. Its own keys are what the adapter connects with: a change of them waits for a restart."""

    adapter: ClassVar[str]
    """Where its adapter is, as "module:class", called with this table, the commands of its menu, a clock and a log."""
    starts_with: ClassVar[str] = "token"
    """Name of the key that must be set for the platform to start."""
    key_form: ClassVar[str] = ""
    """What that key looks like, as a regular expression of ASCII; "": `nuan init` does not ask for it."""
    sticker_form: ClassVar[str] = ""
    """How it names a sticker in a persona's pack, as a regular expression; "": it has none."""
    sticker_help: ClassVar[str] = ""
    """The same in words, for who wrote it otherwise."""
    unneeded: ClassVar[tuple[str, ...]] = ()
    """Modules that its library loads in case they are used, and nuan does not use."""

    stream: bool = True
    """Whether a reply is shown while it is written."""
    allow: tuple[str, ...] = ()
    """Ids of people and groups that may use the bot without being approved."""

    @property
    def configured(self) -> bool:
        """Whether this platform is to start."""
        return bool(getattr(self, self.starts_with))
