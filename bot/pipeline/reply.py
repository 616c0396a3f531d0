"""Reply: what is made of the last completion of a turn: the messages that go out, what the log keeps, the line that is
told later. It stores and sends nothing."""

from dataclasses import dataclass, replace

from bot.core.events import Draft
from bot.core.models import Completion, Message
from bot.core.parts import Media, Speech, read_part
from bot.core.people import Chat, Person
from bot.core.sessions import Turn
from bot.core.speaking import UNASKED
from bot.language.media import spoken_form
from bot.pipeline.configuration import Current
from bot.pipeline.send import LinkCheck, OutboxSender
from bot.speaking.initiative import is_silent_answer, is_skip_word
from bot.speaking.pacing import PacedMessage, paced_messages
from bot.text.length import shorten


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

    def __init__(self, sender: OutboxSender, current: Current) -> None:
        self._sender = sender
        self._current = current

    def said(
        self, completion: Completion, turn: Turn, chat: Chat, person: Person, naming: LinkCheck, spoken_chars: int = 0
    ) -> BuiltReply:
        """What to say: nothing where silence is chosen, but in a DM nobody waits for an answer in vain.

        Up to `spoken_chars` it is spoken, where it can be.
        """
        checked = naming.checked(completion.text)
        # What is too long is cut in the log, too: it holds what people saw.
        told = shorten(checked.text.strip(), self._current.settings.speak.reply_chars)
        parts = self._parts(told, turn.id, chat)
        text = "\n".join(part.text for part in parts)
        message = completion.message()
        if told != completion.text.strip():
            message = replace(message, content=told)
        made = tuple(self._made(stored, person) for stored in turn.parts)
        if is_silent_answer(text, turn.why, chat.kind):
            parts, text, made = (), "", () if turn.why in UNASKED else made
        elif chat.kind == "dm" and not made and (is_skip_word(text) or (completion.text.strip() and not text)):
            text = self._current.words.tell(person, "listening")
            parts, message = (PacedMessage(text),), Message("assistant", text)
        if text and len(text) <= spoken_chars and spoken_form(text):
            drafts = [*self._drafts((), turn, chat), Draft(text, "reply", part=Speech(person.id))]
        else:
            drafts = [*self._drafts(parts, turn, chat)]
        for draft in made:
            drafts += self._sender.drafts(chat, draft)
        line = "\n".join(said for said in (text, *(draft.text for draft in made)) if said)
        return BuiltReply(message, line, tuple(drafts), checked.removed)

    def _made(self, stored: str, person: Person) -> Draft:
        """What a tool made, to be sent; its name in brackets stands for it where it cannot be, and in what is told later."""
        part = read_part(stored)
        assert isinstance(part, Media)
        return Draft(self._current.words.tell(person, f"part_{part.kind}", name=part.name), "reply", part=part)

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
