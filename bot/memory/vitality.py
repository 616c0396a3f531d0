"""How alive a memory is, and what time does to it. Pure: the same instant gives the same answer each time."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.text.fold import fold
from bot.text.slots import lasts
from bot.text.tokens import STOP, index_terms
from bot.types.duration import DAY_MS
from bot.types.memory import PRIORITY, Memory, MemoryKind

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


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many memories one owner has at most: passing ones of each kind, of these together, and what lasts."""

    emotion: int
    knowledge: int
    event: int
    experience: int
    total: int
    lasting: int


def vitality(memory: Memory, now: int) -> float:
    """e^(-t/S), t in days since it was last recalled or, later, its day came; not below its priority's floor; 0 to 1.

    What its owner let fade, and words of a moment that is over, make it less than that. What lasts is as alive as its
    owner lets it be.
    """
    if memory.lasts:
        return memory.faded
    since = max(memory.accessed_at, memory.observed_at)
    curve = math.exp(-max(0, now - since) / DAY_MS / memory.stability_days)
    return max(curve, FLOORS[PRIORITY[memory.kind]]) * memory.faded * staleness(memory, now)


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
        count, left = max(1, count - math.ceil(count * LOSS)), left - 1
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
        memory for memory in memories
        if not (memory.kept or memory.lasts) and PRIORITY[memory.kind] >= 2 and vitality(memory, now) < WORN
    )  # fmt: skip


def crowded_out(memories: Sequence[Memory], now: int, limits: Capacity) -> tuple[Memory, ...]:
    """Which of one owner's memories have no room, the first to go first. What somebody asked to keep takes none.

    Of what lasts, health, relations, home and the like go after all the rest.
    """
    free = [memory for memory in memories if not memory.kept]
    lasting = [memory for memory in free if memory.lasts]
    passing = [memory for memory in free if not memory.lasts]
    over = Counter(_room(memory) for memory in passing)
    over.subtract({
        "emotion": limits.emotion, "knowledge": limits.knowledge, "event": limits.event,
        "experience": limits.experience,
    })  # fmt: skip
    most, beyond = len(lasting) - limits.lasting, len(passing) - limits.total
    if max(most, beyond, *over.values()) <= 0:
        return ()
    redundant = _redundancies(memories)
    burden = {memory.id: -_burden(memory, redundant[memory.id], now) for memory in free}
    lasting.sort(key=lambda memory: (memory.kind == "anniversary" or lasts(memory.slot), burden[memory.id], memory.id))
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
    rank = 0 if memory.lasts else PRIORITY[memory.kind]
    age = min(1.0, max(0, now - since) / DAY_MS / OLD_DAYS)
    disliked = 0.5 if memory.feedback is None else (1 - memory.feedback) / 2
    return (
        VITALITY * (1 - min(1.0, vitality(memory, now))) + REDUNDANCY * redundancy + AGE * age
        + FEEDBACK * disliked + RANK * rank / 3
    )  # fmt: skip


def _told_at(memory: Memory) -> int:
    """When it was told; what happened long before is as new as that."""
    return max(memory.created_at, memory.observed_at)


def _redundancies(memories: Sequence[Memory]) -> dict[int, float]:
    """For each memory the share of its terms that another has, too; by counting terms, so in linear time."""
    terms = {memory.id: {term for term in index_terms(memory.text) if term not in STOP} for memory in memories}
    having = Counter(term for each in terms.values() for term in each)
    return {
        number: sum(having[term] > 1 for term in each) / len(each) if each else 0.0 for number, each in terms.items()
    }
