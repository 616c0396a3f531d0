"""Promises by the tool remember, and the tool remind: promise and time stand in the person's own words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, tzinfo
from functools import partial
from typing import Literal

from pydantic import Field

from bot.core.clock import Instant
from bot.core.events import Event
from bot.core.memories import (
    Commitment,
    CommitmentState,
    NewCommitment,
    NewReminder,
    Nudge,
    NudgeRules,
    Reminder,
    SettledCommitment,
)
from bot.core.models import ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.assertions import folded_plain, numbers
from bot.language.reminders.wording import (
    ANY,
    CHANGED,
    DAY_BEFORE,
    ENDED,
    GONE,
    SHARED,
    TASK_CHARS,
    WANTED,
    reminder_title,
    spelt,
)
from bot.language.time.dates import checked_when, date_in, due_in, nudge_for
from bot.language.time.moments import hour_in, time_parts
from bot.language.time.parts import WEEKDAY_NAMES, ClockTime, DayPart, NamedDay, Repetition, TimeParts
from bot.language.time.schedule import ending
from bot.memory.digest.answer import ItemSection
from bot.memory.promises import may_tell_end, promise_endings
from bot.pipeline.actions.plans import promised_title
from bot.pipeline.concurrency import TextThread
from bot.pipeline.reminder_texts import ReminderRequest, confirmation, when_label
from bot.pipeline.reminders import ReminderService
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import OR_NOT, Consent
from bot.speaking.reminders import reminders_meant, retimed
from bot.store.store import Store
from bot.text.catalogue import LazyPattern
from bot.text.clean import as_data, clean
from bot.text.codes import SIGNS, number_mark
from bot.text.dates import local, local_day
from bot.text.fold import fold, script_of
from bot.text.length import clip
from bot.text.similarity import content_words, promise_meant

MOST_OPEN = 100
"""Open promises among which a number is looked up."""

NUMBER_CHARS, TEXT_CHARS, LIST_CHARS = 20, 40, 400
"""Characters of a number, of a promise that an answer names, and of all that a refusal names."""

_HOUR_AND_MINUTE = re.compile(r"\d{1,2}[:：.]\d\d")

_ASIDE = re.compile(r"[(（][^()（）]*[)）]")
"""下星期二（3/16）: the same day once more."""


class PromiseTools:
    """What a person promises, what a promise is now, and what became of it, by the tool remember."""

    def __init__(
        self, store: Store, words: Texts, consent: Consent, nudging: NudgeRules | None, thread: TextThread
    ) -> None:
        """`nudging` is how people are reminded of what they promise; what loads a dictionary runs in `thread`."""
        self._store = store
        self._words = words
        self._consent = consent
        self._nudging = nudging
        self._thread = thread

    async def note(self, context: ToolContext, text: str) -> ToolAnswer:
        """Note a promise that its person makes in these minutes."""
        event, said = await self._carrier(context, text, None)
        due, nudge_at = await self._due(context, text, said)
        new = NewCommitment(
            context.person_id,
            context.audience.chat_id,
            "private" if context.audience.kind == "dm" else "chat",
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else None,
            nudge_at,
        )
        return ToolAnswer(await self._consent.answer(context, "commitment_saved"), commitment=new)

    async def change(self, context: ToolContext, which: str, text: str) -> ToolAnswer:
        """Change the promise of that number to what its person now says."""
        old = _pointed(which, text, await self._mine(context))
        event, said = await self._carrier(context, text, old)
        due, nudge_at = await self._due(context, text, said)
        new = NewCommitment(
            old.owner_id,
            old.chat_id,
            old.visibility,
            text,
            context.now,
            "tool",
            (event,),
            due.at if due else old.due_at,
            nudge_at,
            old.toward,
            "" if due else old.dated,
            old.id,
        )
        told = (await self._consent.answer(context, "commitment_changed")).replace("{new}", _shown(text))
        day = local(new.due_at, await self._zone(context)).strftime("%Y-%m-%d %H:%M") if new.due_at is not None else "-"
        return ToolAnswer(told.replace("{due}", day).replace("{old}", _shown(old.text)), commitment=new)

    async def end(self, context: ToolContext, which: str, cited: str, state: CommitmentState) -> ToolAnswer:
        """Note what became of one.

        The model judges that it is over; certain is that a line holds the words it cites, and tells it plainly.
        """
        old = _pointed(which, cited, await self._mine(context))
        event, receipt = await self._ending(context, old, cited, state)
        told = (await self._consent.answer(context, "commitment_settled")).replace("{id}", str(old.id))
        return ToolAnswer(told, settled=SettledCommitment(old.id, state, (event,)), receipt=receipt)

    async def _ending(
        self, context: ToolContext, old: Commitment, cited: str, state: CommitmentState
    ) -> tuple[int, str]:
        """The message that says so, and the receipt."""
        for line in reversed(await self._consent.lines(context, done=True)):
            if state == "ongoing":
                return line.id, ""
            if await self._thread.run(partial(may_tell_end, cited, line.text, old.text, over=state == "done")):
                task = promised_title(old.text, dm=context.audience.kind == "dm")
                script = self._words.script_of(line.text, context.script)
                return line.id, self._words.messages.text(f"promise_said_{state}", script, list=task)
        raise ToolRefused("commitment_unsure", number_mark("promise", old.id))

    async def _carrier(self, context: ToolContext, text: str, old: Commitment | None) -> tuple[int, str]:
        """The message that the text rests on, and its words."""
        known = (old.text,) if old is not None else ()
        section: ItemSection = "promises" if old is None else "statements"
        since = old.made_at if old is not None else 0
        ground = await self._consent.carrier(context, text, known, section, again=old is not None, since=since)
        if not ground.event_id:
            raise ToolRefused("commitment_words", as_data(clip(ground.missing, TASK_CHARS)))
        if self._store.tombstones.covers(text):
            raise ToolRefused("experience_forgotten")
        lines = await self._consent.lines(context, done=True)
        return next((line.id, line.text) for line in lines if line.id == ground.event_id)

    async def _due(self, context: ToolContext, text: str, said: str) -> tuple[Instant | None, Nudge | None]:
        """When it is due, by its text, else by the message, and when its person is reminded."""
        tz = await self._zone(context)
        found = (due_in(each, context.now, tz) for each in (text, _ASIDE.sub("", text), said))
        due = next((each for each in found if each), None)
        return due, nudge_for(due, context.now, self._nudging, tz)

    async def _mine(self, context: ToolContext) -> Mapping[int, Commitment]:
        """The person's open promises that the audience may see, by number."""
        found = await self._store.commitments.open(context.audience, MOST_OPEN)
        return {each.id: each for each in found if each.owner_id == context.person_id}

    async def _zone(self, context: ToolContext) -> tzinfo:
        person = await self._store.people.person(context.person_id)
        return self._words.tz(person.timezone or self._words.zone)


def _shown(text: str) -> str:
    return as_data(clip(text, TEXT_CHARS))


def _pointed(which: str, text: str, known: Mapping[int, Commitment]) -> Commitment:
    """The promise of that number, or without one the one that the words are about; ToolRefused that lists them."""
    number = which.strip().lstrip(f"#{SIGNS['promise']}")
    texts = {each.id: each.text for each in known.values()}
    found = int(number[:NUMBER_CHARS]) if number.isdecimal() else _meant(number or text, texts)
    if found is None or found not in known:
        listed = (f"{number_mark('promise', each)} {_shown(said)}" for each, said in texts.items())
        raise ToolRefused("commitment_unknown", clip("; ".join(listed), LIST_CHARS) or "-")
    return known[found]


def _meant(about: str, texts: Mapping[int, str]) -> int | None:
    """The one promise that these words are about: most of them are in it, or most of it is in them."""
    number = promise_meant(about, texts.items())
    told = [each for each, text in texts.items() if promise_meant(text, ((each, about),))]
    return number if number is not None or len(told) != 1 else told[0]


_ISO = re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:[t ](?P<time>\d\d:\d\d)(?::\d\d)?)?", re.ASCII)

_EARLIER = LazyPattern(rf"{ANY['day_before']}|提前|之前|\b(?:before|early|ahead|prior)\b")
"""What says that somebody is to be reminded before the day that is named."""

_LAST = re.compile(r" <\S+")
"""The last day in a rule."""

_SENTENCE = re.compile(r"[.!?](?:\s|$)|[。!?！？;；\n①-⑳]")
_CLAUSE = re.compile(r"[.!?,](?:\s|$)|[。!?！？;；\n①-⑳，、]|\band\b")

Every = Literal["day", "week", "weekdays", "month", "year"]


class RemindArguments(ToolArguments, tool="remind"):
    """What the model may want to be said later, and the person's words for when; with `id` what changes of that one, and
    with `cancel` that it is not to be said."""

    text: str = Field(default="", max_length=500)
    when: str = Field(default="", max_length=200)
    every: Every | None = None
    until: str | None = Field(default=None, max_length=20)
    id: int | str | None = None
    cancel: bool = False


def remind_tool(
    store: Store,
    words: Texts,
    reminding: ReminderService,
    spec: ToolSpec,
    consent: Consent,
    thread: TextThread,
) -> Tool:
    """The tool; what loads a dictionary runs in `thread`."""

    async def asked(context: ToolContext) -> ReminderRequest:
        chat, person = await store.people.chat(context.audience.chat_id), await store.people.person(context.person_id)
        at = reminding.request(chat, person, context.event_ids[-1])
        newest = await store.events.of(context.event_ids[-1:])
        return replace(at, script=words.script_of(newest[-1].text if newest else "", at.script))

    async def remind(context: ToolContext, arguments: str) -> ToolAnswer:
        given = read_arguments(RemindArguments, arguments)
        if given.cancel:
            return await cancel(context, str(given.id if given.id is not None else given.text))
        last = _last_day(given)
        if given.until is not None and last is None:
            raise ToolRefused("remind_words")  # without its last day it would go on for ever
        at, old = await asked(context), None
        mine = await reminding.within_reach(at)
        if given.id is not None:
            named = reminders_meant(str(given.id), mine, str(given.id))
            if len(named) != 1 or named[0].promise:
                raise _which(words, at, mine)
            old = named[0]
        if (given.every or last) and (old is None or given.when) and _parts(given).every is None:
            raise ToolRefused("remind_words")  # it would be said once
        # What was set without a model for a message of this turn, the model may set right.
        anew = old is not None and old.id in await store.reminders.of_events(context.event_ids)
        asks = _any if anew else partial(_changes, old) if old else _wants
        said = await consent.wished(context, asks, "remind_unasked", done=True)
        task = clip(reminder_title(" ".join(clean(given.text).split())), TASK_CHARS)
        memories = [memory.text for memory in await store.memories.owned(context.person_id, context.audience)]
        if strange := await consent.strange(context, task, (given.when, *memories, *((old.text,) if old else ()))):
            raise ToolRefused("remind_text", as_data(clip(strange, TASK_CHARS)))
        if old is not None:
            return _changed(old, given, task, said, reminding, at, words)
        found, carrier = _resolved(given, said, reminding, at, task)
        if carrier is None or found is None:
            raise ToolRefused("remind_words")
        if not isinstance(found, NewReminder):
            raise ToolRefused("remind_unclear", found)
        if known := tuple(each for each in mine if each.due_at == found.due_at and _same(each.text, task)):
            raise ToolRefused("remind_known", _listed(words, at, known))
        if await store.reminders.set_for(carrier, found.due_at):  # by an earlier call, or ended since
            raise ToolRefused("remind_done")
        if not await reminding.has_room(at):
            raise ToolRefused("remind_full")
        words_of = next(each.text for each in reversed(said) if each.id == carrier)
        shared = SHARED.search(fold(words_of)) is not None
        new = replace(found, event_ids=(carrier,), script=script_of(words_of, at.script), shared=shared)
        told = replace(new, text=as_data(task))
        return ToolAnswer(confirmation(words, at, told, "{id}"), remind=new)  # the commit fills in the number

    async def cancel(context: ToolContext, wanted: str) -> ToolAnswer:
        at = await asked(context)
        mine = await reminding.within_reach(at)
        found = reminders_meant(wanted, mine, wanted) if wanted != "*" else ()
        # What was set without a model for a message of this turn, the model may set right.
        anew = await store.reminders.of_events(context.event_ids)
        lines = await consent.lines(context, done=True)
        wished = (bool(found) and anew.issuperset(each.id for each in found)) or any(_ends(line) for line in lines)
        told = not wished and len(found) == 1 and await thread.run(_over, found[0], lines)
        if not wished and not told:
            raise ToolRefused("remind_kept")
        if len(found) != 1:
            raise _which(words, at, found or mine)
        old = found[0]
        text = words.openings.text("remind_ended", at.script, id=old.id)
        title = f"{number_mark('reminder', old.id)} {old.text}".strip()
        script = words.script_of(lines[-1].text, context.script)
        said = words.messages.text("remind_cancelled", script, list=title)
        return ToolAnswer(text, unremind=(old.id,), receipt=said if told or old.person_id != at.person.id else "")

    return Tool(spec, remind)


def _any(_: Event) -> bool:
    return True


def _wants(line: Event) -> bool:
    """Whether it asks to be reminded, or names a time: the model judges what is wanted then."""
    return WANTED.search(spelt(fold(line.text))) is not None or any(one.spans for one in _times((line,)))


def _changes(old: Reminder, line: Event) -> bool:
    return line.at > old.made_at or CHANGED.search(fold(line.text)) is not None


def _changed(
    old: Reminder,
    given: RemindArguments,
    task: str,
    said: tuple[Event, ...],
    reminding: ReminderService,
    at: ReminderRequest,
    words: Texts,
) -> ToolAnswer:
    """That reminder with other words or another time, which one of these messages says; ToolRefused where none does."""
    last = _last_day(given)
    again = given.every is not None or (last is not None and bool(given.when))
    if given.every is not None and not given.when:
        given = given.model_copy(update={"when": local(old.due_at, at.tz).strftime("%Y-%m-%dT%H:%M")})
    then, carrier, when = (old.due_at, old.rule), said[-1].id, given.when
    if last is not None and not again:
        if not old.rule or last < local_day(old.due_at, at.tz):
            raise ToolRefused("remind_words")
        then = old.due_at, ending(_LAST.sub("", old.rule), last)
    wanted = fold(" ".join(clean(when).split()))
    if again or (wanted and wanted.replace(" ", "t")[:16] != local(old.due_at, at.tz).strftime("%Y-%m-%dt%H:%M")):
        stands = [line for line in said if wanted in " ".join(fold(line.text).split())]
        ways = [(line, time_parts(when)) for line in stands] or [(line, time_parts(line.text)) for line in said]
        moved = [(line.id, found) for line, parts in ways if (found := retimed(old, parts, "", at.now, at.tz))]
        if not stands:  # a date of the model's own
            named = wanted.replace(" ", "t")[:16]
            moved = [each for each in moved if local(each[1][0], at.tz).strftime("%Y-%m-%dt%H:%M") == named]
        if not moved or again:
            new, other = _resolved(given, said, reminding, at, task)
            if other is None or new is None:
                raise ToolRefused("remind_words")
            if not isinstance(new, NewReminder):
                raise ToolRefused("remind_unclear", new)
            moved = [(other, (new.due_at, new.rule))]
        carrier, then = moved[-1]
    new = NewReminder(
        old.person_id, old.chat_id, task or old.text, *then, (carrier,), script=old.script, shared=old.shared
    )
    text = confirmation(words, at, replace(new, text=as_data(new.text)), old.id)
    receipt = confirmation(words, at, new, old.id) if old.person_id != at.person.id else ""
    return ToolAnswer(text, remind=new, unremind=(old.id,), receipt=receipt)


def _ends(line: Event) -> bool:
    return ENDED.search(OR_NOT.sub(r"\1", fold(line.text))) is not None


def _over(old: Reminder, lines: tuple[Event, ...]) -> bool:
    """Whether one of these lines, written since, tells that its thing is done, off or gone."""
    own, known = content_words(old.text), ((old.id, old.text),)
    for line in lines:
        about = line.at > old.made_at and own & content_words(line.text)
        if about and may_tell_end(line.text, line.text, old.text, over=True):
            endings = promise_endings(line.text, known)
            if endings.ended or endings.asks or GONE.search(fold(line.text)):
                return True
    return False


def _resolved(
    given: RemindArguments, said: tuple[Event, ...], reminding: ReminderService, at: ReminderRequest, task: str
) -> tuple[NewReminder | str | None, int | None]:
    """What a model's word for the time makes, and the message that it rests on; no message where theirs say otherwise.

    Their own words are read by the installation. A date of the model's own counts unless their lines name other hours,
    or only other days.
    """
    wanted = fold(" ".join(clean(given.when).split()))
    found: NewReminder | str | None = reminding.resolve(at, given.when, task, _parts(given))
    carrier = next((each for each in said if wanted and wanted in " ".join(fold(each.text).split())), None)
    if carrier is not None:
        # The night before, like 9pm: which one only a date tells.
        night = (
            isinstance(found, NewReminder) and not time_parts(given.when).day and DAY_BEFORE.search(fold(carrier.text))
        )
        return (None, None) if night else (found, carrier.id)
    if not isinstance(found, NewReminder) or _denied(found, said, at.tz):
        return found, None
    day = local_day(found.due_at, at.tz)
    times = _times(said)
    if not any(one.clock or one.times or one.delay or one.lead for one in times):
        hour = local(found.due_at, at.tz).hour
        in_part = not found.assumed and any(hour_in(one.half, hour) for one in times)
        parts = _parts(given.model_copy(update={"when": day.isoformat()}))
        halves = {one.half for one in times} - {""}
        if len(halves) == 1:  # the night that they name, at its usual hour
            parts = replace(parts, half=halves.pop())
        alone = reminding.resolve(at, day.isoformat(), task, parts)
        found = replace(found, assumed=True) if in_part else alone
    named = (each.id for each in reversed(said) if checked_when(day.isoformat(), [(each.text, each.at)], at.tz))
    return found, next(named, said[-1].id)


def _parts(given: RemindArguments) -> TimeParts:
    """The time that is asked for: a date by its figures, what comes back and its last day; else as the words say."""
    dated, last = _ISO.fullmatch(fold(given.when.strip())), _last_day(given)
    until = NamedDay("date", last.day, month=last.month, year=last.year) if last else None
    if dated is None:
        parts = _repeated(time_parts(given.when), given)
        return replace(parts, until=until) if until and parts.every else parts
    hour, minute = map(int, (dated["time"] or "0:0").split(":"))
    clock = ClockTime(hour, minute, whole=True) if dated["time"] else None
    day, number, month = _day(dated), str(int(dated["d"])), str(int(dated["m"]))
    match given.every:
        case "day":
            every = Repetition()
        case "weekdays":
            every = Repetition(weekdays=",".join(WEEKDAY_NAMES[:5]))
        case "week":
            first = _date(dated)
            every = Repetition(weekdays=WEEKDAY_NAMES[first.weekday() if first else 0])
        case "month":
            every = Repetition(number)
        case "year":
            every = Repetition(number, month)
        case None:
            return TimeParts(day, clock)
    return TimeParts(clock=clock, every=every, since=day, until=until)


def _repeated(parts: TimeParts, given: RemindArguments) -> TimeParts:
    """The time that words name, which comes back as `every` says where they do not say it themselves."""
    match given.every if parts.every is None else None, parts.day:
        case "week", NamedDay(kind="weekday", plus=0) as day:
            return replace(parts, day=None, every=Repetition(weekdays=WEEKDAY_NAMES[day.weekday]))
        case "day", None:
            return replace(parts, every=Repetition())
        case "weekdays", None:
            return replace(parts, every=Repetition(weekdays=",".join(WEEKDAY_NAMES[:5])))
    return parts


def _day(dated: re.Match[str]) -> NamedDay:
    return NamedDay("date", int(dated["d"]), month=int(dated["m"]), year=int(dated["y"]))


def _date(dated: re.Match[str]) -> date | None:
    """The day of these figures; None where there is none such."""
    try:
        return date(int(dated["y"]), int(dated["m"]), int(dated["d"]))
    except ValueError:
        return None


def _last_day(given: RemindArguments) -> date | None:
    """The last day on which it is to be said; None where none is named that there is."""
    last = _ISO.fullmatch((given.until or "").strip().lower())
    return _date(last) if last else None


def _denied(found: NewReminder, said: tuple[Event, ...], tz: tzinfo) -> bool:
    """Whether these lines name no time; or hours, and this is none of them, nor are its figures there; or days, and it
    is of none, nor of the month of one by its figures, nor before one."""
    due, parts = local(found.due_at, tz), _times(said)
    counted = any(one.lead or one.delay for one in parts)
    hours = [(one.clock, one.half) for one in parts if one.clock] + [each for one in parts for each in one.times]
    fits = counted or found.assumed or any(_fits(*each, due) for each in hours) or _figures_stand(due, said)
    other_hour = hours and not fits
    if other_hour or not any(one.spans for one in parts):
        return True
    lines = [(piece, each.at) for each in said for piece in (each.text, *_pieces(each.text))]
    if found.rule or counted or checked_when(due.date().isoformat(), lines, tz) is not None:
        return False
    days = [local_day(one.at, tz) for text, then in lines if (one := date_in(text, then, tz))]
    # 下个月14号他出差，13号晚上提醒我: the month stands beside the other day.
    if any((day.year, day.month) == (due.year, due.month) for day in days) and str(due.day) in _figures(said):
        return False
    earlier = any(_EARLIER.search(fold(text)) for text, _ in lines) and any(due.date() < day for day in days)
    return bool(days) and not earlier


def _times(said: tuple[Event, ...]) -> list[TimeParts]:
    """The times of each sentence and each clause: the part of the day in another one says nothing of an hour."""
    return [time_parts(piece) for each in said for piece in _pieces(each.text)]


def _pieces(text: str) -> list[str]:
    """Its sentences and its clauses."""
    pieces = dict.fromkeys(piece for ends in (_SENTENCE, _CLAUSE) for piece in ends.split(text))
    return [piece for piece in pieces if piece.strip()]


def _figures_stand(due: datetime, said: tuple[Event, ...]) -> bool:
    """Whether the figures of an hour stand in these lines, also where no grammar reads them: 五点九(即係5:45)."""
    told = _figures(said, hours=bool(due.minute))
    return not told.isdisjoint({str(due.hour), str(due.hour % 12 or 12)}) and (
        not due.minute or str(due.minute) in told
    )


def _figures(said: tuple[Event, ...], *, hours: bool = True) -> frozenset[str]:
    """The figures that stand in these lines, without those of hours and minutes where they are not asked for."""
    heard = folded_plain("\n".join(line.text for line in said))
    return frozenset(numbers(heard if hours else _HOUR_AND_MINUTE.sub(" ", heard), all_of_them=True))


def _fits(clock: ClockTime, half: DayPart, due: datetime) -> bool:
    """Whether an hour that was said may be that one."""
    return (clock.hour - due.hour) % 12 == 0 and clock.minute == due.minute and (not half or hour_in(half, due.hour))


def _same(one: str, other: str) -> bool:
    """Whether two titles are of the same thing, or one of them says nothing."""
    return not one or not other or bool(content_words(one) & content_words(other))


def _which(words: Texts, at: ReminderRequest, found: tuple[Reminder, ...]) -> ToolRefused:
    """The refusal that asks which of these; of none: they have none of their own."""
    return ToolRefused("remind_which" if found else "remind_none", _listed(words, at, found))


def _listed(words: Texts, at: ReminderRequest, found: tuple[Reminder, ...]) -> str:
    """A few reminders as a refusal names them."""
    return (
        "; ".join(
            f"{number_mark('reminder', each.id)} {as_data(clip(each.text, 40))} "
            f"{when_label(words, each.due_at, at.now, at.tz, at.script)}"
            for each in found[:5]
        )
        or "-"
    )
