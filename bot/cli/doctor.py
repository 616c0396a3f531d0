"""`nuan doctor`: whether everything that is configured works from here. It changes nothing and says nothing."""

from bot.cli.house import Place, make_model
from bot.config.settings import Settings
from bot.errors import ModelError, StoreError
from bot.model.client import OpenAIModel
from bot.ops.silence import Silence
from bot.store.store import DATABASE, open_store
from bot.types.finding import Finding
from bot.types.log import Log

ANSWER_S = 10.0
"""Seconds to wait for the model's server."""


async def examine(place: Place) -> tuple[Finding, ...]:
    """The model, every platform with a token, and the data folder."""
    settings = place.settings
    found = [*await _model(place), *await _telegram(settings), *await _discord(settings, Silence())]
    if settings.telegram.token is None and settings.discord.token is None:
        found.append(Finding(True, "platforms", "no token is set: only `nuan chat` works"))
    return (*found, *await _store(place))


async def _model(place: Place) -> tuple[Finding, ...]:
    """Whether the model's server lets this key in and knows these names; asking costs nothing."""
    settings, model = place.settings.model, make_model(place)
    if not isinstance(model, OpenAIModel):
        return (Finding(True, "model", "none is set: the built-in offline replies answer"),)
    where = f"{settings.base_url}{' through the proxy' if settings.proxy else ''}"
    try:
        known = await model.reach(ANSWER_S)
    except ModelError as error:
        advice = "check model.api_key" if error.fault == "refused" else "check model.base_url and model.proxy"
        return (Finding(False, "model", f"{where} does not work ({error.detail}): {advice}"),)
    finally:
        await model.close()
    media = place.settings.media
    wanted = {"model.name": settings.name, "media.images": media.images, "media.voice": media.voice}
    listed = "" if known else "; it lists no models, so whether it can answer is not known: does base_url end in /v1?"
    found = [Finding(True, "model", f"{where} can be reached{listed}")]
    for key, name in wanted.items():
        if name and known and name not in known:
            found.append(Finding(False, key, f"the server does not list {name!r} among its {len(known)} models"))
    return tuple(found)


async def _telegram(settings: Settings) -> tuple[Finding, ...]:
    telegram = settings.telegram
    if telegram.token is None:
        return ()
    try:
        from adapters.telegram.check import check
    except ImportError:
        return (Finding(False, "telegram", "the library is missing: pip install 'nuan[telegram]'"),)
    return await check(telegram.token.get_secret_value(), telegram.base_url, telegram.proxy)


async def _discord(settings: Settings, log: Log) -> tuple[Finding, ...]:
    discord = settings.discord
    if discord.token is None:
        return ()
    try:
        from adapters.discord.check import check
        from adapters.discord.client import Address
    except ImportError:
        return (Finding(False, "discord", "the library is missing: pip install 'nuan[discord]'"),)
    return await check(
        discord.token.get_secret_value(), Address(discord.api_url, discord.gateway_url, discord.proxy), log
    )


async def _store(place: Place) -> tuple[Finding, ...]:
    """Whether the data folder can be read, and which messages did not certainly reach their people."""
    if not (place.data / DATABASE).exists():
        return (Finding(True, "data", "there is no database yet: the first start makes it"),)
    try:
        async with await open_store(place.data, read_only=True) as store:
            states = await store.outbox.states()
    except StoreError as error:
        return (Finding(False, "data", str(error)),)
    told = {
        "pending": "wait to be sent",
        "unknown": "may or may not have arrived: a crash or a timeout cut them off, and they are not sent again",
        "failed": "were refused by their platform",
    }
    lines = [
        Finding(True, "outbox", f"{states[state]} messages {text}") for state, text in told.items() if states.get(state)
    ]
    return (Finding(True, "data", f"{DATABASE} can be read"), *lines)
