"""How long the answer of a model server may be: counted as it comes, unpacked no further than that. It reads none."""

import zlib
from collections.abc import AsyncIterator, Iterator

import httpx2

from bot.errors import ModelError

MOST_BYTES = 16_000_000
"""Of one answer, unpacked: far above what any needs, far below what a machine has."""
STEP_BYTES = 65_536
"""What is unpacked at a time."""
EITHER = 32 + zlib.MAX_WBITS
"""gzip as well as deflate, by what the first bytes say."""


async def bound(response: httpx2.Response) -> None:
    """For the hooks of a client: reading this answer ends with a ModelError where it is longer than MOST_BYTES.

    Packed answers are not asked for. A thousandth of that is enough to fill the memory, so they are unpacked here.
    """
    packed = response.headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity", "gzip", "deflate"):
        raise ModelError("invalid", "the server packs its answers though nobody asked for it")
    if packed in ("gzip", "deflate"):
        del response.headers["content-encoding"]
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, packed=packed in ("gzip", "deflate"))


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, *, packed: bool) -> None:
        self._stream = stream
        self._unpacker = zlib.decompressobj(EITHER) if packed else None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for raw in self._stream:
            for piece in self._pieces(raw):
                left -= len(piece)
                if left < 0:
                    raise ModelError("invalid", f"the answer is longer than {MOST_BYTES // 1_000_000} MB")
                yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _pieces(self, raw: bytes) -> Iterator[bytes]:
        if self._unpacker is None:
            yield raw
            return
        piece = b""
        while raw or len(piece) == STEP_BYTES:
            try:
                piece = self._unpacker.decompress(raw, STEP_BYTES)
            except zlib.error:
                raise ModelError("invalid", "the server's answer cannot be unpacked") from None
            raw = self._unpacker.unconsumed_tail
            yield piece
