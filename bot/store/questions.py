"""What nuan asked a person back about memories, until it is answered, they say something else, or its time is over."""

import json
import sqlite3
from dataclasses import dataclass
from typing import cast

from bot.store.database import Repository
from bot.types.memory import Question, QuestionKind

PENDING = "SELECT person_id, kind, memories, forever FROM question WHERE chat_id = ?1 AND until > ?2"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the instant, ms, until which an answer counts."""

    question: Question
    until: int


class Questions(Repository):
    """One open question for each person of a chat."""

    async def drop(self, chat_id: int, person_id: int) -> None:
        """They spoke of something else: what they say later answers nothing."""
        await self._database.write(lambda db: ask(db, chat_id, person_id, None))


def ask(db: sqlite3.Connection, chat_id: int, person_id: int, asked: Asked | None) -> None:
    """Verb part: the question of a receipt takes the place of the one before; without one nothing is asked."""
    db.execute("DELETE FROM question WHERE chat_id = ? AND person_id = ?", (chat_id, person_id))
    if asked is not None:
        question = asked.question
        db.execute(
            "INSERT INTO question (chat_id, person_id, kind, memories, forever, until) VALUES (?, ?, ?, ?, ?, ?)",
            (chat_id, person_id, question.kind, json.dumps(question.memories), int(question.forever), asked.until),
        )


def question_of(row: tuple[object, ...]) -> tuple[int, Question]:
    """A row of PENDING: whom it asks, and what."""
    person_id, kind, memories, forever = row
    return cast("int", person_id), Question(
        cast("QuestionKind", kind), tuple(json.loads(str(memories))), bool(forever)
    )  # fmt: skip
