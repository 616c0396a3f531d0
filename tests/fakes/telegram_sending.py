"""The Bot API methods that change what people see: send, edit, delete, react, stream. Each may raise Refused."""

import json
from collections.abc import Sequence

from tests.fakes.telegram_markup import read_text
from tests.fakes.telegram_shapes import Draft, Json, Params, Room, bad, number, objects
from tests.fakes.telegram_world import Trace, World

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same"
    " as a current content and reply markup of the message"
)
REACTIONS = (
    "👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻"
    " 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡"
)
"""The emoji that ReactionTypeEmoji allows."""
ACTIONS = (
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker"
    " find_location record_video_note upload_video_note"
)


def send_message(world: World, params: Params) -> Json:
    """sendMessage."""
    room = world.target(params)
    text, entities = read_text(params)
    markup = markup_of(params)
    reply_to, quote = reply(room, params)
    thread = thread_of(room, params)
    world.floods.count_send(room.id, room.kind != "private", world.now())
    fields: Json = {"text": text}
    if entities:
        fields["entities"] = entities
    if markup:
        fields["reply_markup"] = markup
    if quote:
        fields["quote"] = {"text": quote, "position": 0, "is_manual": True}
    preview = params.mapping("link_preview_options")
    if preview:
        fields["link_preview_options"] = preview
    sender = None if room.kind == "channel" else world.bot
    message = world.post(room, sender, fields, thread=thread, reply_to=reply_to)
    off = preview.get("is_disabled") is True or params.flag("disable_web_page_preview")
    world.traces[room.id, number(message["message_id"])] = Trace(world.now(), preview=not off)
    return message


def edit_text(world: World, params: Params) -> Json:
    """editMessageText."""
    room, message = own_message(world, params)
    text, entities = read_text(params)
    markup = markup_of(params)
    same = (message["text"], message.get("entities", []), message.get("reply_markup", {}))
    if same == (text, entities, markup):
        raise bad(NOT_MODIFIED)
    world.floods.count_edit(world.now())
    message["text"] = text
    return changed(world, room, message, {"entities": entities, "reply_markup": markup})


def edit_markup(world: World, params: Params) -> Json:
    """editMessageReplyMarkup."""
    room, message = own_message(world, params)
    markup = markup_of(params)
    if message.get("reply_markup", {}) == markup:
        raise bad(NOT_MODIFIED)
    world.floods.count_edit(world.now())
    return changed(world, room, message, {"reply_markup": markup})


def delete(world: World, params: Params) -> bool:
    """deleteMessage."""
    room = world.target(params)
    _delete(world, room, params.integer("message_id"))
    return True


def delete_many(world: World, params: Params) -> bool:
    """deleteMessages; those that cannot be found are skipped."""
    room = world.target(params)
    for one in json.loads(params.text("message_ids") or "[]"):
        if one in room.messages:
            _delete(world, room, one)
    return True


def react(world: World, params: Params) -> bool:
    """setMessageReaction."""
    room = world.target(params)
    message_id = params.integer("message_id")
    if message_id not in room.messages:
        raise bad("message to react not found")
    wanted = params.objects("reaction")
    emoji = [str(item.get("emoji", "")) for item in wanted]
    if len(emoji) > 1:  # a bot may set one (documented at setMessageReaction)
        raise bad("REACTIONS_TOO_MANY")
    if any(one.replace("\ufe0f", "") not in REACTIONS.split() for one in emoji):
        raise bad("REACTION_INVALID")
    world.reactions[room.id, message_id] = tuple(emoji)
    return True


def chat_action(world: World, params: Params) -> bool:
    """sendChatAction."""
    room = world.target(params)
    action = params.text("action")
    if action not in ACTIONS.split():
        raise bad("wrong parameter action in request")
    world.actions.append(Draft(room.id, 0, action, thread_of(room, params) or None, world.now()))
    return True


def send_draft(world: World, params: Params) -> bool:
    """sendMessageDraft: private chats only; an empty text shows that the bot thinks."""
    room = world.target(params)
    if room.kind != "private":
        raise bad("TEXTDRAFT_PEER_INVALID")
    draft_id = params.integer("draft_id")
    if draft_id == 0:
        raise bad("draft_id must be non-zero")
    text = read_text(params)[0] if params.text("text") else ""
    world.drafts.append(Draft(room.id, draft_id, text, thread_of(room, params) or None, world.now()))
    return True


def answer_query(world: World, params: Params) -> bool:
    """answerCallbackQuery, once for each pressed button."""
    query = world.queries.get(params.text("callback_query_id"))
    if query is None or query.answer is not None:
        raise bad("query is too old and response timeout expired or query ID is invalid")
    if len(params.text("text")) > 200:
        raise bad("MESSAGE_TOO_LONG")
    query.answer = params.text("text")
    return True


def own_message(world: World, params: Params) -> tuple[Room, Json]:
    room = world.target(params)
    message = room.messages.get(params.integer("message_id"))
    if message is None:
        raise bad("message to edit not found")
    if (room.id, params.integer("message_id")) not in world.traces:
        raise bad("message can't be edited")
    return room, message


def changed(world: World, room: Room, message: Json, fields: Json) -> Json:
    for name, value in fields.items():
        message.pop(name, None)
        if value:
            message[name] = value
    message["edit_date"] = int(world.date())
    world.traces[room.id, number(message["message_id"])].edits += 1
    return message


def _delete(world: World, room: Room, message_id: int) -> None:
    message = room.messages.get(message_id)
    if message is None:
        raise bad("message to delete not found")
    own = (room.id, message_id) in world.traces
    if not own and room.kind != "private" and room.bot != "administrator":
        raise bad("message can't be deleted")
    del room.messages[message_id]


def reply(room: Room, params: Params) -> tuple[int, str]:
    """The message that is replied to (0: none) and the quoted text."""
    given = params.mapping("reply_parameters")
    message_id = number(given.get("message_id")) or params.integer("reply_to_message_id")
    if not message_id:
        return 0, ""
    target = room.messages.get(message_id)
    if target is None:
        if given.get("allow_sending_without_reply") is True or params.flag("allow_sending_without_reply"):
            return 0, ""
        raise bad("message to be replied not found")
    quote = str(given.get("quote", ""))
    if quote not in f"{target.get('text', '')}{target.get('caption', '')}":
        raise bad("QUOTE_TEXT_INVALID")
    return message_id, quote


def thread_of(room: Room, params: Params) -> int:
    thread = params.integer("message_thread_id")
    known: Sequence[int] = ()
    if room.kind == "supergroup":
        known = tuple(room.topics if room.is_forum else room.messages)
    if thread and thread not in known:
        raise bad("message thread not found")
    return thread


def markup_of(params: Params) -> Json:
    """The inline keyboard; other markup is no part of the message."""
    rows = params.mapping("reply_markup").get("inline_keyboard")
    if rows is None:
        return {}
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
    for button in [button for row in rows for button in objects(row)]:
        if not button.get("text"):
            raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if len(set(button) - {"text", "style", "icon_custom_emoji_id"}) != 1:
            raise bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
        if "callback_data" in button and not 1 <= len(str(button["callback_data"]).encode()) <= 64:
            raise bad("BUTTON_DATA_INVALID")
    return {"inline_keyboard": [row for row in rows if row]} if any(rows) else {}
