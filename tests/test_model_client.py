"""What nuan gets from a model server: a whole answer or one clear fault, in time, and never a secret."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from bot.core.errors import ModelError, ModelFault
from bot.core.models import Capabilities, Message, ModelRequest, Prompt, ToolCall, ToolSpec
from bot.model.client import OpenAIModel
from bot.model.dialect import PLAIN_DIALECT, Dialect
from tests.fakes.openai_script import Asked, Call, Fault, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.sizes import PATIENCE_S

KEY = "sk-very-secret-0123456789"
TOOL = ToolSpec(
    "memory_recall",
    "查找记忆",
    '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}',
)
PROMPT = Prompt((TOOL,), (Message("system", "你是小暖。"), Message("user", "你好，café <ctx>")))
CALLED = Prompt(
    (TOOL,),
    (
        *PROMPT.messages,
        Message("assistant", "", (ToolCall("c1", "memory_recall", '{"query":"过敏"}'),)),
        Message("tool", "花生", tool_call_id="c1"),
    ),
)


def request(prompt: Prompt = PROMPT, deadline_s: float = 0.5) -> ModelRequest:
    return ModelRequest(prompt, 200, 0.7, deadline_s)


@asynccontextmanager
async def talking(
    reply: Reply,
    *,
    stream: bool = True,
    key: str = KEY,
    speaks: Dialect = PLAIN_DIALECT,
) -> AsyncIterator[tuple[OpenAIModel, FakeOpenAI]]:
    """A server that answers everything with `reply`, and a model that talks to it, its library loaded."""
    async with FakeOpenAI(lambda asked: reply, key=KEY) as server:
        model = OpenAIModel(server.base_url, key, "fake", stream=stream, speaks=speaks)
        await model.prepare()
        try:
            yield model, server
        finally:
            await model.close()


async def fault_of(reply: Reply, *, stream: bool, key: str = KEY, deadline_s: float = 0.5) -> ModelError:
    """The error that a call ends with."""
    async with talking(reply, stream=stream, key=key) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.complete(request(deadline_s=deadline_s))
        assert len(server.requests) <= 1, "it must not retry"
        return caught.value


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_comes_whole_with_its_usage(stream: bool) -> None:
    async with talking(Reply("你好呀 👋，今天好吗？"), stream=stream) as (model, _):
        answer = await model.complete(request())
    assert answer.text == "你好呀 👋，今天好吗？"
    assert answer.tool_calls == ()
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 20
    assert answer.usage.returned


@pytest.mark.parametrize("stream", [True, False])
async def test_tool_calls_are_put_together_and_their_arguments_kept_raw(stream: bool) -> None:
    raw = '{ "query":"对什么过敏" ,"n":1}'
    reply = Reply("我想想", (Call("memory_recall", raw), Call("remember", '{"text":"花生"}')))
    async with talking(reply, stream=stream) as (model, server):
        answer = await model.complete(request())
        results = tuple(Message("tool", "花生", tool_call_id=call.id) for call in answer.tool_calls)
        await model.complete(request(Prompt((TOOL,), (*PROMPT.messages, answer.message(), *results))))
        assert server.violations == []
    assert answer.text == "我想想"
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [
        ("memory_recall", raw),
        ("remember", '{"text":"花生"}'),
    ]
    assert len({call.id for call in answer.tool_calls}) == 2


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("prompt", [PROMPT, CALLED, Prompt((), PROMPT.messages)])
async def test_the_shown_body_is_the_sent_body_byte_for_byte(stream: bool, prompt: Prompt) -> None:
    async with talking(Reply(), stream=stream) as (model, server):
        before = await model.body(request(prompt))
        await model.complete(request(prompt))
        after = await model.body(request(prompt))
        assert server.violations == []
        assert server.bodies == [before] == [after]
    sent = json.loads(before)
    assert sent["messages"] == [message.wire() for message in prompt.messages]
    assert ("tools" in sent) == bool(prompt.tools)
    assert "你好，café <ctx>".encode() in before


FAULTS: list[tuple[Fault, ModelFault]] = [
    ("html200", "invalid"),
    ("choices_null", "invalid"),
    ("error200", "busy"),
    ("broken_json", "invalid"),
    ("cut", "cut"),
    ("reset", "cut"),
    ("no_finish", "cut"),
    ("empty", "invalid"),
    ("length", "cut"),
    ("truncated_tool_args", "cut"),
    ("content_filter", "filtered"),
    ("context_overflow", "overflow"),
    ("error_stream", "busy"),
    ("hang", "timeout"),
    ("drip", "timeout"),
]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("fault", "expected"), FAULTS)
async def test_a_lying_server_ends_in_one_named_fault(fault: Fault, expected: ModelFault, stream: bool) -> None:
    deadline_s = 0.2 if expected == "timeout" else 0.5
    error = await fault_of(Reply("一二三四五六七八", fault=fault), stream=stream, deadline_s=deadline_s)
    assert error.fault == expected


@pytest.mark.parametrize("fault", ["bad_tool_args", "unknown_tool"])
async def test_a_wrong_tool_call_is_handed_on_as_the_model_wrote_it(fault: Fault) -> None:
    async with talking(Reply(fault=fault)) as (model, _):
        answer = await model.complete(request())
    expected = ("no_such_tool", "{}") if fault == "unknown_tool" else ("memory_recall", '{"query": hal')
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [expected]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, "refused"),
        (403, "refused"),
        (404, "refused"),
        (402, "refused"),
        (429, "busy"),
        (500, "busy"),
        (503, "busy"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_http_status_tells_whether_another_try_may_help(
    status: int, expected: ModelFault, stream: bool
) -> None:
    error = await fault_of(Reply(fault="http", status=status, retry_after=7), stream=stream)
    assert error.fault == expected
    assert str(status) in error.detail
    assert ("retry after 7 s" in error.detail) == (expected == "busy")


async def test_a_wrong_key_is_refused_and_never_shown() -> None:
    error = await fault_of(Reply(), stream=True, key="wrong-key-that-the-server-echoes")
    assert error.fault == "refused"
    assert "wrong-key" not in str(error) + error.detail + error.said
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert len(error.detail) <= 300
    assert "\n" not in error.detail


async def test_a_web_page_hints_at_a_wrong_base_url() -> None:
    for stream in (True, False):
        assert "base_url" in (await fault_of(Reply(fault="html200"), stream=stream)).detail


async def test_without_a_key_no_authorization_is_sent() -> None:
    error = await fault_of(Reply(), stream=True, key="")
    assert error.fault == "refused"
    assert error.detail == "HTTP 401 invalid_api_key invalid_request_error"
    assert error.said.endswith("Incorrect API key provided:"), "what a server says may quote people: see log.text"


async def test_nobody_listening_is_unreachable() -> None:
    async with FakeOpenAI() as server:
        gone = server.base_url
    model = OpenAIModel(gone, KEY, "fake")
    await model.prepare()
    for base_url in (gone, "no-address-at-all", "http://127.0.0.1:99999/v1", "http://[::bad/v1", "http://a b/v1"):
        model = OpenAIModel(base_url, KEY, "fake")
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        assert caught.value.fault == "unreachable"
        await model.close()


async def test_a_server_that_does_not_stream_is_understood() -> None:
    async with talking(Reply("整段", fault="plain_json")) as (model, _):
        assert (await model.complete(request())).text == "整段"


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_cancelling_a_call_closes_its_connection(fault: Fault) -> None:
    arrived = asyncio.Event()

    def script(asked: Asked) -> Reply:
        arrived.set()
        return Reply(fault=fault)

    async with FakeOpenAI(script) as server:
        model = OpenAIModel(server.base_url, "", "fake")
        call = asyncio.ensure_future(model.complete(request(deadline_s=60)))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(PATIENCE_S):
            await server.hung_up.wait()
        await model.close()


async def test_thinking_is_not_part_of_the_reply() -> None:
    reply = Reply("<think>她说你好</think>\n\n你好呀", reasoning="想了想")
    async with talking(reply) as (model, _):
        shown = await model.complete(request())
    async with talking(reply, speaks=Dialect(Capabilities(keep_reasoning=True))) as (model, _):
        kept = await model.complete(request())
    assert (shown.text, shown.reasoning) == ("你好呀", "")
    assert (kept.text, kept.reasoning) == ("你好呀", "想了想")


async def test_an_answer_of_only_thinking_is_empty() -> None:
    assert (await fault_of(Reply("<think>嗯</think>"), stream=True)).fault == "invalid"


async def test_the_event_loop_is_not_blocked_while_the_library_loads() -> None:
    """In a process of its own, since here the library is loaded already."""
    code = """
import asyncio, sys, time
from bot.model.client import OpenAIModel
assert "openai" not in sys.modules and "httpx2" not in sys.modules
async def main():
    model = OpenAIModel("http://127.0.0.1:1/v1", "k", "m")
    loading = asyncio.ensure_future(model.prepare())
    ticks = 0
    while not loading.done():
        ticks += 1
        await asyncio.sleep(0.005)
    await loading
    await model.close()
    print(ticks)
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", code, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert int(out) > 5


@pytest.mark.parametrize(
    "payload",
    [
        b"null",
        b"[]",
        b'"x"',
        b"[" * 100_000,
        b'{"choices":[null]}',
        b'{"choices":[{"delta":{"content":5},"message":{"content":5},"finish_reason":7}],"usage":"x"}',
        b'{"choices":[{"delta":null}]}',
        b"\xff\xfe",
        b"",
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_wild_bytes_end_in_a_model_error(payload: bytes, stream: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        data = b"data: " + payload + b"\n\n" if stream else payload
        kind = b"text/event-stream" if stream else b"application/json"
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + kind + b"\r\n\r\n" + data)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model = OpenAIModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", KEY, "fake", stream=stream)
    await model.prepare()
    with pytest.raises(ModelError):
        await model.complete(request())
    await model.close()
    server.close()
    await server.wait_closed()


@asynccontextmanager
async def keeping_alive(then: bytes) -> AsyncIterator[OpenAIModel]:
    """A model on a server that answers, keeps the connection, and at the next request on it sends that and closes it."""
    chunk = {"choices": [{"index": 0, "delta": {"content": "好"}, "finish_reason": "stop"}]}
    data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(data)}\r\n\r\n".encode()

    ended = asyncio.Queue[None]()
    count = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        count += 1
        with suppress(asyncio.IncompleteReadError):
            for answer in (head + data, then):
                asked = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                await reader.readexactly(int(asked.partition("content-length: ")[2].partition("\r\n")[0]))
                writer.write(answer)
                await writer.drain()
        writer.close()
        ended.put_nowait(None)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model = OpenAIModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", KEY, "fake")
    await model.prepare()
    try:
        yield model
    finally:
        await model.close()
        for _ in range(count):
            await ended.get()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    ("then", "expected"), [(b"", "unreachable"), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "cut")]
)
async def test_an_idle_connection_that_the_server_had_closed_costs_nothing(then: bytes, expected: ModelFault) -> None:
    async with keeping_alive(then) as model:
        assert (await model.complete(request())).text == "好"
        with pytest.raises(ModelError) as caught:
            await model.complete(request())
        assert caught.value.fault == expected
        assert caught.value.billed == (expected == "cut")
        assert (await model.complete(request())).text == "好", "over another one"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux alone has it")
async def test_a_connection_that_died_while_the_machine_slept_is_given_up_in_seconds() -> None:
    async with keeping_alive(b"") as model:
        await model.complete(request())
        limits = [kept.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) for kept in connections()]
        assert 10_000 in limits


def connections() -> Iterator[socket.socket]:
    """The connections of this process to servers on this machine."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError), socket.socket(fileno=os.dup(int(each.name))) as found:
            if found.family == socket.AF_INET and found.getpeername()[0] == "127.0.0.1":
                yield found
