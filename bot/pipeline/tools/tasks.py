"""The tools add_commitment and remind: promise and time stand in the person's own words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import tzinfo
from functools import partial
from itertools import pairwise

from pydantic import Field

from bot.core.clock import MINUTE_MS
from bot.core.commitments import Commitment, CommitmentState, NewReminder, NudgeRules, Reminder
from bot.core.events import Event
from bot.core.models import ToolSpec
from bot.core.tools import Tool, ToolAnswer, ToolArguments, ToolContext, ToolRefused, read_arguments
from bot.language.reminders.wording import (
    CHANGED,
    DAY_BEFORE,
    ENDED,
    GONE,
    SHARED,
    TASK_CHARS,
    WANTED,
    reminder_title,
)
from bot.language.time.dates import checked_when, date_in
from bot.language.time.moments import hour_in, time_parts
from bot.memory.digest.answer import ItemSection
from bot.memory.promises import may_tell_end, promise_endings
from bot.pipeline.actions.plans import promised_title
from bot.pipeline.concurrency import TextThread
from bot.pipeline.reminders import ReminderRequest, ReminderService
from bot.pipeline.texts import Texts, when_label
from bot.pipeline.tools.consent import OR_NOT, Consent
from bot.speaking.reminders import reminders_meant, retimed
from bot.store.store import Store
from bot.text.clean import as_data, clean
from bot.text.codes import number_mark
from bot.text.dates import local, local_day
from bot.text.fold import fold, script_of
from bot.text.length import clip
from bot.text.similarity import content_words
from bot.tools.commitments import ChangePromise, commitment_tool, promise_changer

MOST_OPEN = 100
"""Open promises among which a number is looked up."""


def promise_tool(
    store: Store, words: Texts, spec: ToolSpec, consent: Consent, nudging: NudgeRules | None, thread: TextThread
) -> tuple[Tool, ChangePromise]:
    """The tool, and what changes a promise for other tools; `nudging` is how people are reminded of what they promise.
    What loads a dictionary runs in `thread`."""

    async def carrier(context: ToolContext, text: str, old: Commitment | None) -> tuple[int, str]:
        known = (old.text,) if old is not None else ()
        section: ItemSection = "promises" if old is None else "statements"
        since = old.made_at if old is not None else 0
        ground = await consent.carrier(context, text, known, section, again=old is not None, since=since)
        if not ground.event_id:
            raise ToolRefused("commitment_words", as_data(clip(ground.missing, TASK_CHARS)))
        lines = await consent.lines(context, done=True)
        return next((line.id, line.text) for line in lines if line.id == ground.event_id)

    async def ending(
        context: ToolContext, number: int, state: CommitmentState, cited: str, open_: Mapping[int, str]
    ) -> tuple[int, str]:
        """The model judges that it is over; certain is that a line holds the words it cites, and tells it plainly."""
        for line in reversed(await consent.lines(context, done=True)):
            if state == "ongoing":
                return line.id, ""
            if await thread.run(partial(may_tell_end, cited, line.text, open_[number], over=state == "done")):
                task = promised_title(open_[number], dm=context.audience.kind == "dm")
                script = words.script_of(line.text, context.script)
                return line.id, words.messages.text(f"promise_said_{state}", script, list=task)
        raise ToolRefused("commitment_unsure", number_mark("promise", number))

    async def mine(context: ToolContext) -> tuple[Commitment, ...]:
        found = await store.commitments.open(context.audience, MOST_OPEN)
        return tuple(each for each in found if each.owner_id == context.person_id)

    async def zone(context: ToolContext) -> tzinfo:
        person = await store.people.person(context.person_id)
        return words.tz(person.timezone or words.zone)

    covers = store.tombstones.covers
    change = promise_changer(carrier, mine, covers, zone, consent.answer, nudging)
    return commitment_tool(spec, carrier, mine, covers, zone, consent.answer, ending, change, nudging), change


_ISO = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?:[t ](?P<time>\d\d:\d\d)(?::\d\d)?)?", re.ASCII)

_PIECE = re.compile(r"\band\b|[,，;；。、和跟與与]|再|然后")
"""What stands between several times of one line."""

_SENTENCE = re.compile(r"[.!?](?:\s|$)|[。!?！？;；\n]")


class RemindArguments(ToolArguments, tool="remind"):
    """What the model may want to be said later, and the person's words for when; with `id` what changes of that one, and
    with `cancel` that it is not to be said."""

    text: str = Field(default="", max_length=500)
    when: str = Field(default="", max_length=200)
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
        return reminding.request(chat, person, context.event_ids[-1])

    async def remind(context: ToolContext, arguments: str) -> ToolAnswer:
        given = read_arguments(RemindArguments, arguments)
        if given.cancel:
            return await cancel(context, str(given.id if given.id is not None else given.text))
        at, old = await asked(context), None
        mine = await reminding.within_reach(at)
        if given.id is not None:
            named = reminders_meant(str(given.id), mine, str(given.id))
            if len(named) != 1 or named[0].promise:
                raise _which(words, at, mine)
            old = named[0]
        said = await consent.wished(context, partial(_changes, old) if old else _wants, "remind_unasked", done=True)
        task = clip(reminder_title(" ".join(clean(given.text).split())), TASK_CHARS)
        memories = [memory.text for memory in await store.memories.owned(context.person_id, context.audience)]
        if strange := await consent.strange(context, task, (given.when, *memories, *((old.text,) if old else ()))):
            raise ToolRefused("remind_text", as_data(clip(strange, TASK_CHARS)))
        if old is not None:
            return _changed(old, given.when, task, said, reminding, at)
        found, carrier = _resolved(given.when, said, reminding, at, task)
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
        return ToolAnswer(reminding.confirmation(at, told, "{id}"), remind=new)  # the commit fills in the number

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
        text = words.openings.text("remind_ended", words.script_named(context.script), id=old.id)
        title = f"{number_mark('reminder', old.id)} {old.text}".strip()
        script = words.script_of(lines[-1].text, context.script)
        said = words.messages.text("remind_cancelled", script, list=title)
        return ToolAnswer(text, unremind=(old.id,), receipt=said if told or old.person_id != at.person.id else "")

    return Tool(spec, remind)


def _wants(line: Event) -> bool:
    return WANTED.search(fold(line.text)) is not None


def _changes(old: Reminder, line: Event) -> bool:
    return line.at > old.made_at or CHANGED.search(fold(line.text)) is not None


def _changed(
    old: Reminder, when: str, task: str, said: tuple[Event, ...], reminding: ReminderService, at: ReminderRequest
) -> ToolAnswer:
    """That reminder with other words or another time, which one of these messages says; ToolRefused where none does."""
    then, carrier = (old.due_at, old.rule), said[-1].id
    wanted = fold(" ".join(clean(when).split()))
    if wanted and wanted.replace(" ", "t")[:16] != local(old.due_at, at.tz).strftime("%Y-%m-%dt%H:%M"):
        stands = [line for line in said if wanted in " ".join(fold(line.text).split())]
        ways = [(line, time_parts(when)) for line in stands] or [(line, time_parts(line.text)) for line in said]
        moved = [(line.id, found) for line, parts in ways if (found := retimed(old, parts, "", at.now, at.tz))]
        if not stands:  # a date of the model's own
            named = wanted.replace(" ", "t")[:16]
            moved = [each for each in moved if local(each[1][0], at.tz).strftime("%Y-%m-%dt%H:%M") == named]
        if not moved:
            new, other = _resolved(when, said, reminding, at, task)
            if other is None or new is None:
                raise ToolRefused("remind_words")
            if not isinstance(new, NewReminder):
                raise ToolRefused("remind_unclear", new)
            moved = [(other, (new.due_at, new.rule))]
        carrier, then = moved[-1]
    new = NewReminder(
        old.person_id, old.chat_id, task or old.text, *then, (carrier,), script=old.script, shared=old.shared
    )
    text = reminding.confirmation(at, replace(new, text=as_data(new.text)), old.id)
    receipt = reminding.confirmation(at, new, old.id) if old.person_id != at.person.id else ""
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
    when: str, said: tuple[Event, ...], reminding: ReminderService, at: ReminderRequest, task: str
) -> tuple[NewReminder | str | None, int | None]:
    """What a model's words for the time make, and the message that carries them; no message where none does."""
    wanted = fold(" ".join(clean(when).split()))
    found: NewReminder | str | None = reminding.resolve(at, when, task)
    carrier = next((each.id for each in said if wanted and wanted in " ".join(fold(each.text).split())), None)
    if carrier is not None and isinstance(found, NewReminder) and not time_parts(when).day and _night(said, carrier):
        return None, None  # the night before, like 9pm: which one only a date tells
    if carrier is None and isinstance(found, NewReminder) and not found.rule:  # the same moment in other words
        carrier = next((each.id for each in said if _names(each, found.due_at, at.tz)), None)
        for line, answer in pairwise(said):  # remind me fri at 7 … 7pm i mean
            if reminding.answers(at, line.text, answer.text) == found.due_at:
                carrier = answer.id
    if carrier is not None:
        return found, carrier
    carrier = next((each.id for each in reversed(said) if _leaves_day(each, found, at.tz)), None)
    if carrier is not None:
        return found, carrier
    dated, lines = _ISO.fullmatch(wanted), [(each.text, each.at) for each in said]
    if dated is None and isinstance(found, NewReminder) and not found.rule and not found.assumed:
        # The day stands in one line, the hour in another: 约了周四看牙医 … 四点叫我一下.
        moment = local(found.due_at, at.tz).strftime("%Y-%m-%dT%H:%M")
        named = checked_when(moment, lines, at.tz)
        dated = _ISO.fullmatch(moment.lower()) if named is not None and named.precision == "time" else None
    if dated is None:
        return found, None
    found = _checked(found, dated, said, reminding, at, task)
    named_in = (each.id for each in reversed(said) if checked_when(dated["day"], [(each.text, each.at)], at.tz))
    return found, next(named_in, None)


def _leaves_day(event: Event, found: NewReminder | str | None, tz: tzinfo) -> bool:
    """Whether a line names that hour and no other day, or one of the hours of each day: which days, the model judges."""
    if not isinstance(found, NewReminder) or found.assumed:
        return False
    parts, due = time_parts(event.text), local(found.due_at, tz)
    if bool(found.rule) != (parts.every is not None) or (parts.day is not None and not found.rule):
        return False
    hours = parts.times or (((parts.clock, parts.half),) if parts.clock is not None else ())
    return any(
        (clock.hour - due.hour) % 12 == 0 and clock.minute == due.minute and (not half or hour_in(half, due.hour))
        for clock, half in hours
    )


def _night(said: tuple[Event, ...], carrier: int) -> bool:
    return any(DAY_BEFORE.search(fold(each.text)) for each in said if each.id == carrier)


def _same(one: str, other: str) -> bool:
    """Whether two titles are of the same thing, or one of them says nothing."""
    return not one or not other or bool(content_words(one) & content_words(other))


def _checked(
    found: NewReminder | str | None,
    dated: re.Match[str],
    said: tuple[Event, ...],
    reminding: ReminderService,
    at: ReminderRequest,
    task: str,
) -> NewReminder | str | None:
    """A model's own date, where the person's lines name its day: at their hour, or one of the part of the day in them.

    Of a day alone it is the configured hour, whatever the model says; None where they name another day or hour.
    """
    named = checked_when(dated[0].upper().replace(" ", "T"), [(each.text, each.at) for each in said], at.tz)
    if named is None or not isinstance(found, NewReminder):
        return found if named is not None else None
    if named.precision == "time":
        return found
    parts = [time_parts(each.text) for each in said]
    if any(each.clock is not None or each.delay is not None for each in parts):
        return None
    if dated["time"] and any(hour_in(each.half, local(found.due_at, at.tz).hour) for each in parts):
        return replace(found, assumed=True)
    return reminding.resolve(at, dated["day"], task)


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


def _names(event: Event, due_at: int, tz: tzinfo) -> bool:
    """Whether a line names that very minute; of several times of one day each is named in its own piece."""
    found = date_in(event.text, event.at, tz)
    if DAY_BEFORE.search(fold(event.text)):  # which night that is they know, and the confirmation tells its date
        hour = date_in(f"{local_day(due_at, tz).isoformat()} {event.text}", event.at, tz)
        return hour is not None and abs(hour.at - due_at) < MINUTE_MS
    if found is None:
        return False
    if found.precision == "time" and abs(found.at - due_at) < MINUTE_MS:
        return True
    day = local_day(due_at, tz)
    if local_day(found.at, tz) != day:
        return False
    pieces = (date_in(f"{day.isoformat()} {piece}", event.at, tz) for piece in _PIECE.split(event.text))
    if any(each is not None and abs(each.at - due_at) < MINUTE_MS for each in pieces):
        return True
    # The hour of another sentence says nothing of this one: the clocks change tonight. wake me at 5.30
    moment = local(due_at, tz).strftime("%Y-%m-%dT%H:%M")
    own = (f"{day.isoformat()} {piece}" for piece in _SENTENCE.split(event.text) if piece.strip())
    named = [checked_when(moment, [(piece, event.at)], tz) for piece in own]
    return any(each is not None and each.precision == "time" for each in named)
