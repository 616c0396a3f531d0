"""Reads a model's answer to a sentence that is to become a clean statement: ok, reject or clarify. Pure."""

import json
import re
from dataclasses import dataclass
from typing import Literal

from bot.text.clauses import one_row

TEXT_CHARS = 300
"""Longest statement; a longer answer is no clean one."""

QUESTION_CHARS = 120
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """ok with the statement, clarify with the question to the person, reject without either."""

    kind: Literal["ok", "reject", "clarify"]
    text: str = ""


def parse_verdict(answer: str) -> Verdict | None:
    """The verdict of an answer that is one JSON object, alone or in a code block; None for every other text."""
    found = _OBJECT.search(answer)
    try:
        said = json.loads(found[0]) if found else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    match said.get("status"), said.get("text"):
        case "reject", _:
            return Verdict("reject")
        case "ok", str() as text if 0 < len(row := one_row(text)) <= TEXT_CHARS:
            return Verdict("ok", row)
        case "clarify", str() as text if 0 < len(row := one_row(text)) <= QUESTION_CHARS:
            return Verdict("clarify", row)
        case _:
            return None
