"""Floods through ingest: a thousand messages in ten seconds cost three calls at most, and none is lost."""

from pathlib import Path

import pytest

from bot.context import MOST_LINES
from tests.bench.flood import KINDS, config, delays, flood, lines
from tests.sizes import sized
from tests.slow import SlowWorld


@pytest.mark.parametrize(("kind", "count"), [("dm", sized(600)), ("callers", 80), ("caller", 80)])
async def test_a_hundred_messages_a_second_cost_three_calls_and_all_are_told_or_counted(
    kind: str, count: int, tmp_path: Path
) -> None:
    report = await flood(kind, "collect", tmp_path, count=count)
    assert report.calls <= 3
    assert (report.stored, report.answered, report.told) == (count, count, count)
    assert report.longest < 3_000


async def test_nothing_of_a_flood_stays_in_memory(tmp_path: Path) -> None:
    report = await flood("dm", "collect", tmp_path, count=80, traced=True)
    assert report.grown_mb is not None
    assert report.grown_mb < 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("busy", "model_ms"), [("interrupt", 400), ("queue", 0)])
async def test_every_mode_and_every_speed_of_the_model_keeps_the_bound(
    kind: str, busy: str, model_ms: int, tmp_path: Path
) -> None:
    report = await flood(kind, busy, tmp_path, model_ms=model_ms, count=30)
    assert report.calls <= 3
    assert (report.stored, report.answered, report.told) == (30, 30, 30)


async def test_nobody_is_crowded_out_of_the_answer_by_anothers_flood(tmp_path: Path) -> None:
    world = await SlowWorld(tmp_path, config("collect", 0)).open()
    assert isinstance(world, SlowWorld)
    await world.write("小暖，讲个故事", "阿明", "闲聊")
    for who in ("甲", "乙"):
        await world.wait(0.4)
        await world.write(f"小暖，{who}有一个问题", who, "闲聊")
    much = "啊" * 60
    await world.flood((("丙", f"小暖，第{number}句{much}") for number in range(120)), "闲聊")
    await world.wait(30)
    said = "".join(prompt[-1].content for prompt in world.prompts)
    assert "甲有一个问题" in said
    assert "乙有一个问题" in said
    assert 'to="甲, 乙, 丙"' in world.last_user
    assert world.last_user.count("<p ") < 120, "what is not told whole is folded"
    assert world.last_user.count("第") >= MOST_LINES
    await world.close()


async def test_a_flood_that_a_crash_cuts_is_answered_at_the_next_start(tmp_path: Path) -> None:
    world = await SlowWorld(tmp_path, config("collect", 0)).open()
    assert isinstance(world, SlowWorld)
    await world.flood(lines("dm", 60))
    await world.crash()
    await world.wait(30)
    assert world.peek.events.count(kind="message", outcome="answered") == 60
    assert len(world.replies) <= 3
    await world.close()


async def test_a_command_is_done_while_a_flood_waits(tmp_path: Path) -> None:
    world = await SlowWorld(tmp_path, config("collect", 0), takes_ms=lambda: 10).open()
    assert isinstance(world, SlowWorld)
    await world.flood(lines("dm", 50))
    before = len(world.model.requests)
    await world.write(".ai help", "阿明")
    assert ".ai help" in world.replies[-1]
    assert len(world.model.requests) == before
    await world.wait(30)
    await world.close()


async def test_the_bench_tells_how_long_people_wait(tmp_path: Path) -> None:
    report = await delays("collect", 0.6, tmp_path, bursts=3)
    assert (report.bursts, report.turns > 0, report.ms["p50"] > 0) == (3, True, True)
