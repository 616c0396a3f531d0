"""早 after a night: small talk is told what matters now, little of it, and to nobody whom it is not for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.core.memories import NewCommitment, NewMemory
from bot.core.people import Script
from bot.prompt.opening_facts import OpeningFacts
from bot.store.commitments import store_commitment
from bot.store.memories import store_memory
from bot.text.length import estimate_tokens
from tests.conftest import NewWorld
from tests.test_boot_limits import told
from tests.waking import DAY, NOW, at, facts, memory, promise, small, talk
from tests.world import NINE, World

HOUR_S = 3_600
LIGHT = {"light": "auto"}


async def know(world: World, text: str, when: int, **more: object) -> None:
    """A digest found it in the first line of 小王."""
    new = NewMemory(1, 1, "private", "event", text, when, "digest", (1,), said_at=NINE)
    await world.store._database.write(lambda db: store_memory(db, replace(new, **more), NINE))  # type: ignore[arg-type]


async def promised(world: World, text: str, due: int | None) -> None:
    """小王 has still to do it."""
    new = NewCommitment(1, 1, "private", text, NINE, "digest", (1,), due)
    await world.store._database.write(lambda db: store_commitment(db, new, NINE))


def opened(world: World) -> str:
    """What stands before the lines of the newest request."""
    return world.last_user.partition("<ctx")[0]


async def test_the_morning_of_an_interview_that_was_told_yesterday_knows_of_it(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("我明天十点半面试")
    await know(world, "去面试", NINE + DAY + 90 * 60_000, dated="time")
    await know(world, "因为面试很紧张", NINE, kind="emotion", emotion="紧张")
    await promised(world, "还书", NINE - DAY)
    await promised(world, "交房租", NINE + 9 * DAY)
    await world.wait(23 * HOUR_S)
    await world.say("早")
    assert not world.model.requests[-1].prompt.tools, "small talk"
    assert (
        "【今天】去面试（10:30）\n【过了】还书（原定6月11日，过了2天）\n【心情】因为面试很紧张——紧张（昨天）"
        in opened(world)
    )
    assert "房租" not in opened(world)
    await world.wait(24 * HOUR_S)
    await world.say("早")
    assert "【今天】" not in opened(world)
    assert "【上次】" in opened(world)


async def test_in_the_evening_what_is_due_tomorrow_is_told_too(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("你好")
    await promised(world, "交房租", NINE + DAY)
    await world.wait(8 * HOUR_S)
    await world.say("在吗")
    assert "房租" not in opened(world), "17:00"
    await world.wait(3 * HOUR_S)
    await world.say("在吗")
    assert "【明天】交房租（6月13日周六，明天）" in opened(world)


async def test_after_a_short_pause_nothing_but_who_is_here_is_told(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("你好")
    await promised(world, "交房租", NINE)
    await world.say("/new")
    await world.wait(1.5 * HOUR_S)
    await world.say("在吗")
    assert opened(world).strip().splitlines() == ["【在场】小王（主人）", "【间隔】隔了一个小时没聊。"]


async def test_a_birthday_comes_first_even_for_a_greeting(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("你好")
    await know(world, "吃药", NINE + 3 * DAY, dated="time")
    await know(world, "妈妈的生日是6月15日", at("1962-06-15 00:00"), kind="anniversary", dated="day")
    await world.wait(3 * 24 * HOUR_S)
    await world.say("早")
    assert "【今天】妈妈的生日是6月15日\n【今天】吃药（09:00）" in opened(world)


async def test_small_talk_elsewhere_is_told_nothing_private(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("你好")
    await world.say("小暖，你好", "小王", "家")
    await world.say("你好", "阿明")
    await promised(world, "交房租", NINE)
    await know(world, "很难过", NINE, kind="emotion", emotion="难过")
    await world.wait(5 * HOUR_S)
    for who, group in (("小王", "家"), ("阿明", "")):
        await world.say("小暖，在吗", who, group)
        assert not [word for word in ("房租", "难过") if word in world.last_user], who
    await world.say("在吗")
    assert "房租" in world.last_user
    assert "难过" in world.last_user


async def test_what_small_talk_told_goes_with_what_it_was_made_of(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("我养了一只猫")
    await know(world, "猫要去打针", NINE + DAY, dated="day")
    await world.wait(24 * HOUR_S)
    await world.say("早")
    assert "打针" in opened(world)
    await world.say("忘记猫要去打针")
    await world.say("在吗")
    assert "打针" not in world.last_user


async def test_small_talk_knows_what_the_persona_is_like(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("早")
    assert "像认识多年的老朋友" in world.prompts[-1][0].content
    assert sum(estimate_tokens(message.content) for message in world.prompts[-1]) <= 500


async def test_somebody_new_is_told_to_be_new_till_the_first_talk_is_over(new_world: NewWorld) -> None:
    world = await new_world(prompt=LIGHT)
    await world.say("你好")
    assert "【初识】" in opened(world)
    await world.say("今天的天气怎么样")
    assert "【初识】" in opened(world), "the full log opens while it is the first talk still"
    await world.say("小暖，你好", "小王", "家")
    assert "【初识】" not in opened(world), "a group is nobody new"
    await world.wait(24 * HOUR_S)
    await world.say("早")
    assert "【初识】" not in opened(world)


def test_what_is_told_of_a_morning_in_each_language() -> None:
    known = facts(
        memory(1, "交房租", "event", NOW, dated="day", said=NOW - DAY),
        memory(2, "拿到驾照了", "emotion", NOW - DAY, emotion="开心"),
        promises=(promise(1, "还书", NOW - 2 * DAY, NOW - DAY),),
        talks=(talk(1, "聊了旅行", NOW - 3 * DAY),),
        last=NOW - DAY,
    )
    wanted: dict[Script, str] = {
        "zh-Hans": "【在场】小王\n【间隔】隔了一天没聊。\n【今天】交房租\n【过了】还书（原定6月11日，过了1天）\n"
        "【心情】拿到驾照了——开心（昨天）\n【上次】聊了旅行（3天前 小王）",
        "zh-Hant": "【在場】小王\n【間隔】隔了一天沒聊。\n【今天】交房租\n【過了】还书（原定6月11日，過了1天）\n"
        "【心情】拿到驾照了——开心（昨天）\n【上次】聊了旅行（3天前 小王）",
        "en": "[Here] 小王\n[Pause] a day since the last talk.\n[Today] 交房租\n[Overdue] 还书 (was due June 11, a day over)\n"
        "[Mood] 拿到驾照了, 开心 (yesterday)\n[Last talk] 聊了旅行 (3 days ago 小王)",
    }
    for script, text in wanted.items():
        assert small(known, script).text == text
    assert small(known).told("memory") == (1, 2)
    assert small(known).told("commitment") == (1,)
    assert small(known).told("dialogue") == (1,)


@given(told(), st.sampled_from(("zh-Hans", "en")))
def test_small_talk_is_told_at_most_120_tokens(known: OpeningFacts, script: Script) -> None:
    text = small(known, script).text
    rows = [row for row in text.splitlines() if not row.startswith(("【在场】", "[Here]"))]
    assert estimate_tokens("\n".join(rows)) <= 120
