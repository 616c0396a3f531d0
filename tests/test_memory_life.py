"""What becomes of memories in an installation that runs: strengthened, aged, archived, brought back; asked for, they
stay.
"""

from bot.core.memories import RECALLED_FACTOR
from bot.store.lifecycle import UpkeepPlan
from tests.conftest import NewWorld
from tests.fakes.model import calls, says
from tests.living import DAY, active, found, later
from tests.world import World


async def test_what_was_recalled_lasts_longer_once_in_a_day(world: World) -> None:
    await world.say("在吗")
    await world.say("记住我怕狗")
    world.model.script = lambda request: (
        says("你怕狗") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "怕狗"}'))
    )
    await world.say("我怕什么？")
    assert active(world, "stability_days, access_count") == [(90 * RECALLED_FACTOR, 1)]
    await world.wait(3_600)
    await world.say("我到底怕什么？")
    assert active(world, "stability_days, access_count")[0][1] == 1
    await world.wait(DAY)
    await world.say("所以我怕什么？")
    assert active(world, "access_count") == [(2,)]


async def test_an_opening_strengthens_a_little_and_makes_nothing_new(world: World) -> None:
    await found(world, "我喜欢喝乌龙茶")
    before = active(world, "observed_at, accessed_at, updated_at")
    await world.say("你好呀")
    await world.say("/new")
    await world.say("又是我")
    (stability,) = active(world, "round(stability_days, 6)")[0]
    assert stability == 99.0
    assert active(world, "observed_at, accessed_at, updated_at") == before


async def test_events_that_wear_out_are_archived_and_can_be_brought_back(world: World) -> None:
    await found(world, "昨天去了医院复查", "event")
    await found(world, "我喜欢喝乌龙茶")
    await world.say("记住我怕狗")
    await later(world, 50)
    assert active(world) == [("我喜欢喝乌龙茶",), ("我怕狗",)]
    await world.say("最近怎么样，跟我说说好吗")
    assert "去了医院复查" not in world.last_user
    await world.say(".ai mem archived")
    assert "去了医院复查" in world.replies[-1]
    await world.say(".ai mem restore #1")
    assert active(world)[0] == ("6月11日去了医院复查",)
    await world.wait(DAY)
    assert len(active(world)) == 3


async def test_what_is_archived_and_not_brought_back_is_gone_in_the_end(world: World) -> None:
    await found(world, "昨天去了医院复查", "event")
    await later(world, 60)
    await later(world, 80)
    assert world.peek.memories("disabled_reason") == [("archived",)], "it rests ninety days, however weak"
    await later(world, 20)
    assert world.peek.memories.count() == 0


async def test_forgetting_reaches_the_archive(world: World) -> None:
    await found(world, "昨天去了医院复查", "event")
    await world.say(".ai mem archive #1")
    assert active(world) == []
    await world.say("忘记 #1")
    await world.say(".ai mem restore #1")
    assert active(world) == []
    assert world.peek.memories("disabled_reason") == [("asked",)]


async def test_tidying_after_weeks_without_power_is_the_same_as_every_day(new_world: NewWorld) -> None:
    kept = []
    for away in (False, True):
        world = await new_world()
        await found(world, "我喜欢喝乌龙茶")
        for _ in range(4):
            await found(world, "我喜欢喝乌龙茶")
        await found(world, "昨天去了医院复查", "event")
        if away:
            await world.close()
            world.away(25 * DAY)
            await world.open()
        else:
            await world.wait(25 * DAY)
        kept.append(active(world, "text, importance, observed_at, accessed_at"))
    assert kept[0] == kept[1]
    assert kept[0][0][:2] == ("我喜欢喝乌龙茶", 1)


async def test_ageing_changes_no_order_and_no_day_of_the_opening(world: World) -> None:
    """In the reference every line reads 今天 after one decay, and an older event sorts above a newer one."""
    await found(world, "去了医院复查", "event")
    await world.wait(3 * DAY)
    await found(world, "参加了公司年会", "event")
    before = active(world, "id, observed_at, updated_at")
    await world.wait(2 * DAY)
    assert active(world, "id, observed_at, updated_at") == before
    await world.say("你好呀")
    opening = world.turns[-1][1].content
    assert opening.index("参加了公司年会") < opening.index("去了医院复查")
    assert "今天" not in opening[opening.index("参加了公司年会") - 20 : opening.index("去了医院复查") + 20]


async def test_what_a_person_asked_to_keep_is_told_for_ever(world: World) -> None:
    """In the reference 对花生严重过敏 was gone from the boot after 70 days."""
    await world.say("记住我对花生严重过敏")
    await later(world, 200)
    await world.say("你好呀")
    assert "我对花生严重过敏" in world.turns[-1][1].content


async def test_too_many_are_archived_and_what_was_asked_for_takes_no_room(new_world: NewWorld) -> None:
    world = await new_world(memory={"life": {"max_knowledge": 2}})
    for thing in ("我对花生过敏", "我的车位是B12", "我怕狗"):
        await world.say(f"记住{thing}")
    for thing in ("我喜欢喝乌龙茶", "我在学弹钢琴", "我养了一只橘猫"):
        await found(world, thing)
        await world.wait(2 * DAY)
    assert len(active(world)) == 5
    assert world.peek.memories.count(asked=1, disabled_at=None) == 3
    assert world.peek.memories("text", disabled_reason="archived") == [("我喜欢喝乌龙茶",)]


async def test_a_recalled_event_outlives_those_that_nobody_asks_for(world: World) -> None:
    """In the reference what was recalled got nothing from it: an event was gone after 42 days, however often told."""
    await found(world, "参加了公司年会", "event")
    await found(world, "去了医院复查", "event")
    for _ in range(3):
        await later(world, 14)
        world.model.script = lambda request: (
            says("好") if request.prompt.messages[-1].role == "tool" else calls(("memory_recall", '{"query": "年会"}'))
        )
        await world.say("我什么时候去的年会？")
    await later(world, 30)
    assert active(world) == [("参加了公司年会",)]


async def test_what_is_told_again_is_alive_again(world: World) -> None:
    await found(world, "我在学弹钢琴")
    await later(world, 80)
    await world.say("你好呀")
    assert "弹钢琴" not in world.turns[-1][1].content
    await world.say("/new")
    await found(world, "我在学弹钢琴")
    await world.say("你好呀")
    assert "弹钢琴" in world.turns[-1][1].content


async def test_tidying_that_comes_late_takes_nothing_that_was_protected_or_asked_for_meanwhile(world: World) -> None:
    for text in ("我在学弹钢琴", "我喜欢喝乌龙茶", "我养了一只橘猫"):
        await found(world, text)
    await world.say(".ai mem protect #1")
    await world.say("记住我喜欢喝乌龙茶")
    late = UpkeepPlan(((1, 1), (2, 1)), (1, 2, 3), world.clock.now() + 1)
    await world.store.memories.apply_upkeep(late, world.clock.now())
    assert active(world, "text, importance") == [("我在学弹钢琴", 1), ("我喜欢喝乌龙茶", 2)]
