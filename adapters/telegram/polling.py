"""Polling that confirms only what is stored: the queue and the request that python-telegram-bot polls with."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from telegram import Update
from telegram.error import NetworkError, RetryAfter
from telegram.request import HTTPXRequest, RequestData

from adapters.telegram.content import Me
from adapters.telegram.updates import to_incoming
from bot.errors import StoreError, UnfitError
from bot.ports import Door
from bot.types.log import Log

TRIES = 8
"""How often an update is tried that breaks its own storing, before it is left out (FAULTS D5: 8)."""

STORE_WAIT_S = 1
"""How soon an update comes again that the disk refused; by itself the library would wait longer and longer."""


class DoorQueue(asyncio.Queue[object]):
    """The update queue: `put` returns when the update is stored, and only then does the library confirm it.

    Any failure becomes NetworkError, or RetryAfter while the disk refuses: the library's polling slows down for these,
    and dies of any other error.
    """

    def __init__(self, door: Door, me: Me, log: Log, after: Callable[[Update], None]) -> None:
        super().__init__()
        self._door = door
        self._me = me
        self._log = log
        self._after = after
        self._failing, self._failed = 0, 0

    async def put(self, item: object) -> None:
        """Bring an update through the door; NetworkError or RetryAfter when it is not stored and shall come again."""
        if not isinstance(item, Update):
            return
        try:
            incomings = to_incoming(item, self._me)
        except Exception as error:  # noqa: BLE001 - an update that cannot be read must not stop the others
            self._skip(item.update_id, error)
            return
        for incoming in incomings:
            await self._store(item.update_id, self._door.accept(incoming))
        self._after(item)

    async def _store(self, update_id: int, accepting: Awaitable[bool]) -> None:
        try:
            stored = await accepting
        except Exception as error:
            # Nothing can be stored now, whatever it is.
            if isinstance(error, StoreError) and not isinstance(error, UnfitError):
                self._log.warning("telegram_not_stored", update=update_id, error=str(error))
                raise RetryAfter(STORE_WAIT_S) from error
            if isinstance(error, OSError):
                raise NetworkError(f"update {update_id} not stored: {type(error).__name__}: {error}") from error
            self._failed = self._failed + 1 if self._failing == update_id else 1
            self._failing = update_id
            if self._failed >= TRIES:
                self._skip(update_id, error)
                return
            raise NetworkError(f"update {update_id} not stored: {type(error).__name__}") from error
        if not stored:
            raise NetworkError(f"update {update_id} not stored")

    def _skip(self, update_id: int, error: Exception) -> None:
        self._log.error("telegram_update_skipped", update=update_id, error=type(error).__name__)


class PollRequest(HTTPXRequest):
    """The request for getUpdates: `answered` hears the HTTP status of each, unreadable updates become empty ones.

    The library would otherwise ask for the same updates again at once and for ever.
    """

    def __init__(
        self, answered: Callable[[int], None], log: Log, *, read_timeout: float, proxy: str | None, trust_env: bool
    ) -> None:
        super().__init__(
            connection_pool_size=2, read_timeout=read_timeout, connect_timeout=10.0, proxy=proxy,
            httpx_kwargs={"trust_env": trust_env},
        )  # fmt: skip
        self._answered = answered
        self._log = log

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        write_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        connect_timeout: Any = HTTPXRequest.DEFAULT_NONE,
        pool_timeout: Any = HTTPXRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """As the library's."""
        code, payload = await super().do_request(
            url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
        )
        if code == 200:
            payload, skipped = readable(payload)
            for update_id in skipped:
                self._log.error("telegram_update_skipped", update=update_id, error="unreadable")
        self._answered(code)
        return code, payload


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
