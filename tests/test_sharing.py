"""`.ai mem share` and `unshare`: what one person lets everybody hear where they talk, and takes back."""

from dataclasses import replace

from tests.test_consent import uses
from tests.world import World

GROUP = "闲聊"
FACT = "我对花生过敏"


def prompt(world: World) -> str:
    """All that the newest request says."""
    return "\n".join(message.content for message in world.turns[-1])


async def share(world: World) -> None:
    await world.say(f"记住{FACT}")
    await world.say(".ai mem share #1")


async def test_a_shared_one_is_known_wherever_its_owner_speaks(world: World) -> None:
    await world.say(f"记住{FACT}")
    await world.say("小暖，花生酥好吃吗", group=GROUP)
    assert FACT not in prompt(world)
    await world.say(".ai mem #1")
    assert "只有你" in world.replies[-1]
    await world.say(".ai mem share #1")
    assert world.replies[-1].startswith(f"#1“{FACT}”以后你在哪里")
    await world.say(".ai mem #1")
    assert "你在哪里都算" in world.replies[-1]
    await world.say("小暖，我对花生过敏吗", group=GROUP)
    assert FACT in prompt(world)
    await world.say(".ai mem share #1")
    assert world.replies[-1] == f"#1“{FACT}”本来就在哪里都算"


async def test_what_is_kept_in_a_group_by_a_wish_or_by_a_tool_is_told_in_no_other(world: World) -> None:
    await world.say(f"小暖，记住{FACT}", group=GROUP)
    uses(world, "remember", text="我住在临江路")
    await world.say("小暖，我住在临江路，以后寄东西往那儿寄", group=GROUP)
    world.model.script = lambda request: "好的"
    await world.say("小暖，花生酥我能吃吗，我家在哪条路", group=GROUP)
    assert [fact in prompt(world) for fact in (FACT, "临江路")] == [True, True]
    await world.say("小暖，花生酥我能吃吗，我家在哪条路", group="别处")
    assert [fact in prompt(world) for fact in (FACT, "临江路")] == [False, False]


async def test_where_its_owner_does_not_speak_nobody_hears_it(world: World) -> None:
    await share(world)
    await world.say("小王对花生过敏吗", "阿明")
    assert FACT not in prompt(world)
    await world.say("小暖，小王对花生过敏吗", "阿明", "别处")
    assert FACT not in prompt(world)
    await world.say(".ai mem unshare #1", "阿明")
    assert world.replies[-1] == "这里没有这条记忆"


async def test_where_its_owner_has_left_nobody_hears_it_any_more(world: World) -> None:
    await share(world)
    await world.say("早", group=GROUP)
    await world.say("小暖，小王对花生过敏吗", "阿明", GROUP)
    assert FACT in prompt(world)
    await world.app.ingest.accept(replace(world.message("", group=GROUP), kind="event", label="leave"))
    await world.app.settled()
    world.model.requests.clear()
    await world.say("小暖，花生酥给小王吃好不好", "阿明", GROUP)
    await world.wait(11 * 3_600)
    await world.say("小暖，小王对花生过敏吗", "阿明", GROUP)
    assert FACT not in prompt(world)


async def test_what_is_taken_back_is_gone_from_the_next_prompt(world: World) -> None:
    await share(world)
    world.model.script = lambda request: "小王对花生过敏，别吃" if request.prompt.tools else "嗯"
    await world.say("小暖，我对花生过敏吗", group=GROUP)
    assert FACT in prompt(world)
    await world.say(".ai mem unshare #1")
    assert world.replies[-1] == f"#1“{FACT}”以后只有你看得到"
    await world.say("小暖，你好呀，那晚上吃什么好呢", "阿明", GROUP)
    said = prompt(world)
    assert f"小王：{FACT}" not in said
    assert "小王对花生过敏" not in said
    await world.say("小暖，花生酥我能吃吗", group=GROUP)
    assert f"小王：{FACT}" not in prompt(world)
    await world.say("花生酥我能吃吗")
    assert FACT in prompt(world)
    await world.say(".ai mem unshare #1")
    assert world.replies[-1] == f"#1“{FACT}”没有分享过"


async def test_what_a_group_was_told_goes_back_to_that_group(world: World) -> None:
    await world.say(f"小暖，记住{FACT}", group=GROUP)
    await world.say(".ai mem share #1", group=GROUP)
    await world.say("我对花生过敏吗")
    assert f"小王：{FACT}" in prompt(world)
    await world.say(".ai mem unshare #1")
    assert world.replies[-1] == f"#1“{FACT}”以后只在它原来的聊天"
    await world.say("花生酥我能吃吗")
    assert f"小王：{FACT}" not in prompt(world)
    await world.say("小暖，花生酥我能吃吗", group=GROUP)
    assert FACT in prompt(world)


async def test_a_shared_one_takes_the_place_of_the_same_and_is_kept_over_a_restart(world: World) -> None:
    await share(world)
    await world.say(f"记住{FACT}")
    await world.say(".ai mem share #2")
    assert world.peek.memories("id", "visibility", disabled_at=None) == [(2, "public")]
    assert world.peek.documents("ref", "scope", kind="memory") == [(2, "o1")]
    await world.restart()
    await world.say("小暖，我对花生过敏吗", group=GROUP)
    assert FACT in prompt(world)
