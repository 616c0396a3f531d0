"""Watches whether polling still works: what ended it, or that it hangs. It polls nothing."""

import asyncio
from collections.abc import Callable

from telegram.error import Conflict, NetworkError, TelegramError

from bot.errors import PlatformError
from bot.ports import Alarm, Clock
from bot.types.log import Log

SILENT_MS = 90_000
"""Without one successful poll for so long polling counts as dead (FAULTS D26)."""

SETTLED_MS = 15_000
"""Polling that has worked for longer than a long poll was here first; a second poller that comes later must go."""

CONFLICTS = 5
"""Conflicts in a row after which the one who was here first gives up too, and tries again later."""


class Watch:
    """The state of one connection; `ended` fails when it must be given up.

    `settled_before` says that this program polled with the token for a while already.
    """

    def __init__(self, clock: Clock, log: Log, clean: Callable[[str], str], *, settled_before: bool) -> None:
        self._clock = clock
        self._log = log
        self._clean = clean
        self._first: int | None = None
        self._last = clock.now()
        self._conflicts = 0
        self._before = settled_before
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._alarm: Alarm = clock.at(self._last + SILENT_MS, self._look)

    @property
    def settled(self) -> bool:
        """Whether polling has worked for a while."""
        return self._before or (self._first is not None and self._clock.now() - self._first >= SETTLED_MS)

    @property
    def silent_ms(self) -> int:
        """How long ago a poll succeeded, or the first was begun, ms."""
        return self._clock.now() - self._last

    def answered(self, code: int) -> None:
        """A poll was answered with this HTTP status."""
        if code == 200:
            self._last = self._clock.now()
            self._first = self._last if self._first is None else self._first
            self._conflicts = 0
        elif code in (401, 404):
            self._end(PlatformError("Telegram no longer accepts telegram.token: make a new one with @BotFather and "
                                    "put it into .env", final=True))  # fmt: skip

    def failed(self, error: TelegramError) -> None:
        """The library's polling met an error and will go on, more slowly."""
        if isinstance(error, Conflict):
            self._conflicts += 1
            if not self.settled or self._conflicts >= CONFLICTS:
                self._end(PlatformError("a second program polls Telegram with the same token: stop one of the two, "
                                        "or give each its own bot", final=not self.settled))  # fmt: skip
                return
        kind = "telegram_not_stored" if isinstance(error.__cause__, Exception) and _own(error) else "telegram_poll"
        self._log.warning(kind, error=self._clean(f"{type(error).__name__}: {error.message}"))

    def died(self, task: asyncio.Task[object]) -> None:
        """The polling task is done, whatever the reason."""
        error = None if task.cancelled() else task.exception()
        self._end(OSError(f"polling of Telegram ended: {type(error).__name__ if error else 'no error'}"))

    def close(self) -> None:
        """Watch no more."""
        self._alarm.cancel()
        if self.ended.done():
            self.ended.exception()  # looked at, or asyncio would report it when nobody waits any more
        else:
            self.ended.cancel()

    def _look(self) -> None:
        due = self._last + SILENT_MS
        if self._clock.now() >= due:
            self._end(TimeoutError(f"no poll of Telegram succeeded for {SILENT_MS // 1000} s"))
        else:
            self._alarm = self._clock.at(due, self._look)

    def _end(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)


def _own(error: TelegramError) -> bool:
    return isinstance(error, NetworkError) and error.message.startswith("update ")
