"""Labelled sessions of our own in three scripts: what is true stands in their lines, what is planted does not."""

import re
from pathlib import Path

import pytest

from tests.bench.digest import confirmed, main, section_of, sessions

FILE = Path(__file__).parent / "digest_sessions.jsonl"
OBEYED = Path(__file__).parent / "obeyed_digests.jsonl"
OBEYED_LEAST, OBEYED_MOST = 0.05, 0.17
"""Share of false ones that pass a look which confirms everything: of another speaker or denied, and of all kinds."""
KEPT, STORED = 0.95, 4
"""Least share of true statements that the rules keep, and most of those of another year that they let pass."""


def test_what_is_true_is_kept_and_a_strange_number_or_year_is_not() -> None:
    found = list(sessions(FILE))
    true = [
        bool(confirmed(item, section_of(str(item.get("kind") or "")), one).kept) for one in found for item in one.true
    ]
    wrong = [confirmed(item, "statements", one) for one in found for item in one.false if item["type"] == "year"]
    assert len(true) >= 100
    assert sum(true) >= KEPT * len(true)
    assert len(wrong) > STORED
    assert sum(bool(one.kept) for one in wrong) <= STORED


def test_what_others_said_elsewhere_and_other_figures_or_denials_stand_for_nobody() -> None:
    """Whatever a second look confirms: only what a thing is called in other words is left to its judgement."""
    found = list(sessions(OBEYED))
    true = [bool(confirmed(item, "statements", one).kept) for one in found for item in one.true]
    false = [(str(item["type"]), bool(confirmed(item, "statements", one).kept)) for one in found for item in one.false]
    assert sum(true) >= KEPT * len(true)
    assert [kind for kind, kept in false if kept and kind in ("number", "day", "place")] == []
    assert sum(kept for kind, kept in false if kind in ("speaker", "negation")) <= OBEYED_LEAST * len(false)
    assert sum(kept for _, kept in false) <= OBEYED_MOST * len(false)


def test_the_bench_prints_both_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = tmp_path / "one.jsonl"
    one.write_text(FILE.read_text("utf-8").splitlines()[0], "utf-8")
    main([str(one)])
    told = capsys.readouterr().out
    shares = re.findall(r"^(.+): \d+ of (\d+)", told, re.MULTILINE)
    assert shares == [("true kept", "13"), ("true with the right day", "4"), ("false stored", "20")]
