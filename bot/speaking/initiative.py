"""Speaking unasked: when the heartbeat may write, whether to join a group's talk, and whether the model chose
silence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta, tzinfo
from itertools import pairwise, takewhile

from bot.config.speaking import HeartbeatRules, JoinRules, RemindRules
from bot.core.clock import HOUR_MS, MINUTE_MS
from bot.core.events import ChatKind
from bot.core.speaking import UNCALLED, GroupLine, GroupTalk, JoinReason, JoinVerdict, PastEntry, SilentChat
from bot.speaking.activation import called_by_name
from bot.text.dates import between_hours, local_day, local_hour, moment, next_local_time, next_yearly
from bot.text.fold import fold

LONGEST_HOURS = 168
"""After a skip nuan waits twice as long as before, up to a week."""

DECENT_HOUR = 10
"""When nuan looks at a day that matters: after the reminders of the morning, which are said at nine."""

_SKIP = re.compile(
    r"(?:<[^<>]*>|[\W_])*(?:s[ .]?k[ .]?i[ .]?p|跳过)(?:\s*(?:[^\w\s]|_).*|\s+skip.*|\s*)"
    r"|(?:我|i)\W*(?:选择|choose to|'ll|will)?\W*skip\W*"
)
"""The word alone, also with why after a sign; models write it in many ways."""

SKIP = "skip"
"""What a model answers that has nothing to say."""

_ALL = re.compile(r"[\W_]*skip[\W_]*")

MOST_DOUBLINGS = 20
"""Keeps the figure small; the longest pause is reached long before."""


def heartbeat_due(silence: SilentChat, rules: HeartbeatRules, tz: tzinfo, not_before: int = 0) -> int | None:
    """The first moment, ms, from `not_before` on at which nuan may write; None when it waits for the person.

    Never in the quiet hours of the zone, never more than `rules.per_day` on one of its days. Each try, whatever came
    of it, and each line begins the silence anew; a skip doubles it. A day that something is dated to is not waited
    past, unless they talked on it, or nuan was asked already.
    """
    if not rules.on or silence.ignored >= rules.most_ignored:
        return None
    hours = max(rules.silence_hours, min(rules.silence_hours << min(silence.skips, 10), LONGEST_HOURS))
    usual = _free(
        max(max(silence.heard_at or silence.last_at, silence.tried_at) + hours * HOUR_MS, not_before),
        silence,
        rules,
        tz,
    )
    over = local_day(max(silence.heard_at, silence.tried_at), tz)
    days = {local_day(at, tz) for at in silence.matters}
    days |= {next_yearly(local_day(at, tz), over + timedelta(days=1)) for at in silence.yearly}
    looks = (
        (day, _free(max(moment(day, DECENT_HOUR, tz), not_before), silence, rules, tz)) for day in days if day > over
    )
    return min((usual, *(at for day, at in looks if local_day(at, tz) == day)))


def is_quiet_hour(hour: int, rules: HeartbeatRules | JoinRules | RemindRules) -> bool:
    """Whether that local hour, 0-23, is one of the quiet ones; they may cross midnight."""
    return between_hours(hour, rules.quiet_from, rules.quiet_until)


def has_nothing_to_say(text: str) -> bool:
    """Whether the model has nothing to say first: no text, or a line that begins with skip; models explain it.

    To skip wrongly costs nothing, to send the word does.
    """
    return not text.strip() or any(_SKIP.fullmatch(line) for line in fold(text).splitlines())


def _free(at: int, silence: SilentChat, rules: HeartbeatRules, tz: tzinfo) -> int:
    """The first moment from `at` on at which nuan may write."""
    while (later := _not_yet(at, silence, rules, tz)) is not None:
        at = later
    return at


def _not_yet(at: int, silence: SilentChat, rules: HeartbeatRules, tz: tzinfo) -> int | None:
    """The next moment to look at when nuan may not write at this one."""
    if is_quiet_hour(local_hour(at, tz), rules):
        return next_local_time(at, rules.quiet_until, tz)
    day = local_day(at, tz)
    if sum(local_day(said, tz) == day for said in silence.said) >= rules.per_day:
        return next_local_time(at, 0, tz)
    return None


def is_silent_answer(text: str, why: str, kind: ChatKind) -> bool:
    """Whether nothing is to be said: only what nobody asked for, and in groups, may be passed over.

    To a follow-up a line that is only the word is enough, as with first messages: whoever explains it means it. What
    somebody called for is passed over only when the word is all there is: a list may hold it.
    """
    if why in UNCALLED:
        return has_nothing_to_say(text)
    return kind == "group" and is_skip_word(text)


def is_skip_word(text: str) -> bool:
    """Whether the answer is that word and nothing else."""
    return _ALL.fullmatch(fold(text)) is not None


def manners_verdict(talk: GroupTalk, rules: JoinRules, window_ms: int, tz: tzinfo, now: int) -> JoinVerdict | None:
    """What manners say, without regard to what is talked about; None when nuan may enter.

    Never before a pause, at night, over the cap, while somebody waits for it or wanted silence, between two people
    who reply to each other, on what is forwarded, a bot's or for somebody else, or twice on the same lines.
    """
    newest = talk.lines[-1] if talk.lines else None
    if newest is None:
        return JoinVerdict("silent", "nothing")
    if now < (quiet := newest.at + rules.lull_seconds * 1000):
        return JoinVerdict("wait", "lull", quiet)
    if (why := _about(newest, talk)) is not None:
        return JoinVerdict("silent", why)
    last = newest.at + rules.stale_seconds * 1000
    if now > last:
        return JoinVerdict("silent", "stale")
    for why, until in _until(talk, rules, window_ms, tz, now):
        if until > now:
            # What holds longer than the talk is worth is not waited for.
            return JoinVerdict("wait" if until <= last else "silent", why, until)
    return None


def score_verdict(talk: GroupTalk, relevance: float, rules: JoinRules, now: int) -> JoinVerdict:
    """Whether what is talked about is worth entering; `relevance` is 0 to 1. The talk passed `held`.

    A question that would be worth it once it has waited long enough is looked at again.
    """
    asked = open_question(talk.lines)
    score = score_of(talk, relevance, rules, now)
    if score >= rules.threshold:
        return JoinVerdict("enter", "enter", score=score)
    if asked is not None:
        until = asked.at + rules.question_seconds * 1000
        if until > now and score_of(talk, relevance, rules, until) >= rules.threshold:
            return JoinVerdict("wait", "question", until, score)
    return JoinVerdict("silent", "score", score=score)


def score_of(talk: GroupTalk, relevance: float, rules: JoinRules, now: int) -> float:
    """The weighed sum, not below 0: it grows with relevance, the wait of a question and rest, and falls with pace."""
    asked = open_question(talk.lines)
    waited = _part(now - asked.at, rules.question_seconds * 1000) if asked is not None else 0.0
    rest = _part(now - talk.spoke_at, rules.rest_seconds * 1000)
    pace = _part(sum(now - line.at < MINUTE_MS for line in talk.lines), rules.fast_per_minute)
    score = (
        rules.weight_relevance * min(max(relevance, 0.0), 1.0)
        + rules.weight_question * waited
        + rules.weight_rest * rest
        - rules.weight_pace * pace
    )
    return round(max(score, 0.0), 6)


def open_question(lines: Sequence[GroupLine]) -> GroupLine | None:
    """The newest question for everybody that nobody answered.

    An answer is any later line of somebody else, unless it is plainly for a third person.
    """
    to_all = (one for one in reversed(lines) if one.asks and not (one.to_other or one.forwarded or one.from_bot))
    asked = next(to_all, None)
    if asked is None:
        return None
    later = (line for line in lines if line.id > asked.id and line.person_id != asked.person_id)
    return None if any(not line.to_other or line.to in (None, asked.person_id) for line in later) else asked


def in_dialogue(lines: Iterable[GroupLine]) -> bool:
    """Whether two people reply to each other in these lines: by name or reply, or in turns at their end.

    In turns is two people alone with three lines or more, each at least once between the other's.
    """
    said = [line for line in lines if not line.from_bot]
    aimed = [line for line in said if line.to_other]
    if any(_mutual(one, other) for index, one in enumerate(aimed) for other in aimed[index + 1 :]):
        return True
    ending: list[GroupLine] = []
    for line in reversed(said):
        if len({line.person_id, *(one.person_id for one in ending)}) > 2:
            break
        ending.append(line)
    turns = sum(one.person_id != other.person_id for one, other in pairwise(ending))
    return len(ending) >= 3 and turns >= 2


def backoff_ms(entries: Sequence[PastEntry], rules: JoinRules) -> int:
    """The pause after the newest entry: doubled for each in a row that nobody answered, 0 after one that was."""
    counted = [entry for entry in reversed(entries) if entry.counts]
    ignored = sum(1 for _ in takewhile(lambda entry: not entry.answered, counted))
    if not ignored:
        return 0
    doubled = rules.backoff_seconds << min(ignored - 1, MOST_DOUBLINGS)
    return min(doubled, rules.backoff_most_seconds) * 1000


def addressee(text: str, people: Mapping[int, str]) -> int | None:
    """Whom of these people a line calls by name, as it would call nuan."""
    return next((number for number, name in people.items() if len(name) > 1 and called_by_name(text, (name,))), None)


def _about(newest: GroupLine, talk: GroupTalk) -> JoinReason | None:
    """Why the newest line is nothing to enter on."""
    if newest.id <= talk.seen:
        return "same"
    if newest.id <= talk.spoke_id:
        return "spoke"
    if talk.hushed:
        return "hushed"
    if talk.waiting:
        return "waiting"
    if newest.from_bot:
        return "bot"
    if newest.forwarded:
        return "forwarded"
    return "other" if newest.to_other else None


def _until(talk: GroupTalk, rules: JoinRules, window_ms: int, tz: tzinfo, now: int) -> Iterable[tuple[JoinReason, int]]:
    """The reasons to wait, each with the moment, ms, at which it is over."""
    if is_quiet_hour(local_hour(now, tz), rules):
        yield "hours", next_local_time(now, rules.quiet_until, tz)
    hour = [entry.at for entry in talk.entries if entry.at > now - HOUR_MS]
    if len(hour) >= rules.per_hour:
        yield "cap", sorted(hour)[-rules.per_hour] + HOUR_MS
    counted = [entry for entry in talk.entries if entry.counts]
    if counted and not counted[-1].answered:
        ended = counted[-1].at + (window_ms if counted[-1].said else 0)
        yield "entered", ended
        yield "ignored", ended + backoff_ms(talk.entries, rules)
    dialogue = rules.dialogue_seconds * 1000
    if in_dialogue(line for line in talk.lines if now - line.at < dialogue):
        yield "pair", talk.lines[-1].at + dialogue


def _mutual(one: GroupLine, other: GroupLine) -> bool:
    """Whether two lines are for each other's people; where it is not known for whom, they may be."""
    if one.person_id == other.person_id:
        return False
    return one.to in (None, other.person_id) and other.to in (None, one.person_id)


def _part(some: float, whole: float) -> float:
    return min(max(some / whole, 0.0), 1.0)
