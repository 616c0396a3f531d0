"""A model that reached its rate limit: when it is asked again, by whom, and what a late slot does to a question."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import ModelError
from bot.model.pool import LONGEST_MS, SPARED_MS, RateLimitState
from tests.fakes.clock import let_others_run
from tests.pools import Named, left, tell, with_models
from tests.slow import STEPS
from tests.test_fairness import begin, still

LIMITED = ModelError("busy", "HTTP 429", limited=True)


def wants(seconds: float) -> ModelError:
    return ModelError("busy", "HTTP 429", limited=True, wait_s=seconds)


async def test_alone_a_model_is_not_asked_before_the_time_it_named(tmp_path: Path) -> None:
    async with with_models(tmp_path, first := Named("first", wants(60.0), "我回来了")) as world:
        for seconds in (10, 10, 41):
            await tell(world, f"在吗，{seconds}")
            await world.wait(seconds)
        assert first.asked_at == [0.0]
        assert left(world) == 0
        await tell(world, "现在呢")
        assert world.replies[-1] == "我回来了"
        assert first.asked_at == [0.0, 61.0]


async def test_a_wait_that_is_nearly_over_is_kept_also_by_who_comes_later(tmp_path: Path) -> None:
    async with with_models(tmp_path, first := Named("first", wants(20.0), "好了")) as world:
        await tell(world, "在吗")
        await world.wait(17)
        await tell(world, "还在吗")
        assert first.asked_at == [0.0, 20.0]
        assert world.replies[-1] == "好了"


async def test_alone_a_model_that_names_no_time_is_asked_by_each(tmp_path: Path) -> None:
    async with with_models(tmp_path, first := Named("first", LIMITED), model={"tries": 1}) as world:
        await tell(world, "在吗")
        await world.wait(5)
        await tell(world, "还在吗")
        assert first.asked_at == [0.0, 5.0]


async def test_while_the_first_is_spared_and_the_second_fails_the_first_is_asked_all_the_same(tmp_path: Path) -> None:
    first, second = Named("first", LIMITED, "还是我来"), Named("second", "好", ModelError("busy", "HTTP 503"))
    async with with_models(tmp_path, first, second) as world:
        await tell(world, "在吗")
        await world.wait(5)
        await tell(world, "还在吗")
        assert world.replies == ["好", "还是我来"]
        assert (first.asked_at, second.asked_at) == ([0.0, 5.0], [0.0, 5.0])


async def test_who_waits_too_long_for_a_slot_hears_so_and_what_they_said_is_not_lost(tmp_path: Path) -> None:
    settings: dict[str, dict[str, object]] = {"model": {"slots": 1}, "speak": {"late_seconds": 60}}
    async with with_models(tmp_path, Named("first", "好的"), smaller=None, **settings) as world:
        world.shut()

        async def rested() -> None:
            for _ in range(STEPS):  # who was just told that it is too late still waits
                await let_others_run()
            await still(world)

        await begin(world, "甲")
        await begin(world, "乙", "小暖，蓝莓怎么样了")
        await world.clock.advance(59_000, rested)
        assert world.replies == []
        await world.clock.advance(2_000, rested)
        assert ["没能及时回" in reply for reply in world.replies] == [True]
        assert world.talk.said[0].external_chat_id == "group:乙的群"
        await world.let_answer()
        await world.say("小暖，还在吗", "乙", "乙的群")
        assert world.replies[-1] == "好的"
        assert "蓝莓怎么样了" in world.last_user
        assert left(world) == 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 60_000), st.sampled_from(("limited", "asked", "worked")), st.none() | st.floats(0, 100_000)
        ),
        max_size=30,
    )
)
def test_nobody_is_asked_before_the_time_they_named_nor_left_alone_for_ever(
    steps: list[tuple[int, str, float | None]],
) -> None:
    now, sparing = 0, RateLimitState()
    for ms, what, wait_s in steps:
        now += ms
        if what == "limited":
            sparing = sparing.limited(now, wait_s)
            assert sparing.asks_from >= now + min((wait_s or 0) * 1000, LONGEST_MS) - 1
            assert sparing.until >= now + SPARED_MS
        elif what == "asked":
            sparing = sparing.begun(now)
        else:
            sparing = sparing.worked(now)
            assert sparing == RateLimitState() or now <= sparing.since
        assert sparing.asks_from <= now + LONGEST_MS
        assert sparing.until <= now + max(LONGEST_MS, SPARED_MS)
