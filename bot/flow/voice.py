"""From a completion to what is said: nothing, one message, or several with pauses between them. It commits nothing."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.flow.sending import Sending
from bot.flow.words import Words
from bot.session.pacing import Part, script
from bot.session.skipping import refuses, silent
from bot.text.shorten import shorten
from bot.types.outgoing import Draft
from bot.types.people import Chat, Person
from bot.types.prompt import Completion, Message
from bot.types.turn import Turn


@dataclass(frozen=True, slots=True)
class Said:
    """What the log keeps, the line of the transcript ("" for nothing), what goes out, and for how long, ms."""

    message: Message
    line: str
    drafts: tuple[Draft, ...]

    @property
    def lasts_ms(self) -> int:
        """From the first message to the last."""
        return sum(draft.wait_ms for draft in self.drafts)


class Voice:
    """How a reply is said; `paced` replies are scripts, on whichever bootstrap they were made."""

    def __init__(
        self, sending: Sending, words: Words, paced: Callable[[Chat], bool], most_chars: int | None = None
    ) -> None:  # fmt: skip
        """What is longer than `most_chars` is cut, in the log, too: it holds what people saw."""
        self._most = most_chars
        self._sending = sending
        self._words = words
        self._paced = paced

    def said(self, completion: Completion, turn: Turn, chat: Chat, person: Person) -> Said:
        """What to say: nothing where silence is chosen, but in a DM nobody waits for an answer in vain."""
        told = shorten(completion.text.strip(), self._most)
        parts = self._parts(told, turn.id, chat)
        text = "\n".join(part.text for part in parts)
        message = completion.message()
        if told != completion.text.strip():
            message = replace(message, content=told)
        if silent(text, turn.why, chat.kind):
            parts, text = (), ""
        elif chat.kind == "dm" and (refuses(text) or (completion.text.strip() and not text)):
            text = self._words.messages.text("listening", self._words.script(person))
            parts, message = (Part(text),), Message("assistant", text)
        return Said(message, text, self._drafts(parts, turn, chat))

    def _parts(self, text: str, seed: int, chat: Chat) -> tuple[Part, ...]:
        if self._paced(chat):
            return script(text, seed)
        return (Part(text.strip()),) if text.strip() else ()

    def _drafts(self, parts: tuple[Part, ...], turn: Turn, chat: Chat) -> tuple[Draft, ...]:
        """The messages, each in as many pieces as its platform needs; receipts stand before the first."""
        first = "\n".join((*turn.receipts, *(part.text for part in parts[:1])))
        if not first:
            return ()
        told = (replace(parts[0], text=first), *parts[1:]) if parts else (Part(first),)
        drafts: list[Draft] = []
        for part in told:
            begin, *rest = self._sending.drafts(chat, Draft(part.text, "reply"))
            drafts += [replace(begin, wait_ms=part.wait_ms, typed_ms=part.typed_ms), *rest]
        return tuple(drafts)
