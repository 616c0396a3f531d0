"""What becomes of a statement beside what is already kept of the same person in the same place. Pure."""

import re
from collections.abc import Callable, Mapping

from bot.memory.likeness import Compared, clauses, compared
from bot.types.memory import Memory, NewMemory
from bot.types.merging import How, Merge, Merging

SAME, LIKE = 0.93, 0.82
"""From these likenesses on a statement says nothing new, or is merged by its type (seed Warm Boot, write guard)."""

MOST_CHARS = 300
"""A memory does not grow beyond this: what more there is stands for itself."""

Day = Callable[[int], str]


def merging(names: Mapping[int, str], day: Day) -> Merging:
    """The rule for statements of people of these names; `day` writes the day of a moment (ms) for a timeline."""

    def rule(new: NewMemory, near: tuple[Memory, ...]) -> tuple[Merge, ...]:
        name = names.get(new.owner_id or 0, "")
        return merges(new, near, (name,) if name else (), day)

    return rule


def merges(new: NewMemory, near: tuple[Memory, ...], names: tuple[str, ...], day: Day) -> tuple[Merge, ...]:
    """What a person asks to keep takes in what was only found; anything else goes into the likest older one, if any.

    What somebody asked to keep, or protects, never changes its words: the same found again proves it, and what
    contradicts it stands for itself.
    """
    found = [(memory, compared(new.text, memory.text, names)) for memory in near if _together(new, memory)]
    if new.asked:
        return tuple(
            Merge(memory, "outdo" if seen.conflict else "absorb")
            for memory, seen in found if not memory.kept and (seen.conflict or seen.like >= LIKE)
        )  # fmt: skip
    for memory, seen in sorted(found, key=lambda pair: (not pair[0].kept, -pair[1].like, pair[0].id)):
        done = _into_kept(memory, seen) if memory.kept else _into(new, memory, seen, day)
        if done is not None:
            return (done,)
    return ()


def _together(new: NewMemory, memory: Memory) -> bool:
    """Whether both are one owner's, for the same eyes; in a chat of the same chat."""
    return (
        memory.owner_id == new.owner_id and memory.visibility == new.visibility
        and (new.visibility != "chat" or memory.chat_id == new.chat_id)
        and not memory.is_name and memory.disabled_at is None
    )  # fmt: skip


def _into_kept(memory: Memory, seen: Compared) -> Merge | None:
    return Merge(memory, "evidence") if not seen.conflict and max(seen.like, seen.told) >= LIKE else None


def _into(new: NewMemory, memory: Memory, seen: Compared, day: Day) -> Merge | None:
    if memory.kind != new.kind or (memory.owner_id is None and memory.chat_id != new.chat_id):
        return None
    happened_again = new.kind == "event" and seen.conflict == "value"
    if seen.conflict and not happened_again:
        return Merge(memory, "update", new.text)
    same_day = day(new.observed_at) == day(memory.observed_at)
    if seen.like < LIKE or (happened_again and same_day):
        return None
    if seen.like >= SAME and not seen.conflict and (new.kind != "event" or same_day):
        return Merge(memory, "evidence")
    how, text = _combined(new, memory, day, same_day=same_day)
    return Merge(memory, how, text) if len(text) <= MOST_CHARS else None


def _combined(new: NewMemory, memory: Memory, day: Day, *, same_day: bool) -> tuple[How, str]:
    match new.kind:
        case "identity":
            return "replace", new.text
        case "emotion":
            return "append", _joined(memory.text, (new.text,))
        case "event" if not same_day:
            return "timeline", _timeline(new, memory, day)
        case _:
            parts = clauses(new.text)
            more = tuple(part for part in parts if compared(part, memory.text).told < SAME)
            return ("join", _joined(memory.text, more)) if more else ("evidence", "")


def _joined(text: str, more: tuple[str, ...]) -> str:
    between = "; " if text.isascii() else "；"
    return between.join((text.rstrip("。.；; "), *more))


def _timeline(new: NewMemory, memory: Memory, day: Day) -> str:
    """Both with their days, the older first."""
    dated = re.match(r"\d{4}-\d\d-\d\d ", memory.text) is not None
    before = memory.text if dated else f"{day(memory.observed_at)} {memory.text}"
    return _joined(before, (f"{day(new.observed_at)} {new.text}",))
