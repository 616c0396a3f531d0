"""Labelled sessions of our own in three scripts: what is true stands in their lines, what is planted does not."""

from pathlib import Path

import pytest

from bot.memory.digest_answer import Broken
from bot.memory.digest_review import Review, review
from tests.bench.digest import Labelled, answer_of, main, section_of, sessions

FILE = Path(__file__).parent / "digest_sessions.jsonl"
KEPT, STORED = 0.82, 32
"""Least share of true statements that are kept at once, and most planted ones that are stored at once.

What is not kept at once the model is asked about again."""


def stands(session: Labelled, item: object, kind: str) -> bool:
    answer = answer_of([item], section_of(kind))  # type: ignore[list-item]
    got = review(answer, session.lines, session.scope, session.known)
    assert not isinstance(got, Broken)
    return isinstance(got, Review) and bool(got.kept)


def test_what_is_true_is_kept_and_what_is_planted_is_not() -> None:
    found = list(sessions(FILE))
    true = [stands(one, item, str(item.get("kind") or "")) for one in found for item in one.true]
    false = [f"{one.name}: {item['statement']}" for one in found for item in one.false if stands(one, item, "")]
    assert len(true) >= 100
    assert sum(true) >= KEPT * len(true)
    assert len(false) <= STORED, false


def test_the_bench_prints_both_shares(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(FILE)])
    told = capsys.readouterr().out
    assert "true kept at once: " in told
    assert "false stored at once: " in told
