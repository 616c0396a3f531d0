"""忘记 follows what was made from a message: replies, experiences, digests, and the command itself."""

import pytest

from tests.fakes.model import calls, says
from tests.peek import Like
from tests.world import World


def everything_sent(world: World, since: int) -> str:
    """All that the model was sent from request number `since` on."""
    return "".join(message.content for prompt in world.prompts[since:] for message in prompt)


async def test_the_reply_to_a_forgotten_message_is_gone_with_it(world: World) -> None:
    world.model.script = lambda request: "好的，4711，我放在心里了"
    await world.say("记住我的门禁码是4711。你记得了吗？")
    world.model.script = lambda request: "嗯"
    await world.say("忘记我的门禁码是4711")
    asked = len(world.prompts)
    await world.say("今天天气不错")
    assert "4711" not in everything_sent(world, asked)
    assert world.peek.events.count(text=Like("%4711%")) == 0


async def test_a_second_forgetting_does_not_bring_the_words_back(world: World) -> None:
    await world.say("记住我的秘密是紫藤路口")
    await world.say("忘记我的秘密是紫藤路口")
    await world.say("忘记我的秘密是紫藤路口")
    await world.say("在吗")
    assert "紫藤" not in everything_sent(world, 0)


async def test_an_experience_drawn_from_a_forgotten_memory_goes_too(world: World) -> None:
    await world.say("记住我非常怕狗")
    await world.say("/new")
    world.model.script = lambda request: (
        says("好")
        if request.prompt.messages[-1].role == "tool"
        else calls(("remember", '{"text": "别提犬类", "kind": "experience"}'))
    )
    await world.say("今天聊点什么呢")
    assert world.peek.memories.count(source="tool", disabled_at=None) == 1
    world.model.script = lambda request: "好"
    await world.say("忘记我非常怕狗")
    await world.say("/new")
    asked = len(world.prompts)
    await world.say("早上好")
    assert "犬类" not in everything_sent(world, asked)


async def test_a_paraphrase_in_a_digest_is_made_again_without_it(world: World) -> None:
    world.model.digests = True
    summary = '{"summary": "小王非常怕狗这种犬科", "statements": []}'
    world.model.script = lambda request: "嗯嗯" if request.prompt.tools else summary
    await world.say("记住我非常怕狗。为什么会这样呢？")
    for text in (
        "真的，我非常怕狗",
        "昨天路上遇到一只特别大的，差点吓哭了",
        "后来邻居把它牵走了，我才敢回家去",
        "你觉得我应该怎么办才好呢",
        "我想先从看照片开始慢慢练习",
    ):
        await world.say(text)
    await world.say("/new")
    assert world.peek.digests("summary") == [("小王非常怕狗这种犬科",)]
    await world.say("忘记我非常怕狗")
    await world.wait(1)
    assert "犬科" not in str(world.peek.digests("summary"))


async def test_who_forgets_very_much_is_told_the_first_numbers_and_how_many_more(world: World) -> None:
    for number in range(10, 33):
        await world.say(f"记住第{number}号柜子的密码是{number * 7919}")
    await world.say("忘记关于我的一切")
    await world.say("全部")
    said = {23 - n: f"“第{32 - n}号柜子的密码是{(32 - n) * 7919}”" for n in range(3)}
    shown = " ".join(f"#{number}{said.get(number, '')}" for number in range(23, 3, -1))
    assert world.replies[-1] == f"好，忘掉了 {shown} 和另外 3 条。7 天内说“撤销”还能找回来"
    assert world.peek.memories.count(disabled_at=None) == 0
    await world.say("撤销")
    assert len(world.replies[-1].splitlines()) == 21
    assert world.replies[-1].endswith("……还有 3 条")
    assert world.peek.memories.count(disabled_at=None) == 23
    assert not world.app._store.tombstones.covers("第12号柜子的密码是95028")


async def test_the_receipt_says_what_else_of_the_same_line_goes_with_it(world: World) -> None:
    world.model.digests = True
    said = '{"summary": "", "statements": [{"text": "周末去苏州", "who": "小王", "from": [1]}, {"text": "养了一只猫", "who": "小王", "from": [1]}]}'
    world.model.script = lambda request: "嗯嗯" if request.prompt.tools else said
    for text in ("我周末去苏州，我养了一只猫", "昨天路上遇到一只特别大的狗", "后来邻居把它牵走了", "我才敢回家去"):
        await world.say(text)
    await world.say("/new")
    assert world.peek.memories("text", disabled_at=None) == [("周末去苏州",), ("养了一只猫",)]
    await world.say("忘记 #1")
    assert world.replies[-1].splitlines() == [
        "好，忘掉了 #1“周末去苏州”。7 天内说“撤销 #1”还能找回来",
        "同一句话里记下的也一起忘掉了：#2“养了一只猫”",
    ]
    assert world.peek.memories.count(disabled_at=None) == 0


@pytest.mark.parametrize("wish", ["忘记我怕狗的事", "忘記我怕狗的事", "忘记 #1"])
async def test_what_nuan_said_later_knowing_a_memory_goes_however_it_is_asked(world: World, wish: str) -> None:
    """By its number, or with all that was said of the matter: the words of the memory reach farther than the line's."""
    world.model.digests = True
    said = '{"summary": "大黄吓过阿宁", "statements": [{"text": "阿宁怕狗", "who": "小王", "from": [1]}]}'
    world.model.script = lambda request: "嗯嗯" if request.prompt.tools else said
    await world.say("我怕狗，小时候被咬过一次")
    for line in ("昨天路上遇到一只特别大的", "后来邻居把它牵走了", "我才敢回家去"):
        await world.say(line)
    await world.say("/new")
    world.model.script = lambda request: (
        "阿宁别怕，大黄走了" if request.prompt.tools else '{"summary": "", "statements": []}'
    )
    await world.say("今天去公园散步了，天气不错")
    assert "阿宁怕狗" in str(world.peek.memories("text", disabled_at=None))
    world.model.script = lambda request: "好"
    await world.say(wish)
    asked = len(world.prompts)
    await world.say("在吗，我又来了")
    assert "大黄" not in everything_sent(world, asked) + str(world.peek.events("text")) + str(
        world.peek.digests("summary")
    )


async def test_what_nuan_said_in_a_talk_whose_log_is_gone_by_its_age_goes_too(world: World) -> None:
    """Else it comes back when the talk is digested again."""
    world.model.script = lambda request: "阿宁别怕，大黄走了"
    await world.say("记住阿宁怕狗。为什么会这样呢？")
    for line in ("昨天路上遇到一只特别大的", "后来邻居把它牵走了", "我才敢回家去"):
        await world.say(line)
    await world.wait(9 * 86_400)
    assert world.peek.entries.count() == 0
    assert "大黄" in str(world.peek.events("text"))
    world.model.script = lambda request: "好"
    await world.say("忘记 #1")
    assert "大黄" not in str(world.peek.events("text"))
