"""Markdown notes in the data folder: read as they change, found by whoever may see them, refused when they are none."""

import asyncio
import os
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.archive import NoteRefused
from bot.core.people import Audience
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.noting import dm, found, group, look, put
from tests.reloading import Filed
from tests.test_linking import linked
from tests.world import World

HERB = "今年种了紫苏和迷迭香"


def made(chat: int, visibility: str, text: str) -> str:
    return f"---\nchat: {chat}\nvisibility: {visibility}\nevents: 1-2\n---\n\n{text}\n"


async def test_what_an_owner_keeps_is_found_in_the_owners_own_dm_alone(world: World) -> None:
    await world.say("你好")
    await world.say("你好", who="小李")
    await world.say("小暖，你好", group="花友会")
    put(world, "MEMORY.md", f"# 园子\n\n{HERB}\n")
    put(world, "notes/garden/2026.md", f"阳台：{HERB}\n")
    await look(world)
    assert found(world, dm(world), HERB) == ["MEMORY.md#L1-3", "notes/garden/2026.md#L1"]
    assert found(world, dm(world, "小李"), HERB) == []
    assert found(world, group(world, "花友会"), HERB) == []
    for audience in (dm(world, "小李"), group(world, "花友会")):
        assert await world.app._services.notes.read(audience, "MEMORY.md") is None
    part = await world.app._services.notes.read(dm(world), "MEMORY.md", 3, 5)
    assert part is not None
    assert (part.citation, part.text, part.total) == ("MEMORY.md#L3", HERB, 3)


async def test_a_note_of_a_talk_is_for_who_could_read_the_talk(world: World) -> None:
    await world.say("你好", who="小李")
    await world.say("小暖，你好", group="花友会", who="小李")
    await world.say("小暖，你好", group="读书会", who="小李")
    mine, garden, books = dm(world, "小李"), group(world, "花友会"), group(world, "读书会")
    put(world, "notes/a.md", made(garden.chat_id, "chat", "canary-chat"))
    put(world, "notes/b.md", made(mine.chat_id, "private", "canary-private"))
    put(world, "notes/c.md", made(mine.chat_id, "public", "canary-public"))
    await look(world)
    seen = {
        word: [found(world, place, f"canary-{word}") != [] for place in (mine, garden, books)]
        for word in ("chat", "private", "public")
    }
    assert seen == {"chat": [False, True, False], "private": [True, False, False], "public": [True, True, True]}
    reading = world.app._services.notes
    read = [
        [(await reading.read(place, f"notes/{name}.md")) is not None for place in (mine, garden, books)]
        for name in "abc"
    ]
    assert read == list(seen.values())


async def test_only_what_changed_is_written_anew(world: World) -> None:
    await world.say("你好")
    text = "".join(f"## 第{number}节\n\n" + f"第{number}节的内容是种花。\n" * 4 for number in range(6))
    put(world, "notes/garden.md", text)
    await look(world)
    before = world.rows("SELECT id, text FROM note_chunk ORDER BY first_line")
    put(world, "notes/garden.md", "新的一行\n\n" + text.replace("第3节的内容", "第三节改了"))
    await look(world)
    after = world.rows("SELECT id, text FROM note_chunk ORDER BY first_line")
    assert len(after) == 7
    assert len(set(before) & set(after)) == 5
    assert found(world, dm(world), "第5节的") == ["notes/garden.md#L33-38"]
    assert found(world, dm(world), "第3节的") == []


async def test_a_file_is_read_when_it_is_left_alone_and_gone_when_it_is_removed(world: World) -> None:
    await world.say("你好")
    file = put(world, "notes/x.md", HERB)
    world.app.look_at_notes()
    await world.app.settled()
    assert found(world, dm(world), HERB) == []
    await world.wait(1)
    put(world, "notes/x.md", HERB + "，还有薄荷")
    await world.wait(1)
    assert found(world, dm(world), HERB) == []
    await world.wait(2)
    assert found(world, dm(world), "薄荷") == ["notes/x.md#L1"]
    file.unlink()
    await look(world)
    assert found(world, dm(world), HERB) == []
    assert await world.app._services.notes.read(dm(world), "notes/x.md") is None
    assert world.peek.note_chunks.count() == 0


async def test_a_start_reads_what_changed_while_nuan_was_away(world: World) -> None:
    await world.say("你好")
    await world.close()
    put(world, "notes/x.md", HERB)
    await world.open()
    assert found(world, dm(world), HERB) == ["notes/x.md#L1"]


async def test_another_size_of_chunks_cuts_everything_anew(filed: Filed) -> None:
    await filed.say("你好")
    put(filed, "notes/x.md", "种花的人都知道春天要来了。\n" * 40)
    await look(filed)
    assert filed.peek.note_chunks.count() == 2
    filed.write("[notes]\nchunk_tokens = 100\n")
    assert (await filed.reload()).changed == ("notes.chunk_tokens",)
    await filed.wait(2)
    assert filed.rows("SELECT count(*) > 5 FROM note_chunk") == [(1,)]


async def test_who_is_no_owner_any_more_finds_nothing(filed: Filed) -> None:
    await filed.say("你好")
    put(filed, "MEMORY.md", HERB)
    await look(filed)
    assert found(filed, dm(filed), HERB) == ["MEMORY.md#L1"]
    filed.write('owners = ["telegram:9"]\n', '[bot]\ntimezone = "Asia/Shanghai"\n')
    assert not (await filed.reload()).problems
    await filed.wait(2)
    assert found(filed, dm(filed), HERB) == []


BAD = {
    "notes/utf.md": b"\xff\xfe\x00abc",
    "notes/half.md": "好".encode()[:2] + b"x",
    "notes/null.md": b"a\0b",
    "notes/top.md": b"---\nchat: 1\nvisibility: everyone\n---\ncanary",
    "notes/huge.md": b"canary " * 90_000,
    "notes/where.md": b"---\nchat: 999\nvisibility: chat\n---\ncanary",
    "notes/group.md": b"---\nchat: 2\nvisibility: private\n---\ncanary",
}


async def test_what_is_no_note_is_refused_in_one_line_each(world: World) -> None:
    await world.say("你好")
    await world.say("小暖，你好", group="花友会")
    for path, data in BAD.items():
        put(world, path, data)
    put(world, "notes/.hidden.md", "canary")
    put(world, "notes/.obsidian/x.md", "canary")
    put(world, "notes/picture.png", "canary")
    outside = put(world, "secret.md", "canary")
    notes = world.folder / "notes"
    (notes / "link.md").symlink_to(outside)
    (notes / "folder").symlink_to(world.folder.parent)
    (notes / "dir.md").mkdir()
    os.mkfifo(notes / "pipe.md")
    (notes / "new\nline.md").write_text("canary")
    os.close(os.open(os.fsencode(notes) + b"/\xff.md", os.O_CREAT | os.O_WRONLY))
    for _ in range(3):
        await look(world)
    refused = [str(fields["path"]) for fields in world.log.named("note_refused")]
    assert sorted(refused) == sorted(
        [*BAD, "notes/link.md", "notes/folder", "notes/pipe.md", "notes/new?line.md", "notes/?.md"]
    )
    assert found(world, dm(world), "canary") == []
    assert world.peek.documents.count(kind="note") == 0
    put(world, "notes/top.md", made(dm(world).chat_id, "private", "now right"))
    await look(world)
    assert found(world, dm(world), "now right") == ["notes/top.md#L6-7"]


async def test_a_note_whose_top_is_broken_is_found_no_more(world: World) -> None:
    await world.say("小暖，你好", group="花友会")
    garden = group(world, "花友会")
    put(world, "notes/a.md", made(garden.chat_id, "chat", HERB))
    await look(world)
    assert found(world, garden, HERB)
    put(world, "notes/a.md", made(garden.chat_id, "chat", HERB).replace("chat: ", "chat: x"))
    await look(world)
    assert found(world, garden, HERB) == []


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "notes/../secret.md",
        "/etc/passwd",
        "notes",
        "",
        "notes/./x.md",
        "secret.md",
        "notes/x.md\0",
        "NOTES/x.md",
        "nuan.db",
        "notes/x.md#L1",
        "notes/link.md",
    ],
)
async def test_no_path_leads_out_of_the_notes(world: World, path: str) -> None:
    await world.say("你好")
    put(world, "notes/x.md", HERB)
    (world.folder / "notes/link.md").symlink_to(put(world, "secret.md", "canary"))
    await look(world)
    assert await world.app._services.notes.read(dm(world), path) is None
    assert await world.app._services.notes.read(dm(world), "notes/x.md", -3, 0) is not None
    assert await world.app._services.notes.read(dm(world), "notes/x.md", 10**9, 10**9) is None


@pytest.mark.parametrize("path", ["notes/../secret.md", "notes/./x.md", "notes//x.md"])
async def test_a_path_with_steps_is_not_opened_whoever_asks(world: World, path: str) -> None:
    put(world, "notes/x.md", HERB)
    put(world, "secret.md", "canary")
    with pytest.raises(NoteRefused):
        world.store.files.notes.read(path, 100)


async def test_a_folder_that_became_a_link_is_followed_no_more(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await world.say("你好")
    put(world, "notes/away/x.md", HERB)
    await look(world)
    assert await world.app._services.notes.read(dm(world), "notes/away/x.md") is not None
    outside = tmp_path_factory.mktemp("outside") / "away"
    (world.folder / "notes/away").rename(outside)
    (world.folder / "notes/away").symlink_to(outside)
    assert await world.app._services.notes.read(dm(world), "notes/away/x.md") is None


async def test_a_file_that_changed_since_it_was_read_is_not_shown(world: World) -> None:
    await world.say("小暖，你好", group="花友会")
    garden = group(world, "花友会")
    put(world, "notes/a.md", made(garden.chat_id, "chat", HERB))
    await look(world)
    put(world, "notes/a.md", "只给主人看的")
    assert await world.app._services.notes.read(garden, "notes/a.md") is None


async def test_isolation_of_many_places(new_world: NewWorld) -> None:
    world = await new_world()
    people, groups = ["小王", "小李", "小张", "小赵"], ["甲群", "乙群", "丙群"]
    places: dict[str, Audience] = {}
    for who in people:
        await world.say("你好", who=who)
        places[who] = dm(world, who)
        for title in groups:
            await world.say("小暖，你好", who=who, group=title)
    for title in groups:
        places[title] = group(world, title)
    for number, (name, place) in enumerate(places.items()):
        seen = "chat" if name in groups else "private"
        put(world, f"notes/secret-{number}.md", made(place.chat_id, seen, f"canary-{number}-bird"))
    await look(world)
    for number, name in enumerate(places):
        tellers = [other for other, place in places.items() if found(world, place, f"canary-{number}-bird")]
        assert tellers == [name]


async def test_a_note_stays_with_its_chat_and_its_person_when_these_become_others(tmp_path: Path) -> None:
    sections = {
        "bot": {"timezone": "Asia/Shanghai"},
        "telegram": {"allow": ["t-阿明", "group:大群"]},
        "discord": {"allow": ["d-阿明"]},
    }
    world = await World(tmp_path / "data", Settings.model_validate(sections), ("telegram", "discord")).open()
    await world.say("你好呀", "阿明", platform="telegram")
    await world.say("小暖，紫藤开了", "阿明", group="大群", platform="telegram")
    await world.say("荷花也开了", "阿明", platform="discord")
    for place in ({}, {"group": "大群"}):
        await world.say("/new", "阿明", platform="discord" if not place else "telegram", **place)
    ((lotus,), (vine,)) = world.rows("SELECT scope FROM doc WHERE kind = 'note' ORDER BY ref")
    assert (lotus, vine) == ("p2", "c2")
    await linked(world)
    await look(world)
    assert world.rows("SELECT scope FROM doc WHERE kind = 'note' ORDER BY ref") == [("p1",), ("c2",)]
    assert world.log.named("note_refused") == []
    await world.close()


async def test_files_are_looked_at_while_nuan_runs(filed: Filed) -> None:
    await filed.say("你好")
    keeping = asyncio.create_task(filed.reloader.keep())
    await filed.app.settled()
    put(filed, "notes/x.md", HERB)
    for _ in range(8):
        await filed.wait(1)
        await let_others_run()
        await filed.app.settled()
    assert found(filed, dm(filed), HERB) == ["notes/x.md#L1"]
    keeping.cancel()
    await asyncio.wait((keeping,))
