"""`nuan memory export`, `list` and `show`: everything, readable, of whom it is asked for, and nothing forgotten."""

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from bot.core.people import Audience
from bot.core.sessions import Digest
from bot.store.archive import EXPORTED_COLUMNS, LEFT_BEHIND
from bot.store.digests import Digested
from bot.store.store import DATABASE, Store
from bot.store.transactions import Tx
from tests.blank import open_laid
from tests.carrying import OWNERS, fill, in_installation, note, nuan, same, with_notes
from tests.storing import NOW, drop, ids, keep, look


async def close_talk(store: Store, summary: str) -> None:
    """Ann's open conversation is closed with a summary and two memories."""
    person, chat, event = await ids(store)
    session = await store.sessions.open_session(chat)
    assert session is not None
    await store.sessions.close(session.id, "new", NOW)
    digest = Digest(
        summary, (note("下周搬家", person, chat, "event"), note("她怕黑", person, chat, "emotion")), "model"
    )
    assert await store.digests.store(Digested(session, digest, person, ("Ann",), (event,)), NOW)


async def merge_of(store: Store, said: str) -> None:
    """A merge of something that was forgotten, as a crash could leave it."""
    await store.memories._database.write(
        lambda db: db.execute(
            "INSERT INTO merged (memory_id, at, how, before, before_observed_at, said, kind, source, observed_at) "
            "VALUES (1, 5, 'join', 'x', 3, ?, 'event', 'digest', 4)",
            (said,),
        )
    )


async def filled(store: Store) -> None:
    await fill(store)
    await close_talk(store, "聊了搬家和怕黑")


async def lived_in(store: Store) -> None:
    """With notes, and memories that were merged, rewritten, protected, archived and praised."""
    await filled(store)
    await with_notes(store)

    def live(db: Tx) -> None:
        db.execute("UPDATE memory SET original = ?, protected = 1, importance = 4 WHERE id = 1", ("嗯 花生 " * 80,))
        db.execute("UPDATE memory SET disabled_at = 5000, disabled_reason = 'archived' WHERE id = 3")
        db.execute("UPDATE memory SET former_at = 6000 WHERE id = 2")
        db.execute(
            "UPDATE memory SET faded = 0.5, helpful = 3, unhelpful = 1, praised_at = 8, recalled_at = 7, "
            "booted_at = 6, decayed_at = 9 WHERE id = 5"
        )
        db.execute(
            "INSERT INTO merged (memory_id, at, how, before, before_observed_at, said, kind, source, "
            "observed_at, undone_at) VALUES (4, 5, 'join', '聚餐', 3, '周五', 'event', 'digest', 4, 9), "
            "(4, 6, 'join', '周五聚餐', 3, '不要辣', 'event', 'digest', 4, NULL)"
        )

    await store.memories._database.write(live)


def test_an_export_taken_into_an_empty_installation_is_exported_again_byte_by_byte(tmp_path: Path) -> None:
    in_installation(tmp_path / "one", lived_in)
    assert "left out" not in nuan(tmp_path / "one", "export", str(tmp_path / "out"), **OWNERS).out
    assert nuan(tmp_path / "two", "import", str(tmp_path / "out"), "--yes", **OWNERS).code == 0
    assert nuan(tmp_path / "two", "export", str(tmp_path / "again"), **OWNERS).code == 0
    told = ("聊了搬家和怕黑", "下周搬家", "手冲咖啡", "晚安")
    for file, words in (("memories.jsonl", (*told, "不要辣")), ("memories.md", told)):
        first, second = ((tmp_path / folder / file).read_text("utf-8") for folder in ("out", "again"))
        assert same(first) == same(second)
        assert not [text for text in words if first.count(text) != 1]
    struck = (tmp_path / "again" / "memories.md").read_text("utf-8")
    assert [line.split(" ")[1] for line in struck.splitlines() if " ~~" in line and line.startswith("- ")] == ["#2"]
    life = "SELECT id, disabled_reason, faded, helpful, praised_at, recalled_at, protected, original FROM memory"
    assert look(tmp_path / "two", life) == look(tmp_path / "one", life)


def test_what_was_forgotten_or_replaced_is_in_no_file(tmp_path: Path) -> None:
    async def forget(store: Store) -> None:
        await fill(store)
        await keep(store, "门禁码是4711")
        person, chat, _ = await ids(store)
        gone = (await store.memories.owned(person, Audience(chat, "dm", (person,))))[0]
        await drop(store, gone)
        await keep(store, "安安", slot="address")
        await with_notes(store)
        store.tombstones.add_tombstones([(0, "- 09:00 Ann: 晚安")], 1)
        store.tombstones.add_tombstones([(gone.id, gone.text)], 1)
        await merge_of(store, gone.text)

    in_installation(tmp_path, forget)
    said = nuan(tmp_path, "export", str(tmp_path / "out"))
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    assert "left out: 2 " in said.out
    assert "4711" not in written
    assert "晚安" not in written
    assert "小安" not in written
    assert "安安" in written
    assert "4711" not in nuan(tmp_path, "list").out
    shown = nuan(tmp_path, "show", "6")
    assert shown.out.startswith("#6 was forgotten at ")
    assert "4711" not in shown.out


def test_one_persons_export_holds_nothing_of_anybody_else(tmp_path: Path) -> None:
    in_installation(tmp_path, lived_in)
    for whose in ("test:bob", "2"):
        out = tmp_path / f"bob-{whose.replace(':', '-')}"
        assert nuan(tmp_path, "export", str(out), "--person", whose).code == 0
        written = "".join(path.read_text("utf-8") for path in out.iterdir())
        assert "爬山" in written
        assert not [word for word in ("花生", "小安", "搬家", "怕黑", "ann", "Ann", "晚安", "手冲") if word in written]
    assert "花生" not in nuan(tmp_path, "list", "--person", "test:bob").out
    named = nuan(tmp_path, "export", str(tmp_path / "x"), "--person", "Bob")
    assert (named.code, "give one of test:bob" in named.err) == (1, True)
    nobody = nuan(tmp_path, "export", str(tmp_path / "x"), "--person", "test:eve")
    assert (nobody.code, nobody.err[:22]) == (1, "nuan: there is nobody ")
    assert not (tmp_path / "x").exists()


def test_files_are_for_the_owner_alone_and_never_replaced_unasked(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    out = tmp_path / "mine.md"
    before = os.umask(0)
    try:
        assert nuan(tmp_path, "export", str(out)).code == 0
    finally:
        os.umask(before)
    assert out.stat().st_mode & 0o777 == 0o600
    out.write_text("edited", "utf-8")
    again = nuan(tmp_path, "export", str(out))
    assert (again.code, "--force" in again.err, out.read_text("utf-8")) == (1, True, "edited")
    assert nuan(tmp_path, "export", str(out), "--force").code == 0
    assert "花生" in out.read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert nuan(tmp_path, "export", str(tmp_path / "x.md"), "--format", "jsonl").code == 1
    assert nuan(tmp_path, "export", str(tmp_path / "x"), "--format", "pdf").code == 2


def test_every_column_of_a_memory_is_carried_or_left_behind_on_purpose(tmp_path: Path) -> None:
    async def age(store: Store) -> None:
        await keep(store, "我会弹琴")

    in_installation(tmp_path / "one", age)
    columns = {str(row[0]) for row in look(tmp_path / "one", "SELECT name FROM pragma_table_info('memory')")}
    assert columns >= {*EXPORTED_COLUMNS, *LEFT_BEHIND}


async def test_export_and_list_work_beside_a_nuan_that_runs(tmp_path: Path) -> None:
    async with await open_laid(tmp_path) as store:
        await fill(store)
        listed = await asyncio.to_thread(nuan, tmp_path, "list", "--kind", "knowledge", "--json")
        assert {row["owner"] for row in json.loads(listed.out)} == {"test:ann", "test:bob"}
        assert (await asyncio.to_thread(nuan, tmp_path, "export", str(tmp_path / "out"))).code == 0


def test_columns_of_a_later_day_and_what_was_archived_are_carried_too(tmp_path: Path) -> None:
    for installation in ("one", "two"):
        in_installation(tmp_path / installation, fill if installation == "one" else ids)
        with closing(sqlite3.connect(tmp_path / installation / DATABASE)) as db:
            db.execute("ALTER TABLE memory ADD COLUMN warmth REAL NOT NULL DEFAULT 1")
            db.execute("UPDATE memory SET warmth = 0.25 WHERE id = 1")
            db.execute("UPDATE memory SET disabled_at = 5000, disabled_reason = 'archived' WHERE id = 4")
            db.commit()
    for name in ("x.jsonl", "x.md"):
        assert nuan(tmp_path / "one", "export", str(tmp_path / name)).code == 0
    assert "真的 \\<!-- x -->" in (tmp_path / "x.md").read_text("utf-8")
    assert nuan(tmp_path / "two", "import", str(tmp_path / "x.jsonl"), "--yes").code == 0
    rows = "SELECT id, warmth, disabled_at, disabled_reason FROM memory ORDER BY id"
    assert look(tmp_path / "two", rows) == look(tmp_path / "one", rows)
    assert look(tmp_path / "two", "SELECT count(*) FROM doc WHERE kind = 'memory'") == [(4,)]


def test_a_memory_is_shown_with_the_lines_it_was_made_from(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    shown = nuan(tmp_path, "show", "#4")
    assert (shown.code, shown.out.split("\n")[0]) == (0, "#4 周五聚餐")
    assert "test:g Bob: 记住 周五聚餐" in shown.out
    assert json.loads(nuan(tmp_path, "show", "4", "--json").out)["sources"][0]["who"] == "Bob"
    assert nuan(tmp_path, "list", "--kind", "dream").code == 2
    assert (nuan(tmp_path, "show", "99").code, nuan(tmp_path, "show", "x").code) == (1, 2)
