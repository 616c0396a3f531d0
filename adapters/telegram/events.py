"""A Telegram update as events of ours, with what its message holds: pure, without clock, network or memory."""

import datetime as dtm
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from telegram import (
    CallbackQuery,
    Chat,
    ChatMember,
    ChatMemberRestricted,
    ChatMemberUpdated,
    Message,
    MessageEntity,
    MessageReactionUpdated,
    ReactionType,
    ReactionTypeEmoji,
    Update,
    User,
)

from bot.core.events import Attachment, AttachmentKind, Button, CommandSpec, Incoming, Place, Sender
from bot.text.clean import clean_name, without_call
from bot.text.length import clip

ALLOWED_UPDATES = ("message", "edited_message", "message_reaction", "callback_query", "my_chat_member", "chat_member")
"""What the bot asks for; channel posts are not among it, and a new kind of update is none until it is read here."""

PIN_CHARS = 80
"""How much of a pinned message is told."""

OUT_STATUSES = frozenset({ChatMember.LEFT, ChatMember.BANNED})

PLATFORM = "telegram"
SERVICE_ACCOUNTS = frozenset({777000, 1087968824, 136817688})
"""Accounts behind which others write: Telegram, GroupAnonymousBot, Channel Bot (documented at Message.from)."""

_MISTYPED = re.compile(r"(?i)ai_[a-z]")
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?")
_CALL = "\ufdd0"
"""Stands for a call of the bot: a code point that is no character, so nobody writes it."""
_OTHERS = ("poll", "dice", "venue", "location", "contact", "story", "game", "checklist")
"""Things with neither text nor file; they are told by their name. A venue is also a location."""


@dataclass(frozen=True, slots=True)
class BotAccount:
    """The bot itself; `username` without @, `commands` are those of its menu, `name` is what people see."""

    id: int
    username: str
    commands: tuple[CommandSpec, ...] = ()
    name: str = ""

    def named(self, name: str) -> bool:
        """Whether a name, with or without @, is its own."""
        return name.removeprefix("@").lower() == self.username.lower()


@dataclass(frozen=True, slots=True)
class Addressing:
    """Whom a message is meant for, by its mentions, its command and what it replies to."""

    mentions_bot: bool = False
    replies_to_bot: bool = False
    addresses_other: bool = False


def place_of(chat: Chat, thread: int | None = None) -> Place:
    """The chat, or the forum topic `thread` of it."""
    if chat.type == Chat.PRIVATE:
        return Place(PLATFORM, str(chat.id), "dm")
    title = clean_name(chat.title or "")
    if thread:
        return Place(PLATFORM, f"{chat.id}:{thread}", "group", title, parent=str(chat.id))
    return Place(PLATFORM, str(chat.id), "group", title)


def message_place(message: Message) -> Place:
    """Where a message stands; the comment threads of ordinary groups are no places of their own."""
    return place_of(message.chat, message.message_thread_id if message.is_topic_message else None)


def sender_of_user(user: User) -> Sender:
    """An account as a sender."""
    return Sender(PLATFORM, str(user.id), clean_name(user.full_name), user.is_bot or user.id in SERVICE_ACCOUNTS)


def sender_of(message: Message) -> Sender | None:
    """Who wrote it. Whoever writes as a chat (anonymous admin, channel) is that chat and counts as a bot."""
    if message.sender_chat is not None:
        chat = message.sender_chat
        return Sender(PLATFORM, str(chat.id), clean_name(chat.title or chat.full_name or ""), is_bot=True)
    return sender_of_user(message.from_user) if message.from_user is not None else None


def replied(message: Message) -> Message | None:
    """The message it replies to; the first message of a topic is what every plain line there "replies" to."""
    target = message.reply_to_message
    if target is None or target.forum_topic_created is not None:
        return None
    if message.is_topic_message and target.message_id == message.message_thread_id:
        return None
    return target


def quoted(message: Message, me: BotAccount) -> str:
    """What it replies to, as Telegram sends it along: the part that was marked, else the text; also of another chat."""
    if message.quote is not None:
        return message.quote.text
    target = replied(message)
    return text_of(target, me) if target is not None else ""


def addressing_of(message: Message, me: BotAccount) -> Addressing:
    """Whom it is meant for; a command for another bot is meant for that one."""
    text = message.text or message.caption or ""
    bot = other = False
    for entity in message.entities or message.caption_entities:
        if entity.type == MessageEntity.TEXT_MENTION and entity.user is not None:
            mine, own = entity.user.id == me.id, _wrote(message, entity.user.id)
        elif entity.type == MessageEntity.MENTION:
            name = _slice(text, entity)
            mine, own = me.named(name), _called(message.from_user, name)
        elif entity.type == MessageEntity.BOT_COMMAND and "@" in (command := _slice(text, entity)):
            mine, own = me.named(command.partition("@")[2]), False
        else:
            continue
        bot |= mine
        other |= not (mine or own)
    target = replied(message)
    author = target.from_user if target is not None else None
    to_bot = author is not None and author.id == me.id
    to_other = target is not None and not to_bot and not (author is not None and _wrote(message, author.id))
    return Addressing(bot, to_bot, other or to_other)


def text_of(message: Message, me: BotAccount) -> str:
    """Its text; a command of the menu becomes what a person would type, `/ai@name ctx` becomes `/ai ctx`.

    Who is called stands in `addressing_of`: at either end the call is left out, so that commands are understood.
    """
    text = message.text or message.caption or ""
    if not text or message.forward_origin is not None:
        return text or _other_text(message)
    commands = {
        _slice(text, each)
        for each in message.entities or message.caption_entities
        if each.type == MessageEntity.BOT_COMMAND
    }
    text = without_call(_marked(text, message, me), (_CALL,)).replace(_CALL, f"@{me.name or me.username}")
    found = _COMMAND.match(text)
    if found is None or found[0] not in commands:
        return text
    name, bot = found[1], found[2]
    if bot and not me.named(bot):
        return text
    rest = text[found.end() :]
    says: Mapping[str, str] = {menu_name(spec): spec.says for spec in me.commands}
    own = says.get(name.lower())
    if own is None and _MISTYPED.match(name) and (bot or message.chat.type == "private"):
        own = f".ai {name[3:]}"  # the installation says which it may have been; in a group it may be another bot's
    return f"/{name}{rest}" if own is None else f"{own.strip()} {rest.strip()}".strip()


def menu_name(spec: CommandSpec) -> str:
    """The command's name in Telegram's letters: "ai ctx" is ai_ctx."""
    return spec.name.strip().replace("-", "_").replace(" ", "_").lower()


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """Its files: of a photo the largest size."""
    if message.photo:
        photo = max(message.photo, key=lambda size: size.width * size.height)
        return (Attachment("image", photo.file_id, mime="image/jpeg", size=photo.file_size or 0),)
    if (voice := message.voice) is not None:
        return (Attachment("voice", voice.file_id, "", voice.mime_type or "audio/ogg", voice.file_size or 0),)
    if (audio := message.audio) is not None:
        return (Attachment("voice", audio.file_id, audio.file_name or "", audio.mime_type or "", audio.file_size or 0),)
    if (file := message.animation or message.document or message.video) is not None:
        mime = file.mime_type or ""
        kind: AttachmentKind = "image" if mime.startswith("image/") else "file"
        return (Attachment(kind, file.file_id, file.file_name or "", mime, file.file_size or 0),)
    if (note := message.video_note) is not None:
        return (Attachment("file", note.file_id, mime="video/mp4", size=note.file_size or 0),)
    return ()


def _other_text(message: Message) -> str:
    if message.sticker is not None:
        return f"[sticker {message.sticker.emoji}]" if message.sticker.emoji else "[sticker]"
    if message.poll is not None:
        return f"[poll] {message.poll.question}"
    if message.dice is not None:
        return f"[dice {message.dice.emoji} {message.dice.value}]"
    return next((f"[{name}]" for name in _OTHERS if getattr(message, name, None) is not None), "")


def _marked(text: str, message: Message, me: BotAccount) -> str:
    """The text with a mark wherever it calls the bot; Telegram counts UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    for entity in sorted(message.entities or message.caption_entities, key=lambda each: each.offset, reverse=True):
        if (entity.type == MessageEntity.MENTION and me.named(_slice(text, entity))) or (
            entity.type == MessageEntity.TEXT_MENTION and entity.user is not None and entity.user.id == me.id
        ):
            raw = raw[: 2 * entity.offset] + _CALL.encode("utf-16-le") + raw[2 * (entity.offset + entity.length) :]
    return raw.decode("utf-16-le", "replace")


def _slice(text: str, entity: MessageEntity) -> str:
    """The entity's text: Telegram counts UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le", "replace")


def _wrote(message: Message, user_id: int) -> bool:
    return message.from_user is not None and message.from_user.id == user_id


def _called(user: User | None, name: str) -> bool:
    return user is not None and bool(user.username) and name.removeprefix("@").lower() == str(user.username).lower()


def events_of(update: Update, me: BotAccount) -> tuple[Incoming, ...]:
    """What the update tells, oldest first; nothing when nobody needs to know."""
    key = f"{me.id}:{update.update_id}"
    if (message := update.message or update.channel_post) is not None:
        return tuple(_message(message, me, key))
    if (edited := update.edited_message or update.edited_channel_post) is not None:
        return tuple(_edit(edited, me, key))
    if update.message_reaction is not None:
        return tuple(_reaction(update.message_reaction, key))
    if update.callback_query is not None:
        return tuple(_button(update.callback_query, me, key))
    if update.my_chat_member is not None:
        return tuple(_own_standing(update.my_chat_member, key))
    if update.chat_member is not None:
        return tuple(_standing(update.chat_member, me))
    return ()


def migrated(old: int, new: int, me: BotAccount, at: int = 0) -> Incoming:
    """A group that became a supergroup; both of its service messages and a refused send tell the same."""
    return Incoming(
        Place(PLATFORM, str(old), "group"),
        None,
        "event",
        label="migrate",
        target=str(new),
        delivery_key=f"{me.id}:migrate:{old}",
        at=at,
    )


def _message(message: Message, me: BotAccount, key: str) -> Iterator[Incoming]:
    if message.from_user is not None and message.from_user.id == me.id and message.sender_chat is None:
        return
    service = tuple(_service(message, me, key))
    if service:
        yield from service
        return
    text, attachments = text_of(message, me), attachments_of(message)
    if not text and not attachments:
        return
    call, target = addressing_of(message, me), replied(message)
    yield Incoming(
        message_place(message),
        sender_of(message),
        "message",
        text,
        delivery_key=key,
        external_id=str(message.message_id),
        mentions_bot=call.mentions_bot,
        replies_to_bot=call.replies_to_bot,
        addresses_other=call.addresses_other,
        forwarded=message.forward_origin is not None or bool(message.is_automatic_forward),
        target=str(target.message_id) if target is not None else "",
        attachments=attachments,
        at=_ms(message.date),
        quote=quoted(message, me),
    )


def _service(message: Message, me: BotAccount, key: str) -> Iterator[Incoming]:
    """What a service message tells: who came and went, titles, pins, migration."""
    place, sender, at = message_place(message), sender_of(message), _ms(message.date)
    for user in message.new_chat_members:
        if user.id != me.id:
            yield _came_or_went("join", message.chat, user, me, message.date)
    left = message.left_chat_member
    if left is not None and left.id != me.id:
        yield _came_or_went("leave", message.chat, left, me, message.date)
    if message.migrate_to_chat_id:
        yield migrated(message.chat.id, message.migrate_to_chat_id, me, at)
    if message.migrate_from_chat_id:
        yield migrated(message.migrate_from_chat_id, message.chat.id, me, at)
    topic = message.forum_topic_edited or message.forum_topic_created
    title = message.new_chat_title or (topic.name if topic is not None else "")
    if title:
        yield Incoming(place, sender, "event", title, "title", key, at=at)
    pinned = message.pinned_message
    if pinned is not None:
        text = (pinned.text or pinned.caption or "") if isinstance(pinned, Message) else ""
        start = clip(" ".join(text.split()), PIN_CHARS)
        yield Incoming(place, sender, "event", start, "pin", key, target=str(pinned.message_id), at=at)


def _edit(message: Message, me: BotAccount, key: str) -> Iterator[Incoming]:
    """An edit that leaves a text; a live location that moves or a vote in a poll changes none."""
    text = text_of(message, me) if message.text or message.caption else ""
    own = message.from_user is not None and message.from_user.id == me.id and message.sender_chat is None
    if text and not own:
        yield Incoming(
            message_place(message),
            sender_of(message),
            "event",
            text,
            "edit",
            key,
            forwarded=message.forward_origin is not None or bool(message.is_automatic_forward),
            target=str(message.message_id),
            at=_ms(message.edit_date or message.date),
        )


def _reaction(reaction: MessageReactionUpdated, key: str) -> Iterator[Incoming]:
    """Emoji that were taken back, then those that were added; nobody knows who an anonymous admin is."""
    if reaction.user is None:
        return
    old, new = _emoji(reaction.old_reaction), _emoji(reaction.new_reaction)
    changes = [f"-{emoji}" for emoji in old if emoji not in new] + [emoji for emoji in new if emoji not in old]
    for number, text in enumerate(changes):
        yield Incoming(
            place_of(reaction.chat),
            sender_of_user(reaction.user),
            "event",
            text,
            "reaction",
            f"{key}:{number}" if number else key,
            target=str(reaction.message_id),
            at=_ms(reaction.date),
        )


def _button(query: CallbackQuery, me: BotAccount, key: str) -> Iterator[Incoming]:
    """A pressed button says its text, if the one it was made for pressed it."""
    text = Button.pressed(query.data or "", str(query.from_user.id))
    if query.message is None or not text:
        return
    message = query.message
    place = message_place(message) if isinstance(message, Message) else place_of(message.chat)
    yield Incoming(
        place,
        sender_of_user(query.from_user),
        "message",
        text,
        delivery_key=key,
        replies_to_bot=True,
        mentions_bot=place.kind == "group",
        target=str(message.message_id),
    )


def _own_standing(change: ChatMemberUpdated, key: str) -> Iterator[Incoming]:
    """Blocked, removed ("gone") or let in again ("back")."""
    before, after = _inside(change.old_chat_member), _inside(change.new_chat_member)
    if before != after:
        sender = sender_of_user(change.from_user)
        label = "back" if after else "gone"
        yield Incoming(place_of(change.chat), sender, "event", label=label, delivery_key=key, at=_ms(change.date))


def _standing(change: ChatMemberUpdated, me: BotAccount) -> Iterator[Incoming]:
    before, after = _inside(change.old_chat_member), _inside(change.new_chat_member)
    user = change.new_chat_member.user
    if before != after and user.id != me.id and change.chat.type != Chat.CHANNEL:
        yield _came_or_went("join" if after else "leave", change.chat, user, me, change.date)


def _came_or_went(label: str, chat: Chat, user: User, me: BotAccount, date: dtm.datetime) -> Incoming:
    """An admin bot hears of it twice, by a service message and by chat_member: one key for both."""
    sender: Sender = sender_of_user(user)
    key = f"{me.id}:{label}:{chat.id}:{user.id}:{int(date.timestamp())}"
    return Incoming(place_of(chat), sender, "event", label=label, delivery_key=key, at=_ms(date))


def _inside(member: ChatMember) -> bool:
    if isinstance(member, ChatMemberRestricted):
        return member.is_member
    return member.status not in OUT_STATUSES


def _emoji(reactions: tuple[ReactionType, ...]) -> list[str]:
    return [reaction.emoji for reaction in reactions if isinstance(reaction, ReactionTypeEmoji)]


def _ms(date: dtm.datetime) -> int:
    return int(date.timestamp() * 1000)
