"""Public prices of public models. The only file that knows the library genai-prices, which is loaded at first use."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from bot.types.capabilities import Capabilities
from bot.types.money import Price, Rate

Found = Callable[[datetime], object]

UNKNOWN = Capabilities()


def public_rate(
    base_url: str, name: str, worth: float, now: int, can: Capabilities = UNKNOWN, *, output: float | None = None
) -> Rate | None:  # fmt: skip
    """What that model costs on that server by the public table, in a currency of which a dollar is `worth` so many.

    None where the table does not know server, model, or (`now`) the prices of input and output. Prices that grow with
    the prompt are taken at their first step: a companion's prompts are small. Where the table is silent about cached or
    written input they cost the provider's part of plain input. `output` is what output costs where it has no price.
    """
    prices_at = _find(base_url, name)
    if prices_at is None or _price(prices_at(_instant(now)), worth, can, output) is None:
        return None

    def rate(now: int) -> Price:
        return _price(prices_at(_instant(now)), worth, can, output) or Price(0.0, 0.0, 0.0, 0.0)

    return rate


def _instant(now: int) -> datetime:
    return datetime.fromtimestamp(now / 1000, UTC)


@lru_cache(maxsize=16)
def _find(base_url: str, name: str) -> Found | None:
    """The table's entry for that model on that server; about .2 s and 30 MB at the first call."""
    try:
        from genai_prices import data_snapshot

        _, model = data_snapshot.get_snapshot().find_provider_model(name, None, None, base_url)
    except (LookupError, ImportError):
        return None
    return model.get_prices


def _price(found: object, worth: float, can: Capabilities, free: float | None = None) -> Price | None:
    plain, output = _amount(found, "input_mtok"), _amount(found, "output_mtok")
    output = free if output is None else output
    if plain is None or output is None:
        return None
    cached, written = _amount(found, "cache_read_mtok"), _amount(found, "cache_write_mtok")
    cached = plain * (1.0 if can.cached_ratio is None else can.cached_ratio) if cached is None else cached
    written = plain * (1.0 if can.written_ratio is None else can.written_ratio) if written is None else written
    parts = (plain, cached, output, written)
    return Price(*(part * worth for part in parts))


def _amount(found: object, name: str) -> float | None:
    """Dollars per million tokens; of steps the first."""
    value = getattr(found, name, None)
    value = getattr(value, "base", value)
    return None if value is None else float(value)
