"""What `nuan doctor` finds of the models, of vectors too: whether they answer and what they can, and one small paid call."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from bot import money
from bot.cli.installation import Installation, encoder_trouble, make_words
from bot.config.base import is_loopback
from bot.config.models import ModelSettings
from bot.config.settings import Settings
from bot.core.clock import SystemClock
from bot.core.errors import FolderLockedError, ModelError, OverBudget, StoreError
from bot.core.inspection import CheckResult, failed, passed, warned
from bot.core.models import Completion, Message, ModelRequest, Prompt, Usage
from bot.model.client import OpenAIEmbedder, OpenAIModel
from bot.model.local import LocalEmbedder
from bot.model.pool import Endpoint
from bot.pipeline.calls import end_failed
from bot.pipeline.endpoints import (
    capabilities_of,
    embedding_capabilities,
    embedding_rate,
    embedding_url,
    endpoint_of,
    make_embedding,
)
from bot.pipeline.tools.registry import read_spec
from bot.store.ledger import NO_CHAT, Reservation, Settlement
from bot.store.store import DATABASE, Store, open_store
from bot.store.vectors import VectorSpace
from bot.text.length import TokenVocabulary, message_tokens, tools_tokens, vocabulary_of

SERVER_ANSWER_S, LIST_S, ENCODER_LOADS_S = 10.0, 4.0, 60.0
"""Seconds to wait for the model's server, for its list while somebody waits for it, and for the encoder."""

DEADLINE_S, OUTPUT_TOKENS = 60.0, 400
"""Seconds, and tokens of an answer: a model that thinks first needs some of them for that."""

CALL_PATH = "model.call"

COST_UNKNOWN = "what it costs is not known, so money is not counted"

RECENT_CALLS = 50

TALK_CAUSES = ("reply", "followup", "tool", "heartbeat", "join")


async def model_findings(place: Installation) -> tuple[CheckResult, ...]:
    """Whether each model's server lets its key in and knows its name, and what it can do; asking costs nothing."""
    settings = place.written  # by the names that the operator gave them
    if not settings.model.base_url:
        return (passed("model", "none is set: the built-in offline replies answer"),)
    return tuple(
        [
            finding
            for path, model in settings.models.items()
            if model.name
            for finding in await _model(settings, path, model)
        ]
    )


async def listed_models(settings: Settings) -> tuple[str, ...]:
    """The names that the model's server lists; none where it does not within a few seconds."""
    model = endpoint_of(settings, settings.model).model
    try:
        return await model.reach(LIST_S) if isinstance(model, OpenAIModel) else ()
    except ModelError:
        return ()
    finally:
        await model.close()


async def _model(settings: Settings, path: str, model: ModelSettings) -> tuple[CheckResult, ...]:
    endpoint, server = endpoint_of(settings, model), model if model.base_url else settings.model
    where = f"{server.base_url}{' through the proxy' if server.proxy else ''}"
    try:
        known = await endpoint.model.reach(SERVER_ANSWER_S) if isinstance(endpoint.model, OpenAIModel) else ()
    except ModelError as error:
        advice = f"check {path}.api_key" if error.fault == "refused" else f"check {path}.base_url and {path}.proxy"
        return (failed(path, f"{where} does not work ({error.detail}): {advice}"),)
    finally:
        await endpoint.model.close()
    wanted = {f"{path}.name": model.name}
    if path == "model":
        wanted |= {"media.images": settings.media.images, "media.voice": settings.media.voice}
        wanted |= {"voice.model": "" if settings.voice.base_url else settings.voice.model}
        wanted |= {"image.model": "" if settings.image.base_url else settings.image.model}
    listed = "" if known else "; it lists no models, so whether it can answer is not known: does base_url end in /v1?"
    found = [passed(path, f"{where} can be reached{listed}"), *abilities(settings, path, endpoint, model)]
    return (*found, *_unlisted(wanted, known))


def _unlisted(wanted: Mapping[str, str], known: tuple[str, ...]) -> Iterator[CheckResult]:
    """The keys whose models are not among those that a server lists; one that lists none says nothing."""
    for key, name in wanted.items():
        if name and known and name not in known:
            yield failed(key, f"the server does not list {name!r} among its {len(known)} models")


def abilities(settings: Settings, path: str, endpoint: Endpoint, model: ModelSettings) -> Iterator[CheckResult]:
    """What is known of a model: its cache, its prices, and what its provider has not."""
    can, price = capabilities_of(settings, model), endpoint.rate(SystemClock().now())
    life = f", kept about {can.cache_life_seconds} s" if can.cache_life_seconds else ""
    marks = {"none": "no marks", "breakpoint": "marked with breakpoints", "cache_control": "marked with cache_control"}
    told = f"known as {can.provider}, cache {can.cache} from {can.cache_min_tokens} tokens{life}, {marks[can.marks]}"
    has = {"pictures": can.vision, "voice": can.transcription, "embeddings": can.embeddings}
    lacks = ", ".join(name for name, able in has.items() if not able)
    yield passed(path, told + (f"; not known to have {lacks}" if lacks else ""))
    priced = model.price_input is not None and model.price_output is not None
    if is_loopback(model.base_url or settings.model.base_url) or priced or price.input or price.output:
        cost = f"{price.input:g} in, {price.cached:g} cached, {price.written:g} written, {price.output:g} out"
        yield passed(path, f"a million tokens cost {cost} {settings.budget.currency}")
    else:
        yield warned(path, f"{COST_UNKNOWN}: set {path}.price_input and {path}.price_output")
    if path == "model":
        images, voice, speaker = settings.media.images, settings.media.voice, settings.voice
        able = {
            "media.images": capabilities_of(settings, model, images).vision,
            "media.voice": capabilities_of(settings, model, voice).transcription,
            "image.model": bool(settings.image.base_url)
            or capabilities_of(settings, model, settings.image.model).drawing,
            "voice.model": bool(speaker.base_url) or capabilities_of(settings, model, speaker.model).speech,
        }
        used = {
            "media.images": images,
            "media.voice": voice,
            "voice.model": speaker.model,
            "image.model": settings.image.model,
        }
        for key, name in used.items():
            if name and not able[key]:
                yield failed(key, f"{can.provider} is not known to have such models; leave it empty")


async def embedding_findings(settings: Settings, data: Path, url: str = "") -> tuple[CheckResult, ...]:
    """Whether recalls by likeness work from here, and how much has its vector; asking costs nothing."""
    path, endpoint, idle = "memory.embedding", make_embedding(settings), tuple(_without_effect(settings))
    if endpoint is None:
        return (*_no_embedder(settings), *idle)
    embedder, found = endpoint.embedder, list[CheckResult]()
    if isinstance(embedder, OpenAIEmbedder):
        found = await _embedding_server_findings(settings, embedder)
    elif isinstance(embedder, LocalEmbedder):
        found = [await _encoder_finding(embedder, settings.memory.embedding.timeout_seconds)]
    works = all(finding.good for finding in found)
    found += idle
    if url or (data / DATABASE).exists():
        try:
            async with await open_store(data, read_only=True, url=url) as store:
                there, having, refused = await store.vectors.counts(VectorSpace(embedder.name))
        except StoreError:
            return tuple(found)  # told of the data folder itself
        until = " until a running nuan has made them" if works else ""
        lacking = "" if having + refused >= there else f"; the others are found by words alone{until}"
        found.append(passed(path, f"{having} of {there} documents have a vector of {embedder.name}{lacking}"))
        if refused:
            advice = "they are found by words alone; `nuan memory backfill --vectors --apply` asks for them once more"
            found.append(warned(path, f"{embedder.name} refused {refused} documents: {advice}"))
    return tuple(found)


def _no_embedder(settings: Settings) -> Iterator[CheckResult]:
    """Why no recall goes by likeness, where something is set for it."""
    mode, provider, path = settings.memory.mode, settings.memory.embedding.provider, "memory.embedding"
    if mode == "hybrid":
        yield passed(path, "no provider is set: hybrid goes by words alone, as v2 does")
    elif provider and mode is None:
        yield warned(
            path, f'provider = "{provider}" is not used: set memory.mode = "hybrid", or recalls go by words alone'
        )
    elif provider:
        yield passed(path, f'provider = "{provider}" is not used, as memory.mode is "{mode}"')


def _without_effect(settings: Settings) -> Iterator[CheckResult]:
    """What is set of a server of embeddings that is not the provider."""
    server, path = settings.memory.embedding, "memory.embedding"
    if server.provider == "openai":
        return
    keys = (
        "base_url",
        "api_key",
        "model",
        "proxy",
        "price_input",
        *(["dimensions"] if server.provider != "hash" else []),
    )
    given = [name for name in keys if getattr(server, name) != type(server).model_fields[name].default]
    if given:
        told = f'{", ".join(given)}: without effect with provider = "{server.provider}"'
        yield warned(path, f'{told}: set provider = "openai", or take {"it" if len(given) == 1 else "them"} out')


async def _encoder_finding(embedder: LocalEmbedder, timeout_s: float) -> CheckResult:
    """Whether the local encoder makes a vector in the time that a new text has for it."""
    path = "memory.embedding"
    try:
        await embedder.load(ENCODER_LOADS_S)
        await embedder.embed(("nuan",), timeout_s)
    except ModelError as error:
        return failed(path, f"{encoder_trouble(error)}; recalls go by words alone")
    finally:
        await embedder.close()
    return passed(path, "the local encoder works")


async def _embedding_server_findings(settings: Settings, embedder: OpenAIEmbedder) -> list[CheckResult]:
    path, url, can = "memory.embedding", embedding_url(settings), embedding_capabilities(settings)
    try:
        known = await embedder.reach(SERVER_ANSWER_S)
    except ModelError as error:
        advice = f"check {path}.{'api_key' if error.fault == 'refused' else 'base_url'}"
        return [failed(path, f"{url} does not work ({error.detail}): {advice}; recalls go by words alone")]
    finally:
        await embedder.close()
    found = [passed(path, f"{url} can be reached")]
    found += _unlisted({f"{path}.model": embedder.model}, known)
    if not can.embeddings:
        found.append(failed(path, f"{can.provider} is not known to make embeddings: name another server"))
    if embedding_rate(settings) is None and not is_loopback(url):
        found.append(passed(path, f"{COST_UNKNOWN}: set {path}.price_input"))
    return found


async def call_findings(place: Installation) -> tuple[CheckResult, ...]:
    """Ask the first model once; while a nuan answers from this folder, look at what its ledger says instead."""
    try:
        if place.url or (place.data / DATABASE).exists():
            # Opened for writing it would be brought to this version, which is not for a doctor to do.
            async with await open_store(place.data, read_only=True, url=place.url):
                pass
        async with await open_store(place.data, url=place.url) as store:
            return tuple(await _call(place, store))
    except FolderLockedError:
        return await _last_call_findings(place)
    except StoreError as error:
        return (failed(CALL_PATH, f"not asked, as its cost could not be written down: {error}"),)


async def _last_call_findings(place: Installation) -> tuple[CheckResult, ...]:
    """What the calls of the nuan that runs tell; two programs never write to one database."""
    async with await open_store(place.data, read_only=True, url=place.url) as store:
        now, made = SystemClock().now(), await store.ledger.recent(RECENT_CALLS)
    talked = [call for call in made if call.cause in TALK_CAUSES]
    if not talked:
        return (passed(CALL_PATH, "not asked: a nuan answers from this folder, and has asked nobody yet"),)
    last = talked[0]
    ago, tools = max(0, now - last.at) // 60_000, any(call.cause == "tool" for call in talked)
    told = f"not asked: a nuan answers from this folder; its last call was {ago} min ago ({last.state})"
    more = ", tools were called lately" if tools else ""
    return (CheckResult(True, CALL_PATH, told + more, warn=last.state not in ("settled", "reserved")),)


def _test_request(place: Installation, vocabulary: TokenVocabulary) -> tuple[ModelRequest, int]:
    """The tiny request, and its estimated tokens."""
    find = place.prompts.path
    told, question = Message("system", find("doctor/question.txt").read_text("utf-8").strip()), Message("user", "warm")
    tools = (read_spec(find("doctor/check_in.json")),)
    tokens = message_tokens(told, vocabulary) + message_tokens(question, vocabulary) + tools_tokens(tools, vocabulary)
    return ModelRequest(Prompt(tools, (told, question)), OUTPUT_TOKENS, 0.0, DEADLINE_S), tokens


async def _call(place: Installation, store: Store) -> list[CheckResult]:
    settings, clock = place.settings, SystemClock()
    endpoint = endpoint_of(settings, settings.model)
    words = make_words(place)
    vocabulary = settings.model.vocabulary or vocabulary_of(endpoint.model.name)
    (request, estimated), now = _test_request(place, vocabulary), clock.now()
    tokens = math.ceil(estimated * await store.ledger.ratio(endpoint.model.name))
    most = money.estimate(tokens, OUTPUT_TOKENS, endpoint.rate(now))
    day, month = money.periods(now, words.default_tz)
    reservation = Reservation("doctor", endpoint.model.name, most.tokens, most.cost, money.limits(settings), day, month)
    try:
        call = await store.ledger.book(NO_CHAT, reservation, now)
    except OverBudget as error:
        return [warned(CALL_PATH, f"not asked: the limit {error.limit} leaves no room for it")]
    try:
        answer = await endpoint.model.complete(request)
    except BaseException as error:  # Ctrl-C, too: what the server has done by then is not known
        await end_failed(store.ledger, call.id, error, clock.now())
        if not isinstance(error, ModelError):
            raise
        return [failed(CALL_PATH, f"no answer ({error.fault}: {error.detail}): {_advice(error)}")]
    finally:
        await endpoint.model.close()
    usage = answer.usage or Usage(tokens, 0, message_tokens(answer.message(), vocabulary), returned=False)
    cost = money.cost(usage, endpoint.rate(clock.now()))
    await store.ledger.settle(Settlement(call.id, usage, cost), clock.now())
    return list(_answer_findings(answer, endpoint, cost, settings.budget.currency))


def _answer_findings(answer: Completion, endpoint: Endpoint, cost: float, currency: str) -> Iterator[CheckResult]:
    name = endpoint.model.name
    if any(call.name == "check_in" for call in answer.tool_calls):
        yield passed(f"{CALL_PATH}.tools", f"{name} calls the tool it is offered")
    else:
        told = f"{name} answered without the tool it was told to call: memory_recall and reminders need that"
        yield warned(f"{CALL_PATH}.tools", f"{told}; take a model, or a server setting, with tool calls")
    if answer.usage is None:
        told = "the server does not count tokens (usage): budgets go by estimates; switch it on if it can"
        yield warned(f"{CALL_PATH}.usage", told)
        return
    usage = answer.usage
    told = f"the server counts tokens: {usage.prompt_tokens} in, {usage.cached_tokens} of them cached"
    yield passed(f"{CALL_PATH}.usage", f"{told}, {usage.output_tokens} out; it cost {cost:.6g} {currency}")


def _advice(error: ModelError) -> str:
    match error.fault:
        case "refused":
            return "check model.api_key and model.name"
        case "unreachable" | "timeout":
            return "check model.base_url and model.proxy"
        case "busy":
            return "the server is busy or its limit is reached: try again later"
    return "look at what the server says; --no-call leaves this out"
