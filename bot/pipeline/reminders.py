"""Reminders: a plain request is understood without a model, confirmed in the commit that sets it, and said on time."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.config.speaking import RemindRules
from bot.core.clock import DAY_MS, MINUTE_MS, Instant, Moment, Recurring, Unclear, UnclearTime
from bot.core.events import Event
from bot.core.memories import DueReminder, IncompleteReminder, NewReminder, Reminder
from bot.core.people import Chat, Person
from bot.core.ports import Clock, Log
from bot.language.reminders.multiple_requests import reminder_wishes
from bot.language.reminders.replies import TimeReply, retime_wish, time_reply
from bot.language.reminders.requests import (
    ReminderWish,
    hinted,
    hinted_wish,
    is_getting_up,
    points_at_somebody,
    task_of,
)
from bot.language.reminders.wording import ABOUT, FRAME, in_second_person, says_more, without_frame
from bot.language.statements import idle
from bot.language.time.moments import HourRules, joined_parts, moment_meant, time_parts
from bot.language.time.parts import NamedDay, TimeParts
from bot.language.time.schedule import next_of
from bot.language.wishes.own_words import READ_CHARS
from bot.language.wishes.reader import understand
from bot.pipeline.configuration import Current
from bot.pipeline.open_reminders import JUST_MS, OpenReminders
from bot.pipeline.reminder_texts import (
    ReminderRequest,
    confirmation,
    question_about,
    reminder_line,
)
from bot.pipeline.texts import Texts
from bot.speaking.reminders import (
    closest,
    promised_task,
    quiet_end,
    spoken_at,
    with_line_before,
    with_weekday,
)
from bot.store.reminders import Reminders
from bot.store.store import Store
from bot.text.clean import as_data
from bot.text.codes import number_mark
from bot.text.dates import local
from bot.text.fold import fold, script_of
from bot.text.length import clip

LEFT: frozenset[UnclearTime] = frozenset(("several", "rule", "vague", "day", "half", "before", "task"))
"""What a model that judges is left to understand; everything else is asked at once."""

LABEL_CHARS, MOST_NAMED = 30, 3
"""Of what a reminder is of, in a line for the model, and how many such a line names."""

NO_WISH = ReminderWish("cancel", "")
"""Stands for a message with no wish, or with several: it sets nothing."""

_HOLE = re.compile(r"^的|(?:[是在于到]|\b(?:is|are|on|at|in))$")
"""Where its time was, a title cannot stand without it."""

_PIECES = re.compile(r"[^,，。;；!！?？\n]+[,，。;；!！?？\n]*")


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """What became of a message: nothing of it is left (`done`), or the `rest` is answered with this receipt.

    `cue`: it may ask for a reminder, or mean some that are set, which it names; a model decides.
    """

    done: bool
    receipt: str = ""
    rest: str = ""
    cue: str = ""


NOT_HEARD = RequestOutcome(False)
"""What no grammar of reminders read."""


def next_time(reminder: Reminder, zone: str, after: int, words: Texts, log: Log) -> int | None:
    """The first moment, ms, after that one, by its person's zone ("" the installation's); None: never again."""
    try:
        return next_of(reminder.rule, after, words.tz(zone or words.zone))
    except ValueError:  # a damaged row must not keep everybody else's from being said
        log.warning("reminder_damaged", reminder=reminder.id)
        return None


async def rearm_recurring(reminders: Reminders, clock: Clock, words: Texts, log: Log) -> None:
    """At a start: what was said while the clock was ahead does not wait until it is as late again.

    A day counts as ahead: after less it is due soon enough, and said twice it would be.
    """
    now = clock.now()
    changed = await reminders.recurring_back(lambda one, zone: next_time(one, zone, now, words, log), now + DAY_MS)
    if changed:
        log.warning("clock_was_ahead", reminders=changed)


class ReminderService(OpenReminders):
    """What chat queues, commands and the alarm do about reminders."""

    def __init__(self, store: Store, clock: Clock, current: Current, log: Log) -> None:
        super().__init__(store.reminders, current)
        self._events = store.events
        self._shared = store.leases.shared
        """Whether another process may have asked: then each question is looked for where it is stored."""
        self._clock = clock
        self._log = log
        self._asking: set[tuple[int, int]] | None = None

    @property
    def _rules(self) -> RemindRules:
        return self._current.settings.remind

    def request(self, chat: Chat, person: Person, event_id: int) -> ReminderRequest:
        """A wish of this message; a person's own zone counts everywhere, else the installation's."""
        zone = self._words.tz(person.timezone or self._words.zone)
        return ReminderRequest(chat, person, event_id, self._clock.now(), zone, self._words.script(person))

    async def heard(self, event: Event, chat: Chat, person: Person) -> RequestOutcome:
        """Do what a message asks of reminders, or answers about one."""
        if event.kind != "message" or event.forwarded or person.is_bot:
            return NOT_HEARD
        if self._asking is None and not self._shared:
            self._asking = set(await self._store.questions())
        at, found = self._read(event, chat, person), reminder_wishes(event.text, self._names)
        judges = self._current.value.judges
        hint = hinted_wish(event.text, self._names) if not found and not retime_wish(event.text, self._names) else None
        if (
            hint is not None
            and not self._current.value.uses_tools
            and event.why != "window"
            and self._may_ask(at, hint)
        ):
            found = (hint,)
        if found and found[0].verb == "cancel":
            return RequestOutcome(await self._ended(at, found[0]))
        if found:
            kept = self._kept(event.text)
            found = await self._timed(at, found)
            made = [self._made(at, wish) for wish in found]
            bare = at.chat.kind == "group" and any(not wish.task for wish in found)  # what it is of stands in the talk
            unnamed = any(points_at_somebody(wish.task) for wish in found)  # who that is stands elsewhere
            left = bare or unnamed or len(found) > 1 or says_more(event.text) or any(_left(each) for each in made)
            if judges and left:
                return RequestOutcome(False, cue=await self._cue(at, event))
            if rest := found[-1].rest or kept:
                receipt = await self._plain(at, found, "words")
                await self._store.told_besides(at.chat.id, at.event_id, receipt, at.now)
                return RequestOutcome(False, receipt, rest)
            return RequestOutcome(await self._settle(at, found, made))
        cued = judges and not found and hinted(event.text)
        other = RequestOutcome(False, cue=await self._cue(at, event) if cued else "")
        may_answer = self._asking is None or (chat.id, person.id) in self._asking
        waiting = await self._store.question(chat.id, person.id, at.now) if may_answer else None
        if waiting is None and (self._asking is None or not may_answer):
            return RequestOutcome(True) if await self._retimed(at, event) else other
        reply = time_reply(event.text, self._names) if waiting is not None else None
        answer = None
        if waiting is not None and reply is not None:
            at = replace(at, script=script_of(" ".join((waiting.text, *waiting.said)), at.script))
            answer = await self._answered(at, waiting, reply)
        if answer is not None:
            return RequestOutcome(answer)
        if waiting is None or not waiting.numbers or self._current.value.uses_tools:  # another hour stays offered
            await self._store.ask(chat.id, person.id, None, 0)
            if self._asking is not None:
                self._asking.discard((chat.id, person.id))  # not before: what the disk refuses is heard once more
        return RequestOutcome(True) if await self._retimed(at, event) else other

    async def _cue(self, at: ReminderRequest, event: Event) -> str:
        """What a model is told of a message that may ask for a reminder, or be about one that is set."""
        mine = [each for each in await self.within_reach(at) if not each.promise]
        known = closest(mine, event.text)[:MOST_NAMED]
        named = (f"{number_mark('reminder', each.id)} {as_data(clip(each.text, LABEL_CHARS))}" for each in known)
        return f"reminder {'; '.join(named)}" if known else "remind"

    def _may_ask(self, at: ReminderRequest, hint: ReminderWish) -> bool:
        """Whether a time is named that can be asked about."""
        made = self._made(at, hint)
        return isinstance(made, Unclear) and made.what in ("task", "several")

    def _kept(self, text: str) -> str:
        """What a message that asks to be reminded asks to keep besides: 记住我爸生日3月8日，提前一天提醒我."""
        rest = "".join(piece for piece in _PIECES.findall(text[:READ_CHARS]) if not ABOUT.search(fold(piece)))
        return rest if any(each.verb == "remember" and each.content for each in understand(rest).commands) else ""

    async def offer(self, event: Event, chat: Chat, person: Person, kept: str) -> str:
        """The question whether to remind of what somebody asked to keep, left open; "" where none is."""
        at, parts = self._read(event, chat, person), time_parts(kept)
        task = promised_task(kept)
        wish = ReminderWish("set", in_second_person(kept if _HOLE.search(task) else task), parts, said=kept)
        if self._current.settings.memory.rewrite:
            return ""  # which may ask about the very same line
        if event.forwarded or not parts.day or not isinstance(self._made(at, wish), NewReminder):
            return ""
        self._note(at)
        await self._store.ask(chat.id, person.id, self._waiting(at, wish), at.now + self._rules.ask_seconds * 1000)
        return self._text(at.script, "remind_offer")

    async def added(self, at: ReminderRequest, words: str) -> str:
        """Set what the words of a command name (明天8点 开会), or ask back; what is said to it."""
        found = reminder_wishes(words, self._names)
        if not found or found[0].verb != "set":
            task, parts = task_of(words)
            found = (ReminderWish("set", in_second_person(task), parts, said=words),)
        plain = tuple(replace(wish, manner=replace(wish.manner, plain=True)) for wish in found)
        return await self._plain(at, plain, "command")

    def resolve(self, at: ReminderRequest, words: str, task: str, parts: TimeParts) -> NewReminder | str:
        """The reminder that words for a time, read as these `parts`, make, or the question they leave."""
        wish = ReminderWish("set", task, parts, HourRules(wakes=is_getting_up(task)), said=words)
        found = self._made(at, wish)
        return found if isinstance(found, NewReminder) else question_about(self._words, at, found, words)

    async def edited(self, event: Event, chat: Chat, person: Person, event_id: int) -> None:
        """A request reads anew: what it had set is over, and what it asks for now is set and told."""
        if event.forwarded or not await self._store.ordered(event_id):
            return
        at = replace(self._read(event, chat, person), event_id=event_id)
        found = await self._timed(at, reminder_wishes(event.text, self._names))
        made = [self._made(at, wish) for wish in found if wish.verb == "set"]
        sure = [each for each in made if isinstance(each, NewReminder)]
        if not sure and not await self._store.of_events((event_id,)):
            return
        unclear = [
            question_about(self._words, at, each, wish.said, wish.task)
            for wish, each in zip(found, made, strict=False)
            if not isinstance(each, NewReminder)
        ]
        gone = [] if sure else [self._text(at.script, "remind_edited")]
        await self._store.reset(
            sure, chat.id, lambda numbers: "\n".join([*gone, *self._confirmed(at, sure, numbers), *unclear]), at.now
        )

    async def has_room(self, at: ReminderRequest, more: int = 1) -> bool:
        """Whether a person may have so many open reminders more."""
        return len(await self._store.open(at.person.id)) + more <= self._rules.most_open

    async def fire(self) -> tuple[int, ...]:
        """Say what is due; the chats in which something is to be sent."""
        chats: list[int] = []
        while done := await self._store.fire(self._spoken, self._upcoming, self._clock.now()):
            for number, chat_id, said in done:
                self._log.info("reminder_said" if said else "reminder_unsaid", reminder=number, chat=chat_id)
            chats += [chat_id for _, chat_id, said in done if said]
        return tuple(dict.fromkeys(chats))

    def _read(self, event: Event, chat: Chat, person: Person) -> ReminderRequest:
        """The wish of a message in its own language, counted from when it was written: read twice it is the same."""
        at = self.request(chat, person, event.id)
        now = max(event.at, at.now - self._rules.ask_seconds * 1000)
        return replace(at, now=now, script=script_of(event.text, at.script))

    async def _timed(self, at: ReminderRequest, found: tuple[ReminderWish, ...]) -> tuple[ReminderWish, ...]:
        """到时候叫我一声 is about the time that its writer named just before, 四点叫我 may be of the day named there."""
        wish = found[0] if len(found) == 1 else NO_WISH
        said = wish.parts
        if (
            wish.verb != "set"
            or said.day
            or said.delay
            or said.every
            or said.doubt
            or said.tonight
            or not (said.clock or not (wish.task or said.half))
        ):
            return found
        lines = await self._events.own_lines((at.event_id,), at.person.id, at.now, answered=True)
        before = [line for line in reversed(lines) if line.id != at.event_id]
        if said.clock:
            telling = [line for line in before if line.at >= at.now - JUST_MS and not idle(fold(line.text))]
            for line in telling:
                near, judged = line is telling[0], self._current.value.judges
                then = with_line_before(wish, line.text, line.at, at.now, at.tz, judged=judged, near=near)
                if then != wish:
                    return (then,)
            return found
        for line in before:
            task, parts = task_of(line.text)
            if not (parts.clock or parts.day) or reminder_wishes(line.text, self._names):  # that one is set already
                continue
            then = replace(
                wish,
                task=in_second_person(without_frame(task, FRAME)),
                parts=joined_parts(parts, said) if said.lead else parts,
            )
            if isinstance(self._made(replace(at, now=line.at), then), NewReminder):
                return (replace(then, said=line.text),)
        return found

    async def _plain(self, at: ReminderRequest, found: tuple[ReminderWish, ...], by: str) -> str:
        """Set them, or leave the question open; what is said to it. Doing it twice sets them once."""
        made = [self._made(at, wish) for wish in found]
        sure = [each for each in made if isinstance(each, NewReminder)]
        # Of a message that is handled once more the reminders may be set already.
        if sure and not await self.has_room(at, len(sure)) and not await self._store.of_events((at.event_id,)):
            return self._text(at.script, "remind_full", n=self._rules.most_open)
        asks, question = self._asks(at, found, made)
        self._note(at)
        until = at.now + self._rules.ask_seconds * 1000
        if not sure:
            await self._store.ask(at.chat.id, at.person.id, asks(()), until)
            return question
        numbers = await self._store.set(sure, None, at.now, asks=asks, until=until)
        self._logged(at, numbers, by)
        return "\n".join(filter(None, (*self._confirmed(at, sure, numbers), question)))

    async def _settle(
        self,
        at: ReminderRequest,
        found: tuple[ReminderWish, ...],
        made: list[NewReminder | Unclear | None],
        events: tuple[int, ...] = (),
    ) -> bool:
        """Set what is certain and confirm it, and ask for the rest: one commit either way."""
        sure = [replace(each, event_ids=(*events, *each.event_ids)) for each in made if isinstance(each, NewReminder)]
        asks, question = self._asks(at, found, made)
        until = at.now + self._rules.ask_seconds * 1000
        self._note(at)
        if not sure:
            return await self._store.say(
                self._answer(at, lambda _: question), at.person.id, at.now, asks=asks(()), until=until
            )
        if not await self.has_room(at, len(sure)):
            text = self._text(at.script, "remind_full", n=self._rules.most_open)
            return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now)
        said = self._answer(
            at, lambda numbers: "\n".join(filter(None, (*self._confirmed(at, sure, numbers), question)))
        )
        numbers = await self._store.set(sure, said, at.now, asks=asks, until=until)
        self._logged(at, numbers, "words")
        return bool(numbers)

    def _asks(
        self, at: ReminderRequest, found: tuple[ReminderWish, ...], made: list[NewReminder | Unclear | None]
    ) -> tuple[Callable[[tuple[int, ...]], IncompleteReminder | None], str]:
        """The question that stays open once they are set, by their numbers, and its words.

        Of what is unclear it is the first; else an hour that was assumed, or the only one that is set, may be changed.
        """
        pairs = list(zip(found, made, strict=True))
        for wish, each in pairs:
            if not isinstance(each, NewReminder):
                waiting = self._waiting(at, wish)
                more = "\n".join(
                    question_about(self._words, at, every, other.said, other.task)
                    for other, every in pairs
                    if not isinstance(every, NewReminder)
                )
                return partial(_same, waiting), more
        assumed = [place for place, (_, each) in enumerate(pairs) if isinstance(each, NewReminder) and each.assumed]
        if not assumed and len(pairs) > 1:
            return lambda numbers: None, ""
        assumed = assumed or [0]
        offered = self._waiting(at, pairs[assumed[0]][0])
        return lambda numbers: replace(offered, numbers=tuple(numbers[place] for place in assumed)), ""

    def _waiting(self, at: ReminderRequest, wish: ReminderWish) -> IncompleteReminder:
        manner = wish.manner
        return IncompleteReminder(wish.task, (wish.said,), manner.wakes, manner.plain, at.now, at.event_id, wish.shared)

    def _confirmed(self, at: ReminderRequest, new: Sequence[NewReminder], numbers: tuple[int, ...]) -> list[str]:
        return [confirmation(self._words, at, each, number) for each, number in zip(new, numbers, strict=False)]

    def _logged(self, at: ReminderRequest, numbers: tuple[int, ...], by: str) -> None:
        for number in numbers:
            self._log.info("reminder_set", reminder=number, chat=at.chat.id, by=by)

    async def _answered(self, at: ReminderRequest, waiting: IncompleteReminder, reply: TimeReply) -> bool | None:
        """What a reply does about the open question; None: it is no answer to it."""
        if waiting.numbers:
            return None if reply.bare else await self._moved(at, waiting, reply)
        if reply.dismissed:
            text = self._text(at.script, "remind_dropped")
            return await self._store.say(self._answer(at, lambda _: text), at.person.id, at.now)
        parts = TimeParts()
        for said in waiting.said:
            parts = joined_parts(parts, time_parts(said)) if not parts.empty else time_parts(said)
        if reply.agreed and parts.empty:
            return None
        whole = isinstance(self._made(replace(at, now=waiting.asked_at), ReminderWish("set", "", parts)), NewReminder)
        if whole and reply.corrects:  # of what was kept, not of the offer to remind of it
            return None
        if reply.whenever:
            parts = replace(parts, clock=None, half="", doubt=None)
            parts = parts if parts.day or parts.every or parts.delay else replace(parts, day=NamedDay("near", 1))
        elif not reply.agreed:
            parts = with_weekday(parts, reply.parts) or (
                joined_parts(parts, reply.parts) if not parts.empty else reply.parts
            )
        # A day that was said before midnight is counted from then, a delay from now.
        then = at if reply.parts.delay is not None else replace(at, now=waiting.asked_at)
        manner = HourRules(waiting.wakes, waiting.plain)
        wish = ReminderWish(
            "set", waiting.text, parts, manner, f"{waiting.said[-1]} {reply.said}", shared=waiting.shared
        )
        made = self._made(then, wish)
        if reply.agreed and not isinstance(made, NewReminder):
            return None  # it was no such question
        if isinstance(made, NewReminder):
            late = made.due_at <= at.now
            made = Unclear("past") if late else replace(made, assumed=made.assumed and not reply.whenever)
        if isinstance(made, NewReminder):
            return await self._settle(at, (wish,), [made], (waiting.event_id,))
        more = replace(waiting, said=(*waiting.said, reply.said))
        question = question_about(self._words, at, made, wish.said)
        self._note(at)
        return await self._store.say(
            self._answer(at, lambda _: question),
            at.person.id,
            at.now,
            asks=more,
            until=at.now + self._rules.ask_seconds * 1000,
        )

    def _note(self, at: ReminderRequest) -> None:
        if self._asking is not None:
            self._asking.add((at.chat.id, at.person.id))

    def _made(self, at: ReminderRequest, wish: ReminderWish) -> NewReminder | Unclear | None:
        """The reminder that a wish makes, or what is unclear about its time; a day alone is at the configured hour."""
        manner = replace(wish.manner, hour=quiet_end(self._rules.hour, self._rules))
        found: Moment | None = moment_meant(wish.parts, local(at.now, at.tz), manner)
        if not isinstance(found, Instant | Recurring):
            return found
        if not wish.sure:
            return Unclear("task")
        due, rule = (spoken_at(found, self._rules, at.tz), "") if isinstance(found, Instant) else (found.at, found.rule)
        delay = wish.parts.delay
        return NewReminder(
            at.person.id,
            at.chat.id,
            wish.task,
            due,
            rule,
            (at.event_id,),
            at.script,
            wish.shared,
            wall=delay is None or not delay.ms,
            assumed=not found.timed and not (delay is not None and delay.same),
        )

    def _spoken(self, due: DueReminder) -> str:
        return reminder_line(self._words, due, self._clock.now(), self._rules.late_minutes * MINUTE_MS)

    def _upcoming(self, due: DueReminder) -> int | None:
        after = max(self._clock.now(), due.reminder.due_at)
        return next_time(due.reminder, due.timezone, after, self._words, self._log)


def _same(waiting: IncompleteReminder | None, numbers: tuple[int, ...]) -> IncompleteReminder | None:
    return waiting


def _left(found: NewReminder | Unclear | None) -> bool:
    return isinstance(found, Unclear) and found.what in LEFT
