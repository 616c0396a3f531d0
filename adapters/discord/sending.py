"""Sending to Discord: the same outbox row any number of times, one message. It stores nothing and splits nothing."""

import io
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

import aiohttp
import discord
from aiohttp_socks import ProxyError

from adapters.discord.client import Address
from adapters.discord.slash import Interactions, account_id, view_of
from bot.core.errors import SendError, bounded_wait_ms
from bot.core.events import Outgoing
from bot.core.parts import File, Image, PartKind, Reaction, Sticker, Voice
from bot.core.ports import Clock
from bot.text import markdown
from bot.text.links import folded

NONCE_MS = 4 * 60_000
"""How long Discord surely knows a nonce ("a few minutes", discord-api-docs#6647; five were seen), less one."""
MOST_CHARS = 2_000
"""What Discord takes in one message."""
MOST_BYTES = 10 * 1024 * 1024
"""Of a file, where no server pays for more."""
SENDS: Mapping[PartKind, int] = MappingProxyType(
    {"reaction": 0, "sticker": 0, "image": MOST_BYTES, "file": MOST_BYTES, "voice": MOST_BYTES}
)
LOOK_BACK = 100
"""Messages among which an earlier try's copy is looked for: as many as one request brings."""
SKEW_MS = 60_000
"""How far Discord's clock and this one may be apart."""
TELL_MS, TELL_AGAIN_MS = 3_000, 300
"""How long Discord waits to be told that an interaction arrived, and how soon it is tried again whether it was."""

_GONE_CODES = (10003, 10013, 50001, 50007, 50278)
"""Unknown channel or user, no access, no direct messages, no guild in common."""
_MUTED_CODE = 50013
"""Missing permissions: what is said there can be read all the same."""
_UNKNOWN_MESSAGE_CODE = 10008
_OVER_CODE = 50027
"""Invalid webhook token: an interaction can be answered no more."""
_NO_MENTIONS = discord.AllowedMentions.none()
FAILURES = (discord.DiscordException, aiohttp.ClientError, ProxyError, OSError, TimeoutError, RuntimeError)
"""What the library raises when a request fails; RuntimeError is a session that was just closed."""


class DiscordSender:
    """Puts outbox rows into channels; a row's nonce, and a look at the channel, keep it from standing there twice."""

    def __init__(self, client: discord.Client, address: Address, clock: Clock, interactions: Interactions) -> None:
        self._client = client
        self._address = address
        self._clock = clock
        self._interactions = interactions
        self._begun: dict[int, int] = {}

    async def post(self, outgoing: Outgoing) -> str:
        """The id of the message that now shows it, "" of a reaction. SendError says what became of one that does not."""
        own_dm = False
        if outgoing.part is not None:
            outgoing = replace(outgoing, text=content_of(outgoing))
        formatted = markdown.discord(outgoing.text)
        if len(formatted) <= MOST_CHARS:  # a table grows when it is drawn; better plain than refused
            outgoing = replace(outgoing, text=formatted)
        try:
            if outgoing.via and (answered := await self._answer(outgoing)):
                return str(answered)
            own_dm = bool(outgoing.only_for)
            channel = await self._channel(outgoing)
            if isinstance(outgoing.part, Reaction):
                await channel.get_partial_message(int(outgoing.target)).add_reaction(outgoing.part.emoji)
                return ""
            if outgoing.preview_id and await self._edit(channel, int(outgoing.preview_id), outgoing):
                return outgoing.preview_id
            return str(await self._once(channel, outgoing))
        except FAILURES as error:
            raise fate_of(error, own_dm=own_dm) from error

    async def show(self, outgoing: Outgoing) -> str:
        """Begin a preview, or change it; one that was taken away meanwhile does not come back."""
        if not outgoing.preview_id:
            return await self.post(outgoing)
        outgoing = replace(outgoing, text=markdown.discord(outgoing.text)[:MOST_CHARS])
        try:
            there = await self._edit(await self._channel(outgoing), int(outgoing.preview_id), outgoing)
        except FAILURES as error:
            raise fate_of(error) from error
        if not there:
            raise SendError("never", "the preview was taken away")
        return outgoing.preview_id

    async def withdraw(self, outgoing: Outgoing) -> None:
        """Take the message `preview_id`, or the sign that an interaction is being answered, away; one that is not there any
        more is as good."""
        try:
            if outgoing.via:
                await self._answer(outgoing)
                return
            channel = await self._channel(outgoing)
            await channel.get_partial_message(int(outgoing.preview_id)).delete()
        except discord.NotFound:
            return
        except FAILURES as error:
            raise fate_of(error) from error

    async def _channel(self, outgoing: Outgoing) -> discord.PartialMessageable:
        number = int(outgoing.external_chat_id)
        if outgoing.only_for:
            person = discord.Object(int(account_id(outgoing.only_for)))
            number = (await self._client.create_dm(person)).id
        return self._client.get_partial_messageable(number)

    async def _once(self, channel: discord.PartialMessageable, outgoing: Outgoing) -> int:
        """Send it, unless it stands there already."""
        nonce = f"o{outgoing.outbox_id}{'e' if outgoing.preview_id else ''}"
        now = self._clock.now()
        here = self._begun.setdefault(outgoing.outbox_id, now)
        first = min(here, outgoing.tried_at) if outgoing.tried_at or outgoing.again else here
        # The nonce may be forgotten; then only the channel can tell whether it stands there.
        if now - first >= NONCE_MS and (there := await self._standing(channel, nonce, outgoing, first)):
            message = there
        else:
            try:
                message = await self._send(channel, nonce, outgoing)
            except (KeyError, ValueError, TypeError, AttributeError) as error:  # an answer that the library cannot read
                raise SendError("unknown", error_text(error)) from error
        # A nonce that Discord knew brings back the first message, which may have been a preview.
        if message.content.strip() != outgoing.text.strip():
            await self._edit(channel, message.id, outgoing)
        self._forget(now)
        return message.id

    async def _send(self, channel: discord.PartialMessageable, nonce: str, outgoing: Outgoing) -> discord.Message:
        if outgoing.part is None:
            view = view_of(outgoing.buttons) or discord.utils.MISSING
            return await channel.send(
                outgoing.text, nonce=nonce, suppress_embeds=True, allowed_mentions=_NO_MENTIONS, view=view
            )
        return await channel.send(
            outgoing.text,
            nonce=nonce,
            allowed_mentions=_NO_MENTIONS,
            files=files_of(outgoing),
            stickers=stickers_of(outgoing),
        )

    async def _standing(
        self, channel: discord.PartialMessageable, nonce: str, outgoing: Outgoing, first: int
    ) -> discord.Message | None:
        """Our message of that nonce; where Discord tells no nonces, the same at the very end of the channel.

        None when it surely is not there: all that was said since `first`, ms, is known. SendError("unknown") otherwise.
        """
        me, at_the_end, seen = self._client.user, True, 0
        try:
            async for message in channel.history(limit=LOOK_BACK):
                if message.created_at.timestamp() * 1000 < first - SKEW_MS:
                    return None
                seen += 1
                mine = me is not None and message.author.id == me.id
                at_the_end = at_the_end and mine
                if mine and message.nonce is not None and str(message.nonce) == nonce:
                    return message
                if at_the_end and message.nonce is None and shows(message, outgoing):
                    return message
        except discord.Forbidden as error:  # a channel may be written to without being read
            raise SendError("unknown", "an earlier try is too old, and the channel cannot be read") from error
        if seen >= LOOK_BACK:
            raise SendError("unknown", "an earlier try is too old to be found")
        return None

    async def _edit(self, channel: discord.PartialMessageable, message_id: int, outgoing: Outgoing) -> bool:
        """Whether that message now shows the text; False when it is not there any more."""
        try:
            message = channel.get_partial_message(message_id)
            await message.edit(content=outgoing.text, allowed_mentions=_NO_MENTIONS, view=view_of(outgoing.buttons))
        except discord.NotFound as error:
            if error.code != _UNKNOWN_MESSAGE_CODE:
                raise
            return False
        return True

    async def _answer(self, outgoing: Outgoing) -> int | None:
        """Answer an interaction for the eyes of who used it; None when it surely was not and cannot be.

        Whichever process got it, any one may: the first answer fills what was deferred, further ones follow.
        """
        interaction = self._interactions.find(outgoing.via, self._client)
        told = await self._interactions.told(outgoing.via)
        if interaction is None or told is False:
            return None
        answer = _removed if outgoing.kind == "withdrawal" else _followup if outgoing.further else _original
        try:
            with self._address.interactions():
                return await answer(interaction, outgoing)
        except discord.HTTPException as error:
            if error.status != 404 and error.code != _OVER_CODE:
                raise
            tried_for = self._clock.now() - outgoing.tried_at if outgoing.tried_at else 0
            if told is None and error.status == 404 and tried_for < TELL_MS:
                raise SendError("wait", "another process is telling Discord that it arrived", TELL_AGAIN_MS) from error
            return None
        except (aiohttp.ClientError, ProxyError, OSError, TimeoutError) as error:
            # The first answer is an edit and may be repeated, a further one is a message without a nonce.
            raise SendError("unknown" if outgoing.further else "later", error_text(error)) from error

    def _forget(self, now: int) -> None:
        if len(self._begun) > 1_000:
            self._begun = {row: at for row, at in self._begun.items() if now - at < NONCE_MS}


def content_of(outgoing: Outgoing) -> str:
    """What stands in the message of a part: what is written below a file, an emoji of a server in the place of a sticker."""
    match outgoing.part:
        case Image() | File() | Voice():
            return outgoing.part.caption[:MOST_CHARS]
        case Sticker() if outgoing.part.id.startswith("<"):
            return outgoing.part.id
        case _:
            return ""


def files_of(outgoing: Outgoing) -> list[discord.File]:
    """The file of a message, if it has one; made anew for each request, which reads it to its end."""
    if not isinstance(outgoing.part, Image | File | Voice):
        return []
    return [discord.File(io.BytesIO(outgoing.content), outgoing.part.name)]


def stickers_of(outgoing: Outgoing) -> list[discord.StickerItem]:
    """The sticker of a message, if it has one."""
    part = outgoing.part
    if not isinstance(part, Sticker) or part.id.startswith("<"):
        return []
    if not part.id.isdecimal():
        raise SendError("never", "no sticker of Discord")
    # Of a sticker that is sent the library looks at the number only.
    return [cast("discord.StickerItem", discord.Object(int(part.id)))]


def shows(message: discord.Message, outgoing: Outgoing) -> bool:
    """Whether a message is that one, by what is seen of it."""
    files = [outgoing.part.name] if isinstance(outgoing.part, Image | File | Voice) else []
    stickers = [sticker.id for sticker in stickers_of(outgoing)]
    return (
        message.content.strip() == outgoing.text.strip()
        and [one.filename for one in message.attachments] == files
        and [one.id for one in message.stickers] == stickers
    )


def fate_of(error: Exception, *, own_dm: bool = False) -> SendError:
    """What became of a message. With `own_dm` it went to one person beside the chat, so the chat is not gone."""
    match error:
        case SendError():
            return error
        case discord.RateLimited():
            return SendError("later", "rate limit", bounded_wait_ms(error.retry_after))
        case discord.HTTPException(status=429):
            return SendError("later", "rate limit", _wait(error))
        case discord.HTTPException() if error.code == _MUTED_CODE:
            return SendError("shut" if own_dm else "muted", f"{error.status} {error.code}")
        case discord.HTTPException() if error.code in _GONE_CODES:
            return SendError("shut" if own_dm else "gone", f"{error.status} {error.code}")
        case discord.HTTPException() if error.status >= 500 or error.status in (401, 408):
            return SendError("later", f"{error.status}")
        case discord.HTTPException() | discord.ClientException():
            return SendError("never", error_text(error))
        case _:
            return SendError("later", error_text(error))  # the nonce makes sending again safe


async def _original(interaction: discord.Interaction[Any], outgoing: Outgoing) -> int:
    view, text = view_of(outgoing.buttons), folded(outgoing.text)
    if len(text) > MOST_CHARS:
        text = outgoing.text
    # What was deferred cannot be given the flag that keeps links folded; brackets around them do the same.
    edited = await interaction.edit_original_response(
        content=text, allowed_mentions=_NO_MENTIONS, view=view, attachments=files_of(outgoing) or discord.utils.MISSING
    )
    return edited.id


async def _removed(interaction: discord.Interaction[Any], outgoing: Outgoing) -> None:
    await interaction.delete_original_response()


async def _followup(interaction: discord.Interaction[Any], outgoing: Outgoing) -> int:
    view = view_of(outgoing.buttons) or discord.utils.MISSING
    sent = await interaction.followup.send(
        outgoing.text,
        wait=True,
        ephemeral=True,
        suppress_embeds=True,
        allowed_mentions=_NO_MENTIONS,
        view=view,
        files=files_of(outgoing) or discord.utils.MISSING,
    )
    return sent.id


def _wait(error: discord.HTTPException) -> int | None:
    """Milliseconds that the answer asks for, None when it does not say."""
    try:
        return bounded_wait_ms(float(error.response.headers.get("Retry-After", "")))
    except ValueError:
        return None


def error_text(error: Exception) -> str:
    """What went wrong, without the addresses that a library's own text may hold."""
    code = f" {error.status} {error.code}" if isinstance(error, discord.HTTPException) else ""
    return f"{type(error).__name__}{code}"
