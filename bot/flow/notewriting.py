"""`/new` leaves a note of the talk that it ends. Nobody waits for it, and nothing fails when it cannot be written."""

from collections.abc import Callable

from bot.config.settings import Settings
from bot.errors import StoreError
from bot.flow.aside import Aside
from bot.flow.talk import talk
from bot.flow.words import Words
from bot.memory.notes import named, talk_lines, unwished
from bot.store.store import Store
from bot.text.dates import clock_label, local_day, time_label
from bot.types.event import Event
from bot.types.log import Log
from bot.types.note import Front, NewNote
from bot.types.people import Chat, Person


class NoteWriting:
    """Writes talks down."""

    def __init__(
        self, store: Store, settings: Settings, words: Words, aside: Aside, log: Log, written: Callable[[], None]
    ) -> None:  # fmt: skip
        """`written` is told of every note, so that it is read."""
        self._told = written
        self._store = store
        self._settings = settings
        self._words = words
        self._aside = aside
        self._log = log

    async def ended(self, event: Event, chat: Chat, person: Person) -> None:
        """That person ends the talk of a chat with that command: its last messages become a note of this chat."""
        session = await self._store.sessions.open_session(chat.id)
        if not self._settings.notes.on_new or session is None:
            return
        told = await talk(self._store, self._settings, chat.id, session.from_event, event.id)
        lines = await self._aside.run(unwished, told, self._settings.bot.names)
        said = [line for line in lines if not line.is_bot]
        if not said:
            return
        tz = self._words.tz(self._words.zone_of(chat, person))
        name, number = named([line.text for line in said], self._settings.bot.names)
        new = NewNote(
            Front(chat.id, "private" if chat.kind == "dm" else "chat"),
            f"{local_day(event.at, tz)}-{name or time_label(event.at, tz)[:5].replace(':', '')}",
            f"# {clock_label(said[0].at, tz)}",
            talk_lines(lines, [time_label(line.at, tz)[:5] for line in lines]),
            (said[number].event_id,) if name else (),
        )  # fmt: skip
        try:
            path = await self._store.notes.write(new, self._settings.notes.max_kilobytes * 1024)
        except StoreError as error:
            self._log.error("note_failed", chat=chat.id, error=str(error))
            return
        if path is not None:
            self._log.info("note_written", chat=chat.id, session=session.number, lines=len(new.lines))
            self._told()
