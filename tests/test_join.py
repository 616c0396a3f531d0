"""Entering a talk: after a pause, for a reason, seldom, once, behind people, and open to whoever answers."""

from itertools import pairwise

import pytest

from bot.core.errors import ModelError
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.joining import EAGER, ENTRY, GROUP, JOIN, asked, eager, enters, is_entry, talk


async def test_a_question_nobody_answers_for_a_while_is_entered_once(new_world: NewWorld) -> None:
    world = await new_world(speak=JOIN)
    enters(world)
    await world.say("有人知道周末哪里能露营吗？", "阿明", GROUP)
    await world.wait(59)
    assert world.replies == []
    await world.wait(1)
    assert world.replies == [ENTRY]
    await world.wait(600)
    assert world.replies == [ENTRY]
    assert asked(world) == 1
    assert [line["why"] for line in world.log.named("turn")] == ["join"]
    assert world.peek.calls("cause", "person_id") == [("join", None)]


async def test_an_answered_question_and_plain_talk_are_left_alone(new_world: NewWorld) -> None:
    world = await new_world(speak=JOIN)
    enters(world)
    await talk(world, ("阿明", "有人知道周末哪里能露营吗？"), ("阿红", "西山那边有个营地"))
    await world.wait(400)
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(400)
    assert asked(world) == 0


async def test_what_the_group_may_be_told_makes_a_talk_worth_entering(new_world: NewWorld) -> None:
    world = await new_world(speak=JOIN)
    enters(world)
    await world.say("小暖，记住露营帐篷放在地下室柜子里", "阿明", GROUP)
    await world.say("记住望远镜镜头盖落在奶奶书房抽屉", "阿红")
    await world.wait(700)
    await world.say("望远镜镜头盖不在书房抽屉，奶奶也没看到", "阿红", GROUP)
    await world.wait(100)
    assert asked(world) == 0, "what is private in a DM moves nothing in a group"
    await world.wait(700)
    await world.say("露营帐篷真的在地下室柜子里", "阿红", GROUP)
    await world.wait(19)
    assert asked(world) == 0
    await world.wait(1)
    assert asked(world) == 1


async def test_skip_sends_nothing_leaves_nothing_and_counts_as_ignored(new_world: NewWorld) -> None:
    world = await new_world(speak=eager(backoff_seconds=100))
    enters(world, "skip")
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    assert asked(world) == 1
    assert world.replies == []
    await world.say("想吃西瓜", "阿明", GROUP)
    await world.wait(99)
    assert asked(world) == 1
    await world.wait(1)
    assert asked(world) == 2, "100 s after the first one was declined"
    assert set(world.peek.turns("state", "error")) == {("void", "skip")}
    await world.say("小暖，在吗", "阿明", GROUP)
    assert 't="entry"' not in world.last_user
    assert len(world.prompts[-1]) == 2


async def test_the_pause_doubles_while_nobody_answers_and_ends_when_somebody_does(new_world: NewWorld) -> None:
    world = await new_world(speak=eager(stale_seconds=3600))
    enters(world)
    await world.say("开头", "阿明", GROUP)
    await world.wait(20)
    times = [world.clock.now()]
    for number in range(7):
        await world.say(f"第{number}句", "阿明", GROUP)
        before = asked(world)
        for _ in range(400):
            await world.wait(1)
            if asked(world) > before:
                break
        times.append(world.clock.now())
    pauses = [(later - earlier) // 1000 - 60 for earlier, later in pairwise(times)]
    assert pauses == [15, 30, 60, 120, 240, 300, 300]
    await world.say("小暖，说得对", "阿明", GROUP)
    await world.wait(65)
    await world.say("接着说", "阿明", GROUP)
    await world.wait(20)
    assert asked(world) == 9, "answered: no pause at all"
    await world.wait(100)
    await world.say("又没人理", "阿明", GROUP)
    await world.wait(20)
    assert asked(world) == 10, "ignored once: 15 s after its window, which are over"


async def test_never_more_than_the_cap_in_any_hour(new_world: NewWorld) -> None:
    world = await new_world(speak=eager(per_hour=3, backoff_most_seconds=15))
    enters(world)
    for number in range(80):
        await world.say(f"第{number}句", "阿明", GROUP)
        await world.wait(90)
    times = [int(str(at)) for (at,) in world.peek.events("at", why="join")]
    assert len(times) >= 6
    assert all(later - earlier >= 3_600_000 for earlier, later in zip(times, times[3:], strict=False))


async def test_an_entry_keeps_nobody_and_an_answer_to_it_does(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    assert world.peek.windows.count() == 0
    await world.say("是吗", "阿明", GROUP)
    await world.wait(6)
    assert world.replies == [ENTRY]
    await world.say("什么办法", "阿明", GROUP, replies_to_bot=True)
    assert world.replies == [ENTRY, "好的"]
    await world.say("再说说", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 3, "whoever answers is in conversation"


async def test_what_she_answered_is_nothing_to_enter_on(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await talk(world, ("阿明", "今天好热"), ("阿红", "小暖，在吗"))
    await world.wait(60)
    assert (asked(world), world.replies) == (0, ["好的"])


async def test_somebody_who_speaks_meanwhile_comes_first(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    for line, said in (("我先说", []), ("小暖，在吗", ["好的"])):
        before = asked(world)
        await world.say("今天好热啊", f"路人{before}", GROUP)
        world.shut()
        await world.clock.advance(20_000, lambda: world.held(0))
        assert (world.model.held, asked(world)) == (1, before + 1)
        await world.app.ingest.accept(world.message(line, "阿红", GROUP))
        await world.let_answer()
        assert world.replies == said
    assert set(world.peek.events("outcome", why="join")) == {("overtaken",)}
    assert world.peek.calls.count(state="reserved") == 0


async def test_a_call_does_not_wait_for_an_entry_that_is_thought_of(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await world.say("今天好热", "阿明", GROUP)
    world.shut()
    await world.clock.advance(20_000, lambda: world.held(0))
    await world.app.ingest.accept(world.message("小暖，在吗", "阿红", GROUP))
    for _ in range(2_000):
        await let_others_run()
    await world.held()
    assert not is_entry(world.model.requests[-1])
    await world.let_answer()
    assert world.replies == ["好的"]


@pytest.mark.parametrize("held", [False, True])
async def test_a_crash_means_once_or_not_at_all(new_world: NewWorld, held: bool) -> None:
    world = await new_world(speak=EAGER)
    enters(world)
    await world.say("今天好热", "阿明", GROUP)
    if held:
        world.shut()
        await world.clock.advance(20_000, lambda: world.held(0))
    else:
        await world.wait(10)
    await world.crash()
    await world.wait(300)
    assert world.replies == ([] if held else [ENTRY]), "the deadline is stored; what was being said is dropped"
    assert asked(world) == 1
    assert world.peek.calls.count(state="reserved") == 0


async def test_after_a_long_absence_old_talk_is_let_go(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    await world.say("今天好热", "阿明", GROUP)
    await world.close()
    world.away(3_600)
    await world.open()
    await world.wait(60)
    assert asked(world) == 0


async def test_a_model_that_fails_is_asked_less_and_less_and_nobody_is_told(new_world: NewWorld) -> None:
    world = await new_world(speak=eager(backoff_seconds=200, stale_seconds=100))
    world.model.script = lambda request: ModelError("unreachable", "down")
    for number in range(4):
        await world.say(f"第{number}句", "阿明", GROUP)
        await world.wait(25)
    assert asked(world) == 1
    assert world.replies == []
    assert world.peek.events("outcome", why="join") == [("failed",)]


async def test_limits_and_budgets_hold_without_a_word(new_world: NewWorld) -> None:
    cases: tuple[dict[str, dict[str, object]], ...] = (
        {"limits": {"global_minute": 1}},
        {"budget": {"day_tokens": 10}},
        {"background": {"sources": ["digest"]}},
        {"background": {"on": False}},
        {"speak": eager(day_tokens=10)},
    )
    for number, sections in enumerate(cases):
        world = await new_world(**{"speak": EAGER, **sections})
        enters(world)
        if number == 0:
            await world.say("在吗", "阿明")
        said = list(world.replies)
        await world.say("今天好热", "阿明", GROUP)
        await world.wait(25)
        assert (asked(world), world.replies) == (0, said), sections


async def test_an_entry_counts_for_all_but_for_nobody_in_particular(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER, limits={"person_minute": 1, "global_minute": 2})
    enters(world)
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(20)
    await world.say("小暖，在吗", "阿明", GROUP)
    assert world.replies == [ENTRY, "好的"]
    await world.say("小暖，在吗", "阿红", GROUP)
    assert "好的" not in world.replies[2:]
