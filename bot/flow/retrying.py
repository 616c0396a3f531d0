"""What becomes of messages whose handling failed: another try later, in the end a line to who called."""

import errno
from collections.abc import Sequence

from bot.errors import StoreError, UnfitError
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.types.event import Event
from bot.types.log import Log
from bot.types.outgoing import Draft
from bot.types.speaking import UNCALLED

FIRST_WAIT_MS, LONGEST_WAIT_MS, MOST_TRIES = 1_000, 180_000, 8
"""FAULTS D5: 1 s, at most 3 min, 8 tries."""

OF_ALL = frozenset(
    (
        errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES,
        errno.EPERM,
    )
)  # fmt: skip
"""Errors of the machine: with another message it would be the same."""


def of_all(error: Exception) -> bool:
    """Whether an error is not of the message at hand: nothing can be stored now, and nothing is counted for it."""
    if isinstance(error, OSError):
        return error.errno in OF_ALL
    return isinstance(error, StoreError) and not isinstance(error, UnfitError)


def again(tries: int) -> int | None:
    """In how many ms a message that failed so often is tried again, None: no more."""
    return min(FIRST_WAIT_MS << (tries - 1), LONGEST_WAIT_MS) if tries < MOST_TRIES else None


class Retrying:
    """Puts off what failed, and gives it up in the end."""

    def __init__(self, store: Store, clock: Clock, words: Words, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._words = words
        self._log = log

    async def failed(self, chat_id: int, events: Sequence[Event], error: Exception) -> bool:
        """Count a try for these; without any it was the first that is due in the chat. StoreError as any write.

        False when there was none either.
        """
        self._log.error("answer_failed", chat=chat_id, events=[event.id for event in events], exc_info=error)
        numbers, now = tuple(event.id for event in events), self._clock.now()
        notice = await self._notice(events)
        counted = await self._store.failing.failed(chat_id, numbers, type(error).__name__, again, notice, now)
        if counted.dead:
            dead, name = list(counted.dead), type(error).__name__
            self._log.error("given_up", chat=chat_id, events=dead, tries=MOST_TRIES, error=name)
        return bool(events or counted.events)

    async def _notice(self, events: Sequence[Event]) -> Draft | None:
        """What is said when they are given up: to who called, in their script; to nobody else, and to no bot."""
        try:
            for event in reversed(events):
                if event.kind != "message" or event.why in UNCALLED:
                    continue
                person = await self._store.people.person(event.person_id or 0)
                if not person.is_bot:
                    return Draft(self._words.messages.text("went_wrong", self._words.script(person)), "notice")
        except Exception as error:  # noqa: BLE001 - what makes a message fail may be who wrote it
            self._log.error("notice_failed", exc_info=error)
        return None
