"""From a model to a reply: shown while it is written where the platform can, then nothing, one message or several."""

from dataclasses import dataclass, replace

from bot.core.events import Draft
from bot.core.models import Completion, Message, ModelRequest
from bot.core.people import Chat, Person
from bot.core.ports import Clock, Drafts, Edits, Log, Model, Streams, implements
from bot.core.sessions import Turn
from bot.pipeline.configuration import Current
from bot.pipeline.send import LinkCheck, OutboxSender, Preview
from bot.speaking.initiative import is_silent_answer, is_skip_word
from bot.speaking.pacing import PacedMessage, paced_messages
from bot.store.store import Store
from bot.text.length import shorten


class StreamListener:
    """Hears completions out."""

    def __init__(self, store: Store, clock: Clock, sender: OutboxSender, current: Current, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._sender = sender
        self._current = current
        self._log = log

    async def listen(self, chat: Chat, turn: Turn, model: Model, request: ModelRequest) -> Completion:
        """The completion of a call for that turn; raises as the model does."""
        speak = self._current.settings.speak
        preview = self._preview(chat, turn, LinkCheck(request.prompt.messages, speak.links))
        if preview is None or not implements(model, Streams):
            return await model.complete(request)
        try:
            return await model.stream(
                request, lambda source: preview.hear(lambda: shorten(source(), speak.reply_chars))
            )
        finally:
            await preview.end()

    def _preview(self, chat: Chat, turn: Turn, naming: LinkCheck) -> Preview | None:
        adapter = self._sender.adapter(chat.platform)
        shows = implements(adapter, Edits) or implements(adapter, Drafts)
        if adapter is None or not shows:
            return None
        platform = self._current.settings.platforms.get(chat.platform)
        # A paced reply is shown message by message when it is whole, never as one that grows.
        if self._current.value.texts.personas.paced(chat) or (platform is not None and not platform.stream):
            return None
        return Preview(self._store, self._clock, adapter, chat, turn, self._log, naming.so_far)


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

    def said(self, completion: Completion, turn: Turn, chat: Chat, person: Person, naming: LinkCheck) -> BuiltReply:
        """What to say: nothing where silence is chosen, but in a DM nobody waits for an answer in vain."""
        checked = naming.checked(completion.text)
        # What is too long is cut in the log, too: it holds what people saw.
        told = shorten(checked.text.strip(), self._current.settings.speak.reply_chars)
        parts = self._parts(told, turn.id, chat)
        text = "\n".join(part.text for part in parts)
        message = completion.message()
        if told != completion.text.strip():
            message = replace(message, content=told)
        if is_silent_answer(text, turn.why, chat.kind):
            parts, text = (), ""
        elif chat.kind == "dm" and (is_skip_word(text) or (completion.text.strip() and not text)):
            text = self._current.words.messages.text("listening", self._current.words.script(person))
            parts, message = (PacedMessage(text),), Message("assistant", text)
        return BuiltReply(message, text, self._drafts(parts, turn, chat), checked.removed)

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
