"""What a channel's history tells of an absence: new messages, deleted ones, edited ones. It stores nothing."""

from collections.abc import Collection

import discord
from discord.abc import GuildChannel, Messageable

from adapters.discord.channels import HistoryUnavailable
from adapters.discord.client import Client
from adapters.discord.events import deletion, edit_of, from_message, place
from adapters.discord.sending import FAILURES, error_text
from bot.core.events import Incoming, Place
from bot.core.ports import Log

BACKLOG = 1_000
"""Messages of one channel that are read after an absence, the newest of them: ten requests."""
COMPARED = 100
"""Messages that are looked up after an absence, newest first: one request."""

_MALFORMED_PAYLOAD = (KeyError, TypeError, ValueError, AttributeError)


class History:
    """The histories that a connection can read."""

    def __init__(self, client: Client, log: Log) -> None:
        self._client = client
        self._log = log

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """What was said in a channel after that message, oldest first; Unread when another try may help."""
        client = self._client
        if client.user is None or not after.isdecimal():
            return ()
        channel = client.get_channel(int(there.external_id))
        last = getattr(channel, "last_message_id", None)
        if last is not None and last <= int(after):
            return ()
        read: list[discord.Message] = []
        try:
            since = discord.Object(int(after))
            async for message in self._source(there).history(limit=BACKLOG, after=since, oldest_first=False):
                read.append(message)  # noqa: PERF401 - what was read before an error is not lost
        except (discord.Forbidden, discord.NotFound) as error:
            self._log.info("discord_no_history", channel=there.external_id, code=error.code)
        except _MALFORMED_PAYLOAD as error:
            self._log.warning("discord_malformed", gateway_event="history", error=type(error).__name__)
        except FAILURES as error:
            raise HistoryUnavailable(error_text(error)) from error
        if len(read) == BACKLOG:
            self._log.warning("discord_backlog_cut", channel=there.external_id, messages=BACKLOG)
        found = (from_message(message, client.user) for message in reversed(read))
        return tuple(one for one in found if one is not None)

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Which of these messages were deleted or edited, oldest first; nothing when the history cannot be read.

        One request: only what is not older than the oldest message that it shows can be missing there.
        """
        me = self._client.user
        known = sorted(int(one) for one in stored if one.isdecimal())
        if me is None or not known or not self._shows_all(there):
            return ()
        try:
            before = discord.Object(known[-1] + 1)
            shown = {one.id: one async for one in self._source(there).history(limit=COMPARED, before=before)}
            start = min(shown) if len(shown) == COMPARED else 0
            found = [
                edit_of(shown[one], me) if one in shown else deletion(there, one, me.id)
                for one in known
                if one >= start
            ]
        except (*FAILURES, *_MALFORMED_PAYLOAD) as error:
            self._log.info("discord_not_compared", channel=there.external_id, error=type(error).__name__)
            return ()
        return tuple(one for one in found if one is not None)

    def _source(self, there: Place) -> Messageable:
        number = int(there.external_id)
        channel = self._client.get_channel(number)
        return channel if isinstance(channel, Messageable) else self._client.get_partial_messageable(number)

    def _shows_all(self, there: Place) -> bool:
        """Whether what is not in the history is gone: without the permission to read it Discord shows an empty one."""
        channel = self._client.get_channel(int(there.external_id))
        if isinstance(channel, GuildChannel | discord.Thread):
            return may_read(channel)
        return there.kind == "dm"


def readable(guild: discord.Guild) -> list[Place]:
    """Every channel and active thread whose history may be read."""
    channels: list[discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread] = []
    channels += [*guild.text_channels, *guild.voice_channels, *guild.stage_channels, *guild.threads]
    return [place(channel, channel.id, guild.id) for channel in channels if may_read(channel)]


def may_read(channel: GuildChannel | discord.Thread) -> bool:
    """Whether the bot may read what was said there before."""
    may = channel.permissions_for(channel.guild.me)
    return may.read_messages and may.read_message_history
