"""LongMemEval's file as conversations and questions for tests.bench.recall, and BM25 over the same sessions beside it."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, runs, words
from tests.bench.lines import LINE_S, SESSION_S, Line, checked, content, moment

K1, B = 1.5, 0.75
"""Okapi's usual numbers, as in most libraries."""

PLACES = 5

NO_ANSWER = "_abs"
"""The end of a question's id whose answer is nowhere: the benchmark leaves it out when it measures what is found."""

QUESTION = (
    "question_id",
    "question_type",
    "question",
    "question_date",
    "haystack_dates",
    "haystack_session_ids",
    "haystack_sessions",
    "answer_session_ids",
)
TURN = ("role", "content")


def read(path: Path, part: int = 0) -> tuple[dict[str, list[Line]], list[dict[str, Any]]]:
    """Each question's own conversation, and the questions; of the first `part` questions (0: of all)."""
    rows = [row for row in _rows(path) if not row["question_id"].endswith(NO_ANSWER)]
    conversations: dict[str, list[Line]] = {}
    questions: list[dict[str, Any]] = []
    for row in rows[: part or None]:
        lines = _lines(row)
        conversations[row["question_id"]] = [line for line, _ in lines]
        gold = [line.turn for line, holds in lines if holds and line.session in row["answer_session_ids"]]
        question = {
            "conv": row["question_id"],
            "question": row["question"],
            "category": row["question_type"],
            "gold_turns": gold,
            "gold_sessions": row["answer_session_ids"],
            "asked_at": row["question_date"],
        }
        questions.append(question)
    return conversations, questions


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads(content(path))
    except ValueError as error:
        raise SystemExit(f"{path}: {error}") from error
    if not isinstance(found, list):
        raise SystemExit(f"{path}: no list of questions")
    return [checked(row, QUESTION, f"{path}, question {number}") for number, row in enumerate(found, 1)]


def _lines(row: Mapping[str, Any]) -> list[tuple[Line, bool]]:
    """The lines in the order of their days, each with whether the answer is in it."""
    sessions = zip(row["haystack_dates"], row["haystack_session_ids"], row["haystack_sessions"], strict=True)
    ordered = sorted(((moment(date)[0], name, turns) for date, name, turns in sessions), key=lambda each: each[0])
    found: list[tuple[Line, bool]] = []
    for index, (told, name, turns) in enumerate(ordered):
        begun = max(told, found[-1][0].at + SESSION_S * 1000) if found else told
        for place, turn in enumerate(checked(turn, TURN, f"{row['question_id']}, {name}") for turn in turns):
            if turn["content"].strip():
                at = begun + place * LINE_S * 1000
                line = Line(f"{name}/{place}", name, index, turn["role"].capitalize(), turn["content"], at)
                found.append((line, bool(turn.get("has_answer"))))
    return found


def figures(gold: Sequence[str], ranked: Sequence[str]) -> dict[str, float]:
    """As the benchmark counts: whether any session with the answer is among the first, and whether all are."""
    wanted, first = set(gold), set(ranked[:PLACES])
    return {
        "R@1": float(bool(wanted & set(ranked[:1]))),
        "R@5": float(bool(wanted & first)),
        "recall_all@5": float(wanted <= first),
    }


class Bm25:
    """Okapi's BM25 over the whole sessions of a conversation, Chinese cut into a dictionary's words."""

    def __init__(self, lines: Sequence[Line]) -> None:
        texts: dict[str, list[str]] = {}
        for line in lines:
            texts.setdefault(line.session, []).extend(_terms(line.text))
        self._counts = {name: Counter(terms) for name, terms in texts.items()}
        self._lengths = {name: len(terms) for name, terms in texts.items()}
        self._average = sum(self._lengths.values()) / max(1, len(texts)) or 1.0
        self._holding = Counter(term for counts in self._counts.values() for term in counts)

    def sessions(self, question: str) -> list[str]:
        """All sessions, the best first."""
        asked = set(_terms(question))
        return sorted(self._counts, key=lambda name: -sum(self._share(name, term) for term in asked))

    def _share(self, name: str, term: str) -> float:
        count, holding = self._counts[name][term], self._holding[term]
        rarity = math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
        return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * self._lengths[name] / self._average))


def _terms(text: str) -> list[str]:
    found = [term for run, word in runs(fold(text)) for term in ((word,) if word else words(run))]
    return [term for term in found if term not in STOP_WORDS]
