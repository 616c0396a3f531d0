"""Who is asked when a model fails: in which order, when, how often, at whose price, and that one answer comes of it."""

import json
from pathlib import Path

import pytest

from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.fakes.clock import let_others_run
from tests.fakes.model import Answer, calls, says
from tests.pools import DOWN, Named, asked, is_pause, left, tell, through, with_models
from tests.prefixes import logs_of
from tests.test_closing import DIGEST, TALK, digests, is_digest
from tests.world import World

FAULTS = {
    "unreachable": DOWN,
    "5xx": ModelError("busy", "HTTP 503"),
    "429": ModelError("busy", "HTTP 429", limited=True),
    "429 for 2 s": ModelError("busy", "HTTP 429", limited=True, wait_s=2.0),
    "429 for 60 s": ModelError("busy", "HTTP 429", limited=True, wait_s=60.0),
    "401": ModelError("refused", "HTTP 401"),
    "timeout": ModelError("timeout", "no end"),
    "cut": ModelError("cut", "connection lost"),
    "empty": ModelError("invalid", "an empty answer"),
}
FINAL = {
    "filtered": ModelError("filtered", "the model refused"),
    "overflow": ModelError("overflow", "HTTP 400"),
    "at max_tokens": ModelError("cut", "the answer reached max_tokens", final=True),
}
WORKED = ("timeout", "cut", "empty", "filtered", "at max_tokens")
"""Faults after which the server may have worked: what was reserved is paid."""


def fate(name: str) -> str:
    return "lost" if name in WORKED else "released"


def notices(world: World) -> int:
    return sum(line.kind == "notice" for line in world.talk.said)


@pytest.mark.parametrize("name", FAULTS)
async def test_the_fallback_answers_at_once_whatever_ails_the_first(tmp_path: Path, name: str) -> None:
    first, second = Named("first", FAULTS[name]), Named("second", "我来答")
    async with with_models(tmp_path, first, second) as world:
        await tell(world, "你好")
        assert world.replies == ["我来答"]
        assert asked(world) == [f"first {fate(name)}", "second settled"]
        assert first.asked_at == second.asked_at == [0.0]
        (line,) = world.log.named("model_retried")
        assert (line["gen_ai.request.model"], line["next"], line["fault"], line["wait_ms"]) == (
            "first",
            "second",
            FAULTS[name].fault,
            0,
        )


@pytest.mark.parametrize("name", FINAL)
async def test_a_question_that_no_model_takes_is_asked_once(tmp_path: Path, name: str) -> None:
    first, second = Named("first", FINAL[name]), Named("second", "我来答")
    async with with_models(tmp_path, first, second) as world:
        await tell(world, "你好")
        assert (len(world.replies), notices(world)) == (1, 1)
        assert asked(world) == [f"first {fate(name)}"]
        assert second.requests == []


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("unreachable", [0.0, 0.5, 1.5]),
        ("5xx", [0.0, 0.5, 1.5]),
        ("429", [0.0, 0.5, 1.5]),
        ("429 for 2 s", [0.0, 2.0, 4.0]),
        ("429 for 60 s", [0.0]),
        ("401", [0.0]),
        ("timeout", [0.0]),
        ("cut", [0.0, 0.5, 1.5]),
        ("empty", [0.0]),
    ],
)
async def test_alone_a_model_is_asked_again_only_where_that_may_help(
    tmp_path: Path, name: str, times: list[float]
) -> None:
    async with with_models(tmp_path, first := Named("first", FAULTS[name])) as world:
        await tell(world, "你好")
        assert first.asked_at == times
        assert (len(world.replies), notices(world), left(world)) == (1, 1, 0)
        assert asked(world) == [f"first {fate(name)}"] * len(times)
        assert len(world.log.named("model_failed")) == 1


@pytest.mark.parametrize(
    ("one", "other", "ones", "others"),
    [
        ("5xx", "5xx", [0.0, 0.5], [0.0]),
        ("401", "5xx", [0.0], [0.0, 0.5]),
        ("401", "401", [0.0], [0.0]),
        ("429 for 2 s", "unreachable", [0.0], [0.0, 0.5]),
        ("429 for 2 s", "401", [0.0, 2.0], [0.0]),
        ("429 for 60 s", "429 for 60 s", [0.0], [0.0]),
        ("timeout", "empty", [0.0], [0.0]),
    ],
)
async def test_who_failed_is_asked_again_after_a_rest_and_only_where_it_may_help(
    tmp_path: Path, one: str, other: str, ones: list[float], others: list[float]
) -> None:
    first, second = Named("first", FAULTS[one]), Named("second", FAULTS[other])
    async with with_models(tmp_path, first, second) as world:
        await tell(world, "你好")
        assert (first.asked_at, second.asked_at) == (ones, others)
        assert (len(world.replies), notices(world), left(world)) == (1, 1, 0)


async def test_three_models_are_three_requests_and_no_more(tmp_path: Path) -> None:
    pool = [Named(name, FAULTS["5xx"]) for name in ("first", "second", "third")]
    async with with_models(tmp_path, *pool) as world:
        await tell(world, "你好")
        assert asked(world) == ["first released", "second released", "third released"]
        assert len(world.replies) == 1


async def test_a_call_ends_within_its_deadline_and_leaves_the_others_a_third(tmp_path: Path) -> None:
    first, second = Named("first", "晚了", takes_s=999), Named("second", "晚了", takes_s=999)
    async with with_models(tmp_path, first, second) as world:
        await tell(world, "你好")
        assert [round(request.deadline_s) for request in (*first.requests, *second.requests)] == [60, 30]
        assert second.asked_at == [60.0]
        assert "想太久" in world.replies[0]
        assert world.log.named("turn")[0]["ms"] == 90_000


async def test_a_small_model_that_hangs_leaves_time_for_the_first(tmp_path: Path) -> None:
    first, small = Named("first", "我来答"), Named("small", "晚了", takes_s=999)
    async with with_models(tmp_path, first, smaller=small, budget={"small_at": 0.0}) as world:
        await tell(world, "你好")
        assert world.replies == ["我来答"]
        assert asked(world) == ["small lost", "first settled"]


async def test_no_pause_leads_beyond_the_deadline(tmp_path: Path) -> None:
    async with with_models(tmp_path, first := Named("first", DOWN), model={"deadline_seconds": 1}) as world:
        await tell(world, "你好")
        assert first.asked_at == [0.0, 0.5]
        assert len(world.replies) == 1


async def test_each_request_is_paid_at_the_price_of_who_was_asked(tmp_path: Path) -> None:
    first = Named("first", FAULTS["cut"])
    second = Named("second", says("好", prompt_tokens=1_000))
    prices: dict[str, dict[str, object]] = {
        "model": {"price_input": 1.0, "price_output": 2.0},
        "fallback": {"price_input": 50.0, "price_output": 100.0},
    }
    async with with_models(tmp_path, first, second, smaller=None, **prices) as world:
        await tell(world, "你好")
        (tokens, lost), (_, paid) = world.rows("SELECT reserved_tokens - 512, cost FROM call ORDER BY id")
        assert isinstance(tokens, int)
        assert lost == pytest.approx((tokens * 1 + 512 * 2) / 1e6), "what was reserved for it"
        assert paid == pytest.approx((1_000 * 50 + 1 * 100) / 1e6)


async def test_what_another_model_counted_is_no_measure_of_what_the_first_will(tmp_path: Path) -> None:
    first, second = Named("first", DOWN, "好"), Named("second", says("好", prompt_tokens=10))
    async with with_models(tmp_path, first, second) as world:
        for text in ("讲个笑话吧", "再讲一个"):
            await tell(world, text)
        (before,), (after,) = world.peek.calls("reserved_tokens", model="first")
        assert isinstance(before, int)
        assert isinstance(after, int)
        assert after > before, "the log has grown"


async def test_the_fallback_goes_on_with_the_same_log_and_the_first_takes_it_over_again(tmp_path: Path) -> None:
    first, second = Named("first", "一", DOWN, "三", "四"), Named("second", "二")
    async with with_models(tmp_path, first, second) as world:
        for text in ("讲个笑话吧", "再讲一个", "还有吗", "最后一个"):
            await tell(world, text)
        assert world.replies == ["一", "二", "三", "四"]
        assert second.requests[0].prompt == first.requests[1].prompt
        sent = [request.prompt.messages for request in (*first.requests, *second.requests)]
        assert len(logs_of(sorted(sent, key=len))) == 1, "one log that only grows"
        assert len({request.cache_key for request in (*first.requests, *second.requests)}) == 1
        assert world.peek.epochs.count() == 1


async def test_after_three_failing_calls_the_first_is_left_alone_for_fifteen_seconds(tmp_path: Path) -> None:
    first, second = Named("first", DOWN), Named("second", "我来答")
    async with with_models(tmp_path, first, second) as world:
        for number in range(5):
            await tell(world, f"你好{number}")
        assert len(first.requests) == 3
        await world.wait(14.9)
        await tell(world, "你好呀1")
        assert len(first.requests) == 3
        await world.wait(0.1)
        await tell(world, "你好呀2")
        assert len(first.requests) == 4
        await world.wait(29)
        await tell(world, "你好呀3")
        assert len(first.requests) == 4, "a probe that failed doubles the rest"
        first.answers = ["我回来了"]
        await world.wait(1)
        await tell(world, "你好呀4")
        await tell(world, "你好呀5")
        assert world.replies == ["我来答"] * 8 + ["我回来了"] * 2
        assert left(world) == 0


async def test_one_probe_alone_while_the_others_go_to_the_fallback(tmp_path: Path) -> None:
    first, second = Named("first", DOWN), Named("second", "我来答")
    async with with_models(tmp_path, first, second) as world:
        for number in range(3):
            await tell(world, f"你好{number}")
        first.answers = ["我回来了"]
        await world.wait(15)
        world.shut()
        await world.app.ingest.accept(world.message("在吗"))
        await world.held()
        for who in ("阿明", "阿红"):
            await world.app.ingest.accept(world.message("在吗", who))
        await world.held()
        assert world.replies == ["我来答"] * 5
        assert len(first.requests) == 4
        await world.let_answer()
        assert world.replies[5:] == ["我回来了"]
        await tell(world, "现在呢", "阿明")
        assert world.replies[6:] == ["我回来了"]


async def test_a_probe_that_a_stop_cuts_off_frees_its_place(tmp_path: Path) -> None:
    first, second = Named("first", DOWN), Named("second", "我来答")
    async with with_models(tmp_path, first, second) as world:
        for number in range(3):
            await tell(world, f"你好{number}")
        await world.wait(15)
        world.shut()
        await world.app.ingest.accept(world.message("在吗"))
        await world.held()
        pool, now = world.parts.current.pool, world.clock.now()
        assert pool.pick(now) is not pool.first
        await world.app._chats.close(0)
        assert pool.pick(now) is pool.first
        await world.crash()
        assert world.replies[-1] == "我来答"
        assert left(world) == 0


async def test_while_all_rest_nobody_is_asked_and_one_polite_line_is_all_of_an_outage(tmp_path: Path) -> None:
    first, second = Named("first", DOWN), Named("second", FAULTS["5xx"])
    async with with_models(tmp_path, first, second) as world:
        for _ in range(3):
            await tell(world, "小暖，你好", group="群")
        requests, before = len(first.requests) + len(second.requests), world.clock.now()
        await world.say("小暖，在吗", group="群")
        assert len(first.requests) + len(second.requests) == requests
        assert (len(world.replies), world.clock.now(), left(world)) == (1, before, 0)
        assert "连不上模型" in world.replies[-1]


async def test_a_failed_request_does_not_use_up_the_calls_of_a_turn(tmp_path: Path) -> None:
    tool = calls(("memory_recall", '{"query": "狗"}'))
    limited, second = Named("first", FAULTS["429"]), Named("second", tool, tool, tool, "查到了")
    async with with_models(tmp_path, limited, second) as world:
        await tell(world, "查一下")
        assert world.replies == ["查到了"]
        assert len(second.requests) == 4


async def test_a_digest_goes_the_same_way(tmp_path: Path) -> None:
    def down(request: ModelRequest) -> Answer:
        return DOWN if is_digest(request) else "好的"

    first, second = Named("first"), Named("second", json.dumps(DIGEST, ensure_ascii=False))
    first.script, first.digests = down, True
    async with with_models(tmp_path, first, second) as world:
        for text in TALK:
            await tell(world, text)
        await tell(world, "/new")
        assert digests(world) == [(1, "model")]
        # The second look is asked of the first again, which is up for it.
        assert asked(world)[-3:] == ["first released", "second settled", "first settled"]


async def test_a_crash_during_a_pause_between_two_requests_costs_no_reply_and_leaves_nothing_reserved(
    tmp_path: Path,
) -> None:
    async with with_models(tmp_path, Named("first", DOWN, "好的")) as world:
        await world.app.ingest.accept(world.message("你好"))
        while not any(is_pause(alarm) for alarm in world.clock._alarms):
            await let_others_run()
        assert left(world) == 0, "nothing is reserved while nobody is asked"
        await world.crash()
        await through(world)
        assert world.replies == ["好的"]
        assert asked(world) == ["first released", "first settled"]


async def test_waiting_until_a_model_may_be_asked_is_no_try(tmp_path: Path) -> None:
    first = Named("first", FAULTS["429 for 2 s"], "好")
    async with with_models(tmp_path, first, model={"tries": 1}) as world:
        await tell(world, "你好")
        await tell(world, "在吗")
        assert first.asked_at == [0.0, 2.0]
        assert world.replies[-1] == "好"
