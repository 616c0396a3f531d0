"""The texts that people and models are told: which language, which zone, times and reminders in words."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from pathlib import Path

from bot.context import CtxFrame, explained, told_now
from bot.core.clock import DAY_MS, HOUR_MS, MINUTE_MS
from bot.core.errors import ConfigError
from bot.core.memories import DueReminder, Reminder
from bot.core.people import SCRIPTS, Chat, Person, Script, script_named
from bot.language.reminders.wording import in_second_person
from bot.language.time.parts import WEEKDAY_NAMES
from bot.language.time.schedule import SEVERAL, rule_step, until_of, zone_or
from bot.speaking.reminders import promised_task, told_to
from bot.text.catalogue import Catalogue
from bot.text.clean import clean_name
from bot.text.dates import DayWords, clock_label, holiday_name, local, local_day
from bot.text.fold import script_next

KEEPS = (
    "remembered",
    "remembered_one",
    "remembered_sad",
    "remembered_again",
    "memory_changed",
    "memory_replaced",
    "nick_set",
    "nick_revoked",
    "nick_changed",
    "undone",
)
"""The receipts that say that something is kept."""
_NUMBER, _NICK = "\ue010", "\ue011"

_WORKDAYS = ",".join(WEEKDAY_NAMES[:5])

_EVERYONE = re.compile(r"@(?=everyone|here|all\b|channel)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Texts:
    """`messages` are read by people, `openings` by the model; `zone` is the machine's or the configured one.

    `names` are those the bot is called by: they tell nothing of the language of a message.
    """

    messages: Catalogue
    openings: Catalogue
    language: Script
    zone: str
    holidays: str
    names: tuple[str, ...]

    def script(self, person: Person | None) -> Script:
        """What a person usually writes in, for notices and menus; the configured language for one who never did."""
        return self.script_named(person.script if person is not None else "")

    def script_of(self, text: str, usual: str) -> Script:
        """The script of a message, in which it is replied to, of somebody who usually writes in another."""
        return script_next(text, self.names, self.script_named(usual), self.language)

    def script_named(self, name: str) -> Script:
        """The script of that name, else the configured language."""
        return script_named(name) or self.language

    def confirmed(self, receipt: str) -> tuple[int, ...]:
        """The numbers of the memories that a receipt says are kept; none for every other text."""
        numbers: list[int] = []
        for line in receipt.split("\n"):
            for key, script in ((key, script) for key in KEEPS for script in SCRIPTS):
                text = self.messages.text(key, script, id=_NUMBER, old_id=_NUMBER, nick=_NICK, old=_NICK)
                pattern = re.escape(text).replace(_NUMBER, "([0-9]{1,9})").replace(_NICK, "[^\n]*")
                if found := re.fullmatch(pattern, line):
                    numbers += [int(number) for number in found.groups()]
                    break
            else:
                return ()
        return tuple(numbers)

    def zone_of(self, chat: Chat, person: Person | None) -> str:
        """The zone whose calendar counts: the person's own in a DM, the machine's in a group and where nobody is."""
        return (person.timezone if person is not None and chat.kind == "dm" else "") or self.zone

    def tz(self, zone: str) -> tzinfo:
        """The zone of that name; the installation's for one that this machine's tables do not know (any more)."""
        return zone_or(zone, self.zone)

    @property
    def default_tz(self) -> tzinfo:
        """The installation's zone."""
        return self.tz(self.zone)

    def tz_of(self, chat: Chat, person: Person) -> tzinfo:
        """The zone that `zone_of` names."""
        return self.tz(self.zone_of(chat, person))

    def tell(self, person: Person, key: str, **values: object) -> str:
        """A sentence for a person, in what they usually write in."""
        return self.messages.text(key, self.script(person), **values)

    def opening(self, script: Script) -> Callable[..., str]:
        """The opening's words in one language."""
        return lambda key, **values: self.openings.text(key, script, **values)

    def days(self, script: Script) -> DayWords:
        """The words for near days."""
        text = self.messages.text
        return DayWords(
            text("today", script),
            text("yesterday", script),
            text("tomorrow", script),
            text("days_ago", script, days="{n}"),
            text("days_ahead", script, days="{n}"),
        )

    def frame(self, now: int, zone: str, script: Script, log: Sequence[str], alone: str | None = None) -> CtxFrame:
        """Time, legend and words of a <ctx> that follows these user messages of a log; the minute, date, weekday and
        holiday where the log has not told them yet. `alone` is the name of who talks with nuan alone, None in a group."""
        tz = self.tz(zone)
        day = local_day(now, tz)
        weekday = self.openings.text("weekday_names", script).split()[day.weekday()]
        label = clock_label(now, tz)
        date, _, time = label.partition(" ")
        told_day, told_time = told_now(log)
        is_news = date != told_day
        return CtxFrame(
            now=label if is_news else "" if time == told_time else time,
            weekday=weekday if is_news else "",
            holiday=holiday_name(day, self.holidays, script) if self.holidays and is_news else "",
            legend=self.openings.text("legend", script),
            explained=explained(log),
            note=self.openings.text("legend_group", script) if alone is None else "",
            cut_note=self.openings.text("cut", script, n="{n}"),
            forgotten=self.openings.text("forgotten", script),
            alone=alone,
        )


def read_instructions(find: Callable[[str], Path], folder: str) -> dict[Script, str]:
    """The instruction of that folder in each language; ConfigError names the files that cannot be read."""
    problems: list[str] = []
    found: dict[Script, str] = {}
    for language in SCRIPTS:
        path = find(f"{folder}/{language}.txt")
        try:
            found[language] = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"prompts: {folder}/{path.name} cannot be read ({error})")
    if problems:
        raise ConfigError(tuple(problems))
    return found


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
