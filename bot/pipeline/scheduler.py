"""Deadlines are columns, timers are hints: whatever is due is handed out, and the next instant is armed."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

from bot.core.clock import DAY_MS
from bot.core.errors import StatementError, StoreError
from bot.core.ports import Alarm, Clock, JumpingClock, Log, Role, implements
from bot.pipeline.configuration import Current
from bot.pipeline.jobs.archives import ARCHIVE_DAYS
from bot.pipeline.jobs.digests import LONGEST_SHARED_MS as DIGEST_WAIT_MS
from bot.pipeline.send import LONGEST_WAIT_MS as SEND_WAIT_MS
from bot.session import close_reason
from bot.speaking.pacing import TOTAL_MS
from bot.store.backups import tidy_beside
from bot.store.deadlines import DeadlineBounds, Retention
from bot.store.store import Store
from bot.store.waiting import UNSTORED_MS
from bot.text.dates import next_local_time

UNKEPT_MS = DAY_MS
"""So long what is to be kept nowhere can come back by undo, once its talk is over."""

SOON_MS = 10_000
"""Longer than anything a person said waits for its answer, unless follow-ups are configured to wait longer."""

RETRY_MS = 5_000
"""How soon deadlines are looked at again after the disk refused."""

DEFECT_MS = 60_000
"""How soon what failed for any other reason is tried again: it may fail for ever, and says so each time."""


DOES: Mapping[Role, frozenset[str]] = {
    "gateway": frozenset(("outbox",)),
    "worker": frozenset(("event", "session", "digest", "join", "heartbeat")),
    "janitor": frozenset(("window", "reminder", "purge", "leave", "wipe", "backup", "tidy", "life", "rewrite", "roll")),
}
"""Which deadlines are seen to by which role."""

OF_CHAT = ("event", "digest", "join")
"""What is done by the process that works in the chat."""


class Scheduler:
    """The work of the alarm queue. Beside other processes it hands out what this one does."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        wakes: Mapping[str, Callable[[int], None]],
        write_first: Callable[[], Awaitable[None]],
        remind: Callable[[], Awaitable[None]],
        wake: Callable[[], None],
        roles: Collection[Role],
        log: Log,
    ) -> None:
        """`wakes` has a queue look at what is due, by the kind of the deadline; `write_first` lets nuan do so, `remind`
        says what people wanted to be reminded of. `wake` has deadlines looked at once more. `roles`
        are what this process does now."""
        self._store = store
        self._clock = clock
        self._wakes = wakes
        self._write_first = write_first
        self._remind = remind
        self._current = current
        self._wake = wake
        self._roles = roles
        self._log = log
        self._alarm: Alarm | None = None
        if implements(clock, JumpingClock):
            clock.on_jump(wake)

    async def take_up(self) -> None:
        """At a start: deadlines that an earlier process set by a clock that was ahead do not wait for it."""
        settings, now = self._current.settings, self._clock.now()
        followup, window = settings.speak.followup_seconds * 1000, settings.speak.window_seconds * 1000
        idle, send = settings.session.idle_seconds * 1000, max(TOTAL_MS, SEND_WAIT_MS)
        farthest = DeadlineBounds(max(followup, SOON_MS), window + TOTAL_MS, idle, send, DIGEST_WAIT_MS)
        if changed := await self._store.deadlines.bring_back(now, farthest):
            self._log.warning("clock_was_ahead", deadlines=changed)

    async def work(self, _: int = 0) -> None:
        """Hand out what is due, then arm the next alarm."""
        now = self._clock.now()
        try:
            now = await self._followed(now)
            due, upcoming = await self._store.deadlines.look(now)
            if self._store.leases.shared:
                due = await self._own(due)
            again = [wait for kind, number in due if (wait := await self._tried(kind, number, now)) is not None]
            if due:  # what was done may have set other deadlines
                upcoming = await self._store.deadlines.next(now)
        except StoreError as error:
            self._log.error("store_failed", error=str(error))
            upcoming, again = None, [RETRY_MS]
        self.stop()
        times = [now + wait for wait in again] + ([] if upcoming is None else [upcoming])
        if times:
            self._alarm = self._clock.at(min(times), self._wake)

    def stop(self) -> None:
        """No alarm is armed any more."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def _own(self, due: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """What of it this process does, in the chats that it works in by now."""
        kinds = frozenset[str]().union(*(DOES[role] for role in self._roles))
        chats = {number for kind, number in due if kind in kinds and kind in OF_CHAT}
        mine = await self._store.leases.claim(chats) if chats else frozenset()
        return tuple(
            (kind, number) for kind, number in due if kind in kinds and (kind not in OF_CHAT or number in mine)
        )

    async def _followed(self, now: int) -> int:
        """The time of now, once what is measured from something just said has been moved along with a set clock.

        Beside other processes nothing is: what they stored goes by their clocks.
        """
        clock = self._clock
        if not implements(clock, JumpingClock) or not (jump := clock.jump):
            return now
        if self._store.leases.shared:
            clock.follow()
            return self._clock.now()
        moved = await self._store.deadlines.move_along(jump, now)
        clock.follow()
        self._log.warning("clock_set_forward", ms=jump, deadlines=moved)
        return self._clock.now()

    async def _tried(self, kind: str, number: int, now: int) -> int | None:
        """Do one thing; when it failed, after how many ms to try again. Nothing else waits for it."""
        try:
            await self._one(kind, number, now)
        except Exception as error:  # noqa: BLE001 - a defect of one kind must not keep all others from being done
            if isinstance(error, StoreError) and not isinstance(error, StatementError):
                self._log.error("store_failed", deadline=kind, key=number, error=str(error))
                return RETRY_MS
            self._log.error("deadline_failed", deadline=kind, key=number, exc_info=error)
            return DEFECT_MS
        return None

    async def _one(self, kind: str, number: int, now: int) -> None:
        match kind:
            case "session":
                session = await self._store.sessions.session(number)
                why = close_reason(session, self._current.settings.session.idle_seconds * 1000)
                if await self._store.sessions.close(number, why, now, deadline=True):
                    self._wakes["digest"](session.chat_id)
            case "window":
                await self._store.deadlines.end_windows(now)
            case "heartbeat":
                await self._write_first()
            case "reminder":
                await self._remind()
            case "leave":
                await self._store.people.drop_left_addresses(now)
            case "wipe":
                await self._store.deadlines.wipe()
            case "purge":
                count = await self._store.memories.purge(now)
                self._log.info("purged", memories=count)
            case "tidy":
                await self._tidy(now)
            case _:
                self._wakes[kind](number)

    async def _tidy(self, now: int) -> None:
        settings, words = self._current.settings, self._current.words
        keep, tz = settings.retention, words.default_tz
        await self._store.deadlines.tidy(
            Retention(
                now - keep.ids_days * DAY_MS,
                now - keep.transcript_days * DAY_MS,
                now - keep.log_days * DAY_MS,
                next_local_time(now, settings.session.close_hour, tz),
                now - keep.dialogue_days * DAY_MS,
                now - keep.counts_days * DAY_MS,
                now - UNKEPT_MS,
            )
        )
        await asyncio.to_thread(self._store.files.archives.tidy, now - ARCHIVE_DAYS * DAY_MS)
        await asyncio.to_thread(self._store.files.parts.tidy, await self._store.outbox.files(), now - UNSTORED_MS)
        await asyncio.to_thread(tidy_beside, self._store.folder, now - settings.backup.days * DAY_MS)
