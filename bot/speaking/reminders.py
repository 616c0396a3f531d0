"""When a reminder is said (quiet hours, changed times), and which of several reminders is meant."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, tzinfo

from bot.config.speaking import RemindRules
from bot.core.clock import HOUR_MS, Instant, Recurring, Unclear, UnclearTime
from bot.core.memories import NudgeRules, Reminder
from bot.language.reminders.requests import ALL_REMINDERS, ReminderWish, requests, task_of
from bot.language.reminders.wording import ABOUT, in_second_person
from bot.language.time.dates import date_in
from bot.language.time.moments import PART_HOURS, hour_of, joined_parts, lengths, moment_meant, time_parts
from bot.language.time.parts import DayPart, Delay, NamedDay, TimeParts, after, date_of_named
from bot.language.time.schedule import SEVERAL, next_of
from bot.speaking.initiative import is_quiet_hour
from bot.text.catalogue import LazyPattern, patterns_in, read_table
from bot.text.codes import SIGNS
from bot.text.dates import local, local_day, local_hour, ms_of, next_local_time
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import content_words, words_weight

SHORTLY_MS = 3 * HOUR_MS
"""What is said so soon before something may be for it."""

WAKING_HOUR = 6
"""An hour before it that is named alone is one of the afternoon."""

SHARED_WEIGHT = 2
"""A Latin word, or two characters."""

_MARK = rf"[{SIGNS['memory']}{SIGNS['reminder']}]\ufe0f?"
_SIGNED = LazyPattern(rf"{_MARK}(\d{{1,9}})")
_EMPTY = LazyPattern(r"[（(]\s*[）)](?:之?前)?")
_NUMBER = LazyPattern(rf"(?:{_MARK})? ?(\d{{1,9}})(?!\d|[点时日号月年:])")
_SAYS = patterns_in(read_table("bot.speaking", "reminders"))
TITLE_CHARS = 60
"""What a promise is told by is short."""

_TASK_BREAK = LazyPattern(r"[,，;；。!！~～\n]|\s(?=(?:because|otherwise|or else)\b)")

_GAP = LazyPattern(r"(?<=[㐀-鿿]) +(?=[㐀-鿿])")
_NAME = 2
"""Characters of the shortest name that is known for one at the beginning of a text: 安 begins 安排 as well."""

_BESIDE = LazyPattern(r"[和与與跟同及]|(?P<en> and\b)")
"""Somebody else is to do it too."""


def spoken_at(found: Instant, rules: RemindRules, tz: tzinfo) -> int:
    """When an instant is said, ms: what has no time of day waits for the end of the quiet hours."""
    quiet = is_quiet_hour(local_hour(found.at, tz), rules)
    return next_local_time(found.at, rules.quiet_until, tz) if quiet and not found.timed else found.at


def quiet_end(hour: int, rules: RemindRules) -> int:
    """That local hour, or the end of the quiet ones where it is one of them."""
    return rules.quiet_until if is_quiet_hour(hour, rules) else hour


def retimed(reminder: Reminder, said: TimeParts, half: DayPart, now: int, tz: tzinfo) -> tuple[int, str] | None:
    """When a reminder is said instead, ms, and its rule; None where no hour or day ahead is named.

    `half` is the part of the day that its request named. A bare hour is read as by the 24-hour clock, or as one of the
    afternoon where nobody is up. What recurs has another rule or another hour; no single time of it is moved.
    """
    clock = said.clock
    if said.doubt is not None or (reminder.rule and said.day is not None and said.every is None):
        return None
    if said.every is not None:
        again = moment_meant(said, local(now, tz)) if reminder.rule and clock is not None else None
        return (again.at, again.rule) if isinstance(again, Recurring) else None
    if said.delay is not None:
        found = moment_meant(said, local(now, tz))
        return (found.at, "") if isinstance(found, Instant) and not reminder.rule else None
    there = local(reminder.due_at, tz)
    if clock is None:
        if said.day is None or said.half or reminder.rule:
            return None
        hour: tuple[int, int] | UnclearTime = (there.hour, there.minute)
    else:
        if not said.half and clock.hour < WAKING_HOUR and not clock.whole:
            half = half or "afternoon"
        hour = hour_of(replace(said, day=None, half=said.half or half), there.date(), local(now, tz), plain=True)
    if isinstance(hour, str) or hour[0] >= 24:
        return None
    if reminder.rule:
        each = reminder.rule.split(SEVERAL, maxsplit=1)[0].split(" ")
        rule = " ".join((str(hour[1]), str(hour[0]), *each[2:]))
        due = next_of(rule, now, tz)
        return (due, rule) if due is not None else None
    day = date_of_named(said.day, local(now, tz).date(), local(now, tz).hour) if said.day is not None else there.date()
    if isinstance(day, str):
        return None
    due = ms_of(datetime.combine(day, time(*hour), tz))
    return (due, "") if due > now else None


def shifted(reminder: Reminder, by: str, now: int, tz: tzinfo, *, sooner: bool) -> tuple[int, str] | None:
    """As `retimed`, as much later, or sooner, as words say; None where they are no one length, or what recurs is meant."""
    named = set(lengths(by))
    if len(named) != 1 or reminder.rule:
        return None
    length, sign = named.pop(), -1 if sooner else 1
    length = Delay(sign * length.ms, sign * length.days, sign * length.months)
    due = ms_of(after(local(reminder.due_at, tz).replace(tzinfo=None), length).replace(tzinfo=tz))
    return (due, "") if due > now else None


def with_line_before(
    wish: ReminderWish, line: str, said_at: int, now: int, tz: tzinfo, *, judged: bool, near: bool
) -> ReminderWish:
    """An hour alone, soon after a line that its writer said at `said_at`, ms: that of the day which the line names.

    Where it may be of today as well, which day is in doubt: other lines stand between (not `near`), it is about
    something else shortly before what the line tells of, or later than that. What only says why is left to a model that
    is there (`judged`).
    """
    named = date_in(line, said_at, tz)
    if named is None or named.precision not in ("day", "time") or local_day(named.at, tz) <= local_day(now, tz):
        return wish
    alone = moment_meant(wish.parts, local(now, tz), wish.manner)
    if isinstance(alone, Instant) and local_day(alone.at, tz) == local_day(named.at, tz):
        return wish
    parts, task = time_parts(line), in_second_person(promised_task(line))
    own, alike = content_words(wish.task), bool(content_words(wish.task) & content_words(task))
    unsure = replace(wish, parts=replace(wish.parts, doubt="day"))
    if not near and not alike:
        return wish if own else unsure
    if parts.day is None or parts.doubt is not None or (judged and wish.apart and not alike):
        return unsure
    both = joined_parts(parts, wish.parts)
    for half in dict.fromkeys((both.half, wish.parts.half)):
        then = replace(wish, task=wish.task if alike else task, parts=replace(both, half=half))
        found = moment_meant(then.parts, local(now, tz), wish.manner)
        if isinstance(found, Unclear) and found.what == "half" and (alike or not own):
            return then
        if not isinstance(found, Instant) or (named.precision == "time" and found.at > named.at):
            continue
        if alike or not own or wish.apart:
            return then
        return unsure if named.precision == "time" and named.at - found.at <= SHORTLY_MS else wish
    return unsure if not own or alike else wish


def nudging_rules(rules: RemindRules) -> NudgeRules | None:
    """How people are reminded of what they promised, outside the quiet hours; None: not at all."""
    hour = rules.commitment_hour
    if not rules.commitments:
        return None
    return NudgeRules(quiet_end(hour, rules), rules.most_open)


def promised_task(text: str) -> str:
    """What a promise is of, as a short title: its own words without who, when, why and what is said to nuan."""
    plain = _SAYS["in"].sub("后", _SAYS["by"].sub("", text)).replace("今晚会", "今天会").replace("今晚會", "今天會")
    task = _GAP.sub("", _EMPTY.sub("", task_of(plain)[0]))
    found: list[str] = []
    for clause in _TASK_BREAK.split(task):
        said = _SAYS["lead"].sub("", clause.strip(" ,，、")).strip(" ,，、")
        if said and not _SAYS["aside"].search(fold(said)) and sum(map(len, found)) + len(said) <= TITLE_CHARS:
            found.append(said)
    return (
        (", " if task.isascii() else "，").join(found)
        or clip(_SAYS["lead"].sub("", task).strip(" ,，、"), TITLE_CHARS)
        or text
    )


def told_to(name: str, task: str) -> str:
    """What is to be done as it is told to whoever is to do it: a name of theirs that it begins with is left out."""
    who = name.strip()
    if len(who) < _NAME or not task.casefold().startswith(who.casefold()):
        return task
    rest = task[len(who) :]
    if who[-1].isascii() and rest[:1].isalnum() and rest[:1].isascii():
        return task  # another name: Jo, Jordan
    if beside := _BESIDE.match(rest):
        return f"{'you' if beside['en'] else '你'}{rest}"
    return _SAYS["his"].sub("", rest).strip(" ,，、:：") or task


def points(words: str) -> bool:
    """Whether words are nothing but a sign at a reminder: that one, 那个提醒."""
    return _SAYS["points"].fullmatch(fold(words)) is not None


def tells_none(words: str) -> bool:
    """Whether words tell no reminder from another."""
    return not _SAYS["noise"].sub("", fold(words))


def names_numbers(words: str) -> bool:
    """Whether words name reminders by their numbers: ⏰6 和 ⏰7."""
    return _SIGNED.search(words) is not None


def reminders_meant(words: str, reminders: Sequence[Reminder], task: str) -> tuple[Reminder, ...]:
    """Those that words of a wish name: a number, all, or what they are about (`task` is that without its time).

    Without words it is the only one; of several nobody knows which.
    """
    if words == ALL_REMINDERS:
        return tuple(reminders)
    if signed := {int(number) for number in _SIGNED.findall(words)}:
        return tuple(each for each in reminders if each.id in signed)
    if number := _NUMBER.fullmatch(words.strip().removeprefix("第")):
        return tuple(each for each in reminders if each.id == int(number[1]))
    for said in (words, task):
        wanted = _SAYS["noise"].sub("", fold(said))
        if wanted:
            found = tuple(
                each
                for each in reminders
                if each.text and (wanted in _core(each) or (len(_core(each)) > 1 and _core(each) in wanted))
            )
            if found:
                return found
    return tuple(reminders) if len(reminders) == 1 and tells_none(words) else ()


def speaks_of(reminder: Reminder, text: str) -> bool:
    """Whether words may be about that reminder: they name it, or share what it is of, or are of reminders and want none."""
    signed = {int(number) for number in _SIGNED.findall(text)}
    folded = fold(text)
    return (
        reminder.id in signed
        or shares_task(reminder, text)
        or (not signed and ABOUT.search(folded) is not None and not requests(folded))
    )


def shares_task(reminder: Reminder, text: str) -> bool:
    """Whether words hold a word, or two characters, of what it is of, or all of that."""
    mine = content_words(reminder.text)
    shared = mine & content_words(text)
    return bool(shared) and (words_weight(shared) >= SHARED_WEIGHT or shared == mine)


def closest(reminders: Sequence[Reminder], text: str) -> tuple[Reminder, ...]:
    """Those that share most with these words; where none shares anything, the only one that there is."""
    said = content_words(text)
    weights = [words_weight(content_words(each.text) & said) for each in reminders]
    most = max(weights, default=0)
    return tuple(
        each for each, weight in zip(reminders, weights, strict=True) if weight == most and (most or len(weights) == 1)
    )


def due_then(words: str, reminders: Sequence[Reminder], now: int, tz: tzinfo) -> tuple[Reminder, ...]:
    """Those due on the day, and in the part of it, that words of a wish name and nothing else (明天早上那个)."""
    task, parts = task_of(words)
    day = date_of_named(parts.day, local(now, tz).date(), local(now, tz).hour) if parts.day is not None else ""
    if isinstance(day, str) or parts.clock is not None or _SAYS["noise"].sub("", fold(task)):
        return ()
    hours = PART_HOURS[parts.half][0] if parts.half else range(24)
    return tuple(each for each in reminders if (at := local(each.due_at, tz)).date() == day and at.hour in hours)


def _core(reminder: Reminder) -> str:
    return _SAYS["noise"].sub("", fold(reminder.text))


def with_weekday(parts: TimeParts, answer: TimeParts) -> TimeParts | None:
    """What was meant when a weekday was asked about: said once more it is today, with "next week" that of next week."""
    day = parts.day
    if day is None or day.kind != "weekday":
        return None
    if answer.day == day:
        return replace(parts, day=NamedDay("near"))
    next_week = answer.day is None and answer.doubt == "day"
    return replace(parts, day=NamedDay("week", 1, day.weekday)) if next_week else None


def just_set(reminders: Sequence[Reminder], chat_id: int, since: int) -> tuple[Reminder, ...]:
    """The one that was set there last, since then, ms; all of them where several were set at once."""
    late = [each for each in reminders if each.chat_id == chat_id and each.made_at >= since]
    last = max((each.made_at for each in late), default=0)
    return tuple(each for each in late if each.made_at == last)
