"""Send: the outbox on its way out, one message at a time per chat, in order, and previews of replies."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from bot.core.clock import HOUR_MS
from bot.core.errors import SendError, StoreError
from bot.core.events import Draft, NextPart, Outgoing
from bot.core.models import Message
from bot.core.parts import SHOWN_FIRST, Speech, file_of, size_of
from bot.core.people import Chat
from bot.core.ports import Adapter, Alarm, Clock, Drafts, Edits, Log, Splits, Typing, implements, takes_part
from bot.core.sessions import Turn
from bot.pipeline.configuration import Current
from bot.pipeline.speech import Recording, SpeechMaker
from bot.store.store import Store
from bot.text.clean import shown
from bot.text.links import Checked, addresses, checked_links, finished, unmasked
from bot.text.markdown import preview

DraftSource = Callable[[], str]

PLACEHOLDER = "…"
"""What stands for a message before its text is shown."""

THINKING_MS = 500
"""How long nuan thinks before people see it: the request goes before the sign, and what is answered at once needs none."""

LONG_CHARS = 120
"""A reply that is shown by edits begins with this much: of a short one people are told once, not as … and an edit."""

END_S = 3.0
"""How long the end of a turn waits for a preview that is on its way, seconds: a stop has ten for everything."""

FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 180_000
"""Back-off of a message that did not go out (FAULTS D5: 1 s, at most 3 min)."""

REMEMBERED = 1_024
"""Chats whose back-off is remembered (FAULTS R4); one that is forgotten begins with the first wait again."""

MUTED_MS = HOUR_MS
"""How long nothing is said in a chat that may be read but not written to, before it is tried again."""

STORE_WAIT_MS = 5_000
"""How soon it is stored what became of a message, after the disk refused that."""

StoreOutcome = Callable[[], Awaitable[bool]]
"""Stores what became of a message; True when the next one of the chat may be tried."""


def visible(text: str) -> str:
    """Any text as it goes out: without signs that turn or hide it, and with each link's address in sight."""
    return unmasked(shown(text))


class LinkCheck:
    """Checks texts against one prompt, which is read when the first address turns up."""

    def __init__(self, prompt: Sequence[Message], domains: tuple[str, ...]) -> None:
        self._prompt = prompt
        self._domains = domains
        self._named: frozenset[str] | None = None

    def checked(self, text: str) -> Checked:
        """The text as it may be said, and how many addresses it lost."""
        return checked_links(visible(text), self._is_named, self._domains)

    def so_far(self, text: str) -> str:
        """A half-written text as it may be shown: an address at its end waits until it is whole."""
        return self.checked(finished(visible(text))).text

    def _is_named(self, address: str) -> bool:
        if self._named is None:
            self._named = named_addresses(self._prompt)
        return address in self._named


def named_addresses(prompt: Sequence[Message]) -> frozenset[str]:
    """Every address that a prompt names and the model did not bring in itself."""
    told = _all(message.content for message in prompt if message.role in ("system", "user"))
    found = _all(message.content for message in prompt if message.role == "tool")
    own = _all(f"{call.name} {call.arguments}" for message in prompt for call in message.tool_calls)
    return told | (found - own)


def _all(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(address for text in texts for address in addresses(text))


class Preview:
    """The growing reply of one turn; nothing is shown before the platform's interval is over, so short ones are not."""

    def __init__(
        self, store: Store, clock: Clock, adapter: Adapter, chat: Chat, turn: Turn, log: Log, fit: Callable[[str], str]
    ) -> None:
        """`fit` makes of a half-written text what may be shown of it."""
        self._store = store
        self._clock = clock
        self._adapter = adapter
        self._chat = chat
        self._turn = turn
        self._log = log
        self._fit = fit
        self._source: DraftSource = str
        self._shown = ""
        self._begun = False
        self._drafts = implements(adapter, Drafts)
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    def hear(self, source: DraftSource) -> None:
        """There is more of the text."""
        self._source = source
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._work(), name=f"preview-{self._turn.id}")

    async def end(self) -> None:
        """Show nothing more; a message on its way to the platform is waited for a little, so that its id is known."""
        self._ended.set()
        if self._task is None:
            return
        try:
            if not self._drafts:
                await asyncio.wait((self._task,), timeout=END_S)
        finally:
            self._task.cancel()

    async def _work(self) -> None:
        adapter = self._adapter
        try:
            while await self._pause():
                text = preview("\n".join((*self._turn.receipts, self._fit(self._source().strip()))))
                part = adapter.parts(text)[0] if implements(adapter, Splits) else text
                begun = self._drafts or self._begun or len(part) >= LONG_CHARS
                if part.strip() and part != self._shown and begun:
                    self._shown = part
                    await self._show(part)
        except (SendError, StoreError, OSError) as error:
            # The reply itself goes out by the outbox: a preview that fails is only missing.
            self._log.info("preview_failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - a preview must never end a turn
            self._log.error("preview_failed", exc_info=error)

    async def _show(self, text: str) -> None:
        """Show it once. A message begins as …: a crash that loses its id leaves only that beside the whole reply."""
        adapter, chat = self._adapter, self._chat
        number, shown = await self._store.outbox.preview(
            chat.id, self._turn.id, self._clock.now(), text, draft=self._drafts
        )
        outgoing = Outgoing(number, chat.id, chat.platform, chat.external_id, text, "reply", preview_id=shown)
        if self._drafts and implements(adapter, Drafts) and await adapter.draft(outgoing):
            return
        self._drafts = False
        if implements(adapter, Edits) and shown:
            await adapter.show(outgoing)
        elif implements(adapter, Edits):
            self._shown, self._begun = "", True
            shown = await adapter.show(replace(outgoing, text=PLACEHOLDER))
            await self._store.outbox.shown(chat.id, number, shown, self._clock.now())

    async def _pause(self) -> bool:
        """Wait for the platform's interval; False when the reply is finished."""
        adapter = self._adapter
        wait = 0
        if self._drafts and implements(adapter, Drafts):
            wait = adapter.draft_interval_ms
        elif implements(adapter, Edits):
            wait = adapter.edit_interval_ms
        due = asyncio.Event()
        alarm = self._clock.at(self._clock.now() + wait, due.set)
        waits = [asyncio.ensure_future(event.wait()) for event in (due, self._ended)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            for waiting in waits:
                waiting.cancel()
        return not self._ended.is_set()


class OutboxSender:
    """The work of the send queue."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        current: Current,
        wake: Callable[[int], None],
        look: Callable[[], None],
        log: Log,
    ) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._wake = wake
        self._look = look
        self._log = log
        self._speech = SpeechMaker(store, clock, current, log)
        self._handed: dict[int, Outgoing] = {}
        self._adapters: dict[str, Adapter] = {}
        self._connected: set[str] = set()
        self._showing: set[str] = set()
        self._waits: dict[int, int] = {}
        self._unstored: dict[int, StoreOutcome] = {}
        self._typed: dict[int, tuple[Alarm, Callable[[], None]]] = {}
        self._thinking: dict[int, Alarm] = {}

    def know(self, adapter: Adapter, *, shows: bool = False) -> None:
        """This is what a platform can do; another process may be the one that sends there. With `shows` this one shows
        there what is under way."""
        self._adapters[adapter.platform] = adapter
        if shows:
            self._showing.add(adapter.platform)

    def connect(self, adapter: Adapter) -> None:
        """A platform can be sent to from now on."""
        self.know(adapter, shows=True)
        self._connected.add(adapter.platform)

    def disconnect(self, adapter: Adapter) -> None:
        """Another process may be the one that sends there from now on."""
        self._connected.discard(adapter.platform)

    @property
    def platforms(self) -> frozenset[str]:
        """Where this process can send to."""
        return frozenset(self._connected)

    @property
    def known(self) -> frozenset[str]:
        """Where one can send to, be it by another process."""
        return frozenset(self._adapters)

    @property
    def resending(self) -> frozenset[str]:
        """Where sending a message again makes no second copy of it."""
        return frozenset(name for name, adapter in self._adapters.items() if adapter.resends)

    @property
    def placing(self) -> frozenset[str]:
        """Where a message begins as …, so that one of which nobody knows whether it went out is only that."""
        edits = ((name, one) for name, one in self._adapters.items() if implements(one, Edits))
        return frozenset(name for name, adapter in edits if adapter.placeholder)

    def adapter(self, platform: str) -> Adapter | None:
        """What that platform can do; what needs a connection may have to be done by another process."""
        return self._adapters.get(platform)

    def showing(self, platform: str) -> Adapter | None:
        """How this process shows what is under way there, if it can."""
        return self._adapters[platform] if platform in self._showing else None

    def enqueue(self, chat_id: int, outgoing: Outgoing | None) -> None:
        """Something is stored for this chat; `outgoing`, if any, is marked as being sent already and goes first."""
        if outgoing is not None:
            self._handed[chat_id] = outgoing
        self._wake(chat_id)

    def drafts(self, chat: Chat, draft: Draft) -> tuple[Draft, ...]:
        """The draft in as many messages as its platform needs; its buttons are under the last.

        A part that the platform does not take is its text, and nothing where it has none.
        """
        adapter = self._adapters.get(chat.platform)
        if (part := draft.part) is not None:
            if takes_part(adapter, part.kind, size_of(part)):
                return (draft,)
            if not draft.text:
                return ()
            draft = replace(draft, part=None)
        parts: tuple[str, ...] = adapter.parts(draft.text) if implements(adapter, Splits) else (draft.text,)
        bare = replace(draft, buttons=())
        return *(replace(bare, text=part) for part in parts[:-1]), replace(draft, text=parts[-1])

    def typing(self, chat: Chat, on: bool) -> None:
        """Show a little later, or hide, that nuan is thinking, where the platform can."""
        if (alarm := self._thinking.pop(chat.id, None)) is not None:
            alarm.cancel()
        adapter = self.showing(chat.platform)
        if implements(adapter, Typing) and on:
            show = partial(adapter.typing, chat.external_id, True)
            self._thinking[chat.id] = self._clock.at(self._clock.now() + THINKING_MS, show)
        elif implements(adapter, Typing):
            adapter.typing(chat.external_id, False)

    def stop_typing(self, chat_id: int) -> None:
        """Nothing is being typed there any more; what waits stays as it is stored."""
        typed = self._typed.pop(chat_id, None)
        if typed is not None:
            typed[0].cancel()
            typed[1]()

    def stop(self) -> None:
        """Nothing is being typed anywhere."""
        for chat_id in tuple(self._typed):
            self.stop_typing(chat_id)

    def _type(self, said: Outgoing, following: NextPart) -> None:
        """Show that the next message of a paced reply is typed, from when it would be; it goes by its deadline."""
        self._look()
        adapter = self._adapters.get(said.platform)
        if implements(adapter, Typing):
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
        if outgoing is None and not self._connected:
            return False
        outgoing = outgoing or await self._store.outbox.take(chat_id, self._clock.now(), self.platforms)
        if outgoing is None:
            return False
        self.stop_typing(chat_id)
        return await self._noted(chat_id, await self._tried(outgoing))

    async def _noted(self, chat_id: int, outcome: StoreOutcome) -> bool:
        """Store what became of a message; a disk that refuses is asked again, and nothing else goes out before."""
        try:
            return await outcome()
        except StoreError:
            self._unstored[chat_id] = outcome
            self._clock.at(self._clock.now() + STORE_WAIT_MS, partial(self._wake, chat_id))
            raise

    async def _tried(self, outgoing: Outgoing) -> StoreOutcome:
        """Talk to the platform; what is to be stored of it, which says whether the next message may be tried."""
        adapter = self._adapters[outgoing.platform]
        outgoing = replace(outgoing, text=visible(outgoing.text))
        try:
            if outgoing.kind == "withdrawal":
                if implements(adapter, Edits):
                    await adapter.withdraw(outgoing)
                return partial(self._sent, outgoing, ())
            if isinstance(outgoing.part, Speech):
                return partial(self._spoken, outgoing, await self._speech.record(outgoing, outgoing.part))
            kind = ""
            if (part := outgoing.part) is not None:
                outgoing, kind = await self._filled(outgoing), part.kind
            places = implements(adapter, Edits) and adapter.placeholder and kind in SHOWN_FIRST
            if implements(adapter, Edits) and places and not outgoing.preview_id and not outgoing.only_for:
                return partial(self._placed, outgoing, await self._shown(adapter, outgoing))
            return partial(self._sent, outgoing, await adapter.send(outgoing))
        except SendError as error:
            # Where pictures may not be sent, text may.
            if outgoing.part is not None and error.fate in ("never", "muted"):
                return partial(self._as_text, outgoing, error)
            return partial(self._refused, outgoing, error)
        except OSError as error:
            return partial(self._refused, outgoing, SendError("later", str(error)))
        except Exception as error:  # noqa: BLE001 - a message that an adapter cannot send must not block its chat
            return partial(self._failed, outgoing, error)

    async def _filled(self, outgoing: Outgoing) -> Outgoing:
        """The message with the bytes of its part; SendError("never") where they are gone, or the platform takes none."""
        part = outgoing.part
        if part is None or not takes_part(self._adapters.get(outgoing.platform), part.kind, size_of(part)):
            raise SendError("never", "the platform does not take such a part")
        if part.kind == "reaction" and not outgoing.target:
            raise SendError("never", "the message is gone")
        if not file_of(part):
            return outgoing
        content = await asyncio.to_thread(self._store.files.parts.read, file_of(part), size_of(part))
        return replace(outgoing, content=content)

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
        if not await self._store.outbox.shown(outgoing.chat_id, outgoing.outbox_id, shown, self._clock.now()):
            return await self._sent(outgoing, ())
        self._handed[outgoing.chat_id] = replace(outgoing, preview_id=shown, content=b"")
        return True

    async def _spoken(self, outgoing: Outgoing, made: Recording) -> bool:
        """It is a voice message from now on, unless it was cancelled meanwhile."""
        at = self._clock.now()
        if not await self._store.outbox.spoken(outgoing.chat_id, outgoing.outbox_id, made.voice, made.settlement, at):
            await self._drop(replace(outgoing, part=made.voice))
        return True

    async def _as_text(self, outgoing: Outgoing, error: SendError) -> bool:
        """Say the text of a part that surely was not sent, in its place."""
        adapter = self._adapters.get(outgoing.platform)
        text = adapter.parts(outgoing.text)[0] if implements(adapter, Splits) else outgoing.text
        await self._store.outbox.as_text(outgoing.chat_id, outgoing.outbox_id, text.strip(), error.detail)
        await self._drop(outgoing)
        kind = outgoing.part.kind if outgoing.part is not None else ""
        self._log.warning(
            "part_refused", chat=outgoing.chat_id, outbox=outgoing.outbox_id, part=kind, error=error.detail
        )
        return True

    async def _drop(self, outgoing: Outgoing) -> None:
        """The bytes of a message that is not sent again go; what cannot go now goes when the store is tidied."""
        if outgoing.part and file_of(outgoing.part):
            with suppress(OSError, StoreError):
                await asyncio.to_thread(self._store.files.parts.remove, file_of(outgoing.part))

    async def _sent(self, outgoing: Outgoing, ids: tuple[str, ...]) -> bool:
        self._waits.pop(outgoing.chat_id, None)
        following, upcoming = await self._store.outbox.sent(
            outgoing.chat_id, outgoing.outbox_id, ids, self._clock.now(), self.platforms
        )
        await self._drop(outgoing)
        if following is not None:
            self._type(outgoing, following)
        if upcoming is not None:
            self._handed[outgoing.chat_id] = upcoming
        return upcoming is not None

    async def _failed(self, outgoing: Outgoing, error: Exception) -> bool:
        await self._store.outbox.not_sent(outgoing.chat_id, outgoing.outbox_id, type(error).__name__, None)
        numbers = await self._store.inspector.numbers(outgoing.outbox_id)
        self._log.error("send_failed", chat=outgoing.chat_id, **numbers, outbox=outgoing.outbox_id, exc_info=error)
        return True

    def _first(self, name: str, script: str) -> Draft:
        """What somebody is told whom the platform does not let nuan write to in private."""
        text = self._current.words.messages.text("private_first", self._current.words.script_named(script), name=name)
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
                await self._store.outbox.not_sent(
                    chat_id, number, "", self._clock.now() + (error.wait_ms or FIRST_WAIT_MS)
                )
                self._look()
                return False
            case "later":
                known = self._waits.pop(chat_id, FIRST_WAIT_MS)
                wait = error.wait_ms or known
                self._waits[chat_id] = min(known * 2, LONGEST_WAIT_MS)
                if len(self._waits) > REMEMBERED:
                    del self._waits[next(iter(self._waits))]
                await self._store.outbox.not_sent(chat_id, number, error.detail, self._clock.now() + wait)
                self._look()
            case "unknown":
                await self._store.outbox.unknown(chat_id, number, error.detail)
            case "shut" if outgoing.only_for != outgoing.external_chat_id:
                await self._store.outbox.undeliverable(outgoing, error.detail, self._first, self._clock.now())
            case "never" | "shut":
                await self._store.outbox.not_sent(chat_id, number, error.detail, None)
            case "gone":
                await self._store.outbox.gone(chat_id, error.detail)
            case "muted":
                await self._store.outbox.gone(chat_id, error.detail, self._clock.now() + MUTED_MS)
        self._log.warning(
            "send_failed",
            chat=chat_id,
            **await self._store.inspector.numbers(number),
            outbox=number,
            fate=error.fate,
            error=error.detail,
            wait_ms=wait,
        )
        return error.fate in ("unknown", "never", "shut")
