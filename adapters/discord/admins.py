"""Who looks after a Discord server, as Discord says."""

import discord

from adapters.discord.send import FAILURES


async def is_admin(client: discord.Client, external_chat_id: str, account: str) -> bool:
    """Whether that account owns the channel's server or has the permission Administrator there.

    OSError when Discord cannot be asked.
    """
    if not (external_chat_id.isdecimal() and account.isdecimal()):
        return False
    guild = getattr(client.get_channel(int(external_chat_id)), "guild", None)
    if not isinstance(guild, discord.Guild):
        return False
    if guild.owner_id == int(account):
        return True
    try:
        return (await guild.fetch_member(int(account))).guild_permissions.administrator
    except discord.NotFound:
        return False
    except FAILURES as error:
        raise OSError(type(error).__name__) from None
