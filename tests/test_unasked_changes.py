"""Nothing changes by what nobody asked for: forwarded lines, others' words, other chats, guesses, turns of nuan's own."""

import json

import pytest

from bot.core.models import ModelRequest
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls
from tests.joining import EAGER, talk
from tests.test_changes import happens
from tests.test_shared_digests import DAY, answering, told
from tests.world import World


async def test_a_forwarded_introduction_names_nobody(world: World) -> None:
    await world.say("你好，我叫小陈，刚搬来成都", forwarded=True)
    assert world.peek.memories.count() == 0
    assert not any("小陈" in reply for reply in world.replies)


async def test_a_forwarded_line_answers_no_question(world: World) -> None:
    await world.say("记住")
    await world.say("我怕狗", forwarded=True)
    assert world.peek.memories.count() == 0


def saving_what_was_recalled(request: ModelRequest) -> Answer:
    """A model that looks into memory, saves what it finds there, and then repeats what it was told."""
    results = [each.content for each in request.prompt.messages if each.role == "tool"]
    if not results:
        return calls(("memory_recall", '{"query": "餐馆"}'))
    if len(results) == 1:
        wish = {"kind": "experience", "text": "推荐餐馆前先问阿明的预算"}
        return calls(("remember", json.dumps(wish, ensure_ascii=False)))
    return results[-1]


async def test_what_was_recalled_has_itself_saved_by_nobody(world: World) -> None:
    await world.say("记住推荐餐馆前先问阿明的预算")
    await world.say("/new")
    world.model.script = saving_what_was_recalled
    await world.say("你说去哪家餐馆")
    assert world.peek.memories.count(kind="experience") == 0
    assert len([one for one in world.model.requests if one.prompt.messages[-1].role == "tool"]) == 2


async def test_what_may_be_meant_is_shown_before_it_is_forgotten(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("忘记花生的过敏")
    assert world.peek.memories.count(disabled_at=None) == 1


async def test_a_deleted_request_sets_no_reminder(new_world: NewWorld) -> None:
    world = await new_world(speak={"debounce_seconds": 3})
    await world.app.ingest.accept(world.message("明天下午三点提醒我吃药", external_id="r1"))
    await happens(world, "delete", "r1")
    await world.wait(10)
    assert world.peek.reminders.count(ended_at=None) == 0
    assert not any("提醒" in reply for reply in world.replies)


async def test_what_was_not_asked_to_be_kept_is_not_taken_back_as_a_wish(world: World) -> None:
    await world.say("记住我怕狗")
    await world.store._database.write(lambda tx: tx.run("UPDATE memory SET asked = 0"))
    await world.say("撤销 #1")
    assert world.peek.memories.count(disabled_at=None) == 1


async def test_another_persons_promise_stays_when_somebody_wants_their_line_off_the_record(world: World) -> None:
    await world.say("小暖，我答应周五把书还给阿红", "阿明", group="大群")
    assert world.peek.commitments.count() == 1
    await world.say("小暖，别记这个", "小李", group="大群")
    assert world.peek.commitments.count(ended_at=None) == 1


async def test_what_was_drawn_from_a_line_goes_when_it_is_off_the_record(world: World) -> None:
    answering(world, told("小王在学吉他", 1))
    await world.say("我最近在学吉他", external_id="m1")
    await world.wait(DAY)
    assert world.peek.memories.count(source="digest", disabled_at=None) == 1
    await world.say("别记这个", target="m1")
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_a_turn_of_nuans_own_changes_nothing(new_world: NewWorld) -> None:
    world = await new_world(speak=EAGER)
    wish = ("remember", json.dumps({"kind": "experience", "text": "大家周末都喜欢吃西瓜"}, ensure_ascii=False))
    world.model.script = lambda request: "好吃" if request.prompt.messages[-1].role == "tool" else calls(wish)
    await talk(world, ("阿明", "今天好热"), ("阿红", "谁想吃西瓜？"), ("小李", "我想吃"))
    await world.wait(400)
    assert any(request.prompt.tools for request in world.model.requests), "nuan entered by herself"
    assert world.peek.memories.count() == 0


@pytest.mark.parametrize(
    ("wish", "told", "yes"),
    [
        ("全部忘记", "9 条", "全部忘掉"),
        ("清空记忆", "9 条", "全部忘掉"),
        ("清除記憶", "9 條", "全部忘掉"),
        ("forget everything", "9 things", "All of them"),
    ],
)
async def test_before_all_goes_it_is_said_how_much_that_is(world: World, wish: str, told: str, yes: str) -> None:
    for number in range(9):
        await world.say(f"记住我怕妖怪{number}号")
        await world.wait(20)
    await world.say(wish)
    await world.say("算了")
    await world.say(wish)
    assert told in world.replies[-1]
    assert "妖怪8号" in world.replies[-1]
    assert world.talk.said[-1].buttons[0].text == yes
    assert world.peek.memories.count(disabled_at=None) == 9
    await world.say(yes)
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_before_all_about_a_name_goes_the_lines_that_tell_of_it_are_shown(world: World) -> None:
    await world.say("我老板今天又骂人了")
    await world.say("记住我老板姓周")
    await world.say("忘记老板")
    assert "“我老板今天又骂人了”" in world.replies[-1]


FORGETS, KEEPS = ("forget", '{"text": "长安街12号"}'), ("remember", '{"text": "新地址是建国路5号"}')


@pytest.mark.parametrize("asked", [(FORGETS, KEEPS), (KEEPS, FORGETS)])
async def test_what_is_told_behind_a_wish_to_forget_may_be_kept(
    world: World, asked: tuple[tuple[str, str], ...]
) -> None:
    await world.say("我之前住长安街12号")
    left = [calls(one) for one in asked]
    world.model.script = lambda request: left.pop(0) if left else "好的"
    await world.say("忘了我的旧地址吧，新地址是建国路5号")
    assert world.peek.memories("text", disabled_at=None) == [("新地址是建国路5号",)]
    assert "“我之前住长安街12号”我不记" in world.replies[-1]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["我之前住长安街12号，麻烦把旧地址忘掉吧，风好大"], "我之前住长安街12号"),
        (["昨晚我和老公大吵了一架，杯子都砸了", "你忘了这事吧，今天风好大"], "昨晚我和老公大吵了一架"),
        (["我喜欢狗，不过别记这个哦"], "我喜欢狗"),
        (["忘了我住长安街12号吧，我搬家了"], "我从长安街12号搬家了"),
    ],
)
@pytest.mark.parametrize("first", ["remember", "forget"])
async def test_what_is_to_be_forgotten_is_not_kept_by_a_model(
    world: World, lines: list[str], text: str, first: str
) -> None:
    wish = json.dumps({"text": text}, ensure_ascii=False)
    for line in lines[:-1]:
        await world.say(line)
    left = [calls((name, wish)) for name in (first, "remember")]
    world.model.script = lambda request: left.pop(0) if left else "好的"
    await world.say(lines[-1])
    assert world.peek.memories.count(disabled_at=None) == 0


async def test_what_came_with_a_wish_to_forget_it_is_not_kept_by_a_model(world: World) -> None:
    world.shut()
    for line in ("在吗", "我之前住长安街12号", "麻烦把旧地址忘掉吧，今天风好大"):
        await world.app.ingest.accept(world.message(line))
        await world.held()
    left = [calls(("remember", '{"text": "我之前住长安街12号"}'))]
    world.model.script = lambda request: left.pop(0) if "风好大" in str(request.prompt) and left else "好的"
    await world.let_answer()
    assert left == []
    assert world.peek.memories.count() == 0
