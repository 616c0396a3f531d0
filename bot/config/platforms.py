"""The keys of the chat platforms. A platform starts when it has a token."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.config.kinds import gateway, proxy_url, server_url
from bot.config.section import Section


class Telegram(Section):
    """Telegram; it starts when there is a token."""

    token: SecretStr | None = Field(
        default=None, description="Bot token from @BotFather; better kept as NUAN_TELEGRAM__TOKEN in .env."
    )
    base_url: Annotated[str, AfterValidator(server_url)] = Field(
        default="https://api.telegram.org", description="Address of the Bot API server."
    )
    proxy: Annotated[str, AfterValidator(proxy_url)] = Field(
        default="", description="Proxy, http://, https:// or socks5:// with host and port; empty for none."
    )
    delivery: Literal["send", "placeholder"] = Field(
        default="send",
        description="send: never twice, a reply cut off by a crash stays unknown; placeholder: … first, then edited.",
    )
    stream: bool = Field(default=True, description="Whether a reply is shown while it is written.")
    allow: tuple[str, ...] = Field(
        default=(), description="Ids of people and groups that may use the bot without being approved."
    )


class Discord(Section):
    """Discord; it starts when there is a token."""

    token: SecretStr | None = Field(
        default=None, description="Bot token of the developer portal; better kept as NUAN_DISCORD__TOKEN in .env."
    )
    api_url: Annotated[str, AfterValidator(server_url)] = Field(
        default="https://discord.com/api/v10", description="Address of the REST API."
    )
    gateway_url: Annotated[str, AfterValidator(gateway)] = Field(
        default="", description="Address of the gateway, ws:// or wss://; empty asks the REST API."
    )
    proxy: Annotated[str, AfterValidator(proxy_url)] = Field(
        default="", description="Proxy, http://, https:// or socks5:// with host and port; empty for none."
    )
    stream: bool = Field(default=True, description="Whether a long reply is shown while it is written.")
    allow: tuple[str, ...] = Field(
        default=(), description="Ids of people, guilds and channels that may use the bot without being approved."
    )
