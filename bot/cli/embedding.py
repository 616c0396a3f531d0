"""From the configuration to whoever makes vectors: which server, and what its tokens cost."""

from bot.cli.rules import shipped_rules
from bot.clock import SystemClock
from bot.config.budget import Budget
from bot.config.kinds import is_loopback
from bot.config.settings import Settings
from bot.flow.crew import EmbeddingMember
from bot.model.capabilities import capabilities
from bot.model.embedding import OpenAIEmbedder
from bot.money.table import public_rate
from bot.recall.hashing import HashEmbedder
from bot.types.capabilities import Capabilities
from bot.types.money import Price, Rate


def make_embedding(settings: Settings) -> EmbeddingMember | None:
    """The configured embedder; None where no recall would use its vectors."""
    server = settings.memory.embedding
    if settings.memory.ranking != "hybrid" or not server.provider:
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
        (name for name in Budget.model_fields if name.endswith("_money") and getattr(settings.budget, name) is not None),
        "",
    )
    used = settings.memory.ranking == "hybrid" and settings.memory.embedding.provider == "openai"
    if not limited or not used or is_loopback(embedding_url(settings)) or embedding_rate(settings) is not None:
        return ()
    return (
        f"budget.{limited}: needs memory.embedding.price_input: the public table does not know "
        f"{settings.memory.embedding.model!r}",
    )


def _free(_: int) -> Price:
    return Price(0.0, 0.0, 0.0, 0.0)
