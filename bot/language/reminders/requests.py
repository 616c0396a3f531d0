"""Whether a message asks for a reminder or cancels one."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.clock import UnclearTime
from bot.language.reminders.wording import (
    ABOUT,
    AFTER_EN,
    ASIDE,
    ASKS_ZH,
    CALLED,
    CALLED_OFF,
    CALLED_TO,
    CANCEL_EN,
    CANCEL_ZH,
    CLAUSE_END,
    CORRECTS,
    DONE,
    EN,
    FILL_EN,
    FILL_ZH,
    FRAME,
    JOINS,
    KIN,
    MUST,
    NEAR,
    NO_EN,
    NO_ZH,
    NOT_WHOLE,
    NOT_ZH,
    PARTICLES,
    QUOTED,
    SHARED,
    SOFT,
    SPACED,
    STOPS,
    THEN,
    TIME_EN,
    TIMELIKE,
    TOLD,
    VERB,
    ZH,
    cut_out,
    in_second_person,
    reason_at,
    spelt,
    time_words,
    without_courtesy,
    without_frame,
    without_times,
)
from bot.language.time.moments import HourRules, parts_folded, squeezed
from bot.language.time.parts import TAKEN, TimeParts
from bot.text.catalogue import LazyPattern
from bot.text.clean import clean
from bot.text.codes import SIGNS
from bot.text.fold import fold, fold_mapped, unfold

READ_CHARS = 400
"""A longer message is talk, not a plain request; the model may still set a reminder on it."""

SMALL = 3
"""Characters besides a request that ask for no answer of their own (谢啦)."""

_RISES = re.compile(r"^(?:起床|起来|醒|wake up|get up)(?!\w)|[^不]起床$")
"""Of what is to be done in the morning only."""

_ASKS = re.compile(r"(?<![好可行能]以)(?<![好行能])吗[\s?？]*$")
"""Asks whether somebody reminds them; 好吗 asks for it."""

_LISTS_EN = re.compile(r"\b(?:what|which|how many|any) (?:\w+ )?reminders?\b")

_TITLE_EN = re.compile(r"\b(?:that|to|about|for)\b")
"""What begins the title of a request in English."""

_END = re.compile(r"[，,。.!！；;?？\n]+")
"""What ends a clause."""

_TAKEN_BACK = LazyPattern(
    r"(?<=.)[,。!\s](?:呃|啊|哎|还是|又)?(?:算了|不用了?)(?:[,\s]*(?:不用|不必|算了|吧|了|啦|啊))*[。.!~\s]*$"
    r"|[,.;!]\s*(?:oh |actually |no )*(?:never ?mind|scratch that|forget it|no need)[.!\s]*$"
)
"""Ends a request with taking it back: 提醒我买牛奶，算了不用."""

_BY_OTHERS = LazyPattern(rf"(?:{KIN.text})(?:刚刚?|又|还|都|也|一直|老是?|总是?|{TAKEN})*$")
"""Who calls or reminds is somebody else: 老板叫我周六去加班."""

_PRONOUN = LazyPattern(r"(?<!其)(?<!吉)[他她](?!们?国)|\b(?:him|her|them|he|she)\b")

_CAPITAL = re.compile(r"(?<=\s)[A-Z][a-z]")
"""A name, other than the first word."""

_GAP = re.compile("[㐀-鿿] [㐀-鿿]")
"""A time was taken out of the middle of a clause: 医生让我每天早上8点滴眼药水."""

_ELSEWHERE: frozenset[UnclearTime] = frozenset(("vague", "past"))
"""What the words for the task may leave unclear, once the time is named before them."""

NO_TIME, PLAIN_HOURS = TimeParts(), HourRules()
ALL_REMINDERS = "*"

_SIGNED = re.compile(
    r"\W*(?:请|帮我|麻烦|please )*(?:取消|删[掉除]?|关掉|不用|cancel|delete|remove|stop)\s*(?:提醒|reminders? )?"
    rf"(?:\s*[{SIGNS['reminder']}]\ufe0f? ?\d{{1,9}}(?:[,，、和跟与&\s]|and)*)+[了吧\s.。!！]*"
)
"""取消 ⏰10 和 ⏰14: the sign says what is meant."""


@dataclass(frozen=True, slots=True)
class ReminderWish:
    """A wish of a message.

    set: `task` is what to remind of, `parts` the time, `said` the words for it, `rest` what the message says besides.
    cancel: `task` says which reminder, ALL
    means every one; without `named` (别提醒我了) it may be about something else. `shared`: all of a group are meant.
    `apart`: the task stands in a clause of its own behind the request, and may only say why. Not `sure`: the message
    was not wholly read, so its writer is asked whether that is meant.
    """

    verb: Literal["set", "cancel"]
    task: str
    parts: TimeParts = NO_TIME
    manner: HourRules = PLAIN_HOURS
    said: str = ""
    named: bool = True
    rest: str = ""
    shared: bool = False
    apart: bool = False
    sure: bool = True


def reminder_wish(text: str, names: tuple[str, ...] = ()) -> ReminderWish | None:
    """What a message asks of reminders; None for all other talk. Never raises."""
    if not text.strip() or len(text) > READ_CHARS or _TAKEN_BACK.search(fold(text)):
        return None
    text = unaddressed(clean(text), names)
    folded, origin = squeezed(*fold_mapped(text))
    folded = spelt(folded)
    folded = SPACED.sub(lambda found: "," * len(found[0]), folded)
    if _SIGNED.fullmatch(folded):
        return ReminderWish("cancel", folded)
    if not ABOUT.search(folded):
        return None
    folded = QUOTED.sub(lambda found: "\x01" * len(found[0]), folded)
    for name in sorted((fold(name) for name in names if name), key=len, reverse=True):
        folded = folded.replace(name, " " * len(name))
    cancel = _cancelled(folded)
    if cancel is not None:
        return cancel
    found = [*ZH.finditer(folded), *EN.finditer(folded)]
    if not found:
        return None
    wanted = [each for each in found if not NO_ZH.search(folded[: each.start()].strip(" \x00"))] or found
    timed = [each for each in wanted if _clause(folded, each).spans]
    first = (timed or wanted)[0]
    parts = _parts(folded, first)
    why = reason_at(folded, first.end())
    if why is not None and len(found) == 1:
        kept = _parts(folded[:why], first)
        if task_content(without_times(folded, kept)[first.end() : why]) and (
            _complete(kept) or (kept.clock and kept.doubt is None)
        ):
            text, folded, origin, parts = unfold(text, origin, 0, why), folded[:why], origin[:why], kept
    more = [each for each in timed[1:] if not each["set"]]
    return _wish(text, folded, origin, first, parts, bool(more))


def hinted(text: str) -> bool:
    """Whether a message that is no plain request may be one: it has a word for it, and a time or that it must be."""
    folded = QUOTED.sub(" ", fold(text[:READ_CHARS]))
    if not ABOUT.search(folded) or _TAKEN_BACK.search(folded):
        return False
    parts = parts_folded(folded)
    blanked = without_times(folded, parts)
    if all(_BY_OTHERS.search(blanked[: each.start()]) for each in ABOUT.finditer(folded)):
        return False
    return (bool(parts.spans) and "past" not in parts.doubts) or MUST.search(folded) is not None


def points_at_somebody(task: str) -> bool:
    """Whether words for what to do name somebody by a pronoun alone: who that is, nuan would not know later either."""
    folded = fold(task)
    return _PRONOUN.search(folded) is not None and not (KIN.search(folded) or _CAPITAL.search(task))


def hinted_wish(text: str, names: tuple[str, ...] = ()) -> ReminderWish | None:
    """What a message that is no plain request may ask, by its word for it and its time; its writer is asked."""
    if not hinted(text):
        return None
    text = unaddressed(clean(text[:READ_CHARS]), names)
    folded, origin = squeezed(*fold_mapped(text))
    word = ABOUT.search(folded)
    if word is None or KIN.search(folded, 0, word.start()) or folded[word.end() : word.end() + 1] in ("他", "她"):
        return None  # who reminds, or is reminded, is somebody else
    if ASKS_ZH.search(folded) or _LISTS_EN.search(folded):  # which there are is asked
        return None
    parts = parts_folded(folded)
    task = without_courtesy(cut_out(text, without_times(folded, parts), origin, ()))
    return ReminderWish("set", in_second_person(task), parts, said=time_words(text, folded, origin, parts), sure=False)


def _clause(folded: str, trigger: re.Match[str]) -> TimeParts:
    """The time that stands in the clause of a trigger."""
    return parts_folded(folded[_start(CLAUSE_END, folded, trigger) : _stop(CLAUSE_END, folded, trigger)])


def unaddressed(text: str, names: tuple[str, ...]) -> str:
    """The text without the name that it is addressed to."""
    for name in (re.escape(name) for name in names if name):
        text = re.sub(rf"(?i)^(?:\s*@?{name}(?![a-z0-9])[\s,，:：!！~～、。]*)+", "", text)
        text = re.sub(rf"(?i)[\s,，]+@?{name}[\s.!?。！？~～]*$", "", text)
        text = re.sub(
            rf"(?i)^((?:and|ok(?:ay)?|so|hey|oh|那|欸|诶|对了|對了)[\s,，]+)@?{name}(?![a-z0-9])[\s,，:：]+",
            r"\1",
            text,
        )
    return text


def task_of(words: str) -> tuple[str, TimeParts]:
    """Of the words of a command (明天8点 开会): what to remind of, and what they say of the time."""
    folded, origin = squeezed(*fold_mapped(clean(words)[:READ_CHARS]))
    parts = parts_folded(folded)
    return without_courtesy(cut_out(clean(words), without_times(folded, parts), origin, ())), parts


def _parts(folded: str, trigger: re.Match[str]) -> TimeParts:
    """The time of a request: of its own sentence, where that names a day or a rule; else of the whole message."""
    begin, stop = _start(STOPS, folded, trigger), _stop(STOPS, folded, trigger)
    own = parts_folded(" " * begin + folded[begin:stop] + " " * (len(folded) - stop))
    if _complete(own) or (own.doubt is None and own.lead is not None and own.day is not None):
        return own
    if trigger[0].isascii() and (title := _TITLE_EN.search(folded, trigger.end(), stop)) is not None:
        # remind us Saturday 10:30am that it begins at 11: what the title names is another time.
        lead = parts_folded(" " * trigger.end() + folded[trigger.end() : title.start()])
        if _complete(lead) and not parts_folded(folded[title.end() : stop]).day:
            return lead
    clause, end = _start(CLAUSE_END, folded, trigger), _stop(CLAUSE_END, folded, trigger)
    beside = folded[begin:clause] + "," + folded[end:stop]
    alone = parts_folded(" " * clause + folded[clause:end] + " " * (len(folded) - end))
    if own.doubt == "several" and alone.doubt is None and alone.clock and _tells(beside):
        # 明早八点半提醒我带简历，九点得出门: the other time is of something else.
        day = parts_folded(beside).day if not alone.day else None
        return replace(alone, day=day) if day else alone
    ahead, task = parts_folded(folded[: trigger.start()]), parts_folded(folded[trigger.end() :])
    if ahead.doubt is None and (ahead.day or ahead.every or ahead.delay) and task.doubts <= _ELSEWHERE and task.doubts:
        return ahead if not (task.clock or task.day or task.every) else own  # book年底的flight
    before = folded[begin:clause]
    if clause > begin and task_content(without_times(before, parts_folded(before))):
        # 我周五要交报告，周四晚上八点提醒我: what is told before is another time.
        narrow = parts_folded(" " * clause + folded[clause:stop] + " " * (len(folded) - stop))
        if _complete(narrow) and not (parts_folded(before).clock and not narrow.day):
            return narrow
        if narrow.doubt is None and narrow.day and parts_folded(before).day:
            return narrow
    return parts_folded(folded)


def _tells(beside: str) -> bool:
    """Whether words beside a request tell of something at a time of its own, and are no correction of the request."""
    return CORRECTS.search(beside) is None and any(
        parts_folded(clause).clock and len(task_content(without_times(clause, parts_folded(clause)))) > 1
        for clause in CLAUSE_END.split(beside)
    )


def _complete(parts: TimeParts) -> bool:
    return parts.doubt is None and bool(parts.every or parts.delay or (parts.day and parts.clock))


def _start(ends: re.Pattern[str] | LazyPattern, folded: str, trigger: re.Match[str]) -> int:
    return max((found.end() for found in ends.finditer(folded, 0, trigger.start())), default=0)


def _stop(ends: re.Pattern[str] | LazyPattern, folded: str, trigger: re.Match[str]) -> int:
    found = ends.search(folded, trigger.end())
    return found.start() if found else len(folded)


def _cancelled(folded: str) -> ReminderWish | None:
    plain = re.sub(rf"^(?:\s|[，,。!！])*(?:{FILL_ZH}|please |hey |ok )*(?:\s|[，,])*", "", folded).strip()
    bare = plain.rstrip("。.!！~～ ").strip()
    for pattern in (CANCEL_ZH, CANCEL_EN):
        if match := pattern.match(bare):
            words = " ".join(word for word in match.groups() if word).strip()
            everything = re.search(r"全部|所有|\ball\b", bare) or re.search(r"reminders(?: please)?$", bare)
            return ReminderWish("cancel", ALL_REMINDERS if everything else words)
    if _sets(folded):
        return None
    if (soft := _softly(bare)) is not None:
        return soft
    for trigger, no in ((ZH, NO_ZH), (EN, NO_EN)):
        match = next(iter(trigger.finditer(folded)), None)
        if match is not None and match["me"] and no.search(folded[: match.start()].strip(" \x00")):
            rest = re.sub(
                r"^(?:\s|about|of|to|了)+|(?:了|吧|啦|anymore|again|any more|please|[。.!！~\s])+$",
                "",
                _END.split(folded[match.end() :], maxsplit=1)[0],
            )
            return ReminderWish("cancel", rest, named=False)
    return None


def _sets(folded: str) -> bool:
    """Whether one of its clauses asks to be reminded, at a time."""
    return any(
        ZH.search(clause) is not None and NO_ZH.search(_before(ZH, clause)) is None and bool(parts_folded(clause).spans)
        for clause in CLAUSE_END.split(folded)
    )


def _before(trigger: LazyPattern, clause: str) -> str:
    found = trigger.search(clause)
    return clause[: found.start()].strip(" \x00") if found else ""


def _softly(bare: str) -> ReminderWish | None:
    """A clause that tells of a reminder that it is needed no more; alone it is about the clause before."""
    before = ""
    for clause in filter(None, (part.strip() for part in _END.split(bare))):
        found = SOFT.fullmatch(clause)
        if found is not None:
            words = next((word for word in found.groups() if word), "").strip() or CALLED_OFF.sub("", before)
            return ReminderWish("cancel", words, named=False)
        before = clause
    return None


def _wish(
    text: str, folded: str, origin: tuple[int, ...], trigger: re.Match[str], parts: TimeParts, more: bool
) -> ReminderWish | None:
    blanked = without_times(folded, parts)
    start = _start(CLAUSE_END, blanked, trigger)
    before, after = blanked[start : trigger.start()], blanked[trigger.end() :].strip(" \x00")
    timed = bool(parts.spans)
    english = trigger.re is not None and trigger[0].isascii()
    if "\x01" in folded and "\x01" in before:
        return None
    if not english and NOT_ZH.search(re.sub("\x00| ", "", before).removesuffix("再")) and not _reminded(before):
        return None
    kin = not english and KIN.match(folded, trigger.end()) is not None
    if trigger["call"] and (kin or not _called(folded, trigger, before, parts, english)):
        return None
    residue = _residue(before, english)
    if trigger["set"]:
        residue = re.sub("^(?:我?想要?|我要|我需要|i want to|i need to|i'd like to|let's)$", "", residue)
    own = _own(residue, without_courtesy(after)) and timed and not english and not trigger["set"]
    if residue and not own:
        if english or not timed or not TIMELIKE.fullmatch(residue):
            return None
        if not (parts.clock and NEAR.search(residue)):
            parts = replace(parts, doubt=parts.doubt or "vague")
    if _told(folded, trigger, before, after, parts, english):
        return None
    if more or _both_sides(parts, folded, trigger) or (english and _loose(blanked[trigger.end() :])):
        parts = replace(parts, doubt=parts.doubt or "several")
    begin, stop = _besides(blanked, start, trigger)
    near = _stop(CLAUSE_END, folded, trigger)
    words = "" if own else without_courtesy(cut_out(text, blanked, origin, ((0, trigger.end()), (near, len(folded)))))
    titled = task_content(fold(words)) != ""
    ends = min(stop, _stop(STOPS, blanked, trigger)) if titled else stop
    heard = without_courtesy(cut_out(text, blanked, origin, ((0, trigger.end()), (ends, len(folded)))))
    sure = not kin and len(task_content(blanked[ends:stop])) <= SMALL
    rest = unfold(text, origin, stop, len(folded)).strip() if stop < len(folded) else ""
    if heard and begin:
        rest = "\n".join(filter(None, (unfold(text, origin, 0, begin).strip(" ,，"), rest.strip("。！？!?；; \n"))))
    if not timed and not heard and _ASKS.search(folded):
        return None
    if own:
        heard = without_courtesy(
            without_frame(without_courtesy(cut_out(text, blanked, origin, ((trigger.start(), len(folded)),))), FRAME)
        )
    elif not titled:
        ahead = (start, start) if trigger["wake"] or (heard and begin) else (0, start)
        heard, sure = _beside(text, blanked, origin, ahead, (near, stop))
    if trigger["wake"]:
        wake = "get out of bed" if "bed" in trigger[0] else "wake up" if english else "起床"
        heard, sure = words or (f"{wake}, {heard}" if heard and english and sure else wake), True
    wakes = bool(trigger["wake"]) or "alarm" in trigger[0] or "闹" in trigger[0] or is_getting_up(heard)
    said, shared = time_words(text, folded, origin, parts), SHARED.search(trigger[0]) is not None
    asks_more = any(
        requests(words) for words in (fold(heard), *([fold(rest)] if parts_folded(fold(rest)).spans else []))
    )
    sure = sure and not asks_more and NOT_WHOLE.search(fold(heard)) is None
    sure = sure and bool(parts.clock or parts.delay or CALLED_TO.match(folded, trigger.end()) is None)
    apart = not english and not titled and task_content(after) != ""
    return ReminderWish(
        "set",
        in_second_person(re.sub("(?<=.)是$", "", heard)),
        parts,
        HourRules(wakes=bool(wakes)),
        said,
        rest=rest,
        shared=shared,
        apart=apart,
        sure=sure,
    )


def _called(folded: str, trigger: re.Match[str], before: str, parts: TimeParts, english: bool) -> bool:
    """Whether 叫我 asks to be called at a time; 明天起叫我小陈 is how somebody is called."""
    if not parts.spans and not THEN.search(before) and not MUST.search(before):
        return False
    if english:
        return parts.doubt != "vague"  # give me a shout when you are ready
    named = _clause(folded, trigger)
    return bool(named.clock or named.delay or CALLED.match(folded, trigger.end()))


def _told(folded: str, trigger: re.Match[str], before: str, after: str, parts: TimeParts, english: bool) -> bool:
    """Whether it is told, or asked, what somebody reminds them of."""
    timed = bool(parts.spans)
    if re.match("[了过的]", folded[trigger.end() :]) or (
        english and AFTER_EN.match(after) and not (timed and after.startswith("of"))
    ):
        return True
    if ASKS_ZH.search(after) and (not timed or parts.doubt == "past"):
        return True
    if parts.doubt == "past" and DONE.search(folded):
        return True
    asks = not timed and re.search("吗[?？]?$|\\?$", folded.strip()) is not None
    return asks and re.search("会|will|would|do ", before) is not None


def requests(words: str) -> bool:
    """Whether words ask to be reminded."""
    return any(ZH.finditer(words)) or any(EN.finditer(words))


def _beside(text: str, blanked: str, origin: tuple[int, ...], *stretches: tuple[int, int]) -> tuple[str, bool]:
    """What a request is of whose own clause does not say it, and whether that is certain: the one other clause.

    Of several it is the one with the time.
    """
    clauses: list[tuple[int, int]] = []
    for begin, end in stretches:
        cuts = [begin, *(at for found in CLAUSE_END.finditer(blanked, begin, end) for at in found.span()), end]
        clauses += zip(cuts[::2], cuts[1::2], strict=True)
    clauses = [
        each for each in clauses if len(task_content(blanked[slice(*each)])) > 1 and not ASIDE.match(blanked, *each)
    ]
    timed = [each for each in clauses if TAKEN in blanked[slice(*each)]]
    found = timed if len(timed) == 1 else clauses
    if not found:
        return "", True
    words = [cut_out(text, blanked, origin, ((0, begin), (end, len(blanked)))) for begin, end in found]
    task = without_courtesy("，".join(without_courtesy(without_frame(without_courtesy(each), FRAME)) for each in words))
    return task, len(found) == 1 and _GAP.search(task) is None


def is_getting_up(task: str) -> bool:
    """Whether that is done in the morning only."""
    return _RISES.search(fold(task)) is not None


def _own(residue: str, after: str) -> bool:
    """我明天下午三点要开会提醒我一下 says the task first; 老板明天会提醒我 tells of somebody else."""
    return not after and not TOLD.search(residue) and (VERB.match(residue) is not None)


def _loose(after: str) -> bool:
    """Whether words of time were left over in what leads to the task: the week after next on Monday at 9am."""
    head = re.split(r"\b(?:to|about|that|for)\b", after, maxsplit=1)[0]
    return TIME_EN.search(head[: max(head.rfind(TAKEN), 0)].replace(TAKEN, " ")) is not None


def _besides(blanked: str, start: int, trigger: re.Match[str]) -> tuple[int, int]:
    """Where the request begins and ends in a message that says more: before it no time may stand, nor after it."""
    begin = start if TAKEN not in blanked[:start] and len(task_content(blanked[:start])) > SMALL else 0
    stop = _stop(STOPS, blanked, trigger)
    more = blanked[stop:]
    return begin, stop if TAKEN not in more and len(task_content(more)) > SMALL else len(blanked)


def task_content(words: str) -> str:
    """Words without courtesy and signs."""
    return re.sub(
        rf"{FILL_ZH}|一[声下]|{PARTICLES}|\b(?:{FILL_EN})\b|谢谢|多谢|好的?|[\W_]", "", words.replace("\x01", "x")
    )


def _reminded(before: str) -> bool:
    """别忘了提醒我 asks for it."""
    return re.search("(?:别|不要)忘了?$", before.strip(" \x00")) is not None


def _both_sides(parts: TimeParts, folded: str, trigger: re.Match[str]) -> bool:
    """周五提醒我准备下午三点的会 names two times: one of the reminder, one of what it is about."""
    if trigger["set"] or parts.lead or parts.since or parts.until or parts.span:
        return False
    joined: list[tuple[int, int]] = []
    for begin, end in parts.spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    left = any(end <= trigger.start() for _, end in joined)
    right = [(begin, end) for begin, end in joined if begin >= trigger.end()]
    if parts_folded(folded[: trigger.start()]).clock is None:  # 6月18号提醒我抢券，晚上八点: the hour of that day
        right = [(begin, end) for begin, end in right if not _alone(folded, begin, end)]
    # 后天提醒我下午三点开会 is one time in two places; 提醒我下午三点的会 is about another one.
    return left and any(begin > trigger.end() + 1 or folded[end : end + 1] == "的" for begin, end in right)


def _alone(folded: str, begin: int, end: int) -> bool:
    """Whether a time stands in a clause with nothing else."""
    start = max((found.end() for found in CLAUSE_END.finditer(folded, 0, begin)), default=0)
    stop = CLAUSE_END.search(folded, end)
    return start > 0 and not task_content(folded[start:begin] + folded[end : stop.start() if stop else len(folded)])


def _residue(before: str, english: bool) -> str:
    """What stands before the trigger in its clause that is neither a time nor courtesy."""
    plain = JOINS.sub(TAKEN, before).replace(TAKEN, " ").replace("\x01", "x")
    fill = rf"\b(?:{FILL_EN})\b" if english else FILL_ZH
    return (
        re.sub(rf"{fill}|[\s、:：@~\-—…]+", "", plain).strip()
        if not english
        else re.sub(rf"{fill}|[\s:@~\-—…]+", " ", plain).strip()
    )
