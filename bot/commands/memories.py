"""`.ai mem` and `memstats`: a person's own memories as this chat may see them, and what they may do to each."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import tzinfo
from functools import partial
from operator import itemgetter

from bot.commands.command import Invocation
from bot.commands.registry import hint
from bot.config.settings import Settings
from bot.core.clock import DAY_MS
from bot.core.memories import KIND_PRIORITY, STABILITY_DAYS, Memory, PastMerge
from bot.core.people import Audience
from bot.core.ports import Clock
from bot.memory.lifecycle import standing, vitality
from bot.pipeline.actions.receipts import memory_line_for_people
from bot.pipeline.plan import Planner
from bot.pipeline.texts import Texts
from bot.prompt.warm_boot import ALIVE
from bot.store.store import Store
from bot.text.codes import number_for
from bot.text.dates import local_day
from bot.text.fold import fold
from bot.text.length import clip

RECENT_DAYS, RECENT = 7, 50
"""What is recent, and how much of it a list shows (seed Warm Boot, surface)."""

LINE_CHARS = 60
"""Characters of a text in a list; one memory alone is shown whole."""

Text = Callable[..., str]


def list_report(memories: Iterable[Memory], now: int, text: Text) -> str:
    """One line each: number, kind, vitality, how often it was told, and the text."""
    return "\n".join(_line(memory, now, text) for memory in memories)


def memory_report(memory: Memory, merged: tuple[PastMerge, ...], now: int, tz: tzinfo, text: Text) -> str:
    """Everything there is to know of one memory, and what became of it."""
    lines = [
        memory_line_for_people(memory, text) if memory.is_name else memory.text,
        text(
            "mem_kind", kind=text(f"mem_{memory.kind}"), priority=KIND_PRIORITY[memory.kind],
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


def told_report(memory: Memory, now: int, text: Text, *, opens: bool) -> str:
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


def recently_changed(memories: Iterable[Memory], now: int) -> list[Memory]:
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
        count=memory.importance, text=clip(memory_line_for_people(memory, text), LINE_CHARS),
        mark="★" if memory.kept else "☆",
    )  # fmt: skip


MEMORIES_SHOWN = 12
"""How many memories a list shows."""


class MemCommand:
    """Shows memories, protects and shares them, lets them fade, archives and restores them, and takes merges back."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Texts, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai mem …`; only what belongs to the person who asks, and may be told here."""
        audience = await self._planner.audience(asked.chat, asked.person)
        owned = await self._store.memories.owned(asked.person.id, audience)
        words = tuple(fold(word) for word in asked.words)
        number = number_for("memory", words[-1]) if words else None
        if words == ("archived",):
            return await self._archived(asked, audience)
        if words == ("former",):
            return self._list(asked, [m for m in owned if m.former_at is not None]) or self._text(
                asked, "mem_none_former"
            )
        if words == ("recent",):
            changed = recently_changed((m for m in owned if m.former_at is None), self._clock.now())
            return self._list(asked, changed, len(changed)) or self._text(asked, "mem_none_recent")
        if words == ("stats",):
            return self._stats(asked, owned)
        if number is not None and len(words) == 1:
            return await self._one(asked, _of_number(owned, number))
        if number is not None and len(words) == 2 and words[0] in MEMORY_ACTIONS:
            return await self._do(asked, words[0], _of_number(owned, number))
        if number is not None and len(words) == 2 and words[0] in SHARING_ACTIONS:
            return await self._share(asked, _of_number(owned, number), on=words[0] == "share")
        if words and words[0] in (*MEMORY_ACTIONS, *SHARING_ACTIONS):
            return self._text(asked, "mem_words")
        told = " ".join(words)
        found = [m for m in owned if m.disabled_at is None and m.former_at is None and told in fold(m.text)]
        none = "mem_none" if words else "mem_empty"
        return self._list(asked, found) or self._text(asked, none) + hint(asked, "mem", self._text)

    async def _archived(self, asked: Invocation, audience: Audience) -> str:
        found = await self._store.lives.archived(asked.person.id, audience)
        return self._list(asked, list(found)) or self._text(asked, "mem_none_archived")

    async def stats(self, asked: Invocation) -> str:
        """The answer to `.ai memstats`: the person's own; the owner is told the numbers of the whole house, too."""
        audience = await self._planner.audience(asked.chat, asked.person)
        own = self._stats(asked, await self._store.memories.owned(asked.person.id, audience))
        if not asked.person.is_owner:
            return own
        counts = await self._store.memory_inspector.counts()
        return f"{own}\n{self._text(asked, 'memstats_house', **counts)}"

    def _stats(self, asked: Invocation, owned: tuple[Memory, ...]) -> str:
        active = tuple(memory for memory in owned if memory.disabled_at is None and memory.former_at is None)
        return stats_report(active, len(owned) - len(active), self._clock.now(), partial(self._text, asked))

    async def _one(self, asked: Invocation, memory: Memory | None) -> str:
        if memory is None:
            return self._text(asked, "mem_none")
        merged = await self._store.merges.of(memory)
        tz, now = self._words.tz(self._words.zone_of(asked.chat, asked.person)), self._clock.now()
        told = (await self._planner.boot(asked.chat, asked.person, now)).memories
        text = partial(self._text, asked)
        why = told_report(memory, now, text, opens=memory.id in told)
        return f"{memory_report(memory, merged, now, tz, text)}\n{why}"

    async def _do(self, asked: Invocation, deed: str, memory: Memory | None) -> str:
        lives, now = self._store.lives, self._clock.now()
        if memory is None or (deed == "restore") != (memory.disabled_at is not None):
            return self._text(asked, "mem_none_archived" if deed == "restore" else "mem_none")
        days = self._settings.memory.life.archive_days
        other: int | None = None
        match deed:
            case "protect" | "unprotect":
                await lives.protect(memory, on=deed == "protect")
            case "fade":
                await lives.fade(memory)
            case "archive":
                await lives.archive(memory, now + days * DAY_MS, now)
            case "restore":
                await lives.restore(memory, now)
            case _:
                other = await self._store.merges.undo(memory, now)
                if other is None:
                    return self._text(asked, "mem_not_merged", id=memory.id)
        return self._text(asked, f"mem_did_{deed}", id=memory.id, other=other, days=days)

    async def _share(self, asked: Invocation, memory: Memory | None, *, on: bool) -> str:
        if memory is None or memory.disabled_at is not None:
            return self._text(asked, "mem_none")
        sharing, now = self._store.sharing, self._clock.now()
        if on:
            done = "mem_did_share" if await sharing.share(memory, now) else "mem_is_shared"
        else:
            back = await sharing.unshare(memory, now)
            done = f"mem_did_unshare_{back}" if back is not None else "mem_not_shared"
        return self._text(asked, done, id=memory.id)

    def _list(self, asked: Invocation, memories: list[Memory], most: int = MEMORIES_SHOWN) -> str:
        lines = list_report(memories[:most], self._clock.now(), partial(self._text, asked))
        more = len(memories) - most
        return f"{lines}\n{self._text(asked, 'mem_more', n=more)}" if more > 0 else lines


MEMORY_ACTIONS = ("protect", "unprotect", "fade", "archive", "restore", "unmerge")
"""What a person may do to a memory of their own: `.ai mem protect #12`."""

SHARING_ACTIONS = ("share", "unshare")
"""Whether it is told wherever its owner speaks: `.ai mem share #12`."""


def _of_number(memories: tuple[Memory, ...], number: int) -> Memory | None:
    return next((memory for memory in memories if memory.id == number), None)
