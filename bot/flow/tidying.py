"""Once a day, at the hour that closes sessions, memories age: owner by owner, beside the chats, at any time again."""

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.words import Words
from bot.memory.rereading import reread
from bot.memory.vitality import Capacity, count_after, crowded_out, used_at, worn_out
from bot.ports import Clock
from bot.store.lives import Upkeep
from bot.store.store import Store
from bot.text.dates import next_local_time
from bot.types.duration import DAY_MS, HOUR_MS
from bot.types.log import Log
from bot.types.memory import Memory, Older, Reread

LEAST_LINES = 4
"""Of a group in which fewer lines were said since its last talk no digest is made."""


class Tidying:
    """Archives what is worn out or has no room, and lets the counts of what nobody uses fall."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, words: Words, aside: Aside, log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words
        self._aside = aside
        self._log = log

    async def work(self) -> None:
        """Tidy when it is time; after days without power what they would have done, once."""
        now, lives = self._clock.now(), self._store.lives
        if not await lives.due(now):
            return
        await self._reread()
        counted = archived = 0
        for household in await lives.households():
            known = await lives.of(household)
            upkeep = await self._aside.run(self._upkeep, known, now)
            if upkeep.counts or upkeep.archived:
                await lives.keep_up(upkeep, now)
                counted, archived = counted + len(upkeep.counts), archived + len(upkeep.archived)
        await self._overhear(now)
        await lives.come_true(now)
        rules, tz = self._settings.memory.life, self._words.tz(self._words.zone)
        next_at = next_local_time(now, self._settings.session.close_hour, tz)
        await lives.done(now - rules.archive_days * DAY_MS, now, next_at)
        days = self._settings.memory.commitment_days
        await self._store.commitments.tidy(now - days * DAY_MS, now)
        if counted or archived:
            self._log.info("memories_tidied", counted=counted, archived=archived)

    async def _overhear(self, now: int) -> None:
        """What groups said today without the bot gets its digest, too."""
        most = self._settings.session.heard_lines
        if most and (made := await self._store.sessions.overhear(now, now - 2 * DAY_MS, LEAST_LINES, most)):
            self._log.info("groups_overheard", groups=made)

    async def _reread(self) -> None:
        """What an older nuan stored is read by the rules of today, once and a few at a time."""
        lives, mended = self._store.lives, 0
        while older := await lives.older():
            found = await self._aside.run(self._found, older)
            await lives.reread(older, found)
            mended += len(found)
        if mended:
            self._log.info("memories_reread", mended=mended)

    def _found(self, older: tuple[Older, ...]) -> tuple[Reread, ...]:
        found = (reread(one, self._words.tz(one.zone or self._words.zone)) for one in older)
        return tuple(one for one in found if one is not None)

    def _upkeep(self, known: tuple[tuple[Memory, int], ...], now: int) -> Upkeep:
        """What becomes of one owner's memories; each comes with when its count was last looked at."""
        rules = self._settings.memory.life
        limits = Capacity(
            rules.max_emotion, rules.max_knowledge, rules.max_event, rules.max_experience, rules.max_total,
            rules.max_lasting,
        )  # fmt: skip
        memories = [memory for memory, _ in known]
        worn = {memory.id for memory in worn_out(memories, now)}
        crowded = crowded_out([memory for memory in memories if memory.id not in worn], now, limits)
        archived = worn.union(memory.id for memory in crowded)
        counts = [
            (memory.id, count_after(memory.importance, used_at(memory), since, now, rules.interval_hours * HOUR_MS))
            for memory, since in known if not memory.kept and memory.importance > 1 and memory.id not in archived
        ]  # fmt: skip
        before = {memory.id: memory.importance for memory in memories}
        return Upkeep(
            tuple((number, count) for number, count in counts if count < before[number]),
            tuple(sorted(archived)),
            now + rules.archive_days * DAY_MS,
        )
