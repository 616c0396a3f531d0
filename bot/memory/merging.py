"""What becomes of a statement beside what is already kept of the same person in the same place. Pure."""

from collections.abc import Mapping

from bot.memory.likeness import Compared, clauses, compared
from bot.types.duration import DAY_MS
from bot.types.memory import Memory, NewMemory
from bot.types.merging import Merge, Merging

SAME, LIKE = 0.93, 0.82
"""From these likenesses on a statement says nothing new, or is much like an older one (seed Warm Boot, write guard)."""


def merging(names: Mapping[int, str]) -> Merging:
    """The rule for statements of people of these names; what says more than an older one stands for itself."""

    def rule(new: NewMemory, near: tuple[Memory, ...]) -> tuple[Merge, ...]:
        name = names.get(new.owner_id or 0, "")
        return merges(new, near, (name,) if name else ())

    return rule


def merges(new: NewMemory, near: tuple[Memory, ...], names: tuple[str, ...]) -> tuple[Merge, ...]:
    """What a person asks to keep takes in what was only found; anything else goes into the likest older one, if any.

    What somebody asked to keep, or protects, never changes its words: the same found again proves it, and what
    contradicts it stands for itself. What holds a slot only proves what says the same of that slot.
    """
    found = [(memory, compared(new.text, memory.text, names)) for memory in near if _together(new, memory)]
    if new.asked:
        return tuple(
            Merge(memory, "outdo" if seen.conflict else "absorb")
            for memory, seen in found if not memory.kept and (seen.conflict or seen.like >= LIKE)
        )  # fmt: skip
    for memory, seen in sorted(found, key=lambda pair: (not pair[0].kept, -pair[1].like, pair[0].id)):
        if new.slot and (memory.slot not in ("", new.slot) or memory.subject not in ("", new.subject)):
            continue
        done = _into_kept(new, memory, seen) if memory.kept else _into(new, memory, seen)
        if done is not None and (done.how == "evidence" or not new.slot):
            return (done,)
    return ()


def _together(new: NewMemory, memory: Memory) -> bool:
    """Whether both are one owner's, for the same eyes; in a chat of the same chat."""
    return (
        memory.owner_id == new.owner_id and memory.visibility == new.visibility
        and (new.visibility != "chat" or memory.chat_id == new.chat_id)
        and not memory.is_name and memory.disabled_at is None
    )  # fmt: skip


def _into_kept(new: NewMemory, memory: Memory, seen: Compared) -> Merge | None:
    like = seen.like if new.slot and len(clauses(memory.text)) > 1 else max(seen.like, seen.told)
    return Merge(memory, "evidence") if not seen.conflict and like >= LIKE else None


def _into(new: NewMemory, memory: Memory, seen: Compared) -> Merge | None:
    if memory.kind != new.kind or (memory.owner_id is None and memory.chat_id != new.chat_id):
        return None
    if seen.conflict and not (new.kind == "event" and seen.conflict == "value"):
        return Merge(memory, "update", new.text)
    same_day = new.kind != "event" or abs(new.observed_at - memory.observed_at) < DAY_MS
    told = seen.like >= SAME or (seen.like >= LIKE and seen.told >= SAME)
    return Merge(memory, "evidence") if told and same_day and not seen.conflict else None
