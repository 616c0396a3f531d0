"""A Telegram update as events of ours: pure, without clock, network or memory."""

import datetime as dtm
from collections.abc import Iterator

from telegram import (
    CallbackQuery,
    Chat,
    ChatMember,
    ChatMemberRestricted,
    ChatMemberUpdated,
    Message,
    MessageReactionUpdated,
    ReactionType,
    ReactionTypeEmoji,
    Update,
    User,
)

from adapters.telegram.content import (
    PLATFORM,
    BotAccount,
    addressing_of,
    attachments_of,
    message_place,
    place_of,
    quoted,
    replied,
    sender_of,
    sender_of_user,
    text_of,
)
from bot.core.events import Incoming, Place, Sender
from bot.text.length import clip

ALLOWED_UPDATES = ("message", "edited_message", "message_reaction", "callback_query", "my_chat_member", "chat_member")
"""What the bot asks for; channel posts are not among it, and a new kind of update is none until it is read here."""

PIN_CHARS = 80
"""How much of a pinned message is told."""

OUT_STATUSES = frozenset({ChatMember.LEFT, ChatMember.BANNED})


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
        Place(PLATFORM, str(old), "group"), None, "event",
        label="migrate", target=str(new), delivery_key=f"{me.id}:migrate:{old}", at=at,
    )  # fmt: skip


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
            message_place(message), sender_of(message), "event", text, "edit", key,
            forwarded=message.forward_origin is not None or bool(message.is_automatic_forward),
            target=str(message.message_id), at=_ms(message.edit_date or message.date),
        )  # fmt: skip


def _reaction(reaction: MessageReactionUpdated, key: str) -> Iterator[Incoming]:
    """Emoji that were taken back, then those that were added; nobody knows who an anonymous admin is."""
    if reaction.user is None:
        return
    old, new = _emoji(reaction.old_reaction), _emoji(reaction.new_reaction)
    changes = [f"-{emoji}" for emoji in old if emoji not in new] + [emoji for emoji in new if emoji not in old]
    for number, text in enumerate(changes):
        yield Incoming(
            place_of(reaction.chat), sender_of_user(reaction.user), "event", text, "reaction",
            f"{key}:{number}" if number else key, target=str(reaction.message_id), at=_ms(reaction.date),
        )  # fmt: skip


def _button(query: CallbackQuery, me: BotAccount, key: str) -> Iterator[Incoming]:
    """A pressed button says its text, if the one it was made for pressed it."""
    account, bar, text = (query.data or "").partition("|")
    if query.message is None or not bar or not text or account != str(query.from_user.id):
        return
    message = query.message
    place = message_place(message) if isinstance(message, Message) else place_of(message.chat)
    yield Incoming(
        place, sender_of_user(query.from_user), "message", text, delivery_key=key, replies_to_bot=True,
        mentions_bot=place.kind == "group", target=str(message.message_id),
    )  # fmt: skip


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
