"""The table of all faults: id, what, tried, wanted, got. Pure: it starts nothing and reads nothing."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.torture.row import Found, Row, broken, figure_of, merge
from tests.torture.runner import Outcome, runnable, wrong_already

HEAD = ("id", "what", "tried", "wanted", "got")
PENDING = "PENDING: nobody has written this row yet"


@dataclass(frozen=True, slots=True)
class Line:
    """One row as it is printed; `state` is ok, broken, incomplete or n.a."""

    cells: tuple[str, str, str, str, str]
    state: str
    notes: tuple[str, ...] = ()


def line_of(number: str, row: Row | None, outcomes: Sequence[Outcome], pieces: int) -> Line:
    """What is known of one row."""
    if row is None:
        return Line((number, "", "", "", PENDING), "incomplete")
    if row.not_applicable:
        return Line((number, row.title, "", row.wanted, f"n.a.: {row.not_applicable}"), "n.a.")
    row = runnable(row)
    found = merge(outcome.found for outcome in outcomes)
    errors = [outcome.error for outcome in outcomes if outcome.error]
    figures = _figures(row, found)
    tried = f"{figure_of(found, row.unit) or 0:g} {row.unit}"
    notes = (*errors, *(found.notes if errors else ()), *([f"differs: {row.differs}"] if row.differs else []))
    if errors or wrong_already(row, found):
        wrong = "; ".join((*errors, *wrong_already(row, found)))
        return Line((number, row.title, tried, row.wanted, f"BROKEN: {wrong}; {figures}"), "broken", notes)
    if len(outcomes) < pieces:
        said = f"{len(outcomes)} of {pieces} pieces; {figures}"
        return Line((number, row.title, tried, row.wanted, said), "incomplete", notes)
    if missed := broken(row, found, row.long):
        return Line((number, row.title, tried, row.wanted, f"BROKEN: {'; '.join(missed)}; {figures}"), "broken", notes)
    return Line((number, row.title, tried, row.wanted, f"ok: {figures}"), "ok", notes)


def _figures(row: Row, found: Found) -> str:
    """What was counted, the bounded ones first."""
    bounded = [bound.name for bound in row.bounds if figure_of(found, bound.name) is not None]
    others = [name for name in (*found.sums, *found.most) if name not in (*bounded, row.unit)]
    return ", ".join(f"{name} {figure_of(found, name):g}" for name in (*dict.fromkeys(bounded), *others))


def exit_code(lines: Iterable[Line]) -> int:
    """0 all right, 1 something is broken, 2 something is missing."""
    states = {line.state for line in lines}
    return 1 if "broken" in states else 2 if "incomplete" in states else 0


def summary(lines: Sequence[Line]) -> str:
    """All in one line."""
    count: Mapping[str, int] = {state: sum(line.state == state for line in lines) for state in STATES}
    return f"{len(lines)} rows: " + ", ".join(f"{number} {state}" for state, number in count.items())


STATES = ("ok", "broken", "incomplete", "n.a.")


def printed(lines: Sequence[Line]) -> str:
    """The table with its columns below each other; what is wanted and got may be long and is not cut."""
    rows = [HEAD, *(line.cells for line in lines)]
    widths = [max(_width(row[column]) for row in rows) for column in range(3)]
    told: list[str] = []
    for line in (Line(HEAD, ""), *lines):
        cells, notes = line.cells, line.notes
        cut = [cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=False)]
        told.append(" | ".join((*cut, *cells[3:])))
        told += [f"{' ' * widths[0]} ! {note}" for note in notes]
    return "\n".join((*told, "", summary(lines)))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
