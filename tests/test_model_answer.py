"""How a completion is put together from whatever JSON a server sends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelError
from bot.core.models import Message, ModelRequest, Prompt
from bot.model.client import OpenAIModel
from bot.model.completion import MAX_CHARS, CompletionBuilder, without_thoughts
from tests.fakes.openai_script import Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.tables import all_cases

USAGES: list[tuple[dict[str, object], int]] = [
    ({"prompt_tokens_details": {"cached_tokens": 64}}, 64),
    ({"cached_tokens": 32}, 32),
    ({"prompt_cache_hit_tokens": 16, "prompt_cache_miss_tokens": 84}, 16),
    ({"prompt_tokens_details": None}, 0),
    ({"cached_tokens": 5000}, 100),
]


def chunk(content: object, finish: object = "stop", **more: object) -> dict[str, object]:
    return {"choices": [{"delta": {"content": content}, "finish_reason": finish}], **more}


@all_cases(("extra", "cached"), USAGES)
def test_cached_tokens_are_read_wherever_a_provider_puts_them(extra: dict[str, object], cached: int) -> None:
    answer = CompletionBuilder(frozenset())
    answer.add(chunk("好", usage={"prompt_tokens": 100, "completion_tokens": 2, **extra}))
    usage = answer.completion().usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens) == (100, cached, 2)


@pytest.mark.parametrize("usage", [None, {}, "12", {"prompt_tokens": -1, "completion_tokens": 2}])
def test_without_a_count_there_is_no_usage(usage: object) -> None:
    answer = CompletionBuilder(frozenset())
    answer.add(chunk("好", usage=usage))
    assert answer.completion().usage is None


def test_a_missing_or_repeated_call_id_becomes_one_of_our_own() -> None:
    answer = CompletionBuilder(frozenset({"a"}))
    call = {"function": {"name": "memory_recall", "arguments": {"query": "猫"}}}
    calls = [{"index": 0, "id": "a", **call}, {"index": 1, **call}, {"index": 2, "id": "b", **call}]
    answer.add({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]})
    made = answer.completion().tool_calls
    assert len({call.id for call in made} | {"a"}) == 4
    assert made[2].id == "b"
    assert json.loads(made[0].arguments) == {"query": "猫"}


def test_a_tool_call_without_a_name_is_invalid() -> None:
    answer = CompletionBuilder(frozenset())
    answer.add({"choices": [{"message": {"tool_calls": [{"id": "a"}]}, "finish_reason": "tool_calls"}]})
    with pytest.raises(ModelError) as caught:
        answer.completion()
    assert caught.value.fault == "invalid"


def test_an_emoji_torn_between_two_chunks_is_whole_again() -> None:
    answer = CompletionBuilder(frozenset())
    answer.add(chunk("好\ud83d", None))
    answer.add(chunk("\ude00\ud83d"))
    assert answer.completion().text == "好😀\ufffd"


def test_an_endless_answer_is_given_up() -> None:
    answer = CompletionBuilder(frozenset())
    answer.add(chunk("嗯" * MAX_CHARS, None))
    with pytest.raises(ModelError) as caught:
        answer.add(chunk("嗯", None))
    assert caught.value.fault == "invalid"


KEYS = ["choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id", "index"]
KEYS += ["usage", "error", "finish_reason", "prompt_tokens", "completion_tokens", "refusal", "reasoning_content"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=4))
def test_no_json_whatever_breaks_the_assembly(chunks: list[object]) -> None:
    answer = CompletionBuilder(frozenset())
    try:
        for one in chunks:
            answer.add(one)
        completion = answer.completion()
    except ModelError:
        return
    completion.message().canonical().encode()
    assert completion.text.strip() or completion.tool_calls


@all_cases(
    ("text", "shown"),
    [
        ("你好", "你好"),
        (" 你好\n", " 你好\n"),
        ("<think>a</think>你好<THINK>b\n</THINK>呀", "你好呀"),
        ("想着想着</think>\n你好", "你好"),
        ("你好<think>没有说完", "你好"),
    ],
)
def test_think_blocks_are_cut_out(text: str, shown: str) -> None:
    assert without_thoughts(text) == shown


async def test_a_model_whose_template_begins_its_thoughts_is_known_after_its_first_answer() -> None:
    shown: list[str] = []
    async with FakeOpenAI(lambda asked: Reply("他怕蛇</think>你怕蛇")) as server:
        model = OpenAIModel(server.base_url, "", "fake")
        prompt = Prompt((), (Message("system", "你是小暖。"), Message("user", "我怕什么")))
        for _ in range(2):
            shown.clear()
            answer = await model.stream(ModelRequest(prompt, 200, 0.7, 5), lambda so_far: shown.append(so_far()))
            assert answer.text == "你怕蛇"
        await model.close()
    assert not any("他" in each for each in shown)
