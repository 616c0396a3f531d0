"""How the fake server sends a reply, whole or as a stream, and each fault. It checks and records nothing."""

import asyncio
import hashlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Mapping

from tests.fakes.openai_rules import mapping, tokens
from tests.fakes.openai_script import Asked, Call, Fault, Recorded, Reply

DRIP_S = 0.05
"""Seconds between two tokens of a drip."""
PIECE = 3
"""Characters of text or arguments in one chunk of a stream."""
BREAKS = ("cut", "reset", "broken_json", "error_stream")
"""Faults that end a stream in its middle."""


async def play(writer: asyncio.StreamWriter, reply: Reply, body: Mapping[str, object], recorded: Recorded) -> None:
    """Send the reply, or the fault it asks for."""
    match reply.fault:
        case "html200":
            await send(writer, 200, "<!DOCTYPE html><html><body>Welcome</body></html>", "text/html; charset=utf-8")
        case "choices_null":
            await send(writer, 200, json.dumps({"id": "x", "object": "chat.completion", "choices": None}))
        case "error200":
            await send(writer, 200, error_json("The server is overloaded", "server_error"))
        case "http":
            extra = f"Retry-After: {reply.retry_after}\r\n" if reply.retry_after is not None else ""
            await send(writer, reply.status, error_json("asked for by the script", f"http_{reply.status}"), extra=extra)
        case "context_overflow":
            too_long = "This model's maximum context length is 8192 tokens"
            await send(writer, 400, error_json(too_long, "context_length_exceeded"))
        case "hang":
            await asyncio.Event().wait()
        case _ if body.get("stream") is True and reply.fault != "plain_json":
            await _stream(writer, reply, body, recorded)
        case _:
            await _whole(writer, reply, body, recorded)


async def _whole(writer: asyncio.StreamWriter, reply: Reply, body: Mapping[str, object], recorded: Recorded) -> None:
    """The answer as one JSON object."""
    message: dict[str, object] = {"role": "assistant", "content": _text(reply)}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if calls := _calls(reply, body, recorded):
        message["tool_calls"] = calls
    finish = None if reply.fault == "no_finish" else _finish(reply, bool(calls))
    choice = {"index": 0, "message": message, "finish_reason": finish}
    text = json.dumps({**_frame("chat.completion"), "choices": [choice], "usage": _usage(reply, recorded)})
    match reply.fault:
        case "broken_json":
            await send(writer, 200, text[:40])
        case "cut" | "reset":
            await send(writer, 200, text, ends_at=len(text) // 2)
            if reply.fault == "reset":
                _reset(writer)
        case "drip":
            await send(writer, 200, " " * 10**6, ends_at=1)
            while True:
                await asyncio.sleep(DRIP_S)
                await _write(writer, b" ")
        case "error_stream":
            await send(writer, 200, error_json("The server is overloaded", "server_error"))
        case _:
            await send(writer, 200, text)


async def _stream(writer: asyncio.StreamWriter, reply: Reply, body: Mapping[str, object], recorded: Recorded) -> None:
    """The answer as server-sent events, ended by the connection's end."""
    await _write(writer, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    calls = _calls(reply, body, recorded)
    number = 0
    async for piece in _pieces(reply, calls):
        number += 1
        if number > reply.pieces and reply.fault in BREAKS:
            break
        choice: dict[str, object] = {"index": 0, "delta": piece, "finish_reason": None}
        await _event(writer, {**_frame("chat.completion.chunk"), "choices": [choice]})
    if reply.fault in BREAKS:
        await _break_off(writer, reply.fault)
        return
    if reply.fault != "no_finish":
        ended = {"index": 0, "delta": {}, "finish_reason": _finish(reply, bool(calls))}
        await _event(writer, {**_frame("chat.completion.chunk"), "choices": [ended]})
    if mapping(body.get("stream_options", {})).get("include_usage"):
        await _event(writer, {**_frame("chat.completion.chunk"), "choices": [], "usage": _usage(reply, recorded)})
    await _write(writer, b"data: [DONE]\n\n")


async def _break_off(writer: asyncio.StreamWriter, fault: Fault) -> None:
    """End a stream that has begun; nothing more is needed for "cut"."""
    match fault:
        case "reset":
            _reset(writer)
        case "broken_json":
            await _write(writer, b'data: {"choices": [{"del\n\n')
        case "error_stream":
            await _write(writer, f"data: {error_json('The server is overloaded', 'server_error')}\n\n".encode())


async def _pieces(reply: Reply, calls: list[dict[str, object]]) -> AsyncIterator[dict[str, object]]:
    """The deltas of an answer: role, reasoning, text, then each call's head and the pieces of its arguments."""
    yield {"role": "assistant", "content": ""}
    if reply.reasoning:
        yield {"reasoning_content": reply.reasoning}
    for piece in _cut(_text(reply)):
        yield {"content": piece}
    while reply.fault == "drip":
        await asyncio.sleep(DRIP_S)
        yield {"content": "嗯"}
    for index, call in enumerate(calls):
        function = mapping(call["function"])
        yield {"tool_calls": [{"index": index, **call, "function": {**function, "arguments": ""}}]}
        for piece in _cut(str(function["arguments"])):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _cut(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]


def _text(reply: Reply) -> str:
    return "" if reply.fault == "empty" else reply.text


def _calls(reply: Reply, body: Mapping[str, object], recorded: Recorded) -> list[dict[str, object]]:
    offered = Asked(recorded.raw, body).tool_names
    name = reply.calls[0].name if reply.calls else next(iter(offered), "memory_recall")
    broken = {"bad_tool_args": '{"query": hal', "truncated_tool_args": '{"query": "hal', "unknown_tool": "{}"}
    calls = reply.calls
    if reply.fault is not None and reply.fault in broken:
        calls = (Call("no_such_tool" if reply.fault == "unknown_tool" else name, broken[reply.fault]),)
    # Ids are a function of the request, so that a replay gives the same bytes.
    mark = hashlib.sha256(recorded.raw).hexdigest()[:12]
    return [
        {
            "id": f"call_{mark}_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for number, call in enumerate(calls)
    ]


def _finish(reply: Reply, called: bool) -> str:
    match reply.fault:
        case "length" | "truncated_tool_args":
            return "length"
        case "content_filter":
            return "content_filter"
        case _:
            return "tool_calls" if called else "stop"


def _usage(reply: Reply, recorded: Recorded) -> dict[str, object]:
    output = tokens(reply.text) + sum(tokens(call.name + call.arguments) for call in reply.calls)
    return {
        "prompt_tokens": recorded.prompt_tokens,
        "completion_tokens": output,
        "total_tokens": recorded.prompt_tokens + output,
        "prompt_tokens_details": {"cached_tokens": recorded.cached_tokens},
    }


def _frame(kind: str) -> dict[str, object]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": "fake"}


def error_json(message: str, code: str) -> str:
    """An error as OpenAI writes it."""
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}})


async def send(
    writer: asyncio.StreamWriter,
    status: int,
    text: str,
    kind: str = "application/json",
    *,
    extra: str = "",
    ends_at: int | None = None,
) -> None:
    """Send a response of known length, or only its first `ends_at` bytes."""
    data = text.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{extra}"
    await _write(writer, f"{head}Connection: close\r\n\r\n".encode() + data[:ends_at])


async def _event(writer: asyncio.StreamWriter, chunk: Mapping[str, object]) -> None:
    await _write(writer, f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode())


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with a TCP reset instead of an orderly end."""
    wire: socket.socket = writer.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
