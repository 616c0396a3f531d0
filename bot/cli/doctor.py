"""`nuan doctor`: whether everything that is configured works from here. It says nothing to anybody."""

from collections.abc import Iterator, Sequence

from bot.cli.checks import machine_findings, proxies
from bot.cli.embedding import embedding_findings
from bot.cli.house import Place
from bot.cli.models import known_of, member_of
from bot.cli.printing import document
from bot.cli.probing import call_findings
from bot.cli.said import said_findings
from bot.cli.storecheck import store_findings
from bot.clock import SystemClock
from bot.config.kinds import is_loopback
from bot.config.model import AnyModel
from bot.config.settings import Settings
from bot.errors import ModelError
from bot.flow.crew import Member
from bot.model.client import OpenAIModel
from bot.ops.silence import Silence
from bot.types.finding import Finding
from bot.types.log import Log

ANSWER_S = 10.0
"""Seconds to wait for the model's server."""


def report(found: Sequence[Finding], *, as_json: bool) -> str:
    """A line for each finding, or one JSON object: `good` says that nothing failed."""
    if not as_json:
        return "\n".join(finding.line for finding in found)
    told = [{"state": each.state, "about": each.about, "text": each.text} for each in found]
    return document({"good": all(each.good for each in found), "findings": told})


async def examine(place: Place, *, call: bool = True) -> tuple[Finding, ...]:
    """Configuration, machine, models, every platform with a token, and the data folder; with `call` one tiny call."""
    settings, now = place.settings, SystemClock().now()
    found = [Finding(True, "configuration", f"is good, the persona is {settings.persona}"), proxies(settings)]
    found += await _models(place)
    store = await store_findings(place.data, now)
    if call and settings.model.base_url and all(finding.good for finding in (*found, *store)):
        found += await call_findings(place)
    found += [*await _telegram(settings), *await _discord(settings, Silence())]
    if settings.telegram.token is None and settings.discord.token is None:
        found.append(Finding(True, "platforms", "no token is set: only `nuan chat` works"))
    found += await embedding_findings(settings, place.data)
    return (*found, *said_findings(place.data), *store, *machine_findings(settings, place.data, now))


async def _models(place: Place) -> tuple[Finding, ...]:
    """Whether each model's server lets its key in and knows its name, and what it can do; asking costs nothing."""
    settings = place.written or place.settings  # by the names that the operator gave them
    if not settings.model.base_url:
        return (Finding(True, "model", "none is set: the built-in offline replies answer"),)
    named = {"model": settings.model, "fallback": settings.fallback, "second_fallback": settings.second_fallback,
             "small": settings.small}  # fmt: skip
    return tuple([
        finding for path, model in named.items() if model.name for finding in await _model(settings, path, model)
    ])  # fmt: skip


async def _model(settings: Settings, path: str, model: AnyModel) -> tuple[Finding, ...]:
    member, server = member_of(settings, model), model if model.base_url else settings.model
    where = f"{server.base_url}{' through the proxy' if server.proxy else ''}"
    try:
        known = await member.model.reach(ANSWER_S) if isinstance(member.model, OpenAIModel) else ()
    except ModelError as error:
        advice = f"check {path}.api_key" if error.fault == "refused" else f"check {path}.base_url and {path}.proxy"
        return (Finding(False, path, f"{where} does not work ({error.detail}): {advice}"),)
    finally:
        await member.model.close()
    wanted = {f"{path}.name": model.name}
    if path == "model":
        wanted |= {"media.images": settings.media.images, "media.voice": settings.media.voice}
    listed = "" if known else "; it lists no models, so whether it can answer is not known: does base_url end in /v1?"
    found = [Finding(True, path, f"{where} can be reached{listed}"), *abilities(settings, path, member, model)]
    for key, name in wanted.items():
        if name and known and name not in known:
            found.append(Finding(False, key, f"the server does not list {name!r} among its {len(known)} models"))
    return tuple(found)


def abilities(settings: Settings, path: str, member: Member, model: AnyModel) -> Iterator[Finding]:
    """What is known of a model: its cache, its prices, and what its provider has not."""
    can, price = known_of(settings, model), member.rate(SystemClock().now())
    life = f", kept about {can.cache_life_seconds} s" if can.cache_life_seconds else ""
    marks = {"none": "no marks", "breakpoint": "marked with breakpoints", "cache_control": "marked with cache_control"}
    told = f"known as {can.provider}, cache {can.cache} from {can.cache_min_tokens} tokens{life}, {marks[can.marks]}"
    has = {"pictures": can.vision, "voice": can.transcription, "embeddings": can.embeddings}
    lacks = ", ".join(name for name, able in has.items() if not able)
    yield Finding(True, path, told + (f"; not known to have {lacks}" if lacks else ""))
    priced = model.price_input is not None and model.price_output is not None
    if is_loopback(model.base_url or settings.model.base_url) or priced or price.input or price.output:
        cost = f"{price.input:g} in, {price.cached:g} cached, {price.written:g} written, {price.output:g} out"
        yield Finding(True, path, f"a million tokens cost {cost} {settings.budget.currency}")
    else:
        unknown = "what it costs is not known, so money is not counted"
        yield Finding(True, path, f"{unknown}: set {path}.price_input and {path}.price_output", warn=True)
    if path == "model":
        images, voice = settings.media.images, settings.media.voice
        able = {"media.images": known_of(settings, model, images).vision,
                "media.voice": known_of(settings, model, voice).transcription}  # fmt: skip
        for key, name in (("media.images", images), ("media.voice", voice)):
            if name and not able[key]:
                yield Finding(False, key, f"{can.provider} is not known to have such models; leave it empty")


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
