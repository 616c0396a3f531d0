"""Recorded answers of a strong model over sessions of our own: its digests with falsehoods planted in them, and its
second look at those. Sessions, labels and answers were written by people and a model who had not seen the rules."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from bot.memory.digest.answer import read_check
from bot.memory.digest.request import KnownFacts, touchable
from bot.memory.digest.review import Review, checked, digest_of, review
from tests.bench.digest import Labelled, planted, sessions

FILE = Path(__file__).parent / "recorded_digests.jsonl"
KEPT = 0.96
"""Least share of what the model proposed that is kept in the end."""
LOOKED_AT = 16
"""So many statements of each answer the second look was recorded for."""


@dataclass(frozen=True)
class Recorded:
    """A session with the answer and the second look at it."""

    session: Labelled
    shown: KnownFacts
    answer: str
    check: str

    @cached_property
    def found(self) -> Review:
        """What stands in the end; worked out once for all tests."""
        told = json.loads(planted(self.answer, self.session))
        told["statements"] = told["statements"][:LOOKED_AT]
        first = review(json.dumps(told), self.session.lines, self.session.scope, self.shown)
        assert isinstance(first, Review)
        return checked(first, read_check(self.check) or {}, self.session.lines, self.session.scope, self.shown)

    @property
    def lies(self) -> set[str]:
        """The planted statements."""
        return {str(item["statement"]) for item in self.session.false}


@pytest.fixture(scope="module")
def recorded() -> list[Recorded]:
    rows = [json.loads(row) for row in FILE.read_text("utf-8").splitlines()]
    return [
        Recorded(session, touchable(session.known, session.lines), json.dumps(row["answer"]), json.dumps(row["check"]))
        for session, row in zip(sessions(FILE), rows, strict=True)
    ]


def test_what_the_model_says_is_kept_nearly_all_of_it(recorded: list[Recorded]) -> None:
    proposed = kept = 0
    for one in recorded:
        found = one.found
        own = {item.number for item in found.answer.items if item.text not in one.lies}
        proposed += len(own)
        kept += len(own & {item.number for item, _ in found.kept})
    assert proposed > 180
    assert kept >= KEPT * proposed


def test_its_summaries_stand(recorded: list[Recorded]) -> None:
    told = [digest_of(one.found, one.session.lines, one.session.scope, one.shown).summary for one in recorded]
    own = [str(json.loads(one.answer)["summary"]) for one in recorded]
    assert sum(mine[:20] == theirs[:20] for mine, theirs in zip(told, own, strict=True)) >= len(own) - 3


def test_nothing_planted_in_its_answers_is_stored(recorded: list[Recorded]) -> None:
    stored = [item.text for one in recorded for item, _ in one.found.kept if item.text in one.lies]
    assert sum(len(one.lies) for one in recorded) >= 90
    assert stored == []
