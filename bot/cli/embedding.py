"""From the configuration to whoever makes vectors: which server, and what its tokens cost."""

from pathlib import Path

from bot.cli.rules import shipped_rules
from bot.clock import SystemClock
from bot.config.budget import Budget
from bot.config.kinds import is_loopback
from bot.config.settings import Settings
from bot.errors import ModelError, StoreError
from bot.flow.crew import EmbeddingMember
from bot.model.capabilities import capabilities
from bot.model.embedding import OpenAIEmbedder
from bot.money.table import public_rate
from bot.recall.hashing import HashEmbedder
from bot.store.store import DATABASE, open_store
from bot.store.vectors import Space
from bot.types.capabilities import Capabilities
from bot.types.finding import Finding
from bot.types.money import Price, Rate

ANSWER_S = 10.0
"""Seconds to wait for the server."""


def make_embedding(settings: Settings) -> EmbeddingMember | None:
    """The configured embedder; None where no recall would use its vectors."""
    server = settings.memory.embedding
    if settings.memory.mode != "hybrid" or not server.provider:
        return None
    if server.provider == "hash":
        return EmbeddingMember(HashEmbedder(server.dimensions), _free)
    own = server if server.base_url else settings.model
    key = own.api_key.get_secret_value() if own.api_key is not None else ""
    embedder = OpenAIEmbedder(own.base_url, key, server.model, server.dimensions, own.proxy)
    return EmbeddingMember(embedder, embedding_rate(settings) or _free)


def embedding_url(settings: Settings) -> str:
    """The address that is asked for vectors."""
    return settings.memory.embedding.base_url or settings.model.base_url


def embedding_can(settings: Settings) -> Capabilities:
    """What is known of its server."""
    rules = (*shipped_rules(), *settings.capabilities)
    return capabilities(rules, embedding_url(settings), settings.memory.embedding.model)


def embedding_rate(settings: Settings) -> Rate | None:
    """What a million tokens cost: as configured, else by the public table, in which vectors have no price of output."""
    server, budget, address = settings.memory.embedding, settings.budget, embedding_url(settings)
    if server.price_input is not None:
        price = Price(server.price_input, server.price_input, 0.0, server.price_input)
        return lambda now: price
    worth = 1.0 if budget.currency == "USD" else budget.usd_rate
    if not address or is_loopback(address) or worth is None:
        return None
    return public_rate(address, server.model, worth, SystemClock().now(), embedding_can(settings), output=0.0)


def embedding_problems(settings: Settings) -> tuple[str, ...]:
    """A limit in money needs the price of vectors, too, unless their server is on this machine."""
    limited = next(
        (
            name
            for name in Budget.model_fields
            if name.endswith("_money") and getattr(settings.budget, name) is not None
        ),
        "",
    )
    used = settings.memory.mode == "hybrid" and settings.memory.embedding.provider == "openai"
    if not limited or not used or is_loopback(embedding_url(settings)) or embedding_rate(settings) is not None:
        return ()
    return (
        f"budget.{limited}: needs memory.embedding.price_input: the public table does not know "
        f"{settings.memory.embedding.model!r}",
    )


def _free(_: int) -> Price:
    return Price(0.0, 0.0, 0.0, 0.0)


async def embedding_findings(settings: Settings, data: Path) -> tuple[Finding, ...]:
    """Whether recalls by likeness work from here, and how much has its vector; asking costs nothing."""
    server, path = settings.memory.embedding, "memory.embedding"
    if settings.memory.mode != "hybrid":
        return (Finding(True, path, "set, but memory.mode is not hybrid"),) if server.provider else ()
    member = make_embedding(settings)
    if member is None:
        return (Finding(True, path, "no provider is set: hybrid goes by words alone, as v2 does"),)
    embedder = member.embedder
    found = await _server(settings, embedder) if isinstance(embedder, OpenAIEmbedder) else []
    if (data / DATABASE).exists():
        try:
            async with await open_store(data, read_only=True) as store:
                there, having = await store.vectors.counts(Space(embedder.name))
        except StoreError:
            return tuple(found)  # told of the data folder itself
        lacking = "" if having >= there else "; the others are found by words alone until a running nuan has made them"
        found.append(Finding(True, path, f"{having} of {there} documents have a vector of {embedder.name}{lacking}"))
    return tuple(found)


async def _server(settings: Settings, embedder: OpenAIEmbedder) -> list[Finding]:
    path, url, can = "memory.embedding", embedding_url(settings), embedding_can(settings)
    try:
        known = await embedder.reach(ANSWER_S)
    except ModelError as error:
        advice = f"check {path}.{'api_key' if error.fault == 'refused' else 'base_url'}"
        return [Finding(False, path, f"{url} does not work ({error.detail}): {advice}; recalls go by words alone")]
    finally:
        await embedder.close()
    found = [Finding(True, path, f"{url} can be reached")]
    if known and embedder.model not in known:
        told = f"the server does not list {embedder.model!r} among its {len(known)} models"
        found.append(Finding(False, f"{path}.model", told))
    if not can.embeddings:
        found.append(Finding(False, path, f"{can.provider} is not known to make embeddings: name another server"))
    if embedding_rate(settings) is None and not is_loopback(url):
        unknown = "what it costs is not known, so money is not counted"
        found.append(Finding(True, path, f"{unknown}: set {path}.price_input"))
    return found
