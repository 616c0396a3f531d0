"""Pictures, voice and files of the messages being answered become text, each in its own budgeted call, once.

What nobody asks about is never fetched. How a text is shown is decided elsewhere.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from bot.config.settings import Settings
from bot.errors import ModelError, OverBudget, SendError
from bot.flow.booked import booked
from bot.flow.words import Words
from bot.money import prices
from bot.ports import Adapter, Clock, Files, Model, Senses, offers
from bot.session.slots import Slots
from bot.store.attachments import Fate, Sent
from bot.store.events import Seen
from bot.store.ledger import Reservation, Settlement
from bot.store.store import Store
from bot.text.clean import clean
from bot.text.clip import clip
from bot.text.estimate import estimate_tokens
from bot.text.script import Script
from bot.text.textfile import is_text_file, picture_mime, read_text
from bot.types.event import Attachment, Event
from bot.types.log import Log
from bot.types.money import Rate
from bot.types.pace import Pace
from bot.types.people import Chat, Person
from bot.types.prompt import Completion, Usage
from bot.types.turn import Cause

T = TypeVar("T")

PICTURE_TOKENS = 2_000
"""Reserved for one picture: OpenAI counts at most 1,445, Anthropic about 1,600; the server's own count settles it."""

BYTES_PER_TOKEN = 100
"""Of a recording: speech of 2 kB/s (Opus, as platforms send it) at about 20 tokens/s. No server need count these."""

CHARS_PER_TOKEN = 4
"""What a description may have at most for each token allowed: English has about that many."""

FETCH_S = 60.0
"""How long a platform may take for one file, in seconds: 10 megabytes over a slow line."""

Reason = Literal["too_large", "too_many", "budget", "no_model", "failed", "unreadable", "silent"]


class NotSeen(Exception):
    """An attachment is not known, and why; `call` is the one that failed, and what becomes of its reservation."""

    def __init__(self, reason: Reason, call: tuple[int, Fate] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.call = call


@dataclass(frozen=True, slots=True)
class Eyes:
    """Who sees and hears and at what prices, what it is told in each language, and the slots it shares with turns."""

    model: Model
    rate: Rate
    instructions: Mapping[Script, str]
    slots: Slots


@dataclass(frozen=True, slots=True)
class Asker:
    """For whom something is looked at: their chat, on whose platform it lies, their language, how often one may."""

    chat: Chat
    person_id: int
    script: Script
    pace: Pace | None = None


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a call may use at most: which kind it is, of which model, tokens in and out."""

    cause: Cause
    model: str
    prompt: int
    output: int


class Media:
    """Looks at, listens to and reads what people send along."""

    def __init__(
        self, store: Store, eyes: Eyes, adapter: Callable[[str], Adapter | None], clock: Clock, settings: Settings,
        words: Words, log: Log,
    ) -> None:  # fmt: skip
        self._store = store
        self._eyes = eyes
        self._adapter = adapter
        self._clock = clock
        self._settings = settings
        self._words = words
        self._log = log
        self._most = int(settings.media.max_megabytes * 1_000_000)

    @property
    def slots(self) -> Slots:
        """What bounds the calls in flight, of turns too."""
        return self._eyes.slots

    async def understand(
        self, chat: Chat, person: Person, events: tuple[Event, ...], pace: Pace | None = None
    ) -> tuple[Event, ...]:
        """The events with what is known of their attachments now; what cannot be known says why.

        OverLimit: they are not to be answered now. StoreError.
        """
        numbers = [event.id for event in events if isinstance(event, Seen) and event.marks]
        waiting = await self._store.attachments.waiting(numbers) if numbers else ()
        asker = Asker(chat, person.id, self._words.script(person), pace)
        for sent in waiting:
            if self._wanted(sent.attachment):
                await self._understand(asker, sent)
        if not waiting:
            return events
        marks = await self._store.attachments.marks(numbers)
        return tuple(
            replace(event, marks=marks.get(event.id, "")) if isinstance(event, Seen) else event for event in events
        )

    async def look(self, asker: Asker, sent: Sent, session_id: int, question: str) -> str | None:
        """The answer to a question about a picture; None when it was taken back meanwhile. NotSeen, StoreError."""
        picture = await self._fetch(asker.chat, sent.attachment)
        try:
            text, settlement = await self._see(asker, picture, question)
        except NotSeen as missed:
            if missed.call is not None:
                number, fate = missed.call
                end = self._store.ledger.release if fate == "release" else self._store.ledger.charge
                await end(number, self._clock.now())
            raise
        there = await self._store.attachments.looked(sent, session_id, settlement, self._clock.now())
        return text if there else None

    def _wanted(self, attachment: Attachment) -> bool:
        media = self._settings.media
        match attachment.kind:
            case "image":
                return bool(media.images)
            case "voice":
                return bool(media.voice)
            case "file":
                return media.files

    async def _understand(self, asker: Asker, sent: Sent) -> None:
        try:
            text, settlement = await self._text(asker, sent)
        except NotSeen as missed:
            reason = self._words.opening(asker.script)(f"media_{missed.reason}")
            await self._store.attachments.refused(sent, reason, missed.call, self._clock.now())
            self._log.info("not_seen", chat=asker.chat.id, number=sent.event_id, reason=missed.reason)
        else:
            await self._store.attachments.described(sent, text, settlement, self._clock.now())

    async def _text(self, asker: Asker, sent: Sent) -> tuple[str, Settlement | None]:
        attachment, media = sent.attachment, self._settings.media
        if sent.position >= media.max_per_message:
            raise NotSeen("too_many")
        match attachment.kind:
            case "file":
                if not is_text_file(attachment.name, attachment.mime):
                    raise NotSeen("unreadable")
                text = read_text(await self._fetch(asker.chat, attachment), media.file_chars)
                if text is None:
                    raise NotSeen("unreadable")
                return text, None
            case "image":
                return await self._see(asker, await self._fetch(asker.chat, attachment), "")
            case "voice":
                return await self._hear(asker, attachment, await self._fetch(asker.chat, attachment))

    async def _fetch(self, chat: Chat, attachment: Attachment) -> bytes:
        """The content of an attachment, at most as large as allowed."""
        adapter = self._adapter(chat.platform)
        if attachment.size > self._most:
            raise NotSeen("too_large")
        if not offers(adapter, Files):
            raise NotSeen("failed")
        try:
            async with asyncio.timeout(FETCH_S):
                data = await adapter.fetch(attachment, self._most)
        except (SendError, OSError) as error:
            self._log.warning("fetch_failed", chat=chat.id, error=str(error))
            raise NotSeen("failed") from error
        except Exception as error:
            self._log.error("fetch_failed", chat=chat.id, exc_info=error)
            raise NotSeen("failed") from error
        if len(data) > self._most:
            raise NotSeen("too_large")
        return data

    async def _see(self, asker: Asker, picture: bytes, question: str) -> tuple[str, Settlement]:
        model, mime, media = self._eyes.model, picture_mime(picture), self._settings.media
        if not mime:
            raise NotSeen("unreadable")
        if not offers(model, Senses):
            raise NotSeen("no_model")
        text = "\n\n".join(part for part in (self._eyes.instructions[asker.script], question) if part)
        cost = _Cost("see", media.images, PICTURE_TOKENS + estimate_tokens(text), media.description_tokens)
        call = await self._reserve(asker, cost)

        async def ask() -> Completion:
            return await model.see(
                media.images, picture, mime, text, media.description_tokens, self._settings.model.deadline_seconds
            )

        answer = await self._ask(asker, call, ask)
        seen = clip(clean(answer.text).strip(), media.description_tokens * CHARS_PER_TOKEN)
        return seen, self._settlement(call, answer.usage or Usage(cost.prompt, 0, estimate_tokens(answer.text), False))

    async def _hear(self, asker: Asker, attachment: Attachment, sound: bytes) -> tuple[str, Settlement]:
        model, media = self._eyes.model, self._settings.media
        if not offers(model, Senses):
            raise NotSeen("no_model")
        prompt = -(-len(sound) // BYTES_PER_TOKEN)
        call = await self._reserve(asker, _Cost("listen", media.voice, prompt, media.file_chars))

        async def ask() -> str:
            name = _sound_name(attachment)
            return await model.listen(media.voice, sound, name, self._settings.model.deadline_seconds)

        heard = await self._ask(asker, call, ask)
        settlement = self._settlement(call, Usage(prompt, 0, estimate_tokens(heard), returned=False))
        text = clip(clean(heard).strip(), media.file_chars)
        return text or self._words.opening(asker.script)("media_silent"), settlement

    async def _reserve(self, asker: Asker, cost: _Cost) -> int:
        now, settings = self._clock.now(), self._settings
        most = prices.estimate(cost.prompt, cost.output, self._eyes.rate(now))
        day, month = prices.periods(now, self._words.tz(self._words.zone))
        reservation = Reservation(
            cost.cause, cost.model, most.tokens, most.cost, prices.limits(settings), day, month, pace=asker.pace
        )  # fmt: skip
        booking = self._store.attachments.reserve(asker.chat.id, asker.person_id, reservation, now)
        try:
            return await booked(booking, self._store, self._clock)
        except OverBudget as error:
            self._log.warning("over_budget", chat=asker.chat.id, person=asker.person_id, limit=error.limit)
            raise NotSeen("budget") from error

    async def _ask(self, asker: Asker, call: int, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer to a reserved call; NotSeen says what becomes of the reservation of one that failed."""
        try:
            async with self._eyes.slots.of(asker.chat.id):
                return await ask()
        except ModelError as error:
            self._log.warning("media_failed", call=call, fault=error.fault, detail=error.detail, text=error.said)
            raise NotSeen("failed", (call, "charge" if error.billed else "release")) from error
        except asyncio.CancelledError:
            await self._store.ledger.charge(call, self._clock.now())
            raise
        except Exception as error:
            self._log.error("media_failed", call=call, exc_info=error)
            raise NotSeen("failed", (call, "charge")) from error

    def _settlement(self, call: int, usage: Usage) -> Settlement:
        return Settlement(call, usage, prices.cost(usage, self._eyes.rate(self._clock.now())))


def _sound_name(attachment: Attachment) -> str:
    """A name whose ending tells the format: servers go by it alone."""
    if "." in attachment.name.strip("."):
        return attachment.name
    endings = {"audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a", "audio/wav": "wav", "audio/webm": "webm"}
    return f"voice.{endings.get(attachment.mime.partition(';')[0].strip().lower(), 'ogg')}"
