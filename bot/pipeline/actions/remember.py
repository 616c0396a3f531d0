"""记住, 叫我 and 别叫我 carried out without a model: what was understood becomes one commit with its receipt."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from bot.core.events import Event
from bot.core.memories import (
    KeepQuota,
    Memory,
    MemoryCommand,
    MemoryQuestion,
    NameSlot,
    NewMemory,
    ParsedCommands,
    WishScope,
)
from bot.core.people import MemoryKind
from bot.core.ports import Clock
from bot.language.feedback import corrected, corrects
from bot.language.statements import is_sad
from bot.language.wishes.forget import matching, matter_in
from bot.language.wishes.keep import facts_in, says_nothing, tells_of_writer
from bot.language.wishes.reader import (
    BareObject,
    WishCue,
    answer_to,
    bare_object,
    bare_wish,
    has_wish_word,
    keeps_waiting,
    menu_command,
    object_wish,
    plan_named,
    reply_wish,
    takes_back,
    understand,
    wish_cue,
    wish_hint,
)
from bot.memory.lifecycle import with_day
from bot.memory.supersession import contradicted, merge_rule, tells_a_change, with_slot
from bot.pipeline.actions.forget import JUST_MS, YES_NO, ForgetActions
from bot.pipeline.actions.plans import KnownOfPerson, PromiseSettling
from bot.pipeline.actions.receipts import CommandContext, Receipts, brief
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.ingest import READ_CHARS
from bot.store.memories import ReceiptQuote
from bot.store.store import Store
from bot.text.length import clip

LONG_TEXT = 500
"""Characters from which on a message is understood in a thread."""

CORRECTS_MS = 120_000
"""So soon after something was kept a line corrects it."""

OLD_CHARS = 60
"""Characters of what was kept before in a receipt."""

LONG_LEAD = 12
"""Bytes of UTF-8 before a wish from which on a message does not begin with it: four Chinese characters, two English words."""

NOTHING_NAMED = MemoryCommand("forget", None)
"""A wish to forget that says not what."""


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text to keep, the lines that say it, and when they did, ms."""

    event_ids: tuple[int, ...]
    text: str
    at: int


class RememberActions:
    """Carries out memory commands, each once."""

    def __init__(self, store: Store, clock: Clock, current: Current, thread: TextThread) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._thread = thread
        self.receipts = Receipts(store, clock, current)
        self.settling = PromiseSettling(store, clock, current, self.receipts, thread)
        self._forget_actions = ForgetActions(store, clock, current, self.receipts, thread)

    async def understand(self, event: Event) -> ParsedCommands:
        """What a message asks of memory, and what is left of it to answer."""
        text, names = event.text[:READ_CHARS], self._current.settings.bot.names
        order = None if event.forwarded else menu_command(text)
        if order is not None and (order != NOTHING_NAMED or not await self._store.memories.is_reply(event.id)):
            return ParsedCommands((order,), "")
        this = NOTHING_NAMED if order is not None else reply_wish(text, names)
        if this is not None and not event.forwarded and await self._store.memories.is_reply(event.id):
            return ParsedCommands((replied(this),), "")
        unsaid = bare_wish(text, names) or plan_named(text) if not event.forwarded else None
        if unsaid is not None:
            return ParsedCommands((unsaid,), "")
        if event.forwarded:
            return understand(text, names)
        found = await self._read(text)
        # 把這個記下來，阿明欠我兩千三: what "this" is stands in the rest, and a model sees which of it.
        points = found.rest.strip() and all(each.verb == "remember" and not each.content for each in found.commands)
        # After something else: whose wish it is, the writer's or somebody's they tell of, and of what, is a judgement.
        told = self._current.value.judges and len(found.lead.encode()) >= LONG_LEAD
        return ParsedCommands((), text) if points or told else found

    async def _read(self, text: str) -> ParsedCommands:
        """What a text asks; a long one takes long to understand, and the other chats must not wait for it."""
        text, names = text[:READ_CHARS], self._current.settings.bot.names
        return await self._thread.run(understand, text, names) if len(text) > LONG_TEXT else understand(text, names)

    async def heard(
        self, event: Event, question: MemoryQuestion | None, known: Callable[[bool], Awaitable[KnownOfPerson]]
    ) -> tuple[ParsedCommands, bool]:
        """What a message asks, also as the answer to what its writer was asked back; and whether that stays asked.

        `known` reads what nuan knows of the writer, which is only asked for where it makes a wish of a few words; given
        True also what they forgot and can still bring back.
        """
        matter = await self._matter(event, known)
        if matter is not None:
            return ParsedCommands((matter,), ""), False
        understood = await self.understand(event)
        text, names = event.text[:READ_CHARS], self._current.settings.bot.names
        command = answer_to(question, text, names) if question is not None else None
        if question is not None and question.kind == "which" and command is not None and _counts(understood):
            return ParsedCommands((command,), ""), False  # 忘记第二条 is the second of those that were shown
        refuses = question is not None and any(takes_back(each, question) for each in understood.commands)
        if question is not None and (refuses or (command is not None and command.verb == "let_be")):
            scope: WishScope = "bare" if await self._asked_to_keep(question, event) else ""
            return ParsedCommands((MemoryCommand("let_be", None, scope=scope),), ""), False
        if command is not None and command.verb == "agree":
            command = await self._agreed(command, event)
            return ParsedCommands((command,) if command is not None else (), "" if command is not None else text), False
        if understood.commands or event.forwarded:
            return understood, False
        said = bare_object(text, names)
        if command is not None and command.scope == "unsure" and command.content:
            said = BareObject(command.content, False, command.forever)
        if said is not None:
            held = await known(said.forever)
            all_about = (
                None
                if said.soft
                else await self._forget_actions.about.wish(said.content, event, *held, forever=said.forever)
            )
            command = all_about or object_wish(said, *held)
        if command is None and corrects(text):
            reminders = await self._store.reminders.open(event.person_id or 0, event.chat_id)
            set_at = max((each.made_at for each in reminders), default=0)
            command = _correction(text, event, (await known(False))[0], set_at)
        if command is not None:
            return ParsedCommands(_each(command), ""), False
        return understood, question is not None and keeps_waiting(question, text, names)

    async def _asked_to_keep(self, question: MemoryQuestion, event: Event) -> bool:
        """Whether a question is what to keep, or whether to: after a no nothing stays that was not kept."""
        if question.kind != "cue":
            return question.kind == "what"
        number = question.memories[-1]
        said = await self._store.events.between(event.chat_id, number - 1, number)
        found = self.asked(said[0]) if said else None
        return found is not None and found.verb == "remember"

    async def _agreed(self, command: MemoryCommand, event: Event) -> MemoryCommand | None:
        """The wish that nuan asked about, after a yes; None where its message, or the line it means, is gone."""
        number = command.chosen[-1]
        said = await self._store.events.between(event.chat_id, number - 1, number)
        if not said:
            return None
        if len(command.chosen) > 1:
            wishes = await self._store.events.between(event.chat_id, command.chosen[0] - 1, command.chosen[0])
            content = await self._named(wishes[0].text) if wishes else None
            if content is None:
                return MemoryCommand("forget", said[0].text, scope="line", forever=command.forever, said_in=number)
            chosen, wish = command.chosen, command.chosen[0]
            return MemoryCommand("forget", content, None, command.forever, scope="line", chosen=chosen, said_in=wish)
        if command.scope == "about":
            named = bare_object(said[0].text, self._current.settings.bot.names)
            content = named.content if named is not None else said[0].text.strip()
            return MemoryCommand("forget", content, scope="matter", forever=command.forever, said_in=number)
        found = self.asked(said[0])
        if found is None:
            return None
        this: WishScope = "aside" if found.verb == "forget" and not found.about else ""
        return MemoryCommand(found.verb, found.about or None, scope=this, said_in=number)

    async def _named(self, text: str) -> str | None:
        """What a wish to forget names; None for one that points (那件事)."""
        told = (await self._read(text)).commands
        said = told[0] if told else bare_object(text, self._current.settings.bot.names)
        return said.content if said is not None else None

    def cue(self, event: Event) -> WishCue | None:
        """What a message may ask of memory that is not certain."""
        return None if event.forwarded else wish_cue(event.text[:READ_CHARS], self._current.settings.bot.names)

    def asked(self, event: Event) -> WishCue | None:
        """What the writer of a message is asked about, where no model can tell."""
        hinted = None if event.forwarded else wish_hint(event.text[:READ_CHARS], self._current.settings.bot.names)
        return self.cue(event) or hinted

    async def cues(self, event: Event, *, done: bool) -> list[str]:
        """What a message may ask of memory, for a model that answers it: what it seems to, a change of what is kept, or
        anything that its words are of. `done`: something was done that it says."""
        commands = (await self.understand(event)).commands
        if event.forwarded or (done and not commands):  # their name, or the end of a promise: no wish besides
            return []
        seems = self.cue(event)
        if seems is not None:
            return [seems.verb]
        if await self.changes(event):
            return ["update"]
        if among := (await self._read(event.text)).commands if not commands else ():
            return [among[0].verb]
        if not done and any(each.verb == "forget" for each in commands):
            return ["forget"]  # nothing was found that it names
        return ["any"] if has_wish_word(event.text, self._current.settings.bot.names) and not commands else []

    async def changes(self, event: Event) -> bool:
        """Whether a wish to keep something tells a change: what it changes only a model can tell."""
        kept = () if event.forwarded else (await self.understand(event)).commands
        return any(each.verb == "remember" and tells_a_change(each.content or "") for each in kept)

    async def ask_back(self, found: WishCue, told: CommandContext) -> str:
        """Whether a message asks for what it seems to: asked in one line."""
        about = clip(" ".join(found.about.split()), OLD_CHARS)
        key = f"cue_{found.verb}" if about else f"cue_bare_{found.verb}"
        if about or not found.verb.startswith("nick"):
            return await self.receipts.say(key, told, MemoryQuestion("cue", (told.event.id,)), YES_NO, text=about)
        return await self.receipts.say(key, told, MemoryQuestion("name") if found.verb == "nick_revoke" else None)

    async def _matter(self, event: Event, known: Callable[[bool], Awaitable[KnownOfPerson]]) -> MemoryCommand | None:
        """The wish to forget a matter its writer talked of, also said again; None where they said nothing of it."""
        found = None if event.forwarded else matter_in(event.text, self._current.settings.bot.names)
        if found is None or (found.scope == "just" and len(matching(found.content or "", (await known(False))[0])) > 1):
            return None  # of several memories it is asked which
        if any(each.scope == "all" for each in (await self.understand(event)).commands):
            return None
        chat = await self._store.people.chat(event.chat_id)
        again = await self._store.memories.forgot_since(event.person_id or 0, event.chat_id, event.at - JUST_MS)
        return found if again or await self._forget_actions.about.told_of(found, event, chat) else None

    async def carry_out(self, told: CommandContext) -> str:
        """Do it and return its receipt, which is stored with it; "" leaves it to the model."""
        command = told.command
        match command.verb:
            case "remember":
                return await self._remember(command, told, "knowledge", "")
            case "nick_set":
                return await self._remember(command, told, "identity", "address")
            case "nick_revoke":
                return await self._revoke(command, told)
            case "done" | "off":
                return await self.settling.carry_out(command, told)
            case _:
                return await self._forget_actions.carry_out(command, told)

    async def _remember(self, command: MemoryCommand, told: CommandContext, kind: MemoryKind, slot: NameSlot) -> str:
        lines = (told.event.id,) if command.said_in is None else (command.said_in, told.event.id)
        said = KeptText(lines, command.content or "", told.event.at)
        if command.scope == "bare":
            said = await self._just_before(told)
        elif command.content is None:
            said = await self._before(told, command.said_in)
        text = said.text
        if not text:
            return await self.receipts.say("remember_what", told, MemoryQuestion("what"))
        if not slot and says_nothing(text):
            return await self.receipts.say("remember_thin", told, MemoryQuestion("what"), text=text)
        now = self._clock.now()
        memory = NewMemory(
            owner_id=told.person_id,
            chat_id=told.chat.id,
            visibility="private" if told.chat.kind == "dm" else "chat",
            kind=kind,
            text=text,
            observed_at=said.at,
            source="command",
            event_ids=said.event_ids,
            slot=slot,
            asked=True,
        )
        if not slot:
            memory = with_day(memory, said.at, self._current.words.tz(await self._zone(told)))
        older = await self._replaced(command, told, memory)
        if older is None:
            memory = with_slot(memory)
        else:
            memory = replace(
                memory,
                replaces=(older.id,),
                slot=older.slot,
                subject=older.subject,
                lasting=older.lasting,
                kind=memory.kind if memory.dated else older.kind,
            )
        one = "remembered_one" if (told.several or command.scope == "bare") and "\n" not in text else "remembered"
        if not slot and is_sad(text):
            one = "remembered_sad"
        keys = {
            "": (one, "remembered_again"),
            "address": ("nick_set", "nick_set"),
            "no_address": ("nick_revoked", "nick_revoked"),
        }[slot]

        quote = (
            self.receipts.text("told_quote", told, text=brief(text))
            if keys[0] in ("remembered", "remembered_sad")
            else ""
        )
        # What waits for a reply, or for the next receipt, is stored as it will be said.
        quotes = (ReceiptQuote(quote),) if quote and told.last and not told.rest else ()

        def receipt(number: int, again: bool) -> str:
            if older is None or again:
                own = self.receipts.text(keys[again], told, id=number, nick=text)
                return own if again else own + quote + told.offer
            values = corrected(older.text, told.event.text) if command.number is not None else None
            key, new, old = ("memory_replaced", text, older.text) if values is None else ("memory_changed", *values[1:])
            old = clip(" ".join(old.split()), OLD_CHARS)
            return self.receipts.text(key, told, id=number, nick=new, old_id=older.id, old=old)

        rewrite = self._current.settings.memory.rewrite and not slot
        rule = merge_rule({told.person_id: told.event.name})
        quota = await self._quota(told)
        if over := await self._store.memories.passes(memory, quota, now):
            return await self.receipts.say(f"remember_{over}", told, n=quota.most)
        self._store.tombstones.remove_tombstone(text, now)
        return await self._store.memories.remember(
            memory,
            self.receipts.receipt(told, receipt, "say_forget", quotes=quotes),
            now,
            rule,
            rewrite=rewrite,
            quota=quota,
            refused=lambda over: self.receipts.text(f"remember_{over}", told, n=quota.most),
        )

    async def _replaced(self, command: MemoryCommand, told: CommandContext, new: NewMemory) -> Memory | None:
        """What a statement takes the place of: what is corrected, or what they asked to keep and it contradicts."""
        owned = await self._store.memories.owned(told.person_id, told.audience)
        if command.number is None:
            return await asyncio.to_thread(contradicted, new, owned, told.event.name)  # long texts take a while
        return next((memory for memory in owned if memory.id == command.number and memory.former_at is None), None)

    async def _quota(self, told: CommandContext) -> KeepQuota:
        """How much they may still ask to keep; the owner's own installation holds what the owner wants."""
        rules, person = self._current.settings.memory, await self._store.people.person(told.person_id)
        return KeepQuota(None, None) if person.is_owner else KeepQuota(rules.keep_minute, rules.keep_most)

    async def _zone(self, told: CommandContext) -> str:
        """The zone in which a day that they name is meant."""
        return self._current.words.zone_of(told.chat, await self._store.people.person(told.person_id))

    async def _before(self, told: CommandContext, said_in: int | None) -> KeptText:
        """What 把这个记下来 (`said_in` that line) points at, with the lines it came from: the line replied to, else what
        they said before."""
        lines, text, at = await self._store.memories.replied_lines(told.event.id)
        if text and not says_nothing(text):
            return KeptText((*lines, told.event.id), text, at)
        for event in reversed(await self.mine(told)):
            if event.id == said_in or bare_wish(event.text, self._current.settings.bot.names):
                continue
            understood = await self._read(event.text)
            kept = next((each.content for each in understood.commands if each.verb == "remember" and each.content), "")
            text = kept or event.text.strip()
            if (kept or not understood.commands) and text and not says_nothing(text):
                return KeptText((event.id, told.event.id), text, event.at)
        return KeptText((told.event.id,), "", told.event.at)

    async def _just_before(self, told: CommandContext) -> KeptText:
        """What a bare 记住 means: the line replied to, or the last one if it told something of its writer just now."""
        lines, text, at = await self._store.memories.replied_lines(told.event.id)
        if text and not says_nothing(text):
            return KeptText((*lines, told.event.id), text, at)
        last = next(reversed(await self.mine(told)), None)
        if last is None or last.at < told.event.at - JUST_MS or (await self._read(last.text)).commands:
            return KeptText((told.event.id,), "", told.event.at)
        text = last.text[:READ_CHARS].strip()
        return (
            KeptText((last.id, told.event.id), text, last.at)
            if tells_of_writer(text)
            else KeptText((told.event.id,), "", last.at)
        )

    async def mine(self, told: CommandContext) -> tuple[Event, ...]:
        """What the same person said there before, in order."""
        return await self._forget_actions.mine(told)

    async def _revoke(self, command: MemoryCommand, told: CommandContext) -> str:
        """别叫我X: what called them so is forgotten, and the wish itself is kept."""
        name = command.content or ""
        if not name:
            known = await self._store.memories.owned(told.person_id, told.audience)
            name = next((memory.text for memory in known if memory.slot == "address"), "")
        if not name:
            return await self.receipts.say("nick_what", told, MemoryQuestion("name"))
        return await self._remember(MemoryCommand("nick_revoke", name), told, "identity", "no_address")


def _correction(text: str, event: Event, owned: Iterable[Memory], since: int) -> MemoryCommand | None:
    """The wish to change what the same person had kept there just before, and not before `since` (ms), where it is clear
    what changes."""
    late = max(event.at - CORRECTS_MS, since)
    just = [
        each
        for each in owned
        if each.asked
        and each.chat_id == event.chat_id
        and late <= each.created_at
        and each.former_at is None
        and not each.is_name
    ]
    last = max(just, key=lambda each: each.id, default=None)
    changed = corrected(last.text, text) if last is not None else None
    return MemoryCommand("remember", changed[0], last.id) if last is not None and changed is not None else None


def replied(command: MemoryCommand) -> MemoryCommand:
    """The same wish, about what the message replies to."""
    return MemoryCommand("forget", None, forever=command.forever, replied=True)


def _counts(understood: ParsedCommands) -> bool:
    """Whether a message only names places in a list to be forgotten, or all of it."""
    return all(
        each.scope == "all" or (each.scope == "unsure" and (each.number or each.chosen)) for each in understood.commands
    )


def _each(command: MemoryCommand) -> tuple[MemoryCommand, ...]:
    """An answer that tells several facts is a wish for each."""
    if command.verb != "remember" or not command.content:
        return (command,)
    return tuple(replace(command, content=fact) for fact in facts_in(command.content))
