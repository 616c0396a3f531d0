"""What becomes of a time that somebody named: when nuan speaks, and which of several reminders is meant. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, tzinfo

from bot.config.remind import RemindRules
from bot.people.asking import ALL, Wish, task_of
from bot.people.wording import told
from bot.text.alike import core
from bot.text.clip import clip
from bot.text.dated import when_in
from bot.text.dates import between_hours, local_day, local_hour, next_local_time
from bot.text.fold import fold
from bot.text.signs import SIGNS
from bot.text.when.days import day_of
from bot.text.when.found import Half, Parts
from bot.text.when.meaning import hour_of, joined, meaning, parts_of
from bot.text.when.rules import SEVERAL, local, ms_of, next_of
from bot.types.commitment import Nudging
from bot.types.duration import HOUR_MS
from bot.types.reminder import Reminder
from bot.types.when import Instant, Missing, Unclear

SHORTLY_MS = 3 * HOUR_MS
"""What is said so soon before something may be for it."""

WAKING = 6
"""An hour before it that is named alone is one of the afternoon."""

_MARK = rf"[{SIGNS['memory']}{SIGNS['reminder']}]\ufe0f?"
_SIGNED = re.compile(rf"{_MARK}(\d{{1,9}})")
_EMPTY = re.compile(r"[（(]\s*[）)](?:之?前)?")
_NUMBER = re.compile(rf"(?:{_MARK})? ?(\d{{1,9}})(?!\d|[点时日号月年:])")
_LEAD = re.compile(
    r"^(?:那|好的?|嗯|记得|記得|别忘了?|別忘了?|对了|對了|其实|其實|[还還]有|另外|然[后後]|[，, ])*"
    r"(?:[我咱]们?|[我咱]們)?(?:自己)?(?:答应(?:过|了)?你|答應(?:過|了)?你|[说說约約](?:[好定]了?|了)|就|也|都"
    r"|[还還](?=[要得会會])|[会會](?![议議])|要|得|必须|必須|需要|一定|肯定|保证|保證|打算|[，, ])*"
    r"|^(?:(?:ok(?:ay)?|well|sure|and|but)[, ]+)*i(?:['’]ll| will|['’]m going to| am going to|['’]m gonna| need to"
    r"| have to|['’]ve got to| must| shall| promise (?:to|(?:you )?i['’]ll))\b",
    re.IGNORECASE,
)
"""Who is to do it, which the one who hears it knows."""
TITLE_CHARS = 60
"""What a promise is told by is short."""

_CLAUSE = re.compile(r"[,，;；。!！~～\n]|\s(?=(?:because|otherwise|or else)\b)")
_ASIDE = re.compile(
    r"(?:跟|和|告诉|提醒|通知|叫|喊|催)[^,]{0,2}我(?!们?[的家妈爸])|^你|别(?:让我)?忘|到时候?$|放心|拜托|谢谢|^(?:不然|否则|因为|免得|省得)"
    r"|\b(?:remind me|let me know|tell me|don't let me|or else|otherwise|because|thanks|please)\b"
)
"""What is said to nuan beside it, and why it is to be done."""

_BY = re.compile(
    r"(?<=[周週期拜月号號日天底末午点點半钟鐘一二三四五六七八九十])(?:[之以]?前)(?=\S)|[在于於](?=[今明后後下本这這大周週星礼禮\d]|月底)"
)
_IN = re.compile(r"(?<=[天周週月时時钟鐘])(?:[之以]?[内內])")
_GAP = re.compile(r"(?<=[㐀-鿿]) +(?=[㐀-鿿])")
_NAME = 2
"""Characters of the shortest name that is known for one at the beginning of a text: 安 begins 安排 as well."""

_BESIDE = re.compile(r"[和与與跟同及]|(?P<en> and\b)")
"""Somebody else is to do it too."""

_HIS = re.compile(r"^(?:的|['’]s\b| (?:needs|has|wants|is going) to\b| (?:will|must|should)\b)")
_NOISE = re.compile(r"\b(?:the|my|your|me|you|i|a|an|about|to|for|of|that)\b|[的了那个这我你]|\W")


def spoken_at(found: Instant, rules: RemindRules, tz: tzinfo) -> int:
    """When an instant is said, ms: what has no time of day waits for the end of the quiet hours."""
    quiet = is_quiet(local_hour(found.at, tz), rules)
    return next_local_time(found.at, rules.quiet_until, tz) if quiet and not found.timed else found.at


def quiet_end(hour: int, rules: RemindRules) -> int:
    """That local hour, or the end of the quiet ones where it is one of them."""
    return rules.quiet_until if is_quiet(hour, rules) else hour


def retimed(reminder: Reminder, said: Parts, half: Half, now: int, tz: tzinfo) -> tuple[int, str] | None:
    """When a reminder is said instead, ms, and its rule; None where no hour or day ahead is named.

    `half` is the part of the day that its request named. A bare hour is read as by the 24-hour clock, or as one of the
    afternoon where nobody is up.
    """
    clock = said.clock
    if said.doubt is not None or said.every is not None:
        return None
    if said.delay is not None:
        found = meaning(said, local(now, tz))
        return (found.at, "") if isinstance(found, Instant) and not reminder.rule else None
    there = local(reminder.due_at, tz)
    if clock is None:
        if said.day is None or said.half or reminder.rule:
            return None
        hour: tuple[int, int] | Missing = (there.hour, there.minute)
    else:
        if not said.half and clock.hour < WAKING and not clock.whole:
            half = half or "afternoon"
        hour = hour_of(replace(said, day=None, half=said.half or half), there.date(), local(now, tz), plain=True)
    if isinstance(hour, str) or hour[0] >= 24:
        return None
    if reminder.rule:
        each = reminder.rule.split(SEVERAL, maxsplit=1)[0].split(" ")
        rule = " ".join((str(hour[1]), str(hour[0]), *each[2:]))
        due = next_of(rule, now, tz)
        return (due, rule) if due is not None else None
    day = day_of(said.day, local(now, tz).date(), local(now, tz).hour) if said.day is not None else there.date()
    if isinstance(day, str):
        return None
    due = ms_of(datetime.combine(day, time(*hour), tz))
    return (due, "") if due > now else None


def after_line(wish: Wish, line: str, said_at: int, now: int, tz: tzinfo, *, judged: bool, near: bool) -> Wish:
    """An hour alone, soon after a line that its writer said at `said_at`, ms: that of the day which the line names.

    Where it may be of today as well, which day is in doubt: other lines stand between (not `near`), it is about
    something else shortly before what the line tells of, or later than that. What only says why is left to a model that
    is there (`judged`).
    """
    named = when_in(line, said_at, tz)
    if named is None or named.precision not in ("day", "time") or local_day(named.at, tz) <= local_day(now, tz):
        return wish
    alone = meaning(wish.parts, local(now, tz), wish.manner)
    if isinstance(alone, Instant) and local_day(alone.at, tz) == local_day(named.at, tz):
        return wish
    parts, task = parts_of(line), told(promised_task(line))
    own, alike = core(wish.task), bool(core(wish.task) & core(task))
    unsure = replace(wish, parts=replace(wish.parts, doubt="day"))
    if not near and not alike:
        return wish if own else unsure
    if parts.day is None or parts.doubt is not None or (judged and wish.apart and not alike):
        return unsure
    both = joined(parts, wish.parts)
    for half in dict.fromkeys((both.half, wish.parts.half)):
        then = replace(wish, task=wish.task if alike else task, parts=replace(both, half=half))
        found = meaning(then.parts, local(now, tz), wish.manner)
        if isinstance(found, Unclear) and found.what == "half" and (alike or not own):
            return then
        if not isinstance(found, Instant) or (named.precision == "time" and found.at > named.at):
            continue
        if alike or not own or wish.apart:
            return then
        return unsure if named.precision == "time" and named.at - found.at <= SHORTLY_MS else wish
    return unsure if not own or alike else wish


def is_quiet(hour: int, rules: RemindRules) -> bool:
    """Whether that local hour, 0-23, is one of the quiet ones; they may cross midnight."""
    return between_hours(hour, rules.quiet_from, rules.quiet_until)


def nudging(rules: RemindRules) -> Nudging | None:
    """How people are reminded of what they promised, outside the quiet hours; None: not at all."""
    hour = rules.commitment_hour
    if not rules.commitments:
        return None
    return Nudging(quiet_end(hour, rules), rules.most_open)


def promised_task(text: str) -> str:
    """What a promise is of, as a short title: its own words without who, when, why and what is said to nuan."""
    plain = _IN.sub("后", _BY.sub("", text)).replace("今晚会", "今天会").replace("今晚會", "今天會")
    task = _GAP.sub("", _EMPTY.sub("", task_of(plain)[0]))
    found: list[str] = []
    for clause in _CLAUSE.split(task):
        said = _LEAD.sub("", clause.strip(" ,，、")).strip(" ,，、")
        if said and not _ASIDE.search(fold(said)) and sum(map(len, found)) + len(said) <= TITLE_CHARS:
            found.append(said)
    return (
        (", " if task.isascii() else "，").join(found) or clip(_LEAD.sub("", task).strip(" ,，、"), TITLE_CHARS) or text
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
    return _HIS.sub("", rest).strip(" ,，、:：") or task


def names_numbers(words: str) -> bool:
    """Whether words name reminders by their numbers: ⏰6 和 ⏰7."""
    return _SIGNED.search(words) is not None


def meant(words: str, reminders: Sequence[Reminder], task: str) -> tuple[Reminder, ...]:
    """Those that words of a wish name: a number, all, or what they are about (`task` is that without its time).

    Without words it is the only one; of several nobody knows which.
    """
    if words == ALL:
        return tuple(reminders)
    if signed := {int(number) for number in _SIGNED.findall(words)}:
        return tuple(each for each in reminders if each.id in signed)
    if number := _NUMBER.fullmatch(words.strip().removeprefix("第")):
        return tuple(each for each in reminders if each.id == int(number[1]))
    for said in (words, task):
        wanted = _NOISE.sub("", fold(said))
        if wanted:
            found = tuple(
                each for each in reminders
                if each.text and (wanted in _core(each) or (len(_core(each)) > 1 and _core(each) in wanted))
            )  # fmt: skip
            if found:
                return found
    if _NOISE.sub("", fold(words)):
        return ()
    return tuple(reminders) if len(reminders) == 1 else ()


def _core(reminder: Reminder) -> str:
    return _NOISE.sub("", fold(reminder.text))
