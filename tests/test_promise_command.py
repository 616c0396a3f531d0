"""`.ai promise`: everybody sees and settles their own, as far as the chat may see it."""

import pytest

from bot.core.people import Audience
from tests.living import later
from tests.world import World

GROUP = "闲聊"


def kept(world: World, columns: str = "text") -> list[tuple[object, ...]]:
    """What the store holds of promises, oldest first."""
    return world.rows(f"SELECT {columns} FROM commitment ORDER BY id")


LISTS = {
    "zh-Hans": (
        "我明天把报告发给你",
        "✓1 我明天把报告发给你 · 还没做 · 明天",
        "✓1 我明天把报告发给你 · 还没做 · 该在昨天，过了",
    ),
    "zh-Hant": (
        "我明天把報告發給你",
        "✓1 我明天把報告發給你 · 還沒做 · 明天",
        "✓1 我明天把報告發給你 · 還沒做 · 該在昨天，過了",
    ),
    "en": (
        "I'll send you the file tomorrow",
        "✓1 I'll send you the file tomorrow · not done yet · tomorrow",
        "✓1 I'll send you the file tomorrow · not done yet · was due yesterday",
    ),
}


@pytest.mark.parametrize("script", LISTS)
async def test_the_list_tells_what_is_open_with_its_day_in_words(world: World, script: str) -> None:
    said, open_, over = LISTS[script]
    await world.say(said)
    await world.say(".ai promise")
    assert world.replies[-1] == open_
    await later(world, 2)
    await world.say(".ai promise")
    assert world.replies[-1] == over


async def test_a_person_settles_their_own_by_number(world: World) -> None:
    await world.say("我答应妈妈周末回家吃饭")
    await world.say("我今晚把碗洗好")
    for words, answer in (
        ("doing 1", "好，“我答应妈妈周末回家吃饭”在做 ✓1"),
        ("done 1", "好，“我答应妈妈周末回家吃饭”做到了 ✓1"),
        ("fail ✓2", "知道了，“我今晚把碗洗好”没做到 ✓2"),
        ("", "没有你答应过还没做的事"),
        ("open 1", "好，“我答应妈妈周末回家吃饭”还没做 ✓1"),
        ("done 9", "这里没有你这个编号的承诺"),
        ("done x", "这里没有你这个编号的承诺"),
    ):
        await world.say(f".ai promise {words}".strip())
        assert world.replies[-1] == answer
    await world.say(".ai promise all")
    assert "✓2 我今晚把碗洗好 · 没做到" in world.replies[-1]
    await world.say(".ai promise drop 2")
    await world.say(".ai promise all")
    assert "洗好" not in world.replies[-1]
    assert world.rows("SELECT count(*) FROM commitment WHERE instr(text || folded, '洗好')") == [(0,)]
    await world.say(".ai promise nonsense")
    assert world.replies[-1].startswith("可以这样说：\n.ai promise")


async def test_what_was_promised_in_private_no_group_hears_of(world: World) -> None:
    await world.say("我明天把离婚协议交给你")
    await world.say("我明天把蛋糕带给大家", group=GROUP)
    await world.say(".ai promise", group=GROUP)
    assert world.replies[-1] == "✓2 我明天把蛋糕带给大家 · 还没做 · 明天"
    await world.say(".ai promise drop 1", group=GROUP)
    assert world.replies[-1] == "这里没有你这个编号的承诺"
    await world.say(".ai promise all", "阿明", GROUP)
    assert world.replies[-1] == "没有你答应过还没做的事"
    await world.say(".ai promise done 2", "阿明", GROUP)
    assert kept(world, "state") == [("pending",), ("pending",)]
    await world.say(".ai promise")
    own = ["✓1 我明天把离婚协议交给你 · 还没做 · 明天", "✓2 我明天把蛋糕带给大家 · 还没做 · 明天"]
    assert sorted(world.replies[-1].splitlines()) == own
    group = Audience(2, "group", (1, 2))
    assert [each.text for each in await world.store.commitments.open(group, 9)] == ["我明天把蛋糕带给大家"]
    assert await world.store.commitments.open(Audience(2, "group", (2,)), 9) == ()
    assert not await world.store.commitments.settle(2, 2, "done", world.clock.now())
