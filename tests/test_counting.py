"""What a call cost: every field in which servers count, their price, and estimates that learn from the counts."""

import pytest

from bot.config.models import ModelServer
from bot.core.models import Capabilities, Completion, Usage
from bot.model.completion import CompletionBuilder
from bot.money import cost, estimate, rate_of
from tests.conftest import NewWorld
from tests.fakes.model import says
from tests.world import World

PRICES = {"price_input": 1.0, "price_cached": 0.1, "price_written": 1.25, "price_output": 4.0}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 9}, (100, 0, 0, 9, 0)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30},
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            (100, 64, 30, 9, 5),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
            (100, 64, 0, 9, 0),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 9, "cached_tokens": 70}, (100, 70, 0, 9, 0)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 20, "cache_creation_input_tokens": 50},
            },
            (100, 20, 50, 9, 0),
        ),
        (
            {"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 10, "output_tokens": 9},
            (100, 80, 10, 9, 0),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 500},
                "completion_tokens_details": {"reasoning_tokens": 500},
            },
            (100, 100, 0, 9, 9),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": -1}},
            (100, 0, 0, 9, 0),
        ),
    ],
    ids=["plain", "openai", "deepseek", "kimi", "qwen", "anthropic", "too many", "negative"],
)
def test_every_known_way_to_count(body: dict[str, object], expected: tuple[int, ...]) -> None:
    answer = CompletionBuilder(frozenset())
    answer.add({"choices": [{"delta": {"content": "好"}, "finish_reason": "stop"}], "usage": body})
    usage = answer.completion().usage
    assert usage is not None
    assert (
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.written_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    ) == expected


def test_cached_written_and_plain_input_have_prices_of_their_own() -> None:
    rate = rate_of(ModelServer.model_validate(PRICES), Capabilities())(0)
    used = cost(Usage(1000, 600, 100, written_tokens=300), rate)
    assert used == pytest.approx((100 * 1.0 + 600 * 0.1 + 300 * 1.25 + 100 * 4.0) / 1e6)
    assert estimate(1000, 100, rate).cost == pytest.approx((1250 * 1.25 + 100 * 4.0) / 1e6), "the dearest that can come"
    plain = rate_of(ModelServer(price_input=1.0), Capabilities())(0)
    assert (plain.cached, plain.written) == (1.0, 1.0)


def counting(world: World, factor: float) -> None:
    """A server that counts `factor` times what we estimate."""

    def answer(_: object) -> Completion:
        (estimated,) = world.rows("SELECT estimated_tokens FROM call ORDER BY id DESC LIMIT 1")[0]
        assert isinstance(estimated, int)
        return Completion("好", (), Usage(round(estimated * factor), 0, 1))

    world.model.script = answer


async def test_estimates_learn_how_the_model_counts(new_world: NewWorld) -> None:
    world = await new_world()
    counting(world, 1.5)
    for number in range(30):
        await world.say(f"第{number}件事说来话长，从前有一座山")
    assert world.rows("SELECT model, round(ratio, 3) FROM counting") == [(world.model.name, 1.5)]
    counting(world, 0.5)
    await world.say("再说一件")
    assert world.rows("SELECT round(ratio, 3) FROM counting") == [(1.4,)]
    await world.say("/new")
    await world.say("新的一天，今天天气怎么样")
    estimated, reserved = world.rows("SELECT estimated_tokens, reserved_tokens FROM call ORDER BY id DESC LIMIT 1")[0]
    assert isinstance(estimated, int)
    assert reserved == pytest.approx(estimated * 1.4 * 1.25 + 512, abs=3), (
        "the next reservation counts as the model does"
    )


async def test_a_count_that_no_prompt_can_have_costs_what_was_reserved(new_world: NewWorld) -> None:
    world = await new_world(model={"price_input": 1.0, "price_output": 4.0})
    world.model.script = lambda request: says("好", prompt_tokens=10**8)
    await world.say("你好")
    assert world.rows(
        "SELECT counted, prompt_tokens + output_tokens - reserved_tokens, cost - reserved_cost FROM call"
    ) == [("reserved", 0, 0.0)]


async def test_a_picture_or_an_error_of_the_server_teaches_nothing_wild(new_world: NewWorld) -> None:
    world = await new_world()
    counting(world, 1000)
    await world.say("从前有一座山，山里有一座庙")
    assert world.peek.countings("ratio") == [(4.0,)]


async def test_what_the_server_counted_is_stored_whole(new_world: NewWorld) -> None:
    world = await new_world(model=PRICES)
    world.model.script = lambda _: Completion("好", (), Usage(1000, 600, 100, True, 300, 40))
    await world.say("从前有一座山")
    row = world.peek.calls("prompt_tokens", "cached_tokens", "written_tokens", "output_tokens", "reasoning_tokens")
    assert row == [(1000, 600, 300, 100, 40)]


async def test_the_vocabulary_of_the_model_is_what_estimates_go_by(new_world: NewWorld) -> None:
    seen = []
    for model in ({}, {"vocabulary": "deepseek"}, {"vocabulary": "cl100k"}):
        world = await new_world(model=model)
        await world.say("今天下午我要和小王去吃火锅，然后晚上看电影")
        seen.append(world.peek.calls("estimated_tokens")[0][0])
    plain, deepseek, cl100k = (each for each in seen if isinstance(each, int))
    assert deepseek < plain < cl100k
