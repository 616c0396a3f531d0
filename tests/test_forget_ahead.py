"""我跟你说件事，别记: what somebody announces so is answered, and kept nowhere."""

from dataclasses import replace

import pytest

from tests.fakes.model import calls
from tests.test_consent import memories, uses
from tests.world import World

SECRET, LATER = "我上个月去见了阿杰，没跟柏翰讲", "今天天气真好啊，陪我聊聊天吧，最近过得怎么样"


def shown(world: World) -> str:
    """All that the last request holds."""
    return "\n".join(message.content for message in world.turns[-1])


async def told_later(world: World) -> str:
    await world.wait(8 * 3_600)
    await world.say(LATER)
    return shown(world)


@pytest.mark.parametrize(
    ("announced", "receipt"),
    [
        ("我跟你说件事，听听就好，别记", "好，你接下来说的我不记"),
        ("我跟你講一件事 聽聽就好 不要存", "好，你接下來說的我不記"),
        ("gonna tell you something, don't save it", "All right, I won't keep what you tell me now"),
    ],
)
async def test_what_is_announced_so_is_answered_and_comes_back_nowhere(
    world: World, announced: str, receipt: str
) -> None:
    await world.say(announced)
    assert world.replies[-1].startswith(receipt)
    await world.wait(70)
    await world.say(SECRET)
    assert "阿杰" in shown(world)
    await world.wait(40)
    await world.say("就是吃了个饭，阿杰请的客")
    assert "阿杰" not in await told_later(world)


async def test_without_that_it_comes_back(world: World) -> None:
    await world.say(SECRET)
    assert "阿杰" in await told_later(world)


async def test_what_is_told_another_time_is_kept_again(world: World) -> None:
    await world.say("我跟你说件事，别记")
    await world.wait(3_600)
    await world.say(SECRET)
    assert "阿杰" in await told_later(world)


async def test_what_comes_a_while_after_it_is_kept_again(world: World) -> None:
    await world.say("我跟你说件事，别记")
    await world.say("我上个月偷偷去面试了")
    await world.wait(90)
    await world.say("对了，阿杰下周三从北京回来")
    assert "面试" not in (later := await told_later(world))
    assert "阿杰" in later


async def test_what_the_same_message_tells_is_answered_and_kept_nowhere(world: World) -> None:
    await world.say(f"我跟你说件事，别记。{SECRET}")
    assert world.replies[-1].startswith("好，你接下来说的我不记")
    assert "阿杰" not in await told_later(world)


async def test_a_command_between_ends_nothing(world: World) -> None:
    await world.say("我跟你说件事，别记")
    await world.say(".ai info")
    await world.say(SECRET)
    assert "阿杰" not in await told_later(world)


async def test_no_tool_keeps_what_is_told_then(world: World) -> None:
    await world.say("我跟你说件事，别记")
    wish = ("remember", '{"text": "我上个月去见了阿杰"}')
    world.model.script = lambda request: "好" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await world.say(SECRET)
    assert world.peek.memories.count() == 0


async def test_undo_takes_it_back(world: World) -> None:
    await world.say("我跟你说件事，别记")
    await world.say(SECRET)
    await world.say("撤销")
    assert "阿杰" in await told_later(world)


async def test_others_are_heard_as_ever(world: World) -> None:
    await world.say("小暖，我跟你说件事，别记", group="闲聊")
    await world.say("小暖，阿杰周五过生日，我要准备礼物", "小美", "闲聊")
    await world.wait(8 * 3_600)
    await world.say("小暖，今天天气真好啊，陪我聊聊天吧", "小美", "闲聊")
    assert "阿杰" in shown(world)


async def test_an_edit_of_what_is_told_then_is_kept_nowhere_too(world: World) -> None:
    await world.say("我跟你说件事，别记")
    told = replace(world.message("我上个月去见了一个人"), external_id="m1")
    await world.app.ingest.accept(told)
    await world.app.settled()
    edit = replace(world.message(SECRET), kind="event", label="edit", target="m1")
    await world.app.ingest.accept(edit)
    await world.app.settled()
    assert "阿杰" not in await told_later(world)


async def test_taken_back_it_takes_back_what_was_answered_too(world: World) -> None:
    await world.say("我跟你说件事，听听就好，别记")
    world.model.script = lambda request: "那家橘子汽水店我知道"
    await world.say(SECRET)
    await world.say("撤销")
    world.model.script = lambda request: "好的"
    assert [row[0] for row in world.rows("SELECT off_record FROM event WHERE text LIKE '%橘子汽水%'")] == [0]
    assert "橘子汽水" in await told_later(world)


async def test_what_was_set_aside_before_no_tool_keeps_with_the_next_wish(world: World) -> None:
    await world.say("我上个月去见了阿杰")
    await world.say("刚才那句别记")
    uses(world, "remember", text="我上个月去见了阿杰")
    await world.say("记住我这周要早睡。你觉得阿杰怎么样？")
    assert memories(world) == ["我这周要早睡"]
