"""How alive a memory is, what time does to it, of which day it is, and whose it is where its row is silent. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import get_args

from bot.config.memory import LifeRules
from bot.core.clock import DAY_MS, DatedMoment
from bot.core.inspection import MemoryFault, PlacedMemory, Placement
from bot.core.memories import (
    KIND_PRIORITY,
    SLOT_CHARS,
    Memory,
    NewMemory,
    OldMemory,
    ReviewedMemory,
    Visibility,
)
from bot.core.people import MemoryKind
from bot.language.sections import is_lasting
from bot.language.statements import statements_in
from bot.language.time.dates import date_in, event_moment, named_times
from bot.language.time.moments import squeezed
from bot.text.dates import local_day
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.terms import STOP_WORDS, index_terms

FLOORS = (1.0, 0.3, 0.1, 0.0)
"""Below these P0 to P3 do not fall by themselves (seed Warm Boot)."""

STALE = (
    (re.compile(r"正在|进行中|\b(?:currently|in progress|ongoing|right now)\b"), 7, 0.3),
    (re.compile(r"待办|\bto-?dos?\b"), 14, 0.5),
    (re.compile(r"最近|近来|这几天|这阵子|這幾天|這陣子|\b(?:lately|recently|these days)\b"), 30, 0.5),
    (re.compile(r"刚才|刚刚|\b(?:just now|a moment ago)\b"), 3, 0.2),
)
"""Words of a moment, after how many days they are stale, and what the vitality is then times (seed Warm Boot; those of
a while are our own)."""

WORN = 0.05
"""P2 and P3 below this are tidied away (seed Warm Boot)."""

IDLE_DAYS = 7
"""So long after its last use a memory's count begins to fall (seed Feedback, C34)."""

LOSS = 0.1
"""What one interval takes of the count, rounded up (seed Feedback: 10 %)."""

VITALITY, REDUNDANCY, AGE, FEEDBACK, RANK = 0.40, 0.20, 0.20, 0.10, 0.10
"""Weights of the figure by which memories are crowded out (seed Warm Boot, govern capacity)."""

OLD_DAYS = 180
"""Age that counts in full there (seed Warm Boot)."""

HALF_YEAR = 183
"""A day that was read so many days before it was said may be nearer in another year."""


def vitality(memory: Memory, now: int) -> float:
    """e^(-t/S), t in days since it was last recalled or, later, its day came; not below its priority's floor; 0 to 1.

    What its owner let fade, and words of a moment that is over, make it less than that. What lasts is as alive as its
    owner lets it be.
    """
    if memory.lasts:
        return memory.faded
    since = max(memory.accessed_at, memory.observed_at)
    curve = math.exp(-max(0, now - since) / DAY_MS / memory.stability_days)
    return max(curve, FLOORS[KIND_PRIORITY[memory.kind]]) * memory.faded * staleness(memory, now)


def staleness(memory: Memory, now: int) -> float:
    """What the vitality is times because of 正在, 待办 or 刚才 in the text; 1 when nothing of it is stale."""
    days = (now - _told_at(memory)) / DAY_MS
    if days <= min(after for _, after, _ in STALE):
        return 1.0
    text = fold(memory.text)
    return math.prod(factor for words, after, factor in STALE if days > after and words.search(text))


def count_after(count: int, used_at: int, since: int, now: int, interval_ms: int) -> int:
    """A memory's count at `now` when it was `count` at `since`, ms; never below 1.

    From seven days after its last use each interval takes a tenth. Asking every hour or once a month is the same (the
    reference took it every hour without remembering when: 100 → 1 in 27 hours).
    """
    left = max(0, _intervals(used_at, now, interval_ms) - _intervals(used_at, since, interval_ms))
    while left and count > 1:
        count, left = count - math.ceil(count * LOSS), left - 1
    return count


def _intervals(used_at: int, now: int, interval_ms: int) -> int:
    idle = now - used_at - IDLE_DAYS * DAY_MS
    return idle // interval_ms + 1 if idle >= 0 else 0


def used_at(memory: Memory) -> int:
    """When it was last told, recalled or praised, ms."""
    return max(memory.created_at, memory.accessed_at, memory.praised_at, memory.updated_at)


def worn_out(memories: Iterable[Memory], now: int) -> tuple[Memory, ...]:
    """P2 and P3 that nobody asked to keep and that have hardly any life left."""
    return tuple(
        memory
        for memory in memories
        if not (memory.kept or memory.lasts) and KIND_PRIORITY[memory.kind] >= 2 and vitality(memory, now) < WORN
    )


def crowded_out(memories: Sequence[Memory], now: int, rules: LifeRules) -> tuple[Memory, ...]:
    """Which of one owner's memories have no room, the first to go first. What somebody asked to keep takes none.

    Of what lasts, health, relations, home and the like go after all the rest.
    """
    free = [memory for memory in memories if not memory.kept]
    lasting = [memory for memory in free if memory.lasts]
    passing = [memory for memory in free if not memory.lasts]
    over = Counter(_room(memory) for memory in passing)
    over.subtract(
        {
            "emotion": rules.max_emotion,
            "knowledge": rules.max_knowledge,
            "event": rules.max_event,
            "experience": rules.max_experience,
        }
    )
    most, beyond = len(lasting) - rules.max_lasting, len(passing) - rules.max_total
    if max(most, beyond, *over.values()) <= 0:
        return ()
    redundant = _redundancies(memories)
    burden = {memory.id: -_burden(memory, redundant[memory.id], now) for memory in free}
    lasting.sort(
        key=lambda memory: (memory.kind == "anniversary" or is_lasting(memory.slot), burden[memory.id], memory.id)
    )
    gone = lasting[: max(0, most)]
    first: list[Memory] = []
    rest: list[Memory] = []
    for memory in sorted(passing, key=lambda memory: (burden[memory.id], memory.id)):
        room = _room(memory)
        (first if over[room] > 0 else rest).append(memory)
        over[room] -= 1
    return (*gone, *first, *rest[: max(0, beyond - len(first))])


def _room(memory: Memory) -> MemoryKind:
    """The kind that it is counted with where it does not last; who somebody was is a fact of them."""
    return "knowledge" if memory.kind in ("identity", "anniversary") else memory.kind


def standing(memory: Memory, now: int) -> float:
    """How much there is for telling a memory, 0 to 1; of what has no room the least goes first."""
    return 1 - _burden(memory, 0.0, now)


def _burden(memory: Memory, redundancy: float, now: int) -> float:
    """0 to 1; what is nearest to 1 goes first."""
    since = used_at(memory) if memory.lasts else _told_at(memory)
    rank = 0 if memory.lasts else KIND_PRIORITY[memory.kind]
    age = min(1.0, max(0, now - since) / DAY_MS / OLD_DAYS)
    disliked = 0.5 if memory.feedback is None else (1 - memory.feedback) / 2
    return (
        VITALITY * (1 - min(1.0, vitality(memory, now)))
        + REDUNDANCY * redundancy
        + AGE * age
        + FEEDBACK * disliked
        + RANK * rank / 3
    )


def _told_at(memory: Memory) -> int:
    """When it was told; what happened long before is as new as that."""
    return max(memory.created_at, memory.observed_at)


def _redundancies(memories: Sequence[Memory]) -> dict[int, float]:
    """For each memory the share of its terms that another has, too; by counting terms, so in linear time."""
    terms = {memory.id: {term for term in index_terms(memory.text) if term not in STOP_WORDS} for memory in memories}
    having = Counter(term for each in terms.values() for term in each)
    return {
        number: sum(having[term] > 1 for term in each) / len(each) if each else 0.0 for number, each in terms.items()
    }


def with_day(memory: NewMemory, said_at: int, tz: tzinfo, besides: int = 0) -> NewMemory:
    """The memory with the day that its words name, said at that moment, ms: what is to come is an event, what comes
    every year an anniversary. `besides` is a moment of the day that it had, which they may name, too."""
    when = _when(memory.text, said_at, tz, besides) if memory.kind not in ("emotion", "experience") else None
    if when is None:
        return replace(memory, observed_at=event_moment(memory.text, said_at, tz))
    at = when.at if when.precision == "time" else when.at + DAY_MS // 2
    ahead = memory.kind == "knowledge" and at > said_at
    kind = "anniversary" if when.yearly else "event" if ahead else memory.kind
    return replace(memory, kind=kind, observed_at=at, dated=when.precision, said_at=said_at)


def _when(text: str, said_at: int, tz: tzinfo, besides: int) -> DatedMoment | None:
    folded, origin = squeezed(*fold_mapped(text))
    times = named_times(folded, local_day(said_at, tz))
    old = [one for one in times if any(days.first == local_day(besides, tz) == days.last for days in one.choices)]
    if besides and 0 < len(old) < len(times):
        starts, ends = (0, *(one.end for one in old)), (*(one.start for one in old), len(folded))
        pieces = (unfold(text, origin, start, end) for start, end in zip(starts, ends, strict=True) if start < end)
        text = " ".join(pieces) or text
    return date_in(text, said_at, tz)


def reread(older: OldMemory, tz: tzinfo) -> ReviewedMemory | None:
    """What an older memory is by the rules of today; None when that changes nothing.

    A year is put right where nothing was recalled yet, a line that says it still stands, and what was read names the
    same month and day of another year.
    """
    memory = older.memory
    lasting = memory.lasting or (
        memory.kind in ("knowledge", "event")
        and (is_lasting(memory.slot) or any(one.lasting for one in statements_in(memory.text)))
    )
    observed = _moment(older, tz)
    if (lasting, observed) == (memory.lasting, memory.observed_at):
        return None
    return ReviewedMemory(memory.id, lasting, observed)


def _moment(older: OldMemory, tz: tzinfo) -> int:
    """The moment that it is about, in the year that its words mean."""
    memory = older.memory
    said = memory.said_at or memory.created_at
    if memory.access_count or not older.said or said - memory.observed_at <= HALF_YEAR * DAY_MS:
        return memory.observed_at
    held = local_day(memory.observed_at, tz)
    for text, at in ((memory.text, said), *older.said):
        when = date_in(text, at, tz)
        if when is None or when.precision not in ("day", "time"):
            continue
        day = local_day(when.at, tz)
        if (day.month, day.day) == (held.month, held.day) and day.year != held.year:
            return when.at if when.precision == "time" else when.at + DAY_MS // 2
    return memory.observed_at


def ownership_fault(row: PlacedMemory) -> MemoryFault | None:
    """What is wrong with a memory's namespace and where it belongs; None when all is well.

    In a direct chat it is of the only one who wrote those lines, else of its only member; there it is private unless
    it was of that chat. Elsewhere a private one is of the only one who wrote. What stays open is reported.
    """
    wrong = [*_words(row)]
    chat_id, chat_kind = row.chat_id, row.chat_kind
    if chat_kind is None:
        wrong.append("its chat is gone")
        if len(row.chats) != 1:
            return MemoryFault("namespaces", row.number, "; ".join([*wrong, "its lines do not tell one chat"]))
        chat_id, chat_kind = row.chats[0]
    owner_id = row.owner_id
    lost = owner_id is not None and not row.owner_known
    if lost or (owner_id is None and (chat_kind == "dm" or row.visibility == "private")):
        wrong.append("its owner is gone" if lost else "it has no owner")
        owner_id = _owner(row, chat_kind)
        if owner_id is None:
            return MemoryFault("namespaces", row.number, "; ".join([*wrong, "its lines do not tell one person"]))
    visibility = row.visibility
    if visibility not in get_args(Visibility):
        visibility = "private" if chat_kind == "dm" else "chat"
    elif visibility == "public" and row.owner_id is None and chat_kind == "dm":
        visibility = "private"
    if not wrong:
        return None
    kind = row.kind if row.kind in get_args(MemoryKind) else "knowledge"
    slot = row.slot if len(row.slot) <= SLOT_CHARS else ""
    return MemoryFault("namespaces", row.number, "; ".join(wrong), Placement(owner_id, chat_id, visibility, kind, slot))


def _words(row: PlacedMemory) -> list[str]:
    """Words that are none of ours."""
    known = (("visibility", row.visibility, Visibility), ("kind", row.kind, MemoryKind))
    return [f"{name} {value[:20]!r}" for name, value, words in known if value not in get_args(words)]


def _owner(row: PlacedMemory, chat_kind: str) -> int | None:
    if len(row.senders) == 1:
        return row.senders[0]
    return row.members[0] if chat_kind == "dm" and not row.senders and len(row.members) == 1 else None
