"""Bot API methods that send files: photos, documents, voice, stickers, and media in the place of a text. Each may raise
Refused, with the limits and wordings of the real server."""

import json

from tests.fakes.telegram_markup import checked, units
from tests.fakes.telegram_sending import changed, markup_of, own_message, reply, thread_of
from tests.fakes.telegram_shapes import Json, Params, Refused, Upload, bad, number
from tests.fakes.telegram_world import MEDIA, Trace, World

MOST_BYTES, MOST_PHOTO_BYTES = 50_000_000, 10_000_000
"""Documented under "Sending files"; a request that is larger is not read at all."""
MAX_CAPTION = 1_024
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")
SOUNDS = (b"OggS", b"ID3", b"\xff\xfb", b"\x00\x00\x00")
"""How what a photo or a voice message may be begins."""


def send_photo(world: World, params: Params) -> Json:
    """sendPhoto."""
    return _send(world, params, "photo")


def send_document(world: World, params: Params) -> Json:
    """sendDocument."""
    return _send(world, params, "document")


def send_voice(world: World, params: Params) -> Json:
    """sendVoice."""
    return _send(world, params, "voice")


def send_sticker(world: World, params: Params) -> Json:
    """sendSticker."""
    return _send(world, params, "sticker")


def edit_media(world: World, params: Params) -> Json:
    """editMessageMedia: also of a message of text, which then has its text no more."""
    room, message = own_message(world, params)
    given = params.mapping("media")
    kind = str(given.get("type", ""))
    if kind not in ("photo", "document"):
        raise bad("wrong type of the new message content")
    name = str(given.get("media", "")).removeprefix("attach://")
    fields = _media(world, kind, params.files.get(name), name)
    fields |= _caption(str(given.get("caption", "")), given.get("caption_entities", []))
    world.floods.count_edit(world.now())
    for gone in ("text", "entities", "caption", "caption_entities", *MEDIA):
        message.pop(gone, None)
    return changed(world, room, message, fields | {"reply_markup": markup_of(params)})


def get_sticker_set(world: World, params: Params) -> Json:
    """getStickerSet."""
    name = params.text("name")
    if name not in world.sticker_sets:
        raise bad("STICKERSET_INVALID")
    stickers = [_sticker(world, file_id) | {"set_name": name} for file_id in world.sticker_sets[name]]
    return {"name": name, "title": name, "sticker_type": "regular", "stickers": stickers}


def _send(world: World, params: Params, kind: str) -> Json:
    room = world.target(params)
    fields = _media(world, kind, params.files.get(kind), params.text(kind))
    if kind != "sticker":
        fields |= _caption(params.text("caption"), params.objects("caption_entities"))
    fields |= {"reply_markup": markup} if (markup := markup_of(params)) else {}
    reply_to, _ = reply(room, params)
    thread = thread_of(room, params)
    world.floods.count_send(room.id, room.kind != "private", world.now())
    message = world.post(room, world.bot, fields, thread=thread, reply_to=reply_to)
    world.traces[room.id, number(message["message_id"])] = Trace(world.now())
    return message


def _media(world: World, kind: str, upload: Upload | None, file_id: str) -> Json:
    """The field of a message that has this file, sent along or known."""
    if upload is None and file_id not in world.files:
        raise bad("wrong file identifier/HTTP URL specified")
    if kind == "sticker":
        if upload is None:
            return {"sticker": _sticker(world, file_id)}
        raise bad("STICKER_INVALID")
    if upload is None:
        raise bad("wrong file identifier/HTTP URL specified")
    if len(upload.data) > MOST_BYTES:
        raise Refused(413, "Request Entity Too Large")
    if not upload.data:
        raise bad("file must be non-empty")
    if kind == "photo":
        if len(upload.data) > MOST_PHOTO_BYTES:
            raise bad("file of size 10485761 bytes is too big for a photo; the maximum size is 10485760 bytes")
        if not upload.data.startswith(PICTURES):
            raise bad("IMAGE_PROCESS_FAILED")
        size = world.store("photos", "file.jpg", upload.data)
        return {"photo": [{**size, "width": 320, "height": 320}]}
    if kind == "voice":
        if not upload.data.startswith(SOUNDS):
            raise bad("VOICE_MESSAGES_INVALID")
        return {"voice": {**world.store("voice", "file.oga", upload.data), "duration": 3, "mime_type": "audio/ogg"}}
    return {"document": {**world.store("documents", upload.name, upload.data), "file_name": upload.name}}


def _sticker(world: World, file_id: str) -> Json:
    if file_id not in world.files:
        raise bad("wrong file identifier/HTTP URL specified")
    shape: Json = {"type": "regular", "width": 512, "height": 512, "is_animated": False, "is_video": False}
    return {**shape, "file_id": file_id, "file_unique_id": f"AQ{file_id}", "emoji": "😀"}


def _caption(caption: str, entities: object) -> Json:
    if units(caption) > MAX_CAPTION:
        raise bad("message caption is too long")
    given = json.loads(entities) if isinstance(entities, str) else entities
    marked = checked(caption, given if isinstance(given, list) else [])
    return ({"caption": caption} if caption else {}) | ({"caption_entities": marked} if marked else {})
