"""Once a day, when the operator wants it, a backup beside the chats; what has had its time goes."""

import asyncio

from bot.config.settings import Settings
from bot.errors import StoreError
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.keptcopies import Keeping, folder_of, keep
from bot.store.store import Store
from bot.text.dates import next_local_time
from bot.types.duration import DAY_MS, HOUR_MS
from bot.types.log import Log


class BackingUp:
    """Makes the daily backup."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, words: Words, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words
        self._log = log

    async def arm(self) -> None:
        """Set when the next one is due by these settings; one that was missed is due at once, once."""
        now, due = self._clock.now(), await self._store.deadlines.backup_at()
        if not self._settings.backup.daily:
            if due is not None:
                await self._store.deadlines.set_backup(None)
        elif due is None or now < due != self._next(now):
            await self._store.deadlines.set_backup(self._next(now))

    async def work(self) -> None:
        """Make one if it is time; what fails is said in the log and tried again in an hour."""
        rules, now, due = self._settings.backup, self._clock.now(), await self._store.deadlines.backup_at()
        if due is None or due > now:
            return
        data = self._store.folder
        keeping = Keeping(rules.keep, rules.days * DAY_MS)
        try:
            path, gone = await asyncio.to_thread(keep, data, folder_of(data, rules.folder), now, keeping)
        except StoreError as error:
            self._log.error("backup_failed", error=str(error))
            await self._store.deadlines.set_backup(now + HOUR_MS)
            return
        self._log.info("backup", file=path.name, bytes=path.stat().st_size, removed=gone)
        await self._store.deadlines.set_backup(self._next(now))

    def _next(self, now: int) -> int:
        return next_local_time(now, self._settings.backup.hour, self._words.tz(self._words.zone))
