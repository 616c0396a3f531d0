"""The second look at a digest: what a model is shown of it, and how its answer is read.

Whoever writes down a talk may err; whoever is shown each statement beside the talk finds most of it. It judges
meaning; what must never go wrong the rules guard before and after (grounding.py).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.memory.digest_answer import (
    CITED,
    LINES,
    TEXT,
    TEXT_CHARS,
    Answer,
    Item,
    found_object,
    line_numbers,
    list_of,
    object_of,
    one_text,
)
from bot.memory.digest_request import Known
from bot.memory.minutes import DigestLine
from bot.text.clean import escaped
from bot.types.prompt import Shape

BEFORE, BEHIND = 6, 6
"""So many lines before and behind one that is cited tell what it is about."""

SUMMARY = 0
"""The number of the summary; items have their own, changes of what is open follow them."""

SHAPE = Shape(
    "check",
    json.dumps(object_of({"wrong": list_of({"n": {"type": "integer"}, "text": TEXT, "when": TEXT, "from": LINES})})),
)
"""What an answer must look like, for servers that can be told."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What is said instead of an item; "" where nobody said it. "" and no lines: as they were."""

    text: str
    when: str = ""
    cited: tuple[int, ...] = ()


def lines_around(found: Answer, lines: Sequence[DigestLine]) -> tuple[DigestLine, ...]:
    """The lines that a digest cites, with those before and behind them: what a second look is shown of a talk."""
    cited = {number for item in found.items for number in item.cited}
    cited |= {number for change in found.changes for number in change.cited}
    near = {number + step for number in cited for step in range(-BEFORE, BEHIND + 1)}
    return tuple(line for line in lines if line.number in near)


def check_rows(found: Answer, doubts: Mapping[int, str], known: Known, *, whole: bool) -> str:
    """A digest as numbered rows: lines, text, whom it is about, when, and why a rule doubts it; the summary where the
    talk is shown `whole`."""
    rows = [f"{SUMMARY}. {found.summary}"] if whole else []
    rows += [_row(item, doubts.get(item.number, "")) for item in found.items]
    texts = {("T", task.id): task.text for task in known.commitments}
    texts |= {("R", one.id): one.text for one in known.reminders}
    texts |= {("#", one.id): one.text for one in known.memories}
    for number, one in enumerate(found.changes, first_change(found)):
        new = f" → {'; '.join(filter(None, (one.text, one.when)))}" if one.state == "changed" else ""
        known_text = texts.get((one.mark, one.number), f"{one.mark}{one.number}")
        rows.append(f"{number}. {list(one.cited)} {one.state}: {known_text}{new}")
    return escaped("\n".join(rows))


def first_change(found: Answer) -> int:
    """The number of the first change of a known task or reminder."""
    return max((item.number for item in found.items), default=SUMMARY) + 1


def _row(item: Item, doubt: str) -> str:
    kind = "" if item.section == "statements" else item.section.removesuffix("s") + ": "
    facets = "; ".join(filter(None, (item.about, item.toward, item.when)))
    return f"{item.number}. {list(item.cited)} {kind}{item.text}" + (f" ({facets})" if facets else "") + (
        f" ? {doubt}" if doubt else ""
    )  # fmt: skip


def read_check(answer: str) -> Mapping[int, Correction] | None:
    """The corrections by number; None where the answer is none."""
    found = found_object(answer)
    if found is None or not isinstance(wrong := found.get("wrong"), list):
        return None
    return dict(_corrections(wrong))


def _corrections(wrong: Iterable[object]) -> Iterable[tuple[int, Correction]]:
    for one in wrong:
        if isinstance(one, dict):
            text, when = one_text(one.get("text"), TEXT_CHARS), one_text(one.get("when"), 24)
            for number in line_numbers(one.get("n"))[:1]:
                yield number, Correction(text, when, line_numbers(one.get("from"))[:CITED])
        else:
            for number in line_numbers(one)[:1]:
                yield number, Correction("")
