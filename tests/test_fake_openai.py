"""The fake model server is as strict as a real one, and counts what it says it counts."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.core.errors import ModelError
from bot.core.models import Message, Prompt, ToolCall
from bot.model.client import OpenAIModel
from tests.fakes.openai_dialects import DialectName, check_dialect
from tests.fakes.openai_rules import Violation, check, items, list_of, mapping, tokens
from tests.fakes.openai_script import Asked, Call, Reply, rules
from tests.fork_server import command
from tests.tables import all_cases
from tests.test_model_client import CALLED, PROMPT, TOOL, request, talking


async def test_the_fake_server_refuses_what_a_strict_server_refuses() -> None:
    wrong = [
        (Message("user", "没有系统消息"),),
        (Message("system", "s"), Message("user", "一"), Message("user", "二")),
        (Message("system", "s"), Message("user", "一"), Message("system", "二")),
        CALLED.messages[:3],
        (*CALLED.messages[:3], Message("tool", "花生", tool_call_id="other")),
        (*CALLED.messages, Message("user", "又问")),
        (*PROMPT.messages, Message("assistant", "", (ToolCall("c", "memory_recall", "{hal"),)), CALLED.messages[3]),
    ]
    async with talking(Reply()) as (model, server):
        for messages in wrong:
            with pytest.raises(ModelError) as caught:
                await model.complete(request(Prompt((TOOL,), messages)))
            assert caught.value.fault == "refused"
        assert len(server.violations) == len(wrong)


async def test_the_fake_server_counts_the_prefix_it_has_seen() -> None:
    long = Prompt((TOOL,), (Message("system", "很长的话。" * 400), PROMPT.messages[1]))
    longer = Prompt((TOOL,), (*long.messages, Message("assistant", "好的，我知道了。"), Message("user", "还有")))
    async with talking(Reply()) as (model, server):
        first = (await model.complete(request(long))).usage
        second = (await model.complete(request(longer))).usage
        shared = server.requests[1]
    assert first is not None
    assert second is not None
    assert first.cached_tokens == 0
    exact = sum(tokens(item) for item in list(items(json.loads(shared.raw)))[:3])
    assert (shared.prefix_items, shared.prefix_tokens) == (3, exact)
    assert second.cached_tokens == exact // 128 * 128 > 1024


SYSTEM: dict[str, object] = {"role": "system", "content": "s"}
BREAKPOINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
CONTROL = {"cache_control": {"type": "ephemeral"}}


def asking(*parts: Mapping[str, object], **fields: object) -> dict[str, object]:
    """A small request whose user message has these parts; a field that is None is left out."""
    user = {"role": "user", "content": [{"type": "text", "text": "嗨", **part} for part in parts] or "嗨"}
    body = {"model": "m", "messages": [SYSTEM, user], "max_tokens": 9, **fields}
    return {key: value for key, value in body.items() if value is not None}


@all_cases(
    ("body", "rule"),
    [
        (asking(max_tokens=None), "expected one of"),
        (asking(max_completion_tokens=9), "expected one of"),
        (asking(max_tokens=None, max_completion_tokens=0), "positive integer"),
        (asking(temperature=3), "temperature"),
        (asking({"text": ""}), "an empty part"),
        (asking({"type": "image"}), "texts only"),
        (asking({"id": 1}), "unknown keys in a part"),
        (asking({**BREAKPOINT, **CONTROL}), "unknown keys in a part"),
        (asking({"cache_control": {"type": "ephemeral", "ttl": "1h"}}), "a wrong mark"),
        (asking(BREAKPOINT, CONTROL), "marks of two providers"),
        (asking(*[BREAKPOINT] * 5), "5 marks"),
        (asking(messages=[SYSTEM, {"role": "user", "content": []}]), "not empty"),
        (asking(messages=[SYSTEM, {"role": "user", "content": "嗨", "reasoning_content": "?"}]), "wrong reasoning"),
        (asking(prompt_cache_key="k" * 65), "prompt_cache_key"),
        (asking(prompt_cache_options={"mode": "auto"}), "invalid prompt_cache_options"),
        (asking(thinking="enabled"), "invalid thinking"),
        (asking(reasoning_effort="much"), "invalid reasoning_effort"),
        (asking(reasoning={"on": True}), "invalid reasoning"),
    ],
)
def test_fields_parts_and_marks_have_their_rules(body: dict[str, object], rule: str) -> None:
    check(asking(BREAKPOINT, {}, BREAKPOINT))
    check(asking(CONTROL, temperature=0.5))
    with pytest.raises(Violation, match=rule):
        check(body)


OPENAI: dict[str, object] = {"max_tokens": None, "max_completion_tokens": 9}
ANSWERED: list[dict[str, object]] = [
    SYSTEM,
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": "b"},
    {"role": "user", "content": "c"},
]
THOUGHT = [*ANSWERED[:2], {**ANSWERED[2], "reasoning_content": ""}, ANSWERED[3]]


@all_cases(
    ("dialect", "good", "bad"),
    [
        (
            "plain",
            asking(temperature=1),
            [
                asking(**OPENAI),
                asking({}),
                asking(thinking={"type": "disabled"}),
                asking(messages=THOUGHT),
                asking(prompt_cache_key="k"),
            ],
        ),
        (
            "openai-5.5",
            asking({}, **OPENAI, prompt_cache_key="k"),
            [
                asking(),
                asking(**OPENAI, temperature=1),
                asking(BREAKPOINT, **OPENAI),
                asking(**OPENAI, prompt_cache_options={"mode": "explicit"}),
            ],
        ),
        (
            "openai-5.6",
            asking(BREAKPOINT, **OPENAI, prompt_cache_options={"mode": "explicit"}),
            [asking(), asking(**OPENAI, temperature=1), asking(CONTROL, **OPENAI), asking(messages=THOUGHT, **OPENAI)],
        ),
        (
            "deepseek",
            asking(messages=ANSWERED, thinking={"type": "disabled"}),
            [
                asking(messages=ANSWERED),
                asking(messages=ANSWERED, thinking={"type": "enabled"}),
                asking(BREAKPOINT),
                asking({}),
                asking(**OPENAI),
            ],
        ),
        ("deepseek", asking(messages=THOUGHT, thinking={"type": "enabled"}), []),
        ("cache_control", asking(CONTROL, enable_thinking=False), [asking(BREAKPOINT), asking(prompt_cache_key="k")]),
        ("xai", asking({}), [asking(CONTROL), asking(prompt_cache_key="k")]),
        ("mistral", asking(prompt_cache_key="k"), [asking(BREAKPOINT), asking(**OPENAI)]),
    ],
)
def test_each_dialect_refuses_what_its_provider_refuses(
    dialect: DialectName, good: dict[str, object], bad: list[dict[str, object]]
) -> None:
    check_dialect(good, dialect)
    for body in bad:
        check(body)
        with pytest.raises(Violation):
            check_dialect(body, dialect)


def test_a_script_reads_a_text_in_parts() -> None:
    body = asking({"text": "你"}, {"text": "好", **BREAKPOINT})
    assert Asked(b"", body).last_user == "你好"


def test_rules_answer_call_tools_and_fail_as_often_as_they_say() -> None:
    script = rules(
        [
            '{"match": "过敏", "tool": "memory_recall", "arguments": {"query": "过敏"}}',
            '{"match": "过敏", "after_tool": true, "reply": "花生"}',
            '{"match": "忙", "fault": "http", "status": 429, "retry_after": 2, "times": 1}',
        ]
    )

    def says(*messages: Message) -> Reply:
        body = {"messages": [message.wire() for message in messages]}
        return script(Asked(b"", mapping(json.loads(json.dumps(body)))))

    asked = Message("user", "我对什么过敏？")
    assert says(asked).calls == (Call("memory_recall", '{"query": "过敏"}'),)
    assert says(asked, Message("tool", "x", tool_call_id="1")).text == "花生"
    assert (says(Message("user", "忙吗")).status, says(Message("user", "忙吗")).fault) == (429, None)
    assert says(Message("user", "别的")).text == "好的，我知道了。"


async def test_the_fake_server_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    script, record = tmp_path / "script.jsonl", tmp_path / "record.jsonl"
    script.write_text('{"match": "你好", "reply": "你好呀"}\n', encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *command("tests.fakes.openai_server", "--script", str(script), "--record", str(record)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    model = OpenAIModel(f"http://127.0.0.1:{port}/v1", "", "fake")
    await model.prepare()
    assert (await model.complete(request())).text == "你好呀"
    line = json.loads(record.read_text(encoding="utf-8"))
    assert line["body"].encode() == await model.body(request())
    check(json.loads(line["body"]))
    assert len(list_of(json.loads(line["body"])["messages"])) == 2
    await model.close()
    process.stdin.close()
    assert await process.wait() == 0
