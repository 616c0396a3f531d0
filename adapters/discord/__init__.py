"""Discord, and here its table of the configuration."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, SecretStr

from bot.config.base import PlatformSettings, ProxyUrl, ServerUrl, gateway


class DiscordSettings(PlatformSettings):
    """Discord; it starts when there is a token."""

    adapter: ClassVar = "adapters.discord.adapter:DiscordAdapter"

    token: SecretStr | None = None
    """Bot token of the developer portal; better kept as NUAN_DISCORD__TOKEN in .env."""
    api_url: ServerUrl = "https://discord.com/api/v10"
    """Address of the REST API."""
    gateway_url: Annotated[str, AfterValidator(gateway)] = ""
    """Address of the gateway, ws:// or wss://; empty asks the REST API."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    stream: bool = True
    """Whether a long reply is shown while it is written."""
    allow: tuple[str, ...] = ()
    """Ids of people, guilds and channels that may use the bot without being approved."""
