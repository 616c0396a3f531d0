"""What strangers are told, and what an owner is told of them. Whether somebody is a stranger is decided elsewhere."""

from bot.flow.words import Words
from bot.ports import Clock
from bot.store.codes import Knock
from bot.store.store import Store
from bot.types.event import Event
from bot.types.outgoing import Button, Draft
from bot.types.people import Chat, Person


class Guests:
    """Answers the door."""

    def __init__(self, store: Store, clock: Clock, words: Words) -> None:
        self._store = store
        self._clock = clock
        self._words = words

    def text(self, key: str, script: str, **values: object) -> str:
        """A sentence in that script, the configured language for one who never wrote."""
        return self._words.messages.text(key, self._words.script_named(script), **values)

    async def closed(self, event: Event, chat: Chat, person: Person) -> None:
        """Say that nuan does not talk here, and who can change that; without a model."""
        via, account = await self._store.access.answer_to(event)
        here = await self._store.access.standing(chat.id, person.id)
        off = "off_wish" if event.why == "off" else "off_here"
        text = self.text(off if here.allowed else "closed_here", person.script)
        await self._store.outbox.answer(
            chat.id, event.id, Draft(text, "notice", via, only_for=account if via else ""), self._clock.now()
        )

    async def knock(self, event: Event, chat: Chat, person: Person, *, always: bool = False) -> None:
        """Give a stranger a pairing code, or say that too many wait, and tell the owners; without a model."""
        via, account = await self._store.access.answer_to(event)

        def answer(code: str) -> Draft:
            key = "pair" if code else "pair_full"
            return Draft(self.text(key, person.script, code=code), "notice", via)

        def notice(code: str, script: str, owner: str) -> Draft:
            who = f"{chat.platform}:{account}"
            buttons = tuple(
                Button(self.text(f"button_{name}", script), f".ai {name} {code}", owner) for name in ("approve", "deny")
            )
            text = self.text("pair_notice", script, name=person.name, account=who, code=code)
            return Draft(text, "notice", buttons=buttons)

        knock = Knock(event.id, chat.id, person.id, chat.platform, always, answer, notice)
        await self._store.codes.knock(knock, self._clock.now())
