"""The commands about who may use nuan: start, approve, allow, deny, link. They store nothing themselves."""

from collections.abc import Callable

from bot.commands.table import Asked
from bot.flow.guests import Guests
from bot.ports import Clock
from bot.store.access import Access
from bot.store.store import Store
from bot.text.codes import code_form, code_in
from bot.types.outgoing import Draft

Text = Callable[..., str]


class GuestCommands:
    """Carries them out; an empty answer says nothing."""

    def __init__(self, store: Store, clock: Clock, guests: Guests, text: Text) -> None:
        self._store = store
        self._clock = clock
        self._guests = guests
        self._text = text

    async def start(self, asked: Asked) -> str:
        """Greet, use a code, or let a stranger knock."""
        if asked.words:
            return await self.redeem(asked)
        here = await self._store.access.standing(asked.chat.id, asked.person.id)
        if here.allowed:
            return self._text(asked, "start")
        if asked.chat.kind == "group":
            return self._text(asked, "start_group")
        await self._guests.knock(asked.event, asked.chat, asked.person, always=True)
        return ""

    async def redeem(self, asked: Asked) -> str:
        """Use the code that was given."""
        code = code_in(asked.words[-1], False) or asked.words[-1]
        outcome = await self._store.codes.redeem(code, asked.event.id, self._clock.now())
        return "" if outcome == "ignored" else self._text(asked, f"code_{outcome}")

    async def link(self, asked: Asked) -> str:
        """Give a code for the other account, or use the one from there."""
        if asked.words:
            return await self.redeem(asked)
        if asked.chat.kind != "dm":
            return self._text(asked, "link_dm")
        code = await self._store.codes.link(asked.person.id, asked.chat.id, self._clock.now())
        return self._text(asked, "link_code", code=code)

    async def approve(self, asked: Asked) -> str:
        """Let in whom the code belongs to."""
        return await self._by_code(asked, "allowed") or self._text(asked, "code_unknown")

    async def allow(self, asked: Asked) -> str:
        """Let nuan talk in this group, or with whom or where the words name."""
        return await self._set(asked, "allowed")

    async def deny(self, asked: Asked) -> str:
        """The same, the other way round; a code names its stranger."""
        return await self._by_code(asked, "denied") or await self._set(asked, "denied")

    async def _by_code(self, asked: Asked, access: Access) -> str:
        code = code_form(asked.words[0]) if len(asked.words) == 1 else ""
        if not code:
            return ""

        def tell(script: str) -> Draft | None:
            return Draft(self._guests.text("approved_you", script), "notice") if access == "allowed" else None

        name = await self._store.codes.decide(code, access, tell, self._clock.now())
        return "" if name is None else self._text(asked, f"person_{access}", name=name)

    async def _set(self, asked: Asked, access: Access) -> str:
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
