"""What a message of Telegram is made of: formatted text, buttons, and parts with the method that sends each. What an error
means for a message is decided in sending."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    InputMediaDocument,
    InputMediaPhoto,
    Message,
    MessageEntity,
)
from telegram.constants import ReactionEmoji
from telegram.error import BadRequest

from bot.core.errors import SendError
from bot.core.events import Button, Outgoing
from bot.core.parts import Image, Media, Part, PartKind, Reaction, Speech, Sticker, Voice
from bot.text.markdown import entities
from bot.text.split import split, utf16_units

DATA_BYTES = 64
"""Longest data of a button, UTF-8 (documented at InlineKeyboardButton.callback_data)."""

CAPTION_UNITS = 1_000
"""UTF-16 units below a file: Telegram takes 1,024."""

MOST_BYTES, MOST_PHOTO_BYTES = 50_000_000, 10_000_000
"""Of a file and of a photo (https://core.telegram.org/bots/api#sending-files); a larger picture goes as a file."""

SENDS: Mapping[PartKind, int] = MappingProxyType(
    {"reaction": 0, "sticker": 0, "image": MOST_BYTES, "file": MOST_BYTES, "voice": MOST_BYTES}
)

PHOTOS = (".jpg", ".jpeg", ".png", ".webp")
"""Endings of what Telegram shows as a photo."""

SELECTORS = {0xFE0E: None, 0xFE0F: None}
"""What says whether a character is drawn as an emoji; Telegram's own list is without these."""

REACTIONS: dict[str, str] = {emoji.value.translate(SELECTORS): emoji.value for emoji in ReactionEmoji}


def formatted(text: str) -> tuple[str, tuple[MessageEntity, ...]]:
    """The model's markdown as Telegram shows it."""
    marked = entities(text)
    return marked.text, tuple(
        MessageEntity(span.kind, span.offset, span.length, language=span.language or None) for span in marked.spans
    )


def keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """One row of buttons; one whose data would be too long is left out, its text can still be typed."""
    row = [
        InlineKeyboardButton(button.label, callback_data=button.data)
        for button in buttons
        if len(button.data.encode()) <= DATA_BYTES
    ]
    return InlineKeyboardMarkup([row]) if row else None


async def send_part(bot: Bot, chat: int, thread: int | None, part: Part, outgoing: Outgoing) -> tuple[str, ...]:
    """Send what a message is besides text; its id, none of a reaction. A picture that is no photo goes as a file."""
    match part:
        case Reaction():
            await bot.set_message_reaction(chat, int(outgoing.target), known_reaction(part.emoji))
            return ()
        case Sticker():
            message = await bot.send_sticker(chat, await _sticker(bot, part.id), message_thread_id=thread)
        case Image() if _is_photo(part):
            try:
                message = await _send_media(bot, chat, thread, part, outgoing, photo=True)
            except BadRequest as error:
                if not _is_no_photo(error):
                    raise
                message = await _send_media(bot, chat, thread, part, outgoing)
        case Speech():
            raise SendError("never", "it is not spoken yet")
        case _:
            message = await _send_media(bot, chat, thread, part, outgoing)
    return (str(message.message_id),)


async def edit_part(bot: Bot, chat: int, message_id: int, part: Media, outgoing: Outgoing) -> None:
    """Put a picture or a file into a message of ours."""
    caption, spans = _caption(part)
    content, name = outgoing.content, part.name
    document = InputMediaDocument(content, caption=caption, caption_entities=spans, filename=name)
    if _is_photo(part):
        photo = InputMediaPhoto(content, caption=caption, caption_entities=spans, filename=name)
        try:
            await bot.edit_message_media(photo, chat, message_id)
        except BadRequest as error:
            if not _is_no_photo(error):
                raise
        else:
            return
    await bot.edit_message_media(document, chat, message_id)


def known_reaction(emoji: str) -> str:
    """The emoji as Telegram's list of reactions has it; SendError("never") for one that is not there."""
    known = REACTIONS.get(emoji.translate(SELECTORS))
    if known is None:
        raise SendError("never", "no reaction of Telegram")
    return known


async def _send_media(
    bot: Bot, chat: int, thread: int | None, part: Media, outgoing: Outgoing, *, photo: bool = False
) -> Message:
    caption, spans = _caption(part)
    content = InputFile(outgoing.content, part.name)
    if photo:
        return await bot.send_photo(chat, content, caption, message_thread_id=thread, caption_entities=spans)
    if isinstance(part, Voice):
        return await bot.send_voice(chat, content, caption=caption, message_thread_id=thread, caption_entities=spans)
    return await bot.send_document(chat, content, caption, message_thread_id=thread, caption_entities=spans)


async def _sticker(bot: Bot, known_by: str) -> str:
    """The file id of a sticker that is known by one, or as the number in a set: NAME/3."""
    name, slash, number = known_by.partition("/")
    if not slash:
        return known_by
    stickers = (await bot.get_sticker_set(name)).stickers
    if not number.isdecimal() or not 1 <= int(number) <= len(stickers):
        raise SendError("never", "no such sticker in the set")
    return str(stickers[int(number) - 1].file_id)


def _caption(part: Media) -> tuple[str | None, tuple[MessageEntity, ...]]:
    if not part.caption:
        return None, ()
    return formatted(split(part.caption, CAPTION_UNITS, utf16_units)[0])


def _is_photo(part: Media) -> bool:
    return isinstance(part, Image) and part.size <= MOST_PHOTO_BYTES and part.name.lower().endswith(PHOTOS)


def _is_no_photo(error: BadRequest) -> bool:
    """Whether the picture itself is not taken as a photo: too wide, too long, or no picture at all."""
    said = error.message.lower()
    return "photo" in said or "image_process_failed" in said
