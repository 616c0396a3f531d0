"""Pictures, voice and files become text, each in its own budgeted call, once; the tool look sees a picture again."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import Field

from bot import money
from bot.core.errors import ModelError, OverBudget, SendError
from bot.core.events import Attachment, Event
from bot.core.models import Completion, Price, ToolSpec, Usage
from bot.core.people import Chat, Person, Script
from bot.core.ports import Adapter, Clock, Files, Log, PerceptionModel, implements
from bot.core.sessions import CallCause
from bot.core.speaking import AnswerLimits
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.model.pool import ModelSlots
from bot.pipeline.calls import reservation, reserve_shielded
from bot.pipeline.configuration import Current
from bot.pipeline.texts import Texts
from bot.store.events import SentAttachment
from bot.store.ledger import ReservationFate, Settlement
from bot.store.store import Store
from bot.text.clean import as_data, clean
from bot.text.files import is_text_file, picture_mime, read_text
from bot.text.length import clip, estimate_tokens

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

RESULT_TOKENS = 300
"""Most of a tool's result that enters the log (ARCHITECTURE §5)."""

QUESTION_CHARS = 500
"""Longest question about a picture."""

_NUMBER = re.compile(r"\s*(?:image\s*)?#?\s*([0-9]{1,18})(?:\.([0-9]))?\s*", re.IGNORECASE)


class NotSeen(Exception):
    """An attachment is not known, and why; `call` is the one that failed, and what becomes of its reservation."""

    def __init__(self, reason: Reason, call: tuple[int, ReservationFate] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.call = call


@dataclass(frozen=True, slots=True)
class MediaAsker:
    """For whom something is looked at: their chat, on whose platform it lies, their language, how often one may."""

    chat: Chat
    person_id: int
    script: Script
    pace: AnswerLimits | None = None


class MediaReader:
    """Looks at, listens to and reads what people send along."""

    def __init__(
        self,
        store: Store,
        slots: ModelSlots,
        adapter: Callable[[str], Adapter | None],
        clock: Clock,
        current: Current,
        log: Log,
    ) -> None:
        """`slots` are shared with turns; `adapter` finds the platform that has a file."""
        self._store = store
        self._slots = slots
        self._adapter = adapter
        self._clock = clock
        self._current = current
        self._log = log

    async def understand(
        self, chat: Chat, person: Person, events: tuple[Event, ...], pace: AnswerLimits | None = None
    ) -> tuple[Event, ...]:
        """The events with what is known of their attachments now; what cannot be known says why.

        OverLimit: they are not to be answered now. StoreError.
        """
        numbers = [event.id for event in events if event.marks]
        waiting = await self._store.events.new_attachments(numbers) if numbers else ()
        asker = MediaAsker(chat, person.id, self._current.words.script(person), pace)
        for sent in waiting:
            if self._wanted(sent.attachment):
                await self._understand(asker, sent)
        if not waiting:
            return events
        marks = await self._store.events.attachment_marks(numbers)
        return tuple(replace(event, marks=marks.get(event.id, "")) if event.marks else event for event in events)

    async def look(self, asker: MediaAsker, sent: SentAttachment, session_id: int, question: str) -> str | None:
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
        there = await self._store.events.looked(sent, session_id, settlement, self._clock.now())
        return text if there else None

    def _wanted(self, attachment: Attachment) -> bool:
        media = self._current.settings.media
        match attachment.kind:
            case "image":
                return bool(media.images)
            case "voice":
                return bool(media.voice)
            case "file":
                return media.files

    async def _understand(self, asker: MediaAsker, sent: SentAttachment) -> None:
        try:
            text, settlement = await self._text(asker, sent)
        except NotSeen as missed:
            reason = self._current.words.opening(asker.script)(f"media_{missed.reason}")
            await self._store.events.refuse_look(sent, reason, missed.call, self._clock.now())
            self._log.info("not_seen", chat=asker.chat.id, number=sent.event_id, reason=missed.reason)
        else:
            await self._store.events.describe(sent, text, settlement, self._clock.now())

    async def _text(self, asker: MediaAsker, sent: SentAttachment) -> tuple[str, Settlement | None]:
        attachment, media = sent.attachment, self._current.settings.media
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
        adapter, most = self._adapter(chat.platform), int(self._current.settings.media.max_megabytes * 1_000_000)
        if attachment.size > most:
            raise NotSeen("too_large")
        if not implements(adapter, Files):
            raise NotSeen("failed")
        try:
            async with asyncio.timeout(FETCH_S):
                data = await adapter.fetch(attachment, most)
        except (SendError, OSError) as error:
            self._log.warning("fetch_failed", chat=chat.id, error=str(error))
            raise NotSeen("failed") from error
        except Exception as error:
            self._log.error("fetch_failed", chat=chat.id, exc_info=error)
            raise NotSeen("failed") from error
        if len(data) > most:
            raise NotSeen("too_large")
        return data

    async def _see(self, asker: MediaAsker, picture: bytes, question: str) -> tuple[str, Settlement]:
        model, mime, media = self._current.pool.first.model, picture_mime(picture), self._current.settings.media
        if not mime:
            raise NotSeen("unreadable")
        if not implements(model, PerceptionModel):
            raise NotSeen("no_model")
        instruction = self._current.value.texts.instructions["media"][asker.script]
        text = "\n\n".join(part for part in (instruction, question) if part)
        prompt, deadline_s = PICTURE_TOKENS + estimate_tokens(text), self._current.settings.model.deadline_seconds
        call = await self._reserve(asker, "see", media.images, prompt, media.description_tokens)

        async def ask() -> Completion:
            return await model.see(media.images, picture, mime, text, media.description_tokens, deadline_s)

        answer = await self._ask(asker, call, ask)
        seen = clip(clean(answer.text).strip(), media.description_tokens * CHARS_PER_TOKEN)
        return seen, self._settlement(call, answer.usage or Usage(prompt, 0, estimate_tokens(answer.text), False))

    async def _hear(self, asker: MediaAsker, attachment: Attachment, sound: bytes) -> tuple[str, Settlement]:
        model, media = self._current.pool.first.model, self._current.settings.media
        if not implements(model, PerceptionModel):
            raise NotSeen("no_model")
        prompt = -(-len(sound) // BYTES_PER_TOKEN)
        call = await self._reserve(asker, "listen", media.voice, prompt, media.file_chars)

        async def ask() -> str:
            name = _sound_name(attachment)
            return await model.listen(media.voice, sound, name, self._current.settings.model.deadline_seconds)

        heard = await self._ask(asker, call, ask)
        settlement = self._settlement(call, Usage(prompt, 0, estimate_tokens(heard), returned=False))
        text = clip(clean(heard).strip(), media.file_chars)
        return text or self._current.words.opening(asker.script)("media_silent"), settlement

    async def _reserve(self, asker: MediaAsker, cause: CallCause, model: str, prompt: int, output: int) -> int:
        now = self._clock.now()
        most = replace(reservation(self._current, cause, model, prompt, output, self._rate, now), pace=asker.pace)
        booking = self._store.ledger.book(asker.chat.id, most, now, asker.person_id)
        try:
            return await reserve_shielded(booking, self._store, self._clock)
        except OverBudget as error:
            self._log.warning("over_budget", chat=asker.chat.id, person=asker.person_id, limit=error.limit)
            raise NotSeen("budget") from error

    async def _ask(self, asker: MediaAsker, call: int, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer to a reserved call; NotSeen says what becomes of the reservation of one that failed."""
        try:
            async with self._slots.of(asker.chat.id):
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
        return Settlement(call, usage, money.cost(usage, self._rate(self._clock.now())))

    def _rate(self, now: int) -> Price:
        configuration = self._current.value
        return (configuration.vision_rate or configuration.pool.first.rate)(now)


def _sound_name(attachment: Attachment) -> str:
    """A name whose ending tells the format: servers go by it alone."""
    if "." in attachment.name.strip("."):
        return attachment.name
    endings = {"audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/x-m4a": "m4a", "audio/wav": "wav", "audio/webm": "webm"}
    return f"voice.{endings.get(attachment.mime.partition(';')[0].strip().lower(), 'ogg')}"


class LookArguments(ToolArguments, tool="look"):
    """What the model may ask; many write a number without quotes."""

    id: str | int | float
    question: str = Field(max_length=QUESTION_CHARS)


def look_tool(spec: ToolSpec, store: Store, media: MediaReader, words: Texts) -> Tool:
    """The tool over the pictures of the chat that a turn belongs to."""

    async def run(context: ToolContext, arguments: str) -> ToolAnswer:
        asked = read_arguments(LookArguments, arguments)
        question = " ".join(asked.question.split())
        if not question:
            raise ToolRefused("look_empty")
        shown = as_data(clip(str(asked.id), 20))
        number = _NUMBER.fullmatch(str(asked.id))
        position = max(int(number[2] or 1) - 1, 0) if number else 0
        sent = await store.events.attachment(context.audience.chat_id, int(number[1]), position) if number else None
        if sent is None or sent.attachment.kind != "image":
            raise ToolRefused("look_none", shown)
        script = words.script_named(context.script)
        asker = MediaAsker(await store.people.chat(context.audience.chat_id), context.person_id, script)
        say = words.opening(script)
        try:
            seen = await media.look(asker, sent, context.session_id, question)
        except NotSeen as missed:
            raise ToolRefused("look_not", say(f"media_{missed.reason}")) from missed
        if seen is None:
            raise ToolRefused("look_none", shown)
        return ToolAnswer(_fitting(lambda text: say("look_seen", id=shown, text=text), as_data(seen)))

    return Tool(spec, run, reads=True)


def _fitting(answer: Callable[[str], str], text: str) -> str:
    """The answer with as much of the text as fits into RESULT_TOKENS."""
    whole = answer(text)
    while estimate_tokens(whole) > RESULT_TOKENS:
        text = clip(text, len(text) * 9 // 10)
        whole = answer(text)
    return whole
