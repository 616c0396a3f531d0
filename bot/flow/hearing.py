"""Listening to a model: where the platform can, the reply is shown while it is written."""

from collections.abc import Callable

from bot.config.settings import Settings
from bot.flow.live import Preview
from bot.flow.sending import Sending
from bot.ports import Clock, Drafts, Edits, Model, Streams, offers
from bot.store.store import Store
from bot.text.shorten import shorten
from bot.types.log import Log
from bot.types.people import Chat
from bot.types.prompt import Completion, Request
from bot.types.turn import Turn


class Hearing:
    """Hears completions out."""

    def __init__(
        self, store: Store, clock: Clock, sending: Sending, settings: Settings, log: Log,
        paced: Callable[[Chat], bool],
    ) -> None:  # fmt: skip
        """What is `paced` in a chat is shown message by message when it is whole, never as one that grows."""
        self._store = store
        self._clock = clock
        self._sending = sending
        self._log = log
        switches = {"telegram": settings.telegram.stream, "discord": settings.discord.stream}
        self._paced = paced
        self._most = settings.speak.reply_chars
        self._silent = frozenset(platform for platform, on in switches.items() if not on)

    async def listen(self, chat: Chat, turn: Turn, model: Model, request: Request) -> Completion:
        """The completion of a call for that turn; raises as the model does."""
        preview = self._preview(chat, turn)
        if preview is None or not offers(model, Streams):
            return await model.complete(request)
        try:
            return await model.stream(request, lambda source: preview.hear(lambda: shorten(source(), self._most)))
        finally:
            await preview.end()

    def _preview(self, chat: Chat, turn: Turn) -> Preview | None:
        adapter = self._sending.adapter(chat.platform)
        shows = offers(adapter, Edits) or offers(adapter, Drafts)
        if adapter is None or self._paced(chat) or chat.platform in self._silent or not shows:
            return None
        return Preview(self._store, self._clock, adapter, chat, turn, self._log)
