"""Forgetting what was talked of: what there is about a name is listed and asked about once, then all of it goes.

What a message asks for is read elsewhere; only what belongs to its writer is found and taken.
"""

from dataclasses import replace

from bot.config.settings import Settings
from bot.flow.aside import Aside
from bot.flow.confirming import Confirming, Told, brief
from bot.flow.planned import Planned, meant
from bot.memory.match import core_of, holds, match
from bot.memory.matter import Line, telling, tells_of
from bot.memory.shown import shown
from bot.memory.wish_reader import understand
from bot.ports import Clock
from bot.store.forgetting import Forgetting
from bot.store.keeping import Quote
from bot.store.store import Store
from bot.text.fold import fold
from bot.text.signs import marked
from bot.types.duration import DAY_MS, HOUR_MS
from bot.types.event import Event
from bot.types.memory import Memory, MemoryCommand, Question, Visibility
from bot.types.people import Chat

SHOWN = 8
"""How many memories, promises and reminders the list names."""

JUST_MS = HOUR_MS
"""What 那条 and 那件事 point at was told within an hour; after that it is asked back."""

YES_NO = ("button_yes", "button_no")


class About:
    """Finds all that is about a name or a matter, and forgets it."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, confirming: Confirming, aside: Aside
    ) -> None:  # fmt: skip
        self._store = store
        self._clock = clock
        self._settings = settings
        self._confirming = confirming
        self._aside = aside

    async def told_of(self, command: MemoryCommand, event: Event, chat: Chat) -> tuple[Line, ...]:
        """What the writer of a message said before of the matter that a wish of theirs names, oldest first."""
        said = await self._store.unsaying.told(event.person_id or 0, chat)
        lines = [Line(*row) for row in said if row[0] < event.id]
        if command.scope == "line":
            return tuple(line for line in lines if line.event_id == command.said_in)
        return await self._aside.run(telling, command.content or "", command.scope, lines, event.at)

    async def wish(
        self, content: str, event: Event, known: tuple[Memory, ...], plans: tuple[str, ...], forever: bool
    ) -> MemoryCommand | None:
        """The wish to forget all about a name, where more than memories tell of it; None leaves it to those alone."""
        found, core = match(content, known), core_of(content)
        if len(core) < 2:
            return None
        chat = await self._store.people.chat(event.chat_id)
        lines = await self._store.unsaying.told(event.person_id or 0, chat)
        kept = [fold(text) for text in (*(each for memory in found for each in memory.wordings), *plans)]
        naming = (text for number, _, text in lines if number < event.id and holds(fold(text), core))
        talked = any(
            not any(each in fold(text) or fold(text) in each for each in kept) and not understand(text).commands
            for text in naming
        )
        planned = sum(holds(fold(plan), core) for plan in plans)
        if talked or (planned and found) or planned > 1:
            return MemoryCommand("forget", content, forever=forever, scope="about")
        return None

    async def ask(self, command: MemoryCommand, told: Told) -> str:
        """List what there is about the name, and ask whether all of it is to go."""
        content = command.content or ""
        memories, plans = await self._found(content, told)
        lines = await self.told_of(replace(command, scope="matter"), told.event, told.chat)
        text = self._confirming.text
        listed = [
            *(f"{marked('memory', each.id)} {brief(shown(each, lambda key, **v: text(key, told, **v)))}"
              for each in memories),
            *(f"{marked(each.kind, each.number)} {brief(each.told.text)}" for each in plans),
        ]  # fmt: skip
        if len(listed) > SHOWN:
            listed = [*listed[:SHOWN], text("forgot_more", told, n=len(listed) - SHOWN)]
        if lines:
            listed.append(text("about_lines", told, n=len(lines)))
        question = Question("about", (told.event.id,), command.forever)
        return await self._confirming.say(
            "forget_about", told, question, YES_NO, name=brief(content), list="\n".join(listed)
        )

    async def ask_line(self, line: Event, command: MemoryCommand, told: Told) -> str:
        """Quote a line that 那件事 may mean, and ask whether it is to go."""
        question = Question("about", (told.event.id, line.id), command.forever)
        return await self._confirming.say("forget_line", told, question, YES_NO, text=brief(line.text))

    async def forget(self, command: MemoryCommand, told: Told) -> str:
        """All that was said of it goes, these lines for good, with the memories, promises and reminders of it."""
        now, days, content = self._clock.now(), self._settings.memory.undo_days, command.content or ""
        lines = await self.told_of(command, told.event, told.chat)
        every = command.scope == "matter"
        found, plans = await self._found(content, told, command.forever) if command.scope != "line" else ((), ())
        if not every:
            plans, found = (), found if len(found) == 1 else ()
        # What says the very name of it goes wherever it stands: in a promise, a reminder, a line of nuan's.
        seen: Visibility = "chat" if told.chat.kind == "group" else "private"
        named = Memory(0, told.person_id, told.chat.id, seen, "knowledge", content, now, now, "command")
        all_of_it = (*found, *(each.told for each in plans), *((named,) if every or not found else ()))
        undo = bool(days) and bool(found) and not command.forever
        numbers = self._confirming.numbers(found, told)
        text = self._confirming.text
        this, name = text("matter_this", told), text("matter_named", told, name=brief(content))
        name = this if command.forever else name  # not even the message on its way out holds the words
        counts = {
            "memories": len(found),
            "promises": sum(each.kind == "promise" for each in plans),
            "reminders": sum(each.kind == "reminder" for each in plans),
            "lines": len([each for each in lines if not every or each.event_id != command.said_in]),
        }
        gone = text("mem_why_joint", told).join(text(f"gone_{kind}", told, n=n) for kind, n in counts.items() if n)

        def receipt(number: int, again: bool) -> str:
            key = "forgot_matter_undo" if undo else "forgot_matter" if gone else "forgot_none"
            return text(key, told, what=name, gone=gone, list=numbers, days=days)

        says = self._confirming.receipt(told, receipt, "button_undo" if undo else "", quotes=(Quote(name, this),))
        told_lines = tuple((line.event_id, line.text) for line in lines)
        forgetting = Forgetting(all_of_it, told.person_id, now + days * DAY_MS if undo else None, lines=told_lines)
        return await self._store.unsaying.matter(forgetting, says, now)

    async def _found(
        self, content: str, told: Told, forgotten: bool = False
    ) -> tuple[tuple[Memory, ...], tuple[Planned, ...]]:
        """The memories, promises and reminders of that person that tell of it."""
        owned = await self._store.memories.owned(told.person_id, told.audience, forgotten=forgotten)
        same = match(content, owned)
        memories = tuple(memory for memory in owned if memory in same or tells_of(content, _whole(memory)))
        return memories, await meant(self._store, told.person_id, told.audience, content)


def _whole(memory: Memory) -> str:
    """Whom it is about and what it says, in each of its wordings."""
    return "\n".join((memory.subject, *memory.wordings))
