"""Events of one chat become lines (equal ones fold together), and lines with the scene the compact XML of one <ctx> within
a token limit."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from bot.core.events import FORGOTTEN, WISH_TAKEN, Event, EventKind
from bot.text.clean import clean, clean_name
from bot.text.dates import duration_label
from bot.text.length import clip, clip_whole

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

NAME_CHARS, EVENT_CHARS, QUOTE_CHARS = 32, 100, 30
"""Code points of a name or label, of what happened, and of the line that a message replies to."""

TOOL_CHARS, TOOL_LINES = 120, 3
"""Code points of a tool line, and how many of the newest are kept (C8)."""

_CTX = "<ctx"
_ELEMENT = re.compile(r"<(p) [^>]*\b(r)=|<([pbtseg])[ >]")
_LEGEND_ITEM = re.compile(r"\s+(?=[prbtseg]=)")
"""Before what a legend says of one element or attribute: b=…, r=…"""

_NOW = re.compile(r'<ctx now="(?:([0-9-]{10}) )?(\d\d:\d\d)')
"""Nothing that people write looks so: it is escaped."""

NAMES = ", "
"""Between the names of those who wait for an answer."""

CUT_LABEL = "cut"
"""A bot line with this label is what people saw of a cancelled turn: <b cut="1">."""

AGAIN = '<p again="1"'
"""How a message begins that the log holds already, and that is answered now."""

RECEIPT_LABEL = "memory"
"""A bot line with this label says what became of a wish to remember or forget."""


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


def scene_text(text: str, max_chars: int) -> str:
    """The scene as one clean line of at most `max_chars` code points, ending in … when it was cut."""
    return clip(" ".join(clean(text).split()), max_chars)


@dataclass(frozen=True, slots=True)
class CtxFrame:
    """The words around the lines. `now` is local time as "2026-11-21 09:05", or "09:05" where the log has told the
    date; "" leaves it, weekday, holiday or legend out. `alone` is who talks with nuan alone and is not named.

    `to` names those who wait for the answer, where that is not plain, `follow` those who did not call. `legend`
    explains the elements, each where a log shows it first: it knows those `explained` before. `note` belongs into the
    first <ctx> of a log. `cut_note` ends a message that was too long to be taken whole; {n} in it becomes the number of
    code points left out. `forgotten` stands for a line that was, `wish` for a wish to forget that was taken out of one.
    """

    now: str
    weekday: str
    holiday: str = ""
    legend: str = ""
    explained: frozenset[str] = frozenset()
    note: str = ""
    cut_note: str = "…(+{n})"
    forgotten: str = "(forgotten)"
    wish: str = "(asked to forget something: see below)"
    to: tuple[str, ...] = ()
    follow: tuple[str, ...] = ()
    alone: str | None = None


@dataclass(frozen=True, slots=True)
class CtxLimits:
    """How much a <ctx> holds. Tokens bound only lines that are not being answered; the rest is in code points.

    `bot_lines` are the newest ones kept (C8); a silence of `gap_ms` shows as <g d=…/> (C5).
    """

    tokens: int
    answered: int = 8_000
    message: int = 200
    scene: int = 300
    bot: int = 80
    bot_lines: int = 3
    gap_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class CtxDelta:
    """One rendered <ctx>: the lines it shows in time order, its text ("" when it has nothing to say), its tokens.

    `folded` is the number of events that are only counted in <g n=…/>.
    """

    lines: tuple[ContextLine, ...]
    text: str
    tokens: int
    folded: int


def render_delta(
    events: Iterable[Event],
    answering_ids: frozenset[int],
    frame: CtxFrame,
    limits: CtxLimits,
    cost: Callable[[str], int],
    earlier: int = 0,
    upto: int = 0,
) -> CtxDelta:
    """The <ctx> of one turn: every message being answered, the newest other lines that fit, one <g> for the rest.

    `events` are ordered by id, `cost` gives the tokens of a text, `earlier` is the number of events that
    were not even loaded. Every event is either in a line shown or counted as folded. What is up to event `upto` and
    answered now was told before: it is marked so.
    """
    lines = fold_events(events)
    shown = _shown(lines, answering_ids, frame, limits, cost)
    shown |= {ids: shown[ids].replace("<p", AGAIN, 1) for ids in shown if ids[-1] <= upto}
    _drop_receipts(lines, shown, earlier)
    kept = tuple(line for line in lines if line.event_ids in shown)
    folded = earlier + sum(len(line.event_ids) for line in lines) - sum(len(line.event_ids) for line in kept)
    text = render(_elements(lines, shown, limits, earlier), frame)
    return CtxDelta(kept, text, cost(text) if text else 0, folded)


def explained(messages: Iterable[str]) -> frozenset[str]:
    """The elements that the <ctx> in these messages of a log show, which it has explained; those of an opening are not."""
    return _elements_in(text[text.find(_CTX) :] for text in messages if _CTX in text)


def _elements_in(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(name for text in texts for found in _ELEMENT.findall(text) for name in found if name)


def told_now(messages: Sequence[str]) -> tuple[str, str]:
    """The newest date and the newest time that a <ctx> in these messages of a log tells; "" where none does."""
    told = [found for text in reversed(messages) if (found := _NOW.search(text))]
    return next((found[1] for found in told if found[1]), ""), told[0][2] if told else ""


def render(elements: Iterable[str], frame: CtxFrame) -> str:
    """The <ctx> around rendered elements, one per line; "" when there are none."""
    body = tuple(elements)
    if not body:
        return ""
    holiday = f' holiday="{_attribute(frame.holiday)}"' if frame.holiday else ""
    whom = f"{_names('to', frame.to)}{_names('follow', frame.follow)}"
    moment = " ".join(filter(None, (frame.now, frame.weekday)))
    now = f' now="{_attribute(moment)}"' if moment else ""
    head = f"<ctx{now}{holiday}{whom}>"
    comment = re.sub(r"-{2,}", "—", " ".join(clean(_legend(body, frame)).split()))
    legend = (f"<!-- {comment} -->",) if comment else ()
    between = "" if frame.alone is not None and len(body) == 1 and not legend else "\n"
    return between.join((head, *legend, *body, "</ctx>"))


def _legend(body: Sequence[str], frame: CtxFrame) -> str:
    """What is said of the elements in here that are not explained yet, and in the first <ctx> the note."""
    new, is_first = _elements_in(body) - frame.explained, not frame.explained
    items = [item for item in _LEGEND_ITEM.split(frame.legend) if item[:1] in new or (item[1:2] != "=" and is_first)]
    return " ".join((*items, frame.note) if is_first else items)


def _names(attribute: str, names: tuple[str, ...]) -> str:
    told = NAMES.join(clip(clean_name(name), NAME_CHARS) for name in names)
    return f' {attribute}="{_attribute(told)}"' if names else ""


def element(line: ContextLine, limits: CtxLimits, whole: str | None = None, alone: str | None = None) -> str:
    """One line as XML, cut to its limit with …; a line being answered gives its cut note as `whole`.

    What `alone` writes does not say so. r="…" is the beginning of the older line that a message replies to.
    """
    match line.kind:
        case "message":
            forwarded = ' forwarded="1"' if line.forwarded else ""
            name = f' n="{_attribute(clip(clean_name(line.name), NAME_CHARS))}"' if line.name != alone else ""
            quote = _attribute(clip(" ".join(clean(line.quote).split()), QUOTE_CHARS))
            replies = f' r="{quote}"' if quote else ""
            said = _content(line.text, limits.message, limits, whole)
            marks = _escape(clip(clean(line.marks), limits.message if whole is None else limits.answered))
            return f"<p{name}{replies}{forwarded}>{said}{' ' if said and marks else ''}{marks}</p>"
        case "server" if whole is None:
            return f"<s>{_escape(_counted(line, limits.message))}</s>"
        case "server":
            return f"<s>{_content(line.text, limits.message, limits, whole)}</s>"
        case "tool":
            return f"<t>{_content(line.text, TOOL_CHARS, limits, whole)}</t>"
        case "bot" if line.label == CUT_LABEL:
            return f'<b cut="1">{_content(line.text, limits.message, limits, whole)}</b>'
        case "bot":
            label = f' f="{_attribute(clip(clean_name(line.label), NAME_CHARS))}"' if line.label else ""
            return f"<b{label}>{_content(line.text, limits.bot, limits, whole)}</b>"
        case "event":
            return _event(line, limits)


def _shown(
    lines: tuple[ContextLine, ...],
    answering_ids: frozenset[int],
    frame: CtxFrame,
    limits: CtxLimits,
    cost: Callable[[str], int],
) -> dict[tuple[int, ...], str]:
    """The lines that are shown, by their events, as XML: all answered ones, the newest scene, the others that fit."""
    shown = {
        line.event_ids: _told(line, limits, frame, frame.cut_note)
        for line in lines
        if not answering_ids.isdisjoint(line.event_ids)
    }
    scenes = [line for line in lines if _is_scene(line)]
    left = limits.tokens
    for line in scenes[-1:]:
        left -= cost(shown.setdefault(line.event_ids, _told(line, limits, frame)))
    others = [line for line in lines if line.event_ids not in shown and not _is_scene(line)]
    for line in _newest_first(others, limits):
        xml = _told(line, limits, frame)
        left -= cost(xml)
        if left < 0:
            break
        shown[line.event_ids] = xml
    return shown


def _drop_receipts(lines: tuple[ContextLine, ...], shown: dict[tuple[int, ...], str], earlier: int) -> None:
    """No receipt stands where the line before it is left out, which holds the wish."""
    stands = not earlier
    for line in lines:
        if line.kind == "bot" and line.label == RECEIPT_LABEL:
            if not stands:
                shown.pop(line.event_ids, None)
        elif not _is_scene(line):
            stands = line.event_ids in shown


def _told(line: ContextLine, limits: CtxLimits, frame: CtxFrame, whole: str | None = None) -> str:
    """One line as XML; of one that was forgotten, that it was, and where a wish to forget stood, that it did."""
    if line.label == FORGOTTEN:
        line = replace(line, text=frame.forgotten, label="")
    elif line.label == WISH_TAKEN:
        line = replace(line, text=frame.wish + line.text, label="")
    return element(line, limits, whole, frame.alone)


def _newest_first(others: list[ContextLine], limits: CtxLimits) -> Iterable[ContextLine]:
    """The newest first, without what the echo caps leave out."""
    room = {"bot": limits.bot_lines, "tool": TOOL_LINES}
    for line in reversed(others):
        if line.kind in room and not line.label:
            room[line.kind] -= 1
            if room[line.kind] < 0:
                continue
        yield line


def _elements(
    lines: tuple[ContextLine, ...], shown: dict[tuple[int, ...], str], limits: CtxLimits, earlier: int
) -> Iterable[str]:
    """The shown lines with a mark for each silence, and one for all that is folded, where the folding begins."""
    mark = _fold_mark([line for line in lines if line.event_ids not in shown], earlier)
    begun = earlier > 0
    until: int | None = None
    for line in lines:
        if line.event_ids not in shown:
            begun = True
            until = line.at if mark else until
            continue
        if begun and mark:
            yield mark
            mark = ""
        if until is not None and line.since - until >= limits.gap_ms:
            yield f'<g d="{duration_label(line.since - until)}"/>'
        yield shown[line.event_ids]
        until = line.at
    if mark:
        yield mark


def _fold_mark(dropped: list[ContextLine], earlier: int) -> str:
    folded = earlier + sum(len(line.event_ids) for line in dropped)
    if not folded:
        return ""
    if not dropped:
        return f'<g n="{folded}"/>'
    span = max(line.at for line in dropped) - min(line.since for line in dropped)
    return f'<g n="{folded}" d="{duration_label(span)}"/>'


def _is_scene(line: ContextLine) -> bool:
    return line.kind == "event" and line.label == SCENE_LABEL


def _event(line: ContextLine, limits: CtxLimits) -> str:
    if _is_scene(line):
        return f'<e t="{SCENE_LABEL}" d="{_attribute(scene_text(line.text, limits.scene))}"/>'
    label = _attribute(clip(clean_name(line.label), NAME_CHARS))
    name = f' n="{_attribute(clip(clean_name(line.name), NAME_CHARS))}"' if line.name else ""
    data = f' d="{_attribute(_counted(line, EVENT_CHARS))}"' if line.text or not line.name else ""
    return f'<e t="{label}"{name}{data}/>'


def _counted(line: ContextLine, cap: int) -> str:
    """The text of a line that folds; a cut leaves how often it happened (C7)."""
    return clip(clean(line.text.removesuffix(line.tail)), max(cap - len(line.tail), 0)) + line.tail


def _content(text: str, cap: int, limits: CtxLimits, whole: str | None) -> str:
    text = clean(text)
    if whole is None:
        return _escape(clip(text, cap))
    kept, cut = clip_whole(text, limits.answered)
    return _escape(kept + whole.replace("{n}", str(cut)) if cut else kept)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _attribute(text: str) -> str:
    text = _escape(clean(text)).replace('"', "&quot;")
    return text.replace("\n", "&#10;").replace("\t", "&#9;")
