"""`.ai mem`: a person's own memories as this chat may see them, with what they may do to each."""

from collections.abc import Callable
from functools import partial

from bot.commands.nearest import hint
from bot.commands.remembered import lately, list_report, memory_report, stats_report, why_told
from bot.commands.table import Asked
from bot.config.settings import Settings
from bot.flow.plan import Planner
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.signs import of
from bot.types.duration import DAY_MS
from bot.types.memory import Memory
from bot.types.people import Audience

SHOWN = 12
"""How many memories a list shows."""


class MemCommand:
    """Shows memories, protects and shares them, lets them fade, archives and restores them, and takes merges back."""

    def __init__(
        self, store: Store, planner: Planner, clock: Clock, settings: Settings, words: Words, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._planner = planner
        self._clock = clock
        self._settings = settings
        self._words = words
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai mem …`; only what belongs to the person who asks, and may be told here."""
        audience = await self._planner.audience(asked.chat, asked.person)
        owned = await self._store.memories.owned(asked.person.id, audience)
        words = tuple(fold(word) for word in asked.words)
        number = of("memory", words[-1]) if words else None
        if words == ("archived",):
            return await self._archived(asked, audience)
        if words == ("former",):
            return self._list(asked, [m for m in owned if m.former_at is not None]) or self._text(
                asked, "mem_none_former"
            )
        if words == ("recent",):
            changed = lately((m for m in owned if m.former_at is None), self._clock.now())
            return self._list(asked, changed, len(changed)) or self._text(asked, "mem_none_recent")
        if words == ("stats",):
            return self._stats(asked, owned)
        if number is not None and len(words) == 1:
            return await self._one(asked, _numbered(owned, number))
        if number is not None and len(words) == 2 and words[0] in DEEDS:
            return await self._do(asked, words[0], _numbered(owned, number))
        if number is not None and len(words) == 2 and words[0] in SHARING:
            return await self._share(asked, _numbered(owned, number), on=words[0] == "share")
        if words and words[0] in (*DEEDS, *SHARING):
            return self._text(asked, "mem_words")
        told = " ".join(words)
        found = [m for m in owned if m.disabled_at is None and m.former_at is None and told in fold(m.text)]
        none = "mem_none" if words else "mem_empty"
        return self._list(asked, found) or self._text(asked, none) + hint(asked, "mem", self._text)

    async def _archived(self, asked: Asked, audience: Audience) -> str:
        found = await self._store.lives.archived(asked.person.id, audience)
        return self._list(asked, list(found)) or self._text(asked, "mem_none_archived")

    async def stats(self, asked: Asked) -> str:
        """The answer to `.ai memstats`: the person's own; the owner is told the numbers of the whole house, too."""
        audience = await self._planner.audience(asked.chat, asked.person)
        own = self._stats(asked, await self._store.memories.owned(asked.person.id, audience))
        if not asked.person.is_owner:
            return own
        counts = await self._store.browsing.counts()
        return f"{own}\n{self._text(asked, 'memstats_house', **counts)}"

    def _stats(self, asked: Asked, owned: tuple[Memory, ...]) -> str:
        active = tuple(memory for memory in owned if memory.disabled_at is None and memory.former_at is None)
        return stats_report(active, len(owned) - len(active), self._clock.now(), partial(self._text, asked))

    async def _one(self, asked: Asked, memory: Memory | None) -> str:
        if memory is None:
            return self._text(asked, "mem_none")
        merged = await self._store.merges.of(memory)
        tz, now = self._words.tz(self._words.zone_of(asked.chat, asked.person)), self._clock.now()
        told = (await self._planner.boot(asked.chat, asked.person, now)).memories
        text = partial(self._text, asked)
        why = why_told(memory, now, text, opens=memory.id in told)
        return f"{memory_report(memory, merged, now, tz, text)}\n{why}"

    async def _do(self, asked: Asked, deed: str, memory: Memory | None) -> str:
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

    async def _share(self, asked: Asked, memory: Memory | None, *, on: bool) -> str:
        if memory is None or memory.disabled_at is not None:
            return self._text(asked, "mem_none")
        sharing, now = self._store.sharing, self._clock.now()
        if on:
            done = "mem_did_share" if await sharing.share(memory, now) else "mem_is_shared"
        else:
            back = await sharing.unshare(memory, now)
            done = f"mem_did_unshare_{back}" if back is not None else "mem_not_shared"
        return self._text(asked, done, id=memory.id)

    def _list(self, asked: Asked, memories: list[Memory], most: int = SHOWN) -> str:
        lines = list_report(memories[:most], self._clock.now(), partial(self._text, asked))
        more = len(memories) - most
        return f"{lines}\n{self._text(asked, 'mem_more', n=more)}" if more > 0 else lines


DEEDS = ("protect", "unprotect", "fade", "archive", "restore", "unmerge")
"""What a person may do to a memory of their own: `.ai mem protect #12`."""

SHARING = ("share", "unshare")
"""Whether it is told wherever its owner speaks: `.ai mem share #12`."""


def _numbered(memories: tuple[Memory, ...], number: int) -> Memory | None:
    return next((memory for memory in memories if memory.id == number), None)
