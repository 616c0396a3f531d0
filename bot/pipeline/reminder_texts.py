"""How reminders are told: their times in words, confirmations, questions, lists, and the line when one is due."""

import re
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from bot.core.clock import DAY_MS, HOUR_MS, MINUTE_MS, Unclear
from bot.core.memories import DueReminder, NewReminder, Reminder
from bot.core.people import Chat, Person, Script
from bot.language.reminders.wording import in_second_person
from bot.language.time.parts import WEEKDAY_NAMES
from bot.language.time.schedule import SEVERAL, rule_step, short_day, until_of
from bot.pipeline.texts import Texts
from bot.speaking.reminders import promised_task, told_to
from bot.text.clean import clean_name
from bot.text.codes import number_mark
from bot.text.dates import local, local_day
from bot.text.length import clip

SHOWN = 20
"""Reminders that one list names."""

SAID_CHARS = 40
"""Characters of somebody's words for a time, in a question about it."""

_WORKDAYS = ",".join(WEEKDAY_NAMES[:5])

_EVERYONE = re.compile(r"@(?=everyone|here|all\b|channel)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReminderRequest:
    """Whose wish it is, where, and which zone's clock they mean; `event_id` is the message that tells it."""

    chat: Chat
    person: Person
    event_id: int
    now: int
    tz: tzinfo
    script: Script


def confirmation(words: Texts, at: ReminderRequest, new: NewReminder, number: int | str) -> str:
    """What is said of a reminder that was set, with its whole date, and of what was assumed for it."""
    when = when_label(words, new.due_at, at.now, at.tz, at.script)
    rule = rule_label(words, new.rule, at.script) if new.rule else ""
    everyone = "_all" if new.shared and at.chat.kind == "group" else "" if new.text else "_bare"
    said = _text(
        words, at, f"remind_set{'_rule' if rule else ''}{everyone}", when=when, rule=rule, task=new.text, id=number
    )
    notes = [_text(words, at, "remind_assumed")] if new.assumed else []
    if day := short_day(new.rule):
        notes.append(_text(words, at, "remind_short", day=day))
    return " ".join([said, *notes]) if at.script == "en" else "".join([said, *notes])


def question_about(words: Texts, at: ReminderRequest, found: Unclear | None, said: str, task: str = "") -> str:
    """What is asked of a wish whose time is unclear; None: it names none."""
    what = found.what if found is not None else "vague"
    said = clip(" ".join(said.split()), SAID_CHARS)
    if what == "task":
        return _text(words, at, "remind_ask_task" if task else "remind_ask_bare", said=said, task=task)
    return _text(
        words, at, f"remind_ask_{what}" if said or what in ("vague", "rule") else "remind_ask_vague", said=said
    )


def named_reminders(words: Texts, at: ReminderRequest, found: tuple[Reminder, ...]) -> str:
    """A few reminders in one sentence, by number."""
    named = _text(words, at, "when_and").join(
        f"{number_mark('reminder', each.id)} {each.text or reminder_time(words, at, each)}" for each in found[:SHOWN]
    )
    return named + (_text(words, at, "remind_more", n=len(found) - SHOWN) if len(found) > SHOWN else "")


def reminder_time(words: Texts, at: ReminderRequest, reminder: Reminder) -> str:
    """When it is said, or by which rule."""
    if reminder.rule:
        return rule_label(words, reminder.rule, at.script)
    return when_label(words, reminder.due_at, at.now, at.tz, at.script)


def listed_reminders(words: Texts, at: ReminderRequest, found: tuple[Reminder, ...]) -> str:
    """Reminders, one a line."""
    lines = [
        f"{number_mark('reminder', each.id)} {reminder_time(words, at, each)}"
        + (reminder_subject(words, each, at.script) if each.text else "")
        for each in found
    ]
    if len(lines) > SHOWN:
        lines = [*lines[:SHOWN], _text(words, at, "remind_more", n=len(lines) - SHOWN)]
    return "\n".join(lines) or _text(words, at, "remind_none")


def _text(words: Texts, at: ReminderRequest, key: str, **values: object) -> str:
    return words.messages.text(key, at.script, **values)


def when_label(words: Texts, at: int, now: int, tz: tzinfo, script: Script) -> str:
    """A moment, ms, with its weekday and date; the year only when it is another one."""
    there, here = local(at, tz), local(now, tz)
    text = words.messages.text
    return text(
        "when_far" if there.year != here.year else "when",
        script,
        year=there.year,
        month=_month(words, there, script),
        day=there.day,
        weekday=words.messages.words("when_weekdays", script)[there.weekday()],
        time=clock_words(words, there.hour, there.minute, script),
    )


def clock_words(words: Texts, hour: int, minute: int, script: Script) -> str:
    """早上8:00, 下午3:30, 8:00 AM."""
    part = words.messages.words("when_parts", script)[hour]
    return words.messages.text("when_clock", script, part=part, hour=hour % 12 or 12, minute=f"{minute:02d}")


def rule_label(words: Texts, rule: str, script: Script) -> str:
    """What comes back, and until when, in words."""
    said, last = _rule_words(words, rule, script), until_of(rule)
    if not last:
        return said
    day = date.fromisoformat(last)
    return words.messages.text("rule_until", script, rule=said, month=_month(words, day, script), day=day.day)


def _rule_words(words: Texts, rule: str, script: Script) -> str:
    minute, hour, day, month, weekdays = rule.split(SEVERAL, maxsplit=1)[0].split(" ")[:5]
    step, since = rule_step(rule)
    text = words.messages.text
    if hour == "*":
        return text("rule_hourly", script, minute=f"{int(minute):02d}")
    times = (each.split(" ")[:2] for each in rule.split(SEVERAL))
    time = text("when_and", script).join(clock_words(words, int(at[1]), int(at[0]), script) for at in times)
    if step > 1 and weekdays != "*":
        name = words.messages.words("when_weekdays", script)[since.weekday()]
        return text("rule_weeks", script, n=step // 7, days=name, time=time)
    if step > 1:
        return text("rule_days", script, n=step, time=time)
    if month != "*":
        there = datetime(2000, int(month), 1)  # noqa: DTZ001 - only its month is named
        return text("rule_yearly", script, month=_month(words, there, script), day=day, time=time)
    if day != "*":
        return text("rule_last" if day == "last" else "rule_monthly", script, day=day, time=time)
    if weekdays == "*":
        return text("rule_daily", script, time=time)
    if weekdays == _WORKDAYS:
        return text("rule_workdays", script, time=time)
    names = words.messages.words("when_weekdays", script)
    listed = text("when_and", script).join(names[WEEKDAY_NAMES.index(each)] for each in weekdays.split(","))
    return text("rule_weekly", script, days=listed, time=time)


def late_label(words: Texts, ms: int, script: Script) -> str:
    """How late something is: 2 小时, 3 days."""
    for key, unit in (("late_days", DAY_MS), ("late_hours", HOUR_MS)):
        if ms >= unit:
            return words.messages.text(key if ms >= 2 * unit else f"{key}_one", script, n=ms // unit)
    return words.messages.text("late_minutes", script, n=max(ms // MINUTE_MS, 1))


def _month(words: Texts, there: date, script: Script) -> str:
    return words.messages.words("when_months", script)[there.month - 1]


def reminder_line(words: Texts, due: DueReminder, now: int, late_ms: int) -> str:
    """What is said at `now`, ms; later than `late_ms` it says so. In a group to its person by name."""
    script, task, text = words.script_named(due.script), told_to(due.name, due.reminder.text), words.messages.text
    late = now - due.reminder.due_at
    if due.reminder.promise:
        zone = words.tz(due.timezone or words.zone)
        over = local_day(now, zone) != local_day(due.reminder.due_at, zone)
        task = in_second_person(promised_task(task), back=due.kind == "dm")
        said = text("remind_promise_past" if over else "remind_promise", script, task=task)
    elif due.reminder.shared and due.kind == "group":
        said = text("remind_now_all", script, task=task) if task else text("remind_now_bare_all", script)
    else:
        said = text("remind_now" if task else "remind_now_bare", script, task=task)
    if late > late_ms:
        said = text("remind_late", script, late=late_label(words, late, script), text=said)
    if due.kind == "group":
        everyone = text("remind_everyone", script)
        said = text("remind_to", script, name=everyone if due.reminder.shared else clean_name(due.name), text=said)
    return _EVERYONE.sub("＠", said)


def reminder_subject(words: Texts, reminder: Reminder, script: Script) -> str:
    """What it reminds of, after its time; of a promise with the promise's number."""
    text = words.messages.text
    if not reminder.promise:
        return text("remind_of", script, task=reminder.text)
    task = in_second_person(promised_task(reminder.text), back=False)
    return text("remind_of_promise", script, task=task, promise=reminder.promise)
