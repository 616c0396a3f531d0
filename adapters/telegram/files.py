"""Files that people send: read piece by piece, and never further than wanted, whatever size was told."""

import asyncio
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx

from bot.errors import SendError

FETCH_S = 60.0
"""How long a file may take, seconds."""


async def read_file(url: str, most: int, proxy: str | None, *, trust_env: bool) -> bytes:
    """What is at the URL (or, where Telegram's server runs on this machine, at the path) of at most `most` bytes.

    SendError("never") when it is larger or not there, OSError to try again; neither tells the URL, which holds the
    token. No redirect is followed, and nothing is unpacked.
    """
    if url.startswith("/"):
        return await asyncio.to_thread(_local, Path(url), most)
    parts = urlsplit(url)
    try:
        async with (
            asyncio.timeout(FETCH_S),
            httpx.AsyncClient(proxy=proxy, trust_env=trust_env, timeout=FETCH_S) as client,
            client.stream(
                "GET", parts._replace(path=quote(parts.path)).geturl(), headers={"Accept-Encoding": "identity"}
            ) as response,
        ):
            if response.status_code != httpx.codes.OK:
                if 300 <= response.status_code < 500 and response.status_code != httpx.codes.TOO_MANY_REQUESTS:
                    raise SendError("never", f"{response.status_code}")
                raise ConnectionError(f"Telegram: {response.status_code}")
            taken = bytearray()
            async for chunk in response.aiter_raw():
                taken += chunk
                if len(taken) > most:
                    raise SendError("never", f"more than {most} bytes")
            return bytes(taken)
    except httpx.HTTPError as error:
        raise ConnectionError(f"Telegram: {type(error).__name__}") from None


def _local(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        taken = file.read(most + 1)
    if len(taken) > most:
        raise SendError("never", f"more than {most} bytes")
    return taken
