"""Events of one chat become lines: repeated ones fold together (C7), a window selects (C6).

It never loads, stores or renders anything."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, runtime_checkable

from bot.ports import offers
from bot.types.event import Event, EventKind

FOLD_MS = 5_000
"""Equal events and server lines closer than this fold into one line (SEED_SYSTEMS 1.1)."""

LONG_FOLD_MS = 300_000
"""The same for things that come in trickles: label pickup and hurt.* (SEED_SYSTEMS 1.1)."""

RECENT = 50
"""Lines of a view (C6)."""

WINDOW_S = 86_400
"""Seconds a view looks back (C6)."""

SCENE_LABEL = "scene"
"""The label of an event that says how a place looks now; two scenes never fold."""

_COUNTED = re.compile(r"(?s)(?P<base>.*\S)\s*x(?P<count>[1-9][0-9]{0,5})")
_AMOUNT = re.compile(
    r"(?s)(?P<subject>.*?):(?P<amount>[+-][0-9]{1,9}(?:\.[0-9]{1,6})?)(?:\s*x(?P<count>[1-9][0-9]{0,5}))?"
)


@runtime_checkable
class Quoting(Protocol):
    """An event that says more than its text: `quote` is what it replies to, `marks` what was sent along."""

    @property
    def quote(self) -> str:
        """The text of an older line, or who said it; "" for none."""
        ...

    @property
    def marks(self) -> str:
        """Like [image] [file name.txt]; "" for none."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a context. `since` is when its first event happened, `at` its newest one, ms.

    `count` is how often it happened: never less than the number of its events. `tail` is the end of `text` that tells
    how often or how much; a cut leaves it there.
    """

    event_ids: tuple[int, ...]
    since: int
    at: int
    kind: EventKind
    name: str
    text: str
    label: str = ""
    count: int = 1
    forwarded: bool = False
    quote: str = ""
    marks: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class _Fold:
    """What an event may fold into: events with equal `key` closer than `window_ms` are one line."""

    key: tuple[str, ...]
    window_ms: int
    count: int
    amount: Decimal | None = None


def stack(events: Iterable[Event]) -> tuple[Line, ...]:
    """Fold consecutive equal events and server lines; messages, bot and tool lines stay one line each.

    Events are ordered by id. A fold takes the time of its newest event, so a steady trickle stays one line.
    """
    lines: list[Line] = []
    run: list[Event] = []
    folds: list[_Fold] = []
    for event in events:
        fold = _fold(event)
        if run and not _joins(run[-1], folds[-1], event, fold):
            lines.append(_line(run, folds))
            run, folds = [], []
        run.append(event)
        folds.append(fold)
    if run:
        lines.append(_line(run, folds))
    return tuple(lines)


def select(
    lines: Iterable[Line], now: int, recent: int | None = RECENT, window_s: int | None = WINDOW_S
) -> tuple[Line, ...]:
    """The newest `recent` lines of the last `window_s` seconds before `now` (ms), in their order.

    0 lines means none; None means no such limit.
    """
    inside = [line for line in lines if window_s is None or line.at >= now - window_s * 1000]
    return tuple(inside if recent is None else inside[max(len(inside) - recent, 0) :])


def _joins(last: Event, into: _Fold, event: Event, fold: _Fold) -> bool:
    return bool(fold.key) and fold.key == into.key and abs(event.at - last.at) <= fold.window_ms


def _fold(event: Event) -> _Fold:
    if event.kind == "server":
        return _Fold(("server", event.name, event.text), FOLD_MS, 1)
    if event.kind != "event" or event.label == SCENE_LABEL:
        return _Fold((), 0, 1)
    hurt = event.label == "hurt" or event.label.startswith("hurt.")
    window_ms = LONG_FOLD_MS if hurt or event.label == "pickup" else FOLD_MS
    if (hurt or event.label == "heal") and (number := _AMOUNT.fullmatch(event.text)):
        count = int(number["count"] or 1)
        key: tuple[Literal["sum"], str, str, str] = ("sum", event.label, event.name, number["subject"])
        return _Fold(key, window_ms, count, Decimal(number["amount"]) * count)
    counted = _COUNTED.fullmatch(event.text)
    base, count = (counted["base"], int(counted["count"])) if counted else (event.text, 1)
    return _Fold(("event", event.label, event.name, base), window_ms, count)


def _line(run: list[Event], folds: list[_Fold]) -> Line:
    first = run[0]
    quote, marks = (first.quote, first.marks) if offers(first, Quoting) else ("", "")
    count = sum(fold.count for fold in folds)
    base, tail = (first.text, "") if len(run) == 1 else _folded(folds, count)
    return Line(
        event_ids=tuple(event.id for event in run),
        since=first.at,
        at=max(event.at for event in run),
        kind=first.kind,
        name=first.name,
        text=base + tail,
        label=first.label,
        count=count,
        forwarded=first.forwarded,
        quote=quote,
        marks=marks,
        tail=tail,
    )


def _folded(folds: list[_Fold], count: int) -> tuple[str, str]:
    """What happened, and how often or how much of it."""
    base = folds[0].key[-1]
    amounts = [fold.amount for fold in folds if fold.amount is not None]
    if not amounts:
        return base, f" x{count}" if base else f"x{count}"
    total = sum(amounts, Decimal(0)).quantize(Decimal("0.1"))
    return base, f":{total:+}" if total else ":0"
