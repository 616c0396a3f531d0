"""How the openai library is asked about a picture or a recording. It translates no error; wire.py calls it."""

import asyncio
import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bot.errors import ModelError
from bot.text.clean import clean

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

    Headers = dict[str, str | openai.Omit]


async def see(
    client: "openai.AsyncOpenAI", headers: "Headers", model: str, picture: bytes, mime: str, question: str,
    fields: Mapping[str, object],
) -> "ChatCompletion":  # fmt: skip
    """One question about one picture, which travels inside the request with these further fields of the body."""
    url = f"data:{mime};base64,{base64.b64encode(picture).decode()}"
    return await client.chat.completions.create(
        model=model,
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": url}}],
            }
        ],
        stream=False,
        extra_headers=headers,
        extra_body=fields,
    )


async def listen(client: "openai.AsyncOpenAI", headers: "Headers", model: str, sound: bytes, name: str) -> str:
    """What is said in a recording; ModelError when the server does not answer with a text."""
    # The library loads this part at its first use: beside the event loop.
    audio = await asyncio.to_thread(lambda: client.audio.transcriptions)
    heard = await audio.create(model=model, file=(name, sound), response_format="json", extra_headers=headers)
    text: object = getattr(heard, "text", None)
    if not isinstance(text, str):
        raise ModelError("invalid", "the server answered no transcription: is media.voice one of its models?")
    return clean(text).strip()
