"""记住, 忘记, 叫我 and 撤销 carried out without a model: what was understood becomes one commit with its receipt."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.intake import READ_CHARS
from bot.flow.words import Words
from bot.memory.match import match
from bot.memory.merging import merging
from bot.memory.ordering import ordered
from bot.memory.pointing import pointing
from bot.memory.understand import understand
from bot.ports import Clock
from bot.store.forgetting import Forgetting
from bot.store.keeping import Receipt
from bot.store.store import Store
from bot.text.script import Script
from bot.types.event import Event
from bot.types.memory import Memory, MemoryCommand, MemoryKind, NewMemory, Slot, Understanding
from bot.types.outgoing import Button
from bot.types.people import Audience, Chat

DAY_MS = 86_400_000

LONG_TEXT = 500
"""Characters from which on a message is understood in a thread."""

NOTHING_NAMED = MemoryCommand("forget", None)

SHOWN = 5
"""How many candidates a question back names."""


@dataclass(frozen=True, slots=True)
class Told:
    """A memory command with where and by whom it was said; without a `rest` to answer its receipt is said at once.

    `hide` empties the message afterwards: a command to forget names what is to be forgotten. `account` is the one
    that may press the receipt's button. `last`: no other command of the message comes after it.
    """

    event: Event
    chat: Chat
    person_id: int
    audience: Audience
    script: Script
    place: int
    rest: str
    hide: bool
    account: str = ""
    last: bool = True


class Remembering:
    """Carries out memory commands, each once."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, words: Words, aside: Aside) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words
        self._aside = aside

    async def understand(self, event: Event) -> Understanding:
        """What a message asks of memory, and what is left of it to answer."""
        text, names = event.text[:READ_CHARS], self._settings.bot.names
        order = None if event.forwarded else ordered(text)
        if order is not None and (order != NOTHING_NAMED or not await self._store.unsaying.is_reply(event.id)):
            return Understanding((order,), "")
        this = replace(NOTHING_NAMED, replied=True) if order is not None else pointing(text, names)
        if this is not None and not event.forwarded and await self._store.unsaying.is_reply(event.id):
            return Understanding((this,), "")
        # A long text takes long to understand, and the other chats must not wait for it.
        slow = len(text) > LONG_TEXT and not event.forwarded
        return await self._aside.run(understand, text, names) if slow else understand(text, names)

    async def carry_out(self, command: MemoryCommand, told: Told) -> str:
        """Do it and return its receipt, which is stored with it."""
        match command.verb:
            case "remember":
                return await self._remember(command, told, "knowledge", "")
            case "nick_set":
                return await self._remember(command, told, "identity", "address")
            case "nick_revoke":
                return await self._revoke(command, told)
            case "forget":
                return await self._forget(command, told)
            case "undo":
                return await self._undo(command, told)

    async def _remember(self, command: MemoryCommand, told: Told, kind: MemoryKind, slot: Slot) -> str:
        text = command.content or ""
        if command.content is None:
            text = await self._before(told)
        if not text:
            return await self._say("remember_what", told)
        now = self._clock.now()
        self._store.tombstones.lift(text, now)
        memory = NewMemory(
            owner_id=told.person_id, chat_id=told.chat.id, visibility="private" if told.chat.kind == "dm" else "chat",
            kind=kind, text=text, observed_at=told.event.at, source="command", event_ids=(told.event.id,), slot=slot,
            asked=True,
        )  # fmt: skip
        keys = {"": ("remembered", "remembered_again"), "address": ("nick_set", "nick_set"),
                "no_address": ("nick_revoked", "nick_revoked")}[slot]  # fmt: skip

        def receipt(number: int, again: bool) -> str:
            return self._text(keys[again], told, id=number, nick=text)

        rule = merging({told.person_id: told.event.name}, self._words.day)
        return await self._store.memories.remember(memory, self._receipt(told, receipt, "say_forget"), now, rule)

    async def _before(self, told: Told) -> str:
        """What 把这个记下来 points at: the same person's previous message."""
        events = await self._store.events.recent(told.chat.id, 0, 0, self._settings.context.bus_max, waiting=True)
        mine = [e for e in events if e.person_id == told.person_id and e.id < told.event.id and e.kind == "message"]
        return mine[-1].text.strip() if mine else ""

    async def _revoke(self, command: MemoryCommand, told: Told) -> str:
        """别叫我X: what called them so is forgotten, and the wish itself is kept."""
        name = command.content or ""
        if not name:
            known = await self._store.memories.owned(told.person_id, told.audience)
            name = next((memory.text for memory in known if memory.slot == "address"), "")
        if not name:
            return await self._say("nick_what", told)
        return await self._remember(MemoryCommand("nick_revoke", name), told, "identity", "no_address")

    async def _forget(self, command: MemoryCommand, told: Told) -> str:
        if command.replied:
            return await self._unsay(command, told)
        found = await self._meant(command, told)
        if not found:
            return await self._say("forgot_none", told)
        if len(found) > 1 or (command.content is None and command.number is None):
            shown = "; ".join(f"#{memory.id} {memory.text}" for memory in found[:SHOWN])
            return await self._say("forgot_many", told, list=shown)
        return await self._disable(found, told.person_id, command.forever, told)

    async def _disable(self, found: tuple[Memory, ...], owner_id: int, forever: bool, told: Told) -> str:
        """Forget these memories of that person; they alone can take it back."""
        now = self._clock.now()
        for memory in found:
            self._store.tombstones.bury(memory.id, memory.text, now)
        days = self._settings.memory.undo_days
        forever = forever or not days
        forgetting = Forgetting(found, owner_id, None if forever else now + days * DAY_MS)

        def receipt(number: int, again: bool) -> str:
            return self._text("forgot_forever" if forever else "forgot", told, id=number, days=days)

        button = "say_undo" if owner_id == told.person_id else ""
        return await self._store.forgetting.forget(forgetting, self._receipt(told, receipt, button), now)

    async def _unsay(self, command: MemoryCommand, told: Told) -> str:
        """忘记 as a reply: the line that is replied to goes, or the memory that it confirms."""
        what = await self._store.unsaying.replied(told.event.id)
        if not what.there:
            return await self._say("unsaid_unknown", told)
        if told.chat.kind != "dm" and told.person_id not in what.by:
            standing = await self._store.access.standing(told.chat.id, told.person_id)
            if not standing.owner:
                return await self._say("unsaid_not_yours", told)
        number = self._words.confirmed(what.receipt)
        if number is not None:
            memory = await self._store.unsaying.keeper(number)
            if memory is None:
                return await self._say("forgot_none", told)
            return await self._disable((memory,), memory.owner_id or told.person_id, command.forever, told)
        now, days = self._clock.now(), self._settings.memory.undo_days
        kept = bool(what.memories) and bool(days) and not command.forever
        numbers = " ".join(f"#{memory.id}" for memory in what.memories)
        own = all(memory.owner_id == told.person_id for memory in what.memories)

        def receipt(found: int, again: bool) -> str:
            return self._text("unsaid_undo" if kept else "unsaid", told, id=found, list=numbers, days=days)

        says = self._receipt(told, receipt, "say_undo" if own else "")
        return await self._store.unsaying.unsay(what, now + days * DAY_MS if kept else None, says, now)

    async def _meant(self, command: MemoryCommand, told: Told) -> tuple[Memory, ...]:
        owned = await self._store.memories.owned(told.person_id, told.audience)
        if command.number is not None:
            return tuple(memory for memory in owned if memory.id == command.number)
        if command.content:
            return match(command.content, owned)
        # 那条 or 全部: which one is not for us to guess, so what is newest is offered.
        return owned

    async def _undo(self, command: MemoryCommand, told: Told) -> str:
        number = command.number
        if number is None:
            number = await self._store.memories.last_forgotten(told.person_id, told.audience)
        now = self._clock.now()
        if number is not None:
            receipt = self._receipt(told, lambda found, again: self._text("undone", told, id=found))
            restored = await self._store.memories.undo(number, told.person_id, told.audience, receipt, now)
            if restored is not None:
                for memory in await self._store.memories.owned(told.person_id, told.audience):
                    if memory.id == number:
                        self._store.tombstones.lift(memory.text, now)
                return restored
        return await self._say("undo_none", told)

    async def _say(self, key: str, told: Told, **values: object) -> str:
        """An answer that changes nothing."""
        receipt = self._receipt(told, lambda number, again: self._text(key, told, **values))
        return await self._store.memories.answer(receipt, self._clock.now())

    def _text(self, key: str, told: Told, **values: object) -> str:
        return self._words.messages.text(key, told.script, **values)

    def _receipt(self, told: Told, text: Callable[[int, bool], str], takes_back: str = "") -> Receipt:
        """The receipt; with `takes_back`, the key of what a person says for it, a button that takes the change back."""

        def buttons(number: int) -> tuple[Button, ...]:
            if not takes_back or not told.account:
                return ()
            label, says = self._text("button_undo", told), self._text(takes_back, told, id=number)
            return (Button(label, says, told.account),)

        return Receipt(
            told.event.id, told.chat.id, f"event:{told.event.id}:{told.place}", text, not told.rest, told.rest,
            told.hide, told.last, buttons,
        )  # fmt: skip
