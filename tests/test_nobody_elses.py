"""What is somebody's, or of one chat, reaches nobody and no place beside it: by undoing, forgetting, tools, digests, notices."""

import json
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import SendError
from bot.core.events import Outgoing
from tests.fakes.model import calls
from tests.test_changes import happens
from tests.test_shared_digests import DAY, answering, digests, told
from tests.world import Talk, World

GROUP = "大群"


def tool_once(world: World, **arguments: object) -> None:
    """The model uses `remember` once in each turn and then repeats what it was told."""
    wish = ("remember", json.dumps(arguments, ensure_ascii=False))
    world.model.script = lambda request: (
        request.prompt.messages[-1].content if request.prompt.messages[-1].role == "tool" else calls(wish)
    )


async def test_in_a_group_nobody_takes_back_what_they_asked_elsewhere(world: World) -> None:
    await world.say("明天下午三点提醒我吃药")
    await world.say("小暖，撤销", group=GROUP)
    assert world.peek.reminders.count(ended_at=None) == 1
    assert "吃药" not in world.replies[-1]


async def test_in_a_group_only_what_was_said_there_is_looked_through(world: World) -> None:
    await world.say("昨天去看了牙医王大夫")
    await world.say("小暖，你好", group=GROUP)
    await world.say("小暖，忘记牙医王大夫", group=GROUP)
    assert "1 句话" not in world.replies[-1]
    await world.say("忘记牙医王大夫")
    assert "1 句话" in world.replies[-1]


async def test_what_nuan_concludes_in_a_group_is_known_in_that_group_alone(world: World) -> None:
    tool_once(world, kind="experience", text="先问预算再推荐餐馆")
    await world.say("小暖，我们去哪吃", group=GROUP)
    world.model.script = lambda _: "好的"
    for group in ("另一个群", ""):
        await world.say("小暖，去哪吃，预算多少，推荐餐馆", group=group)
        assert "先问预算" not in "\n".join(each.content for each in world.turns[-1])
    assert world.peek.memories("visibility", kind="experience") == [("chat",)]


async def test_what_was_said_in_a_group_is_corrected_in_private_for_oneself_alone(world: World) -> None:
    await world.say("小暖，记住我的工位在三楼", group=GROUP)
    tool_once(world, id=1, text="我的工位在五楼")
    await world.say("不对，我的工位在五楼")
    world.model.script = lambda _: "好的"
    await world.say("小暖，工位在哪", "小李", group=GROUP)
    assert "五楼" not in "\n".join(each.content for each in world.turns[-1])
    assert world.peek.memories("visibility", text="我的工位在五楼") == [("private",)]


async def test_a_groups_digest_is_shown_no_reminder_of_another_chat(world: World) -> None:
    answering(world, told("大家周末去爬山", 1))
    await world.say("后天下午三点提醒我看皮肤科")
    await world.say("小暖，大家周末去爬山", group=GROUP)
    await world.wait(DAY)
    assert any("爬山" in each for each in digests(world))
    assert not any("皮肤科" in each for each in digests(world))


async def test_a_promise_of_a_groups_digest_is_of_that_group(world: World) -> None:
    task = {"text": "小王周六带帐篷", "from": [1], "kind": "knowledge"}
    answering(world, {"summary": "约了爬山", "statements": [], "tasks": [task]})
    await world.say("小暖，我周六带帐篷，一定带", group=GROUP)
    await world.wait(DAY)
    assert world.peek.commitments("visibility") == [("chat",)]


class Refusing(Talk):
    """A platform that reaches nobody in private."""

    async def send(self, outgoing: Outgoing) -> tuple[str, ...]:
        """Only what everybody may read."""
        if outgoing.only_for:
            raise SendError("shut", "they wrote to nobody")
        return await super().send(outgoing)


async def test_what_one_person_alone_may_read_is_never_said_to_the_group_instead(tmp_path: Path) -> None:
    world = World(tmp_path, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}}))
    world.talk = Refusing()
    await world.open()
    await world.say("小暖，你好", group=GROUP)
    await world.say(".ai mem list", group=GROUP)
    assert len(world.replies) == 2
    assert "小王" in world.replies[-1], "a notice that something waits for them"
    assert "记" not in world.replies[-1]
    await world.close()


async def test_a_reminder_of_who_left_the_group_is_not_said_there(world: World) -> None:
    await world.say("小暖，明天下午三点提醒我交表", "阿明", group=GROUP)
    await happens(world, "leave", "", who="阿明", group=GROUP)
    world.talk.said.clear()
    await world.wait(2 * DAY)
    assert world.replies == []


async def test_who_was_denied_is_not_reminded_in_a_group_either(tmp_path: Path) -> None:
    sections = {"bot": {"timezone": "Asia/Shanghai"}, "telegram": {"allow": [f"group:{GROUP}"]}}
    world = await World(tmp_path, Settings.model_validate(sections), ("telegram",)).open()
    await world.say("小暖，明天下午三点提醒我交表", "贼", GROUP, platform="telegram")
    assert world.peek.reminders.count() == 1
    await world.say(".ai deny telegram:t-贼")
    world.talk.said.clear()
    await world.wait(2 * DAY)
    assert world.replies == []
    await world.close()
