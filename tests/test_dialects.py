"""What each provider is sent: marks at the right places, a key, its thinking switch, and nothing that it refuses."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from bot.core.models import Capabilities, Message, ModelRequest, Prompt, ToolCall
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect, cache_marks
from tests.dialects import ENDPOINTS, FIRST, OPENING, SYSTEM, TOOL, Line, known, line
from tests.fakes.media import PNG
from tests.fakes.openai_rules import MOST_MARKS, list_of
from tests.fakes.openai_server import FakeOpenAI

EXPLICIT = {"mode": "explicit"}
MARKED = ("openai-5.6", "qwen", "openrouter")
COMMON = {"model", "messages", "tools", "stream", "stream_options"}


@pytest.mark.parametrize("endpoint", MARKED)
async def test_marks_stand_where_the_next_request_will_read(endpoint: str) -> None:
    async with line(endpoint) as talk:
        await talk.talk()
    assert talk.marked == [
        [(0, 0), (1, 0), (1, 1)],  # system, opening block, newest
        [(0, 0), (1, 0), (1, 1), (3, 0)],  # and what was newest before
        [(0, 0), (1, 0), (3, 0), (5, 0)],
        [(0, 0), (1, 0), (5, 0), (8, 0)],  # of two tool results the last one
        [(0, 0), (1, 0), (8, 0), (10, 0)],
    ]


@pytest.mark.parametrize("endpoint", [*MARKED, "deepseek", "unknown"])
async def test_between_two_requests_nothing_of_a_message_changes_but_its_marks(endpoint: str) -> None:
    async with line(endpoint) as talk:
        await talk.talk()
    requests = list(talk.stripped())
    for before, after in pairwise(requests):
        assert after[: len(before)] == before
    if endpoint in MARKED:
        assert [part["text"] for part in list_of(list_of(talk.bodies[0]["messages"])[1]["content"])] == [
            OPENING,
            FIRST.content[len(OPENING) :],
        ]


async def test_where_only_marks_count_all_that_was_sent_before_is_read_from_the_cache() -> None:
    async with line("openai-5.6") as talk:
        await talk.talk()
        read = [request.prefix_tokens for request in talk.server.requests]
        sent = [request.prompt_tokens for request in talk.server.requests]
    assert read[0] == 0
    assert read[1:] == sent[:-1], "each request reads exactly what the one before it sent"
    assert read[1] > 1024


@pytest.mark.parametrize(
    ("endpoint", "more"),
    [
        (
            "openai-5.6",
            {
                "max_completion_tokens": 200,
                "prompt_cache_key": "nuan-1",
                "prompt_cache_options": EXPLICIT,
                "reasoning_effort": "none",
            },
        ),
        ("openai-5.5", {"max_completion_tokens": 200, "prompt_cache_key": "nuan-1", "reasoning_effort": "none"}),
        ("deepseek", {"max_tokens": 200, "temperature": 0.7, "thinking": {"type": "disabled"}}),
        ("qwen", {"max_tokens": 200, "temperature": 0.7, "enable_thinking": False}),
        ("openrouter", {"max_tokens": 200, "temperature": 0.7, "reasoning": {"enabled": False}}),
        ("xai", {"max_tokens": 200, "temperature": 0.7}),
        ("mistral", {"max_tokens": 200, "temperature": 0.7, "prompt_cache_key": "nuan-1"}),
        ("unknown", {"max_tokens": 200, "temperature": 0.7}),
    ],
)
async def test_each_provider_gets_its_own_fields_and_no_others(endpoint: str, more: dict[str, object]) -> None:
    async with line(endpoint) as talk:
        await talk.ask(FIRST)
    assert {key: value for key, value in talk.bodies[0].items() if key not in COMMON} == more
    header = talk.server.requests[0].headers.get("x-grok-conv-id")
    assert header == ("nuan-1" if endpoint == "xai" else None)
    assert all(isinstance(m["content"], str) for m in list_of(talk.bodies[0]["messages"])) == (endpoint not in MARKED)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
async def test_of_a_one_off_request_nothing_is_kept_in_a_cache(endpoint: str) -> None:
    async with line(endpoint) as talk:
        await talk.ask(Message("user", "总结"), key="", tools=())
    body = talk.bodies[0]
    assert talk.marked == [[]]
    assert "prompt_cache_key" not in body
    assert "x-grok-conv-id" not in talk.server.requests[0].headers
    assert body.get("prompt_cache_options") == (EXPLICIT if endpoint == "openai-5.6" else None)


@pytest.mark.parametrize("endpoint", ["openai-5.6", "qwen", "deepseek", "xai"])
async def test_the_shown_body_is_the_sent_body_in_every_dialect(endpoint: str) -> None:
    async with line(endpoint, thinking=True) as talk:
        await talk.talk()
        asked = talk.log[:-1]
        shown = await talk.model.body(ModelRequest(Prompt((TOOL,), asked), 200, 0.7, 5.0, "nuan-1"))
    assert shown == talk.server.bodies[-1]


async def test_a_model_that_thinks_gets_every_thought_back_and_one_that_does_not_gets_none() -> None:
    async with line("deepseek", thinking=True) as talk:
        await talk.talk()
    assert all(body["thinking"] == {"type": "enabled"} for body in talk.bodies)
    assert thoughts(talk) == ["想一想", "想一想", "要查两次", "想一想"]
    async with line("deepseek") as quiet:
        await quiet.talk()
    assert thoughts(quiet) == []
    assert all(message.reasoning == "" for message in quiet.log), "what is not sent back is not kept"


@pytest.mark.parametrize("calls", [(), (ToolCall("c1", "memory_recall", "{}"),)])
async def test_a_thinking_model_goes_on_with_a_log_that_another_one_wrote(calls: tuple[ToolCall, ...]) -> None:
    """DeepSeek refuses answers without reasoning_content while it thinks, whoever gave them."""
    told = (Message("tool", "猫", tool_call_id="c1"),) if calls else (Message("user", "还有"),)
    async with line("deepseek", thinking=True) as talk:
        talk.log += (FIRST, Message("assistant", "" if calls else "好", calls))
        await talk.ask(*told)
    assert thoughts(talk) == [""]


@pytest.mark.parametrize("endpoint", [endpoint for endpoint in ENDPOINTS if endpoint != "deepseek"])
async def test_what_another_model_thought_is_not_sent(endpoint: str) -> None:
    async with line(endpoint, thinking=True) as talk:
        talk.log += (FIRST, Message("assistant", "好", reasoning="悄悄想的"))
        answer = await talk.ask(Message("user", "还有"))
    assert "悄悄想的".encode() not in talk.server.bodies[0]
    assert answer.reasoning == ""


@pytest.mark.parametrize(("name", "field"), [("gpt-5.6-mini", "max_completion_tokens"), ("vision-1", "max_tokens")])
async def test_pictures_are_asked_about_in_the_words_of_their_own_model(name: str, field: str) -> None:
    openai = field == "max_completion_tokens"
    async with FakeOpenAI(dialect="openai-5.6" if openai else "plain") as server:
        speaks = Dialect(known("unknown" if openai else "openai", "gpt-5.6-terra"))
        sees = Dialect(known("openai" if openai else "unknown", name))
        model = OpenAIModel(server.base_url, "", "other", speaks=speaks, sees=sees)
        assert (await model.see(name, PNG, "image/png", "图里有什么？", 90, 5.0)).text
        await model.close()
        assert server.violations == []
    sent = json.loads(server.bodies[0])
    assert (sent["model"], sent[field]) == (name, 90)
    assert (sent.get("prompt_cache_options"), "temperature" in sent) == ((EXPLICIT, False) if openai else (None, True))


async def test_a_tool_that_found_nothing_to_say_is_no_list_of_no_parts() -> None:
    async with line("openai-5.6") as talk:
        called = await talk.ask(replace(FIRST, content=f"{FIRST.content}查一下"))
        await talk.ask(*(Message("tool", "", tool_call_id=call.id) for call in called.tool_calls))
    assert [m["content"] for m in list_of(talk.bodies[1]["messages"])[-2:]] == ["", ""]


def test_without_system_opening_or_answers_only_the_newest_is_marked() -> None:
    assert [place.message for place in cache_marks(Prompt((), (Message("user", "嗨"),)))] == [0]
    assert cache_marks(Prompt((), ())) == ()
    assert (
        len(cache_marks(Prompt((), (SYSTEM, FIRST, Message("assistant", "好"), Message("user", "嗯"))))) == MOST_MARKS
    )


@pytest.mark.parametrize(("field", "counts"), [("cached_tokens", False), ("prompt_tokens_details.cached_tokens", True)])
async def test_cached_tokens_are_read_where_the_rule_says(field: str, counts: bool) -> None:
    async with FakeOpenAI() as server:
        can = Capabilities(usage_cached=(field,))
        model = OpenAIModel(server.base_url, "", "m", speaks=Dialect(can))
        talk = Line(model, server)
        await talk.ask(FIRST)
        usage = (await talk.ask(Message("user", "还有"))).usage
        await model.close()
    assert usage is not None
    assert (usage.cached_tokens > 1024) == counts


def thoughts(talk: Line) -> list[object]:
    """The thoughts that the last request brought back."""
    sent = list_of(talk.bodies[-1]["messages"])
    return [message["reasoning_content"] for message in sent if "reasoning_content" in message]
