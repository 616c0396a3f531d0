"""`nuan memory import`: what it shows, asks, refuses and brings in; all or nothing."""

import asyncio
import os
import pty
import subprocess
from pathlib import Path

import pytest

from bot.core.people import Audience
from bot.store.store import Store
from tests.blank import open_laid
from tests.carrying import BOB, fill, in_installation, nuan
from tests.fork_server import ROOT, command
from tests.storing import Where, drop, ids, keep, look, sound, talk

ACTIVE = "SELECT text FROM memory WHERE disabled_at IS NULL ORDER BY id"


def exported(folder: Path, name: str = "memories.jsonl") -> Path:
    """A filled installation in `one` and its export."""
    in_installation(folder / "one", fill)
    assert nuan(folder / "one", "export", str(folder / "out")).code == 0
    return folder / "out" / name


def edit(path: Path, *changes: tuple[str, str]) -> None:
    """What somebody changes in a file."""
    text = path.read_text("utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, "utf-8")


async def forget_last(store: Store, where: Where) -> None:
    person, chat, _ = await ids(store, where)
    memory = (await store.memories.owned(person, Audience(chat, where.kind, (person,))))[0]
    store.tombstones.add_tombstones([(memory.id, memory.text)], 1)  # as the command does before its commit
    await drop(store, memory, where, days=None)


def test_nothing_is_changed_where_nobody_can_answer(tmp_path: Path) -> None:
    path = exported(tmp_path)
    in_installation(tmp_path / "two", lambda store: ids(store, Where("eve", "dm-eve")))
    for words in ((), ("--dry-run",)):
        said = nuan(tmp_path / "two", "import", str(path), *words)
        assert said.code == (0 if words else 1)
        assert said.out.startswith("5 new, 0 changed, 0 the same, 0 refused, 0 conversations new")
        assert ("--yes" in said.err) == (not words)
        assert look(tmp_path / "two", ACTIVE) == []
        assert look(tmp_path / "two", "SELECT name FROM person") == [("Eve",)]


def test_it_asks_on_a_terminal_and_takes_only_a_yes(tmp_path: Path) -> None:
    path = exported(tmp_path)
    line = command("bot", "memory", "import", str(path), "--data", str(tmp_path / "two"))
    for answer, end in ((b"\n", "Take in 5? [y/N] nothing was changed\n"), (b"y\n", "done: 5 taken in\n")):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        done = subprocess.run(line, stdin=theirs, stdout=subprocess.PIPE, cwd=ROOT, check=True, timeout=60)
        os.close(ours)
        os.close(theirs)
        assert done.stdout.decode().endswith(end)
    assert len(look(tmp_path / "two", ACTIVE)) == 5
    assert sound(tmp_path / "two") == []


def test_an_edited_file_changes_what_it_says_otherwise(tmp_path: Path) -> None:
    path = exported(tmp_path)
    edit(path, ("我喜歡爬山", "我喜歡游泳"))
    said = nuan(tmp_path / "one", "import", str(path), "--yes")
    assert said.out.startswith("0 new, 1 changed, 4 the same, 0 refused")
    assert "我喜歡爬山 → 我喜歡游泳" in said.out
    texts = {str(row[0]) for row in look(tmp_path / "one", ACTIVE)}
    assert ("我喜歡游泳" in texts, "我喜歡爬山" in texts, len(texts)) == (True, False, 5)
    assert sound(tmp_path / "one") == []


def test_a_file_that_was_cut_off_changes_nothing(tmp_path: Path) -> None:
    path = exported(tmp_path)
    lines = path.read_text("utf-8").split("\n")
    path.write_text("\n".join(lines[:-3]), "utf-8")
    for name, kept in (("one", 5), ("two", 0)):
        cut = nuan(tmp_path / name, "import", str(path), "--yes")
        assert (cut.code, "memories.jsonl:1: tells of 5 memories, 3 are there" in cut.err) == (1, True)
        assert kept == (len(look(tmp_path / name, ACTIVE)) if kept else (tmp_path / name).exists())


OLD_MARKDOWN = """# nuan memories

<!-- {"nuan": "memories", "version": 1, "house": "x", "exported_at": "2026-06-12T01:00:00.000Z", "memories": 1} -->

## Ann (test:ann) <!-- {"owner": "test:ann"} -->

### knowledge

- #1 2026-06-12 我喜欢游泳 <!-- {"chat": "test:dm-ann", "visibility": "private"} -->

<!-- end -->
"""


@pytest.mark.parametrize("old", [True, False])
def test_exported_markdown_is_for_reading_and_refused_in_one_line(tmp_path: Path, old: bool) -> None:
    path = exported(tmp_path, "memories.md")
    if old:
        path.write_text(OLD_MARKDOWN, "utf-8")
    (path.parent / "memories.jsonl").rename(tmp_path / "moved.jsonl")
    for given in (path, path.parent):
        said = nuan(tmp_path / "two", "import", str(given), "--yes", "--owner", "test:ann")
        assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
        assert "is for reading only: import the memories.jsonl beside it" in said.err
    assert not (tmp_path / "two").exists()


def test_of_a_folder_the_json_lines_are_taken_and_edited_markdown_is_pointed_out(tmp_path: Path) -> None:
    path = exported(tmp_path, "memories.md")
    edit(path, ("我喜歡爬山", "我喜歡游泳"))
    said = nuan(tmp_path / "one", "import", str(path.parent), "--yes")
    assert said.out.endswith("nothing to change\n")
    assert "memories.md is for reading only: what was edited there is not taken in" in said.err


def test_what_was_forgotten_stays_forgotten(tmp_path: Path) -> None:
    path = exported(tmp_path)
    in_installation(tmp_path / "one", lambda store: forget_last(store, BOB))
    said = nuan(tmp_path / "one", "import", str(path), "--yes")
    assert said.out.startswith("0 new, 0 changed, 4 the same, 1 refused")
    assert "was forgotten" in said.out
    assert len(look(tmp_path / "one", ACTIVE)) == 4
    for part in ("tombstones.jsonl", "tombstones.key"):  # another installation with the same tombstones
        (tmp_path / "two").mkdir(exist_ok=True)
        (tmp_path / "two" / part).write_bytes((tmp_path / "one" / part).read_bytes())
    assert "4 new, 0 changed, 0 the same, 1 refused" in nuan(tmp_path / "two", "import", str(path), "--yes").out
    assert len(look(tmp_path / "two", ACTIVE)) == 4


def test_what_went_with_something_forgotten_does_not_come_back_by_a_file(tmp_path: Path) -> None:
    path = exported(tmp_path)

    async def derived(store: Store) -> None:
        """As after 忘记 of another memory from the same line: no tombstone has this text."""
        await store.memories._database.write(
            lambda db: db.execute("UPDATE memory SET disabled_at = 1, disabled_reason = 'derived' WHERE id = 3")
        )

    in_installation(tmp_path / "one", derived)
    assert "0 new, 0 changed, 4 the same, 1 refused" in nuan(tmp_path / "one", "import", str(path), "--yes").out


def test_people_are_known_by_their_accounts_and_never_by_names(tmp_path: Path) -> None:
    path = exported(tmp_path)
    in_installation(tmp_path / "two", lambda store: keep(store, "我怕黑", Where("impostor", "dm-x")))
    in_installation(tmp_path / "two", lambda store: keep(store, "我也在", BOB))
    look_up = "SELECT account.external_id FROM memory JOIN account ON person_id = owner_id WHERE memory.text LIKE ?"
    with_name = path.read_text("utf-8").replace("Ann", "Impostor")
    path.write_text(with_name, "utf-8")
    assert nuan(tmp_path / "two", "import", str(path), "--yes").code == 0
    assert look(tmp_path / "two", look_up, "%花生%") == [("ann",)]
    assert look(tmp_path / "two", look_up, "%爬山%") == [("bob",)]
    assert look(tmp_path / "two", "SELECT count(*) FROM person") == [(3,)]


def test_an_owner_that_no_line_of_the_file_introduces_is_refused(tmp_path: Path) -> None:
    path = exported(tmp_path)
    edit(path, ('"owner": "test:bob"', '"owner": "test:nobody"'))
    said = nuan(tmp_path / "two", "import", str(path), "--yes")
    assert said.out.startswith("2 new, 0 changed, 0 the same, 3 refused")
    assert "unknown owner test:nobody" in said.out
    assert [row for row in look(tmp_path / "two", ACTIVE) if "爬山" in str(row[0])] == []


async def test_a_nuan_that_runs_here_is_not_written_beneath(tmp_path: Path) -> None:
    path = await asyncio.to_thread(exported, tmp_path)
    async with await open_laid(tmp_path / "one"):
        for words in (("import", str(path), "--yes"), ("backfill", "--apply"), ("rollback", str(path))):
            said = await asyncio.to_thread(nuan, tmp_path / "one", *words)
            assert (said.code, "another nuan is answering" in said.err) == (1, True)
        assert (await asyncio.to_thread(nuan, tmp_path / "one", "import", str(path), "--dry-run")).code == 0


def test_bad_lines_are_named_and_nothing_is_done(tmp_path: Path) -> None:
    path = exported(tmp_path)
    lines = path.read_text("utf-8").split("\n")
    first, second = [number for number, line in enumerate(lines) if '"memory"' in line][:2]
    lines[first] = lines[first].replace('"knowledge"', '"dream"')
    lines[second] = lines[second][:40]
    path.write_text("\n".join(lines), "utf-8")
    said = nuan(tmp_path / "two", "import", str(path), "--yes")
    assert said.code == 1
    assert f"memories.jsonl:{first + 1}: kind should be one of" in said.err
    assert f"memories.jsonl:{second + 1}: is no JSON" in said.err
    assert not (tmp_path / "two").exists()
    assert nuan(tmp_path / "two", "import", str(path), "--yes", "--skip-bad").code == 0
    assert len(look(tmp_path / "two", ACTIVE)) == 3


def test_an_open_talk_begins_a_new_log_with_what_was_brought_in(tmp_path: Path) -> None:
    in_installation(tmp_path / "one", lambda store: talk(store, "你好", "嗨"))
    path = exported(tmp_path)
    edit(path, ("我喜歡爬山", "我喜歡游泳"))
    assert nuan(tmp_path / "one", "import", str(path), "--yes").code == 0
    assert look(tmp_path / "one", "SELECT DISTINCT stale FROM epoch") == [("memory",)]


MEMORY_MD = """# MEMORY.md

## Profile
- Works as a **nurse**
  in Lyon

## 偏好
1. 喜欢手冲咖啡

```
- not a memory
```
## 2026-05-03 log
* [x] moved house
<!-- - hidden -->
"""


def test_the_memory_file_of_another_agent_is_taken_in_for_one_person(tmp_path: Path) -> None:
    in_installation(tmp_path / "one", ids)
    path = tmp_path / "MEMORY.md"
    path.write_text(MEMORY_MD, "utf-8")
    for owner, problem in (("", "--owner platform:id"), ("test:eve", "does not know test:eve"), ("x", "--owner")):
        said = nuan(tmp_path / "one", "import", str(path), "--yes", *(("--owner", owner) if owner else ()))
        assert (said.code, problem in said.err) == (1, True)
    assert nuan(tmp_path / "one", "import", str(path), "--yes", "--owner", "test:ann").code == 0
    rows = look(tmp_path / "one", "SELECT kind, text, visibility, asked, observed_at FROM memory ORDER BY id")
    assert [row[:4] for row in rows] == [
        ("identity", "Works as a **nurse** in Lyon", "private", 1),
        ("knowledge", "喜欢手冲咖啡", "private", 1),
        ("event", "moved house", "private", 1),
    ]
    assert rows[2][4] == 1_777_809_600_000
    assert (
        "0 new, 0 changed, 3 the same"
        in nuan(tmp_path / "one", "import", str(path), "--yes", "--owner", "test:ann").out
    )
