"""What nuan says when the time of a reminder has come, and what it is about in a list. It stores nothing."""

import re

from bot.flow.timewords import late_label
from bot.flow.words import Words
from bot.people.reminding import promised_task, told_to
from bot.people.wording import told
from bot.text.clean import clean_name
from bot.text.dates import local_day
from bot.text.script import Script
from bot.types.reminder import Due, Reminder

_EVERYONE = re.compile(r"@(?=everyone|here|all\b|channel)", re.IGNORECASE)


def spoken(words: Words, due: Due, now: int, late_ms: int) -> str:
    """What is said at `now`, ms; later than `late_ms` it says so. In a group to its person by name."""
    script, task, text = words.script_named(due.script), told_to(due.name, due.reminder.text), words.messages.text
    late = now - due.reminder.due_at
    if due.reminder.promise:
        zone = words.tz(due.timezone or words.zone)
        over = local_day(now, zone) != local_day(due.reminder.due_at, zone)
        task = told(promised_task(task), back=due.kind == "dm")
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


def about(words: Words, reminder: Reminder, script: Script) -> str:
    """What it reminds of, after its time; of a promise with the promise's number."""
    text = words.messages.text
    if not reminder.promise:
        return text("remind_of", script, task=reminder.text)
    task = told(promised_task(reminder.text), back=False)
    return text("remind_of_promise", script, task=task, promise=reminder.promise)
