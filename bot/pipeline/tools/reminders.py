"""The tool remind: what is set, moved or ended, and when, stands in the person's own words."""

import re
from dataclasses import replace
from datetime import date, datetime, tzinfo
from functools import partial
from typing import Literal

from pydantic import Field

from bot.core.clock import MINUTE_MS
from bot.core.events import Event
from bot.core.memories import (
    NewReminder,
    Reminder,
)
from bot.core.models import ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.assertions import folded_plain, numbers, parts_of
from bot.language.reminders.wording import (
    ANY,
    CHANGED,
    DAY_BEFORE,
    ENDED,
    GONE,
    KEPT,
    QUOTED,
    SHARED,
    TASK_CHARS,
    WANTED,
    reminder_title,
    spelt,
)
from bot.language.statements import READ_CHARS, sentences
from bot.language.time.dates import checked_when, date_in
from bot.language.time.moments import hour_in, lengths, time_parts
from bot.language.time.parts import (
    WEEKDAY_NAMES,
    ClockTime,
    DayPart,
    NamedDay,
    Repetition,
    TimeParts,
    after,
)
from bot.language.time.schedule import ending
from bot.memory.promises import may_tell_end, promise_endings
from bot.pipeline.concurrency import TextThread
from bot.pipeline.reminder_texts import ReminderRequest, confirmation, when_label
from bot.pipeline.reminders import ReminderService
from bot.pipeline.texts import Texts
from bot.pipeline.tools.consent import OR_NOT, Consent
from bot.speaking.reminders import reminders_meant, retimed, speaks_of
from bot.store.store import Store
from bot.text.catalogue import LazyPattern
from bot.text.clean import as_data, clean
from bot.text.codes import number_mark
from bot.text.dates import local, local_day, ms_of
from bot.text.fold import fold, script_of
from bot.text.length import clip
from bot.text.similarity import content_words

_HOUR_AND_MINUTE = re.compile(r"\d{1,2}[:：.]\d\d")

SHORT_MS = 2 * MINUTE_MS
"""What a model counts from a line by the minutes of its clock may differ by less than this."""

_LATER = re.compile(r"\blater\b")

_ISO = re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?:[t ](?P<time>\d\d:\d\d)(?::\d\d)?)?", re.ASCII)

_EARLIER = LazyPattern(rf"{ANY['day_before']}|提前|之前|\b(?:before|early|ahead|prior)\b")
"""What says that somebody is to be reminded before the day that is named."""

_LAST = re.compile(r" <\S+")
"""The last day in a rule."""

_PIECE_ENDS = (
    re.compile(r"[.!?](?:\s|$)|[。!?！？;；\n①-⑳]"),
    re.compile(r"[.!?,](?:\s|$)|[。!?！？;；\n①-⑳，、]|\band\b"),
)
"""What ends the sentences, and what the clauses, in which an hour stands with its part of the day."""

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
        wished = bool(found) and anew.issuperset(each.id for each in found)
        wished = wished or await thread.run(lambda: any(_ends(line, found) for line in lines))
        told = not wished and len(found) == 1 and await thread.run(_over, found[0], lines)
        if not wished and not told:
            raise ToolRefused("remind_kept")
        if len(found) != 1:
            raise _which(words, at, found or mine)
        old = found[0]
        text = words.openings.text("remind_ended", at.script, id=old.id)
        title = f"{number_mark('reminder', old.id)} {old.text}".strip()
        script = words.script_of(lines[-1].text, context.script)
        key = "remind_stopped" if old.person_id == at.person.id else "remind_cancelled"
        return ToolAnswer(text, unremind=(old.id,), receipt=words.messages.text(key, script, list=title))

    return Tool(spec, remind)


def _any(_: Event) -> bool:
    return True


def _wants(line: Event) -> bool:
    """Whether it asks to be reminded, or names a time or how long: the model judges what is wanted then."""
    timed = any(one.spans for one in _times((line,))) or bool(lengths(line.text))
    return timed or WANTED.search(spelt(fold(line.text))) is not None


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
        if stands and _counts_from_old(wanted):
            raise ToolRefused("remind_shift")
        ways = [(line, time_parts(when)) for line in stands] or [(line, time_parts(line.text)) for line in said]
        moved = [(line.id, found) for line, parts in ways if (found := retimed(old, parts, "", at.now, at.tz))]
        if not stands:  # a date of the model's own
            named = wanted.replace(" ", "t")[:16]
            moved = [each for each in moved if local(each[1][0], at.tz).strftime("%Y-%m-%dt%H:%M") == named]
            moved = moved or [(line.id, shift) for line in said if (shift := _shifted(old, named, line, at))]
            since = tuple(line for line in said if line.at > old.made_at)
            timed = any(one.clock or one.times or one.half or one.day or one.every for one in _times(since))
            if not (moved or again or timed) and any(lengths(line.text) for line in since):
                raise ToolRefused("remind_words")  # as much later as they did not say
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


def _counts_from_old(wanted: str) -> bool:
    """Whether folded words say only how much later or earlier: which moment that is, a date of the model's own says."""
    parts = time_parts(wanted)
    timed = parts.clock or parts.day or parts.every or (parts.delay and not _LATER.search(wanted))
    return not timed and bool(lengths(wanted))


def _shifted(old: Reminder, named: str, line: Event, at: ReminderRequest) -> tuple[int, str] | None:
    """The moment of the model's own, ms, and the rule, of a line written since that names exactly how much later or
    earlier that is, its hour in figures or words that no grammar reads (make it nine), or its day, where the hour stays
    (Friday, same time: on Thursday I am away)."""
    try:
        then = datetime.strptime(named, "%Y-%m-%dt%H:%M")  # noqa: DTZ007 - by the wall clock, as the other one
    except ValueError:
        return None
    before = local(old.due_at, at.tz).replace(tzinfo=None)
    early, late = sorted((before, then))
    timed = any(one.clock or one.times for one in _times((line,)))
    counted = any(after(early, length) == late for length in lengths(line.text))
    if then.date() == before.date():
        stands = not timed and _figures_stand(then, (line,))
    else:
        day = (line.text, line.at)
        stands = not timed and then.time() == before.time() and checked_when(named[:10], [day], at.tz) is not None
    if line.at <= old.made_at or not (counted or stands):
        return None
    if old.rule:
        clock = ClockTime(then.hour, then.minute, whole=True)
        return retimed(old, TimeParts(clock=clock), "", at.now, at.tz) if then.date() == before.date() else None
    due = ms_of(then.replace(tzinfo=at.tz))
    return (due, "") if due > at.now else None


def _ends(line: Event, found: tuple[Reminder, ...]) -> bool:
    """Whether it says that something is over, or tells something of one of these that was set before, without asking,
    guessing or wanting it kept: what becomes of it is the model's to judge."""
    folded = OR_NOT.sub(r"\1", QUOTED.sub(" ", fold(line.text[:READ_CHARS])))
    if KEPT.search(folded):
        return False
    if ENDED.search(folded):
        return True
    told = [each.text for each in sentences(folded) if not each.asks]
    plain = [text for text in told if not any(part.hedged for part in parts_of(0, text))]
    return any(line.at > each.made_at and speaks_of(each, text) for each in found for text in plain)


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
    if isinstance(found, NewReminder):  # snooze 10 min
        due = found.due_at
        counted = (each.id for each in reversed(said) if any(abs(due - then) < SHORT_MS for then in _ahead(each, at)))
        if (number := next(counted, 0)) and not found.assumed:
            return found, number
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


def _ahead(line: Event, at: ReminderRequest) -> list[int]:
    """The moments, ms, that are as long after this line as it names."""
    then = local(line.at, at.tz)
    return [ms_of(after(then.replace(tzinfo=None), each).replace(tzinfo=at.tz)) for each in lengths(line.text)]


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
    pieces = dict.fromkeys(piece for ends in _PIECE_ENDS for piece in ends.split(text))
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
