"""A row of the table of faults: what is tried, how often, what must come out. Pure; it starts nothing."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Sign = Literal["==", "<=", ">="]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of a row one piece does: so many units (kills, strangers, cases: the row says what), with this seed."""

    units: int
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """What came out: `sums` are added over pieces, of `most` the largest counts; `notes` are for people."""

    sums: Mapping[str, float] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


Run = Callable[[Path, Size], Awaitable[Found]]
"""Does one piece in a new folder of its own. It prints nothing and can be cancelled."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a figure must be; with `per` it is that many for each of the sums of that name.

    `clocked` ones are of the machine's speed: they hold for the long version, and are not asked of the short one.
    """

    name: str
    sign: Sign
    figure: float
    per: str = ""
    clocked: bool = False

    def holds(self, found: Found) -> bool:
        """Whether it is so; a figure that is not there never holds."""
        got = figure_of(found, self.name)
        limit = self.figure * (found.sums.get(self.per, 0) if self.per else 1)
        if got is None:
            return False
        return {"==": got == limit, "<=": got <= limit, ">=": got >= limit}[self.sign]


@dataclass(frozen=True, slots=True)
class Row:
    """One fault or attack: its number and name, what is wanted in words, and how it is tried.

    `unit` names what is counted: the sum of that name says how many were tried. `long` of them are tried by
    `make torture`, in pieces of `piece` units that take at most `limit_s` seconds each, and `short` by `make test`;
    with `short` 0 the `existing` tests (file::test) are the short version. `differs` says which other text holds
    before the row. A row that is `not_applicable` says why, and has nothing to run.
    """

    id: str
    title: str
    wanted: str
    unit: str = ""
    long: int = 0
    short: int = 0
    piece: int = 0
    limit_s: float = 600.0
    bounds: tuple[Bound, ...] = ()
    run: Run | None = None
    existing: tuple[str, ...] = ()
    differs: str = ""
    not_applicable: str = ""

    def pieces(self) -> tuple[Size, ...]:
        """All of the long version: sizes that make up `long` together, each with a seed of its own."""
        each = self.piece or self.long
        count = -(-self.long // each) if each else 0
        return tuple(Size(min(each, self.long - number * each), number + 1) for number in range(count))


def figure_of(found: Found, name: str) -> float | None:
    """A sum or a maximum by its name."""
    return found.sums.get(name, found.most.get(name))


def merge(founds: Iterable[Found]) -> Found:
    """All pieces together."""
    sums: dict[str, float] = {}
    most: dict[str, float] = {}
    notes: list[str] = []
    for found in founds:
        for name, figure in found.sums.items():
            sums[name] = sums.get(name, 0) + figure
        for name, figure in found.most.items():
            most[name] = max(most.get(name, figure), figure)
        notes += found.notes
    return Found(sums, most, tuple(notes))


def broken(row: Row, found: Found, tried: int) -> tuple[str, ...]:
    """What is not as wanted, a phrase each; that fewer than `tried` units were tried is wrong, too."""
    bounds = (Bound(row.unit, ">=", tried), *(each for each in row.bounds if tried >= row.long or not each.clocked))
    return tuple(
        f"{bound.name} {figure_of(found, bound.name)}, wanted {bound.sign} {bound.figure:g}"
        + (f" x {bound.per}" if bound.per else "")
        for bound in bounds
        if not bound.holds(found)
    )
