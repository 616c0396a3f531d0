"""Recorded answers of a strong model over sessions of our own, two a session: what stands of them, and what planted
falsehoods do. Sessions, labels and answers were written by people and a model who had not seen the rules."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.memory.digest_request import Known, touched
from bot.memory.digest_review import Review, digest_of, mended, review
from tests.bench.digest import Labelled, one_item, sessions

FILE = Path(__file__).parent / "recorded_digests.jsonl"
AT_ONCE, IN_THE_END, PLANTED = 0.80, 0.99, 3
"""Least shares of what the model proposed that are kept at once, and after its second answer; most planted ones (a
number, a year, another's fact, the contrary, an invention) that are stored."""
LIES = ("number", "year", "speaker", "negation", "invention")


@dataclass(frozen=True)
class Recorded:
    """A session with both answers."""

    session: Labelled
    shown: Known
    answer: dict[str, list[object]]
    again: str

    def first(self, *more: object) -> Review:
        """What stands of the first answer, with these statements at its head."""
        answer = self.answer | {"statements": [*more, *self.answer["statements"]]}
        found = review(json.dumps(answer), self.session.lines, self.session.scope, self.shown)
        assert isinstance(found, Review)
        return found

    def second(self, first: Review) -> Review:
        """What stands of both."""
        return mended(first, self.again, self.session.lines, self.session.scope, self.shown)


@pytest.fixture(scope="module")
def recorded() -> list[Recorded]:
    rows = [json.loads(row) for row in FILE.read_text("utf-8").splitlines()]
    return [
        Recorded(
            session, touched(session.known.memories, session.known.commitments, session.lines), row["answer"],
            json.dumps(row["again"]),
        )
        for session, row in zip(sessions(FILE), rows, strict=True)
    ]  # fmt: skip


def test_what_the_model_says_is_kept_nearly_all_of_it(recorded: list[Recorded]) -> None:
    proposed = once = both = 0
    for one in recorded:
        first = one.first()
        proposed += len(first.kept) + len(first.refused)
        once += len(first.kept)
        both += len(one.second(first).kept)
    assert proposed > 200
    assert once >= AT_ONCE * proposed
    assert both >= IN_THE_END * proposed


def test_its_summaries_stand(recorded: list[Recorded]) -> None:
    """Of what is not borne out a sentence is left out: most begin as the model wrote them."""
    told = [digest_of(one.first(), one.session.lines, one.session.scope, one.shown).summary for one in recorded]
    own = [str(one.answer["summary"]) for one in recorded]
    assert sum(mine[:20] == theirs[:20] for mine, theirs in zip(told, own, strict=True)) >= len(own) - 2


def test_hardly_anything_planted_in_its_answers_is_stored(recorded: list[Recorded]) -> None:
    planted, stored = Counter[str](), list[str]()
    for one in recorded:
        for lie in one.session.false:
            if lie["type"] not in LIES:
                continue
            planted[str(lie["type"])] += 1
            found = one.second(one.first(one_item(lie, "statements")))
            if any(item.text == lie["statement"] for item, _ in found.kept):
                stored.append(f"{lie['type']}: {lie['statement']}")
    assert planted.total() >= 60
    assert len(stored) <= PLANTED, stored
    assert not [lie for lie in stored if lie.startswith(("number", "year"))]
