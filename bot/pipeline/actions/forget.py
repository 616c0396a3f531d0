"""忘记, 别记这个 and 撤销, also of a whole matter, carried out without a model; in doubt it asks back."""

from dataclasses import replace

from bot.core.clock import DAY_MS, HOUR_MS
from bot.core.events import Event
from bot.core.memories import Memory, MemoryCommand, MemoryQuestion, NumberedThing, Visibility, wordings
from bot.core.people import Chat
from bot.core.ports import Clock
from bot.language.wishes.forget import (
    OwnLine,
    core_of,
    holds,
    is_about,
    lines_about,
    matching,
    names_each,
    perhaps_matching,
)
from bot.language.wishes.keep import says_nothing
from bot.language.wishes.reader import bare_wish, menu_command, to_be_forgotten, understand
from bot.pipeline.actions.plans import PlanKind, PlannedItem, open_plans, plans_meant
from bot.pipeline.actions.receipts import NAMED, CommandContext, Receipts, brief, memory_line_for_people
from bot.pipeline.concurrency import TextThread
from bot.pipeline.configuration import Current
from bot.pipeline.ingest import READ_CHARS
from bot.pipeline.reminder_texts import rule_label, when_label
from bot.store.forget import LastPlan
from bot.store.memories import ReceiptQuote
from bot.store.removal import Forgetting
from bot.store.store import Store
from bot.text.codes import number_mark
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import shares_words

MATTERS_SHOWN = 8
"""How many memories, promises and reminders the list names."""

JUST_MS = HOUR_MS
"""What 那条 and 那件事 point at was told within an hour; after that it is asked back."""

YES_NO = ("button_yes", "button_no")
"""The buttons of a question that is answered by yes or no."""

LINE_CHARS = 120
"""Characters of one of them in such a list."""

LINES_SHOWN = 3
"""Lines of talks that are quoted, the newest, where more is to go than they."""

CANDIDATES_SHOWN = 5
"""How many candidates a question back names."""

ASIDE_CHARS, ASIDE_LATIN = 6, 16
"""So much is quoted in a group of what is to be kept nowhere."""

_GONE: dict[PlanKind, str] = {"promise": "forgot_promise", "reminder": "forgot_reminder"}


class MatterForgetting:
    """Finds all that is about a name or a matter, and forgets it."""

    def __init__(self, store: Store, clock: Clock, current: Current, receipts: Receipts, thread: TextThread) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._receipts = receipts
        self._thread = thread

    async def told_of(self, command: MemoryCommand, event: Event, chat: Chat) -> tuple[OwnLine, ...]:
        """What the writer of a message said before of the matter that a wish of theirs names, oldest first; not the
        same wish, which tells no more."""
        said = await self._store.memories.said_by(event.person_id or 0, chat)
        lines = [OwnLine(*row) for row in said if row[0] < event.id]
        if command.scope == "line":
            return tuple(line for line in lines if line.event_id in (command.chosen or (command.said_in,)))
        content, names = command.content or "", self._current.settings.bot.names
        found = await self._thread.run(lines_about, content, command.scope, lines, event.at)
        asked = ((line, to_be_forgotten(line.text, names)) for line in found)
        return tuple(line for line, wished in asked if not wished or fold(wished) != fold(content))

    async def wish(
        self, content: str, event: Event, known: tuple[Memory, ...], plans: tuple[str, ...], forever: bool
    ) -> MemoryCommand | None:
        """The wish to forget all about a name, where more than memories tell of it; None leaves it to those alone."""
        found, core = matching(content, known), core_of(content)
        if len(core) < 2:
            return None
        chat = await self._store.people.chat(event.chat_id)
        lines = await self._store.memories.said_by(event.person_id or 0, chat)
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

    async def ask(self, command: MemoryCommand, told: CommandContext) -> str:
        """List what there is about the name, and ask whether all of it is to go."""
        content = command.content or ""
        memories, plans = await self._found(content, told)
        lines = await self.told_of(replace(command, scope="matter"), told.event, told.chat)
        text = self._receipts.text
        listed = [
            *(
                f"{number_mark('memory', each.id)} "
                f"{brief(memory_line_for_people(each, lambda key, **v: text(key, told, **v)))}"
                for each in memories
            ),
            *(f"{number_mark(each.kind, each.number)} {brief(each.told.text)}" for each in plans),
        ]
        if len(listed) > MATTERS_SHOWN:
            listed = [*listed[:MATTERS_SHOWN], text("forgot_more", told, n=len(listed) - MATTERS_SHOWN)]
        if lines:
            listed.append(text("about_lines", told, n=len(lines)))
            listed += [text("quote", told, text=brief(line.text)) for line in lines[-LINES_SHOWN:]]
        question = MemoryQuestion("about", (told.event.id,), command.forever)
        return await self._receipts.say(
            "forget_about", told, question, YES_NO, name=brief(content), list="\n".join(listed)
        )

    async def told_only(self, command: MemoryCommand, told: CommandContext) -> str:
        """Forget what only lines of the talk tell of: one that has every word of it at once, else after a yes; "" where
        none does."""
        content = command.content or ""
        every = await self.told_of(replace(command, scope="matter"), told.event, told.chat)
        lines = [line for line in every if line.event_id != command.said_in and is_about(content, line.text)]
        if not lines:
            return ""
        numbers = tuple(line.event_id for line in lines)
        if len(lines) == 1 and await self._thread.run(names_each, content, lines[0].text):
            return await self.forget(replace(command, scope="line", chosen=numbers), told)
        text = self._receipts.text
        listed = [text("quote", told, text=brief(line.text)) for line in lines[-MATTERS_SHOWN:]]
        if len(lines) > MATTERS_SHOWN:
            listed.append(text("forgot_more", told, n=len(lines) - MATTERS_SHOWN))
        question = MemoryQuestion("about", (told.event.id, *numbers), command.forever)
        return await self._receipts.say(
            "forget_lines", replace(told, hide=False), question, YES_NO, name=brief(content), list="\n".join(listed)
        )

    async def ask_line(self, line: Event, command: MemoryCommand, told: CommandContext) -> str:
        """Quote a line that 那件事 may mean, and ask whether it is to go."""
        question = MemoryQuestion("about", (told.event.id, line.id), command.forever)
        return await self._receipts.say("forget_line", told, question, YES_NO, text=brief(line.text))

    async def forget(self, command: MemoryCommand, told: CommandContext) -> str:
        """All that was said of it goes, these lines for good, with the memories, promises and reminders of it."""
        now, days, content = self._clock.now(), self._current.settings.memory.undo_days, command.content or ""
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
        numbers = self._receipts.numbers(found, told)
        text = self._receipts.text
        this, name = text("matter_this", told), text("matter_named", told, name=brief(content))
        name = this if command.forever else name  # not even the message on its way out holds the words
        counts = {
            "memories": len(found),
            "promises": sum(each.kind == "promise" for each in plans),
            "reminders": sum(each.kind == "reminder" for each in plans),
            "lines": len([each for each in lines if not (every or command.chosen) or each.event_id != command.said_in]),
        }
        gone = text("mem_why_joint", told).join(text(f"gone_{kind}", told, n=n) for kind, n in counts.items() if n)

        def receipt(number: int, again: bool) -> str:
            key = "forgot_matter_undo" if undo else "forgot_matter" if gone else "forgot_none"
            return text(key, told, what=name, gone=gone, list=numbers, days=days)

        says = self._receipts.receipt(told, receipt, "button_undo" if undo else "", quotes=(ReceiptQuote(name, this),))
        told_lines = tuple((line.event_id, line.text) for line in lines)
        until = now + days * DAY_MS if undo else None if gone else now  # what found nothing is no last one for undo
        forgetting = Forgetting(all_of_it, told.person_id, until, lines=told_lines)
        return await self._store.memories.forget(forgetting, says, now)

    async def _found(
        self, content: str, told: CommandContext, forgotten: bool = False
    ) -> tuple[tuple[Memory, ...], tuple[PlannedItem, ...]]:
        """The memories, promises and reminders of that person that tell of it."""
        owned = await self._store.memories.owned(told.person_id, told.audience, forgotten=forgotten)
        same = matching(content, owned)
        memories = tuple(memory for memory in owned if memory in same or is_about(content, _whole(memory)))
        return memories, await plans_meant(self._store, told.person_id, told.audience, content)


def _whole(memory: Memory) -> str:
    """Whom it is about and what it says, in each of its wordings."""
    return "\n".join((memory.subject, *memory.wordings))


class ForgetActions:
    """Takes things out of memory, each once."""

    def __init__(self, store: Store, clock: Clock, current: Current, receipts: Receipts, thread: TextThread) -> None:
        self._store = store
        self._clock = clock
        self._current = current
        self._receipts = receipts
        self.about = MatterForgetting(store, clock, current, receipts, thread)

    async def carry_out(self, command: MemoryCommand, told: CommandContext) -> str:
        """Do it and return its receipt, which is stored with it; "" leaves it to the model."""
        if await self._store.memories.is_done(self._receipts.key(told)):
            return await self._receipts.say("undo_none", told)  # the receipt of the first time is said
        if command.verb == "let_be":
            return await self._receipts.say("let_be" if not command.scope else "let_be_unkept", told)
        if command.verb == "undo":
            return await self._undo(command, told)
        if command.scope == "about":
            return await self.about.ask(command, told)
        if command.scope in ("just", "line", "matter"):
            return await self.about.forget(command, told)
        if command.scope == "no_more":
            since = self._clock.now() - JUST_MS
            just = await self._store.memories.kept_last(told.person_id, told.audience, since)
            replied, _, _ = await self._store.memories.replied_lines(told.event.id)
            if just and not replied and not told.before:
                return await self._disable(just, told.person_id, command.forever, told)
        if command.scope in ("aside", "ahead", "no_more"):
            return await self._set_aside(command, told)
        if command.replied:
            return await self._unsay(command, told)
        return await self._forget(command, told)

    async def mine(self, told: CommandContext) -> tuple[Event, ...]:
        """What the same person said there before, in order."""
        return tuple(event for event in await self._lines(told) if event.person_id == told.person_id)

    async def _lines(self, told: CommandContext) -> tuple[Event, ...]:
        """What people said there before, in order."""
        events = await self._store.events.recent(
            told.chat.id, 0, 0, self._current.settings.context.bus_max, waiting=True
        )
        return tuple(event for event in events if event.id < told.event.id and event.kind == "message")

    async def _forget(self, command: MemoryCommand, told: CommandContext) -> str:
        if command.scope == "bare":
            return await self._receipts.say("forget_what", told, MemoryQuestion("drop", forever=command.forever))
        owned = await self._store.memories.owned(told.person_id, told.audience, forgotten=command.forever)
        if command.of != "memory":
            every = await open_plans(self._store, told.person_id, told.audience)
            plans = tuple(each for each in every if (each.kind, each.number) == (command.of, command.number))
            return await (self._unplan(plans[0], told) if plans else self._receipts.say("forgot_none", told))
        found, sure = await self._meant(command, told, owned)
        if command.scope in ("", "thing") and command.content is None and command.number is None and not command.chosen:
            line = await self._talked_of(told, max((each.created_at for each in found), default=0) if sure else 0)
            if line is not None:
                return await self.about.ask_line(line, command, told)
            sure = sure and not command.scope
        if not found:
            plans = await self._planned(command, told)
            if len(plans) > 1:
                return await self.about.ask(command, replace(told, hide=False))
            if plans:
                return await self._unplan(plans[0], told)
            matter = replace(command, scope="matter") if command.content and not command.scope else None
            if matter is not None and (says := await self.about.told_only(matter, told)):
                return says
            if command.said_in is not None and command.content:  # nothing is kept of it, so the line itself is meant
                near = tuple(memory for memory in owned if shares_words(memory.text, command.content))
                return await (self._which(near, command, told) if near else self._set_aside(command, told))
            if asked := perhaps_matching(command.content or "", owned):
                return await self._which(asked, command, told)
            if told.judged and matter is not None:
                gone = await self._store.memories.owned(told.person_id, told.audience, forgotten=True)
                if not matching(command.content or "", gone):
                    return ""
            return await self._receipts.say("forgot_none", told)
        if (len(found) > 1 and not sure) or command.scope == "unsure":
            return await self._which(found, command, told)
        if not sure and command.content is None and command.number is None:
            return await self._which(found, command, told)
        missing = tuple(sorted(set(command.chosen) - {memory.id for memory in found}))
        return await self._disable(found, told.person_id, command.forever, told, missing=missing)

    async def _talked_of(self, told: CommandContext, after: int) -> Event | None:
        """The last thing that they told of there just now, where that was after this moment, ms, and no wish."""
        last = next(reversed(await self.mine(told)), None)
        if last is None or last.at < max(after, told.event.at - JUST_MS) or says_nothing(last.text):
            return None
        text, names = last.text[:READ_CHARS], self._current.settings.bot.names
        is_wish = menu_command(text) or bare_wish(text, names) or understand(text, names).commands
        return None if is_wish else last

    async def _said(self, command: MemoryCommand, told: CommandContext) -> tuple[int, ...]:
        """Their lines that say what a wish to keep nothing of it names."""
        if not command.content:
            return ()
        said = await self._store.memories.said_by(told.person_id, told.chat)
        return tuple(number for number, _, text in said if number < told.event.id and is_about(command.content, text))

    async def _planned(self, command: MemoryCommand, told: CommandContext) -> tuple[PlannedItem, ...]:
        """The promises and reminders of that person that a wish is about, where it is about none of their memories."""
        if not command.content or command.scope:
            return ()
        return await plans_meant(self._store, told.person_id, told.audience, command.content)

    async def _unplan(self, one: PlannedItem, told: CommandContext) -> str:
        """It goes with all that says the same, for good: a promise has no days for undo."""
        now = self._clock.now()
        quote = self._receipts.text("quote", told, text=brief(one.told.text))
        receipt = self._receipts.receipt(
            told,
            lambda number, again: self._receipts.text(_GONE[one.kind], told, id=one.number, quote=quote),
            quotes=(ReceiptQuote(quote),),
        )
        forgetting = Forgetting((one.told,), told.person_id, now)
        return await self._store.memories.forget(forgetting, receipt, now)

    async def _meant(
        self, command: MemoryCommand, told: CommandContext, owned: tuple[Memory, ...]
    ) -> tuple[tuple[Memory, ...], bool]:
        """The memories that a wish is about, and whether that is beyond doubt."""
        if command.chosen:
            return tuple(memory for memory in owned if memory.id in command.chosen), True
        if command.number is not None:
            return tuple(memory for memory in owned if memory.id == command.number), True
        if command.content:
            return matching(command.content, owned), False
        if command.scope in ("all", "unsure"):
            return owned, False
        just = await self._store.memories.kept_last(told.person_id, told.audience, self._clock.now() - JUST_MS)
        return (just, len(just) == 1) if just else (owned, False)

    async def _which(self, found: tuple[Memory, ...], command: MemoryCommand, told: CommandContext) -> str:
        """Which of them: shown with numbers to choose from, and asked."""
        offered = found if command.scope == "all" else found[:CANDIDATES_SHOWN]
        lines = [
            f"{place}. {number_mark('memory', memory.id)} {self._shown(memory, told)}"
            for place, memory in enumerate(found[:CANDIDATES_SHOWN], 1)
        ]
        if len(offered) > CANDIDATES_SHOWN:
            lines.append(self._receipts.text("forgot_more", told, n=len(offered) - CANDIDATES_SHOWN))
        question = MemoryQuestion("which", tuple(memory.id for memory in offered), command.forever)
        every = command.scope == "all" and len(offered) > 1
        key = "forgot_all" if every else "forgot_which" if len(offered) > 1 else "forgot_sure"
        choices = ("button_all", "button_no") if every else ()
        return await self._receipts.say(key, told, question, choices, n=len(offered), list="\n".join(lines))

    def _shown(self, memory: Memory, told: CommandContext) -> str:
        text = clip(
            memory_line_for_people(memory, lambda key, **values: self._receipts.text(key, told, **values)), LINE_CHARS
        )
        if not memory.original:
            return text
        original = clip(" ".join(memory.original.split()), LINE_CHARS)
        return self._receipts.text("with_original", told, text=text, original=original)

    async def _disable(
        self,
        found: tuple[Memory, ...],
        owner_id: int,
        forever: bool,
        told: CommandContext,
        unwished: bool = False,
        missing: tuple[int, ...] = (),
    ) -> str:
        """Forget these memories of that person; they alone can take it back. `missing` are numbers without one."""
        now = self._clock.now()
        days = self._current.settings.memory.undo_days
        forever = forever or not days
        forgetting = Forgetting(found, owner_id, None if forever else now + days * DAY_MS, unwished)
        # For good is for good: not even the message on its way out holds the words.
        numbers, quotes = (self._receipts.numbers(found, told), ()) if forever else self._receipts.quoting(found, told)
        beside = await self._store.memories.told_beside(tuple(memory.id for memory in found))
        if beside:
            named, more = (
                (self._receipts.numbers(beside, told), ()) if forever else self._receipts.quoting(beside, told)
            )
            quotes, along = (*quotes, *more), "\n" + self._receipts.text("forgot_beside", told, list=named)
        else:
            along = ""
        several = len(found) > 1
        key = "forgot_forever" if forever else "unkept" if unwished else "forgot_several" if several else "forgot"
        again_holds = await self._again(found, told) if unwished else ""

        def receipt(number: int, again: bool) -> str:
            done = self._receipts.text(key, told, list=numbers, days=days, id=number) + along + again_holds
            if not missing:
                return done
            more = "…" if len(missing) > CANDIDATES_SHOWN else ""
            unknown = " ".join(number_mark("memory", number) for number in missing[:CANDIDATES_SHOWN]) + more
            return done + "\n" + self._receipts.text("forgot_missing", told, list=unknown)

        button = ("button_undo" if several else "say_undo") if owner_id == told.person_id else ""
        says = self._receipts.receipt(told, receipt, button, quotes=quotes)
        return await self._store.memories.forget(forgetting, says, now)

    async def _again(self, found: tuple[Memory, ...], told: CommandContext) -> str:
        """What holds again once these are taken back, a line for each; "" for nothing."""
        former = [await self._store.memories.holds_again(memory.id, told.audience) for memory in found]
        texts = [self._shown(memory, told) for memory in former if memory is not None]
        return "".join("\n" + self._receipts.text("holds_again", told, text=text) for text in texts[:CANDIDATES_SHOWN])

    async def _unsay(self, command: MemoryCommand, told: CommandContext) -> str:
        """忘记 as a reply: the line that is replied to goes, or the memories that it confirms."""
        say = self._receipts.say
        what = await self._store.memories.replied(told.event.id)
        if not what.there:
            return await say("unsaid_unknown", told)
        if told.chat.kind != "dm" and told.person_id not in what.by:
            standing = await self._store.people.standing(told.chat.id, told.person_id)
            if not standing.owner:
                return await say("unsaid_not_yours", told)
        numbers = self._current.words.confirmed(what.receipt)
        if numbers:
            known = [memory for number in numbers if (memory := await self._store.memories.keeper(number))]
            if not known:
                return await say("forgot_none", told)
            return await self._disable(tuple(known), known[0].owner_id or told.person_id, command.forever, told)
        now, days = self._clock.now(), self._current.settings.memory.undo_days
        kept = bool(what.memories) and bool(days) and not command.forever
        shown = self._receipts.numbers(what.memories, told)
        own = all(memory.owner_id == told.person_id for memory in what.memories)
        said = (await self._store.memories.replied_lines(told.event.id))[1]
        quoted = self._few_words(said, told) if said and not command.forever else ""

        def receipt(found: int, again: bool) -> str:
            key = "unsaid_undo" if kept else "unsaid"
            return self._receipts.text(key, told, id=found, what=quoted, list=shown, days=days)

        quotes = (ReceiptQuote(quoted),) if quoted else ()
        says = self._receipts.receipt(told, receipt, "say_undo" if own else "", quotes=quotes)
        return await self._store.memories.take_back_line(what, now + days * DAY_MS if kept else None, says, now)

    async def _set_aside(self, command: MemoryCommand, told: CommandContext) -> str:
        """别记这个: the message it stands in, the one replied to or the one before is kept nowhere."""
        events: tuple[int, ...] = (told.event.id, *((command.said_in,) if command.said_in is not None else ()))
        if command.scope == "ahead":
            says = self._receipts.receipt(told, lambda number, _: self._receipts.text("aside_ahead", told), "say_undo")
            nothing = Forgetting((), told.person_id, None)
            return await self._store.memories.set_aside(events, nothing, says, self._clock.now(), ahead=True)
        replied, said, _ = await self._store.memories.replied_lines(told.event.id)
        if replied:
            events = (*replied, told.event.id)
        elif not told.rest and not command.content and not told.before:
            late = told.event.at - JUST_MS
            before = [event for event in await self._lines(told) if event.at >= late and event.id != command.said_in]
            said = before[-1].text if before else ""
            events = (*(event.id for event in before[-1:]), *events)
        events = tuple(sorted({*events, *await self._said(command, told)}))
        owned = await self._store.memories.owned(told.person_id, told.audience)
        kept = await self._store.memories.kept_from(events, told.person_id)
        found = kept or (matching(command.content, owned) if command.content else ())
        now, days = self._clock.now(), self._current.settings.memory.undo_days
        forgetting = Forgetting(found, told.person_id, now + days * DAY_MS if days else None)
        numbers = self._receipts.numbers(found, told)
        this = self._receipts.text("aside_this", told)
        quoted = self._few_words(said, told).strip() if said else this

        def receipt(number: int, again: bool) -> str:
            key = "aside_forgot" if again else "aside"
            return self._receipts.text(key, told, what=quoted, list=numbers, days=days)

        quotes = (ReceiptQuote(quoted, this),) if said else ()
        says = self._receipts.receipt(told, receipt, "say_undo", quotes=quotes)
        return await self._store.memories.set_aside(events, forgetting, says, now)

    def _few_words(self, said: str, told: CommandContext) -> str:
        """A line that is not kept, as its receipt quotes it; in a group no more than tells which one it is."""
        few = ASIDE_LATIN if said.isascii() else ASIDE_CHARS
        some = clip(" ".join(said.split()), few) if told.chat.kind == "group" else brief(said)
        return self._receipts.text("quote", told, text=some)

    async def _undo(self, command: MemoryCommand, told: CommandContext) -> str:
        """撤销: what was forgotten comes back, what was kept goes; without a number the last of both."""
        now, days = self._clock.now(), self._current.settings.memory.undo_days
        if command.number is None or command.of != "memory":
            last = await self._store.memories.last_wish(told.person_id, told.audience, now - days * DAY_MS, now)
            plan = await self._plan(command, told, last.at if last is not None else now - days * DAY_MS)
            newest = max(last.at if last is not None else 0, plan.at if plan is not None else 0)
            if (
                command.number is None
                and await self._store.memories.forgot_for_good(told.person_id, told.chat.id) > newest
            ):
                return await self._receipts.say("undo_final", told)
            if plan is not None:
                return await self._take_back(plan, told)
            if last is None or command.number is not None:
                return await self._receipts.say("undo_none", told)
            if last.keep:
                return await self._disable(last.memories, told.person_id, False, told, unwished=True)
            numbers = tuple(memory.id for memory in last.memories)
        else:
            numbers = (command.number,)
            owned = await self._store.memories.owned(told.person_id, told.audience)
            held = tuple(memory for memory in owned if memory.id == command.number and memory.asked)
            if held:
                return await self._disable(held, told.person_id, False, told, unwished=True)
        receipt = self._receipts.receipt(told, lambda number, again: self._back(numbers, told))
        restored = await self._store.memories.undo(numbers, told.person_id, told.audience, receipt, now)
        if restored is None:
            return await self._receipts.say("undo_none", told)
        owned, back = await self._store.memories.owned(told.person_id, told.audience), frozenset(numbers)
        texts = wordings([memory for memory in owned if memory.id in back])
        self._store.tombstones.remove_tombstones([text for _, text in texts], now)
        return restored

    async def _plan(self, command: MemoryCommand, told: CommandContext, since: int) -> LastPlan | None:
        """What they last asked of reminders, promises and lines after that moment, ms, or that of this number."""
        group = told.chat.id if told.chat.kind == "group" else None
        wishes = await self._store.memories.plans(told.person_id, told.chat.id, group, self._clock.now())
        if command.number is None:
            return next((each for each in wishes if each.at > since and told.event.id not in each.numbers), None)
        kinds = ("set", "moved", "cancelled") if command.of == "reminder" else ("promised", "settled")
        found = next((each for each in wishes if each.kind in kinds and command.number in each.numbers), None)
        if found is None:
            return None
        place = found.numbers.index(command.number)
        return replace(found, numbers=(command.number,), before=found.before[place : place + 1])

    async def _take_back(self, wish: LastPlan, told: CommandContext) -> str:
        thing: NumberedThing = "reminder" if wish.kind in ("set", "moved", "cancelled") else "promise"
        texts = await self._store.memories.texts(thing, wish.numbers) if wish.kind != "aside" else ()
        words, person = self._current.words, await self._store.people.person(told.person_id)
        tz = words.tz(words.zone_of(told.chat, person))
        then = {
            number: rule_label(words, rule, told.script)
            if rule
            else when_label(words, due, self._clock.now(), tz, told.script)
            for number, (due, rule) in zip(wish.numbers, wish.before, strict=False)
        }
        named = self._receipts.text("mem_why_joint", told).join(
            f"{number_mark(thing, number)} {brief(text)}".strip()
            + (self._receipts.text("back_then", told, at=then[number]) if then else "")
            for number, text in texts
        )
        receipt = self._receipts.receipt(
            told, lambda number, again: self._receipts.text(f"back_{wish.kind}", told, list=named)
        )
        return await self._store.memories.take_back(wish, told.person_id, receipt, self._clock.now())

    def _back(self, numbers: tuple[int, ...], told: CommandContext) -> str:
        lines = [self._receipts.text("undone", told, id=number) for number in numbers[:NAMED]]
        if len(numbers) > NAMED:
            lines.append(self._receipts.text("forgot_more", told, n=len(numbers) - NAMED))
        return "\n".join(lines)
