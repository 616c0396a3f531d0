"""`/new` leaves a note of the last messages of the talk, for those who could read that, and never over another."""

from tests.conftest import NewWorld
from tests.noting import dm, found, group, look, notes, put
from tests.world import World


async def test_new_writes_the_talk_down_for_its_person(world: World) -> None:
    world.model.script = lambda request: "听起来真好"
    await world.say("小暖，我们下周去西湖看荷花吧", who="小李")
    await world.wait(60)
    await world.say("记得带伞", who="小李")
    await world.say("/new", who="小李")
    ((name, text),) = notes(world).items()
    chat = dm(world, "小李").chat_id
    assert name == "2026-06-12-我们下周去西湖看荷花吧.md"
    first, *events = [str(row[0]) for row in world.peek.events("id", hidden="")]
    assert text == (
        f"---\nchat: {chat}\nvisibility: private\nevents: {first}-{events[2]}\n---\n\n# 2026-06-12 09:00\n\n"
        "- 09:00 小李: 小暖，我们下周去西湖看荷花吧\n- 09:00 小暖: 听起来真好\n"
        "- 09:01 小李: 记得带伞\n- 09:01 小暖: 听起来真好\n"
    )
    assert found(world, dm(world, "小李"), "荷花") == [f"notes/{name}#L6-12"]
    assert (world.folder / "notes" / name).stat().st_mode & 0o777 == 0o600
    await world.say("在吗")
    assert found(world, dm(world), "荷花") == []


async def test_a_group_keeps_its_note_to_itself(world: World) -> None:
    await world.say("小暖，紫藤开了", who="小李", group="花友会")
    await world.say("小暖，你好", who="小李", group="读书会")
    await world.say("你好", who="小李")
    await world.say("/new", who="小李", group="花友会")
    assert "visibility: chat" in "".join(notes(world).values())
    assert len(found(world, group(world, "花友会"), "紫藤")) == 1
    assert found(world, group(world, "读书会"), "紫藤") == found(world, dm(world, "小李"), "紫藤") == []


async def test_the_last_fifteen_without_commands_and_what_is_gone(world: World) -> None:
    await world.say("记住我的门禁码是4711")
    for number in range(12):
        await world.say(f"第{number}句话")
    await world.say(".ai budget show")
    await world.say("忘记我的门禁码是4711")
    await world.say("/new")
    (text,) = notes(world).values()
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == 15
    assert lines[-2].endswith("小王: 第11句话")
    assert "4711" not in text
    assert "budget" not in text
    assert "/new" not in text


async def test_a_note_is_never_written_over(world: World) -> None:
    put(world, "notes/2026-06-12-周末去爬香山.md", "我自己的")
    for text in ("好", "周末去爬香山"):
        await world.say("周末去爬香山")
        await world.say(text)
        await world.say("/new")
    assert list(notes(world)) == [
        "2026-06-12-周末去爬香山-2.md",
        "2026-06-12-周末去爬香山-3.md",
        "2026-06-12-周末去爬香山.md",
    ]
    assert notes(world)["2026-06-12-周末去爬香山.md"] == "我自己的"


async def test_a_crash_in_between_leaves_one_note(world: World) -> None:
    await world.say("周末去爬香山")
    session = await world.store.sessions.open_session(1)
    assert session is not None
    await world.say("/new")
    # As if the kill had come after the file and before the commit: the command is carried out once more.
    await world.store.close()
    await world.crash()
    for statement in (
        "DELETE FROM note_chunk",
        "DELETE FROM note_line",
        "DELETE FROM note",
        "UPDATE session SET state = 'open' WHERE id = 1",
        "UPDATE event SET state = 'queued', due_at = 1 WHERE text = '/new'",
    ):
        await world.store._database.write(lambda db, sql=statement: db.execute(sql).rowcount)  # type: ignore[misc]
    world.app.look()
    await world.wait(1)
    assert list(notes(world)) == ["2026-06-12-周末去爬香山.md"]
    assert world.peek.note_lines.count() == 3


async def test_the_day_is_the_persons_own(world: World) -> None:
    await world.wait(15.5 * 3600)  # 00:30 in Shanghai
    await world.say("夜里睡不着啊")
    await world.say("/new")
    assert list(notes(world)) == ["2026-06-13-夜里睡不着啊.md"]


async def test_what_nobody_wants_written_is_not(new_world: NewWorld) -> None:
    world = await new_world(notes={"on_new": False})
    await world.say("周末去爬香山")
    await world.say("/new")
    assert not (world.folder / "notes").exists()
    other = await new_world()
    await other.say("/new")
    assert not (other.folder / "notes").exists()


async def test_a_talk_ends_though_its_note_cannot_be_written(world: World) -> None:
    await world.say("周末去爬香山")
    put(world, "notes", "no folder")
    await world.say("/new")
    assert world.peek.sessions("state") == [("closed",)]
    assert len(world.log.named("note_failed")) == 1
    await look(world)
