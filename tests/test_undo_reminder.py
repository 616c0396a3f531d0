"""撤销 takes back the last wish of any kind, a reminder too."""

import pytest

from tests.peek import Other
from tests.world import World


def open_reminders(world: World) -> list[object]:
    return [row[0] for row in world.peek.reminders("text", ended_at=None)]


@pytest.mark.parametrize(
    ("wish", "undo", "said"),
    [("提醒我明天下午三点交房租", "撤销", "交房租"), ("remind me tomorrow at 3pm to pay rent", "undo", "pay rent")],
)
async def test_a_reminder_that_was_asked_for_last_is_taken_back(world: World, wish: str, undo: str, said: str) -> None:
    await world.say("记住我对花生过敏")
    await world.wait(60)
    await world.say(wish)
    assert open_reminders(world) == [said]
    await world.say(undo)
    assert said in world.replies[-1]
    assert open_reminders(world) == []
    assert world.peek.memories.count(disabled_at=None) == 1


async def test_what_was_kept_after_it_goes_first(world: World) -> None:
    await world.say("提醒我明天下午三点交房租")
    await world.wait(60)
    await world.say("记住我对花生过敏")
    await world.say("撤销")
    assert len(open_reminders(world)) == 1
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_both_reminders_of_one_message_go_together(world: World) -> None:
    await world.say("提醒我明天上午九点交房租，后天上午九点取快递")
    assert len(open_reminders(world)) == 2
    await world.say("撤销")
    assert open_reminders(world) == []


@pytest.mark.parametrize("cancel", ["取消提醒 ⏰1", "取消 ⏰1", ".ai remind cancel ⏰1", ".ai remind cancel 1"])
async def test_a_reminder_that_was_cancelled_comes_back(world: World, cancel: str) -> None:
    await world.say("提醒我明天下午三点交房租")
    await world.say(cancel)
    assert open_reminders(world) == []
    await world.wait(60)
    await world.say("撤销")
    assert world.replies[-1] == "好，还是会提醒你：⏰1 交房租"
    await world.wait(2 * 86_400)
    assert world.replies[-1] == "提醒你：交房租"


async def test_a_cancelled_one_that_is_forgotten_does_not(world: World) -> None:
    await world.say("陈朗是我房东")
    await world.say(".ai remind 明天15:00 给陈朗交房租")
    await world.say("取消提醒 ⏰1")
    await world.say("忘记关于陈朗的一切")
    await world.say("撤销 ⏰1")
    assert open_reminders(world) == []
    assert world.peek.reminders.count(text=Other("")) == 0


@pytest.mark.parametrize(
    ("promise", "undo"), [("我答应周五前把报告交给老王", "撤销"), ("我答应周五前把报告交给老王", "撤销 ✓1")]
)
async def test_a_promise_is_taken_back_and_so_is_its_end(world: World, promise: str, undo: str) -> None:
    await world.say(promise)
    await world.wait(60)
    await world.say(".ai promise done ✓1")
    await world.wait(60)
    await world.say(undo)
    assert world.replies[-1] == f"好，还没做：✓1 {promise}"
    assert world.peek.commitments("state") == [("pending",)]
    await world.wait(60)
    await world.say("撤销 ✓1")
    assert world.replies[-1] == f"好，就当没答应过：✓1 {promise}"
    assert world.peek.commitments("text") == [("",)]


async def test_how_somebody_is_called_is_taken_back_too(world: World) -> None:
    await world.say("叫我阿明")
    await world.wait(60)
    await world.say("撤销")
    assert world.peek.memories.count(disabled_at=None) == 0


@pytest.mark.parametrize("wish", ["忘记 ⏰1", "forget ⏰1", "刪掉 ⏰1"])
async def test_a_sign_names_the_reminder_and_not_the_memory_of_that_number(world: World, wish: str) -> None:
    await world.say("记住我对花生过敏")
    await world.say("提醒我明天下午三点交房租")
    await world.say(wish)
    assert open_reminders(world) == []
    assert world.peek.memories.count(disabled_at=None) == 1


@pytest.mark.parametrize(
    ("set_as", "moved_to", "undo", "back"),
    [
        ("每天晚上十点提醒我吃药", "改成早上八点", "撤销", "好，改回来了：⏰1 吃药，每天晚上10:00"),
        ("明天下午三点提醒我开会", "改成五点", "撤销 ⏰1", "好，改回来了：⏰1 开会，周六（6月13日）下午3:00"),
    ],
)
async def test_a_reminder_that_was_moved_is_moved_back(
    world: World, set_as: str, moved_to: str, undo: str, back: str
) -> None:
    await world.say(set_as)
    before = world.peek.reminders("due_at", "rule")
    await world.wait(60)
    await world.say(moved_to)
    assert world.peek.reminders("due_at", "rule") != before
    await world.say(undo)
    assert world.replies[-1] == back
    assert world.peek.reminders("due_at", "rule") == before
    await world.say(undo)
    assert open_reminders(world) == [], "and then it is taken back"


async def test_what_was_to_be_said_before_now_is_not_moved_back(world: World) -> None:
    await world.say("一小时后提醒我喝水")
    await world.say("改成明天早上九点")
    await world.wait(2 * 3_600)
    await world.say("撤销")
    assert open_reminders(world) == ["喝水"]
