"""What is forgotten or deleted goes out of notes, out of file, name and index, also when somebody edited the file."""

from bot.core.archive import FrontMatter, NoteChunk, ReadNoteFile
from bot.core.events import Incoming
from bot.core.events import Place as EventPlace
from tests.noting import dm, found, group, look, notes, on_disk, put
from tests.world import World

CANARY = "紫藤路口47号"


async def talked(world: World, *texts: str) -> None:
    """A talk with these messages, of which `/new` left a note."""
    world.model.script = lambda request: "好的"
    for number, text in enumerate(texts):
        await world.say(text, external_id=f"m{number}")
    await world.say("/new")
    await look(world)


async def delete(world: World, number: int) -> None:
    """A message is deleted on its platform."""
    place = EventPlace("console", "local", "dm")
    await world.app.ingest.accept(Incoming(place, None, "event", "", "delete", target=f"m{number}"))
    await world.app.settled()


async def test_a_deleted_message_goes_out_of_its_note(world: World) -> None:
    await talked(world, "今天去散步", f"我住在{CANARY}", "晚饭吃面")
    (name,) = notes(world)
    await delete(world, 1)
    assert on_disk(world, CANARY) == []
    (text,) = notes(world).values()
    assert "今天去散步" in text
    assert "晚饭吃面" in text
    ((number,),) = world.peek.events("id", external_id="m1")
    assert str(number) not in text.splitlines()[3].replace("-", " ").replace(",", " ").split()
    await look(world)
    assert found(world, dm(world), "晚饭吃面") == [f"notes/{name}#L6-12"]


async def test_the_name_of_a_note_goes_with_the_message_that_it_is_named_after(world: World) -> None:
    await talked(world, f"我住在{CANARY}", "晚饭吃面")
    assert CANARY in next(iter(notes(world)))
    await delete(world, 0)
    assert on_disk(world, CANARY) == []
    assert list(notes(world)) == ["2026-06-12-talk-1.md"]
    await look(world)
    assert found(world, dm(world), "晚饭吃面") != []
    assert CANARY not in str(world.log.lines)


async def test_a_note_of_which_nothing_is_left_is_removed(world: World) -> None:
    await talked(world, f"我住在{CANARY}")
    await delete(world, 0)
    assert notes(world) == {}
    assert world.peek.notes.count() == 0


async def test_forgetting_for_good_leaves_nothing_on_disk(world: World) -> None:
    await talked(world, f"记住我住在{CANARY}", "晚饭吃面")
    await world.say(f"彻底忘记我住在{CANARY}")
    assert on_disk(world, CANARY) == []
    assert "晚饭吃面" in "".join(notes(world).values())


async def test_forgetting_reaches_a_file_that_was_edited(world: World) -> None:
    await talked(world, f"我住在{CANARY}，知道怎么走吗？", "晚饭吃面")
    await world.say(f"记住我住在{CANARY}")
    (name,) = notes(world)
    text = notes(world)[name]
    put(world, f"notes/{name}", text.replace("小王: 我住在", "小王说，她住在") + f"\n搬家：{CANARY}\n我的想法\n")
    await world.say(f"忘记我住在{CANARY}")
    (left,) = notes(world).values()
    assert CANARY not in left
    assert left.endswith("- 09:00 小王: 晚饭吃面\n- 09:00 小暖: 好的\n\n我的想法\n")
    await look(world)
    (told,) = world.log.named("note_lines_forgotten")
    assert (told["lines"], told["how"]) == (3, "edited")
    assert found(world, dm(world), CANARY) == []


async def test_a_file_that_is_no_text_any_more_is_reached_too(world: World) -> None:
    await talked(world, f"记住我住在{CANARY}", "晚饭吃面")
    (name,) = notes(world)
    file = world.folder / "notes" / name
    file.write_bytes(file.read_bytes() + b"\xff\xfe\n")
    await look(world)
    await world.say(f"忘记我住在{CANARY}")
    (left,) = (world.folder / "notes").iterdir()
    assert b"\xff\xfe" in left.read_bytes()
    assert CANARY not in str(left)
    assert CANARY.encode() not in left.read_bytes()


async def test_what_an_owner_wrote_by_hand_stays_but_is_told_no_more(world: World) -> None:
    await world.say(f"记住我住在{CANARY}")
    put(world, "MEMORY.md", f"# 我\n\n- 住在{CANARY}\n- 喜欢荷花\n")
    await look(world)
    assert found(world, dm(world), CANARY)
    await world.say(f"忘记我住在{CANARY}")
    assert found(world, dm(world), CANARY) == []
    await look(world)
    assert found(world, dm(world), CANARY) == []
    assert found(world, dm(world), "荷花") == ["MEMORY.md#L1-4"]
    part = await world.app._services.notes.read(dm(world), "MEMORY.md")
    assert part is not None
    assert CANARY not in part.text
    assert [fields["how"] for fields in world.log.named("note_lines_forgotten")] == ["hushed"]
    put(world, "MEMORY.md", f"# 我的\n\n- 住在{CANARY}\n")
    await look(world)
    assert found(world, dm(world), CANARY) == []


async def test_a_note_from_a_backup_brings_nothing_back(world: World) -> None:
    await talked(world, f"我住在{CANARY}", "晚饭吃面")
    ((name, text),) = notes(world).items()
    await delete(world, 0)
    put(world, f"notes/{name}", text)
    await look(world)
    assert found(world, dm(world), CANARY) == []


async def test_a_note_that_was_put_back_is_still_made_of_its_messages(world: World) -> None:
    await talked(world, "今天去散步", f"我住在{CANARY}")
    ((name, text),) = notes(world).items()
    (world.folder / "notes" / name).unlink()
    await look(world)
    assert world.peek.note_lines.count() == 0
    put(world, f"notes/{name}", text)
    await look(world)
    await delete(world, 1)
    assert on_disk(world, CANARY) == []


async def test_what_one_chat_forgets_another_keeps(world: World) -> None:
    await world.say("小暖，你好", group="花友会")
    garden = group(world, "花友会")
    put(world, "notes/g.md", f"---\nchat: {garden.chat_id}\nvisibility: chat\n---\n\n{CANARY}那里有一家花店\n")
    await talked(world, f"我住在{CANARY}")
    await world.say("小暖，记住紫藤路口47号有花店", group="花友会", who="小李")
    await world.say("小暖，忘记 #2", group="花友会", who="小李")
    await look(world)
    assert found(world, garden, CANARY) == []
    assert found(world, dm(world), CANARY) != []


async def test_a_line_that_is_deleted_while_its_note_is_read_does_not_return(world: World) -> None:
    await talked(world, f"我住在{CANARY}", "晚饭吃面")
    (name,) = notes(world)
    stamp = world.store.files.notes.read(f"notes/{name}", 10_000)[1]
    chat = dm(world).chat_id
    read = ReadNoteFile(
        f"notes/{name}",
        stamp,
        "hash",
        "400/80",
        FrontMatter(chat, "private"),
        (),
        0,
        (NoteChunk(1, 1, f"我住在{CANARY}"),),
    )
    await delete(world, 0)
    assert await world.store.notes.take(read) is False
    assert found(world, dm(world), CANARY) == []
