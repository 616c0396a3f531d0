"""Events of one chat become lines: equal ones fold together, a window selects, a batch tells who is answered."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from bot.core.events import Event, EventKind

MOST_LINES = 50
"""Messages that one turn answers whole, the newest of each person first; the others are cut, or folded and counted."""

MOST_TOKENS = 12_000
"""And no more than so many tokens of them: three messages that a platform made of one long text fit in."""

MOST_NAMES = 12
"""People who are named as waiting for an answer."""

FOLD_MS = 5_000
"""Equal events and server lines closer than this fold into one line (SEED_SYSTEMS 1.1)."""

LONG_FOLD_MS = 300_000
"""The same for things that come in trickles: label pickup and hurt.* (SEED_SYSTEMS 1.1)."""

SCENE_LABEL = "scene"
"""The label of an event that says how a place looks now; two scenes never fold."""

_COUNTED = re.compile(r"(?s)(?P<base>.*\S)\s*x(?P<count>[1-9][0-9]{0,5})")
_AMOUNT = re.compile(
    r"(?s)(?P<subject>.*?):(?P<amount>[+-][0-9]{1,9}(?:\.[0-9]{1,6})?)(?:\s*x(?P<count>[1-9][0-9]{0,5}))?"
)


def whole_lines(answering: Sequence[Event], tokens: int, chars: int, cost: Callable[[str], int]) -> frozenset[int]:
    """The numbers of the messages, in order, that are told whole: the newest always, others while there is room.

    `tokens` is the room, beside MOST_TOKENS; of one message at most `chars` are told. Everybody's newest message comes
    before anybody's second, so that one person's flood crowds nobody out.
    """
    if not answering:
        return frozenset()
    turns: Counter[int | None] = Counter()
    ranked: list[tuple[int, int, Event]] = []
    for event in reversed(answering):
        ranked.append((turns[event.person_id], -event.id, event))
        turns[event.person_id] += 1
    left, kept = min(tokens, MOST_TOKENS), {answering[-1].id}
    left -= cost(answering[-1].text[:chars])
    for _, _, event in sorted(ranked, key=lambda each: each[:2])[1:MOST_LINES]:
        left -= cost(event.text[:chars])
        if left < 0:
            break
        kept.add(event.id)
    return frozenset(kept)


def waiting_names(answering: Sequence[Event], told: Iterable[Event]) -> tuple[str, ...]:
    """The names of all who wait for this answer, in the order in which they came; nobody where that is plain: only one
    person talks in what is `told`."""
    people = {event.person_id: event.name for event in answering if event.kind == "message"}
    talking = {event.person_id for event in told if event.kind == "message"}
    return tuple(people.values())[:MOST_NAMES] if people and len(talking | people.keys()) > 1 else ()


def following_names(answering: Sequence[Event]) -> tuple[str, ...]:
    """Those of them who did not call: they go on talking in their activation window."""
    people = {event.person_id: event.name for event in answering if event.why == "window"}
    called = {event.person_id for event in answering if event.why != "window"}
    return tuple(name for person, name in people.items() if person not in called)[:MOST_NAMES]


@dataclass(frozen=True, slots=True)
class ContextLine:
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


def fold_events(events: Iterable[Event]) -> tuple[ContextLine, ...]:
    """Fold consecutive equal events and server lines; messages, bot and tool lines stay one line each.

    Events are ordered by id. A fold takes the time of its newest event, so a steady trickle stays one line.
    """
    lines: list[ContextLine] = []
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


def _line(run: list[Event], folds: list[_Fold]) -> ContextLine:
    first = run[0]
    count = sum(fold.count for fold in folds)
    base, tail = (first.text, "") if len(run) == 1 else _folded(folds, count)
    return ContextLine(
        event_ids=tuple(event.id for event in run),
        since=first.at,
        at=max(event.at for event in run),
        kind=first.kind,
        name=first.name,
        text=base + tail,
        label=first.label,
        count=count,
        forwarded=first.forwarded,
        quote=first.quote,
        marks=first.marks,
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
