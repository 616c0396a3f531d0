"""Archives: what belongs to one person, exported or erased, and the daily backup."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.errors import StoreError
from bot.core.parts import File
from bot.core.people import ErasedPerson
from bot.core.ports import Clock, Log
from bot.language.time.schedule import zone_or
from bot.memory.archive.export import person_archive
from bot.pipeline.configuration import Current
from bot.store.backups import folder_of, write_backup
from bot.store.store import Store
from bot.text.dates import next_local_time

ARCHIVE_DAYS = 7
"""How long an archive waits to be fetched."""

Scrub = Callable[[ErasedPerson], int]
"""Takes a person out of the files of the log; OSError."""


@dataclass(frozen=True, slots=True)
class PersonArchive:
    """An archive, and how much is in it by kind."""

    data: bytes
    counts: dict[str, int]


async def pack_person(store: Store, person_id: int, at: int, zone: str) -> PersonArchive:
    """Everything of one person in one archive, with the times of their zone, or of `zone` where none is known.

    LookupError when there is nobody of that number.
    """
    carried = (await store.memories.export(person_id, at)).here.carried
    own = await store.people.personal_records(person_id)
    data = await asyncio.to_thread(person_archive, carried, own, at, zone_or(str(own.person["timezone"]), zone))
    counts = {
        "memories": len(carried.memories),
        "talks": len(carried.summaries),
        "notes": len(carried.notes),
        "promises": len(own.promises),
        "reminders": len(own.reminders),
        "lines": len(own.lines),
        "files": len(own.files),
    }
    return PersonArchive(data, counts)


class PersonData:
    """Exports and erases, for the chat commands and the command line alike."""

    def __init__(self, store: Store, clock: Clock, log: Log, scrub: Scrub | None = None) -> None:
        """Without `scrub` no log is written here."""
        self._store = store
        self._clock = clock
        self._log = log
        self._scrub = scrub

    async def export(self, person_id: int, zone: str) -> File:
        """Make a person's archive, which waits ARCHIVE_DAYS; StoreError when it cannot. `zone` is the installation's."""
        now = self._clock.now()
        packed = await pack_person(self._store, person_id, now, zone)
        await asyncio.to_thread(self._store.files.archives.tidy, now - ARCHIVE_DAYS * DAY_MS)
        path = await asyncio.to_thread(self._store.files.archives.write, person_id, packed.data, now)
        name = path.rpartition("/")[2]
        self._log.info("exported", person=person_id, file=name)
        return File(path, name, len(packed.data))

    async def erase(self, person_id: int, last: int | None = None) -> ErasedPerson:
        """Take a person out: database, notes, archives, log. StoreError: nothing was erased.

        `last` is the event whose answer is still to be sent. What cannot be done in files is said in the log, and
        left to the next start.
        """
        erased = await self._store.people.erase(person_id, self._clock.now(), last)
        await self.finish()
        self._log.info("erased", **erased.counts)
        return erased

    async def finish(self) -> None:
        """Take whoever was erased out of the archives and the log, also where a crash came between."""
        gone = await self._store.people.unfinished_erasures()
        if not gone:
            return
        try:
            for erased in gone:
                await asyncio.to_thread(self._store.files.archives.remove, (erased.person_id,))
                kept = await self._store.outbox.files()
                await asyncio.to_thread(self._store.files.parts.tidy, kept, self._clock.now() + 1)
                if self._scrub is not None:
                    await asyncio.to_thread(self._scrub, erased)
            await self._store.people.finish_erasures(gone, self._clock.now())
        except (StoreError, OSError) as error:
            self._log.error("erasing_left_files", error=str(error))


class DailyBackup:
    """Makes the daily backup."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._log = log

    async def arm(self) -> None:
        """Set when the next one is due by these settings; one that was missed is due at once, once."""
        now, due = self._clock.now(), await self._store.deadlines.backup_at()
        if not self._current.settings.backup.daily:
            if due is not None:
                await self._store.deadlines.set_backup(None)
        elif due is None or now < due != self._next(now):
            await self._store.deadlines.set_backup(self._next(now))

    async def work(self) -> None:
        """Make one if it is time; what fails is said in the log and tried again in an hour."""
        rules, now, due = self._current.settings.backup, self._clock.now(), await self._store.deadlines.backup_at()
        if due is None or due > now:
            return
        data = self._store.folder
        try:
            folder, url = folder_of(data, rules.folder), self._store.url
            path, gone = await asyncio.to_thread(write_backup, data, folder, now, rules, url=url)
        except StoreError as error:
            self._log.error("backup_failed", error=str(error))
            await self._store.deadlines.set_backup(now + HOUR_MS)
            return
        self._log.info("backup", file=path.name, bytes=path.stat().st_size, removed=gone)
        await self._store.deadlines.set_backup(self._next(now))

    def _next(self, now: int) -> int:
        return next_local_time(now, self._current.settings.backup.hour, self._current.words.default_tz)
