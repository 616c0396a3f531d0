"""Who looks after a Telegram group, as Telegram says."""

from contextlib import suppress

from telegram.error import BadRequest, Forbidden, TelegramError

from adapters.telegram.send import Bot

RULING = ("creator", "administrator")


async def is_admin(bot: Bot, external_chat_id: str, account: str) -> bool:
    """Whether that account is the group's owner or an admin; OSError when Telegram cannot be asked."""
    chat, person = None, None
    with suppress(ValueError):
        chat, person = int(external_chat_id.partition(":")[0]), int(account)
    if chat is None or person is None:
        return False
    try:
        return (await bot.get_chat_member(chat, person)).status in RULING
    except (BadRequest, Forbidden):
        return False
    except TelegramError as error:
        raise OSError(type(error).__name__) from None
