"""Polling that confirms only what is stored, and the watch over it: what ended it, or that it hangs."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

from telegram import Update
from telegram.error import Conflict, NetworkError, RetryAfter, TelegramError
from telegram.ext import ExtBot
from telegram.request import BaseRequest

from adapters.telegram.events import BotAccount, events_of
from adapters.telegram.sending import ProgressKind
from bot.core.errors import PlatformError, StatementError, StoreError
from bot.core.events import Incoming
from bot.core.ports import Alarm, Clock, EventSink, Log

SILENT_MS = 90_000
"""Without one successful poll for so long polling counts as dead (FAULTS D26)."""

SETTLED_MS = 15_000
"""Polling that has worked for longer than a long poll was here first; a second poller that comes later must go."""

MOST_CONFLICTS = 5
"""Conflicts in a row after which the one who was here first gives up too, and tries again later."""

CONTESTED = (
    "another program polls Telegram with the same token: it is waited until that one stops. A nuan that was cut off does "
    "so by itself within store.lease_seconds; stop any other, or give it its own bot"
)

STORE_TRIES = 8
"""How often an update is tried that breaks its own storing, before it is left out (FAULTS D5: 8)."""

STORE_WAIT_S = 1
"""How soon an update comes again that the disk refused; by itself the library would wait longer and longer."""


class PollingWatch:
    """The state of one connection; `ended` fails when it must be given up.

    `settled_before` says that this program polled with the token for a while already. A second poller ends one that
    came later, unless it is `shared` with others, which take turns: then the library polls on with growing waits.
    """

    def __init__(
        self, clock: Clock, log: Log, clean: Callable[[str], str], *, settled_before: bool, shared: bool = False
    ) -> None:
        self._clock = clock
        self._log = log
        self._clean = clean
        self._first: int | None = None
        self._last = clock.now()
        self._conflicts = 0
        self._contested: int | None = None
        self._before, self._shared = settled_before, shared
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
            self._end(
                PlatformError(
                    "Telegram no longer accepts telegram.token: make a new one with @BotFather and put it into .env",
                    final=True,
                )
            )

    def failed(self, error: TelegramError) -> None:
        """The library's polling met an error and will go on, more slowly."""
        if isinstance(error, Conflict) and self._shared:
            before, self._contested = self._contested, self._clock.now()
            if before is None or self._contested - before >= SILENT_MS:
                self._log.warning("telegram_contested", error=CONTESTED)
            return
        if isinstance(error, Conflict):
            self._conflicts += 1
            if not self.settled or self._conflicts >= MOST_CONFLICTS:
                self._end(
                    PlatformError(
                        "a second program polls Telegram with the same token: stop one of the two, "
                        "or give each its own bot",
                        final=not self.settled,
                    )
                )
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
        due = max(self._last, self._contested or 0) + SILENT_MS
        if self._clock.now() >= due:
            self._end(TimeoutError(f"no poll of Telegram succeeded for {SILENT_MS // 1000} s"))
        else:
            self._alarm = self._clock.at(due, self._look)

    def _end(self, error: Exception) -> None:
        if not self.ended.done():
            self.ended.set_exception(error)


def _own(error: TelegramError) -> bool:
    return isinstance(error, NetworkError) and error.message.startswith("update ")


class IngestQueue(asyncio.Queue[object]):
    """The update queue: `put` returns when the update is stored, and only then does the library confirm it.

    Any failure becomes NetworkError, or RetryAfter while the disk refuses: the library's polling slows down for these,
    and dies of any other error.
    """

    def __init__(self, sink: EventSink, me: BotAccount, log: Log, after: Callable[[Update], None]) -> None:
        super().__init__()
        self._sink = sink
        self._me = me
        self._log = log
        self._after = after
        self._failed: Counter[int] = Counter()
        self._storing: dict[int, asyncio.Task[None]] = {}

    def begin(self, updates: Sequence[Update]) -> None:
        """Begin to store what one poll brought: the messages of different chats beside each other, all else in order."""
        self._end()
        last: dict[str, asyncio.Task[None]] = {}
        for update in updates:
            incomings = self._read(update)
            places = {incoming.place.external_id for incoming in incomings if incoming.kind == "message"}
            if len(places) == 1 and len(incomings) == 1:
                (place,) = places
                before = last.get(place) or last.get("")
                task = asyncio.create_task(self._store_all(update, incomings, [before] if before else []))
                last[place] = task
            else:
                task = asyncio.create_task(self._store_all(update, incomings, [*last.values()]))
                last = {"": task}
            # Whether it failed is seen where it is waited for; of those after it nobody asks.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._storing[update.update_id] = task

    async def put(self, item: object) -> None:
        """Return when the update is stored; NetworkError or RetryAfter when it is not and shall come again."""
        if not isinstance(item, Update):
            return
        if item.update_id not in self._storing:
            self.begin((item,))
        try:
            await self._storing.pop(item.update_id)
        except BaseException:
            self._end()  # they come again with this one
            raise
        self._after(item)

    def _end(self) -> None:
        for task in self._storing.values():
            task.cancel()
        self._storing.clear()

    def _read(self, update: Update) -> tuple[Incoming, ...]:
        try:
            return events_of(update, self._me)
        except Exception as error:  # noqa: BLE001 - an update that cannot be read must not stop the others
            self._skip(update.update_id, error)
            return ()

    async def _store_all(
        self, update: Update, incomings: tuple[Incoming, ...], before: list[asyncio.Task[None]]
    ) -> None:
        if before:
            await asyncio.wait(before)
        if any(task.cancelled() or task.exception() for task in before):
            raise NetworkError(f"update {update.update_id} not stored: one before it was not")
        for incoming in incomings:
            await self._store(update.update_id, self._sink.accept(incoming))

    async def _store(self, update_id: int, accepting: Awaitable[bool]) -> None:
        try:
            stored = await accepting
        except Exception as error:
            # Nothing can be stored now, whatever it is.
            if isinstance(error, StoreError) and not isinstance(error, StatementError):
                self._log.warning("telegram_not_stored", update=update_id, error=str(error))
                raise RetryAfter(STORE_WAIT_S) from error
            if isinstance(error, OSError):
                raise NetworkError(f"update {update_id} not stored: {type(error).__name__}: {error}") from error
            self._failed[update_id] += 1
            if self._failed[update_id] >= STORE_TRIES:
                self._skip(update_id, error)
                return
            raise NetworkError(f"update {update_id} not stored: {type(error).__name__}") from error
        if not stored:
            raise NetworkError(f"update {update_id} not stored")
        self._failed.pop(update_id, None)

    def _skip(self, update_id: int, error: Exception) -> None:
        self._failed.pop(update_id, None)
        self._log.error("telegram_update_skipped", update=update_id, error=type(error).__name__)


class PollingRequest(BaseRequest):
    """The request for getUpdates: `answered` hears the HTTP status of each.

    While it is `careful`, updates that the library cannot read become empty ones.
    """

    def __init__(self, request: BaseRequest, answered: Callable[[int], None], log: Log) -> None:
        self._request = request
        self._answered = answered
        self._log = log
        self.careful = False

    @property
    def read_timeout(self) -> float | None:
        """As the request beneath."""
        return self._request.read_timeout

    async def initialize(self) -> None:
        """As the request beneath."""
        await self._request.initialize()

    async def shutdown(self) -> None:
        """As the request beneath."""
        await self._request.shutdown()

    async def do_request(self, *args: Any, **kwargs: Any) -> tuple[int, bytes]:
        """As the request beneath."""
        code, payload = await self._request.do_request(*args, **kwargs)
        if code == HTTPStatus.OK and self.careful:
            payload, skipped = readable(payload)
            for update_id in skipped:
                self._log.error("telegram_update_skipped", update=update_id, error="unreadable")
        self._answered(code)
        return code, payload


class PollingBot(ExtBot[ProgressKind]):
    """The library's bot, whose polling goes on after an update that the library cannot read.

    By itself it would ask for the same updates again at once and for ever.
    """

    def __init__(self, token: str, polling: PollingRequest, **settings: Any) -> None:
        super().__init__(token, get_updates_request=polling, **settings)
        self._polling = polling
        self._brought: Callable[[Sequence[Update]], None] = lambda updates: None

    def on_updates(self, brought: Callable[[Sequence[Update]], None]) -> None:
        """Have `brought` called with what each poll brings, before the library hands it on one by one."""
        self._brought = brought

    async def get_updates(self, *args: Any, **kwargs: Any) -> tuple[Update, ...]:
        """As the library's; what it cannot read is told and left out."""
        updates = await self._read_updates(*args, **kwargs)
        self._brought(updates)
        return updates

    async def _read_updates(self, *args: Any, **kwargs: Any) -> tuple[Update, ...]:
        try:
            return await super().get_updates(*args, **kwargs)
        except TelegramError:
            raise
        except Exception:  # noqa: BLE001 - whatever the library trips over; the same updates come once more
            self._polling.careful = True
            try:
                return await super().get_updates(*args, **kwargs)
            finally:
                self._polling.careful = False


def readable(payload: bytes) -> tuple[bytes, tuple[int, ...]]:
    """The answer with unreadable updates emptied, so that they are confirmed, and their ids.

    An answer that is no list of updates at all is left as it is.
    """
    try:
        answer = json.loads(payload)
    except ValueError:
        return payload, ()
    updates = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(updates, list):
        return payload, ()
    kept: list[object] = []
    skipped: list[int] = []
    for update in updates:
        number = update.get("update_id") if isinstance(update, dict) else None
        if not isinstance(number, int):
            skipped.append(0)
        elif _reads(update):
            kept.append(update)
        else:
            skipped.append(number)
            kept.append({"update_id": number})
    if not skipped:
        return payload, ()
    return json.dumps({**answer, "result": kept}).encode(), tuple(skipped)


def _reads(update: dict[str, object]) -> bool:
    try:
        Update.de_json(update, None)
    except Exception:  # noqa: BLE001 - whatever the library trips over
        return False
    return True
