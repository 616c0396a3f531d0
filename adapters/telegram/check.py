"""Whether a Telegram token works from here, and what the bot may hear. It changes nothing and receives nothing."""

from telegram import Bot
from telegram.error import InvalidToken, TelegramError
from telegram.request import HTTPXRequest

from bot.types.finding import Finding

ANSWER_S = 10.0
"""Seconds to wait for the server."""


async def check(token: str, base_url: str, proxy: str) -> tuple[Finding, ...]:
    """Ask the server who the bot is; never raises for what a token, a proxy or a server can do."""
    where = f"{base_url}{' through the proxy' if proxy else ''}"
    try:
        request = HTTPXRequest(proxy=proxy or None, connect_timeout=ANSWER_S, read_timeout=ANSWER_S)
        bot = Bot(token, base_url=f"{base_url}/bot", base_file_url=f"{base_url}/file/bot", request=request)
        async with bot:
            hook = await bot.get_webhook_info()
            me = bot.bot
    except InvalidToken:
        return (Finding(False, "telegram.token", "is refused: take the one that @BotFather shows"),)
    except TelegramError as error:
        text = f"{where} cannot be reached ({type(error).__name__}): check telegram.base_url and telegram.proxy"
        return (Finding(False, "telegram", text),)
    found = [Finding(True, "telegram", f"{where} knows the bot as @{me.username}")]
    if hook.url:
        text = "a webhook is set for this bot: another program takes its messages; stop it or delete the webhook"
        found.append(Finding(False, "telegram", text))
    if not me.can_read_all_group_messages:
        text = "in groups the bot hears only what is said to it: @BotFather, /setprivacy, Disable lets it follow up"
        found.append(Finding(True, "telegram", text))
    return tuple(found)
