"""Reply: what is made of the last completion of a turn: the messages that go out, what the log keeps, the line that is
told later. It sends nothing, and stores nothing but the pictures of stickers."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.core.events import Draft
from bot.core.models import Completion, Message
from bot.core.parts import Image, Media, Reaction, Speech, Sticker, read_part
from bot.core.people import Chat, Person
from bot.core.ports import Clock
from bot.core.sessions import Turn
from bot.core.speaking import UNASKED
from bot.language.media import spoken_form
from bot.pipeline.configuration import Current
from bot.pipeline.send import LinkCheck, OutboxSender
from bot.prompt.stickers import REST_TURNS
from bot.speaking.initiative import is_silent_answer, is_skip_word
from bot.speaking.pacing import PacedMessage, paced_messages
from bot.store.store import Store
from bot.text.length import shorten
from bot.text.marks import STICKER_MARK, ReplyMarks, read_marks, told_marks


@dataclass(frozen=True, slots=True)
class BuiltReply:
    """What the log keeps, the line of the transcript ("" for nothing), what goes out, and for how long, ms.

    `unnamed` addresses were taken out of it.
    """

    message: Message
    line: str
    drafts: tuple[Draft, ...]
    unnamed: int = 0

    @property
    def lasts_ms(self) -> int:
        """From the first message to the last."""
        return sum(draft.wait_ms for draft in self.drafts)


class ReplyBuilder:
    """How a reply is said; those of a paced persona are scripts, on whichever bootstrap they were made."""

    def __init__(self, store: Store, clock: Clock, sender: OutboxSender, current: Current) -> None:
        self._store = store
        self._clock = clock
        self._sender = sender
        self._current = current

    async def said(
        self, completion: Completion, turn: Turn, chat: Chat, person: Person, naming: LinkCheck, spoken_chars: int = 0
    ) -> BuiltReply:
        """What to say: nothing where silence is chosen, but in a DM nobody waits for an answer in vain. StoreError.

        Up to `spoken_chars` it is spoken, where it can be.
        """
        marks = await self._allowed(read_marks(completion.text), turn, chat)
        checked = naming.checked(marks.text)
        # What is too long is cut in the log, too: it holds what people saw.
        told = shorten(checked.text.strip(), self._current.settings.speak.reply_chars)
        parts = self._parts(told, turn.id, chat)
        text = "\n".join(part.text for part in parts)
        message = completion.message()
        kept = told_marks(marks.reaction, marks.sticker)
        if told != completion.text.strip():
            message = replace(message, content=f"{told}{kept}")
        made = [self._made(stored, person) for stored in turn.parts]
        besides = bool(kept or made)
        if is_silent_answer(text, turn.why, chat.kind) or (besides and is_skip_word(text)):
            parts, text, made = (), "", [] if turn.why in UNASKED else made
        elif chat.kind == "dm" and not besides and (is_skip_word(text) or (completion.text.strip() and not text)):
            text = self._current.words.tell(person, "listening")
            parts, message = (PacedMessage(text),), Message("assistant", text)
        if text and len(text) <= spoken_chars and spoken_form(text):
            drafts = [*self._drafts((), turn, chat), Draft(text, "reply", part=Speech(person.id))]
        else:
            drafts = list(self._drafts(parts, turn, chat))
        lines = [text]
        if marks.reaction:
            # Right behind the first words: a paced reply goes on for a while.
            reaction = Reaction(marks.reaction, max(turn.event_ids))
            drafts[1:1] = self._sender.drafts(chat, Draft("" if text else marks.reaction, "reply", part=reaction))
            lines.append(self._current.words.tell(person, "part_reaction", name=marks.reaction))
        made += await self._sticker(marks.sticker, chat, person)
        for draft in made:
            drafts += self._sender.drafts(chat, draft)
            lines.append(draft.text)
        return BuiltReply(message, "\n".join(filter(None, lines)), tuple(drafts), checked.removed)

    async def _allowed(self, marks: ReplyMarks, turn: Turn, chat: Chat) -> ReplyMarks:
        """The marks that are carried out: none where nuan speaks first, a sticker that there is in one of five replies."""
        pack = self._current.value.texts.personas.pack(chat)
        if turn.why in UNASKED:
            return ReplyMarks(marks.text)
        known = marks.sticker and pack.named(marks.sticker) is not None
        if known and not await self._store.turns.logged_lately(chat.id, REST_TURNS, STICKER_MARK):
            return marks
        return replace(marks, sticker="")

    async def _sticker(self, label: str, chat: Chat, person: Person) -> list[Draft]:
        """The sticker of that label, as the chat's platform knows it or as a picture; none for "", or of one that is gone."""
        packed = self._current.value.texts.personas.pack(chat).named(label) if label else None
        if packed is None:
            return []
        part: Sticker | Image | None = packed.on(chat.platform)
        if part is None and packed.picture is not None:
            with suppress(OSError):
                data, ending = await asyncio.to_thread(packed.picture.read_bytes), packed.picture.suffix.lower()
                path = await asyncio.to_thread(self._store.files.parts.write, data, ending, self._clock.now())
                part = Image(path, f"{packed.label}{ending}", len(data))
        return [Draft(self._current.words.tell(person, "part_sticker", name=packed.label), "reply", part=part)]

    def _made(self, stored: str, person: Person) -> Draft:
        """What a tool made, to be sent; its name in brackets stands for it where it cannot be, and in what is told later."""
        part = read_part(stored)
        assert isinstance(part, Media)
        name = part.about if isinstance(part, Image) and part.about else part.name
        return Draft(self._current.words.tell(person, f"part_{part.kind}", name=name), "reply", part=part)

    def _parts(self, text: str, seed: int, chat: Chat) -> tuple[PacedMessage, ...]:
        if self._current.value.texts.personas.paced(chat):
            return paced_messages(text, seed)
        return (PacedMessage(text.strip()),) if text.strip() else ()

    def _drafts(self, parts: tuple[PacedMessage, ...], turn: Turn, chat: Chat) -> tuple[Draft, ...]:
        """The messages, each in as many pieces as its platform needs; receipts stand before the first."""
        first = "\n".join((*turn.receipts, *(part.text for part in parts[:1])))
        if not first:
            return ()
        told = (replace(parts[0], text=first), *parts[1:]) if parts else (PacedMessage(first),)
        drafts: list[Draft] = []
        for part in told:
            begin, *rest = self._sender.drafts(chat, Draft(part.text, "reply"))
            drafts += [replace(begin, wait_ms=part.wait_ms, typed_ms=part.typed_ms), *rest]
        return tuple(drafts)
