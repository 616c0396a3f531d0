"""An embedding model behind an OpenAI-compatible server. It never retries, logs or counts money."""

import asyncio
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.errors import ModelError
from bot.model.answer import describe, fault_of, label
from bot.model.dialect import PLAIN
from bot.model.link import Link, within
from bot.types.embedding import Embedded

if TYPE_CHECKING:
    from bot.model.wire import Wire


class OpenAIEmbedder:
    """One server and one model name; `dimensions` is asked for where it is given, else the model's own count.

    The library and its connections are loaded at the first use, in a thread. An empty `api_key` sends no
    Authorization header.
    """

    calls = True

    def __init__(
        self, base_url: str, api_key: str, model: str, dimensions: int | None = None, proxy: str = ""
    ) -> None:  # fmt: skip
        self.name = f"{model}-{dimensions}" if dimensions else model
        self.model = model
        self._base_url = base_url
        self._api_key = api_key
        self._dimensions = dimensions
        self._proxy = proxy
        self._link = Link(self._load)

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embedded:
        """The vectors within `deadline_s` seconds, or ModelError, whatever the server answers."""
        return await within(deadline_s, self._embed(texts), "no vectors")

    async def reach(self, deadline_s: float) -> tuple[str, ...]:
        """The names of the server's models, for nothing; raises ModelError. A server may have no list: none."""
        return await within(deadline_s, self._names())

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._link.close()

    async def _embed(self, texts: Sequence[str]) -> Embedded:
        raw = await (await self._link.wire()).embed(texts, self._dimensions)
        return await asyncio.to_thread(read_answer, raw, len(texts), self._dimensions)

    async def _names(self) -> tuple[str, ...]:
        return await (await self._link.wire()).names()

    def _load(self) -> "Wire":
        from bot.model.wire import Wire

        return Wire(
            self._base_url, self._api_key, self.model, stream=False, dialect=PLAIN, seeing=PLAIN, proxy=self._proxy
        )  # fmt: skip


def read_answer(raw: bytes, count: int, dimensions: int | None) -> Embedded:
    """The vectors of an answer to `count` texts; ModelError for anything but `count` vectors of finite numbers.

    All have the same length, that of `dimensions` where it is given. Numbers beyond float32 are no numbers.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise ModelError("invalid", "the server answered no JSON: is base_url right?") from None
    if not isinstance(body, dict):
        raise ModelError("invalid", "the server answered no JSON object: is base_url right?")
    if isinstance(body.get("error"), dict | str):
        shown = body["error"] if isinstance(body["error"], dict) else {"message": body["error"]}
        raise ModelError(fault_of(shown), f"an error with status 200: {label(body)}".strip(": "), describe(shown))
    rows = _rows(body.get("data"), count)
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not min(widths) > 0:
        raise ModelError("invalid", f"vectors of different lengths: {sorted(widths)[:4]}")
    if dimensions is not None and widths != {dimensions}:
        raise ModelError("invalid", f"vectors have {min(widths)} dimensions, asked for were {dimensions}")
    usage = body.get("usage")
    tokens = usage.get("prompt_tokens", usage.get("total_tokens")) if isinstance(usage, dict) else None
    counted = tokens if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None
    return Embedded(_packed(rows), min(widths), counted)


def _rows(data: object, count: int) -> list[list[float]]:
    """The vectors in the order of their index, where every one has its own, else as they came."""
    if not isinstance(data, list) or len(data) != count:
        found = f"{len(data)} vectors" if isinstance(data, list) else "no list of vectors"
        raise ModelError("invalid", f"the server answered {found} for {count} texts")
    if not all(isinstance(each, dict) and isinstance(each.get("embedding"), list) for each in data):
        raise ModelError("invalid", "a vector is no list of numbers")
    index = [each.get("index") for each in data]
    if all(type(place) is int for place in index):
        if sorted(index) != list(range(count)):
            raise ModelError("invalid", "the vectors are not numbered as the texts are")
        data = sorted(data, key=lambda each: int(each["index"]))
    return [each["embedding"] for each in data]


def _packed(rows: list[list[float]]) -> tuple[bytes, ...]:
    import numpy as np

    if not all(type(value) in (int, float) for row in rows for value in row):
        raise ModelError("invalid", "a vector holds what is no number")
    try:
        values = np.asarray(rows, dtype=np.float64)
    except (OverflowError, ValueError):
        raise ModelError("invalid", "a vector holds a number beyond all bounds") from None
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt((values * values).sum(axis=1, keepdims=True))
    if not all(math.isfinite(length) and length > 0 for length in lengths[:, 0].tolist()):
        raise ModelError("invalid", "a vector holds a number that is none, or only zeros")
    return tuple(row.tobytes() for row in (values / lengths).astype("<f4"))
