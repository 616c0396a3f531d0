"""What is edited reads in notes as it does now, and wishes to remember or forget stand in none."""

from tests.conftest import NewWorld
from tests.noting import dm, found, look, notes, put
from tests.test_flush import TALK, asked, opened, talk
from tests.world import World


async def edit(world: World, target: str, text: str) -> None:
    """Somebody edits their message on its platform."""
    sent = world.message(text)
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", text, "edit", target=target))
    await world.app.settled()
    await look(world)


async def talked(world: World, *texts: str) -> None:
    """A talk of which `/new` left a note."""
    world.model.script = lambda request: "好的"
    for number, text in enumerate(texts):
        await world.say(text, external_id=f"m{number}")
    await world.say("/new")
    await look(world)


def told(world: World) -> list[str]:
    """The lines of people in the only note."""
    (text,) = notes(world).values()
    return [line.partition(": ")[2] for line in text.splitlines() if "小王: " in line]


async def test_an_edited_message_reads_as_it_does_now(world: World) -> None:
    await talked(world, "今天去散步了", "我的车停在B2层37号", "晚饭吃面")
    await edit(world, "m1", "我的车停在B3层52号")
    assert told(world) == ["今天去散步了", "我的车停在B3层52号", "晚饭吃面"]
    assert (found(world, dm(world), "37号"), len(found(world, dm(world), "52号"))) == ([], 1)
    assert "B2层37号" not in str(notes(world))
    await edit(world, "m1", "我的车停在B4层")
    assert told(world)[1] == "我的车停在B4层"
    sent = world.message("")
    await world.app.ingest.accept(type(sent)(sent.place, None, "event", "", "delete", target="m1"))
    await world.app.settled()
    assert told(world) == ["今天去散步了", "晚饭吃面"]


async def test_the_name_of_a_note_does_not_keep_what_was_edited(world: World) -> None:
    await talked(world, "我住在紫藤路口", "晚饭吃面")
    await edit(world, "m0", "我搬家了")
    assert list(notes(world)) == ["2026-06-12-talk-1.md"]
    assert told(world) == ["我搬家了", "晚饭吃面"]


async def test_a_message_that_is_edited_into_a_wish_leaves_the_note(world: World) -> None:
    await talked(world, "今天去散步了", "我的门禁码是4711")
    await edit(world, "m1", "忘记我的门禁码是4711")
    assert told(world) == ["今天去散步了"]
    assert "4711" not in str(notes(world))


async def test_what_somebody_wrote_into_the_note_stays_theirs(world: World) -> None:
    await talked(world, "今天去散步了", "晚饭吃面")
    ((name, text),) = notes(world).items()
    put(world, f"notes/{name}", text.replace("晚饭吃面", "晚饭吃面（很好吃）"))
    await look(world)
    await edit(world, "m1", "晚饭吃饭")
    assert told(world) == ["今天去散步了", "晚饭吃面（很好吃）"]


async def test_what_a_model_kept_of_words_that_are_edited_away_goes(new_world: NewWorld) -> None:
    world = await opened(new_world)
    await world.say("小暖，我下周三坐高铁去杭州开会", external_id="m0")
    await talk(world, 2)
    (kept,) = notes(world).values()
    assert "- 我下周三坐高铁去杭州开会" in kept
    await edit(world, "m0", "小暖，我下周三坐高铁去杭州开会！")
    assert "".join(notes(world).values()) == kept
    await edit(world, "m0", "小暖，我下周四坐高铁去苏州开会")
    assert "杭州" not in "".join(notes(world).values())


async def flush_under_way(new_world: NewWorld) -> World:
    """A log whose flush waits for the model; the first thing said, m0, is what the model is going to keep."""
    world, sent = await opened(new_world), 0
    await world.say(f"小暖，{TALK[0]}", external_id="m0")
    while not asked(world):
        await world.say(f"小暖，{TALK[1]}，第{sent}次说")
        sent += 1
    world = await opened(new_world)
    await world.say(f"小暖，{TALK[0]}", external_id="m0")
    for number in range(sent - 1):
        await world.say(f"小暖，{TALK[1]}，第{number}次说")
    world.shut()
    await world.app.ingest.accept(world.message(f"小暖，{TALK[1]}，第{sent - 1}次说"))
    await world.held()
    await world.answer_one()
    assert len(asked(world)) == 1
    return world


async def test_what_is_edited_while_the_model_writes_is_not_kept(new_world: NewWorld) -> None:
    world = await flush_under_way(new_world)
    sent = world.message("小暖，我下周四坐高铁去苏州开会")
    await world.app.ingest.accept(type(sent)(sent.place, sent.sender, "event", sent.text, "edit", target="m0"))
    await world.held()
    await world.let_answer()
    assert not (world.folder / "notes").exists()


async def test_unless_it_is_edited_it_is_kept(new_world: NewWorld) -> None:
    world = await flush_under_way(new_world)
    await world.let_answer()
    assert TALK[0] in "".join(notes(world).values())


async def test_wishes_stand_in_no_note_but_what_else_was_said_with_them_does(world: World) -> None:
    await talked(
        world,
        "今天去散步了",
        "记住我喜欢荷花",
        "/remember 我怕狗",
        "以后叫我阿明吧",
        "记住我怕冷。明天会下雨吗？",
        "忘记我喜欢荷花",
        "/forget 我怕狗",
        "撤销",
        "别记仇啊",
        "晚饭吃面",
    )
    assert told(world) == ["今天去散步了", "明天会下雨吗？", "别记仇啊", "晚饭吃面"]


async def test_a_talk_of_nothing_but_wishes_leaves_no_note(world: World) -> None:
    world.model.script = lambda request: "好的"
    await world.say("记住我喜欢荷花")
    await world.say("/new")
    assert not (world.folder / "notes").exists()
