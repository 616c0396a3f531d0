"""Telegram, and here its table of the configuration."""

from typing import ClassVar, Literal

from pydantic import SecretStr

from bot.config.base import PlatformSettings, ProxyUrl, ServerUrl


class TelegramSettings(PlatformSettings):
    """Telegram; it starts when there is a token."""

    adapter: ClassVar = "adapters.telegram.adapter:TelegramAdapter"
    key_form: ClassVar = r"\d{1,20}:[\w-]+"
    sticker_form: ClassVar = ".+"
    sticker_help: ClassVar = "a file id, or SETNAME/3: the third of a set"
    unneeded: ClassVar = ("apscheduler", "cryptography", "httpx._main")

    token: SecretStr | None = None
    """Bot token from @BotFather; better kept as NUAN_TELEGRAM__TOKEN in .env."""
    base_url: ServerUrl = "https://api.telegram.org"
    """Address of the Bot API server."""
    proxy: ProxyUrl = ""
    """Proxy, http://, https:// or socks5:// with host and port; empty for none."""
    delivery: Literal["send", "placeholder"] = "send"
    """send: never twice, a reply cut off by a crash stays unknown; placeholder: … first, then edited."""
