"""Reads a model's answer to a sentence that is to be a clean statement, and tells whether that stands. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.memory.evidence import folded_plain, kin, novelty, terms
from bot.memory.grounding import stands
from bot.memory.minutes import Scope
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


def grounded(text: str, said: Sequence[tuple[str, int]], scope: Scope) -> bool:
    """Whether a statement stands in what its owner said (with the time, ms), in the last line and in the first, with
    no word and nobody of its own."""
    telling, heard = terms(folded_plain(text)), folded_plain("\n".join(words for words, _ in said))
    own = not novelty(folded_plain(text), heard)[0] and kin(folded_plain(text)) <= kin(heard)
    return own and stands(text, said, scope) == len(said) - 1 and bool(telling & terms(folded_plain(said[0][0])))
