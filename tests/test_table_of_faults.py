"""The table of faults itself: every number is in it, nothing is left out unsaid, and a run can be cut and taken up."""

import ast
import asyncio
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.fork_server import ROOT
from tests.tables import all_cases
from tests.torture.keys import imported
from tests.torture.registry import ALL, IDS, at_home, by_id, delivered
from tests.torture.row import Bound, Found, Row, Size
from tests.torture.runner import Outcome, Piece, Results, do, pieces_of, runnable
from tests.torture.secrets import spilled
from tests.torture.table import PENDING, exit_code, line_of, printed

ROWS = delivered()


async def nothing(folder: Path, size: Size) -> Found:
    (folder / "made.txt").write_text("x")
    return Found({"tries": size.units, "lost": float(size.seed == 2)})


def folder_in(path: Path) -> Path:
    (folder := path / "work").mkdir()
    return folder


ROW = Row("D1", "a fault", "nothing lost", "tries", 25, 1, 10, bounds=(Bound("lost", "==", 0),), run=nothing)


def test_the_list_has_ninety_four_numbers_in_order_and_each_row_is_one_of_them() -> None:
    assert len(IDS) == 94
    assert (IDS[0], IDS[27], IDS[41], IDS[55], IDS[84], IDS[93]) == ("D1", "S1", "L1", "X1", "R1", "R10")
    assert set(by_id(ROWS)) == {*ALL}
    for rows, wrong in (((ROW, replace(ROW, title="another")), "two rows"), ((replace(ROW, id="Z1"),), "no number")):
        with pytest.raises(ValueError, match=wrong):
            by_id(rows)


@all_cases("row", ROWS)
def test_a_row_says_what_it_wants_and_is_tried_in_short_too(row: Row) -> None:
    assert row.title
    assert row.wanted
    if row.not_applicable:
        assert not (row.run)
        assert not (row.existing)
        return
    assert row.run or row.existing
    assert row.short or row.existing, "no short version"
    if row.run:
        assert row.unit
        assert row.long
        assert row.bounds
        assert sum(size.units for size in row.pieces()) == row.long
    for name in row.existing:
        file, _, test = name.partition("::")
        there = _tests(file)
        assert re.split(r"\[|::", test)[0] in there if test else there, name


def test_a_short_version_that_a_row_has_is_run_by_a_test() -> None:
    run = {name for path in (ROOT / "tests").glob("test_rows_*.py") for name in imported(path, 0)}
    assert {home for row, home in at_home() if row.short} <= run


@cache
def _tests(file: str) -> frozenset[str]:
    path = ROOT / "tests" / file
    found = ast.walk(ast.parse(path.read_text("utf-8"))) if path.exists() else ()
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.name
        for node in found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Name)
    )


def test_parts_have_every_piece_once_and_the_longest_first() -> None:
    rows = (ROW, replace(ROW, id="D2", limit_s=900), replace(ROW, id="D3", run=None, existing=("a.py::b", "a.py::c")))
    whole = pieces_of(rows)
    assert [piece.name for piece in whole[:3]] == ["D2-1", "D2-2", "D2-3"]
    assert Counter(piece.name for part in (1, 2, 3) for piece in pieces_of(rows, part, 3)) == Counter(
        piece.name for piece in whole
    )
    assert [size.units for size in ROW.pieces()] == [10, 10, 5]
    assert (runnable(rows[2]).unit, runnable(rows[2]).long) == ("tests", 2)


def test_what_ended_is_kept_until_the_sources_change_and_a_failed_piece_keeps_its_folder(tmp_path: Path) -> None:
    results = Results(tmp_path / "kept", {"D1": "aaaa"})
    pieces = pieces_of((ROW,))
    for piece in pieces[:2]:
        do(piece, results, folder_in(tmp_path))
    assert [bool(results.read(piece)) for piece in pieces] == [True, True, False]
    assert [bool(Results(results.folder, {"D1": "bbbb"}).read(piece)) for piece in pieces] == [False] * 3
    assert not (results.folder / "D1-1").exists()
    assert (results.folder / "D1-2" / "made.txt").exists(), "one was lost in the second piece"
    results.forget(pieces[1])
    assert results.read(pieces[1]) is None
    assert not (results.folder / "D1-2").exists()


def test_a_piece_that_raises_hangs_or_spills_a_secret_is_broken(tmp_path: Path) -> None:
    async def raises(folder: Path, size: Size) -> Found:
        raise RuntimeError("no")

    async def hangs(folder: Path, size: Size) -> Found:
        (folder / "never").mkdir()
        await asyncio.Event().wait()
        return Found()

    async def spills(folder: Path, size: Size) -> Found:
        (folder / "out.txt").write_text("key made-up.discord.1")
        return Found({"tries": 10, "lost": 0})

    results = Results(tmp_path / "kept", {f"D{number}": "aaaa" for number in (1, 2, 3)})
    said = []
    for number, run in enumerate((raises, hangs, spills), start=1):
        row = replace(ROW, id=f"D{number}", long=10, limit_s=0.01 if run is hangs else 9, run=run)
        do(Piece(row, 1), results, folder_in(tmp_path))
        outcomes, pieces = results.all(row)
        line = line_of(row.id, row, outcomes, pieces)
        assert line.state == "broken"
        said.append(line.cells[-1])
    assert ["RuntimeError: no" in said[0], "not done in" in said[1], "secret in out.txt" in said[2]] == [True] * 3


def test_the_table_tells_all_five_states_and_ends_as_it_should() -> None:
    good, bad = Outcome(Found({"tries": 10, "lost": 0})), Outcome(Found({"tries": 10, "lost": 1}))
    few = Outcome(Found({"tries": 9, "lost": 0}))
    lines = [
        line_of("D1", ROW, [good] * 3, 3),
        line_of("D1", ROW, [good], 3),
        line_of("D1", ROW, [good, bad], 3),
        line_of("D1", ROW, [few] * 2, 2),
        line_of("D2", None, (), 0),
        line_of("D3", replace(ROW, id="D3", run=None, not_applicable="there is no such thing"), (), 0),
    ]
    assert [line.state for line in lines] == ["ok", "incomplete", "broken", "broken", "incomplete", "n.a."]
    shown = printed(lines)
    assert "30 tries" in shown
    assert "1 of 3 pieces" in shown
    assert PENDING in shown
    assert "n.a.: there is no such thing" in shown
    assert "6 rows: 1 ok, 2 broken, 2 incomplete, 1 n.a." in shown
    assert [exit_code(lines), exit_code([lines[0], lines[4]]), exit_code([lines[0], lines[5]])] == [1, 2, 0]


def test_secrets_and_unwell_words_are_found_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "nuan.db-wal").write_bytes(b"\0zq-secret\0")
    (tmp_path / ".env").write_text("KEY=zq-secret")
    (tmp_path / "stderr.txt").write_text("Task was destroyed but it is pending!")
    (tmp_path / "nuan.jsonl").write_text(
        '{"level": "error", "event": "library", "logger": "asyncio", "message": "Task exception was never"}\n'
    )
    found = spilled(tmp_path, [b"{}", b'{"x": "zq-secret"}'], ["zq-secret"])
    assert len(found) == 4, found
    assert spilled(tmp_path / "a", [b"{}"], ["other"]) == ()
