"""`.ai mem`: one's own memories with their figures, and what one may do to them."""

from tests.living import DAY, active, found, later
from tests.world import World


async def test_it_lists_them_and_tells_all_of_one(world: World) -> None:
    await world.say(".ai mem")
    assert world.replies[-1] == "这里还没有能给你看的记忆；说“记住…”我就记"
    await world.say("记住我怕狗")
    await found(world, "我喜欢喝乌龙茶")
    await world.say(".ai mem")
    assert world.replies[-1].splitlines() == [
        "我喜欢喝乌龙茶 #2",
        "我怕狗 #1",
    ]
    await world.say(".ai mem 乌龙")
    assert "#2" in world.replies[-1]
    assert "#1" not in world.replies[-1]
    await world.say(".ai mem #1")
    assert world.replies[-1].startswith("我怕狗\n知识 · ")
    assert "一直留着" in world.replies[-1]
    await world.say(".ai mem stats")
    assert "2 条记忆，其中 1 条一直留着" in world.replies[-1]
    await world.say(".ai mem #77")
    assert world.replies[-1] == "这里没有这条记忆"
    await world.say(".ai mem restore")
    assert world.replies[-1].startswith("可以这样说")


async def test_it_says_why_one_is_told_and_how_much_there_is_for_it(world: World) -> None:
    await world.say("记住我怕狗")
    await found(world, "我喜欢喝乌龙茶")
    await found(world, "去了医院复查", "event")
    await world.say(".ai mem #1 stats")
    assert world.replies[-1].endswith("\n分数 0.88 · 一直留着、七天之内、鲜活\n现在开场会说")
    await world.say(".ai mem #2 stats")
    assert world.replies[-1].endswith("\n分数 0.88 · 七天之内、鲜活\n现在开场会说")
    await world.say(".ai mem fade #2")
    await world.say(".ai mem #2 stats")
    assert world.replies[-1].endswith("\n分数 0.52 · 七天之内\n现在开场不说")
    await world.wait(20 * DAY)
    await world.say(".ai mem #3 stats")
    assert world.replies[-1].endswith("\n分数 0.52 · –\n现在开场会说")


async def test_it_lists_what_is_new_or_changed_in_the_last_seven_days(world: World) -> None:
    await world.say(".ai mem recent")
    assert world.replies[-1] == "最近七天没有新记的，也没有改过的"
    for number in range(52):
        await world.say(f"记住我的第{number}个柜子放着{chr(0x6A0A + 7 * number) * 3}")
    await world.say(".ai mem recent")
    pages = [world.replies[-1].splitlines()]
    while " page " in pages[-1][-1]:
        await world.say(pages[-1][-1].partition("：")[2])
        pages.append(world.replies[-1].splitlines())
    lines = [line for page in pages for line in page if " page " not in line]
    assert [lines[0].split()[-1], lines[-1].split()[-1], len(lines)] == ["#52", "#3", 50]
    assert max(map(len, pages)) <= 11
    await world.wait(6 * DAY)
    await world.say("记住我怕狗")
    await world.wait(2 * DAY)
    await world.say(".ai mem recent")
    (line,) = world.replies[-1].splitlines()
    assert line.startswith("我怕狗")
    await world.say(".ai mem recent", "阿明")
    assert world.replies[-1] == "最近七天没有新记的，也没有改过的"


async def test_a_page_past_the_end_is_the_last_page(world: World) -> None:
    for number in range(12):
        await world.say(f"记住我的第{number}个柜子放着{chr(0x6A0A + 7 * number) * 3}")
    for list_words in ("", "柜子 ", "recent "):
        await world.say(f".ai mem {list_words}page 2")
        last = world.replies[-1]
        await world.say(f".ai mem {list_words}page 9")
        assert world.replies[-1] == last
        assert len(last.splitlines()) == 2


async def test_a_way_to_address_somebody_is_told_as_one(world: World) -> None:
    await world.say("别叫我老王，叫我小王")
    await world.say(".ai mem")
    assert world.replies[-1].splitlines() == ["叫你“小王” #2", "不叫你“老王” #1"]
    await world.say(".ai mem #1")
    assert world.replies[-1].startswith("不叫你“老王”\n身份 · ")
    await world.say(".ai mem #1 stats")
    assert "不会变淡" in world.replies[-1]
    await world.say("忘记关于我的一切")
    assert world.replies[-1].splitlines()[1:3] == ["1. #2 叫你“小王”", "2. #1 不叫你“老王”"]


async def test_a_protected_one_outlives_its_time(world: World) -> None:
    await found(world, "去了医院复查", "event")
    await found(world, "参加了公司年会", "event")
    await world.say(".ai mem protect #1")
    assert world.replies[-1] == "#1“去了医院复查”受保护了"
    await later(world, 60)
    assert active(world) == [("去了医院复查",)]
    await world.say(".ai mem unprotect #1")
    await world.wait(DAY)
    assert active(world) == []


async def test_one_that_may_fade_is_gone_with_the_next_tidying_and_stays_so(world: World) -> None:
    await found(world, "我喜欢喝乌龙茶")
    await world.say(".ai mem fade #1")
    await world.say(".ai mem #1 stats")
    assert "活力 0.10" in world.replies[-1]
    await world.say(".ai mem fade #1")
    await world.wait(DAY)
    assert active(world) == []


async def test_nobody_sees_or_changes_what_is_anothers(world: World) -> None:
    await world.say("记住我怕狗")
    for word in ("#1", "protect #1", "archive #1", "fade #1", "unmerge #1", "restore #1"):
        await world.say(f".ai mem {word}", "阿明")
        assert "没有" in world.replies[-1]
        await world.say(f".ai mem {word}", "小王", "闲聊")
        assert "没有" in world.replies[-1]
    await world.say(".ai mem", "阿明")
    assert "怕狗" not in world.replies[-1]
    assert active(world, "text, protected, faded") == [("我怕狗", 0, 1.0)]
