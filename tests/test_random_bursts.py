"""Random arrivals of two to four people in each mode: nobody is lost, nobody answered twice, one turn at a time."""

import asyncio
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.core.speaking import BusyPolicy
from tests.sizes import sized
from tests.slow import SlowWorld

GROUP = "闲聊"
PEOPLE = ("甲", "乙", "丙", "丁")


@dataclass(frozen=True)
class Step:
    """After so many ms this person writes, calling or not; or nuan dies."""

    after_ms: int
    who: int
    calls: bool
    dies: bool


STEPS = st.builds(
    Step,
    st.one_of(st.sampled_from((0, 1, 100, 600, 2_000, 5_000)), st.integers(0, 7_000)),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from((False, False, False, False, False, False, True)),
)


@given(
    people=st.integers(2, 4),
    busy=st.sampled_from(get_args(BusyPolicy)),
    debounce=st.sampled_from((0.0, 0.6)),
    in_group=st.booleans(),
    seed=st.integers(0, 99),
    steps=st.lists(STEPS, min_size=3, max_size=14),
)
@settings(max_examples=sized(30))
def test_everyone_is_answered_once_and_one_turn_runs_at_a_time(
    people: int, busy: BusyPolicy, debounce: float, in_group: bool, seed: int, steps: list[Step]
) -> None:
    asyncio.run(_play(people, busy, debounce, in_group, seed, steps))


async def _play(people: int, busy: BusyPolicy, debounce: float, in_group: bool, seed: int, steps: list[Step]) -> None:
    folder, chance = Path(tempfile.mkdtemp(prefix="nuan-bursts-")), Random(seed)
    speak = {"busy": busy, "debounce_seconds": debounce}
    tables = {"bot": {"timezone": "Asia/Shanghai"}, "speak": speak}
    world = SlowWorld(folder, Settings.model_validate(tables), takes_ms=lambda: chance.choice((1, 300, 2_000, 6_000)))
    await world.open()
    try:
        for number, step in enumerate(steps):
            await world.wait(step.after_ms / 1000)
            name = "小暖，" if step.calls or not in_group else ""
            await world.write(f"{name}第{number}句", PEOPLE[step.who % people], GROUP if in_group else "")
            assert _running(world) <= 1
            if step.dies:
                await world.crash()
        await world.wait(120)
        _check(world)
    finally:
        await world.close()
        shutil.rmtree(folder)


def _running(world: SlowWorld) -> int:
    """The most turns that are under way in one chat."""
    rows = world.rows("SELECT count(*) FROM turn WHERE state IN ('asked', 'answered') GROUP BY chat_id")
    return max((int(str(row[0])) for row in rows), default=0)


def _check(world: SlowWorld) -> None:
    rows = world.rows
    asked = rows("SELECT id FROM event WHERE kind = 'message' AND state <> 'listened' ORDER BY id")
    said = rows(
        "SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said' ORDER BY event_id"
    )
    assert said == asked, "every message for nuan is answered, each once"
    assert rows("SELECT count(*) FROM turn WHERE state IN ('asked', 'answered', 'failed')") == [(0,)]
    assert rows("SELECT count(*) FROM call WHERE state = 'reserved'") == [(0,)]
    turns = int(str(rows("SELECT count(*) FROM turn WHERE state = 'said'")[0][0]))
    assert len(world.replies) == turns
    spans = rows("SELECT chat_id, asked_at, said_at FROM turn WHERE state = 'said' ORDER BY chat_id, id")
    for (chat, _, until), (other, begins, _) in pairwise(spans):
        assert chat != other or int(str(begins)) >= int(str(until)), "one turn at a time"
    twice = Counter(
        rows(
            "SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.error = 'interrupted' "
            "AND turn.state = 'void'"
        )
    )
    assert max(twice.values(), default=1) == 1, "nothing is interrupted twice"
    assert not [line for line in world.log.lines if line[0] == "error"]
