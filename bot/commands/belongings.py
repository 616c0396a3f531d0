"""`.ai export me` and `.ai forget me`: what nuan keeps of a person is theirs to take along and to take away."""

from collections.abc import Callable

from bot.commands.table import Asked
from bot.flow.belongings import ARCHIVE_DAYS, Belongings
from bot.flow.words import Words
from bot.ports import Clock
from bot.store.store import Store
from bot.text.fold import fold
from bot.types.outgoing import Draft

MINUTES = 10
"""How long the number counts that is to be repeated."""

ME = ("me", "我", "myself")


class ExportCommand:
    """Puts a person's archive where the owner hands it over: platforms take no files from nuan yet."""

    def __init__(
        self, store: Store, clock: Clock, belongings: Belongings, words: Words, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._belongings = belongings
        self._words = words
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai export me`; an owner is told the file, for everyone else owners are told to hand it on."""
        match tuple(fold(word) for word in asked.words):
            case (who,) if who in ME:
                path = await self._belongings.export(asked.person.id)
            case _:
                return self._text(asked, "export_words")
        if asked.person.is_owner:
            return self._text(asked, "exported_here", file=f"{path.parent.name}/{path.name}", days=ARCHIVE_DAYS)

        def notice(script: str) -> Draft:
            told = {"name": asked.person.name, "file": f"{path.parent.name}/{path.name}", "days": ARCHIVE_DAYS}
            return Draft(self._words.messages.text("export_notice", script, **told), "notice")

        await self._store.codes.tell_owners(asked.chat.platform, notice, self._clock.now())
        return self._text(asked, "exported", days=ARCHIVE_DAYS)


class ForgetCommand:
    """Takes a person out, when they said so twice."""

    def __init__(self, store: Store, clock: Clock, belongings: Belongings, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._belongings = belongings
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai forget me` and, with the number it names, the deed."""
        erasing, now = self._store.erasing, self._clock.now()
        match tuple(fold(word) for word in asked.words):
            case (who, *_) if who in ME and not await erasing.known(asked.person.id):
                return self._text(asked, "forget_me_done")  # a crash came between the deed and its answer
            case (who,) if who in ME:
                counts = await erasing.counts(asked.person.id)
                number = await erasing.ask(asked.person.id, asked.chat.id, now)
                return self._text(asked, "forget_me_ask", number=number, minutes=MINUTES, **counts)
            case (who, number) if who in ME:
                if not await erasing.agreed(asked.person.id, asked.chat.id, number, now):
                    return self._text(asked, "forget_me_wrong")
                await self._belongings.erase(asked.person.id, asked.event.id)
                return self._text(asked, "forget_me_done")
            case _:
                return self._text(asked, "forget_me_words")
