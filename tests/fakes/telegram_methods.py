"""The table of Bot API methods that the fake Telegram server knows. Sending and editing are in telegram_sending."""

import json
from collections.abc import Callable, Mapping

from tests.fakes import telegram_media as media
from tests.fakes import telegram_sending as sending
from tests.fakes.telegram_chats import member
from tests.fakes.telegram_shapes import Json, Params, Refused, bad
from tests.fakes.telegram_world import World

MAX_DOWNLOAD = 20 * 1024 * 1024
"""Bytes; documented at getFile."""


def get_me(world: World, _params: Params) -> Json:
    """getMe."""
    on = {"can_join_groups": True, "can_read_all_group_messages": world.reads_all}
    off = dict.fromkeys(("supports_inline_queries", "can_connect_to_business", "has_main_web_app"), False)
    return {**world.bot.json(), **on, **off}


def yes(_world: World, _params: Params) -> bool:
    """For methods that only have to succeed."""
    return True


def delete_webhook(world: World, params: Params) -> bool:
    """deleteWebhook; with drop_pending_updates what waits is lost."""
    if params.flag("drop_pending_updates"):
        world.updates.forget_all()
    return True


def webhook_info(world: World, _params: Params) -> Json:
    """getWebhookInfo."""
    return {"url": "", "has_custom_certificate": False, "pending_update_count": len(world.updates.pending)}


def set_commands(world: World, params: Params) -> bool:
    """setMyCommands."""
    given = [(str(item.get("command", "")), str(item.get("description", ""))) for item in params.objects("commands")]
    if len(given) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    for name, description in given:
        good = name.removeprefix("/").replace("_", "a")
        if not (1 <= len(good) <= 32 and good.isascii() and good.isalnum() and good == good.lower()):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(description) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands[_scope(params)] = tuple(given)
    return True


def get_commands(world: World, params: Params) -> list[Json]:
    """getMyCommands."""
    return [{"command": name, "description": text} for name, text in world.commands.get(_scope(params), ())]


def delete_commands(world: World, params: Params) -> bool:
    """deleteMyCommands."""
    world.commands.pop(_scope(params), None)
    return True


def _scope(params: Params) -> tuple[str, str]:
    scope = params.mapping("scope") or {"type": "default"}
    kinds = ("default", "all_private_chats", "all_group_chats", "all_chat_administrators")
    if scope.get("type") not in (*kinds, "chat", "chat_administrators", "chat_member"):
        raise bad("can't parse BotCommandScope: Unsupported type specified")
    return json.dumps(scope, sort_keys=True), params.text("language_code")


def get_file(world: World, params: Params) -> Json:
    """getFile."""
    file_id = params.text("file_id")
    if file_id not in world.files:
        raise bad("wrong file_id or the file is temporarily unavailable")
    path, _, size = world.files[file_id]
    if size > MAX_DOWNLOAD:
        raise bad("file is too big")
    return {"file_id": file_id, "file_unique_id": f"AQ{file_id}", "file_size": size, "file_path": f"{file_id}/{path}"}


def get_chat(world: World, params: Params) -> Json:
    """getChat."""
    room = world.target(params)
    gifts = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
    full: Json = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": dict.fromkeys(gifts, False)}
    return room.json() | full | ({"linked_chat_id": room.linked} if room.linked else {})


def get_member(world: World, params: Params) -> Json:
    """getChatMember."""
    room = world.target(params)
    person = params.integer("user_id")
    if person == world.bot.id:
        return member(world.bot, "member" if room.kind == "private" else room.bot)
    if person not in world.people:
        raise bad("PARTICIPANT_ID_INVALID")
    return member(world.people[person], room.members.get(person, "left"))


def get_administrators(world: World, params: Params) -> list[Json]:
    """getChatAdministrators; other bots are left out."""
    room = world.target(params)
    if room.kind == "private":
        raise bad("there are no administrators in the private chat")
    ruling = [(world.people[one], status) for one, status in room.members.items()]
    shown = [member(person, status) for person, status in ruling if status in ("creator", "administrator")]
    return [*shown, member(world.bot, "administrator")] if room.bot == "administrator" else shown


def member_count(world: World, params: Params) -> int:
    """getChatMemberCount, the bot included."""
    room = world.target(params)
    return 1 + sum(status not in ("left", "kicked") for status in room.members.values())


def leave_chat(world: World, params: Params) -> bool:
    """leaveChat."""
    room = world.target(params)
    if room.kind == "private":
        raise bad("chat member status can't be changed in private chats")
    room.bot = "left"
    return True


METHODS: Mapping[str, Callable[[World, Params], object]] = {
    "getme": get_me,
    "deletewebhook": delete_webhook,
    "getwebhookinfo": webhook_info,
    "setmycommands": set_commands,
    "getmycommands": get_commands,
    "deletemycommands": delete_commands,
    "sendmessage": sending.send_message,
    "editmessagetext": sending.edit_text,
    "editmessagereplymarkup": sending.edit_markup,
    "deletemessage": sending.delete,
    "deletemessages": sending.delete_many,
    "sendchataction": sending.chat_action,
    "sendmessagedraft": sending.send_draft,
    "setmessagereaction": sending.react,
    "answercallbackquery": sending.answer_query,
    "sendphoto": media.send_photo,
    "senddocument": media.send_document,
    "sendvoice": media.send_voice,
    "sendsticker": media.send_sticker,
    "editmessagemedia": media.edit_media,
    "getstickerset": media.get_sticker_set,
    "getfile": get_file,
    "getchat": get_chat,
    "getchatmember": get_member,
    "getchatadministrators": get_administrators,
    "getchatmembercount": member_count,
    "leavechat": leave_chat,
    "logout": yes,
    "close": yes,
}
"""Names in lower case, because Telegram takes them in any."""


def call(world: World, method: str, params: Params) -> object:
    """The result of one call; Refused for every answer that is not ok."""
    function = METHODS.get(method.lower())
    if function is None:
        raise Refused(404, "Not Found")
    if params.chat is not None:
        world.floods.check(method, params.chat, world.now())
    return function(world, params)
