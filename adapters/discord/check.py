"""Whether a Discord token works from here, and which intents are switched on. It opens no gateway."""

import aiohttp
import discord
from aiohttp_socks import ProxyError

from adapters.discord.client import Address, Client
from bot.types.finding import Finding
from bot.types.log import Log


async def check(token: str, address: Address, log: Log) -> tuple[Finding, ...]:
    """Ask the API who the bot is; never raises for what a token, a proxy or a server can do."""
    where = f"{address.api}{' through the proxy' if address.proxy else ''}"
    client = Client(address, lambda event, given: None, log)
    try:
        await client.login(token)
        info = await client.application_info()
        gateway = address.gateway or (await client.http.get_bot_gateway())[1]
    except discord.LoginFailure:
        return (Finding(False, "discord.token", "is refused: take the one of the developer portal, Bot, Reset Token"),)
    except (discord.DiscordException, aiohttp.ClientError, ProxyError, OSError, TimeoutError) as error:
        text = f"{where} cannot be reached ({type(error).__name__}): check discord.api_url and discord.proxy"
        return (Finding(False, "discord", text),)
    finally:
        await client.shut()
    flags = info.flags
    intents = (
        ("Message Content", flags.gateway_message_content or flags.gateway_message_content_limited),
        ("Server Members", flags.gateway_guild_members or flags.gateway_guild_members_limited),
    )
    return (
        Finding(True, "discord", f"{where} knows the bot as {info.name}, the gateway is {gateway}"),
        *(
            Finding(on, "discord", f"intent {name}: {'on' if on else 'off; switch it on in the developer portal, Bot'}")
            for name, on in intents
        ),
    )
