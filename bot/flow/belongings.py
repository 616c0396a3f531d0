"""What belongs to one person: put together for them to take along, or taken out of the house for good."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.errors import StoreError
from bot.memory.carrying.archive import archive
from bot.ports import Clock
from bot.store.store import Store
from bot.text.zones import zone_or
from bot.types.duration import DAY_MS
from bot.types.erased import Erased
from bot.types.log import Log

ARCHIVE_DAYS = 7
"""How long an archive waits in the data folder to be fetched."""

Scrub = Callable[[Erased], int]
"""Takes a person out of the files of the log; OSError."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive, and how much is in it by kind."""

    data: bytes
    counts: dict[str, int]


async def pack(store: Store, person_id: int, at: int, zone: str) -> Packed:
    """Everything of one person in one archive, with the times of their zone, or of `zone` where none is known.

    LookupError when there is nobody of that number.
    """
    carried = (await store.carrying.export(person_id, at)).here.carried
    own = await store.exporting.own(person_id)
    data = await asyncio.to_thread(archive, carried, own, at, zone_or(str(own.person["timezone"]), zone))
    counts = {
        "memories": len(carried.memories), "talks": len(carried.summaries), "notes": len(carried.notes),
        "promises": len(own.promises), "reminders": len(own.reminders), "lines": len(own.lines),
        "files": len(own.files),
    }  # fmt: skip
    return Packed(data, counts)


class Belongings:
    """Exports and erases, for the chat commands and the command line alike."""

    def __init__(self, store: Store, clock: Clock, log: Log, scrub: Scrub | None = None, zone: str = "UTC") -> None:
        """Without `scrub` no log is written here; `zone` is the house's."""
        self._store = store
        self._clock = clock
        self._log = log
        self._scrub = scrub
        self._zone = zone

    async def export(self, person_id: int) -> Path:
        """Put a person's archive in the data folder, where it waits ARCHIVE_DAYS; StoreError when it cannot."""
        now = self._clock.now()
        packed = await pack(self._store, person_id, now, self._zone)
        await asyncio.to_thread(self._store.exporting.tidy, now - ARCHIVE_DAYS * DAY_MS)
        path = await asyncio.to_thread(self._store.exporting.write, person_id, packed.data, now)
        self._log.info("exported", person=person_id, file=path.name)
        return path

    async def erase(self, person_id: int, last: int | None = None) -> Erased:
        """Take a person out: database, notes, archives, log. StoreError: nothing was erased.

        `last` is the event whose answer is still to be sent. What cannot be done in files is said in the log, and
        left to the next start.
        """
        erased = await self._store.erasing.erase(person_id, self._clock.now(), last)
        await self.finish()
        self._log.info("erased", **erased.counts)
        return erased

    async def finish(self) -> None:
        """Take whoever was erased out of the archives and the log, also where a crash came between."""
        gone = await self._store.erasing.unfinished()
        if not gone:
            return
        try:
            for erased in gone:
                await asyncio.to_thread(self._store.exporting.remove, erased.person_id)
                if self._scrub is not None:
                    await asyncio.to_thread(self._scrub, erased)
            await self._store.erasing.finish(gone)
        except (StoreError, OSError) as error:
            self._log.error("erasing_left_files", error=str(error))
