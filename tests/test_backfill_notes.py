"""`nuan memory backfill --text-index` looks at notes as well; and a chat that moves takes its notes along."""

import json
from pathlib import Path

import pytest

from bot.core.archive import FrontMatter, NewNote, NoteChunk, NoteLine, ReadNoteFile
from bot.core.people import Audience
from bot.store.store import Store
from tests.carrying import in_installation, nuan
from tests.noting import dm, found, group, look, notes
from tests.peek import Like
from tests.storing import NOW, ids, sound
from tests.storing import look as rows
from tests.test_changes import happens, moved
from tests.test_memory_backfill import DOCS, spoil
from tests.world import World

SPOILT = {
    "DELETE FROM doc WHERE kind = 'note' AND ref = 1": "note: is not in the index",
    "UPDATE doc_text SET terms = 'x' WHERE doc_id = (SELECT id FROM doc WHERE kind = 'note' AND ref = 2)": "otherwise",
    "UPDATE doc SET scope = 'all' WHERE kind = 'note' AND ref = 1": "note: is otherwise in the index",
    "INSERT INTO doc (kind, ref, scope, chat_id, at, length) VALUES ('note', 9, 'all', 1, 1, 1)": "is not there",
}


async def noted(store: Store) -> None:
    """A note of two pieces that was read."""
    _, chat, event = await ids(store)
    new = NewNote(FrontMatter(chat, "private"), "2026-06-12-a", "# 09:00", (NoteLine("- 紫藤路口", (event,)),))
    path = await store.notes.write(new, 9_999)
    assert path is not None
    pieces = (NoteChunk(1, 3, "紫藤路口有花店"), NoteChunk(4, 5, "荷花开了"))
    stamp = store.files.notes.read(path, 9_999)[1]
    front = FrontMatter(chat, "private", (event,))
    assert await store.notes.take(ReadNoteFile(path, stamp, "hash", "400/80", front, (), NOW, pieces))


@pytest.mark.parametrize(("statement", "said"), SPOILT.items())
def test_rows_of_notes_are_compared_and_written_anew(tmp_path: Path, statement: str, said: str) -> None:
    in_installation(tmp_path, noted)
    good = rows(tmp_path, DOCS)
    assert nuan(tmp_path, "backfill", "--text-index").out == "text-index: ✓\n"
    spoil(tmp_path, statement)
    dry = json.loads(nuan(tmp_path, "backfill", "--text-index", "--json").out)["faults"]
    assert "note" in {fault["about"] for fault in dry}
    assert any(said in fault["why"] for fault in dry)
    assert nuan(tmp_path, "backfill", "--text-index", "--apply").code == 0
    assert rows(tmp_path, DOCS) == good
    assert nuan(tmp_path, "backfill", "--text-index").out == "text-index: ✓\n"
    assert sound(tmp_path) == []


def test_an_index_with_other_terms_is_written_anew_with_its_notes(tmp_path: Path) -> None:
    in_installation(tmp_path, noted)
    good = rows(tmp_path, DOCS)
    spoil(tmp_path, "UPDATE doc_text SET terms = 'old'", "UPDATE meta SET value = '0' WHERE key = 'terms'")
    in_installation(tmp_path, lambda store: store.memories.upkeep_due(0))
    assert rows(tmp_path, DOCS) == good


async def told_there(world: World, question: str, *, super_id: bool) -> str:
    """What the model is shown when somebody asks in the group, under its old or its new id."""
    since = len(world.prompts)
    if super_id:
        await world.app.ingest.accept(moved(world, question))
        await world.app.settled()
    else:
        await world.say(question, group="g")
    return str(world.prompts[since:])


@pytest.mark.parametrize("first", [False, True])
async def test_a_group_that_moves_takes_all_along_and_shows_it_nobody_else(world: World, first: bool) -> None:
    world.model.script = lambda request: "好的"
    await world.say("小暖，记住这次聚会的暗号是紫藤zwk7731", group="g")
    await world.say("小暖，聚会的饭店在荷花路qpd4242号", group="g")
    await world.say("/new", group="g")
    await look(world)
    assert len(found(world, group(world, "g"), "qpd4242")) == 1
    if first:
        await told_there(world, "小暖，新群先说一句话吧", super_id=True)
        await told_there(world, "小暖，饭店换到了松树路rrt5151号", super_id=True)
    await happens(world, "migrate", "super", group="g")
    await world.wait(1)
    here = Audience(1, "group", (1,))
    assert len(world.rows("SELECT id FROM chat WHERE id IN (SELECT chat_id FROM place)")) == 1
    assert len(found(world, here, "qpd4242")) == 1
    assert set(world.rows("SELECT DISTINCT scope FROM doc")) == {("c1",)}
    places = world.peek.documents("place", kind="line")
    assert len(set(places)) == len(places), "lines of two chats do not stand between each other"
    assert "紫藤zwk7731" in await told_there(world, "小暖，这次聚会的暗号是什么", super_id=True)
    for file in (world.folder / "notes").rglob("*.md"):
        file.write_text(file.read_text("utf-8") + "后来加的一行\n", "utf-8")
    await look(world)
    assert len(found(world, here, "后来加的一行")) == 1, "a changed note is still that group's"
    before = len(world.prompts)
    await world.say("小暖，这次聚会的暗号是什么，饭店在哪", who="小李")
    await world.say("小暖，这次聚会的暗号是什么，饭店在哪", who="小李", group="别的群")
    assert not any(word in str(world.prompts[before:]) for word in ("zwk7731", "qpd4242", "rrt5151"))
    assert found(world, dm(world, "小李"), "qpd4242") == found(world, group(world, "别的群"), "qpd4242") == []
    await told_there(world, "小暖，忘记 #1", super_id=True)
    assert world.peek.events("id", "kind", "hidden", "text", text=Like("%zwk7731%")) == []
    assert "zwk7731" not in "".join(notes(world).values())
