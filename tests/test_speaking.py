"""When nuan speaks in a conversation: calls, windows, follow-ups and the switch, on the simulated clock."""

from dataclasses import replace

import pytest

from bot.core.events import Sender
from tests.world import World

GROUP = "闲聊"


async def test_a_group_line_without_a_call_is_only_heard(world: World) -> None:
    await world.say("今天好热", "阿明", GROUP)
    await world.wait(120)
    assert world.replies == []


@pytest.mark.parametrize("text", ["小暖，在吗", "早上好小暖", "暖暖你觉得呢", "nuan, are you there?", "晚安啦 nuan"])
async def test_a_name_at_the_start_or_the_end_calls(world: World, text: str) -> None:
    await world.say(text, "阿明", GROUP)
    assert world.replies == ["好的"]


@pytest.mark.parametrize("text", ["that is a nuance of it", "我觉得小暖的声音好听", "nuances matter"])
async def test_a_name_within_the_talk_does_not_call(world: World, text: str) -> None:
    await world.say(text, "阿明", GROUP)
    await world.wait(60)
    assert world.replies == []


async def test_a_mention_and_a_reply_call(world: World) -> None:
    await world.say("你怎么看", "阿明", GROUP, mentions_bot=True)
    await world.say("我不同意", "阿红", GROUP, replies_to_bot=True)
    assert len(world.replies) == 2


async def test_every_line_of_a_dm_is_answered(world: World) -> None:
    await world.say("你好", "阿明")
    await world.say("在忙吗", "阿明")
    assert len(world.replies) == 2


async def test_a_follow_up_waits_for_five_seconds_of_silence(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.wait(4)
    assert len(world.replies) == 1
    await world.wait(1)
    assert len(world.replies) == 2


async def test_each_line_of_the_same_person_begins_the_five_seconds_anew_and_all_are_one_turn(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    for text in ("我想说", "就是昨天那件事", "你还记得吗"):
        await world.say(text, "阿明", GROUP)
        await world.wait(4)
    assert len(world.replies) == 1
    await world.wait(1)
    assert len(world.replies) == 2
    assert all(text in world.last_user for text in ("我想说", "就是昨天那件事", "你还记得吗"))


async def test_other_peoples_lines_neither_re_arm_nor_delay_a_follow_up(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.wait(3)
    await world.say("今天吃什么", "阿红", GROUP)
    await world.wait(1.9)
    assert len(world.replies) == 1
    await world.wait(0.1)
    assert len(world.replies) == 2
    await world.wait(30)
    assert len(world.replies) == 2


async def test_two_follow_ups_each_keep_their_own_five_seconds(world: World) -> None:
    for who in ("阿明", "阿红"):
        await world.say("小暖，在吗", who, GROUP)
    await world.say("明有话说", "阿明", GROUP)
    await world.wait(3)
    await world.say("红也有话说", "阿红", GROUP)
    await world.wait(2)
    assert len(world.replies) == 3
    assert "明有话说" in world.last_user
    await world.wait(2.9)
    assert len(world.replies) == 3
    await world.wait(0.1)
    assert len(world.replies) == 4
    assert "红也有话说" in world.last_user


async def test_everything_due_in_the_chat_is_one_turn(world: World) -> None:
    for who in ("阿明", "阿红"):
        await world.say("小暖，在吗", who, GROUP)
    await world.say("明：第一件", "阿明", GROUP)
    await world.say("红：第二件", "阿红", GROUP)
    await world.wait(5)
    assert len(world.replies) == 3
    assert "第一件" in world.last_user
    assert "第二件" in world.last_user


async def test_a_new_call_takes_the_pending_follow_up_with_it(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.wait(2)
    await world.say("小暖，听我说", "阿明", GROUP)
    assert len(world.replies) == 2
    assert "我想说" in world.last_user
    assert "听我说" in world.last_user
    await world.wait(20)
    assert len(world.replies) == 2


async def test_a_window_ends_sixty_seconds_after_the_reply(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.wait(59)
    await world.say("还在", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 2
    await world.wait(60)
    await world.say("我走了", "阿明", GROUP)
    await world.wait(60)
    assert len(world.replies) == 2


async def test_a_follow_up_keeps_the_window_open(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    for number in range(5):
        await world.wait(50)
        await world.say(f"第{number}句", "阿明", GROUP)
        await world.wait(5)
    assert len(world.replies) == 6


async def test_a_late_reply_keeps_the_window_open_from_when_it_is_said(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message("小暖，在吗", "阿明", GROUP))
    await world.held()
    await world.wait(50)
    await world.let_answer()
    await world.wait(50)
    await world.say("好的呀", "阿明", GROUP)
    await world.wait(5)
    assert len(world.replies) == 2


async def test_a_window_belongs_to_one_person_in_one_chat(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("插一句", "阿红", GROUP)
    await world.say("这边呢", "阿明", "别的群")
    await world.wait(30)
    assert len(world.replies) == 1


async def test_windows_end_by_deadline_without_another_message(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    assert world.peek.windows.count() == 1
    await world.wait(61)
    assert world.peek.windows.count() == 0


async def test_a_line_to_someone_else_is_no_follow_up(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("阿红你来一下", "阿明", GROUP, addresses_other=True)
    await world.wait(30)
    assert len(world.replies) == 1


async def test_forwarded_text_calls_nobody_in_a_group(world: World) -> None:
    await world.say("小暖，快回答", "阿明", GROUP, forwarded=True)
    await world.wait(30)
    assert world.replies == []


async def test_switched_off_she_hears_but_does_not_speak_until_switched_on(world: World) -> None:
    await world.say(".ai off", "小王", GROUP)
    await world.say("小暖，暗号是蓝鲸", "阿明", GROUP)
    await world.wait(60)
    assert len(world.turns) == 0
    await world.say(".ai on", "小王", GROUP)
    await world.say("小暖，暗号是什么", "阿明", GROUP)
    assert len(world.turns) == 1
    assert "蓝鲸" in world.last_user


async def test_a_pending_follow_up_survives_a_crash(world: World) -> None:
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.wait(2)
    await world.crash()
    assert len(world.replies) == 1
    await world.wait(3)
    assert len(world.replies) == 2
    assert "我想说" in world.last_user


async def test_a_second_copy_of_a_delivery_is_not_answered_twice(world: World) -> None:
    for _ in range(3):
        await world.say("你好", delivery_key="console:1")
    assert len(world.replies) == 1


async def test_a_bot_that_only_says_her_name_is_not_answered(world: World) -> None:
    incoming = world.message("小暖，在吗", "机器人", GROUP)
    await world.app.ingest.accept(replace(incoming, sender=Sender("console", "person:机器人", "机器人", is_bot=True)))
    await world.settled()
    await world.wait(30)
    assert world.replies == []
