"""Token estimates: near the published ratios, never negative, never less for more text."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.length import TokenVocabulary, estimate_tokens, vocabulary_of
from tests.tables import all_cases

ANY = st.text(st.characters(exclude_categories=())) | st.text(st.sampled_from("ab7 ,.\n暖，😀é"))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("今天下午我要和小王去吃火锅，然后晚上看电影。你觉得穿什么好？" * 4, 0.71, 0.85),
        ("The quick brown fox jumps over the lazy dog, and then we all went home. " * 4, 0.19, 0.22),
        ('<p n="小王" t="10:29">你好</p><g n="3" d="5m"/>' * 4, 0.45, 0.70),
        ("1" * 600, 0.33, 0.40),
    ],
)
def test_tokens_per_character_are_those_of_the_vocabulary(text: str, low: float, high: float) -> None:
    assert low <= estimate_tokens(text) / len(text) <= high


def test_nothing_costs_nothing_and_anything_costs_something() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("😀") == 3


@given(ANY, ANY, st.sampled_from(get_args(TokenVocabulary)))
def test_a_longer_text_never_counts_less(text: str, more: str, vocabulary: TokenVocabulary) -> None:
    assert 0 <= estimate_tokens(text, vocabulary) <= estimate_tokens(text + more, vocabulary)


@all_cases(
    ("model", "expected"),
    [
        ("deepseek-v4-flash", "deepseek"),
        ("Qwen3:8b", "qwen"),
        ("qwq-32b", "qwen"),
        ("gpt-4o-mini", "o200k"),
        ("gpt-4.1", "o200k"),
        ("gpt-4-turbo", "cl100k"),
        ("gpt-5.6-terra", "o200k"),
        ("llama3", "o200k"),
        ("", "o200k"),
    ],
)
def test_a_model_is_counted_by_its_own_vocabulary(model: str, expected: TokenVocabulary) -> None:
    assert vocabulary_of(model) == expected


def test_vocabularies_differ_where_they_do() -> None:
    counts = [
        estimate_tokens("今天下午我要和小王去吃火锅" * 10, each) for each in ("deepseek", "qwen", "o200k", "cl100k")
    ]
    assert counts == sorted(counts)
    assert counts[0] < 0.5 * counts[-1]


@given(ANY, ANY)
def test_lines_counted_one_by_one_are_at_least_their_sum_less_rounding(one: str, other: str) -> None:
    assert estimate_tokens(one) + estimate_tokens(other) >= estimate_tokens(one + other)
