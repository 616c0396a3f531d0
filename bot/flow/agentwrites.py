"""What another agent may change in a person's memory: keep one fact, forget one, of which that person is told.

The person, the chat and so the audience come from the seat, never from what the agent says.
"""

from collections.abc import Callable

from bot.config.settings import Settings
from bot.flow.seats import sit
from bot.flow.words import Words
from bot.memory.facts import thin
from bot.memory.match import match, perhaps
from bot.memory.own_words import own
from bot.memory.rereading import of_its_day
from bot.memory.shown import shown
from bot.memory.wish_reader import understand
from bot.ports import Clock
from bot.store.forgetting import Forgetting
from bot.store.store import Store
from bot.text.catalogue import Catalogue
from bot.text.clean import as_data, clean
from bot.text.clip import clip
from bot.text.fold import fold
from bot.types.agent import AgentReply, AgentWish
from bot.types.duration import DAY_MS
from bot.types.memory import Memory, NewMemory
from bot.types.outgoing import Draft
from bot.types.people import Audience, Chat, Person

SHOWN, SHOWN_CHARS = 8, 120
"""How many memories a list of what fits names, and characters of each."""


class AgentWrites:
    """Carries out what agents ask to be changed, over a store that may write."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, words: Words, texts: Catalogue) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._words = words
        self._texts = texts

    async def carry_out(self, wish: AgentWish) -> AgentReply:
        """Do it and say so, or say why not; StoreError when it cannot be stored."""
        try:
            sat = await sit(self._store, wish.seat)
        except LookupError:
            return AgentReply(self._texts.text("seat_gone", self._words.language), wrong=True)
        return await (self._remember if wish.verb == "remember" else self._forget)(wish, sat.chat, sat.person)

    async def _remember(self, wish: AgentWish, chat: Chat, person: Person) -> AgentReply:
        text, now = " ".join(clean(wish.text).split()), self._clock.now()
        refuse, opening = self._refusing(person), self._words.opening(self._words.script(person))
        if not text:
            return AgentReply(opening("remember_empty"), wrong=True)
        if thin(text):
            return refuse("thin")
        names = self._settings.bot.names
        if wish.words and not _asked_for(text, wish.words, names):
            return refuse("not_their_words")
        heard = await self._store.agents.said(person.id, chat.id, now) if wish.words else ()
        asked = any(fold(wish.words) in fold(line) and _asked_for(text, line, names) for line in heard)
        if self._store.tombstones.covers(text) and not asked:
            return refuse("buried")
        most = self._settings.mcp.remember_per_day
        if await self._store.agents.kept(person.id, now - DAY_MS) >= most:
            return refuse("kept_enough", most=most)
        self._store.tombstones.lift(text, now)
        memory = NewMemory(
            owner_id=person.id, chat_id=chat.id, visibility="private" if chat.kind == "dm" else "chat",
            kind=wish.kind, text=text,
            observed_at=now, source="mcp", event_ids=(), asked=asked, agent=wish.agent,
        )  # fmt: skip
        memory = of_its_day(memory, now, self._words.tz(self._words.zone_of(chat, person)))
        stored = await self._store.agents.remember(memory, now)
        again = opening("remember_known", problem=stored.id)
        told = [again if stored.again else opening("remember_done", id=stored.id)]
        if wish.words and not asked:
            told.append(self._texts.text("not_heard", self._words.script(person)))
        return AgentReply("\n".join(told), ids=(stored.id,))

    async def _forget(self, wish: AgentWish, chat: Chat, person: Person) -> AgentReply:
        refuse, now = self._refusing(person), self._clock.now()
        owned = await self._store.memories.owned(person.id, _audience(chat, person))
        if wish.number is not None:
            found = tuple(memory for memory in owned if memory.id == wish.number)
        else:
            found = match(wish.text, owned)
            if not found and (asked := perhaps(wish.text, owned)):
                return self._which(asked, person)
        if not found:
            return AgentReply(self._words.opening(self._words.script(person))("forget_none"), wrong=True)
        if len(found) > 1:
            return self._which(found, person)
        most = self._settings.mcp.forget_per_day
        if await self._store.agents.forgotten(person.id, now - DAY_MS) >= most:
            return refuse("forgot_enough", most=most)
        (memory,), days = found, self._settings.memory.undo_days
        self._store.tombstones.bury_all([(memory.id, text) for text in memory.wordings], now)
        forgetting = Forgetting(found, person.id, now + days * DAY_MS if days else None)
        key, script = "forgot" if days else "forgot_forever", self._words.script(person)
        said = self._words.messages.text(f"agent_{key}", script, agent=wish.agent, id=memory.id, days=days)
        await self._store.agents.forget(forgetting, chat.id, Draft(said, "notice"), now)
        done = self._texts.text(key, script, id=memory.id, days=days)
        return AgentReply(done, ids=(memory.id,))

    def _which(self, found: tuple[Memory, ...], person: Person) -> AgentReply:
        script = self._words.script(person)

        def text(key: str, **values: object) -> str:
            return self._texts.text(key, script, **values)

        def line(memory: Memory) -> str:
            said = shown(memory, lambda key, **values: self._words.messages.text(key, script, **values))
            return text("which_line", id=memory.id, text=as_data(clip(said, SHOWN_CHARS)))

        lines = [text("which"), *(line(memory) for memory in found[:SHOWN])]
        if len(found) > SHOWN:
            lines.append(text("which_more", n=len(found) - SHOWN))
        return AgentReply("\n".join(lines), wrong=True, ids=tuple(memory.id for memory in found[:SHOWN]))

    def _refusing(self, person: Person) -> Callable[..., AgentReply]:
        script = self._words.script(person)
        return lambda key, **values: AgentReply(self._texts.text(key, script, **values), wrong=True)


def _asked_for(text: str, words: str, names: tuple[str, ...]) -> bool:
    """Whether these words ask to keep that text, told of their writer: nothing quoted, reported, asked or denied."""
    wishes = (each.content for each in understand(words, names).commands if each.verb == "remember" and each.content)
    return any(fold(text) in fold(content) for content in wishes) and own(0, words, names).carries(text)


def _audience(chat: Chat, person: Person) -> Audience:
    """What that person said themselves and this chat may hear: others' public memories are not theirs to forget."""
    return Audience(chat.id, "dm" if chat.kind == "dm" else "group", (person.id,))
