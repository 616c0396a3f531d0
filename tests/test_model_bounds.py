"""A model server that answers without end, or packs an answer into a thousandth of its size."""

import asyncio
import gzip
import json

import pytest

from bot.core.errors import ModelError
from bot.core.models import Message, ModelRequest, Prompt
from bot.model.client import OpenAIModel
from bot.model.transport import MOST_BYTES

ASKED = ModelRequest(Prompt((), (Message("user", "你好"),)), 200, 0.7, 30.0)
SAID = json.dumps({"choices": [{"message": {"role": "assistant", "content": "你好呀"}, "finish_reason": "stop"}]})
TOO_LONG = "the answer is longer than 16 MB"


async def answered(kind: str, body: bytes, packed: str = "", status: int = 200, *, stream: bool = True) -> str:
    """What a model says whose server answers with these bytes, or why it does not."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert b"accept-encoding: identity" in head
        lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", "Connection: close"]
        lines += [f"Content-Encoding: {packed}"] if packed else []
        writer.write("\r\n".join((*lines, "", "")).encode() + body)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = OpenAIModel(f"http://127.0.0.1:{port}/v1", "none", "fake", stream=stream)
        try:
            return (await model.complete(ASKED)).text
        except ModelError as error:
            return f"{error.fault}: {error.detail}"
        finally:
            await model.close()


@pytest.mark.parametrize(("status", "stream"), [(200, True), (200, False), (500, True)])
async def test_a_packed_answer_is_unpacked_no_further_than_it_may_be_long(status: int, stream: bool) -> None:
    bomb = gzip.compress(b"0" * (MOST_BYTES + 1), 1)
    assert await answered("application/json", bomb, "gzip", status, stream=stream) == f"invalid: {TOO_LONG}"


async def test_a_line_without_end_is_left() -> None:
    assert await answered("text/event-stream", b"data: " + b"x" * MOST_BYTES) == f"invalid: {TOO_LONG}"


@pytest.mark.parametrize("packed", ["", "identity", "gzip"])
async def test_an_answer_is_read_packed_or_not(packed: str) -> None:
    body = gzip.compress(SAID.encode()) if packed == "gzip" else SAID.encode()
    assert await answered("application/json", body, packed) == "你好呀"


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_that_calls_tools_without_end_is_given_up(stream: bool) -> None:
    calls = [
        {"index": number, "id": f"c{number}", "function": {"name": "memory_recall", "arguments": "{}"}}
        for number in range(129)
    ]
    whole = {"choices": [{"delta" if stream else "message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
    body = f"data: {json.dumps(whole)}\n\n" if stream else json.dumps(whole)
    kind = "text/event-stream" if stream else "application/json"
    assert await answered(kind, body.encode(), stream=stream) == "invalid: more than 128 tool calls"


@pytest.mark.parametrize("packed", ["gzip", "br"])
async def test_what_cannot_be_unpacked_is_no_answer(packed: str) -> None:
    assert (await answered("application/json", SAID.encode(), packed)).startswith("invalid: the server")
