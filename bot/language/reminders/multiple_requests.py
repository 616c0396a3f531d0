"""A message that asks for several reminders at once."""

import re
from dataclasses import dataclass, replace

from bot.language.reminders.requests import (
    PLAIN_HOURS,
    READ_CHARS,
    SMALL,
    ReminderWish,
    reminder_wish,
    requests,
    task_content,
    task_of,
    unaddressed,
)
from bot.language.reminders.wording import (
    EN,
    FRAME,
    SPACED,
    STOPS,
    ZH,
    in_second_person,
    without_courtesy,
    without_frame,
    without_times,
)
from bot.language.time.moments import DAY_BEFORE, parts_folded, squeezed
from bot.language.time.parts import TAKEN, TimeParts
from bot.text.catalogue import LazyPattern
from bot.text.clean import clean
from bot.text.fold import fold_mapped, unfold

_SPLIT = LazyPattern(
    r"[，。;；!！?？\n、~～…]+|(?<!\d)[,:]+|[,:]+(?!\d)|\.(?=\s)|还有|另外|以及|然后|顺便|同时|并且|和|跟|再(?!见|提醒|[叫喊提]我|remind)"
    r"|(?a:\s*\b(?:and|then|also|plus|as well as)\b)|\s*&\s*"
)
_JOINS = LazyPattern(r"还有|另外|以及|然后|顺便|同时|并且|[和跟再、]|(?a:\b(?:and|then|also|plus)\b)|&")
_STATES = LazyPattern(
    r"(?:我|咱|他|她|它|就|才|得|有|会|还有|要|必须|应该)|(?a:(?:i|he|she|we|they|it|there|the|my|that)\b)"
)
"""What tells of something, and asks for nothing."""
_WHOM = re.compile(r"\W*(?:你们?|您|我们?|大家|you|me|us)\W*", re.IGNORECASE)
"""Whom to remind is nothing to remind of."""
_REST = LazyPattern(r"(?ai:(?:and|also|again|too|plus|then)\b)|(?:还有|以及|另外|再)")
_NUMBER = re.compile(r"\d{1,2}(?::\d\d)?")
_LEADS = re.compile(r"^(?:也|还|再|就|要|得|去(?=去)|\s)+")
_AGAIN = re.compile(r"^(?:叫|喊|提醒)我?(?:一?[次声下遍])?$")
_ONE_STRETCH = LazyPattern(
    rf"{DAY_BEFORE}|之间|(?a:\bbetween\b)|[到至~](?=[零一二三四五六七八九十两\d周星礼下明后])|或者?|还是|不对|不是|改"
    r"|(?a:\b(?:or|no|wait|actually|make (?:it|that)|instead)\b)"
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a message with a time of its own, from `begin` to `end` of its folded text; `heads` a list (今天两件事：)
    and `bare` is a number alone, of an hour that goes on with others (at 3, 4 and 5).
    """

    place: int
    begin: int
    end: int
    joined: bool
    asks: bool
    heads: bool = False
    bare: bool = False


def reminder_wishes(text: str, names: tuple[str, ...] = ()) -> tuple[ReminderWish, ...]:
    """All that a message asks of reminders, in its order; () for all other talk. Never raises."""
    one = reminder_wish(text, names)
    if one is None or one.verb == "cancel":
        return (one,) if one is not None else ()
    return _several(text, names, one) or (_whole(one),)


def _whole(one: ReminderWish) -> ReminderWish:
    """A wish; in doubt where what is left to remind of is the rest of another one: also at the start."""
    left = one.verb == "set" and (_REST.match(one.task) or _WHOM.fullmatch(one.task))
    return replace(one, parts=replace(one.parts, doubt=one.parts.doubt or "several")) if left else one


def _several(text: str, names: tuple[str, ...], one: ReminderWish) -> tuple[ReminderWish, ...]:
    """Each wish of its own; () where it is not certain that there are several."""
    text = unaddressed(clean(text), names)[:READ_CHARS]
    folded, origin = squeezed(*fold_mapped(text))
    folded = SPACED.sub(lambda found: "," * len(found[0]), folded)
    whole, pieces = parts_folded(folded), _pieces(folded)
    last = pieces[-1].end if pieces else 0
    # 下午两点A，晚上七点B，到点叫我一声: what asks at the end asks for all that stands before it.
    alone = len(pieces) > 2 and not any(piece.asks for piece in pieces[:-1])
    closed = len(pieces) > 1 and _closes(folded[pieces[-1].begin : pieces[-1].end], alone=alone)
    pieces = pieces[:-1] if closed else pieces
    asking = sum(piece.asks for piece in pieces)
    if len(pieces) < 2 or not (asking or closed) or _ONE_STRETCH.search(folded):
        return ()
    # 12月10日，星期四 is one day named twice; tomorrow, and … on Friday are two.
    twice = whole.day is not None and whole.day.on is not None and all(piece.joined for piece in pieces[1:])
    unclear = whole.doubts or one.parts.doubt or (whole.every and whole.day)
    if asking < 2 and not twice and not unclear and not any(piece.bare for piece in pieces):
        return ()
    found: list[ReminderWish] = []
    for piece in pieces:
        said = unfold(text, origin, piece.begin, piece.end).strip()
        wish = reminder_wish(said, names) if piece.asks else _bare(f"at {said}" if piece.bare else said)
        if wish is None or wish.verb != "set":
            return ()
        if not (piece.asks or closed or not wish.task or (found and _goes_on(folded, piece))):
            return ()
        found.append(wish)
    heads = pieces[0].heads and len(found) > 1
    found = _completed([replace(found[0], task=""), *found[1:]] if heads else found)[heads:]
    if any(not wish.task and one.task for wish in found):
        return ()
    one_rule = any(wish.parts.every for wish in found) and any(
        wish.parts.day and wish.parts.day.kind in ("weekday", "weekend") and not piece.asks
        for wish, piece in zip(found, pieces[heads:], strict=True)
    )  # 每周一早上七点叫我，周末八点
    if one_rule or (asking > 1 and len(found) > asking and not closed):
        found = [replace(wish, sure=False) for wish in found]
    rest = unfold(text, origin, last, len(folded)).strip() if len(task_content(folded[last:])) > SMALL else ""
    return (*found[:-1], replace(found[-1], rest=rest.lstrip("，,。！？!?；;、 ")))


def _goes_on(folded: str, piece: _Piece) -> bool:
    """Whether it goes on with what is asked, and tells of nothing."""
    return piece.joined or not _STATES.match(_untimed(folded[piece.begin : piece.end]))


def _bare(said: str) -> ReminderWish:
    """A time, and what to do then, without the word for it."""
    task, parts = task_of(said)
    task = _AGAIN.sub("", _LEADS.sub("", without_courtesy(without_frame(_LEADS.sub("", task), FRAME))))
    return ReminderWish("set", in_second_person(task), parts, PLAIN_HOURS, said)


def _untimed(words: str) -> str:
    """Without times and spaces."""
    return re.sub(rf"[\s{TAKEN}]", "", without_times(words, parts_folded(words)))


def _pieces(folded: str) -> list[_Piece]:
    """The parts of a message that have a time of their own, with what belongs to it."""
    cuts = [0, *(at for found in _SPLIT.finditer(folded) for at in found.span()), len(folded)]
    pieces: list[_Piece] = []
    begin = 0
    for start, end, before in zip(cuts[::2], cuts[1::2], [0, *cuts[1::2]], strict=False):
        words, between = folded[start:end], folded[before:start]
        if not words.strip():
            continue
        asks, joined = requests(words), _JOINS.search(between) is not None
        if ":" in between and len(pieces) < 2 and _timed(parts_folded(words)):
            pieces = [replace(piece, heads=True) for piece in pieces]
            begin = start
        bare = bool(pieces) and (pieces[-1].bare or _clocked(folded, pieces[-1])) and _NUMBER.fullmatch(words.strip())
        if bare or _timed(parts_folded(words)):
            if _stopped(folded, pieces, start) and not asks and not joined:
                break  # what is told besides
            asks = asks or (not pieces and requests(folded[begin:end]))
            pieces.append(_Piece(len(pieces), start if pieces else begin, end, joined, asks, bare=bool(bare)))
        elif asks and pieces and len(pieces) == 1 and not pieces[0].asks:
            pieces[0] = replace(pieces[0], end=end, asks=True)  # 10月1号上午8点半，提醒我出发
        elif asks and pieces:
            pieces.append(_Piece(len(pieces), start, end, joined, asks))
        elif pieces and not _stopped(folded, pieces, start):
            pieces[-1] = replace(pieces[-1], end=end)
    return pieces


def _stopped(folded: str, pieces: list[_Piece], start: int) -> bool:
    """Whether a new sentence begins behind the last of them."""
    return bool(pieces) and STOPS.search(folded[pieces[-1].end : start]) is not None


def _closes(words: str, *, alone: bool) -> bool:
    """Whether words ask to be reminded at no time of their own; what is not the only request (`alone`) of nothing."""
    found = ZH.search(words) or EN.search(words)
    return found is not None and not _timed(parts_folded(words)) and (alone or not task_content(words[found.end() :]))


def _clocked(folded: str, piece: _Piece) -> bool:
    return parts_folded(folded[piece.begin : piece.end]).clock is not None


def _timed(parts: TimeParts) -> bool:
    return bool(parts.day or parts.clock or parts.delay or parts.every or parts.half)


def _completed(found: list[ReminderWish]) -> list[ReminderWish]:
    """What one of them does not say, the others do: the day, the hour, what it is about."""
    tasks = [wish.task for wish in found]
    for place, wish in enumerate(found):
        before = found[place - 1] if place else None
        after = found[place + 1] if place + 1 < len(found) else None
        task = wish.task or next((one for one in (*reversed(tasks[:place]), *tasks[place + 1 :]) if one), "")
        near = before or after
        manner = wish.manner if wish.manner.wakes or near is None or wish.task else near.manner
        parts = _hour(_day(wish, before, after), wish, before, after)
        found[place] = replace(
            wish, parts=parts, task=task, manner=manner, shared=wish.shared or any(each.shared for each in found)
        )
    return found


def _day(wish: ReminderWish, before: ReminderWish | None, after: ReminderWish | None) -> TimeParts:
    """Its time with the day of another one, where it names none."""
    parts = wish.parts
    if parts.day or parts.every or parts.delay:
        return parts
    other = before or (after if after is not None and not (wish.task and after.task) else None)
    if other is None or (other.parts.delay and not parts.empty):
        return parts
    named = other.parts
    return replace(
        parts,
        delay=named.delay,
        day=named.day,
        every=named.every,
        tonight=named.tonight,
        since=named.since,
        until=named.until,
        span=named.span,
    )


def _hour(parts: TimeParts, wish: ReminderWish, before: ReminderWish | None, after: ReminderWish | None) -> TimeParts:
    """Its time with the hour of another one, where it names a day alone; with its part of the day, where it goes on."""
    if not (parts.clock or parts.half or parts.times or parts.delay):
        other = (before or after) if not wish.task or wish.parts.empty else None
        if other is not None:
            return replace(parts, clock=other.parts.clock, half=other.parts.half, times=other.parts.times)
    first = before.parts if before is not None else TimeParts()
    on = parts.clock and first.clock and first.clock.hour < parts.clock.hour <= 12 and not parts.clock.whole
    return replace(parts, half=first.half) if on and first.half and not parts.half else parts
