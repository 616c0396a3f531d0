"""Notes in `nuan memory import`: for their readers alone, never over another, and without what was forgotten."""

from pathlib import Path

from bot.core.archive import FrontMatter
from bot.store.store import Store
from bot.text.files import write_front
from tests.carrying import OWNERS, in_installation, nuan, with_notes
from tests.storing import Where, ids, look

PRIVATE, GROUPS = "2026-06-12-private.md", "2026-06-12-chat.md"


def exported(folder: Path) -> Path:
    """An installation with notes in `one` and its export."""
    in_installation(folder / "one", with_notes)
    assert nuan(folder / "one", "export", str(folder / "x.jsonl"), **OWNERS).code == 0
    return folder / "x.jsonl"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "notes").iterdir())


def test_a_note_that_is_there_is_left_and_one_that_says_otherwise_stands_beside_it(tmp_path: Path) -> None:
    path = exported(tmp_path)
    assert nuan(tmp_path / "one", "import", str(path), "--yes", **OWNERS).out.endswith("nothing to change\n")
    note = tmp_path / "one" / "notes" / PRIVATE
    before = note.read_bytes()
    path.write_text(path.read_text("utf-8").replace("Ann: 晚安", "Ann: 早安"), "utf-8")
    shown = nuan(tmp_path / "one", "import", str(path), "--dry-run", **OWNERS).out
    assert f"new note: notes/2026-06-12-private-2.md of test:dm-ann, in the file notes/{PRIVATE}" in shown
    assert files(tmp_path / "one") == [GROUPS, PRIVATE]
    assert nuan(tmp_path / "one", "import", str(path), "--yes", **OWNERS).code == 0
    assert note.read_bytes() == before
    assert "早安" in (tmp_path / "one" / "notes" / "2026-06-12-private-2.md").read_text("utf-8")
    assert nuan(tmp_path / "one", "import", str(path), "--yes", **OWNERS).out.endswith("nothing to change\n")


def test_forgotten_lines_do_not_come_back_nor_the_name_that_told_of_them(tmp_path: Path) -> None:
    path = exported(tmp_path)

    async def forget(store: Store) -> None:
        store.tombstones.add_tombstones([(0, "晚安")], 1)

    in_installation(tmp_path / "two", forget)
    assert nuan(tmp_path / "two", "import", str(path), "--yes", **OWNERS).code == 0
    assert files(tmp_path / "two") == [GROUPS, "2026-06-12-talk-1.md"]
    told = (tmp_path / "two" / "notes" / "2026-06-12-talk-1.md").read_text("utf-8")
    assert ("好" in told, "晚安" in told) == (True, False)
    assert nuan(tmp_path / "two", "import", str(path), "--yes", **OWNERS).out.endswith("nothing to change\n")


def test_a_note_comes_only_to_those_who_could_read_it(tmp_path: Path) -> None:
    path = exported(tmp_path)
    in_installation(tmp_path / "two", lambda store: ids(store, Where("eve", "dm-ann")))
    said = nuan(tmp_path / "two", "import", str(path), "--yes", NUAN_BOT__OWNERS='["test:eve"]')
    assert f"refused notes/{PRIVATE}: test:dm-ann is somebody else's direct chat here" in said.out
    assert "refused MEMORY.md: it is for console:local, test:ann, not for every owner of this nuan" in said.out
    assert files(tmp_path / "two") == [GROUPS]
    assert not (tmp_path / "two" / "MEMORY.md").exists()
    ((group,),) = look(tmp_path / "two", "SELECT chat_id FROM place WHERE external_id = 'g'")
    assert (tmp_path / "two" / "notes" / GROUPS).read_text("utf-8").startswith(f"---\nchat: {group}\n")


def test_the_same_words_for_other_readers_are_another_note(tmp_path: Path) -> None:
    path = exported(tmp_path)

    async def same_words(store: Store) -> None:
        _, chat, _ = await ids(store, Where("eve", "dm-eve"))
        text = "".join(f"{line}\n" for line in (*write_front(FrontMatter(chat, "chat")), "- 09:00 Bob: > ok <!-- -->"))
        assert store.files.notes.create(f"notes/{GROUPS}", f"{text}# 09:00\n- 10:00 nuan: 好\n".encode())

    in_installation(tmp_path / "two", same_words)
    path.write_text(path.read_text("utf-8").replace("# 09:00\\n", ""), "utf-8")
    assert nuan(tmp_path / "two", "import", str(path), "--yes", **OWNERS).code == 0
    assert files(tmp_path / "two") == ["2026-06-12-chat-2.md", GROUPS, PRIVATE]
