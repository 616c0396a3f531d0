"""The outbox on its way out: one message at a time per chat, in order. What is sent was stored before."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from bot.errors import SendError, StoreError
from bot.flow.linking import fit
from bot.flow.live import PLACEHOLDER
from bot.flow.words import Words
from bot.ports import Adapter, Alarm, Clock, Edits, Splits, Typing, offers
from bot.store.store import Store
from bot.types.duration import HOUR_MS
from bot.types.log import Log
from bot.types.outgoing import Draft, Following, Outgoing
from bot.types.people import Chat

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 180_000
"""Back-off of a message that did not go out (FAULTS D5: 1 s, at most 3 min)."""

REMEMBERED = 1_024
"""Chats whose back-off is remembered (FAULTS R4); one that is forgotten begins with the first wait again."""

MUTED_MS = HOUR_MS
"""How long nothing is said in a chat that may be read but not written to, before it is tried again."""

STORE_WAIT_MS = 5_000
"""How soon it is stored what became of a message, after the disk refused that."""

Outcome = Callable[[], Awaitable[bool]]
"""Stores what became of a message; True when the next one of the chat may be tried."""


class Sending:
    """The work of the sending lanes."""

    def __init__(
        self, store: Store, clock: Clock, words: Words, wake: Callable[[int], None], look: Callable[[], None], log: Log
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._words = words
        self._wake = wake
        self._look = look
        self._log = log
        self._handed: dict[int, Outgoing] = {}
        self._adapters: dict[str, Adapter] = {}
        self._waits: dict[int, int] = {}
        self._unstored: dict[int, Outcome] = {}
        self._typed: dict[int, tuple[Alarm, Callable[[], None]]] = {}

    def connect(self, adapter: Adapter) -> None:
        """A platform can be sent to from now on."""
        self._adapters[adapter.platform] = adapter

    def speak(self, words: Words) -> None:
        """What is told from now on is told in these words."""
        self._words = words

    @property
    def platforms(self) -> frozenset[str]:
        """Where one can send to."""
        return frozenset(self._adapters)

    @property
    def resending(self) -> frozenset[str]:
        """Where sending a message again makes no second copy of it."""
        return frozenset(name for name, adapter in self._adapters.items() if adapter.resends)

    @property
    def placing(self) -> frozenset[str]:
        """Where a message begins as …, so that one of which nobody knows whether it went out is only that."""
        edits = ((name, one) for name, one in self._adapters.items() if offers(one, Edits))
        return frozenset(name for name, adapter in edits if adapter.placeholder)

    def adapter(self, platform: str) -> Adapter | None:
        """Who talks to that platform."""
        return self._adapters.get(platform)

    def hand(self, chat_id: int, outgoing: Outgoing | None) -> None:
        """Something is stored for this chat; `outgoing`, if any, is marked as being sent already and goes first."""
        if outgoing is not None:
            self._handed[chat_id] = outgoing
        self._wake(chat_id)

    def drafts(self, chat: Chat, draft: Draft) -> tuple[Draft, ...]:
        """The draft in as many messages as its platform needs; its buttons are under the last."""
        adapter = self._adapters.get(chat.platform)
        parts: tuple[str, ...] = adapter.parts(draft.text) if offers(adapter, Splits) else (draft.text,)
        bare = replace(draft, buttons=())
        return *(replace(bare, text=part) for part in parts[:-1]), replace(draft, text=parts[-1])

    def typing(self, chat: Chat, on: bool) -> None:
        """Show or hide that nuan is thinking, where the platform can."""
        adapter = self._adapters.get(chat.platform)
        if offers(adapter, Typing):
            adapter.typing(chat.external_id, on)

    def hush(self, chat_id: int) -> None:
        """Nothing is being typed there any more; what waits stays as it is stored."""
        typed = self._typed.pop(chat_id, None)
        if typed is not None:
            typed[0].cancel()
            typed[1]()

    def stop(self) -> None:
        """Nothing is being typed anywhere."""
        for chat_id in tuple(self._typed):
            self.hush(chat_id)

    def _type(self, said: Outgoing, following: Following) -> None:
        """Show that the next message of a paced reply is typed, from when it would be; it goes by its deadline."""
        self._look()
        adapter = self._adapters.get(said.platform)
        if offers(adapter, Typing):
            show = partial(adapter.typing, said.external_chat_id)
            alarm = self._clock.at(following.due_at - following.typed_ms, partial(show, True))
            self._typed[said.chat_id] = (alarm, partial(show, False))

    async def work(self, chat_id: int) -> None:
        """Send what waits in this chat."""
        while await self._one(chat_id):
            pass

    async def _one(self, chat_id: int) -> bool:
        if (outcome := self._unstored.pop(chat_id, None)) is not None:
            return await self._noted(chat_id, outcome)
        outgoing = self._handed.pop(chat_id, None)
        outgoing = outgoing or await self._store.outbox.take(chat_id, self._clock.now(), self.platforms)
        if outgoing is None:
            return False
        self.hush(chat_id)
        return await self._noted(chat_id, await self._tried(outgoing))

    async def _noted(self, chat_id: int, outcome: Outcome) -> bool:
        """Store what became of a message; a disk that refuses is asked again, and nothing else goes out before."""
        try:
            return await outcome()
        except StoreError:
            self._unstored[chat_id] = outcome
            self._clock.at(self._clock.now() + STORE_WAIT_MS, partial(self._wake, chat_id))
            raise

    async def _tried(self, outgoing: Outgoing) -> Outcome:
        """Talk to the platform; what is to be stored of it, which says whether the next message may be tried."""
        adapter = self._adapters[outgoing.platform]
        outgoing = replace(outgoing, text=fit(outgoing.text))
        try:
            if outgoing.kind == "withdrawal":
                if offers(adapter, Edits):
                    await adapter.withdraw(outgoing)
                return partial(self._sent, outgoing, ())
            if offers(adapter, Edits) and adapter.placeholder and not outgoing.preview_id and not outgoing.only_for:
                return partial(self._placed, outgoing, await self._shown(adapter, outgoing))
            return partial(self._sent, outgoing, await adapter.send(outgoing))
        except SendError as error:
            return partial(self._refused, outgoing, error)
        except OSError as error:
            return partial(self._refused, outgoing, SendError("later", str(error)))
        except Exception as error:  # noqa: BLE001 - a message that an adapter cannot send must not block its chat
            return partial(self._failed, outgoing, error)

    async def _shown(self, adapter: Edits, outgoing: Outgoing) -> str:
        """Send the …; what may be there of it after an unsure end is only the sign, as after a crash (`placing`)."""
        try:
            return await adapter.show(replace(outgoing, text=PLACEHOLDER))
        except SendError as error:
            if error.fate != "unknown":
                raise
            raise SendError("later", error.detail, error.wait_ms) from error

    async def _placed(self, outgoing: Outgoing, shown: str) -> bool:
        """The … is on the platform: from now on it is edited, unless the message was cancelled meanwhile."""
        if not await self._store.outbox.shown(outgoing.outbox_id, shown, self._clock.now()):
            return await self._sent(outgoing, ())
        self._handed[outgoing.chat_id] = replace(outgoing, preview_id=shown)
        return True

    async def _sent(self, outgoing: Outgoing, ids: tuple[str, ...]) -> bool:
        self._waits.pop(outgoing.chat_id, None)
        following = await self._store.outbox.sent(outgoing.outbox_id, ids, self._clock.now())
        if following is not None:
            self._type(outgoing, following)
        return True

    async def _failed(self, outgoing: Outgoing, error: Exception) -> bool:
        await self._store.outbox.not_sent(outgoing.outbox_id, type(error).__name__, None)
        numbers = await self._store.vitals.numbers(outgoing.outbox_id)
        self._log.error("send_failed", chat=outgoing.chat_id, **numbers, outbox=outgoing.outbox_id, exc_info=error)
        return True

    def _first(self, name: str, script: str) -> Draft:
        """What somebody is told whom the platform does not let nuan write to in private."""
        text = self._words.messages.text("private_first", self._words.script_named(script), name=name)
        return Draft(text, "notice")

    async def _refused(self, outgoing: Outgoing, error: SendError) -> bool:
        """Do what the platform's answer allows; True when the next message of the chat may be tried."""
        chat_id, number = outgoing.chat_id, outgoing.outbox_id
        wait = 0
        if error.fate not in ("wait", "later"):
            self._waits.pop(chat_id, None)
        match error.fate:
            case "wait":
                # No failure: nothing is told, and the next wait is no longer for it.
                await self._store.outbox.not_sent(number, "", self._clock.now() + (error.wait_ms or FIRST_WAIT_MS))
                self._look()
                return False
            case "later":
                known = self._waits.pop(chat_id, FIRST_WAIT_MS)
                wait = error.wait_ms or known
                self._waits[chat_id] = min(known * 2, LONGEST_WAIT_MS)
                if len(self._waits) > REMEMBERED:
                    del self._waits[next(iter(self._waits))]
                await self._store.outbox.not_sent(number, error.detail, self._clock.now() + wait)
                self._look()
            case "unknown":
                await self._store.outbox.unknown(number, error.detail)
            case "shut" if outgoing.only_for != outgoing.external_chat_id:
                await self._store.outbox.undeliverable(outgoing, error.detail, self._first, self._clock.now())
            case "never" | "shut":
                await self._store.outbox.not_sent(number, error.detail, None)
            case "gone":
                await self._store.outbox.gone(chat_id, error.detail)
            case "muted":
                await self._store.outbox.gone(chat_id, error.detail, self._clock.now() + MUTED_MS)
        self._log.warning(
            "send_failed", chat=chat_id, **await self._store.vitals.numbers(number), outbox=number, fate=error.fate,
            error=error.detail, wait_ms=wait,
        )  # fmt: skip
        return error.fate in ("unknown", "never", "shut")
