"""Discord, and here its table of the configuration."""

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator, SecretStr

from bot.config.base import PlatformSettings, ProxyUrl, ServerUrl, gateway, value_error
from bot.core.events import Place

_SHARDS = re.compile(r"(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?/(?P<count>\d{1,5})")


@dataclass(frozen=True, slots=True)
class Shards:
    """Which of a bot's connections are this one's: their numbers, and how many there are. Without any it is one alone."""

    numbers: range = range(1)
    count: int = 1

    def of(self, place: Place) -> int:
        """The shard that a place's events come by: its guild says which, all that is of no guild comes by the first."""
        return (int(place.parent) >> 22) % self.count if place.parent.isdecimal() else 0

    def has(self, place: Place) -> bool:
        """Whether a place's events come here."""
        return self.of(place) in self.numbers


def shards_of(text: str) -> Shards:
    """What "0-3/16" or "4/16" says, "" for a single connection; ValueError for anything else."""
    if not text:
        return Shards()
    if (found := _SHARDS.fullmatch(text)) is None:
        raise value_error("must be like 0-3/16: the first and the last shard of this process, and how many there are")
    first, count = int(found["first"]), int(found["count"])
    last = int(found["last"] or first)
    if not first <= last < count:
        raise value_error(f"must name shards from 0 to {count - 1}, the first one first")
    return Shards(range(first, last + 1), count)


def _shards(text: str) -> str:
    shards_of(text)
    return text


class DiscordSettings(PlatformSettings):
    """Discord; it starts when there is a token."""

    adapter: ClassVar = "adapters.discord.adapter:DiscordAdapter"
    key_form: ClassVar = r"[\w.-]+"
    sticker_form: ClassVar = r"\d+|<a?:.*"
    sticker_help: ClassVar = "the number of a sticker, or an emoji like <:name:123>"

    token: SecretStr | None = None
    """Bot token of the developer portal; better kept as NUAN_DISCORD__TOKEN in .env."""
    api_url: ServerUrl = "https://discord.com/api/v10"
    """Address of the REST API."""
    gateway_url: Annotated[str, AfterValidator(gateway)] = ""
    """Address of the gateway, ws:// or wss://; empty asks the REST API."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    shards: Annotated[str, AfterValidator(_shards)] = ""
    """Of a bot in thousands of servers, which of its shards this process has, like 0-3/16 or 4/16; empty: the bot has one
    connection. Two processes must not have the same one; every process says the same number behind the stroke."""
    stream: bool = True
    """Whether a long reply is shown while it is written."""
    allow: tuple[str, ...] = ()
    """Ids of people, guilds and channels that may use the bot without being approved."""
