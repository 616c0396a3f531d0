"""The capability table: every provider has its rule, later rules hold, the operator's last; unknown is safe."""

import string
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.models import CapabilityRule
from bot.config.sources import load
from bot.core.errors import ConfigError
from bot.core.models import Capabilities, Message, ModelRequest, Prompt, ToolCall
from bot.model.dialect import Dialect, cache_marks, known_capabilities
from bot.pipeline.endpoints import capabilities_of, shipped_rules
from tests.dialects import TOOL, URLS, known
from tests.e2e import Home, run
from tests.fakes.openai_dialects import marks
from tests.fakes.openai_rules import MOST_MARKS, check, list_of
from tests.tables import all_cases


@all_cases(
    ("provider", "name", "cache", "style", "least", "life", "cached", "written"),
    [
        ("openai", "gpt-4o-mini", "prefix", "none", 1024, 86_400, 0.5, 1.0),
        ("openai", "gpt-4.1", "prefix", "none", 1024, 86_400, 0.25, 1.0),
        ("openai", "gpt-5.5", "prefix", "none", 1024, 86_400, 0.1, 1.0),
        ("openai", "gpt-5.6-terra", "exact", "breakpoint", 1024, 1_800, 0.1, 1.25),
        ("openai", "gpt-6", "exact", "breakpoint", 1024, 1_800, 0.1, 1.25),
        ("openai", "gpt-6.1-sol", "exact", "breakpoint", 1024, 1_800, 0.05, 1.25),
        ("openai", "gpt-5.10", "exact", "breakpoint", 1024, 1_800, 0.1, 1.25),
        ("openai", "gpt-11", "exact", "breakpoint", 1024, 1_800, 0.1, 1.25),
        ("deepseek", "deepseek-v4-flash", "units", "none", 0, 21_600, 0.02, 1.0),
        ("deepseek", "deepseek-v4-pro", "units", "none", 0, 21_600, 0.033, 1.0),
        ("anthropic", "claude-sonnet-5.5", "none", "none", 0, None, None, None),
        ("gemini", "gemini-3.8-flash", "prefix", "none", 4096, 300, 0.1, None),
        ("qwen", "qwen3.8-max", "exact", "cache_control", 1024, 300, 0.1, 1.25),
        ("kimi", "kimi-k2.5", "prefix", "none", 256, 300, 0.17, None),
        ("glm", "glm-5", "prefix", "none", 0, 300, 0.2, None),
        ("xai", "grok-5", "prefix", "none", 128, 300, 0.25, None),
        ("mistral", "mistral-large-latest", "prefix", "none", 0, 300, 0.1, None),
        ("openrouter", "google/gemini-3.8-flash", "prefix", "none", 1024, 600, None, None),
        ("openrouter", "anthropic/claude-sonnet-5.5", "exact", "cache_control", 1024, 300, 0.1, 1.25),
        ("openrouter", "qwen/qwen3.8-max", "exact", "cache_control", 1024, 300, 0.1, 1.25),
    ],
)
def test_every_provider_of_the_survey_has_its_rule(
    provider: str,
    name: str,
    cache: str,
    style: str,
    least: int,
    life: int | None,
    cached: float | None,
    written: float | None,
) -> None:
    can = known(provider, name)
    assert (can.provider, can.cache, can.marks, can.cache_min_tokens) == (provider, cache, style, least)
    assert (can.cache_life_seconds, can.cached_ratio, can.written_ratio) == (life, cached, written)


@all_cases(
    ("provider", "name", "temperature", "off"),
    [
        ("openai", "gpt-4.1", True, {}),
        ("openai", "gpt-5", False, {}),
        ("openai", "gpt-5-mini", False, {}),
        ("openai", "o3", False, {}),
        ("openai", "gpt-5.1", False, {"reasoning_effort": "none"}),
        ("openai", "gpt-6-luna", False, {"reasoning_effort": "none"}),
        ("deepseek", "deepseek-v4-flash", True, {"thinking": {"type": "disabled"}}),
        ("kimi", "kimi-k2.5", False, {"thinking": {"type": "disabled"}}),
        ("kimi", "kimi-k3", False, {}),
        ("unknown", "gpt-5.6", True, {}),
    ],
)
def test_thinking_and_temperature_follow_the_model(
    provider: str, name: str, temperature: bool, off: dict[str, object]
) -> None:
    can = known(provider, name)
    assert (can.temperature, can.thinking_off) == (temperature, off)
    assert Dialect(can).keeps_reasoning == (provider == "kimi" and not off), "one that always thinks wants it back"


def test_of_an_unknown_server_nothing_is_expected() -> None:
    can = known("unknown", "gpt-5.6-terra")
    assert can == Capabilities()
    assert (can.marks, can.cache_key, can.max_tokens_field, can.temperature) == ("none", False, "max_tokens", True)


def test_a_server_is_known_by_its_host_alone_whatever_the_name_of_the_model_says() -> None:
    rules = shipped_rules()
    assert known_capabilities(rules, "https://my.openai.azure.com/openai/v1", "GPT-5.6-Terra").marks == "breakpoint"
    assert known_capabilities(rules, "https://API.OpenAI.com:443/v1", "gpt-5.6").marks == "breakpoint"
    for other in ("https://api.openai.com.example.net/v1", "http://localhost:1/v1", "", "http://[::1]:8/v1"):
        assert known_capabilities(rules, other, "gpt-5.6") == Capabilities()


def test_of_several_rules_the_last_that_says_something_holds() -> None:
    rules = (
        CapabilityRule(hosts=("LLM.Example.com",), provider="mine", cache_min_tokens=10, cached_ratio=0.5),
        CapabilityRule(models=("Good-*",), cache_min_tokens=20, marks="cache_control"),
        CapabilityRule(models=("good-2",), hosts=("*.example.com",), marks="none", cached_ratio=None),
    )
    one, two = (known_capabilities(rules, URLS["unknown"], name) for name in ("vendor/GOOD-1", "good-2"))
    assert (one.provider, one.cache_min_tokens, one.marks, one.cached_ratio) == ("mine", 20, "cache_control", 0.5)
    assert (two.provider, two.cache_min_tokens, two.marks, two.cached_ratio) == ("mine", 20, "none", None)


def test_a_rule_in_nuan_toml_overrides_the_table(tmp_path: Path) -> None:
    text = (
        '[model]\nbase_url = "https://api.openai.com/v1"\nname = "gpt-5.6"\napi_key = "k"\n'
        '[[capabilities]]\nmodels = ["gpt-5.6"]\nmarks = "none"\ncache_life_seconds = "none"\n'
        '[[capabilities]]\nhosts = ["*.openai.com"]\nthinking_off = { reasoning_effort = "low" }\n'
    )
    (tmp_path / "nuan.toml").write_text(text, "utf-8")
    settings = load(tmp_path / "nuan.toml", {})
    can = capabilities_of(settings, settings.model)
    assert (can.marks, can.cache_life_seconds, can.cache, can.written_ratio) == ("none", None, "exact", 1.25)
    assert can.thinking_off == {"reasoning_effort": "low"}
    assert capabilities_of(settings, settings.model, "gpt-6").marks == "breakpoint"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[capabilities]]\nhosts=["x"]\ncach = "units"', "table 1, cach: unknown key; did you mean cache?"),
        ("[[capabilities]]\n[[capabilities]]\ncache = 'all'", "table 2, cache: input should be 'none', 'prefix', "),
        ("[[capabilities]]\ncache_min_tokens = -1", "table 1, cache_min_tokens: input should be greater than"),
        ("[[capabilities]]\nkeep_reasoning = 3", "table 1, keep_reasoning: must be true or false"),
        ("[[capabilities]]\ncached_ratio = 1.5", "table 1, cached_ratio: input should be less than"),
        ("[[capabilities]]\nthinking_off = 'no'", "table 1, thinking_off: input should be a valid dictionary"),
        ("[[capabilities]]\ncache_header = 'a b'", "table 1, cache_header: string should match"),
        ("[[capabilities]]\nusage_cached = [1]", "table 1, usage_cached.0: must be text in quotes"),
        ("[capabilities]\ncache = 'none'", "must be tables, each headed [[capabilities]]"),
        ("capabilities = ['x']", "must be a table, headed [[capabilities]]"),
        ("capabilities = 3", "must be tables, each headed [[capabilities]]"),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "nuan.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "nuan.toml", {})
    (problem,) = caught.value.problems
    assert problem.startswith(f"capabilities: {told}")


async def test_a_wrong_rule_ends_nuan_with_that_line(tmp_path: Path) -> None:
    (tmp_path / "nuan.toml").write_text("[[capabilities]]\nmark = 'none'\n", "utf-8")
    ran = await run(Home(tmp_path), "chat", stdin="你好\n".encode())
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err == "nuan: capabilities: table 1, mark: unknown key; did you mean marks?\n"


GLOBS = st.text(st.sampled_from([*string.ascii_letters[:6], *"*?[]!-./^\\{}()暖"]), max_size=12)
RULES = st.builds(
    CapabilityRule,
    hosts=st.lists(GLOBS, max_size=2).map(tuple),
    models=st.lists(GLOBS, max_size=2).map(tuple),
    cache=st.sampled_from([None, "none", "prefix", "exact", "units"]),
    marks=st.sampled_from([None, "none", "breakpoint", "cache_control"]),
    cache_key=st.none() | st.booleans(),
    max_tokens_field=st.sampled_from([None, "max_tokens", "max_completion_tokens"]),
    keep_reasoning=st.none() | st.booleans(),
    temperature=st.none() | st.booleans(),
)
ROUNDS = st.lists(st.tuples(st.text("a暖<> ", min_size=1), st.integers(0, 3)), min_size=1, max_size=6)


@hypothesis.settings(max_examples=25)
@given(st.lists(RULES, max_size=4), GLOBS, st.text(max_size=20))
def test_no_rule_and_no_name_is_too_odd(rules: list[CapabilityRule], host: str, name: str) -> None:
    can = known_capabilities(rules, f"https://x{host.replace('[', '').replace(']', '')}/v1", name)
    assert isinstance(can, Capabilities)
    assert known_capabilities((*shipped_rules(), *rules), URLS["openai"], name).cache in (
        "none",
        "prefix",
        "exact",
        "units",
    )


@given(st.lists(RULES, min_size=1, max_size=3), ROUNDS, st.integers(0, 9), st.sampled_from(["", "nuan-1"]))
def test_any_conversation_in_any_dialect_is_a_request_that_servers_take(
    rules: list[CapabilityRule], rounds: list[tuple[str, int]], opening: int, key: str
) -> None:
    everywhere = [rule.model_copy(update={"hosts": ("*",), "models": ("*",)}) for rule in rules]
    dialect = Dialect(known_capabilities(everywhere, URLS["unknown"], "m"))
    prompt = conversation(rounds, opening)
    request = ModelRequest(prompt, 100, 0.5, 1.0, key)
    assert len(cache_marks(prompt)) <= MOST_MARKS
    assert all(0 <= place.message < len(prompt.messages) for place in cache_marks(prompt))
    body: dict[str, object] = {"model": "m", "messages": dialect.messages(request), "tools": [TOOL.wire()]}
    body |= dialect.limits(request) | dialect.fields(request)
    check(body)
    found = list(marks(body))
    assert bool(found) == (bool(key) and dialect.capabilities.marks != "none")
    assert {number for _, (number, _) in found} <= set(range(len(list_of(body["messages"]))))


def conversation(rounds: list[tuple[str, int]], opening: int) -> Prompt:
    """Turns of these texts, each with so many tool calls; the first text begins with the opening block."""
    messages: list[Message] = [Message("system", "你是小暖。")]
    for number, (text, calls) in enumerate(rounds):
        if number:
            messages.append(Message("assistant", "好"))
        messages.append(Message("user", text, opening=min(opening, len(text)) if number == 0 else 0))
        if calls:
            made = tuple(ToolCall(f"c{number}.{n}", TOOL.name, "{}") for n in range(calls))
            messages.append(Message("assistant", "", made))
            messages += [Message("tool", text if n else "", tool_call_id=call.id) for n, call in enumerate(made)]
    return Prompt((TOOL,), tuple(messages))
