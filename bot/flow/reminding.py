"""Reminders: a plain request is understood without a model, confirmed in the commit that sets it, and said on time."""

from collections.abc import Callable
from dataclasses import replace

from bot.config.settings import Settings
from bot.flow.recurring import next_time
from bot.flow.remindwords import about, spoken
from bot.flow.requests import NOT_HEARD, Heard, Request
from bot.flow.timewords import rule_label, when_label
from bot.flow.words import Words
from bot.people.asking import Wish, asked, task_of
from bot.people.reminding import meant, spoken_at
from bot.people.replying import Reply, replied
from bot.ports import Clock
from bot.store.reminding import Answer
from bot.store.store import Store
from bot.text.script import Script
from bot.text.when.found import Clock as TimeOfDay
from bot.text.when.found import Parts
from bot.text.when.meaning import Manner, joined, meaning, parts_of
from bot.text.when.rules import local
from bot.types.duration import MINUTE_MS
from bot.types.event import Event
from bot.types.log import Log
from bot.types.people import Chat, Person
from bot.types.reminder import Due, NewReminder, Reminder, Waiting
from bot.types.when import Instant, Moment, Recurring, Unclear

SHOWN = 20
"""Reminders that one list names."""


class Reminding:
    """What chat lanes, commands and the alarm do about reminders."""

    def __init__(
        self, store: Store, clock: Clock, settings: Settings, words: Words, log: Log, *,
        judged: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        """`judged`: whether a model with tools answers; several times of one request are left to it."""
        self._judged = judged
        self._store = store.reminders
        self._clock = clock
        self._rules = settings.remind
        self._names = settings.bot.names
        self._words = words
        self._log = log
        self._asking: set[tuple[int, int]] | None = None

    def request(self, chat: Chat, person: Person, event_id: int) -> Request:
        """A wish of this message; a person's own zone counts everywhere, else the house's."""
        zone = self._words.tz(person.timezone or self._words.zone)
        return Request(chat, person, event_id, self._clock.now(), zone, self._words.script(person))

    async def heard(self, event: Event, chat: Chat, person: Person) -> Heard:
        """Do what a message asks of reminders, or answers about one."""
        if event.kind != "message" or event.forwarded or person.is_bot:
            return NOT_HEARD
        if self._asking is None:
            self._asking = set(await self._store.questions())
        at, wish = self.request(chat, person, event.id), asked(event.text, self._names)
        # Counted from when it was written: whoever reads it twice finds the same moment.
        at = replace(at, now=max(event.at, at.now - self._rules.ask_seconds * 1000))
        if wish is not None and self._judged() and wish.verb == "set":
            found = self._resolved(at, wish.parts, wish.manner)
            if isinstance(found, Unclear) and found.what == "several":
                return NOT_HEARD
        if wish is not None and wish.rest:
            return await self._besides(at, wish)
        if wish is not None:
            return Heard(await self._wished(at, wish))
        if (chat.id, person.id) not in self._asking:
            return NOT_HEARD
        waiting = await self._store.question(chat.id, person.id, at.now)
        reply = replied(event.text, self._names) if waiting is not None else None
        if waiting is None or reply is None:
            await self._store.ask(chat.id, person.id, None, 0)
            self._asking.discard((chat.id, person.id))  # not before: what the disk refuses is heard once more
            return NOT_HEARD
        return Heard(await self._answered(at, waiting, reply))

    async def added(self, at: Request, words: str) -> str:
        """Set what the words of a command name (明天8点 开会), or ask back; what is said to it."""
        wish = asked(words, self._names)
        if wish is None or wish.verb != "set":
            task, parts = task_of(words)
            wish = Wish("set", task, parts, said=words)
        return await self._plain(at, replace(wish, manner=Manner(plain=True)), "command")

    def resolve(self, at: Request, words: str, task: str) -> NewReminder | str:
        """The reminder that words for a time make, or the question they leave: what the tool of the model asks for."""
        found = self._resolved(at, parts_of(words), Manner())
        return replace(found, text=task) if isinstance(found, NewReminder) else self._question(at, found, words)

    def answers(self, at: Request, words: str, answer: str) -> int | None:
        """The moment, ms, that a request names together with the answer to what was asked about it; None: no one."""
        found = meaning(joined(parts_of(words), parts_of(answer)), local(at.now, at.tz))
        return found.at if isinstance(found, Instant) else None

    async def mine(self, at: Request) -> tuple[Reminder, ...]:
        """The open reminders of a person as they may be told here: in a DM all, in a group those of the group."""
        return await self._store.open(at.person.id, None if at.chat.kind == "dm" else at.chat.id)

    async def listed(self, at: Request) -> str:
        """Their open reminders, one a line."""
        lines = [
            f"#{each.id} {self._when(at, each)}" + (about(self._words, each, at.script) if each.text else "")
            for each in await self.mine(at)
        ]
        if len(lines) > SHOWN:
            lines = [*lines[:SHOWN], self._text(at.script, "remind_more", n=len(lines) - SHOWN)]
        return "\n".join(lines) or self._text(at.script, "remind_none")

    async def cancelled(self, at: Request, words: str) -> str:
        """End what these words name, by command; what is said to it."""
        text, ends = self._cancelling(at, words, await self.mine(at))
        await self._store.cancel(ends, at.now)
        return text

    async def edited(self, event: Event, chat: Chat, person: Person, event_id: int) -> None:
        """A message that had set a reminder reads anew: that one is over, and what it asks for now is set and told."""
        if not await self._store.of_events((event_id,)):
            return
        at, wish = self.request(chat, person, event_id), asked(event.text, self._names)
        found = self._resolved(at, wish.parts, wish.manner) if wish is not None and wish.verb == "set" else None
        new = replace(found, text=wish.task) if isinstance(found, NewReminder) and wish is not None else None
        gone = self._text(at.script, "remind_edited")
        await self._store.reset(
            new, chat.id, lambda number: self.confirmation(at, new, number) if new is not None else gone, at.now
        )  # fmt: skip

    async def full(self, at: Request) -> bool:
        """Whether a person has as many open reminders as one may have."""
        return await self._full(at)

    async def fire(self) -> tuple[int, ...]:
        """Say what is due; the chats in which something is to be sent."""
        chats: list[int] = []
        while done := await self._store.fire(self._spoken, self._upcoming, self._clock.now()):
            for number, chat_id, said in done:
                self._log.info("reminder_said" if said else "reminder_unsaid", reminder=number, chat=chat_id)
            chats += [chat_id for _, chat_id, said in done if said]
        return tuple(dict.fromkeys(chats))

    def confirmation(self, at: Request, new: NewReminder, number: int | str) -> str:
        """What is said of a reminder that was set, with its whole date."""
        when = when_label(self._words, new.due_at, at.now, at.tz, at.script)
        rule = rule_label(self._words, new.rule, at.script) if new.rule else ""
        key = "remind_set" + ("_rule" if rule else "") + ("" if new.text else "_bare")
        return self._text(at.script, key, when=when, rule=rule, task=new.text, id=number)

    async def _besides(self, at: Request, wish: Wish) -> Heard:
        """Of a message that says more: what is said of the reminder is told with the answer to the rest."""
        receipt = await self._plain(at, wish, "words")
        await self._store.told_besides(at.chat.id, at.event_id, receipt, at.now)
        return Heard(False, receipt, wish.rest)

    async def _plain(self, at: Request, wish: Wish, by: str) -> str:
        """Set it, or leave the question open; what is said to it. Doing it twice sets it once."""
        found = self._resolved(at, wish.parts, wish.manner)
        if isinstance(found, NewReminder):
            # Of a message that is handled once more the reminder may be set already.
            if await self._full(at) and not await self._store.of_events((at.event_id,)):
                return self._text(at.script, "remind_full", n=self._rules.most_open)
            new = replace(found, text=wish.task)
            number = await self._store.set(new, None, at.now)
            self._log.info("reminder_set", reminder=number, chat=at.chat.id, by=by)
            return self.confirmation(at, new, number)
        manner = wish.manner
        await self._leave(at, Waiting(wish.task, (wish.said,), manner.wakes, manner.plain, at.now, at.event_id))
        return self._question(at, found, wish.said)

    async def _wished(self, at: Request, wish: Wish) -> bool:
        if wish.verb == "cancel":
            open_ones = await self.mine(at)
            if not open_ones and not wish.named:
                return False
            text, ends = self._cancelling(at, wish.task, open_ones)
            if not ends and not wish.named:
                return False
            return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now, ends=ends)
        waiting = Waiting(wish.task, (wish.said,), wish.manner.wakes, False, at.now, at.event_id)
        return await self._settle(at, waiting, self._resolved(at, wish.parts, wish.manner), wish.said)

    async def _answered(self, at: Request, waiting: Waiting, reply: Reply) -> bool:
        if reply.dismissed:
            text = self._text(at.script, "remind_dropped")
            return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now)
        parts = Parts()
        for said in waiting.said:
            parts = joined(parts, parts_of(said)) if not parts.empty else parts_of(said)
        # A day that was said before midnight is counted from then, a delay from now.
        then = at if reply.parts.delay is not None else replace(at, now=waiting.asked_at)
        if reply.whenever:
            late = replace(parts, clock=TimeOfDay(self._rules.hour, whole=True), half="", doubt=None)
            found = self._resolved(then, late, Manner(), timed=False)
        else:
            manner = Manner(waiting.wakes, waiting.plain)
            found = self._resolved(then, joined(parts, reply.parts) if not parts.empty else reply.parts, manner)
        if isinstance(found, NewReminder) and found.due_at <= at.now:
            found = Unclear("past")
        more = replace(waiting, said=(*waiting.said, reply.said))
        return await self._settle(at, more, found, f"{waiting.said[-1]}{reply.said}")

    async def _settle(self, at: Request, waiting: Waiting, found: NewReminder | Unclear | None, said: str) -> bool:
        """Set what is certain and confirm it, else ask back: one commit either way."""
        if isinstance(found, NewReminder):
            events = tuple(dict.fromkeys((waiting.event_id, at.event_id)))
            new = replace(found, text=waiting.text, event_ids=events)
            if await self._full(at):
                text = self._text(at.script, "remind_full", n=self._rules.most_open)
                return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now)
            number = await self._store.set(
                new, self._answer(at, lambda number: self.confirmation(at, new, number)), at.now
            )
            if number:
                self._log.info("reminder_set", reminder=number, chat=at.chat.id, by="words")
            return number > 0
        text = self._question(at, found, said)
        until = at.now + self._rules.ask_seconds * 1000
        self._note(at)
        return await self._store.say(
            self._answer(at, lambda _: text), at.person.id, at.now, asks=waiting, until=until
        )  # fmt: skip

    async def _leave(self, at: Request, waiting: Waiting) -> None:
        self._note(at)
        until = at.now + self._rules.ask_seconds * 1000
        await self._store.ask(at.chat.id, at.person.id, waiting, until)

    def _note(self, at: Request) -> None:
        if self._asking is not None:
            self._asking.add((at.chat.id, at.person.id))

    def _resolved(
        self, at: Request, parts: Parts, manner: Manner, *, timed: bool = True
    ) -> NewReminder | Unclear | None:  # fmt: skip
        found: Moment | None = meaning(parts, local(at.now, at.tz), manner)
        if isinstance(found, Instant):
            due, rule = spoken_at(found if timed else replace(found, timed=False), self._rules, at.tz), ""
        elif isinstance(found, Recurring):
            due, rule = found.at, found.rule
        else:
            return found
        return NewReminder(at.person.id, at.chat.id, "", due, rule, (at.event_id,))

    def _question(self, at: Request, found: Unclear | None, said: str) -> str:
        what = found.what if found is not None else "vague"
        said = " ".join(said.split())[:SHOWN]
        return self._text(at.script, f"remind_ask_{what}" if said or what in ("vague", "rule") else "remind_ask_vague",
                          said=said)  # fmt: skip

    def _cancelling(self, at: Request, words: str, open_ones: tuple[Reminder, ...]) -> tuple[str, tuple[int, ...]]:
        """What is said to a wish to cancel, and the reminders that it ends."""
        if not open_ones:
            return self._text(at.script, "remind_none"), ()
        found = meant(words, open_ones, task_of(words)[0] if words != "*" else words)
        if not found:
            return self._text(at.script, "remind_which", list=self._named(at, open_ones)), ()
        if len(found) > 1 and words != "*":
            return self._text(at.script, "remind_which", list=self._named(at, found)), ()
        return (
            self._text(at.script, "remind_cancelled", list=self._named(at, found)), tuple(each.id for each in found)
        )  # fmt: skip

    def _named(self, at: Request, found: tuple[Reminder, ...]) -> str:
        return self._text(at.script, "when_and").join(f"#{each.id} {each.text}".strip() for each in found[:SHOWN])

    def _when(self, at: Request, reminder: Reminder) -> str:
        if reminder.rule:
            return rule_label(self._words, reminder.rule, at.script)
        return when_label(self._words, reminder.due_at, at.now, at.tz, at.script)

    def _spoken(self, due: Due) -> str:
        return spoken(self._words, due, self._clock.now(), self._rules.late_minutes * MINUTE_MS)

    def _upcoming(self, due: Due) -> int | None:
        after = max(self._clock.now(), due.reminder.due_at)
        return next_time(due.reminder, due.timezone, after, self._words, self._log)

    async def _full(self, at: Request) -> bool:
        return len(await self._store.open(at.person.id)) >= self._rules.most_open

    def _answer(self, at: Request, text: Callable[[int], str]) -> Answer:
        return Answer(at.chat.id, at.event_id, text)

    def _text(self, script: Script, key: str, **values: object) -> str:
        return self._words.messages.text(key, script, **values)
