"""`.ai start`, `approve`, `allow`, `deny`, `link`, `export` and `forget`: who may use nuan, and their data."""

from collections.abc import Callable

from bot.commands.registry import Invocation
from bot.core.events import Draft
from bot.core.ports import Clock
from bot.pipeline.jobs.archives import ARCHIVE_DAYS, PersonData
from bot.pipeline.refusals import Strangers
from bot.pipeline.texts import Texts
from bot.store.people import Access
from bot.store.store import Store
from bot.text.codes import code_form, code_in
from bot.text.fold import fold

Text = Callable[..., str]


class AccessCommands:
    """Carries them out; an empty answer says nothing."""

    def __init__(self, store: Store, clock: Clock, guests: Strangers, text: Text) -> None:
        self._store = store
        self._clock = clock
        self._guests = guests
        self._text = text

    async def start(self, asked: Invocation) -> str:
        """Greet, use a code, or let a stranger knock."""
        if asked.words:
            return await self.redeem(asked)
        here = await self._store.access.standing(asked.chat.id, asked.person.id)
        if here.allowed:
            return self._text(asked, "start")
        if asked.chat.kind == "group":
            return self._text(asked, "start_group")
        await self._guests.request_pairing(asked.event, asked.chat, asked.person, always=True)
        return ""

    async def redeem(self, asked: Invocation) -> str:
        """Use the code that was given."""
        code = code_in(asked.words[-1], False) or asked.words[-1]
        outcome = await self._store.codes.redeem(code, asked.event.id, self._clock.now())
        return "" if outcome == "ignored" else self._text(asked, f"code_{outcome}")

    async def link(self, asked: Invocation) -> str:
        """Give a code for the other account, or use the one from there."""
        if asked.words:
            return await self.redeem(asked)
        if asked.chat.kind != "dm":
            return self._text(asked, "link_dm")
        code = await self._store.codes.link(asked.person.id, asked.chat.id, self._clock.now())
        return self._text(asked, "link_code", code=code)

    async def approve(self, asked: Invocation) -> str:
        """Let in whom the code belongs to."""
        return await self._by_code(asked, "allowed") or self._text(asked, "code_unknown")

    async def allow(self, asked: Invocation) -> str:
        """Let nuan talk in this group, or with whom or where the words name."""
        return await self._set(asked, "allowed")

    async def deny(self, asked: Invocation) -> str:
        """The same, the other way round; a code names its stranger."""
        return await self._by_code(asked, "denied") or await self._set(asked, "denied")

    async def _by_code(self, asked: Invocation, access: Access) -> str:
        code = code_form(asked.words[0]) if len(asked.words) == 1 else ""
        if not code:
            return ""

        def tell(script: str) -> Draft | None:
            return Draft(self._guests.text("approved_you", script), "notice") if access == "allowed" else None

        name = await self._store.codes.decide(code, access, tell, self._clock.now())
        return "" if name is None else self._text(asked, f"person_{access}", name=name)

    async def _set(self, asked: Invocation, access: Access) -> str:
        chat_id: int | None = asked.chat.id if asked.chat.kind == "group" else None
        person_id: int | None = None
        words = " ".join(asked.words)
        if words:
            chat_id, person_id = await self._store.access.find(words, asked.chat.platform)
        if chat_id is not None:
            await self._store.access.set_chat(chat_id, access)
            return self._text(asked, f"group_{access}")
        if person_id is None:
            return self._text(asked, "access_whom" if words else "access_where")
        person = await self._store.people.person(person_id)
        if person.is_owner:
            return self._text(asked, "access_owner")
        await self._store.access.set_person(person_id, access)
        return self._text(asked, f"person_{access}", name=person.name)


CONFIRM_MINUTES = 10
"""How long the number counts that is to be repeated."""

ME_WORDS = ("me", "我", "myself")


class ExportPersonCommand:
    """Puts a person's archive where the owner hands it over: platforms take no files from nuan yet."""

    def __init__(
        self, store: Store, clock: Clock, belongings: PersonData, words: Texts, text: Callable[..., str]
    ) -> None:  # fmt: skip
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._belongings = belongings
        self._words = words
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai export me`; an owner is told the file, for everyone else owners are told to hand it on."""
        match tuple(fold(word) for word in asked.words):
            case (who,) if who in ME_WORDS:
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


class ErasePersonCommand:
    """Takes a person out, when they said so twice."""

    def __init__(self, store: Store, clock: Clock, belongings: PersonData, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._store = store
        self._clock = clock
        self._belongings = belongings
        self._text = text

    async def run(self, asked: Invocation) -> str:
        """The answer to `.ai forget me` and, with the number it names, the deed."""
        erasing, now = self._store.person_erasure, self._clock.now()
        match tuple(fold(word) for word in asked.words):
            case (who, *_) if who in ME_WORDS and not await erasing.known(asked.person.id):
                return self._text(asked, "forget_me_done")  # a crash came between the deed and its answer
            case (who,) if who in ME_WORDS:
                counts = await erasing.counts(asked.person.id)
                number = await erasing.ask(asked.person.id, asked.chat.id, now)
                return self._text(asked, "forget_me_ask", number=number, minutes=CONFIRM_MINUTES, **counts)
            case (who, number) if who in ME_WORDS:
                if not await erasing.agreed(asked.person.id, asked.chat.id, number, now):
                    return self._text(asked, "forget_me_wrong")
                await self._belongings.erase(asked.person.id, asked.event.id)
                return self._text(asked, "forget_me_done")
            case _:
                return self._text(asked, "forget_me_words")
