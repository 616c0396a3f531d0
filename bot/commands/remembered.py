"""A person's own memories with their figures, one or many, and what was merged into them. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import tzinfo
from operator import itemgetter

from bot.memory.shown import shown
from bot.memory.vitality import standing, vitality
from bot.prompt.warmboot import ALIVE
from bot.text.clip import clip
from bot.text.dates import local_day
from bot.types.duration import DAY_MS
from bot.types.memory import PRIORITY, STABILITY_DAYS, Memory
from bot.types.merging import Merged

RECENT_DAYS, RECENT = 7, 50
"""What is recent, and how much of it a list shows (seed Warm Boot, surface)."""

LINE_CHARS = 60
"""Characters of a text in a list; one memory alone is shown whole."""

Text = Callable[..., str]


def list_report(memories: Iterable[Memory], now: int, text: Text) -> str:
    """One line each: number, kind, vitality, how often it was told, and the text."""
    return "\n".join(_line(memory, now, text) for memory in memories)


def memory_report(memory: Memory, merged: tuple[Merged, ...], now: int, tz: tzinfo, text: Text) -> str:
    """Everything there is to know of one memory, and what became of it."""
    lines = [
        shown(memory, text) if memory.is_name else memory.text,
        text(
            "mem_kind", kind=text(f"mem_{memory.kind}"), priority=PRIORITY[memory.kind],
            seen=text(f"mem_seen_{memory.visibility}"), source=text(f"mem_from_{memory.source}", agent=memory.agent),
            day=local_day(memory.observed_at, tz),
        ),
        text(
            "mem_life", vitality=f"{vitality(memory, now):.2f}", stable=_stable(memory, text),
            count=memory.importance, recalls=memory.access_count, up=memory.helpful, down=memory.unhelpful,
        ),
    ]  # fmt: skip
    if memory.emotion:
        lines.append(text("mem_feeling", tag=memory.emotion, value=f"{memory.emotion_value:+.1f}"))
    states = (("asked", memory.asked), ("protected", memory.protected), ("archived", memory.disabled_at is not None))
    lines += [text(f"mem_is_{state}") for state, holds in states if holds]
    if memory.former_at is not None:
        begun = local_day(memory.said_at or memory.created_at, tz)
        ended = local_day(memory.former_at, tz)
        lines.append(text("mem_is_former", begun=begun, ended=ended, id=memory.replaced_by or 0))
    for one in merged:
        events = " ".join(f"#{number}" for number in one.event_ids) or "–"
        key = "mem_unmerged" if one.undone_at is not None else "mem_merged"
        how = text(f"mem_how_{one.how}")
        day = local_day(one.at, tz)
        lines.append(text(key, day=day, how=how, said=one.said, before=one.before, events=events))
    return "\n".join(lines)


def why_told(memory: Memory, now: int, text: Text, *, opens: bool) -> str:
    """How much there is for telling it, the reasons, and whether an opening that is written now tells it."""
    day = (now - memory.observed_at) / DAY_MS
    holds = {
        "kept": memory.kept,
        "named": memory.is_name,
        "lasting": memory.lasts,
        "dated": day < 0,
        "recent": 0 <= day <= RECENT_DAYS,
        "vital": vitality(memory, now) > ALIVE,
        "liked": (memory.feedback or 0) > 0,
        "disliked": (memory.feedback or 0) < 0,
    }
    codes = text("mem_why_joint").join(text(f"mem_why_{code}") for code, is_so in holds.items() if is_so)
    opened = text("mem_why_told" if opens else "mem_why_untold")
    return text("mem_why", score=f"{standing(memory, now):.2f}", codes=codes or "–", opens=opened)


def lately(memories: Iterable[Memory], now: int) -> list[Memory]:
    """Those that were new or changed in the last seven days, the last first (seed Warm Boot: at most 50)."""
    since = now - RECENT_DAYS * DAY_MS
    changed = [(max(m.created_at, m.updated_at), m.id, m) for m in memories if m.disabled_at is None]
    return [memory for at, _, memory in sorted(changed, key=itemgetter(0, 1), reverse=True) if at >= since][:RECENT]


def stats_report(memories: tuple[Memory, ...], archived: int, now: int, text: Text) -> str:
    """How many of each kind, how alive they are, and what people thought of the replies that they were told to."""
    kinds = Counter(memory.kind for memory in memories)
    mean = sum(vitality(memory, now) for memory in memories) / len(memories) if memories else 0.0
    counted = "  ".join(f"{text(f'mem_{kind}')} {kinds[kind]}" for kind in STABILITY_DAYS)
    kept = sum(memory.kept for memory in memories)
    judged = [memory.feedback for memory in memories if memory.feedback is not None]
    score = f"{sum(judged) / len(judged):+.2f}" if judged else "–"
    return "\n".join(
        (
            text("mem_stats", n=len(memories), kept=kept, archived=archived, vitality=f"{mean:.2f}"),
            counted,
            text(
                "mem_stats_feedback", up=sum(memory.helpful for memory in memories),
                down=sum(memory.unhelpful for memory in memories), score=score,
            ),
        )
    )  # fmt: skip


def _stable(memory: Memory, text: Text) -> str:
    """In what time it fades to a third; who somebody is does not."""
    if memory.stability_days >= STABILITY_DAYS["identity"]:
        return text("mem_stable_always")
    return text("mem_stable", days=f"{memory.stability_days:.0f}")


def _line(memory: Memory, now: int, text: Text) -> str:
    return text(
        "mem_line", id=memory.id, kind=text(f"mem_{memory.kind}"), vitality=f"{vitality(memory, now):.2f}",
        count=memory.importance, text=clip(shown(memory, text), LINE_CHARS),
        mark="★" if memory.kept else "☆",
    )  # fmt: skip
